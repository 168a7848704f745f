"""Operations over windows: what they give, cost and compute, against brute force and the identities that define them."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported
from hypothesis import given, settings, strategies as st

from paramsym import B, C, W
from paramsym.errors import NotYetError, ShapeError
from paramsym.program.slices import Pad
from paramsym.program.types import ArrayType
from paramsym.program.windows import ConvolveTransposed, Fold, Pool, PoolTo, Unfold

SETTINGS = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2), st.integers(5, 8))


@settings(deadline=None, max_examples=20)
@given(axes=st.lists(SETTINGS, min_size=1, max_size=2))
def test_fold_is_the_transpose_of_unfold(axes: list[tuple[int, int, int, int, int]]) -> None:
    """For any x and y the product of unfold(x) with y is that of x with fold(y), shapes included."""
    xp = imported("numpy")
    kernel, stride, dilation, before, extents = zip(*axes, strict=True)
    unfold = Unfold(kernel, stride, tuple((margin, margin) for margin in before), dilation)
    x = xp.random.default_rng(0).standard_normal((2, *extents))
    seen = unfold.run(xp, x)
    assert unfold.gives(ArrayType(x.shape))[0].sizes == seen.shape
    y = xp.random.default_rng(1).standard_normal(seen.shape)
    fold = Fold(stride, before, dilation, extents)
    assert fold.gives(ArrayType(y.shape))[0].sizes == fold.run(xp, y).shape == x.shape
    assert abs((seen * y).sum() - (x * fold.run(xp, y)).sum()) < 1e-9


def test_a_transposed_convolution_with_zeros_in_front() -> None:
    """A cut below zero puts zeros in front: 1, 2 spread by (1, 10) with stride 3 is 1 10 0 2 20."""
    xp = imported("numpy")
    operation = ConvolveTransposed((3,), (-2,), (1,), (8,))
    y = operation.run(xp, xp.array([[[1.0, 2.0]]]), xp.array([[[1.0, 10.0]]]))
    assert y.tolist() == [[[0, 0, 1, 10, 0, 2, 20, 0]]]


def test_pooling_to_a_length() -> None:
    """Window i of o covers floor(i*n/o) to ceil((i+1)*n/o): of five entries three windows cover 0-1, 1-3 and 3-4."""
    xp = imported("numpy")
    x = xp.array([[[5.0, 1.0, 7.0, 3.0, 4.0]]])
    largest, where = PoolTo("max", (3,), indices=True).run(xp, x)
    assert (largest.tolist(), where.tolist()) == ([[[5, 7, 4]]], [[[0, 2, 4]]])
    assert PoolTo("mean", (3,)).run(xp, x).tolist() == [[[3, 11 / 3, 3.5]]]
    taken = ArrayType((B, C, W))
    assert PoolTo("mean", (3,)).gives(taken)[0].sizes == (B, C, 3)
    (work,) = PoolTo("mean", (3,)).work((taken,), PoolTo("mean", (3,)).gives(taken))
    assert work.factors == (B, C, W)
    with pytest.raises(NotYetError, match="at random"):
        PoolTo("max", (3,), (2,)).run(xp, x)


def test_the_first_of_equal_maxima_is_found() -> None:
    """Torch and NumPy both give the first; positions count the input without its padding."""
    xp = imported("numpy")
    largest, where = Pool("max", (2,), (1,), ((1, 1),), (1,), indices=True).run(xp, xp.array([[2.0, 2.0, 1.0]]))
    assert (largest.tolist(), where.tolist()) == ([[2, 2, 2, 1]], [[0, 0, 1, 2]])


@pytest.mark.parametrize(
    ("mode", "margins", "left"),
    [
        ("constant", (2, -1), [0, 0, 1, 2]),
        ("reflect", (-2, 2), [3, 2, 1]),
        ("replicate", (-3, 2), [3, 3]),
        ("circular", (-1, 2), [2, 3, 2, 3]),
    ],
)
def test_margins_below_zero_cut(mode: Any, margins: tuple[int, int], left: list[int]) -> None:
    """A mirror and an edge are padded before they are cut, a circle is cut before it goes around, as in torch."""
    xp = imported("numpy")
    operation = Pad((margins,), mode)
    assert operation.run(xp, xp.array([1, 2, 3])).tolist() == left
    assert operation.gives(ArrayType((3,)))[0].sizes == (len(left),)


def test_what_is_cut_must_be_there() -> None:
    """Zeros on the other side do not help; the axis is named."""
    with pytest.raises(ShapeError, match=r"along the width, margins of \(-4, 9\) cut 4 of 3 entries"):
        Pad(((0, 0), (-4, 9))).gives(ArrayType((5, 3)))


def test_a_circle_that_was_cut_too_short() -> None:
    """Torch 2.13 returns memory that it never wrote; we refuse."""
    with pytest.raises(ShapeError, match=r"margins of \(-2, 2\) leave 1 entries"):
        Pad(((-2, 2),), "circular").run(imported("numpy"), imported("numpy").ones(3))
