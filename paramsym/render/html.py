"""HTML: a table that reads well in light and dark notebooks, formulas in MathJax's delimiters."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from sympy import Integer

from paramsym.render import latex

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Table


def table(source: Table) -> str:
    """Return a ``<table>`` with header, rows, totals and caption; no style that fights the page's own."""
    right = [bool(source.rows) and all(isinstance(row[i], int | Integer | None) for row in source.rows) for i in range(len(source.columns))]
    head = "".join(
        f'<th scope="col" style="text-align:{_side(end)}">{escape(title)}</th>' for title, end in zip(source.columns, right, strict=True)
    )
    rows = "\n".join(_row(row, right, source) for row in source.rows)
    foot = f"\n<tfoot>{_row(source.footer, right, source)}</tfoot>" if source.footer else ""
    caption = f"<caption>{escape(source.caption)}</caption>\n" if source.caption else ""
    return f"<table>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>{foot}\n</table>"


def _row(row: tuple[Cell, ...], right: list[bool], source: Table) -> str:
    cells = [_cell(value, source) for value in row]
    if row is not source.footer:
        cells[0] = f"<code>{cells[0]}</code>"
    written = (f'<td style="text-align:{_side(end)}">{cell}</td>' for cell, end in zip(cells, right, strict=True))
    return f"<tr>{''.join(written)}</tr>"


def _side(end: bool) -> str:
    return "right" if end else "left"


def _cell(value: Cell, source: Table) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, int | Integer):
        return f"{int(value):,}"
    return escape(latex.cell(value, source.letters))
