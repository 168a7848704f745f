"""How an answer reads."""

from __future__ import annotations

import pytest
from sympy import Integer

import paramsym as ps
from paramsym.analysis.reconcile.answers import Answer, Reading


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        (1, "a"),
        (3, "a; or b; or c"),
        (4, "a; or b; or c; and one more reading"),
        (5, "a; or b; or c; and 2 more readings"),
    ],
)
def test_three_readings_are_spelt_out(readings: int, words: str) -> None:
    """The rest is counted, one of them in the singular."""
    answer = Answer(Integer(7), 7, tuple(map(Reading, "abcde"[:readings])))
    assert answer.words == words
    assert str(answer) == f"+7: {words}"


def test_headings() -> None:
    """A table of answers, and one of two designs, says what stands in its columns."""
    assert ps.reconcile(ps.Dense(3, 4), 12).table().columns == ("difference", "term", "reading")
    assert ps.compare(ps.Dense(3, 4), ps.Linear(3, 4, bias=False)).table().columns[::3] == ("part", "difference")
