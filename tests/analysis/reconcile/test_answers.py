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


def test_a_table_says_nothing_twice() -> None:
    """A difference without letters is its own term; further readings of a term have blank cells before them."""
    training = ps.memory(ps.load("meta-llama/Llama-2-7b-hf"), (1, 2048), dtype="bfloat16")
    assert ps.reconcile(training, "112 GB").table().columns == ("difference", "reading")
    twice = ps.reconcile(ps.load("gpt2"), 163_037_184)
    rows = twice.table().rows
    assert rows[0][:2] == (twice[0].difference, twice[0].term)
    assert [row[:2] for row in rows[1 : len(twice[0].readings)]] == [(None, None)] * (len(twice[0].readings) - 1)


def test_no_answer_is_a_sentence_in_latex() -> None:
    """A table without rows would be two rules."""
    assert ps.reconcile(ps.load("mobilenet_v2"), "3.4M").to_latex().startswith("no one reason found for 3.")
