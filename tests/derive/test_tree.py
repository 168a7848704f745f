"""The points that a fit of the tree takes."""

from __future__ import annotations

from paramsym.derive.names import Node
from paramsym.derive.tree import _thinned


def test_many_points_are_thinned_evenly() -> None:
    """Of 600 points every third is kept, the 260 that are allowed being fewer than 300; 260 points are kept as they are."""
    points = [({"n": number}, Node()) for number in range(600)]
    assert [numbers["n"] for numbers, _ in _thinned(points)] == list(range(0, 600, 3))
    assert _thinned(points[:260]) == points[:260]
