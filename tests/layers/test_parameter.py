"""Bare learned tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from frameworks import assert_same_as_torch, imported

import paramsym as ps
from paramsym import A, H, P
from paramsym.errors import SizeError, StructureError


def test_torch() -> None:
    """A parameter stands under its own name, beside the modules of its owner."""
    torch = imported("torch")

    def build() -> object:
        module = torch.nn.Module()
        module.cls_token = torch.nn.Parameter(torch.empty(1, 1, 8))
        module.norm = torch.nn.LayerNorm(8)
        return module

    @dataclass(frozen=True)
    class Owner(ps.Layer):
        def parts(self) -> Iterator[ps.Part]:
            yield ps.Part("", ps.Parameter((1, 1, 8), "cls_token"))
            yield ps.Part("norm", ps.LayerNorm(8))

    assert_same_as_torch(Owner(), build)


def test_formulas() -> None:
    """The count is the product of the axes, whose factors survive."""
    assert ps.Parameter((P, H), "positions", role="table").params == H * P
    assert ps.Parameter(H).shapes() == {"weight": (H,)}
    assert ps.Parameter((), "gate").params == 1
    assert ps.Parameter(((A, ps.per(H, A)), H)).params.diff(A) == 0
    assert ps.Parameter(((A, ps.per(H, A)), H)).at(H=8, A=2).count == 64


def test_frozen() -> None:
    """A frozen tensor is counted, but not trained."""
    layer = ps.Parameter((P, H), frozen=True)
    assert (layer.params, layer.trainable) == (H * P, 0)


def test_values() -> None:
    """Repr gives an equal layer; a list is as good as a tuple."""
    layer = ps.Parameter((1, P, H), "position_embeddings", role="table")
    assert eval(repr(layer), {"Parameter": ps.Parameter, "P": P, "H": H}) == layer
    assert ps.Parameter([1, P, H], "position_embeddings", role="table") == layer  # type: ignore[arg-type]


def test_what_cannot_be() -> None:
    """Every axis is a size, and a tensor has a name."""
    with pytest.raises(SizeError, match="shape"):
        ps.Parameter((1, 0, 3))
    with pytest.raises(StructureError, match="needs a name"):
        ps.Parameter((1,), "")


def test_a_bare_parameter_is_a_trained_weight() -> None:
    """Only the shape must be said: torch's own name for the one tensor of a layer is weight, and it is trained."""
    (entry,) = ps.Parameter((3, 4)).entries()
    assert (entry.name, entry.tensor.role, entry.tensor.trainable) == ("weight", "weight", True)
    assert not ps.Parameter((3, 4), frozen=True).trainable
