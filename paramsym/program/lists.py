"""Entries selected along one axis by a list or an array of numbers: new arrays, while a slice is a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from paramsym.program.graph import Kept, Operation
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType


@dataclass(frozen=True, slots=True)
class Listed(Operation):
    """The entries of an axis at a list of positions."""

    axis: int
    entries: tuple[int, ...]

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (taken[0].with_axis(self.axis, len(self.entries)),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - always the same
        return (Kept("own", factors=(len(self.entries),), kind="index"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.take(arrays[0], self.entries, axis=self.axis)

    def __str__(self) -> str:
        return f"listed {', '.join(map(str, self.entries))}"


@dataclass(frozen=True, slots=True)
class Each(Operation):
    """One position of every example; a second array holds the positions."""

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (taken[0].with_axis(1),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - always the same
        return Kept("own", factors=taken[1].sizes, kind="index"), Kept("taken", 1)

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, index = arrays
        return x[xp.arange(len(x)), index]


def listed(x: Value, axis: int, *entries: int) -> Value:
    """Return a copy of some entries of an axis, as torch does for ``x[..., [0]]``; the list is kept as an index."""
    return record(Listed(axis, entries), x)


def at_each(x: Value, index: Value) -> Value:
    """Return for every example of (batch, positions, ...) the position in ``index`` (batch,): ``x[torch.arange(batch), index]``."""
    return record(Each(), x, index)


@dataclass(frozen=True, slots=True)
class Turn(Operation):
    """The entries of an axis with the first moved to the end: a repeat carries this array if each copy takes the entry of its number."""

    view: ClassVar[bool] = True

    axis: int

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.roll(arrays[0], -1, axis=self.axis)

    def __str__(self) -> str:
        return f"turn axis {self.axis}"


def turn(x: Value, axis: int) -> Value:
    """Return the entries of an axis with the first moved to the end, as a view: the next copy of a repeat takes the first entry."""
    return record(Turn(axis), x)
