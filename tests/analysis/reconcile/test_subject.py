"""How likely a chance hit is, and how paths are read, by hand."""

from __future__ import annotations

import paramsym as ps
from paramsym import H
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.wording import plain
from paramsym.core.ledger import Line


def test_how_many_ideas_would_hit_by_chance() -> None:
    """Of the multiples of 64 up to 128 on both sides, three are reached; a claim that is a multiple of nothing has 200 neighbours."""
    subject = Subject(ps.Dense(H, 5, bias=False).at(H=64))
    reached = (64, 10, 128, -128, 192)
    assert subject.expected(reached, 128) == 3 / 4
    assert subject.expected(reached, 100) == 2 / 200


def test_a_dotted_name_is_several_steps() -> None:
    """As in a state dict, where nobody sees which dots come from names."""
    assert plain(Line(("encoder.layers", "weight"), (3,))) == ("encoder", "layers", "weight")
