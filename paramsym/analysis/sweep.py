"""A whole design space as a tidy table: one row per combination of sizes, the count, and its parts if asked."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from itertools import product
from math import prod
from typing import Any

from sympy import Expr, Symbol

from paramsym.analysis.evaluate import evaluate
from paramsym.analysis.formula import formula_of
from paramsym.analysis.program import Program, compiled
from paramsym.errors import ArgumentError, SizeError, UnknownNameError
from paramsym.layer import Layer
from paramsym.render.table import Table

_BATCH = 8192
_SHOWN = 20


@dataclass(frozen=True, repr=False)
class Sweep:
    """Columns of equal length: the sizes by symbol name, ``params``, and one column per part.

    ``left_out`` is how many combinations contradict a condition of the layer. ``pandas.DataFrame(sweep.columns)`` makes a frame of it.
    """

    subject: str
    columns: Mapping[str, tuple[int, ...]]
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.columns["params"])

    def __getitem__(self, name: str) -> tuple[int, ...]:
        """Return one column."""
        if name not in self.columns:
            message = f"the sweep has no column {name!r}; it has {', '.join(self.columns)}."
            raise UnknownNameError(message)
        return self.columns[name]

    def __str__(self) -> str:
        more = f"\n... and {len(self) - _SHOWN:,} more rows" if len(self) > _SHOWN else ""
        return str(self.table(_SHOWN)) + more

    def __repr__(self) -> str:
        return str(self)

    def table(self, rows: int | None = None) -> Table:
        """Return the rows, or the first of them, as a table in any format."""
        shown = tuple(zip(*(column[:rows] for column in self.columns.values()), strict=True))
        left_out = f", {self.left_out:,} combinations left out" if self.left_out else ""
        return Table(tuple(self.columns), shown, (), f"{self.subject}: {len(self):,} sizes{left_out}")

    def to_csv(self) -> str:
        """Return comma-separated values with a header."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(zip(*self.columns.values(), strict=True))
        return text.getvalue()

    def _repr_html_(self) -> str:
        return self.table(_SHOWN).to_html()


def sweep(
    subject: Layer | Expr,
    sizes: Mapping[Any, Any],
    *,
    parts: bool | int = False,
    invalid: bool = True,
    progress: bool | Callable[[int, int], object] = False,
) -> Sweep:
    """Return the exact count at every combination of sizes, in the order in which they are given, the last one varying fastest.

    ``sizes`` maps names or symbols to a whole number or a sequence of them. ``parts=True`` adds a column per part, ``parts=2`` per part to
    that depth; they add up to ``params``. Combinations that contradict a condition of the layer are left out and counted; ``invalid=False``
    raises there instead. ``progress`` writes a bar to standard error, or calls with done and total.

    Raises:
        UnknownNameError: a symbol that the formula does not have, or one that it needs and that is not given.
        SizeError: sizes that are not whole, or, with ``invalid=False``, sizes the layer cannot have.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> print(sweep(MultiHeadAttention(H, A), {H: [64, 96], A: [4, 5]}, parts=True))
    MultiHeadAttention: 2 sizes, 2 combinations left out
     H  A  params  in_proj_weight  in_proj_bias  out_proj
    -----------------------------------------------------
    64  4  16,640          12,288           192     4,160
    96  4  37,248          27,648           288     9,312
    """
    program = compiled(subject)
    if parts < 0:
        message = f"parts is {parts!r}; wanted True, False or a depth."
        raise ArgumentError(message)
    axes = {str(getattr(key, "name", key)): _axis(key, values) for key, values in sizes.items()}
    formula = formula_of(subject, None, None if parts is True else parts or None)
    by_name = {symbol.name: symbol for symbol in program.inputs}
    keys: list[Symbol] = [by_name[name] if name in by_name else formula.symbol(name) for name in axes]
    missing = sorted(s.name for i, s in enumerate(program.inputs) if i in program.needed and s not in keys)
    if missing:
        message = f"{formula.name} needs sizes for {', '.join(missing)}."
        raise UnknownNameError(message)
    amounts = {name: compiled(polynomial.as_expr()) for name, polynomial in formula.parts} if parts else {}
    rows: list[tuple[int, ...]] = []
    total, tell = prod(len(values) for values in axes.values()), _bar(progress)
    for done, combination in enumerate(product(*axes.values()), 1):
        row = dict(zip(keys, combination, strict=True))
        try:
            count = evaluate(subject, row)
        except SizeError:
            if not invalid:
                raise
        else:
            rows.append((*combination, count, *(_run(one, {**formula.sizes, **row}) for one in amounts.values())))
        if done % _BATCH == 0 or done == total:
            tell(done, total)
    names = [*axes, "params", *amounts]
    columns = tuple(zip(*rows, strict=True)) if rows else ((),) * len(names)
    return Sweep(formula.name, dict(zip(names, columns, strict=True)), total - len(rows))


def _run(program: Program, row: Mapping[Symbol, Any]) -> int:
    return program.run([row[symbol] for symbol in program.inputs])


def _axis(key: Any, values: Any) -> tuple[int, ...]:
    found = [values] if hasattr(values, "__index__") and not hasattr(values, "__len__") else values
    if isinstance(found, str) or not hasattr(found, "__iter__"):
        message = f"{key} is {values!r}; wanted a whole number or a sequence of them."
        raise SizeError(message)
    if any(isinstance(value, bool) or not hasattr(value, "__index__") for value in found):
        message = f"{key} has {values!r}; sizes are whole numbers."
        raise SizeError(message)
    return tuple(int(value) for value in found)


def _bar(progress: bool | Callable[[int, int], object]) -> Callable[[int, int], object]:
    if callable(progress):
        return progress

    def write(done: int, total: int) -> None:
        if progress:
            filled = 30 * done // max(1, total)
            sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {done:,}/{total:,}" + ("\n" if done >= total else ""))
            sys.stderr.flush()

    return write
