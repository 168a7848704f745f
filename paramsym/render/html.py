"""HTML: tables that fold and read well in light and dark notebooks, formulas as plain HTML that needs no script."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from sympy import Integer

from paramsym.errors import ArgumentError
from paramsym.render import latex
from paramsym.render.table import NAMES

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Table

LIMIT = 100
"""The number of rows from which a table shows only its first rows until it is opened."""
_FIRST = 20
_SHORT = 28
_MUTED = "opacity:.7"  # of the page's own colour
_LINE = "1px solid color-mix(in srgb, currentColor 35%, transparent)"
_ROOM = "padding:.1em .6em"


def table(source: Table, *, limit: int | None = LIMIT) -> str:
    """Return a ``<table>`` with header, rows, totals and caption; a long table shows its first rows, and can be opened.

    The colours are those of the page. ``limit=None`` shows every row.
    """
    given: object = limit
    if limit is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 0):
        raise ArgumentError(f"limit is a {type(limit).__name__}, or below 0; wanted a number of rows, or None for all of them.")
    if limit is None or len(source.rows) <= limit:
        return _whole(source, source.rows)
    shown = _whole(source, source.rows[:_FIRST], f"the first {_FIRST} of {len(source.rows)} rows")
    return f"{shown}\n<details><summary>All {len(source.rows)} rows</summary>\n{_whole(source, source.rows)}\n</details>"


def folded(source: Table, summary: str, *, limit: int | None = LIMIT) -> str:
    """Return a closed table under a summary line, which is HTML."""
    return f"<details><summary>{summary}</summary>\n{table(source, limit=limit)}\n</details>"


def card(title: str, written: str, number: str, tables: list[tuple[str, Table]]) -> str:
    """Return a count for a notebook: its name, its formula, its number, and tables to open."""
    head = f"<strong>{escape(title)}</strong>"
    counted = f" = <strong>{escape(number)}</strong>" if number else ""
    lines = [f"<div>{head}: {formula(written)}{counted} parameters</div>"]
    lines += [folded(table, escape(summary)) for summary, table in tables]
    return "<div>\n" + "\n".join(lines) + "\n</div>"


def formula(written: str) -> str:
    r"""Return plain HTML for LaTeX of this library: ``12 L H^{2}`` with letters in italics and a raised 2.

    The spaces within a product are narrow, and no line breaks there.

    >>> formula(r"\frac{V}{l_{\text{x}}}")
    '<i>V</i>/<i>l</i><sub>x</sub>'
    """
    tokens = _TOKEN.findall(written)
    out, rest = _sequence(tokens, 0)
    return (out + escape("".join(tokens[rest:]))).strip()


def _whole(source: Table, rows: tuple[tuple[Cell, ...], ...], note: str = "") -> str:
    head = "".join(
        f'<th scope="col" style="text-align:{_side(end)};{_ROOM};border-bottom:{_LINE}">{escape(title)}</th>'
        for title, end in zip(source.columns, source.numeric, strict=True)
    )
    body = "\n".join(_row(row, source) for row in rows)
    foot = f"\n<tfoot>{_row(source.footer, source, f';border-top:{_LINE}')}</tfoot>" if source.footer else ""
    said = " ".join(_cell(piece, source) for piece in source.heading) if source.heading else escape(source.caption)
    said += f' <span style="{_MUTED}">({note})</span>' if note else ""
    caption = f'<caption style="text-align:left;{_ROOM}">{said}</caption>\n' if said else ""
    told = "; ".join(f"{_cell(value, source)}: {escape(words)}" for value, words in source.notes)
    notes = f'\n<p style="{_MUTED}">{told}</p>' if told else ""
    return f"<table>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>{foot}\n</table>{notes}"


def _row(row: tuple[Cell, ...], source: Table, style: str = "") -> str:
    cells = [_cell(value, source) for value in row]
    if row is not source.footer and isinstance(row[0], str) and source.columns[0] in NAMES:
        cells[0] = f"<code>{_name(cells[0])}</code>"
    written = (
        f'<td style="text-align:{_side(end)};{_ROOM}{_kept(value)}{style}">{cell}</td>'
        for value, cell, end in zip(row, cells, source.numeric, strict=True)
    )
    return f"<tr>{''.join(written)}</tr>"


def _name(written: str) -> str:
    """Let a name break only after its dots, not within ``{0..L-1}``."""
    return re.sub(r"\{[^{}]*\}", r'<span style="white-space:nowrap">\g<0></span>', re.sub(r"(?<!\.)\.(?!\.)", ".<wbr>", written))


def _kept(value: Cell) -> str:
    """Keep shapes and short words on one line."""
    return ";white-space:nowrap" if isinstance(value, tuple) or (isinstance(value, str) and len(value) < _SHORT) else ""


def _side(end: bool) -> str:
    return "right" if end else "left"


def _cell(value: Cell, source: Table) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, int | Integer):
        return f"{int(value):,}"
    if isinstance(value, tuple):
        inside = ", ".join(formula(latex.extent(size, source.letters)) for size in value)
        return f"({inside})"
    return formula(latex.expression(value, source.letters))


_OPEN = {r"\lfloor", r"\lceil"}
_BINARY = {"+", "-", "=", "<", ">", r"\cdot", r"\approx"}
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[{}^_]|[0-9]+|\s+|.", re.DOTALL)
_SIGNS = {
    r"\cdot": "·", r"\approx": "≈", r"\left": "", r"\right": "", r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉",
    r"\max": "max", r"\min": "min", r"\bmod": " mod ", r"\sum": "∑", r"\ldots": "…", r"\allowbreak": "", r"\quad": " ",
    r"\displaystyle": "", r"\log": "log", r"\,": "", r"\ell": "<i>&ell;</i>",
}  # fmt: skip


def _sequence(tokens: list[str], at: int) -> tuple[str, int]:
    out = ""
    start = at
    while at < len(tokens) and tokens[at] != "}":
        if tokens[at].isspace() and start < at < len(tokens) - 1:
            out += _space(tokens[at - 1], tokens[at + 1])
            at += 1
            continue
        piece, at = _piece(tokens, at)
        out += piece
    return out, at


def _space(before: str, after: str) -> str:
    """Set the factors of a product close together, and let a sum break only before its signs."""
    if before in _OPEN or after == r"\right":
        return ""
    if after in _BINARY:
        return " "
    return "\N{NO-BREAK SPACE}" if before in _BINARY else "\N{NARROW NO-BREAK SPACE}"


def _group(tokens: list[str], at: int) -> tuple[str, int]:
    while at < len(tokens) and tokens[at].isspace():
        at += 1
    if at < len(tokens) and tokens[at] == "{":
        out, at = _sequence(tokens, at + 1)
        return out, at + 1
    return _piece(tokens, at) if at < len(tokens) else ("", at)


def _piece(tokens: list[str], at: int) -> tuple[str, int]:
    mark = tokens[at]
    if mark in {"^", "_"}:
        inside, at = _group(tokens, at + 1)
        name = "sup" if mark == "^" else "sub"
        return f"<{name}>{inside}</{name}>", at
    if mark == "{":
        return _group(tokens, at)
    if mark == r"\frac":
        above, at = _group(tokens, at + 1)
        below, at = _group(tokens, at)
        return f"{_bracketed(above)}/{_bracketed(below, product=True)}", at
    if mark == r"\sqrt":
        inside, at = _group(tokens, at + 1)
        return f"&radic;{_bracketed(inside, product=True)}", at
    if mark in {r"\text", r"\mathit", r"\mathcal", r"\operatorname"}:
        inside, at = _group(tokens, at + 1)
        plain = re.sub(r"</?i>", "", inside).replace("\N{NARROW NO-BREAK SPACE}", " ")
        return (plain if mark in {r"\text", r"\operatorname"} else f"<i>{plain}</i>"), at
    if mark == "-":
        return "&minus;", at + 1
    if mark in _SIGNS:
        return _SIGNS[mark], at + 1
    if mark.startswith("\\"):
        name = mark[1:]
        return (f"<i>&{name};</i>" if name.isalpha() else escape(name)), at + 1
    return (f"<i>{mark}</i>" if mark.isalpha() else escape(mark)), at + 1


def _bracketed(written: str, *, product: bool = False) -> str:
    """Put brackets around a sum, and, in a denominator, around a product."""
    plain = re.sub(r"<su[bp]>.*?</su[bp]>|<[^>]+>", "", written)
    return f"({written})" if re.search(r"[+-]|&minus;" if not product else r"[+-]|&minus;|[\s·/]", plain.strip()) else written
