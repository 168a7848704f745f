"""Padding against live torch."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported

import paramsym as ps
from paramsym.errors import ArgumentError, ShapeError, SizeError

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


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(("kind", "least"), [("Reflection", 3), ("Replication", 1), ("Circular", 2), ("Zero", 1)])
def test_how_much_there_must_be_to_copy(kind: str, least: int, rank: int) -> None:
    """A mirror needs more than it mirrors, a circle as much; an edge is copied as often as one likes. So says torch 2.13."""
    layer = getattr(ps, f"{kind}Pad{rank}d")(2)
    for extent in range(1, 5):
        given = (1, 3, *[extent] * rank)
        if extent < least:
            with pytest.raises(ShapeError, match=r"goes around|mirrors too much"):
                layer.output_shape(given)
        else:
            assert layer.output_shape(given) == (1, 3, *[extent + 4] * rank)
            assert layer.output_shape(given[1:]) == (3, *[extent + 4] * rank)


@pytest.mark.parametrize("kind", ["Reflection", "Replication"])
def test_nothing_may_be_left_of_a_copy(kind: str) -> None:
    """A padding below zero cuts; what cuts everything is refused, but by the circle, which leaves an empty axis. So does torch 2.13."""
    layer = getattr(ps, f"{kind}Pad1d")((-2, -1))
    assert layer.output_shape((1, 3, 5)) == (1, 3, 2)
    with pytest.raises(ShapeError):
        layer.output_shape((1, 3, 3))
    assert ps.CircularPad1d((-2, -1)).output_shape((1, 3, 3)) == (1, 3, 0)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_any_axes_precede_those_that_constants_fill(rank: int) -> None:
    """Also none, as ``torch.nn.functional.pad`` takes them; one axis less is refused."""
    layer = getattr(ps, f"ZeroPad{rank}d")(1)
    for before in ((), (3,), (2, 3), (5, 2, 3)):
        assert layer.output_shape((*before, *[4] * rank)) == (*before, *[6] * rank)
    with pytest.raises(ShapeError, match=f"at least {rank} axes to pad"):
        layer.output_shape((4,) * (rank - 1))
