"""Padding against live torch."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported

import paramsym as ps
from paramsym.errors import ArgumentError, SizeError

n = ps.dims("n")
KINDS = ["Circular", "Constant", "Reflection", "Replication", "Zero"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_torch(kind: str, rank: int) -> None:
    """One dict of arguments builds torch's layer and ours; a tuple has two numbers per axis, negative ones cut off."""
    name = f"{kind}Pad{rank}d"
    theirs, ours = getattr(imported("torch").nn, name), getattr(ps, name)
    value = (0.5,) if kind == "Constant" else ()
    assert_same_signature(ours, theirs)
    for padding in (2, -1, tuple(range(2 * rank))):
        assert_same_as_torch(ours(padding, *value), lambda padding=padding: theirs(padding, *value))  # type: ignore[misc]
        assert eval(repr(ours(padding, *value)), {name: ours}) == ours(padding, *value)
    with pytest.raises(ArgumentError, match=f"wanted one number, or {2 * rank}"):
        ours((1,) * (2 * rank + 1), *value)
    with pytest.raises(ArgumentError, match="padding"):
        ours(0.5, *value)
    assert ours(n, *value).at(n=2) == ours(2, *value)


def test_every_padding_of_torch_is_here() -> None:
    """No module of torch's file is missing."""
    assert sorted(imported("torch").nn.modules.padding.__all__) == sorted(f"{kind}Pad{rank}d" for kind in KINDS for rank in (1, 2, 3))


@pytest.mark.parametrize(("cropping", "error"), [(((1, -1),), SizeError), (((1,),), ArgumentError), (3, ArgumentError)])
def test_cropping(cropping: Any, error: type[Exception]) -> None:
    """Cropping is a pair of numbers per axis, none negative."""
    with pytest.raises(error, match="cropping"):
        ps.Cropping(cropping)
