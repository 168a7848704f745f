"""Layers that arrange entries anew against live torch."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported
from strategies import assert_value

import paramsym as ps
from paramsym import C
from paramsym.errors import ArgumentError, ShapeError, SizeError


@pytest.mark.parametrize(("name", "arguments"), [("Flatten", (2, 3)), ("Unflatten", (1, (2, -1)))])
def test_torch(name: str, arguments: Any) -> None:
    """One dict of arguments builds torch's layer and ours, and nothing is stored."""
    theirs, ours = getattr(imported("torch").nn, name), getattr(ps, name)
    assert_same_signature(ours, theirs)
    assert_same_as_torch(ours(*arguments), lambda: theirs(*arguments))


def test_identity() -> None:
    """The identity takes anything and keeps nothing, so that it can stand for any layer."""
    nn = imported("torch").nn
    assert_same_as_torch(ps.Identity(54, unused=True), lambda: nn.Identity(54, unused=True))
    assert ps.Identity(1, 2) == ps.Identity()
    assert repr(ps.Identity(1)) == "Identity()"
    assert pickle.loads(pickle.dumps(ps.Identity(3))) == ps.Identity()


@pytest.mark.parametrize("layer", [ps.Flatten(2), ps.Unflatten(1, (C, -1)), ps.Reshape((-1, C)), ps.Permute((2, 1)), ps.RepeatVector(C)])
def test_values(layer: Any) -> None:
    """``at``, repr and pickle give equal layers."""
    assert_value(layer)
    assert layer.at(dict.fromkeys(layer.symbols, 4)).count == 0


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: ps.Unflatten(1, ()), ArgumentError, "empty"),
        (lambda: ps.Unflatten(1, (-1, -1)), ArgumentError, "only one extent can be -1"),
        (lambda: ps.Unflatten(1, (0, -1)), SizeError, "is 0"),
        (lambda: ps.Unflatten(1, 4), ArgumentError, "wanted a tuple"),
        (lambda: ps.Reshape((-1, -1)), ArgumentError, "target_shape is"),
        (lambda: ps.Reshape((-2, 2)), SizeError, "is -2"),
        (lambda: ps.Permute((1, 3)), ArgumentError, "each of 1 to 2 once"),
        (lambda: ps.RepeatVector(0), SizeError, "times is 0"),
    ],
)
def test_what_cannot_be(build: Any, error: type[Exception], words: str) -> None:
    """Extents are sizes except one open one; an order names every axis once."""
    with pytest.raises(error, match=words):
        build()


def test_a_permutation_says_how_many_axes_it_wants() -> None:
    """The batch axis is one more than the order names."""
    assert ps.Permute((2, 1)).output_shape((7, 5, 3)) == (7, 3, 5)
    with pytest.raises(ShapeError, match="wanted 3 axes, batch first; found 4"):
        ps.Permute((2, 1)).output_shape((7, 5, 3, 1))


def test_what_does_not_fit() -> None:
    """Both numbers of entries are said."""
    with pytest.raises(ShapeError, match=r"^\(7,\) has 7 entries, \(2, 3\) has 6\.$"):
        ps.Unflatten(1, (2, 3)).output_shape((5, 7))


def test_what_is_seen_through_a_permutation() -> None:
    """Its own entry; a kernel behind it sees along the axis of the input that the permutation put there."""
    assert ps.receptive_field(ps.Permute((2, 3, 1))) == ps.receptive_field(ps.Permute((2, 1, 3))) == ()
    wide = ps.Conv2d(1, 1, (1, 5), dialect="keras")
    assert ps.receptive_field(ps.Sequential(ps.Permute((2, 1, 3)), wide)) == ps.receptive_field(wide)[::-1] == (5, 1)
    assert ps.receptive_field(ps.Sequential(ps.Permute((3, 1, 2)), ps.Conv2d(1, 1, (1, 5)))) == (1, 5)


def test_axes_from_the_end_and_what_is_no_axis() -> None:
    """torch: ``nn.Flatten(-2, -1)`` makes (2, 12) of (2, 3, 4); an axis that does not exist is called by its argument."""
    assert ps.Flatten(-2, -1).output_shape((2, 3, 4)) == (2, 12)
    with pytest.raises(ShapeError, match=r"^end_dim is 9"):
        ps.Flatten(1, 9).output_shape((2, 3, 4))
