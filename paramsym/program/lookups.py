"""Stored tensors, rows of tables, the largest entries, and dropout."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from paramsym.algebra.size import Dim, canonical, shown
from paramsym.errors import ArgumentError, NotYetError
from paramsym.program.graph import Kept, Operation, Unchanged, Work
from paramsym.program.masks import Rows
from paramsym.program.tracing import Value, record, record_all
from paramsym.program.types import ArrayType, flat


@dataclass(frozen=True, slots=True)
class Stored(Operation):
    """A tensor that the layer stores."""

    held = True
    view: ClassVar[bool] = True

    tensor: Any
    type: ArrayType = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", ArrayType(self.tensor.shape))

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - takes nothing
        return (self.type,)

    def __str__(self) -> str:
        return str(self.tensor.name)


@dataclass(frozen=True, slots=True)
class Lookup(Operation):
    """The rows of a table that an array of indices selects."""

    kept = (Kept("taken", 1),)

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        table, index = taken
        return (ArrayType((*index.shape, *table.shape[1:])),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:
        return (Work("lookup", (*flat(given[0].shape), Rows(taken[0].sizes[0]))),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        table, index = arrays
        check_positions(index, len(table))
        return xp.take(table, index, axis=0)


def check_positions(index: Any, size: int) -> None:
    """Raise ``ArgumentError`` unless all indices are positions in ``size`` entries; NumPy would count negative ones from the end."""
    if index.dtype.kind not in "iu" or (index.size and not 0 <= index.min() <= index.max() < size):
        found = f" from {index.min()} to {index.max()}" if index.size else ""
        raise ArgumentError(f"the positions are {index.dtype}{found}; wanted whole numbers from 0 to {size - 1}.")


@dataclass(frozen=True, slots=True)
class Bags(Operation):
    """The sums, means or maxima of the rows that indices select, in bags of which a third array holds the starts."""

    name: Literal["sum", "mean", "max"]

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        table, _, starts = taken
        return (ArrayType((*starts.shape, *table.shape[1:])),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the rows
        rows = flat((*taken[1].shape, *taken[0].shape[1:]))
        return Work("lookup", (*rows, Rows(taken[0].sizes[0]))), Work(self.name, rows)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - the kernel's arrays
        # The bag of every row, one more than there are, the size of every bag, and the rows of the maxima.
        rows, bags = (Kept("own", factors=one, kind="index") for one in ((canonical(taken[1].sizes[0] + 1),), taken[2].sizes))
        most = Kept("own", factors=given[0].sizes, kind="index") if self.name == "max" else bags
        return (Kept("taken", 1), Kept("taken", 2), *(rows,) * (self.name != "sum"), bags, most)

    def run(self, xp: Any, *arrays: Any) -> Any:
        table, index, starts = arrays
        check_positions(index, len(table))
        bags = [table[one] for one in xp.split(index, starts[1:])]
        empty = xp.zeros(table.shape[1:], dtype=table.dtype)
        return xp.stack([getattr(bag, self.name)(0) if len(bag) else empty for bag in bags])

    def __str__(self) -> str:
        return f"{self.name} of bags"


@dataclass(frozen=True, slots=True)
class Choose(Operation):
    """The slices of stacked weights at an array of indices; they are used in place and never copied."""

    view: ClassVar[bool] = True

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        weights, index = taken
        return (ArrayType((*index.shape, *weights.shape[1:])),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        weights, index = arrays
        return xp.take(weights, index, axis=0)


@dataclass(frozen=True, slots=True)
class Pick(Operation):
    """The entries of an axis at the positions in a second array."""

    kept = (Kept("taken"), Kept("taken", 1))  # torch reads only the shape of the array

    axis: int = -1

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        x, index = taken
        return (x.with_axis(self.axis, index.shape[self.axis]),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, index = arrays
        check_positions(index, x.shape[self.axis])
        shape = list(x.shape)
        shape[self.axis] = index.shape[self.axis]
        return xp.take_along_axis(x, xp.broadcast_to(index, shape), self.axis)


@dataclass(frozen=True, slots=True)
class Put(Operation):
    """The inverse of ``Pick``: entries put at the positions in a second array, in a last axis of ``size`` zeros."""

    kept = (Kept("taken", 1),)

    size: Dim

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (taken[0].with_axis(-1, self.size),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, index = arrays
        size = int(self.size)
        check_positions(index, size)
        y = xp.zeros((*x.shape[:-1], size), dtype=x.dtype)
        xp.put_along_axis(y, index, x, -1)
        return y

    def __str__(self) -> str:
        return f"put into {shown(self.size)}"


@dataclass(frozen=True, slots=True)
class Best(Operation):
    """The k largest entries of an axis in descending order, or the ``least`` in ascending order, and their positions."""

    kept = (Kept("given", 1),)

    k: Dim
    axis: int = -1
    least: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        found = taken[0].with_axis(self.axis, self.k)
        return found, ArrayType(found.shape, "index")

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        return (Work("compare", flat(taken[0].shape)),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        order = xp.argsort(x if self.least else -x, axis=self.axis, kind="stable")
        index = xp.take(order, xp.arange(int(self.k)), axis=self.axis)
        return xp.take_along_axis(x, index, self.axis), index

    def __str__(self) -> str:
        return f"{'least' if self.least else 'best'} {shown(self.k)}"


@dataclass(frozen=True, slots=True)
class Search(Operation):
    """The number of entries of a sorted array that are less than each number; with ``right``, those that are equal, too."""

    unit = "compare"

    right: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType(taken[1].shape, "index"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.searchsorted(*arrays, side="right" if self.right else "left")


@dataclass(frozen=True, slots=True)
class Drop(Unchanged):
    """Dropout: nothing in evaluation mode; in training a mask of the input's shape, and one product per entry.

    With ``over``, the mask has one entry for each position along these axes. ``kind`` is "float" if the mask is noise to multiply by, and
    None for added noise, which is not kept.
    """

    unit = "dropout"

    rate: float
    over: tuple[int, ...] | None = None
    kind: Literal["mask", "float"] | None = "mask"

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - depends on the input
        shape = taken[0].shape
        kept = shape if self.over is None else tuple(shape[axis] for axis in self.over)
        return () if self.kind is None else (Kept("own", factors=flat(kept), kind=self.kind),)

    def __str__(self) -> str:
        return f"drop {self.rate}"


@dataclass(frozen=True, slots=True)
class Still(Unchanged):
    """The array itself; no gradient passes back through it."""

    view: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Untrained(Unchanged):
    """The array itself, as evaluation gives it: what training keeps is not known, for the reason ``why``."""

    view: ClassVar[bool] = True

    why: str

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - never known
        raise NotYetError(self.why)


@dataclass(frozen=True, slots=True)
class Unrun(Unchanged):
    """The array itself, whose entries are not known, for the reason ``why``."""

    view: ClassVar[bool] = True

    why: str

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - never known
        raise NotYetError(self.why)


def lookup(table: Value, index: Value) -> Value:
    """Return the row of the table for every index."""
    return record(Lookup(), table, index)


def choose(weights: Value, index: Value) -> Value:
    """Return the slice of stacked weights for every index, as a view."""
    return record(Choose(), weights, index)


def pick(x: Value, index: Value, axis: int = -1) -> Value:
    """Return the entries of an axis at the positions in ``index``, as ``torch.gather``."""
    return record(Pick(axis), x, index)


def put(x: Value, index: Value, size: Dim) -> Value:
    """Return a last axis of ``size`` entries with those of ``x`` at the positions in ``index``, and zeros elsewhere."""
    return record(Put(size), x, index)


def best(x: Value, k: Dim, axis: int = -1, *, least: bool = False) -> tuple[Value, Value]:
    """Return the k largest entries of an axis and their positions, or the k ``least`` ones."""
    entries, positions = record_all(Best(k, axis, least), x)
    return entries, positions


def drop(x: Value, rate: float, *, over: tuple[int, ...] | None = None, kind: Literal["mask", "float"] | None = "mask") -> Value:
    """Apply dropout to single entries; with ``over``, one random number holds for all positions along the other axes."""
    return x if rate == 0 else record(Drop(rate, over, kind), x)


def still(x: Value) -> Value:
    """Return an array through which no gradient passes back."""
    return record(Still(), x)


def untrained(x: Value, why: str) -> Value:
    """Return an array of a pass in evaluation; what training keeps is refused for the reason ``why``."""
    return record(Untrained(why), x)


def unrun(x: Value, why: str) -> Value:
    """Return an array of known work and sizes; its entries are refused for the reason ``why``."""
    return record(Unrun(why), x)
