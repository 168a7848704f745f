"""How likely a rounded claim is hit by chance, by hand."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import F, H
from paramsym.analysis.claim import read
from paramsym.analysis.reconcile.ranking import EditSearch
from paramsym.analysis.reconcile.subject import Subject


def test_the_chance_of_a_rounded_claim() -> None:
    """10,001 numbers, 15,000 to 25,000, round to 20K; claims as far off as that lie up to 15,000 on both sides of a count of 10,000.

    Two differences as simple as this are so near: 10,000 of the weight again, and -5,000 of its bytes in 4 bits.
    """
    search = EditSearch(Subject(ps.Dense(H, F, bias=False).at(H=100, F=100)))
    (hit,) = (hit for hit in search.within(read("20K").stated) if hit.edits[0].words == "weight counted twice")
    assert hit.chance == pytest.approx(2 * 10_001 / 30_000, rel=1e-9)
