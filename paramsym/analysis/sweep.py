"""A design space as a table: one row per combination of sizes, the count, and optionally its parts."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from math import prod
from typing import Any, TypeAlias

from sympy import Expr

from paramsym.analysis.counted import Counted, title, words
from paramsym.analysis.evaluate.columns import as_column, run
from paramsym.analysis.evaluate.compiling import compiled
from paramsym.analysis.evaluate.evaluating import CHUNK, Plan, evaluate, planned
from paramsym.analysis.evaluate.frames import together
from paramsym.analysis.formula import formula_of
from paramsym.analysis.progress import reporter
from paramsym.errors import ArgumentError, ParamsymError, SizeError, UnknownNameError
from paramsym.naming import quoted
from paramsym.optional import available
from paramsym.render.table import Table
from paramsym.render.tabular import Tabular

_BATCH = 65_536
_FEW = 1000  # the most rows for which importing NumPy takes longer than it saves
_SHOWN = 20


@dataclass(frozen=True)
class Sweep(Tabular):
    """Columns of equal length: the sizes by symbol name, the count, and one column per part.

    The column of the count is called ``params``; for a cost it has the name of its unit, such as ``FLOPs``. ``left_out`` is the number of
    combinations that contradict a condition of the layer. ``pandas.DataFrame(sweep.columns)`` makes a frame of it.
    """

    subject: str
    columns: Mapping[str, tuple[int, ...]]
    left_out: int = 0

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> tuple[int, ...]:
        if name not in self.columns:
            raise UnknownNameError(f"the sweep has no column {name!r}; it has {', '.join(self.columns)}.")
        return self.columns[name]

    def __str__(self) -> str:
        more = f"\n... and {len(self) - _SHOWN:,} more rows" if len(self) > _SHOWN else ""
        return str(self.table(_SHOWN)) + more

    def table(self, rows: int | None = None) -> Table:
        """Return the rows, or the first of them, as a table in any format; raise ``ArgumentError`` for what is no number of rows."""
        given: Any = rows  # callers without a type checker
        if given is not None and (not isinstance(given, int) or given < 0):
            raise ArgumentError(f"rows is {quoted(given)}; wanted a whole number, or None for all rows.")
        shown = tuple(zip(*(column[:rows] for column in self.columns.values()), strict=True))
        left_out = f", {self.left_out:,} combination{'s' * (self.left_out != 1)} left out" if self.left_out else ""
        return Table(tuple(self.columns), shown, (), f"{self.subject}: {len(self):,} size{'' if len(self) == 1 else 's'}{left_out}")

    def _shown(self) -> Table:
        return self.table(_SHOWN)

    def to_csv(self) -> str:
        """Return comma-separated values with a header."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(zip(*self.columns.values(), strict=True))
        return text.getvalue()


def sweep(
    subject: Counted | Expr,
    sizes: Mapping[Any, Any],
    *,
    parts: bool | int = False,
    invalid: bool = True,
    progress: bool | Callable[[int, int], object] = False,
) -> Sweep:
    """Return the exact count, or cost, at every combination of sizes, in the given order, the last size varying fastest.

    ``sizes`` maps names or symbols to a whole number or a sequence of them. ``parts=True`` adds a column per part, ``parts=2`` per part to
    that depth; they add up to ``params``. Combinations that contradict a condition of the layer are left out and counted; ``invalid=False``
    raises there instead. ``progress=True`` writes a bar to standard error; a function is called with the numbers
    of combinations done and in total.

    Raises:
        UnknownNameError: a symbol that the formula does not have, or a missing one.
        SizeError: sizes that are not whole, or, with ``invalid=False``, sizes the layer cannot have.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> print(sweep(MultiHeadAttention(H, A), {H: [64, 96], A: [4, 5]}, parts=True))
    MultiHeadAttention: 2 sizes, 2 combinations left out
     H  A  params  in_proj_weight  in_proj_bias  out_proj
    -----------------------------------------------------
    64  4  16,640          12,288           192     4,160
    96  4  37,248          27,648           288     9,312
    """
    given_parts: Any = parts  # callers without a type checker
    if not isinstance(given_parts, int) or parts < 0:
        raise ArgumentError(f"parts is {quoted(parts)}; wanted True, False or a depth.")
    given = together(title(subject), sizes, {})
    plan = planned(subject, tuple(given))
    axes = tuple(_axis(symbol, values) for symbol, values in zip(plan.program.inputs, given.values(), strict=True))
    amounts = {}
    if parts:
        formula = formula_of(subject, None, None if parts is True else parts)
        amounts = {name: formula.value(amount) for name, amount in formula.parts.items()}
    plans = [Plan(value, compiled(value, inputs=plan.program.inputs)) for value in amounts.values()]
    names = (*(symbol.name for symbol in plan.program.inputs), "params" if isinstance(subject, Expr) else words(subject).column, *amounts)
    columns: list[list[int]] = [[] for _ in names]
    total, tell = prod(map(len, axes)), reporter(progress)
    batch = _with_numpy if axes and total > _FEW else _one_by_one
    for start in range(0, total, _BATCH):
        stop = min(start + _BATCH, total)
        kept, found = batch(plan, plans, axes, range(start, stop))
        if not invalid and len(kept) < stop - start:
            wrong = next(row for row, one in zip(range(start, stop), (*kept, -1), strict=False) if row != one)
            evaluate(subject, dict(zip(given, _sizes(axes, wrong), strict=True)))  # raises the error with the reason
        for column, more in zip(columns, found, strict=True):
            column.extend(more)
        tell(stop, total)
    left_out = total - len(columns[len(axes)])
    return Sweep(title(subject), dict(zip(names, map(tuple, columns), strict=True)), left_out)


_Batch: TypeAlias = tuple[Sequence[int], Sequence[Sequence[int]]]
"""The valid rows, and their columns."""


def _with_numpy(plan: Plan, parts: list[Plan], axes: tuple[tuple[int, ...], ...], rows: range) -> _Batch:
    """Compute a batch in columns; one by one if NumPy is not installed."""
    np = available("numpy")
    if np is None:
        return _one_by_one(plan, parts, axes, rows)
    indices = np.unravel_index(np.arange(rows.start, rows.stop), tuple(map(len, axes)))
    columns = [as_column(axis, symbol.name)[index] for symbol, axis, index in zip(plan.program.inputs, axes, indices, strict=True)]
    counts, kept = run(plan.program, columns, partial(plan.count, sure=True), CHUNK, drop=True)
    columns = [column[kept] for column in columns]
    amounts = [run(part.program, columns, part.count, CHUNK)[0] for part in parts]
    return (np.flatnonzero(kept) + rows.start).tolist(), [column.tolist() for column in (*columns, counts[kept], *amounts)]


def _one_by_one(plan: Plan, parts: list[Plan], axes: tuple[tuple[int, ...], ...], rows: range) -> _Batch:
    kept: list[int] = []
    found: list[tuple[int, ...]] = []
    for row in rows:
        values = _sizes(axes, row)
        try:
            count = plan.count(values, sure=True)
        except ParamsymError:
            continue
        kept.append(row)
        found.append((*values, count, *(part.count(values) for part in parts)))
    return kept, tuple(zip(*found, strict=True)) or ((),) * (len(axes) + 1 + len(parts))


def _sizes(axes: tuple[tuple[int, ...], ...], row: int) -> list[int]:
    """Return the sizes of one combination, the last one varying fastest."""
    found: list[int] = []
    for axis in reversed(axes):
        row, place = divmod(row, len(axis))
        found.append(axis[place])
    return found[::-1]


def _axis(key: Any, values: Any) -> tuple[int, ...]:
    single = hasattr(values, "__index__") and not hasattr(values, "__len__")
    if not single and (isinstance(values, str) or not hasattr(values, "__iter__")):
        raise SizeError(f"{key} is {quoted(values)}; wanted a whole number or a sequence of them.")
    try:
        found = (values,) if single else tuple(values)
    except (OverflowError, MemoryError):
        raise SizeError(f"{key} has more sizes than fit in memory; take a larger step, as in range(64, 8193, 64).") from None
    if any(isinstance(value, bool) or not hasattr(value, "__index__") or getattr(value, "ndim", 0) for value in found):
        raise SizeError(f"{key} has {quoted(values)}; sizes are whole numbers.")
    return tuple(map(int, found))
