"""Comma-separated values, by the standard library's writer."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from sympy import Integer

from paramsym.render import text

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Letters, Table


def table(source: Table) -> str:
    """Return a header and the rows; totals are left out, because programs compute them.

    A string that a spreadsheet would take for a formula, such as a tensor called ``=1+1``, gets an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_cell(title, source.letters) for title in source.columns)
    writer.writerows([_cell(value, source.letters) for value in row] for row in source.rows)
    return out.getvalue()


def _cell(value: Cell, letters: Letters) -> str | int:
    if isinstance(value, int | Integer):
        return int(value)
    written = text.cell(value, letters)
    computed = ("=", "@", "+", "-") if isinstance(value, str) else ("=", "@")  # a formula of this library may begin with a minus
    return f"'{written}" if written.startswith(computed) else written
