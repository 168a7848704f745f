"""At the prompt of a terminal, a table fits the terminal; ``print`` and files have whole lines."""

from __future__ import annotations

import io
import sys

import pytest

import paramsym as ps


class Terminal(io.StringIO):
    """A standard output that is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_a_prompt_shows_tables_in_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Every cell is there, in several lines."""
    answers = (ps.conventions("work"), ps.load("gpt2").table(), ps.conventions(ps.load("gpt2")))
    plain = [repr(one) for one in answers]
    assert plain == [str(one) for one in answers]
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", Terminal())
    for one, whole in zip(answers, plain, strict=True):
        fitted = repr(one)
        assert max(map(len, fitted.splitlines())) <= columns
        cells = [word for word in whole.split() if not word.startswith("--")]
        assert all(word[:9] in "".join(fitted.split()) for word in cells)
        assert str(one) == whole
