"""What is said where a claim cannot be read."""

from __future__ import annotations

import re

import pytest

from paramsym.analysis.claim import read
from paramsym.errors import ArgumentError


@pytest.mark.parametrize(("length", "shown"), [(60, "a" * 60), (61, "a" * 57 + "..."), (1000, "a" * 57 + "...")])
def test_a_long_claim_is_quoted_in_part(length: int, shown: str) -> None:
    """Of what is no number sixty characters are quoted at most, the last three of them dots."""
    with pytest.raises(ArgumentError, match=f"^the claim '{re.escape(shown)}' is not understood; write 109482240"):
        read("a" * length)


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
    """In German and French 1,3B is 1.3 billion, not 13 billion: what is not grouped by three is no number here."""
    with pytest.raises(ArgumentError, match="is not understood; write 109482240"):
        read(claim)
    with pytest.raises(ArgumentError, match="A comma stands between thousands; a decimal point is a dot"):
        read("1,3B")


def test_whole_numbers_have_their_limits() -> None:
    """Python writes no number of more than 4,300 digits; the error does not try to."""
    for claim, words in ((10**5000, "the claim has 16610 bits; 8192 are the limit"), (-(10**5000), "is below zero"), (-1, "-1")):
        with pytest.raises(ArgumentError, match=words):
            read(claim)
    assert read(10**2000).stated.value == 10**2000
