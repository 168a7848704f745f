"""Columns as users have them: lists, tuples and arrays of every kind give the same numbers, or are refused."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps
from paramsym import F, H
from paramsym.errors import SizeError

np: Any = pytest.importorskip("numpy")

SIZES = ([1, 2, 3], [2**31, 1, 7], [2**53 + 1, 5, 2], [2**64, 3, 2**70])
"""Whole numbers below and above what 32 and 64 bits hold, and what a float does."""


@pytest.mark.parametrize("sizes", SIZES)
def test_every_column_of_whole_numbers_is_exact(sizes: list[int]) -> None:
    """The same products as Python's, whatever holds the column."""
    columns = [sizes, tuple(sizes), np.array(sizes, dtype=object)]
    if max(sizes) < 2**63:
        columns.append(np.array(sizes, dtype=np.int64))
    for column in columns:
        found = ps.evaluate(ps.Dense(H, F), H=column, F=3)
        assert [int(one) for one in found] == [3 * size + 3 for size in sizes]


@pytest.mark.parametrize("column", [[1.0, 2.0], np.array([1.0, 2.0]), np.array([1.5]), ["3"], [True], [None], [1, 2.0]])
def test_what_is_no_whole_number_is_refused(column: Any) -> None:
    """Floats are no sizes, even those without a fraction."""
    with pytest.raises(SizeError):
        ps.evaluate(ps.Dense(H, F), H=column, F=3)
