"""Constants that follow from sizes: distances within windows, and which places of a shifted map were neighbours."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym.errors import ArgumentError, NotYetError
from paramsym.program.constants import Constant, Noise, constant
from paramsym.program.lookups import Bags
from paramsym.program.types import ArrayType

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


def test_rows_of_distances() -> None:
    """Those of transformers 5.23 (``build_relative_position``, 8 buckets up to 16) for 12 positions, plus 8; both ways of one distance."""
    xp = imported("numpy")
    first = [0, -1, -2, -3, -4, -5, -5, -6, -6, -6, -7, -7]
    wanted = [[(first[k - q] if k >= q else -first[q - k]) + 8 for k in range(12)] for q in range(12)]
    assert Constant("deberta buckets", (12, 12), (8, 16, 1), "index").run(xp).tolist() == wanted
    assert Constant("deberta buckets", (12, 12), (8, 16, -1), "index").run(xp).tolist() == [list(row) for row in zip(*wanted, strict=True)]


def test_every_distance_has_a_row() -> None:
    """Without buckets the rows are the distances themselves, bounded by the farthest."""
    xp = imported("numpy")
    assert Constant("deberta buckets", (1, 4), (0, 2, 1), "index").run(xp).tolist() == [[3, 3, 3, 2]]


def test_no_two_runs_of_chance_agree() -> None:
    """Random numbers have a shape and no value."""
    drawn = Noise(ArrayType((ps.H, 3)))
    assert drawn.gives() == (ArrayType((ps.H, 3)),)
    with pytest.raises(NotYetError, match="no two runs agree"):
        drawn.run(None)


def test_a_constant_that_is_not_known() -> None:
    """The known ones are listed."""
    with pytest.raises(ArgumentError, match=r"'zeroes' is not a known constant; known: .*zeros"):
        constant("zeroes", (3,))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("sum", [[3, 5], [0, 0], [13, 17]]), ("mean", [[1.5, 2.5], [0, 0], [6.5, 8.5]]), ("max", [[3, 4], [0, 0], [9, 10]])],
)
def test_bags(name: Any, wanted: list[list[float]]) -> None:
    """Two rows, none and two, as torch's EmbeddingBag has them, zeros for an empty one."""
    xp = imported("numpy")
    table = xp.array([[0.0, 1.0], [3.0, 4.0], [9.0, 10.0], [4.0, 7.0]])
    assert Bags(name).run(xp, table, xp.array([0, 1, 2, 3]), xp.array([0, 2, 2])).tolist() == wanted
    (given,) = Bags(name).gives(ArrayType((9, ps.H)), ArrayType((ps.S,), "index"), ArrayType((ps.B,), "index"))
    assert given == ArrayType((ps.B, ps.H))
