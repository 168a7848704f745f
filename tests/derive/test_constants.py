"""Numbers in the code of a build."""

from __future__ import annotations

from paramsym.derive.constants import _held


def test_numbers_of_tables() -> None:
    """A table in a dictionary has numbers on both sides; flags and words are none."""
    assert list(_held({4: 37, "flag": True})) == [4, 37]
    assert list(_held((1, "two", 3))) == [1, 3]
    assert list(_held(5)) == [5]
