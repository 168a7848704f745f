"""LaTeX tables with booktabs rules: a ``tabular`` that fits its page, or a ``longtable`` that breaks across pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paramsym.render import latex
from paramsym.render.widths import LINE, limit_of, width as measured, width_of_words

if TYPE_CHECKING:
    from paramsym.render.table import Letters, Table

_GAP = 2.4  # what the space between two columns takes, in characters
_NARROW = 14  # columns up to this width are never broken
_SMALL = 80  # words that fit a broken column without becoming a tower
_SUM = r", | [+-] "
_PRODUCT = r"(?<=[A-Za-z}]) (?:\\, )?(?=[\\A-Za-z])(?!\\(?:right|rfloor|rceil|cdot|penalty|allowbreak)\b)"
"""Where a formula breaks: between terms and sizes; at worst, between factors."""
_SIZES = (
    ("", 1.0, _GAP),
    (r"\small", 1 / 0.925, _GAP),
    (r"\footnotesize", 1 / 0.85, _GAP),
    (r"\scriptsize", 1 / 0.8, _GAP),
    (r"\scriptsize\setlength{\tabcolsep}{3pt}", 1 / 0.8, _GAP / 2),
)
"""Sizes of type, how many more characters of each a line holds (the smaller, the wider for their size), and the space between columns."""


def table(source: Table, letters: Letters | None = None, *, long: bool = False, label: str = "", width: float | None = None) -> str:
    r"""Return a ``tabular``, or a ``longtable`` with the caption, in booktabs style.

    Columns are as wide as what stands in them while the table fits a line; where it does not, the wide ones become paragraphs that break at
    the dots of a name and at the signs of a sum, in smaller type where their pieces need it. Needs
    ``\usepackage{amsmath,array,booktabs}``, and ``longtable`` where ``long`` is set.
    """
    letters = letters or source.letters
    body = [[latex.cell(value, letters) for value in row] for row in source.rows]
    footer = [[latex.cell(value, letters) for value in source.footer]] if source.footer else []
    head = [latex.escape(title) for title in source.columns]
    size, columns, room = _columns(source, [head, *body, *footer], limit_of(width))
    written = [_row([_breakable(cell, wide) for cell, wide in zip(row, room, strict=True)]) for row in [*body, *footer]]
    rows, totals = (written[:-1], written[-1:]) if footer else (written, [])
    spec = "".join(columns)
    if long:
        lines = _long(source, spec, _row(head), rows, totals, label, letters)
    else:
        lines = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", _row(head), r"\midrule", *rows]
        lines += [r"\midrule", *totals] if totals else []
        lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([rf"{{{size}", *lines, "}"] if size else lines)


def _long(source: Table, spec: str, head: str, rows: list[str], totals: list[str], label: str, letters: Letters) -> list[str]:
    caption = _caption(source, letters)
    named = rf"\label{{{label}}}" if label else ""
    many = len(source.columns)
    lines = [rf"\begin{{longtable}}{{{spec}}}"]
    lines += [rf"\caption{{{caption}}}{named}\\"] if caption else []
    lines += [r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead"]
    lines += [rf"\midrule \multicolumn{{{many}}}{{r}}{{continued}} \\", r"\endfoot", r"\bottomrule", r"\endlastfoot", *rows]
    lines += [r"\midrule", *totals] if totals else []
    return [*lines, r"\end{longtable}"]


def _caption(source: Table, letters: Letters) -> str:
    if not source.heading:
        return latex.words(source.caption)
    pieces = [latex.cell(piece, letters) for piece in source.heading]
    return " ".join(piece for piece in pieces if not piece.startswith("$") or (measured(piece) <= _SMALL and _terms(piece) <= LINE / 6))


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _breakable(cell: str, room: float | None) -> str:
    r"""Let a formula break where LaTeX would not by itself: after a comma, inside brackets, and, where a product is too wide, in it."""
    if room is None or not cell.startswith("$"):
        return cell
    loose = re.sub(r"\\(?:left|right)(?=[\\()])", "", cell.replace(", ", r",\allowbreak{} "))
    if _terms(cell) > room:
        loose = re.sub(_PRODUCT, r"\g<0>\\penalty9000 ", loose)
    return loose


def _terms(formula: str) -> float:
    """Return how wide the widest term is."""
    return max(map(measured, re.split(_SUM, formula)))


def _wide(cell: str) -> float:
    return measured(cell) if cell.startswith("$") else width_of_words(cell)


def _least(cell: str) -> float:
    """Return how wide the widest piece is that does not break, factors taken apart only where they must be."""
    if cell.startswith("$"):
        return max(map(measured, re.split(rf"{_SUM}|{_PRODUCT}", cell)))
    return max(map(width_of_words, re.split(r"\\allowbreak\{\}| ", cell)))


def _columns(source: Table, rows: list[list[str]], limit: float) -> tuple[str, list[str], list[float | None]]:
    """Say in which size of type the table is set, how each column is, and how wide those are that are paragraphs."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(_wide, cells)) for cells in columns]
    plain = ["r" if number else "l" for number in source.numeric]
    broken = [wide > _NARROW and not number for wide, number in zip(widths, source.numeric, strict=True)]
    if sum(widths) + _GAP * len(widths) <= limit:
        return "", plain, [None] * len(widths)
    least = [max(map(_least, cells)) if bends else wide for cells, wide, bends in zip(columns, widths, broken, strict=True)]
    size, more, gap = next(
        (one for one in _SIZES if sum(least) + one[2] * one[1] * len(widths) <= limit * one[1]),
        _SIZES[-1],
    )
    line = limit * more
    # What is left is shared out by how much more each column could use.
    room = max(line - gap * more * len(widths) - sum(least), 0.0)
    wanted = [min(wide, _SMALL) - narrow if bends else 0.0 for wide, narrow, bends in zip(widths, least, broken, strict=True)]
    share = min(1.0, room / sum(wanted)) if sum(wanted) > 0 else 0.0
    given = [narrow + share * extra for narrow, extra in zip(least, wanted, strict=True)]
    return (
        size,
        [
            rf">{{\raggedright\arraybackslash}}p{{{wide / line:.3f}\linewidth}}" if bends else kind
            for wide, bends, kind in zip(given, broken, plain, strict=True)
        ],
        [wide if bends else None for wide, bends in zip(given, broken, strict=True)],
    )
