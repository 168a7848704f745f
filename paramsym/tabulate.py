"""From a layer to a table: one row per tensor, or per part down to a depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Expr, Integer

from paramsym.ledger import Numbers
from paramsym.letters import Lettering, lettering
from paramsym.polynomial import Polynomial
from paramsym.render import latex
from paramsym.render.table import Cell, Letters, Table
from paramsym.size import symbols_in

if TYPE_CHECKING:
    from paramsym.layer import Layer
    from paramsym.ledger import Ledger, Line

PAPER = lettering()
"""The shared letters, as their papers write them."""


def formula_latex(value: Expr | int) -> str:
    """Return an expression as LaTeX in the shared letters."""
    return latex.expression(value, PAPER)


def tabulate(layer: Layer, depth: int | None = None, *, buffers: bool = False, letters: Lettering = None) -> Table:
    """Return the table of a layer: tensor by tensor, or the parts to a depth.

    Rows of numbered copies stand once, under their template name, with the number of copies beside them. An alias is a row that adds
    nothing and says whose tensor it is. ``letters`` says how formulas are typeset.
    """
    lines = [line for line in layer.lines if 0 not in line.stored and (buffers or not line.buffer)]
    total = layer.params
    name = type(layer).__name__
    caption = f"{name}: {_amount(total)} parameters"
    form = (caption, lettering(letters, layer.symbols), (f"{name}:", _cell(total), "parameters"))
    if depth is None:
        rows = tuple(_tensor_row(line) for line in lines)
        return _lean(("tensor", "shape", "copies", "parameters", "note"), rows, ("total", None, None, _cell(total), None), *form)
    sums: dict[str, list[Polynomial]] = {}
    for line in lines:
        sums.setdefault(".".join(str(step) for step in line.path[:depth]), []).append(
            Polynomial.of(0) if line.alias_of or line.buffer else line.polynomial()
        )
    parts = {name: Polynomial.total(amounts).as_expr() for name, amounts in sums.items()}
    if isinstance(total, Integer):
        rows = tuple((name, _cell(amount), _share(amount, int(total))) for name, amount in parts.items())
        return Table(("part", "parameters", "share"), rows, ("total", _cell(total), None), *form)
    return Table(("part", "parameters"), tuple((name, _cell(amount)) for name, amount in parts.items()), ("total", _cell(total)), *form)


def tabulate_lines(ledger: Ledger, letters: Lettering = None) -> Table:
    """Return the table of a ledger: every line with the sizes it multiplies, the copies, and what it adds."""
    rows = tuple(_tensor_row(line) for line in ledger)
    columns = ("line", "shape", "copies", "amount", "note")
    symbols = {symbol for line in ledger for symbol in symbols_in((line.factors, line.stored, line.shape))}
    total = _cell(ledger.stored)
    heading = ("Ledger of", len(ledger), "lines")
    return _lean(columns, rows, ("total", None, None, total, None), f"Ledger of {len(ledger)} lines", lettering(letters, symbols), heading)


def _lean(
    columns: tuple[str, ...],
    rows: tuple[tuple[Cell, ...], ...],
    footer: tuple[Cell, ...],
    caption: str,
    letters: Letters,
    heading: tuple[Cell, ...],
) -> Table:
    """Make a table without the columns in which nothing stands."""
    kept = [i for i in range(len(columns)) if i == 0 or footer[i] is not None or any(row[i] not in {None, ""} for row in rows)]
    return Table(
        tuple(columns[i] for i in kept),
        tuple(tuple(row[i] for i in kept) for row in rows),
        tuple(footer[i] for i in kept),
        caption,
        letters,
        heading,
    )


def _tensor_row(line: Line) -> tuple[Cell, ...]:
    name = f"{line.name} [{line.label}]" if line.label else line.name
    notes = [f"= {line.alias_of}"] if line.alias_of else []
    if line.buffer:
        notes.append("buffer")
    elif not line.trainable:
        notes.append("frozen")
    # Slices stacked in one tensor stand in its shape; only tensors of their own are copies.
    copies = Polynomial.product(step.count for step in line.path if isinstance(step, Numbers)).as_expr()
    amount = None if line.alias_of or line.buffer else _cell(line.amount)
    return (name, line.sizes, None if copies == 1 else _cell(copies), amount, ", ".join(notes))


def _cell(value: Expr) -> Expr | int:
    return int(value) if isinstance(value, Integer) else value


def _amount(value: Expr) -> str:
    return f"{int(value):,}" if isinstance(value, Integer) else str(value)


def _share(amount: Expr, total: int) -> str:
    return f"{100 * int(amount) / total:.1f} %" if total else ""
