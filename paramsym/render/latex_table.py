"""LaTeX tables with booktabs rules: a ``tabular`` that fits its page, or a ``longtable`` that breaks across pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from sympy import Expr

from paramsym.arguments import check_flags
from paramsym.errors import ArgumentError
from paramsym.render import latex
from paramsym.render.table import HEADINGS, MODELS, NAMES
from paramsym.render.widths import LINE, limit_of, width as measured, width_of_words

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Letters, Table

_GAP = 2.4  # the space between two columns, in characters
_BETWEEN = 3  # the space between two columns of a page
_NAMES = (27, 20, 15, 0)  # names up to these widths are set in a smaller font before they are broken
_LABEL = 15  # a label of this width, such as "FLOPs per token", is treated as a name
_NARROW = 14  # columns up to this width are never broken
_SMALL = 80  # the most characters in a broken column that is not too high
_HIGH = 5  # a formula of more lines needs a wider table
_SUM = r", | [+-] "
_PRODUCT = r"(?<=[A-Za-z}]) (?:\\, )?(?=[\\A-Za-z])(?!\\(?:right|rfloor|rceil|cdot|penalty|allowbreak)\b)"
"""Breaks of a formula: between terms and sizes, and, if necessary, between factors."""
_ROUNDED = re.compile(r"\\left(\\l(?:floor|ceil)) \\frac\{((?:[^{} ]|\{[^{}]*\})+)\}\{(\d+)\} \\right(\\r(?:floor|ceil))")
"""A quotient that is rounded: a bracket with a slash is as high as a line, and a bracket with a fraction touches those of other rows."""
_BELOW_FRACTIONS = "[3pt]"
_SIZES = (
    ("", 1.0, _GAP),
    (r"\small", 1 / 0.925, _GAP),
    (r"\footnotesize", 1 / 0.85, _GAP),
    (r"\scriptsize", 1 / 0.8, _GAP),
    (r"\scriptsize\setlength{\tabcolsep}{3pt}", 1 / 0.8, _GAP / 2),
)
"""Font sizes, the factor of characters in a line for each (small fonts are relatively wide), and the space between columns."""


def table(
    source: Table,
    letters: Letters | None = None,
    *,
    long: bool = False,
    caption: str | None = None,
    label: str = "",
    width: float | None = None,
    grouped: bool | None = None,
) -> str:
    r"""Return a ``tabular``, in a ``table`` if there is a caption or a label, or a ``longtable``, in booktabs style.

    Columns are as wide as their contents if the table fits a line; otherwise wide columns become paragraphs that break at the dots of a
    name and at the signs of a sum, in a smaller font if necessary. In a column of a two-column article, a table of models that does not fit
    is turned if it then fits, and another floating table spans both columns, as a ``table*``. Notes are below the table. Needs
    ``\usepackage{amsmath,array,booktabs}``, and ``longtable`` if ``long`` is set.
    """
    letters = letters or source.letters
    if not hasattr(letters, "latex"):
        message = f"letters is {type(letters).__name__}; wanted those of one of ps.LETTER_SETS, or give the table itself other letters."
        raise ArgumentError(message)
    check_flags(long=long, grouped=False if grouped is None else grouped)
    first = source.columns[0] if source.columns else ""
    limit = limit_of(width)
    narrow = limit < LINE if grouped is None else grouped
    head, body, footer, (size, columns, room, fits) = _laid_out(source, letters, narrow, limit)
    floats = (caption is not None or bool(label)) and not long
    if limit < LINE and not fits and first in MODELS:
        turned = source.turned()
        if _laid_out(turned, letters, narrow, limit)[-1][-1]:
            return table(turned, letters, long=long, caption=caption, label=label, width=width, grouped=grouped)
    if floats and not fits and limit < LINE:
        wide = table(source, letters, caption=caption, label=label, width=2 * limit + _BETWEEN, grouped=bool(grouped))
        return wide.replace("{table}", "{table*}")
    written = _lines([*body, *footer], room, len(head), spaced=first in HEADINGS)
    lines, totals = (written[:-1], written[-1:]) if footer else (written, [])
    spec = "".join(columns)
    said = _caption(source, letters) if caption is None else caption
    above = [rf"\caption{{{said}}}" + (rf"\label{{{label}}}" if label else "")] if said else []
    lines = _long(above, spec, _row(head), lines, totals) if long else _short(spec, _row(head), lines, totals)
    if size:
        lines = [rf"{{{size}", *lines, "}"]
    lines += _notes(source, letters)
    if floats:
        lines = [r"\begin{table}", r"\centering", *above, *lines, r"\end{table}"]
    return "\n".join(lines)


_Columns: TypeAlias = tuple[str, list[str], list[float | None], bool]
"""The font size of the table, the kind of each column, the widths of paragraph columns, and whether the table fits."""


def _laid_out(source: Table, letters: Letters, grouped: bool, limit: float) -> tuple[list[str], list[list[str]], list[list[str]], _Columns]:
    """Return the head, the rows, the totals and the columns; a row with only one cell spans the table."""
    if source.columns and source.columns[0] in HEADINGS:
        rows = list(_headed(source))
        source = replace(source, columns=source.columns[1:], rows=tuple(row[1:] for row in source.rows), footer=source.footer[1:])
    else:
        rows = list(_grouped(source)) if grouped else [(0, row) for row in source.rows]
    named = bool(source.columns) and source.columns[0] in NAMES
    body = [_cells(row, letters, named=named, step=step) for step, row in rows]
    footer = [[_cell(value, letters) for value in source.footer]] if source.footer else []
    head = [_title(title, letters) for title in source.columns]
    standing = [row for row in body if len(row) == len(head)]
    return head, body, footer, _columns(source, [head, *standing, *footer], limit)


def _headed(source: Table) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """Yield the rows without their first cell, below a row with this cell."""
    for title, members in groupby(source.rows, key=lambda row: row[0]):
        yield 0, (title,)
        yield from ((1, row[1:]) for row in members)


def _notes(source: Table, letters: Letters) -> list[str]:
    r"""Return the notes below the table: a letter or a word, and what it means; names of arguments are in typewriter type."""
    if not source.notes:
        return []
    told = (
        f"{latex.cell(value, letters)}: {latex.name(words) if _is_name(words) else latex.words(words)}" for value, words in source.notes
    )
    return [r"\par\smallskip", rf"\noindent\parbox{{\linewidth}}{{\footnotesize\raggedright {'; '.join(told)}.}}"]


def _is_name(words: str) -> bool:
    return "_" in words and " " not in words


def _short(spec: str, head: str, rows: list[str], totals: list[str]) -> list[str]:
    lines = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", head, r"\midrule", *rows]
    lines += [r"\midrule", *totals] if totals else []
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _long(above: list[str], spec: str, head: str, rows: list[str], totals: list[str]) -> list[str]:
    lines = [rf"\begin{{longtable}}{{{spec}}}", *(rf"{caption}\\" for caption in above)]
    lines += [r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead"]
    lines += [rf"\midrule \multicolumn{{{head.count('&') + 1}}}{{r}}{{continued}} \\", r"\endfoot", r"\bottomrule", r"\endlastfoot", *rows]
    lines += [r"\midrule", *totals] if totals else []
    return [*lines, r"\end{longtable}"]


def _title(title: str, letters: Letters) -> str:
    """Return a column's title; a letter is written as in a formula."""
    return f"${latex.symbol(title, letters)}$" if title in dict(letters.latex) else latex.escape(title)


def _cells(row: tuple[Cell, ...], letters: Letters, *, named: bool, step: int) -> list[str]:
    """Return the cells of a row; a group row has only one, with the common first steps."""
    first, *others = row
    written = latex.name(first) if named and isinstance(first, str) else _cell(first, letters)
    return [(r"\quad " if step else "") + written, *(_cell(value, letters) for value in others)]


def _cell(value: Cell, letters: Letters) -> str:
    return _ROUNDED.sub(r"\1 \2/\3 \4", latex.cell(value, letters))


def _grouped(source: Table) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """Yield the rows with their indentation; neighbours with the same first steps are grouped under one row with these steps."""
    for shared, members in groupby(source.rows, key=lambda row: _first_steps(row[0])):
        rows = list(members)
        if not shared or len(rows) == 1:
            yield from ((0, row) for row in rows)
            continue
        yield 0, (shared,)
        yield from ((1, (str(row[0]).removeprefix(f"{shared}."), *row[1:])) for row in rows)


def _first_steps(name: Cell) -> str:
    """Return the steps before the owner of the tensor: ``encoder.layer.{0..11}.attention.self`` of ``... .query.weight``."""
    steps = re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^.{\[])+", name) if isinstance(name, str) else []
    return ".".join(steps[:-2])


def _lines(rows: list[list[str]], room: list[float | None], columns: int, *, spaced: bool) -> list[str]:
    """Write the rows; if ``spaced``, with a little space before each row that spans the table, but the first."""
    written: list[str] = []
    for row in rows:
        if len(row) < columns:
            space = r"\addlinespace " if spaced and written else ""
            written.append(rf"{space}\multicolumn{{{columns}}}{{l}}{{{row[0]}}} \\")
        else:
            written.append(_row([_breakable(cell, wide) for cell, wide in zip(row, room, strict=True)]))
    return written


def _caption(source: Table, letters: Letters) -> str:
    if not source.heading:
        return latex.words(source.caption)
    return " ".join(piece for piece in (_heading(piece, letters) for piece in source.heading) if piece)


def _heading(value: Cell, letters: Letters) -> str:
    """Return a piece of a caption; nothing for a formula that is too long."""
    piece = latex.cell(value, letters)
    short = not isinstance(value, Expr) or (measured(piece) <= _SMALL and _terms(piece) <= LINE / 6)
    return piece if short else ""


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\" + (_BELOW_FRACTIONS if any(r"\frac" in cell for cell in cells) else "")


def _breakable(cell: str, room: float | None) -> str:
    r"""Allow breaks in a formula that LaTeX does not: after a comma, inside brackets, and in a product that is too wide."""
    if room is not None and r"\texttt" in cell and _wide(cell) > room:
        return rf"\hangindent=1em {cell}"
    if room is None or not cell.startswith("$"):
        return cell
    loose = re.sub(r"\\(?:left|right)(?=[\\()])", "", cell.replace(", ", r",\allowbreak{} "))
    if _terms(cell) > room:
        loose = re.sub(_PRODUCT, r"\g<0>\\penalty9000 ", loose)
    return loose


def _terms(formula: str) -> float:
    """Return the width of the widest term."""
    return max(map(measured, re.split(_SUM, formula)))


def _wide(cell: str) -> float:
    return measured(cell) if cell.startswith("$") else width_of_words(cell) + 2 * cell.startswith(r"\quad")


def _least(cell: str, name: float) -> float:
    """Return the width of the widest piece without a break; products are broken only if necessary.

    A tensor name is not broken up to the width ``name``, nor are a few words up to ``_LABEL``, unless ``name`` is 0.
    """
    if cell.startswith("$"):
        return max(map(measured, re.split(rf"{_SUM}|{_PRODUCT}", cell)))
    if _wide(cell) <= (name if r"\texttt" in cell else min(name, _LABEL)):
        return _wide(cell)
    pieces = re.split(r"\\allowbreak\{\}| ", cell)
    return max(width_of_words(rf"\texttt{{{piece}}}" if r"\texttt" in cell else piece) for piece in pieces)


def _columns(source: Table, rows: list[list[str]], limit: float) -> _Columns:
    columns = list(zip(*rows, strict=True))
    widths = [max(map(_wide, cells)) for cells in columns]
    plain = ["r" if number else "l" for number in source.numeric]
    broken = [wide > _NARROW and not number for wide, number in zip(widths, source.numeric, strict=True)]
    if sum(widths) + _GAP * len(widths) <= limit:
        return "", plain, [None] * len(widths), True
    least: list[float] = []
    fits: list[tuple[str, float, float]] = []
    for name in _NAMES:
        pieces = (max(_least(cell, name) for cell in cells) for cells in columns)
        least = [piece if bends else wide for piece, wide, bends in zip(pieces, widths, broken, strict=True)]
        fits = [one for one in _SIZES if sum(least) + one[2] * one[1] * len(widths) <= limit * one[1]]
        if fits:
            break
    size, more, gap = fits[0] if fits else _SIZES[-1]
    line = limit * more
    # The remaining width is divided in proportion to the extra width that each column could use.
    room = max(line - gap * more * len(widths) - sum(least), 0.0)
    wanted = [min(wide, _SMALL) - narrow if bends else 0.0 for wide, narrow, bends in zip(widths, least, broken, strict=True)]
    share = min(1.0, room / sum(wanted)) if sum(wanted) > 0 else 0.0
    given = [narrow + share * extra for narrow, extra in zip(least, wanted, strict=True)]
    high = any(wide > _HIGH * narrow for wide, narrow, bends in zip(widths, given, broken, strict=True) if bends)
    return (
        size,
        [
            rf">{{\raggedright\arraybackslash}}p{{{wide / line:.3f}\linewidth}}" if bends else kind
            for wide, bends, kind in zip(given, broken, plain, strict=True)
        ],
        [wide if bends else None for wide, bends in zip(given, broken, strict=True)],
        bool(fits) and not high,
    )
