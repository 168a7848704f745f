"""Divisions of numbered copies, checked by hand."""

from __future__ import annotations

from paramsym.derive.names import Node
from paramsym.derive.observe import Seen
from paramsym.derive.partition import Partition, Run, partitions


def copies(kinds: str) -> dict[int, Node]:
    """Return one copy for each letter, which names its only tensor."""
    return {place: Node({kind: Node(tensor=Seen(kind, (2,)))}) for place, kind in enumerate(kinds)}


def test_two_kinds_in_turn_after_a_first_one() -> None:
    """Three or two copies of a, then b and c in turn."""
    rows = [copies("aaabcbc"), copies("aabcbc")]
    found = next(partitions(rows))
    assert found == Partition(0, 0, 1, constant=True, first=copies("a")[0].label, after=2)
    assert found.runs(rows) == [Run(((0, 3), (0, 2)), 1), Run(((3, 7), (2, 6)), 2)]
