"""Everyday edits, as data: what people, papers and tools often count instead, with the words for a reader.

A habit names a reason that a person would give. Its edits are tried before the edits of single tensors, and rank before them.
"""

from __future__ import annotations

from collections.abc import Iterator

from paramsym.analysis.reconcile.edits import Edit, Habit, Structure
from paramsym.analysis.reconcile.habits.costs import OF_COSTS
from paramsym.analysis.reconcile.habits.counts import OF_COUNTS
from paramsym.analysis.reconcile.habits.pictures import OF_PICTURES

HABITS: tuple[Habit, ...] = (*OF_COUNTS, *OF_PICTURES, *OF_COSTS)
"""The everyday edits."""


def habitual(structure: Structure) -> Iterator[Edit]:
    """Yield the edits of all habits."""
    for habit in HABITS:
        yield from habit.edits(structure)
