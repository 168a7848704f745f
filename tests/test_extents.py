"""Window arithmetic against torch's own pooling and convolution of plain signals, and against itself in symbols."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from sympy import Integer, Mod, Symbol, ceiling, floor

from paramsym import H, K, W, dims
from paramsym.errors import ShapeError
from paramsym.extents import (
    View,
    differ,
    exactly,
    full,
    negative,
    over,
    reach,
    same,
    scaled,
    share,
    spread,
    spread_by_word,
    up_over,
    windows,
    windows_ceil,
)

m, n = dims("m n")
SMALL = st.integers(1, 9)


@given(length=st.integers(0, 40), kernel=SMALL, stride=SMALL, margin=st.integers(0, 4), dilation=st.integers(1, 3))
def test_places_are_counted(length: int, kernel: int, stride: int, margin: int, dilation: int) -> None:
    """The number of windows is how many starts leave the whole kernel inside; symbols give the same."""
    span = dilation * (kernel - 1) + 1
    starts = [start for start in range(0, length + 2 * margin, stride) if start + span <= length + 2 * margin]
    if not starts:
        with pytest.raises(ShapeError, match="shorter than the kernel"):
            windows(length, kernel, stride, 2 * margin, dilation)
        return
    assert windows(length, kernel, stride, 2 * margin, dilation) == len(starts)
    symbolic = windows(n, K, stride, 2 * margin, dilation)
    assert symbolic.xreplace({n: Integer(length), K: Integer(kernel)}) == len(starts)  # type: ignore[union-attr]


@given(length=st.integers(1, 40), kernel=SMALL, stride=SMALL, data=st.data(), dilation=st.integers(1, 3))
def test_partial_windows_start_inside(length: int, kernel: int, stride: int, data: st.DataObject, dilation: int) -> None:
    """With ceil_mode a last window counts where it starts inside the input or the left padding."""
    margin = data.draw(st.integers(0, kernel // 2))
    span, padded = dilation * (kernel - 1) + 1, length + 2 * margin
    starts = [start for start in range(0, length + margin, stride) if start == 0 or start - stride + span < padded]
    if padded - span <= -stride:
        with pytest.raises(ShapeError, match="not even a partial window"):
            windows_ceil(length, kernel, stride, margin, dilation)
        return
    assert windows_ceil(length, kernel, stride, margin, dilation) == len(starts)
    symbolic = windows_ceil(n, kernel, stride, margin, dilation)
    assert symbolic.xreplace({n: Integer(length)}) == len(starts)  # type: ignore[union-attr]


@given(length=st.integers(1, 30), kernel=SMALL, stride=SMALL, dilation=st.integers(1, 3))
def test_spreading_undoes_sliding(length: int, kernel: int, stride: int, dilation: int) -> None:
    """What a transposed convolution makes of a length, the convolution takes back."""
    assert windows(spread(length, kernel, stride, 0, dilation), kernel, stride, 0, dilation) == length


def test_simplified_where_the_algebra_allows() -> None:
    """2*m halved is m, "same" gives W back, and roundings inside roundings are one."""
    assert over(2 * m, 2) == same(2 * m, 2) == m
    assert same(W) == W
    assert over(over(n, 2), 3) == floor(n / 6)
    assert up_over(up_over(n, 2), 3) == ceiling(n / 6)
    assert over(up_over(n, 2), 3) == floor(ceiling(n / 2) / 3)
    assert over(over(n, 2) + over(m, 2), 2).has(floor)
    assert (over(n, K), up_over(n, K)) == (floor(n / K), ceiling(n / K))
    assert full(W, K) == K + W - 1
    assert reach(K, 2) == 2 * K - 1


@given(numerator=st.integers(0, 200), inner=SMALL, add=st.integers(-3, 3), outer=SMALL)
def test_one_rounding_is_as_good_as_two(numerator: int, inner: int, add: int, outer: int) -> None:
    """Putting numbers in after simplifying gives what rounding twice gives."""
    down, up = over(over(n, inner) + add, outer), up_over(up_over(n, inner) + add, outer)
    assert Integer(0) + down.subs(n, numerator) == (numerator // inner + add) // outer  # type: ignore[union-attr]
    assert Integer(0) + up.subs(n, numerator) == -(-(-(-numerator // inner) + add) // outer)  # type: ignore[union-attr]


def test_keras_words() -> None:
    """Keras' transposed convolution by a word, in symbols (keras.src.backend.common.backend_utils)."""
    assert spread_by_word(W, 3, 2, "valid") == 2 * W + 1
    assert spread_by_word(5, 2, 3, "valid") == 15
    assert spread_by_word(W, K, 2, "same", output_padding=1) == 2 * W - 1 + Mod(K, 2)
    assert spread_by_word(4, 4, 2, "same", output_padding=0) == 6
    assert spread_by_word(W, K, n, "valid").subs({W: 4, K: 3, n: 5}) == 20  # type: ignore[union-attr]
    assert spread_by_word(4, 3, 2, "valid", output_padding=1) == 10


def test_too_much_padding() -> None:
    """What is cut away must be there; nothing may be left."""
    assert spread(2, 1, padding=2) == 0
    with pytest.raises(ShapeError, match="cuts away more than the 2 entries"):
        spread(2, 1, padding=3)


def test_exact_quotients_and_shares() -> None:
    """A quotient must come out; an average need not."""
    assert (exactly(12, 4, "they"), exactly(4 * H, 2, "they"), exactly(0, 3, "they")) == (3, 2 * H, 0)
    with pytest.raises(ShapeError, match="they are 7, which 2 does not divide"):
        exactly(7, 2, "they")
    assert share(3, 2) * 2 == 3
    assert share(n, W) == n / W


def test_scaling_by_floats() -> None:
    """A float stands for the simplest fraction that it is the nearest float of."""
    assert [scaled(3, 1 / 3), scaled(10, 0.1), scaled(10, 0.3), scaled(7, 1.5)] == [1, 1, 3, 10]
    assert scaled(n, 2) == 2 * n
    assert scaled(10**3, 2**0.5) == 1414


def test_what_must_differ() -> None:
    """Sizes are positive, so H and 2*H differ; what roundings give is open."""
    assert differ(H, 2 * H)
    assert not differ(over(H, 2), over(H, 2) + over(W, 2))
    assert not differ(None, 3)
    assert not differ(Symbol("x"), 3)
    assert negative(-H - 1)
    assert not negative(-over(H, 2))
    assert View(3, 2).then(View(5, 3)) == View(11, 6)
