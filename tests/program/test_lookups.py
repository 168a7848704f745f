"""Constants that follow from sizes: distances within windows, and which places of a shifted map were neighbours."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

from paramsym.program.constants import Constant

APART = -100.0


@pytest.mark.parametrize(
    ("window", "rows"),
    [
        ((2, 2), [[4, 3, 1, 0], [5, 4, 2, 1], [7, 6, 4, 3], [8, 7, 5, 4]]),  # as Liu et al. 2021 have it for windows of 2x2
        ((2, 1, 1), [[1, 0], [2, 1]]),
        ((1, 2, 2), [[4, 3, 1, 0], [5, 4, 2, 1], [7, 6, 4, 3], [8, 7, 5, 4]]),
    ],
)
def test_rows_of_windows(window: tuple[int, ...], rows: list[list[int]]) -> None:
    """Every pair of places has the row of its distance, whatever the rank; an axis of one place changes nothing."""
    xp = imported("numpy")
    assert Constant("swin index", (len(rows), len(rows)), window, "index").run(xp).tolist() == rows


@pytest.mark.parametrize(
    ("extents", "window", "shifts", "apart"),
    [
        ((4, 1), (2, 1), (1, 0), [False, True]),
        ((1, 4), (1, 2), (0, 1), [False, True]),
        ((2, 1, 4), (1, 1, 2), (0, 0, 1), [False, True, False, True]),
        ((4, 1, 1), (2, 1, 1), (0, 0, 0), [False, False]),
    ],
)
def test_regions(extents: Any, window: Any, shifts: Any, apart: list[bool]) -> None:
    """Four places in a row, shifted by one: the last two were no neighbours, because one of them came around."""
    xp = imported("numpy")
    found = Constant("swin regions", (len(apart), 1, 2, 2), (extents, window, *shifts)).run(xp)
    assert found.tolist() == [[[[0.0, APART if one else 0.0], [APART if one else 0.0, 0.0]]] for one in apart]


def test_one_side_and_one_shift_for_all_axes() -> None:
    """Windows of 2x2 in a map of 4x4, shifted by one along both axes: the first was whole, of the last one no two were neighbours."""
    xp = imported("numpy")
    found = Constant("swin regions", (4, 1, 4, 4), ((4, 4), 2, 1)).run(xp)
    assert [(one == APART).sum() for one in found] == [0, 8, 8, 12]


@pytest.mark.parametrize(
    ("queries", "keys", "rows"),
    [
        (4, 2, [[2, 0], [3, 1], [4, 2], [5, 3]]),  # a key stands for two queries: i - 2*(j - 1)
        (2, 4, [[3, 2, 1, 0], [5, 4, 3, 2]]),  # a query for two keys: 2*i - (j - 3)
        (2, 2, [[1, 0], [2, 1]]),
    ],
)
def test_distances_of_what_is_pooled(queries: int, keys: int, rows: list[list[int]]) -> None:
    """The distance of a query and a key counts in steps of the finer of the two, from zero on (Li et al. 2022, section 4.1)."""
    xp = imported("numpy")
    assert Constant("pooled distances", (queries, keys), kind="index").run(xp).tolist() == rows
