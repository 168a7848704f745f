"""Plain text: aligned columns."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from sympy import Expr, Integer

from paramsym.render import plain

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Letters, Table


_LEAST = 60
"""The least width of notes, in characters."""


def cell(value: Cell, letters: Letters) -> str:
    """Return the text of one cell; ``letters`` gives the order of letters in expressions."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return f"({', '.join(_size(size, letters) for size in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, int | Integer):
        return f"{int(value):,}"
    return _size(value, letters)


def _size(value: object, letters: Letters) -> str:
    return plain.expression(value, letters) if isinstance(value, Expr) else str(value)


def table(source: Table) -> str:
    """Return aligned columns, with numbers to the right and a rule above and below the rows."""
    body = [[cell(value, source.letters) for value in row] for row in source.rows]
    footer = [[cell(value, source.letters) for value in source.footer]] if source.footer else []
    widths = [max(len(row[i]) for row in [list(source.columns), *body, *footer]) for i in range(len(source.columns))]

    def line(row: list[str]) -> str:
        cells = (text.rjust(width) if end else text.ljust(width) for text, width, end in zip(row, widths, source.numeric, strict=True))
        return "  ".join(cells).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    parts = [line(list(source.columns)), rule, *map(line, body)]
    if footer:
        parts += [rule, *map(line, footer)]
    parts += notes(source, max(_LEAST, len(rule)))
    return "\n".join(([source.caption] if source.caption else []) + parts)


def notes(source: Table, width: int) -> list[str]:
    """Return the notes in lines of a width."""
    told = "; ".join(f"{cell(value, source.letters)}: {words}" for value, words in source.notes)
    return wrap(told, width, break_long_words=False, break_on_hyphens=False)
