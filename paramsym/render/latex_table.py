"""LaTeX tables with booktabs rules: a ``tabular`` that fits its page, or a ``longtable`` that breaks across pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paramsym.render import latex

if TYPE_CHECKING:
    from paramsym.render.table import Letters, Table

_LINE = 68  # characters that a column of text in ten points holds, formulas and words mixed
_GAP = 2.4  # what the space between two columns takes, in characters
_NARROW = 14  # columns up to this width are never broken
_SMALL = 80  # words that fit a broken column without becoming a tower


def table(source: Table, letters: Letters | None = None, *, long: bool = False, label: str = "") -> str:
    r"""Return a ``tabular``, or a ``longtable`` with the caption, in booktabs style.

    Columns are as wide as what stands in them while the table fits a line; where it does not, the wide ones become paragraphs that break at
    the dots of a name and at the signs of a sum. Needs ``\usepackage{amsmath,array,booktabs}``, and ``longtable`` where ``long`` is set.
    """
    letters = letters or source.letters
    body = [[latex.cell(value, letters) for value in row] for row in source.rows]
    footer = [[latex.cell(value, letters) for value in source.footer]] if source.footer else []
    head = [latex.escape(title) for title in source.columns]
    columns, broken = _columns(source, [head, *body, *footer])
    written = [_row([_breakable(cell) if wide else cell for cell, wide in zip(row, broken, strict=True)]) for row in [*body, *footer]]
    rows, totals = (written[:-1], written[-1:]) if footer else (written, [])
    spec = "".join(columns)
    if long:
        return _long(source, spec, _row(head), rows, totals, label, letters)
    lines = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", _row(head), r"\midrule", *rows]
    lines += [r"\midrule", *totals] if totals else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _long(source: Table, spec: str, head: str, rows: list[str], totals: list[str], label: str, letters: Letters) -> str:
    caption = _caption(source, letters)
    named = rf"\label{{{label}}}" if label else ""
    many = len(source.columns)
    lines = [rf"\begin{{longtable}}{{{spec}}}"]
    lines += [rf"\caption{{{caption}}}{named}\\"] if caption else []
    lines += [r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead"]
    lines += [rf"\midrule \multicolumn{{{many}}}{{r}}{{continued}} \\", r"\endfoot", r"\bottomrule", r"\endlastfoot", *rows]
    lines += [r"\midrule", *totals] if totals else []
    return "\n".join([*lines, r"\end{longtable}"])


def _caption(source: Table, letters: Letters) -> str:
    if not source.heading:
        return latex.words(source.caption)
    pieces = [latex.cell(piece, letters) for piece in source.heading]
    return " ".join(piece for piece in pieces if not piece.startswith("$") or latex.width(piece) <= _SMALL)


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _breakable(cell: str) -> str:
    r"""Let a formula break where LaTeX would not by itself: after a comma, inside brackets, between long names."""
    if not cell.startswith("$"):
        return cell
    loose = re.sub(r"\\(?:left|right)(?=[\\()])", "", cell.replace(", ", r",\allowbreak{} "))
    return loose.replace(r" \, ", r" \, \allowbreak ")


def _columns(source: Table, cells: list[list[str]]) -> tuple[list[str], list[bool]]:
    """Say how each column is set, and which ones are paragraphs."""
    widths = [max(latex.width(row[i]) for row in cells) for i in range(len(source.columns))]
    plain = ["r" if number else "l" for number in source.numeric]
    if sum(widths) + _GAP * len(widths) <= _LINE:
        return plain, [False] * len(widths)
    broken = [wide > _NARROW and not number for wide, number in zip(widths, source.numeric, strict=True)]
    if not any(broken):
        return plain, broken
    left = _LINE - _GAP * len(widths) - sum(wide for wide, bends in zip(widths, broken, strict=True) if not bends)
    shares = [min(wide, _SMALL) if bends else 0 for wide, bends in zip(widths, broken, strict=True)]
    fractions = [max(left, _NARROW) * share / sum(shares) / _LINE for share in shares]
    return [
        rf">{{\raggedright\arraybackslash}}p{{{fraction:.3f}\linewidth}}" if bends else kind
        for fraction, bends, kind in zip(fractions, broken, plain, strict=True)
    ], broken
