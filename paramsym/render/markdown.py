"""Markdown: pipe tables as a README would paste them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Integer

from paramsym.render.text import cell

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Table


def table(source: Table) -> str:
    """Return a pipe table; the totals stand in bold in its last row."""
    right = [bool(source.rows) and all(isinstance(row[i], int | Integer | None) for row in source.rows) for i in range(len(source.columns))]
    lines = [_row(list(source.columns)), _row(["--:" if end else ":--" for end in right])]
    lines += [_row([_cell(value) for value in row]) for row in source.rows]
    if source.footer:
        lines.append(_row([f"**{_cell(value)}**" if _cell(value) else "" for value in source.footer]))
    return "\n".join(lines)


def _cell(value: Cell) -> str:
    written = cell(value)
    if isinstance(value, str):
        return written.replace("|", r"\|").replace("_", r"\_").replace("*", r"\*")
    return written.replace("*", r"\*")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
