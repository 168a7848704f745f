"""The points that a fit of the tree takes, and the numbers in names."""

from __future__ import annotations

from paramsym.derive.groups import _numbered
from paramsym.derive.names import Node
from paramsym.derive.observe import Seen
from paramsym.derive.tree import _thinned


def test_many_points_are_thinned_evenly() -> None:
    """Of 600 points every third is kept, the 260 that are allowed being fewer than 300; 260 points are kept as they are."""
    points = [({"n": number}, Node()) for number in range(600)]
    assert [numbers["n"] for numbers, _ in _thinned(points)] == list(range(0, 600, 3))
    assert _thinned(points[:260]) == points[:260]


def test_the_number_that_moves() -> None:
    """Of two numbers in a name the first one grows here; the second stays."""
    names = ["h0_w5", "h1_w5"]
    cases = [({"n": n}, Node({name: Node(tensor=Seen(name, (2,))) for name in names[:n]})) for n in (1, 2)]
    (pattern,) = _numbered(names, cases)
    assert pattern.name == "h{}_w5"
    assert list(pattern.members) == names
