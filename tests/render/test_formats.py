"""Formats: a table becomes text, Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from unicodedata import category

import pytest
from hypothesis import example, given, strategies as st
from sympy import Integer, Symbol

import paramsym as ps
from paramsym import A, F, H
from paramsym.render.table import Letters, Table
from paramsym.render.tabular import Tabular

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


@given(st.text(max_size=20))
@example("a\x1b[2Jb\r\nc\u202ed\t\x00\x85\u2028")
@example("=cmd|'/C calc'!A0")
def test_no_name_breaks_a_format(name: str) -> None:
    """With any name of a tensor or a column, HTML stays balanced, CSV and Markdown keep their rows, and text has no control characters."""
    table = Table((name, "parameters"), ((name, A),), ("total", A), name)
    parser = _Tags()
    parser.feed(table.to_html())
    assert parser.open == []
    assert len(list(csv.reader(io.StringIO(table.to_csv(), newline="")))) == 2
    assert table.to_latex().count("&") - table.to_latex().count(r"\&") == 3
    assert len(table.to_markdown().split("\n")) == 4
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table.to_markdown().split("\n")} == {3}
    assert len(str(table).split("\n")) == 5 + bool(name)
    for written in (table.to_text(), table.to_markdown(), table.to_latex(), table.to_html(), table.to_csv()):
        assert not [mark for mark in written if mark != "\n" and category(mark) in {"Cc", "Cs"}]
        assert not set(written) & set("\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", '=HYPERLINK("http://example.org")'])
def test_a_spreadsheet_computes_no_name(name: str) -> None:
    """No word begins as a formula does (OWASP, CSV injection); numbers and formulas of this library stay what they are."""
    rows = list(csv.reader(io.StringIO(Table((name, "parameters"), ((name, -3), ("x", -H + 3))).to_csv())))
    assert rows == [[f"'{name}", "parameters"], [f"'{name}", "-3"], ["x", "3 - H"]]
    answer = ps.match(ps.Dense(2, 3), {name: (3, 2)})
    assert f"'{name}" in {row[0] for row in csv.reader(io.StringIO(answer.table().to_csv()))}
    assert answer.unexpected == (name,)


@pytest.mark.parametrize("name", ["to_text", "to_markdown", "to_latex", "to_html", "to_csv"])
def test_an_empty_table(name: str) -> None:
    """No rows, no footer: still a table."""
    assert isinstance(getattr(Table(("a", "b"), ()), name)(), str)
    assert Symbol("x") not in Table(("a",), ()).rows


@pytest.mark.parametrize(
    "thing",
    [
        ps.Dense(H, F).ledger(),
        ps.reconcile(ps.Dense(2, 3), 6),
        ps.conventions(ps.Dense(H, F)),
        ps.compare(ps.Dense(H, F), ps.Dense(F, H)),
        ps.sensitivity(ps.Dense(H, F), H),
        ps.solve(ps.Dense(H, 1), 4, {H: range(1, 9)}),
        ps.sweep(ps.Dense(H, 1), {H: range(1, 40)}),
        ps.match(ps.Dense(2, 3), {"weight": (2, 3)}),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_answers_are_shown_everywhere(thing: Tabular) -> None:
    """As HTML in a notebook, as LaTeX and Markdown on a page made from one, and as it prints in a terminal."""
    assert thing._repr_html_().startswith("<table>")
    assert str(thing._repr_latex_()).startswith(r"\begin{tabular}")
    assert str(thing._repr_markdown_()).startswith("| ")
    printer = io.StringIO()
    printer.text = printer.write  # type: ignore[attr-defined]
    thing._repr_pretty_(printer, cycle=False)
    assert printer.getvalue() == str(thing)
    assert "Line(" not in str(thing)


def test_nothing_found_is_said() -> None:
    """An answer without rows is a sentence."""
    nothing = ps.reconcile(ps.Dense(2, 3), 10**9 + 7)
    assert nothing._repr_html_().startswith("<p>no short explanation found for 1,000,000,007 ")
    assert nothing._repr_latex_() is nothing._repr_markdown_() is None


def test_a_long_table_breaks_across_the_pages_of_an_exported_notebook() -> None:
    """More rows than a page has room for are a longtable there."""
    assert ps.Sequential(*[ps.Dense(2, 3)] * 20).table()._repr_latex_().startswith(r"\begin{longtable}")
