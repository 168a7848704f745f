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
