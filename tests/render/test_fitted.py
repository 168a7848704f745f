"""At the prompt of a terminal, a table fits the terminal; ``print`` and files have whole lines."""

from __future__ import annotations

import io
import re
import sys

import pytest
from amount import cases

import paramsym as ps
from paramsym.algebra.size import shown
from paramsym.render import layout


class Terminal(io.StringIO):
    """A standard output that is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_a_prompt_shows_tables_in_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Every cell is there, in several lines."""
    listing, table, counts = ps.conventions("work"), ps.load("gpt2").table(), ps.conventions(ps.load("gpt2"))
    answers = (listing, table, counts)
    plain = [repr(one) for one in answers]
    assert plain == [str(one) for one in answers]
    wide = [one.to_text() for one in (listing.table(), table, counts.table())]
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", Terminal())
    for one, written, whole in zip(answers, plain, wide, strict=True):
        fitted = repr(one)
        assert max(map(len, fitted.splitlines())) <= columns
        cells = [word for word in whole.split() if not word.startswith("--")]
        assert all(word[:9] in "".join(fitted.split()) for word in cells)
        assert str(one) == written


@cases(3)
@pytest.mark.parametrize("name", ["gemma4_text", "microsoft/swin-tiny-patch4-window7-224", "clap", "dots3_note_text", "janus", "siglip2"])
def test_long_names_are_broken(name: str) -> None:
    """Arguments such as hidden_size_per_layer_input made a table of 133 columns; 80 are enough, for the formula too."""
    model = ps.load(name).origin[0]
    fitted = layout.table(model.table(), 80)
    assert max(map(len, fitted.splitlines())) <= 80
    steps = {step for row in model.table().rows for step in re.findall(r"[a-z]+", str(row[0]))}
    assert all(step in fitted for step in steps)
    lines = layout.formula(shown(model.params), 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert "".join(line.strip() for line in lines).replace(" ", "") == shown(model.params).replace(" ", "")


def test_the_known_conventions_are_no_wider_than_a_page() -> None:
    """In a file or a pipe, too: their cells are sentences, which made lines of 500 characters."""
    for topic in ("work", "formats", "machines", "all"):
        assert max(map(len, str(ps.conventions(topic)).splitlines())) <= 100


@pytest.mark.parametrize("columns", [60, 100])
def test_a_prompt_shows_sentences_in_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Reasons and explanations go on behind an indent; code stays as it is."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    answers = (
        ps.reconcile(llama, "4.08 GB"),
        ps.reconcile(llama, "4.08 GB")[0],
        ps.reconcile(llama, 123),
        ps.explain(ps.load("gpt2"), "A"),
    )
    code = ps.export(llama, "c")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", Terminal())
    for one in answers:
        assert max(map(len, repr(one).splitlines())) <= columns
        assert repr(one).split() == str(one).split()
    assert repr(answers[0]).splitlines()[1].startswith("    ")
    assert repr(code) == str(code)


def test_a_long_term_is_left_to_the_table() -> None:
    """The largest of nine arrays in letters, as a difference of memory, is no line of text."""
    cost = ps.memory(ps.load("meta-llama/Meta-Llama-3-8B"), (1, 2048), dtype="bfloat16", use="inference")
    answer = ps.reconcile(cost, "16.1 GB")[0]
    assert str(answer).startswith(f"{answer.value:+d}: possible: only the weights")
    assert "Max" in str(answer.term)
