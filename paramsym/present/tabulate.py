"""From a layer to a table: one row per tensor, or per part down to a depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sympy import Expr, Integer

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.line import Line
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import shown, symbols_in
from paramsym.arguments import check_depth, check_flags
from paramsym.errors import UnknownNameError
from paramsym.present.patterns import names_of_patterns
from paramsym.program.statement import Statement, class_name
from paramsym.render import html, latex
from paramsym.render.table import Cell, Table, percent

PAPER = lettering()
"""The shared letters in the forms of their papers."""


def formula_latex(value: Expr | int) -> str:
    """Return an expression as LaTeX in the shared letters."""
    return latex.expression(value, PAPER)


def tabulate(layer: Statement, depth: int | None = None, *, buffers: bool = False, letters: Lettering = None) -> Table:
    """Return the table of a layer: tensor by tensor, or the parts to a depth.

    Numbered copies have one row, under their template name, with the number of copies; so have the runs of equal copies of a repeated
    pattern, such as layers 0 to 4, 6 to 10 and 12 to 16. An alias is a row without parameters that names its tensor. ``letters`` is the set
    of letters for typeset formulas.

    Raises:
        ArgumentError: a depth that is not a number of levels.
    """
    check_depth(depth)
    check_flags(buffers=buffers)
    lines = [line for line in layer.lines if not line.empty and (buffers or not line.buffer)]
    total = layer.params
    name = class_name(layer)
    amount = f"{int(total):,}" if isinstance(total, Integer) else shown(total)
    caption = f"{name}: {amount} parameters"
    form = {"caption": caption, "letters": lettering(letters, layer.symbols), "heading": (f"{name}:", total, "parameters")}
    paths = names_of_patterns(lines)
    if depth is None:
        rows = tuple(_tensor_row(*each) for each in _together(lines, paths))
        return _lean(("tensor", "shape", "copies", "parameters", "note"), rows, ("total", None, None, total, None), **form)
    sums: dict[str, list[Polynomial]] = {}
    for line, path in zip(lines, paths, strict=True):
        sums.setdefault(".".join(path[:depth]), []).append(Polynomial.of(0) if line.alias_of or line.buffer else line.polynomial())
    parts = {name: Polynomial.total(amounts).as_expr() for name, amounts in sums.items()}
    shares = int(total) if isinstance(total, Integer) else 0
    rows = tuple((name, _kind(layer, name), part, _share(part, shares) or None) for name, part in parts.items())
    return _lean(("part", "layer", "parameters", "share"), rows, ("total", None, total, None), **form)


def _kind(layer: Statement, path: str) -> str | None:
    """Return the class of a part whose name is only a number."""
    if not path.rpartition(".")[2].isdigit():
        return None
    try:
        return class_name(layer.part(path)).lstrip("_")
    except UnknownNameError:  # a tensor
        return None


def overview(layer: Statement) -> Table:
    """Return the table that a notebook unfolds: shapes, formulas and, if sizes are put in, counts and shares."""
    root = layer.origin[0]
    before = [line for line in root.lines if not line.buffer]
    after = [line for line in layer.lines if not line.buffer]
    total = layer.params
    if len(before) != len(after) or not isinstance(total, Integer) or root is layer:
        return replace(tabulate(layer), caption="", heading=())
    rows: list[tuple[Cell, ...]] = []
    formulas = dict(zip(map(id, after), before, strict=True))
    kept = [line for line in after if not formulas[id(line)].empty]
    for path, lines in _together(kept, names_of_patterns([formulas[id(line)] for line in kept])):  # the names of the formulas
        name, shape, _, formula, note = _tensor_row(path, [formulas[id(line)] for line in lines])
        amount = _tensor_row(path, lines)[3]
        share = _share(amount, int(total)) if isinstance(amount, Expr) else None
        rows.append((name, shape, lines[0].sizes, formula, amount, share, note))
    columns = ("tensor", "shape", "size", "formula", "parameters", "share", "note")
    return _lean(columns, tuple(rows), ("total", None, None, root.params, total, None, None), letters=PAPER)


def card(layer: Statement) -> str:
    """Return a layer for a notebook: formula, number, parts and tensors."""
    root = layer.origin[0]
    number = f"{int(layer.params):,}" if isinstance(layer.params, Integer) and root is not layer else ""
    tables = [("tensors", overview(layer))]
    depths = {min(len(line.path), 2) for line in layer.lines}
    if max(depths, default=0) > 1:
        tables.insert(0, ("parts", replace(tabulate(layer, 1), caption="", heading=())))
    return html.card(class_name(layer), latex.expression(root.params, PAPER), number, tables if layer.lines else [])


def tabulate_lines(lines: Sequence[Line], letters: Lettering = None) -> Table:
    """Return the table of a ledger's lines: every line with its sizes, copies and contribution."""
    rows = tuple(_tensor_row(tuple(map(str, line.path)), [line]) for line in lines)
    columns = ("line", "shape", "copies", "amount", "note")
    symbols = {symbol for line in lines for symbol in symbols_in((line.factors, line.stored, line.shape))}
    total = Polynomial.total(line.polynomial() for line in lines).as_expr()
    form = {"caption": f"Ledger of {len(lines)} lines", "heading": ("Ledger of", len(lines), "lines")}
    return _lean(columns, rows, ("total", None, None, total, None), letters=lettering(letters, symbols), **form)


def _lean(columns: tuple[str, ...], rows: tuple[tuple[Cell, ...], ...], footer: tuple[Cell, ...], **form: Any) -> Table:
    """Make a table without empty columns."""
    kept = [i for i in range(len(columns)) if i == 0 or footer[i] is not None or any(row[i] not in {None, ""} for row in rows)]
    foot, *body = (tuple(row[i] for i in kept) for row in (footer, *rows))
    return Table(tuple(columns[i] for i in kept), tuple(body), foot, **form)


def _together(lines: Sequence[Line], paths: Sequence[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], list[Line]]]:
    """Yield each path with its lines, those of a repeated pattern together, in the order of the first ones."""
    found: dict[tuple[tuple[str, ...], str], list[Line]] = {}
    for line, path in zip(lines, paths, strict=True):
        found.setdefault((path, line.label), []).append(line)
    yield from ((path, same) for (path, _), same in found.items())


def _tensor_row(path: tuple[str, ...], lines: Sequence[Line]) -> tuple[Cell, ...]:
    """Return the row of a tensor, or of equal ones in a repeated pattern."""
    line = lines[0]
    name = ".".join(path) + (f" [{line.label}]" if line.label else "")
    notes = [f"= {line.alias_of}"] if line.alias_of else []
    if line.buffer:
        notes.append("buffer")
    elif not line.trainable:
        notes.append("frozen")
    # Slices stacked in one tensor are in its shape; only separate tensors are copies.
    copies = Polynomial.total(Polynomial.product(step.count for step in one.path if isinstance(step, Numbers)) for one in lines).as_expr()
    amount = None if line.alias_of or line.buffer else Polynomial.total(one.polynomial() for one in lines).as_expr()
    return (name, line.sizes, None if copies == 1 else copies, amount, ", ".join(notes))


def _share(amount: Expr, total: int) -> str:
    return percent(int(amount), total) if total else ""
