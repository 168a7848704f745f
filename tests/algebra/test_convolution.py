"""Window arithmetic against torch's own pooling and convolution of plain signals, and against itself in symbols."""

from __future__ import annotations

from fractions import Fraction

import pytest
from amount import tries
from hypothesis import given, settings, strategies as st
from sympy import Integer, Mod, Symbol, ceiling, floor

from paramsym import H, K, W, dims
from paramsym.algebra.convolution import (
    View,
    differ,
    effective_kernel,
    exact_ratio,
    exactly,
    negative,
    over,
    same_length,
    scaled_length,
    transposed_length,
    transposed_length_by_word,
    up_over,
    window_count,
    window_count_ceil,
)
from paramsym.algebra.size import canonical, substitute
from paramsym.errors import ShapeError

m, n = dims("m n")
SMALL = st.integers(1, 9)


@given(length=st.integers(0, 40), kernel=SMALL, stride=SMALL, margin=st.integers(0, 4), dilation=st.integers(1, 3))
def test_places_are_counted(length: int, kernel: int, stride: int, margin: int, dilation: int) -> None:
    """The number of windows is how many starts leave the whole kernel inside; symbols give the same."""
    span = dilation * (kernel - 1) + 1
    starts = [start for start in range(0, length + 2 * margin, stride) if start + span <= length + 2 * margin]
    if not starts:
        with pytest.raises(ShapeError, match="shorter than the kernel"):
            window_count(length, kernel, stride, 2 * margin, dilation)
        return
    assert window_count(length, kernel, stride, 2 * margin, dilation) == len(starts)
    symbolic = window_count(n, K, stride, 2 * margin, dilation)
    assert symbolic.xreplace({n: Integer(length), K: Integer(kernel)}) == len(starts)  # type: ignore[union-attr]


@given(length=st.integers(1, 40), kernel=SMALL, stride=SMALL, data=st.data(), dilation=st.integers(1, 3))
def test_partial_windows_start_inside(length: int, kernel: int, stride: int, data: st.DataObject, dilation: int) -> None:
    """With ceil_mode a last window counts where it starts inside the input or the left padding."""
    margin = data.draw(st.integers(0, kernel // 2))
    span, padded = dilation * (kernel - 1) + 1, length + 2 * margin
    starts = [start for start in range(0, length + margin, stride) if start == 0 or start - stride + span < padded]
    if padded - span <= -stride:
        with pytest.raises(ShapeError, match="not even a partial window"):
            window_count_ceil(length, kernel, stride, margin, dilation)
        return
    assert window_count_ceil(length, kernel, stride, margin, dilation) == len(starts)
    symbolic = window_count_ceil(n, kernel, stride, margin, dilation)
    assert symbolic.xreplace({n: Integer(length)}) == len(starts)  # type: ignore[union-attr]


@given(length=st.integers(1, 30), kernel=SMALL, stride=SMALL, dilation=st.integers(1, 3))
def test_spreading_undoes_sliding(length: int, kernel: int, stride: int, dilation: int) -> None:
    """What a transposed convolution makes of a length, the convolution takes back."""
    assert window_count(transposed_length(length, kernel, stride, 0, dilation), kernel, stride, 0, dilation) == length


def test_simplified_where_the_algebra_allows() -> None:
    """2*m halved is m, "same" gives W back, and roundings inside roundings are one."""
    assert over(2 * m, 2) == same_length(2 * m, 2) == m
    assert same_length(W) == W
    assert over(over(n, 2), 3) == floor(n / 6)
    assert up_over(up_over(n, 2), 3) == ceiling(n / 6)
    assert over(up_over(n, 2), 3) == canonical(floor((n + 1) / 6))
    assert up_over(over(n, 2), 3) == canonical(ceiling((n - 1) / 6))
    assert window_count(window_count(W, 3, 2, 2), 3, 2, 2) == same_length(W, 4) == ceiling(W / 4)
    assert over(over(n, 2) + over(m, 2), 2).has(floor)
    assert (over(n, K), up_over(n, K)) == (floor(n / K), ceiling(n / K))
    assert effective_kernel(K, 2) == 2 * K - 1


@given(numerator=st.integers(0, 200), inner=SMALL, add=st.integers(-3, 3), outer=SMALL)
def test_one_rounding_is_as_good_as_two(numerator: int, inner: int, add: int, outer: int) -> None:
    """Putting numbers in after simplifying gives what rounding twice gives."""
    for first, number in ((over, numerator // inner), (up_over, -(-numerator // inner))):
        down, up = over(first(n, inner) + add, outer), up_over(first(n, inner) + add, outer)
        assert Integer(0) + down.subs(n, numerator) == (number + add) // outer  # type: ignore[union-attr]
        assert Integer(0) + up.subs(n, numerator) == -(-(number + add) // outer)  # type: ignore[union-attr]
        assert len({*down.atoms(floor, ceiling), *up.atoms(floor, ceiling)}) <= 2  # type: ignore[union-attr]


def test_keras_words() -> None:
    """Keras' transposed convolution by a word, in symbols (keras.src.backend.common.backend_utils)."""
    assert transposed_length_by_word(W, 3, 2, "valid") == 2 * W + 1
    assert transposed_length_by_word(5, 2, 3, "valid") == 15
    assert transposed_length_by_word(W, K, 2, "same", output_padding=1) == 2 * W - 1 + Mod(K, 2)
    assert transposed_length_by_word(4, 4, 2, "same", output_padding=0) == 6
    assert transposed_length_by_word(W, K, n, "valid").subs({W: 4, K: 3, n: 5}) == 20  # type: ignore[union-attr]
    assert transposed_length_by_word(4, 3, 2, "valid", output_padding=1) == 10


def test_too_much_padding() -> None:
    """What is cut away must be there; nothing may be left."""
    assert transposed_length(2, 1, padding=2) == 0
    with pytest.raises(ShapeError, match="cuts away more than the 2 entries"):
        transposed_length(2, 1, padding=3)


def test_exact_quotients() -> None:
    """A quotient must come out."""
    assert (exactly(12, 4, "they"), exactly(4 * H, 2, "they"), exactly(0, 3, "they")) == (3, 2 * H, 0)
    with pytest.raises(ShapeError, match=r"they are 7, .* by 2"):
        exactly(7, 2, "they")


HUNDREDTHS = st.integers(1, 900).map(lambda cents: cents / 100)
FRACTIONS = st.fractions(Fraction(1, 99), 9, max_denominator=99).map(float)


@settings(max_examples=tries(150))
@given(
    st.one_of(HUNDREDTHS, FRACTIONS, st.floats(0.01, 9)),
    st.one_of(st.integers(1, 5000), st.integers(0, 20).map(lambda power: 2**power)),
)
def test_scaling_by_floats(factor: float, length: int) -> None:
    """Numbers give what Python's floats give; symbols give an exact floor, where one gives the same for every length."""
    assert scaled_length(length, factor) == int(length * factor)
    ratio = exact_ratio(factor)
    if ratio is None:
        with pytest.raises(ShapeError, match="which no formula in n gives"):
            scaled_length(n, factor)
        return
    for multiple in (length, length * ratio.denominator):  # where the product is whole, rounding matters most
        assert canonical(substitute(scaled_length(n, factor), {n: Integer(multiple)})) == int(multiple * factor)


def test_scaling_at_its_limits() -> None:
    """1.5 and 2.4 have a floor, 0.29 has none; a factor that is no float is exact; no tensor has 2**53 entries."""
    assert scaled_length(n, 2) == 2 * n
    assert (scaled_length(n, 1.5), scaled_length(n, 2.4)) == (floor(3 * n / 2), floor(12 * n / 5))
    assert (scaled_length(100, 0.29), exact_ratio(0.29)) == (28, None)
    for length, factor in ((2**54, 0.29), (2**52, 1e300), (2**52, 2**0.5 * 10)):
        with pytest.raises(ShapeError, match="more than 9007199254740992 entries"):
            scaled_length(length, factor)


def test_what_must_differ() -> None:
    """Sizes are positive, so H and 2*H differ; what roundings give is open."""
    assert differ(H, 2 * H)
    assert not differ(over(H, 2), over(H, 2) + over(W, 2))
    assert not differ(None, 3)
    assert not differ(Symbol("x"), 3)
    assert negative(-H - 1)
    assert not negative(-over(H, 2))
    assert View(3, 2).then(View(5, 3)) == View(11, 6)
