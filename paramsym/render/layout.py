"""Text in a given width: formulas broken before a sign, tables with cells of several lines. Nothing is cut off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from paramsym.render.printed import words
from paramsym.render.table import Cell, Letters, Table
from paramsym.render.text import cell, notes

_GAP = 2
_HANGING = 2
_SHORT = 24
_MOST_WIDE = 4  # columns of a table in which names are broken, and which may be wider than the line: paragraphs are not easier to read
_TOGETHER = "\0"  # a space at which no line is broken


def formula(text: str, width: int, first: str = "", rest: str = "") -> str:
    """Return a sum or an equation in lines that begin with a sign; a term that is longer than a line is broken after a factor.

    >>> print(formula("2*F*H*L + F*L + 4*H**2*L = 0", 16, rest="    "))
    2*F*H*L + F*L
        + 4*H**2*L
        = 0
    """
    lines, line = list[str](), first
    for piece in re.split(r" (?=[-+=] )", text):
        joined = f"{line} {piece}" if line.strip() else line + piece
        if len(joined) > width and line.strip():
            lines.append(line)
            line = rest + piece
        else:
            line = joined
    return "\n".join(part for one in [*lines, line] for part in _factors(one, width, rest))


def _factors(line: str, width: int, rest: str) -> Iterator[str]:
    """Yield a line in pieces that end with the sign of a product, if it is longer than the width."""
    kept = ""
    for piece in re.split(r"(?<=[^*]\*)(?=[^*])(?![^()]*\))", line) if len(line) > width else [line]:  # not inside of a floor
        if kept.strip() and len(kept + piece) > width:
            yield kept
            kept = rest + " " * _HANGING
        kept += piece
    yield kept


def table(source: Table, width: int) -> str:
    """Return a table as text; if it is too wide, its widest columns get cells of several lines, or each row is a paragraph."""
    plain = source.to_text()
    if max(map(len, plain.splitlines()), default=0) <= width:
        return plain
    heads = list(source.columns)
    body = [[_cell(value, source.letters) for value in row] for row in source.rows]
    foot = [[_cell(value, source.letters) for value in source.footer]] if source.footer else []
    right = [bool(source.rows) and all(isinstance(row[i], int | None) for row in source.rows) for i in range(len(heads))]
    columns = [[row[i] for row in (heads, *body, *foot)] for i in range(len(heads))]
    room = width - _GAP * (len(heads) - 1)
    fine = len(heads) <= _MOST_WIDE and sum(_least(one, fine=True) for one in columns) <= room < sum(map(_least, columns))
    widths = _shared_out(columns, width, fine=fine)
    if sum(widths) > room and len(heads) > _MOST_WIDE:
        return "\n".join([_paragraphs(source.caption, heads, [*body, *foot], width), *notes(source, width)])

    def line(row: list[str]) -> str:
        cells = [_broken(text, limit, fine=fine) for text, limit in zip(row, widths, strict=True)]
        height = max(map(len, cells))
        lines = []
        for number in range(height):
            pieces = (one[number] if number < len(one) else "" for one in cells)
            aligned = (p.rjust(limit) if end else p.ljust(limit) for p, limit, end in zip(pieces, widths, right, strict=True))
            lines.append((" " * _GAP).join(aligned).rstrip())
        return "\n".join(lines)

    rule = "-" * min(width, sum(widths) + _GAP * (len(widths) - 1))
    parts = [formula(source.caption, width, rest="    ")] if source.caption else []
    parts += [line(heads), rule, *map(line, body)]
    if foot:
        parts += [rule, *map(line, foot)]
    parts += notes(source, width)
    return "\n".join(parts).replace(_TOGETHER, " ")


def _paragraphs(caption: str, heads: list[str], rows: list[list[str]], width: int) -> str:
    """Return rows as paragraphs, with the title of its column before each cell."""
    parts = [formula(caption, width, rest="    ")] if caption else []
    for row in rows:
        said = [words(f"{head}: {text}", width, rest="    ") for head, text in zip(heads, row, strict=True) if text]
        parts += ["", *(part for line in "\n".join(said).splitlines() for part in _factors(line, width, "    "))]
    return "\n".join(parts).replace(_TOGETHER, " ")


def _cell(value: Cell, letters: Letters) -> str:
    """Return a cell; a short shape stays on one line."""
    written = cell(value, letters)
    return written.replace(" ", _TOGETHER) if isinstance(value, tuple) and len(written) <= _SHORT else written


_BREAKS = r"(?<=\s)|(?<=[\w}]\.)(?=[\w{])|(?<=\))(?=\*)|(?<=[\w)]\*)(?=floor|\w{10})"
_FINE = rf"{_BREAKS}|(?<=[^\W_]_)(?=[^\W_])|(?<=[^*]\*)(?=[^*])|(?<=,)(?=\d*\.\.)"


def _pieces(text: str, *, fine: bool = False) -> list[str]:
    """Split where a line may be broken: at spaces, after the dots between the steps of a path, around the long factors of a product.

    If ``fine``, also inside a name, between all factors, and inside a list of numbered copies.
    """
    return [piece for piece in re.split(_FINE if fine else _BREAKS, text) if piece]


def _least(column: Iterable[str], *, fine: bool = False) -> int:
    """Return the smallest width at which nothing in a column is cut."""
    cut = ((number, len(piece.rstrip())) for text in column for number, piece in enumerate(_pieces(text, fine=fine)))
    return max((length + (_HANGING if number else 0) for number, length in cut), default=0)


def _shared_out(columns: list[list[str]], width: int, *, fine: bool) -> list[int]:
    """Make columns narrower, each time the one that adds the fewest lines, until the table fits or no column can be narrower."""
    widths = [max(map(len, column)) for column in columns]
    least = [_least(column, fine=fine) for column in columns]
    room = width - _GAP * (len(widths) - 1)
    heights = [[1] * len(column) for column in columns]
    while sum(widths) > room:
        able = [i for i in range(len(widths)) if widths[i] > least[i]]
        if not able:
            break
        tried = {i: [len(_broken(text, widths[i] - 1, fine=fine)) for text in columns[i]] for i in able}
        lines = {i: sum(max(row) for row in zip(*heights[:i], tried[i], *heights[i + 1 :], strict=True)) for i in able}
        chosen = min(able, key=lambda i: (lines[i], -widths[i]))
        widths[chosen] -= 1
        heights[chosen] = tried[chosen]
    return widths


@lru_cache(maxsize=1 << 16)
def _broken(text: str, width: int, *, fine: bool) -> list[str]:
    """Break a cell into lines; a word is broken only if it is longer than a line."""
    lines, line = list[str](), ""
    for word in re.findall(r"\S+\s*|\s+", text):  # a space stays with the word before it
        whole = len(word.rstrip()) + _HANGING <= width or (not lines and not line and len(word.rstrip()) <= width)
        for piece in [word] if whole else _pieces(word, fine=fine):
            if line.strip() and len(line) + len(piece.rstrip()) > width:
                lines.append(line.rstrip())
                line = " " * _HANGING
            line += piece
    return [*lines, line.rstrip()]
