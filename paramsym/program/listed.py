"""Entries that a list or an array of numbers names along one axis: new arrays, where a slice would be a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from paramsym.program.graph import Kept, Operation
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType


@dataclass(frozen=True, slots=True)
class Listed(Operation):
    """The entries of an axis that a list of numbers names."""

    axis: int
    entries: tuple[int, ...]

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the axis with as many entries as the list has."""
        return (taken[0].with_axis(self.axis, len(self.entries)),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - always the same
        """Return the list."""
        return (Kept("own", factors=(len(self.entries),), kind="index"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Select the entries."""
        return xp.take(arrays[0], self.entries, axis=self.axis)

    def __str__(self) -> str:
        return f"listed {', '.join(map(str, self.entries))}"


@dataclass(frozen=True, slots=True)
class Each(Operation):
    """From every example the position whose number a second array holds."""

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the examples without the axis of positions."""
        return (taken[0].with_axis(1),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - always the same
        """Return the numbers of the examples and those of the positions."""
        return Kept("own", factors=taken[1].sizes, kind="index"), Kept("taken", 1)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Select the positions."""
        x, index = arrays
        return x[xp.arange(len(x)), index]

    def __str__(self) -> str:
        return "each"


def listed(x: Value, axis: int, *entries: int) -> Value:
    """Return a copy of some entries of an axis, as torch makes it for ``x[..., [0]]``; the list is kept as an index."""
    return record(Listed(axis, entries), x)


def at_each(x: Value, index: Value) -> Value:
    """Return for every example of (batch, positions, ...) the position in ``index`` (batch,): ``x[torch.arange(batch), index]``."""
    return record(Each(), x, index)


@dataclass(frozen=True, slots=True)
class Turn(Operation):
    """The entries of an axis, the first moved behind the last: what a repeat hands on whose copies each take an entry by its number."""

    view: ClassVar[bool] = True

    axis: int

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Roll the axis."""
        return xp.roll(arrays[0], -1, axis=self.axis)

    def __str__(self) -> str:
        return f"turn axis {self.axis}"


def turn(x: Value, axis: int) -> Value:
    """Return the entries of an axis, the first moved behind the last, as a view: the next copy of a repeat finds its own in front."""
    return record(Turn(axis), x)
