"""Markdown: pipe tables for a README."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paramsym.render.text import cell

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Letters, Table


def table(source: Table) -> str:
    """Return a pipe table; the totals are in bold in its last row."""
    lines = [_row(list(map(escaped, source.columns))), _row(["--:" if end else ":--" for end in source.numeric])]
    lines += [_row([_cell(value, source.letters) for value in row]) for row in source.rows]
    if source.footer:
        lines.append(_row([f"**{written}**" if (written := _cell(value, source.letters)) else "" for value in source.footer]))
    if source.notes:
        lines += ["", "; ".join(f"{_cell(value, source.letters)}: {escaped(words)}" for value, words in source.notes)]
    return "\n".join(lines)


def _cell(value: Cell, letters: Letters) -> str:
    written = cell(value, letters)
    return escaped(written) if isinstance(value, str) else written.replace("*", r"\*")


def escaped(words: str) -> str:
    """Return words with the special characters of Markdown escaped, including those of tables."""
    return re.sub(r"([|_*$`\\])", r"\\\1", words)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
