"""Axes moved, merged and named; entries put in their places."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import B, C, H, W
from paramsym.errors import ArgumentError, RankError, ShapeError
from paramsym.program import Own, Value, axes, known, rearrange
from paramsym.program.lookups import Pick, Put
from paramsym.program.slices import Segments
from paramsym.program.types import ArrayType


@dataclass(frozen=True)
class Turned(ps.Layer):
    """The first axis becomes the last one; an image may lack its batch; a tiled one has W rows."""

    way: str

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        """One of three."""
        if self.way == "turn":
            return rearrange(x, "a ... (b c) -> c ... (b a)", c=2)
        return known(x, W, W) if self.way == "know" else axes(x, "[batch] channels width", channels=3)[0]


def test_dots_stand_for_any_number_of_axes() -> None:
    """As many as there are, none too, and they stay as they are."""
    xp = imported("numpy")
    assert Turned("turn").output_shape((B, 6)) == (2, 3 * B)
    assert Turned("turn").output_shape((B, C, W, 2 * H)) == (2, C, W, B * H)
    x = xp.arange(24).reshape(2, 3, 4)
    wanted = xp.moveaxis(x.reshape(2, 3, 2, 2), (3, 1, 2, 0), (0, 1, 2, 3)).reshape(2, 3, 4)
    assert (ps.run(Turned("turn"), {}, x) == wanted).all()


def test_sizes_that_are_known_otherwise() -> None:
    """Another form of the same size is taken, another size is not."""
    assert Turned("know").output_shape((5 * W / 5, None)) == (W, W)
    with pytest.raises(ShapeError, match=r"the layer states \(W, W\)"):
        Turned("know").output_shape((2 * W, W))


def test_a_batch_that_is_missing() -> None:
    """Where the channels are the first axis; an open first axis is a batch."""
    assert Turned("name").output_shape((3, None)) == (1, 3, None)
    for shape in ((None, 3), (4, 3)):
        with pytest.raises(RankError):
            Turned("name").output_shape(shape)


def test_put_undoes_pick() -> None:
    """What is put at places is picked from there; the others are zero; a place must be there."""
    xp = imported("numpy")
    x, index = xp.array([[3.0, 5.0]]), xp.array([[4, 0]])
    y = Put(6).run(xp, x, index)
    assert y.tolist() == [[5, 0, 0, 0, 3, 0]]
    assert (Pick().run(xp, y, index) == x).all()
    assert Put(W).gives(ArrayType((B, 2)), ArrayType((B, 2), "index"))[0].sizes == (B, W)
    for wrong in (xp.array([[6, 0]]), xp.array([[-1, 0]]), xp.array([[0.0, 1.0]])):
        with pytest.raises(ArgumentError, match="whole numbers from 0 to 5"):
            Put(6).run(xp, x, wrong)


@pytest.mark.parametrize(
    ("pieces", "said"), [((6, -1), "cannot be cut into pieces of 6, -1 entries"), ((2, 2), "has 5 entries; the pieces have 4")]
)
def test_pieces_that_do_not_fit(pieces: tuple[int, ...], said: str) -> None:
    """Pieces must add up to the axis, and none may be negative."""
    with pytest.raises(ShapeError, match=said):
        Segments(pieces).gives(ArrayType((3, 5)))
    assert [one.sizes for one in Segments((2, 3)).gives(ArrayType((3, 5)))] == [(3, 2), (3, 3)]
