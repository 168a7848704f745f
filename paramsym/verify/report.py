"""The report of a comparison: the headline and the table of faults, with one row for copies with the same fault."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from paramsym.naming import one_line
from paramsym.render.table import Table
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
        every = "the only tensor matches" if len(rows) == 1 else f"all {len(rows)} tensors match"
        return f"{subject}: {every}{f' ({beside})' if beside else ''}{', but' if problems else '.'}"
    stated = [row for row in rows if row.outcome != "unexpected"]
    unexpected = len(rows) - len(stated)
    bad = len(wrong) - unexpected
    tensors = "tensor" if len(stated) == 1 else "tensors"
    parts = [f"{bad} of {len(stated)} {tensors} {'does' if bad == 1 else 'do'} not match"] if bad else []
    parts += [f"{unexpected} {'is' if unexpected == 1 else 'are'} not in the layer"] if unexpected else []
    return f"{subject}: {', '.join(parts)}."


def table(rows: tuple[TensorRow, ...], caption: str) -> Table:
    """Return rows as a table."""
    return _table([(row.name, row) for row in rows], caption)


def faults(rows: tuple[TensorRow, ...], caption: str = "") -> Table:
    """Return the faults as a table, with one row for copies with the same fault."""
    groups: dict[tuple[object, ...], list[TensorRow]] = {}
    for row in rows:
        if row.outcome not in GOOD:
            groups.setdefault((without_numbers(row.name), row.outcome, row.expected, row.found, _fault(row)), []).append(row)
    return _table([(_named(group), group[0]) for group in groups.values()], caption)


def _table(named: list[tuple[str, TensorRow]], caption: str) -> Table:
    """Make a table, without an empty column of notes."""
    kept = len(_COLUMNS) if any(row.note for _, row in named) else len(_COLUMNS) - 1
    rows = tuple((name, row.outcome, row.expected, row.found, row.note)[:kept] for name, row in named)
    return Table(_COLUMNS[:kept], rows, caption=caption)


def report(subject: str, rows: tuple[TensorRow, ...], problems: tuple[str, ...], notes: tuple[str, ...]) -> str:
    """Return the headline and the table of faults, shortened if it is long."""
    said = headline(subject, rows, problems)
    wrong = faults(rows, said)
    more = [f"... and {len(wrong.rows) - _LISTED} more"] if len(wrong.rows) > _LISTED else []
    return "\n".join([str(replace(wrong, rows=wrong.rows[:_LISTED])) if wrong.rows else said, *more, *map(one_line, (*problems, *notes))])


def without_numbers(name: str) -> str:
    """Return a name with ``{}`` for each number in it: numbered copies have the same."""
    return re.sub(r"\d+", "{}", name)


def _fault(row: TensorRow) -> str:
    """Return the words of a row; they are equal for copies although notes may name other copies, as for a tie."""
    return without_numbers(row.note) if row.outcome in {"missing", "wrong tie"} else row.note


def _named(group: list[TensorRow]) -> str:
    return group[0].name if len(group) == 1 else f"{group[0].name} (and {len(group) - 1} like it)"
