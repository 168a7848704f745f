"""Formats: a table becomes text, Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st
from sympy import Integer, Symbol

from paramsym import A, F, H
from paramsym.render.table import Letters, Table

TABLE = Table(
    columns=("tensor", "shape", "parameters"),
    rows=(("a_b.weight", (F, H), F * H), ("x|y*z & 100%", (3,), Integer(1234567)), ("", None, None)),
    footer=("total", None, F * H + 1234567),
    caption="A <caption> & more",
    letters=Letters((("F", "F"), ("H", "H"))),
)
NUMBERS = Table(("part", "parameters"), (("up", 1000), ("down", Integer(7))), ("total", 1007))


def test_text_lines_up() -> None:
    """Numbers to the right, rules as wide as the widest row."""
    lines = str(NUMBERS).splitlines()
    assert lines == [
        "part   parameters",
        "-----------------",
        "up          1,000",
        "down            7",
        "-----------------",
        "total       1,007",
    ]
    assert str(TABLE).startswith("A <caption> & more\n")
    assert "(F, H)" in str(TABLE)
    assert "(3,)" in str(TABLE)


def test_markdown_escapes_what_would_be_read_as_markup() -> None:
    """Pipes, stars and underscores stay what they are; every row has the same number of cells."""
    lines = TABLE.to_markdown().splitlines()
    assert lines[1] == "| :-- | :-- | :-- |"
    assert r"a\_b.weight" in lines[2]
    assert r"x\|y\*z" in lines[3]
    assert r"F\*H" in lines[2]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {4}
    assert lines[-1].startswith("| **total** |")
    assert "--:" in NUMBERS.to_markdown()
    assert Table(("a",), (("b",),)).to_markdown() == "| a |\n| :-- |\n| b |"


def test_latex_is_a_booktabs_tabular() -> None:
    """Escaped words, formulas in dollars, one row per line."""
    latex = TABLE.to_latex()
    assert latex.startswith("\\begin{tabular}{lll}\n\\toprule\ntensor & shape & parameters \\\\\n\\midrule\n")
    assert latex.endswith("\\bottomrule\n\\end{tabular}")
    assert r"x|y*z \& 100\%" in latex
    assert "$(F, H)$ & $F H$" in latex
    assert "$1{,}234{,}567$" in latex
    assert r"a\_\allowbreak{}b.\allowbreak{}weight" in latex
    assert TABLE._repr_latex_() == latex
    assert latex.count("\\midrule") == 2
    assert Table(("a",), (("b",),)).to_latex().count("\\midrule") == 1


class _Tags(HTMLParser):
    """Collect the tags that are open, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag != "wbr":  # a tag that is never closed
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_balanced_and_escaped() -> None:
    """Every tag is closed; a name cannot become markup."""
    parser = _Tags()
    parser.feed(TABLE.to_html())
    assert parser.open == []
    assert "A <caption> & more" in parser.text
    assert "x|y*z & 100%" in parser.text
    assert "1,234,567" in parser.text
    assert TABLE._repr_html_() == TABLE.to_html()
    assert TABLE._repr_markdown_() == TABLE.to_markdown()
    assert "<tfoot>" not in Table(("a",), (("<b>",),)).to_html()
    assert "&lt;b&gt;" in Table(("a",), (("<b>",),)).to_html()


def test_csv_reads_back() -> None:
    """A header and the rows; formulas as plain text, numbers without commas."""
    rows = list(csv.reader(io.StringIO(TABLE.to_csv())))
    assert rows == [
        ["tensor", "shape", "parameters"],
        ["a_b.weight", "(F, H)", "F*H"],
        ["x|y*z & 100%", "(3,)", "1234567"],
        ["", "", ""],
    ]


@given(st.text(st.characters(exclude_categories=("C",)), max_size=20))
def test_no_name_breaks_a_format(name: str) -> None:
    """Whatever a tensor is called, HTML stays balanced and CSV has its rows."""
    table = Table(("tensor", "parameters"), ((name, A),), ("total", A), name)
    parser = _Tags()
    parser.feed(table.to_html())
    assert parser.open == []
    assert len(list(csv.reader(io.StringIO(table.to_csv(), newline="")))) == 2
    assert table.to_latex().count("&") - table.to_latex().count(r"\&") == 3
    assert str(table)


@pytest.mark.parametrize("name", ["to_text", "to_markdown", "to_latex", "to_html", "to_csv"])
def test_an_empty_table(name: str) -> None:
    """No rows, no footer: still a table."""
    assert isinstance(getattr(Table(("a", "b"), ()), name)(), str)
    assert Symbol("x") not in Table(("a",), ()).rows
