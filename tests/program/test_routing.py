"""Entries at positions that are known at run time, against Python's lists."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym.program.graph import Kept
from paramsym.program.routing import At, Counts, Groups, PutAt
from paramsym.program.types import ArrayType


def test_how_many_of_each() -> None:
    """Three zeros, no one, one two; what is above the last bin is left out."""
    xp = imported("numpy")
    assert Counts(4).run(xp, xp.array([[0.0, 2.0, 0.0], [0.0, 5.0, 3.0]])).tolist() == [3, 0, 1, 1]


def test_the_group_of_every_row() -> None:
    """Groups that end at rows 2, 2 and 5: the second is empty, and rows after the end belong to the last."""
    xp = imported("numpy")
    assert Groups(6).run(xp, xp.array([2, 2, 5])).tolist() == [0, 0, 2, 2, 2, 2]
    assert Groups(ps.S).gives(ArrayType((ps.E,), "index")) == (ArrayType((ps.S,), "index"),)


def test_entries_at_positions() -> None:
    """Numbers for the first and the last axis, and Booleans for one."""
    xp = imported("numpy")
    x = xp.arange(24).reshape(2, 3, 4)
    assert At((0, 2), (2, 3)).run(xp, x, xp.array([1, 0]), xp.array([3, 1])).tolist() == [[15, 19, 23], [1, 5, 9]]
    assert At((1,), (2, 2, 4)).run(xp, x, xp.array([True, False, True])).tolist() == [[row[0], row[2]] for row in x.tolist()]


@pytest.mark.parametrize(
    ("how", "wanted"),
    [("set", [7, 1, 8, 3]), ("add", [17, 1, 8 + 2, 3]), ("multiply", [0, 1, 16, 3]), ("maximum", [10, 1, 8, 3]), ("minimum", [0, 1, 2, 3])],
)
def test_entries_put_at_positions(how: Any, wanted: list[int]) -> None:
    """10 and 7 to the first place, 8 to the third: the last one is set, or all are combined; the array itself stays."""
    xp = imported("numpy")
    x = xp.arange(4)
    assert PutAt((0,), how).run(xp, x, xp.array([10, 7, 8]), xp.array([0, 0, 2])).tolist() == wanted
    assert x.tolist() == [0, 1, 2, 3]


def test_entries_put_along_an_axis() -> None:
    """As numpy.put_along_axis."""
    xp = imported("numpy")
    x, places, values = xp.zeros((2, 3)), xp.array([[2, 0], [1, 2]]), xp.array([[5.0, 6.0], [7.0, 8.0]])
    wanted = x.copy()
    xp.put_along_axis(wanted, places, values, 1)
    assert PutAt((1,), along=True).run(xp, x, values, places).tolist() == wanted.tolist()


def test_what_is_worked_and_kept() -> None:
    """To set copies only; a maximum compares every value and keeps both arrays, the positions and the result."""
    x, values, places = ArrayType((ps.H,)), ArrayType((ps.S,)), ArrayType((ps.S,), "index")
    given, needs = (x,), (True, True, False)
    assert PutAt((0,)).work((x, values, places), given) == ()
    assert [one.unit for one in PutAt((0,), "maximum").work((x, values, places), given)] == ["maximum"]
    assert PutAt((0,)).keeps((x, values, places), given, needs) == (Kept("taken", 2),)
    assert PutAt((0,), "maximum").keeps((x, values, places), given, needs) == (
        Kept("taken"),
        Kept("taken", 1),
        Kept("taken", 2),
        Kept("given"),
    )
