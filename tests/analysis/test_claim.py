"""What is said where a claim cannot be read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st
from sympy import Expr, Symbol

from paramsym import A, H, L
from paramsym.algebra.polynomial import Polynomial
from paramsym.analysis.claim import read
from paramsym.errors import ArgumentError, ParamsymError, SizeError, UnknownNameError


@pytest.mark.parametrize(("length", "shown"), [(60, "a" * 60), (61, "a" * 57 + "..."), (1000, "a" * 57 + "...")])
def test_a_long_claim_is_quoted_in_part(length: int, shown: str) -> None:
    """Of what is not a number sixty characters are quoted at most, the last three of them dots."""
    with pytest.raises(ArgumentError, match=f"^the claim '{re.escape(shown)}' is not understood; write 109482240"):
        read("a" * length)


SIZES = {H: 768, L: 12, A: 12}


@pytest.mark.parametrize("claim", ["12*L*H**2", 12 * L * H**2, 12 * Symbol("L") * Symbol("H") ** 2, " 12 * L*H ** 2 parameters"])
def test_expressions_are_read_in_the_models_letters(claim: str | Expr) -> None:
    """Typed or of SymPy, with the user's own symbols of the same names; the letters stay beside the number."""
    said = read(claim, SIZES)
    assert said.stated.value == 12 * 12 * 768**2
    assert said.formula == Polynomial.of(12 * L * H**2)


def test_either_side_may_be_the_arithmetic() -> None:
    """What is worked out stands on the left or on the right of what is said."""
    for claim in ("12*768*12 = 110M", "110M = 12*768*12", "L*H*A = 110M", "110M = L*H*A"):
        said = read(claim, SIZES)
        assert said.arithmetic is not None
        assert (said.arithmetic.value, said.stated.value) == (12 * 768 * 12, 110_000_000)
    assert read("2**10 + 7//2").stated.value == 1027
    assert read("8x7B", {Symbol("B"): 3}).stated.value == 56_000_000_000  # a unit behind digits is a unit


@pytest.mark.parametrize(
    ("claim", "error", "words"),
    [
        ("12*L*Q", UnknownNameError, "there is no size 'Q'; known are A, H, L"),
        (12 * L * Symbol("Q"), UnknownNameError, "there is no size 'Q'"),
        ("12*L*H**", ArgumentError, r"the claim '12\*L\*H\*\*': wanted a number, a name or '\(' at character 9"),
        ("H - 800", ArgumentError, "is -32, below zero"),
        (H / 5, ArgumentError, "not a whole number"),
        (1.5 * H, SizeError, "Float"),
        ("H.__class__", ArgumentError, "the claim 'H.__class__'"),
        ("9**64**64", ArgumentError, "the claim"),
    ],
)
def test_an_expression_that_says_no_number(claim: str | Expr, error: type[ParamsymError], words: str) -> None:
    """Each is one error of this library; nothing is evaluated."""
    with pytest.raises(error, match=words):
        read(claim, SIZES)


@given(st.integers(1, 99), st.integers(0, 3), st.integers(0, 2), st.integers(0, 99))
@settings(max_examples=60)
def test_numbers_and_letters_say_the_same(first: int, power: int, deep: int, rest: int) -> None:
    """An expression, its text and the number that Python works out are one claim."""
    value = first * 768**power * 12**deep + rest
    letters = first * H**power * L**deep + rest
    for claim in (str(letters), letters, str(value), value, f"{first}*768**{power}*12**{deep} + {rest}"):
        assert read(claim, SIZES).stated.value == value


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("109,482,240", 109_482_240),
        ("1,300M", 1_300_000_000),
        ("12,345.6M", 12_345_600_000),
        ("109_482_240", 109_482_240),
        ("1.3B", 1_300_000_000),
    ],
)
def test_commas_between_thousands(claim: str, value: int) -> None:
    """Digits are grouped as in English text, or as in Python."""
    assert read(claim).stated.value == value


@pytest.mark.parametrize(
    "claim", ["1,3B", "1,35B", "12,6M", "0,125M", "0,5B", "1,3000M", "10,94,82,240", "1234,567", "1,,234", "1,234,", "1_,234"]
)
def test_other_commas_are_refused(claim: str) -> None:
    """In German and French 1,3B is 1.3 billion, not 13 billion: what is not grouped by three is not a number here."""
    with pytest.raises(ArgumentError, match="is not understood; write 109482240"):
        read(claim)
    with pytest.raises(ArgumentError, match="A comma separates thousands; a decimal point is a dot"):
        read("1,3B")


def test_whole_numbers_have_their_limits() -> None:
    """Python writes no number of more than 4,300 digits; the error does not try to."""
    for claim, words in ((10**5000, "the claim has 16610 bits; 8192 are the limit"), (-(10**5000), "is below zero"), (-1, "-1")):
        with pytest.raises(ArgumentError, match=words):
            read(claim)
    assert read(10**2000).stated.value == 10**2000


@pytest.mark.parametrize(
    ("claim", "value", "half"),
    [
        (1.3e9, 1_300_000_000, 50_000_000),
        ("1.3e9", 1_300_000_000, 50_000_000),
        ("6E9 parameters", 6_000_000_000, 500_000_000),
        (109_482_240.0, 109_482_240, 5),
        (354_823_168.0, 354_823_168, 0),
    ],
)
def test_powers_of_ten(claim: float | str, value: int, half: int) -> None:
    """A whole float and a power of ten are rounded to the digits that are written, as 1.3B is."""
    found = read(claim).stated
    assert (found.value, found.low, found.high) == (value, value - half, value + half)


@pytest.mark.parametrize(("claim", "low"), [(1e6, 950_000), ("1B", 950_000_000), ("10B", 9_500_000_000), ("1.0B", 950_000_000)])
def test_a_power_of_ten(claim: float | str, low: int) -> None:
    """Of one significant digit, what is below 950,000 is 900,000 or less, and what is above is a million, up to half as much again."""
    found = read(claim).stated
    assert found.low == low
    assert found.high == (1_050_000_000 if claim == "1.0B" else 3 * found.value // 2)


@pytest.mark.parametrize("claim", [1.5, float("nan"), float("inf"), -2.0, 1e300])
def test_floats_that_are_no_count(claim: float) -> None:
    """One clear error."""
    with pytest.raises(ArgumentError, match="the claim"):
        read(claim)
