"""Modules of users' own classes, read and compared with torch: FLOPs, kept bytes, outputs, at several sizes and in letters."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from sympy import Symbol

import paramsym as ps

torch = pytest.importorskip("torch")

from read.comparing import counted, kept, results  # noqa: E402 - they need torch
from read.own_models import MODELS, Example  # noqa: E402 - they need torch

CASES = [pytest.param(name, number, id=f"{name} {number}") for name, example in MODELS.items() for number in range(len(example.shapes))]


def arrays(example: Example, shapes: tuple[tuple[int, ...], ...]) -> list[Any]:
    """Return inputs of these shapes: indices for a model with a vocabulary, otherwise numbers."""
    torch.manual_seed(1)
    return [torch.randint(0, example.vocabulary, shape) if example.vocabulary else torch.randn(shape) for shape in shapes]


def built(name: str) -> tuple[Any, Any]:
    """Return the module, in evaluation mode and with random tensors, and the layer that was read from it."""
    torch.manual_seed(0)
    module = MODELS[name].build().eval()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return module, ps.from_module(module)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_flops(name: str, number: int) -> None:
    """Forward and both ways, as torch's counter."""
    module, layer = built(name)
    shapes = MODELS[name].shapes[number]
    forward, both = counted(module, arrays(MODELS[name], shapes))
    assert (ps.flops(layer, *shapes).total, ps.flops(layer, *shapes, way="both").total) == (forward, both)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_run(name: str, number: int) -> None:
    """The program computes what the module computes with the same tensors."""
    module, layer = built(name)
    given = arrays(MODELS[name], MODELS[name].shapes[number])
    with torch.no_grad():
        wanted = results(module(*given))
    tensors = {key: value.numpy() for key, value in module.state_dict().items()}
    found = ps.run(layer, tensors, *(one.numpy() for one in given))
    found = found if isinstance(found, tuple) else (found,)
    assert [one.shape for one in found] == [tuple(one.shape) for one in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert abs(one - other.numpy()).max() < 1e-4 * max(1, abs(other.numpy()).max())


@pytest.mark.parametrize(("name", "number"), CASES)
def test_kept(name: str, number: int) -> None:
    """As many bytes for the backward pass as autograd holds."""
    module, layer = built(name)
    shapes = MODELS[name].shapes[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ps.activations(layer, *shapes, convention="torch-sdpa-cpu").total == kept(module, arrays(MODELS[name], shapes))


@pytest.mark.parametrize("name", [name for name, example in MODELS.items() if example.letters])
def test_letters(name: str) -> None:
    """A formula in letters gives the numbers of every size."""
    _, layer = built(name)
    letters = {one: Symbol(one, integer=True, positive=True) for one in "BSHWN"}
    example = MODELS[name]
    places: dict[str, list[int]] = {}

    def size(one: Any) -> Any:
        if isinstance(one, int):
            return one
        factor, _, letter = one.rpartition("*")
        return int(factor or 1) * letters[letter]

    formula = ps.flops(layer, *(tuple(map(size, shape)) for shape in example.letters), way="both")
    for shapes in example.shapes:
        put = {}
        fits = all(len(a) == len(b) for a, b in zip(shapes, example.letters, strict=True))
        for numbers, axes in zip(shapes, example.letters, strict=True):
            for number, axis in zip(numbers, axes, strict=False):
                if isinstance(axis, str):
                    factor, _, letter = axis.rpartition("*")
                    put[letter] = number // int(factor or 1)
                else:
                    fits = fits and axis == number
        if fits:
            places.setdefault(name, []).append(1)
            assert formula.at(**put).total == ps.flops(layer, *shapes, way="both").total
    assert places
