"""The report of a comparison: the headline and the table of faults, with one row for copies with the same fault."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from paramsym.naming import one_line
from paramsym.render.table import Cell, Table
from paramsym.verify.compare import GOOD

if TYPE_CHECKING:
    from paramsym.verify.compare import TensorRow

_LISTED = 20  # the most rows of a report
_COLUMNS = ("tensor", "outcome", "expected", "found", "note")


def headline(subject: str, rows: tuple[TensorRow, ...], problems: tuple[str, ...] = ()) -> str:
    """Return the verdict in one sentence."""
    wrong = [row for row in rows if row.outcome not in GOOD]
    if not wrong:
        kinds = [(sum(row.outcome == kind for row in rows), kind) for kind in GOOD[1:]]
        beside = ", ".join(f"{number} {kind}" for number, kind in kinds if number)
        return f"{subject}: {_all(len(rows))}{f' ({beside})' if beside else ''}{', but' if problems else '.'}"
    stated = [row for row in rows if row.outcome != "unexpected"]
    unexpected = len(rows) - len(stated)
    bad = len(wrong) - unexpected
    parts = [f"{bad} of {len(stated)} {_tensors(len(stated))} {'does' if bad == 1 else 'do'} not match"] if bad else []
    parts += [f"{unexpected} {'is' if unexpected == 1 else 'are'} not in the layer"] if unexpected else []
    return f"{subject}: {', '.join(parts)}."


def _all(number: int) -> str:
    return "the only tensor matches" if number == 1 else f"all {number} tensors match"


def _tensors(number: int) -> str:
    return "tensor" if number == 1 else "tensors"


def table(rows: tuple[TensorRow, ...], caption: str) -> Table:
    """Return rows as a table."""
    return _lean(tuple(_cells(row, row.name) for row in rows), caption)


def faults(rows: tuple[TensorRow, ...], caption: str = "") -> Table:
    """Return the faults as a table, with one row for copies with the same fault."""
    groups: dict[tuple[object, ...], list[TensorRow]] = {}
    for row in rows:
        if row.outcome not in GOOD:
            groups.setdefault((_without_numbers(row.name), row.outcome, row.expected, row.found, _fault(row)), []).append(row)
    return _lean(tuple(_cells(group[0], _named(group)) for group in groups.values()), caption)


def _lean(rows: tuple[tuple[Cell, ...], ...], caption: str) -> Table:
    """Make a table, without an empty column of notes."""
    kept = len(_COLUMNS) if any(row[-1] for row in rows) else len(_COLUMNS) - 1
    return Table(_COLUMNS[:kept], tuple(row[:kept] for row in rows), caption=caption)


def report(subject: str, rows: tuple[TensorRow, ...], problems: tuple[str, ...], notes: tuple[str, ...]) -> str:
    """Return the headline and the table of faults, shortened if it is long."""
    said = headline(subject, rows, problems)
    wrong = faults(rows, said)
    more = [f"... and {len(wrong.rows) - _LISTED} more"] if len(wrong.rows) > _LISTED else []
    return "\n".join([str(replace(wrong, rows=wrong.rows[:_LISTED])) if wrong.rows else said, *more, *map(one_line, (*problems, *notes))])


def _without_numbers(name: str) -> str:
    return re.sub(r"\d+", "{}", name)


def _fault(row: TensorRow) -> str:
    """Return the words of a row; they are equal for copies although notes may name other copies, as for a tie."""
    return _without_numbers(row.note) if row.outcome in {"missing", "wrong tie"} else row.note


def _named(group: list[TensorRow]) -> str:
    return group[0].name if len(group) == 1 else f"{group[0].name} (and {len(group) - 1} like it)"


def _cells(row: TensorRow, name: str) -> tuple[Cell, ...]:
    return (name, row.outcome, row.expected, row.found, row.note)
