"""Parts of an axis: cut, joined, repeated, padded, shifted and reversed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from paramsym.algebra.convolution import differ, negative
from paramsym.algebra.size import Axis, Count, Dim, canonical, cat, extent, factors_of, same, shown, within
from paramsym.errors import ShapeError, StructureError
from paramsym.program.graph import Kept, Operation, Unchanged
from paramsym.program.lengths import along_each
from paramsym.program.tracing import Value, record, record_all
from paramsym.program.types import ArrayType


@dataclass(frozen=True, slots=True)
class Segments(Operation):
    """One axis cut into pieces; with ``apart``, the pieces are copied into one new array, one after another."""

    view = True

    pieces: tuple[Axis, ...]
    axis: int = -1
    apart: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        sizes = [extent(piece) for piece in self.pieces]
        if any(map(negative, sizes)):
            raise ShapeError(f"axis {self.axis} of {shown(x.sizes)} cannot be cut into pieces of {', '.join(map(shown, sizes))} entries.")
        total = canonical(sum(sizes[1:], start=sizes[0]))
        if differ(total, x.sizes[self.axis]):
            raise ShapeError(f"axis {self.axis} of {shown(x.sizes)} has {x.sizes[self.axis]} entries; the pieces have {total}.")
        return tuple(x.with_axis(self.axis, piece) for piece in self.pieces)

    def run(self, xp: Any, *arrays: Any) -> Any:
        ends = [int(extent(piece)) for piece in self.pieces]
        return tuple(xp.split(arrays[0], [sum(ends[: n + 1]) for n in range(len(ends) - 1)], axis=self.axis))

    def __str__(self) -> str:
        return f"segments {', '.join(shown(extent(piece)) for piece in self.pieces)}"


@dataclass(frozen=True, slots=True)
class Take(Operation):
    """Entries ``start, start + step, ...`` along an axis, ``count`` of them; without a count one entry, and the axis is removed."""

    view = True

    axis: int
    start: Count
    count: Count | None = None
    step: Dim = 1

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        return (x.with_axis(self.axis, *(() if self.count is None else (self.count,))),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        start = int(self.start)
        if self.count is None:
            return xp.take(x, start, axis=self.axis)
        where: list[Any] = [slice(None)] * x.ndim
        where[self.axis] = slice(start, start + int(self.count) * int(self.step), int(self.step))
        return x[tuple(where)]

    def __str__(self) -> str:
        return f"take {shown(self.start)} of axis {self.axis}" if self.count is None else f"take {shown(self.count)} of axis {self.axis}"


@dataclass(frozen=True, slots=True)
class Replace(Operation):
    """A first array with the entries ``start, start + step, ...`` along an axis replaced by a second array."""

    axis: int
    start: Count = 0
    step: Dim = 1

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return taken[:1]

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, part = arrays
        start, step = int(self.start), int(self.step)
        where: list[Any] = [slice(None)] * x.ndim
        where[self.axis] = slice(start, start + part.shape[self.axis] * step, step)
        y = xp.array(x)
        y[tuple(where)] = part
        return y

    def __str__(self) -> str:
        return f"replace from {shown(self.start)} on along axis {self.axis}"


@dataclass(frozen=True, slots=True)
class Join(Operation):
    """Arrays one after another along an axis."""

    axis: int

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        first = taken[0]
        position = first.axis(self.axis)
        for other in taken[1:]:
            pairs = zip(first.sizes, other.sizes, strict=False)
            if len(first.shape) != len(other.shape) or any(differ(a, b) for n, (a, b) in enumerate(pairs) if n != position):
                raise ShapeError(f"{shown(first.sizes)} and {shown(other.sizes)} cannot be joined along axis {self.axis}.")
        total = canonical(sum((one.sizes[position] for one in taken[1:]), start=first.sizes[position]))
        kinds = {one.kind for one in taken}
        joined = first.with_axis(position, total)
        return (joined if len(kinds) == 1 else ArrayType(joined.shape, "float" if "float" in kinds else "index"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.concatenate(arrays, axis=self.axis)

    def __str__(self) -> str:
        return f"join along axis {self.axis}"


@dataclass(frozen=True, slots=True)
class Copies(Operation):
    """Every entry of an axis repeated ``times`` times, or the whole axis repeated (``tiled``)."""

    times: Dim
    axis: int
    tiled: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        old = factors_of(x.shape[self.axis])
        new: Axis = self.times if old == (1,) else (self.times, *old) if self.tiled else (*old, self.times)
        return (x.with_axis(self.axis, new),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        if self.tiled:
            return xp.concatenate([arrays[0]] * int(self.times), axis=self.axis)
        return xp.repeat(arrays[0], int(self.times), axis=self.axis)

    def __str__(self) -> str:
        return f"copies along axis {self.axis}, {shown(self.times)} of each"


@dataclass(frozen=True, slots=True)
class Compact(Unchanged):
    """The array in new storage with its axes in order, as ``torch.Tensor.contiguous`` makes it from a view."""


PadMode: TypeAlias = Literal["constant", "reflect", "replicate", "circular"]


@dataclass(frozen=True, slots=True)
class Pad(Operation):
    """The last axes longer by margins (before, after); a negative margin cuts entries off."""

    margins: tuple[tuple[Count, Count], ...]
    mode: PadMode = "constant"
    value: float = 0.0

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        lead = len(x.shape) - len(self.margins)
        padded = along_each(_padded if self.mode == "constant" else _longer, x.sizes[lead:], self.margins)
        kept = zip(x.shape[lead:], self.margins, padded, strict=True)
        return (ArrayType((*x.shape[:lead], *(axis if margin == (0, 0) else size for axis, margin, size in kept)), x.kind),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - depends on the mode
        return (Kept("taken"),) if self.mode in {"reflect", "replicate"} else ()  # torch reads only its shape

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        margins = [(0, 0)] * (x.ndim - len(self.margins)) + [(int(a), int(b)) for a, b in self.margins]
        outside = [(max(a, 0), max(b, 0)) for a, b in margins]
        if self.mode == "circular":
            kept = _cut(x, margins)  # cut first; torch leaves entries undefined if the padding repeats more than is left
            for length, sides in zip(kept.shape, margins, strict=True):
                if min(sides) < 0 and max(sides) > length:
                    raise ShapeError(f"margins of {sides} leave {length} entries, fewer than the circular padding repeats.")
            return xp.pad(kept, outside, mode="wrap")
        if self.mode == "constant":
            return _cut(xp.pad(x, outside, constant_values=self.value), margins)
        return _cut(xp.pad(x, outside, mode="edge" if self.mode == "replicate" else self.mode), margins)

    def __str__(self) -> str:
        return f"pad {self.mode} {shown(self.margins)}"


@dataclass(frozen=True, slots=True)
class Roll(Operation):
    """Entries moved along axes in a circle."""

    shifts: tuple[Any, ...]
    over: tuple[int, ...]

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.roll(arrays[0], tuple(map(int, self.shifts)), self.over)

    def __str__(self) -> str:
        return f"roll by {shown(self.shifts)}"


@dataclass(frozen=True, slots=True)
class Flip(Operation):
    """Entries in reverse order along an axis."""

    axis: int

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.flip(arrays[0], self.axis)

    def __str__(self) -> str:
        return f"flip axis {self.axis}"


def segments(x: Value, *pieces: Axis, axis: int = -1, apart: bool = False) -> tuple[Value, ...]:
    """Split an axis into the segments that its ``cat`` names, or into the given pieces; with ``apart``, they are copies in one new array.

    Raises:
        StructureError: no given pieces, and an axis without a ``cat``.
        ShapeError: pieces that do not add up to the axis.
    """
    if not pieces:
        stated = factors_of(x.shape[axis])
        if len(stated) != 1 or not isinstance(stated[0], cat):
            raise StructureError(f"axis {axis} of {x.type} has no named segments; give the sizes of the pieces: segments(x, H, H).")
        pieces = tuple(factors[0] if len(factors) == 1 else factors for _, factors in stated[0].segments)
    return record_all(Segments(pieces, axis, apart), x)


def take(x: Value, axis: int, start: Count = 0, count: Count | None = None, step: Dim = 1) -> Value:
    """Return ``count`` entries along an axis from ``start`` on, or one entry, without the axis."""
    if isinstance(start, int) and start < 0:
        start = canonical(x.sizes[axis] + start)
    return record(Take(axis, start, count, step), x)


def join(*values: Value, axis: int = -1) -> Value:
    """Join arrays along an axis. A copy."""
    return record(Join(axis), *values)


def copies(x: Value, times: Dim, axis: int, *, tiled: bool = False) -> Value:
    """Repeat every entry of an axis, or with ``tiled`` the axis as a whole. A copy."""
    return x if same(times, 1) else record(Copies(times, axis, tiled), x)


def compact(x: Value) -> Value:
    """Copy an array so that its axes are in order in memory."""
    return record(Compact(), x)


def pad(x: Value, margins: Sequence[tuple[Count, Count]], mode: PadMode = "constant", value: float = 0.0) -> Value:
    """Make the last axes longer by margins (before, after). A copy."""
    return x if all(margin == (0, 0) for margin in margins) else record(Pad(tuple(margins), mode, value), x)


def roll(x: Value, shifts: Sequence[Any], over: Sequence[int]) -> Value:
    """Move entries along axes in a circle. A copy."""
    return record(Roll(tuple(shifts), tuple(over)), x)


def flip(x: Value, axis: int) -> Value:
    """Reverse the order along an axis. A copy."""
    return record(Flip(axis), x)


def _padded(length: Dim, margins: tuple[Count, Count]) -> Count:
    """Return a length with its margins, which cannot cut off more than the length."""
    cut = -sum(side for side in margins if isinstance(side, int) and side < 0)
    if cut > 0 and not within(cut, length):
        raise ShapeError(f"margins of {margins} cut {cut} of {length} entries.")
    return _longer(length, margins)


def _longer(length: Dim, margins: tuple[Count, Count]) -> Count:
    return canonical(length + margins[0] + margins[1])


def _cut(x: Any, margins: list[tuple[int, int]]) -> Any:
    """Return an array without the entries that negative margins cut off."""
    return x[tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, margins, strict=True))]
