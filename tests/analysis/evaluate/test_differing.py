"""Sizes at which a formula may not hold."""

from __future__ import annotations

from sympy import Integer

from paramsym import A, H, L
from paramsym.analysis.evaluate.differing import _equated


def test_a_letter_that_makes_two_sizes_equal() -> None:
    """H/A is 3 where H is 3 A; H**2 and H*L leave no letter alone."""
    assert _equated(H / A, Integer(3)) == {H: 3 * A}
    assert _equated(H**2, H * L + H) is None
