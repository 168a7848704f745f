"""Rows chosen, grouped and collected by arrays of positions, as for positions that are sent to experts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from paramsym.algebra.size import Axis, Count, Dim
from paramsym.program.graph import Kept, Operation, Work
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, flat


@dataclass(frozen=True, slots=True)
class Places(Operation):
    """The source of every row: the number of the position, and the rank of the expert among those chosen for it."""

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType((*taken[0].shape, 2), "index"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        shape = arrays[0].shape
        rows = xp.arange(xp.prod(shape[:-1], dtype=int)).reshape(*shape[:-1], 1)
        return xp.stack([xp.broadcast_to(rows, shape), xp.broadcast_to(xp.arange(shape[-1]), shape)], -1)


@dataclass(frozen=True, slots=True)
class Weights(Operation):
    """The weights (..., k) of some rows."""

    kept = (Kept("taken", 1),)

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return taken[:1]

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - a selection
        weights, places = arrays
        return weights.reshape(-1, weights.shape[-1])[places[..., 0], places[..., 1]]

    def __str__(self) -> str:
        return "gather"


@dataclass(frozen=True, slots=True)
class Rows(Weights):
    """The positions (..., features) of some rows: (..., k, features)."""

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        x, places = taken
        return (ArrayType((*places.shape[:-1], x.shape[-1])),)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - a selection
        x, places = arrays
        return x.reshape(-1, x.shape[-1])[places[..., 0]]


@dataclass(frozen=True, slots=True)
class Collect(Operation):
    """The sum of the rows of every position."""

    kept = (Kept("taken"),)  # torch.Tensor.index_add_ keeps its addends

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        shape = taken[0].shape
        return (ArrayType((*shape[:-2], shape[-1])),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        return (Work("sum", flat(taken[0].shape)),)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - a method of the array
        return arrays[0].sum(-2)


@dataclass(frozen=True, slots=True)
class Counts(Operation):
    """The number of entries that are 0, 1, ... up to ``bins - 1``."""

    bins: Dim

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType((self.bins,), taken[0].kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.bincount(arrays[0].ravel().astype(int), minlength=int(self.bins))[: int(self.bins)].astype(arrays[0].dtype)


@dataclass(frozen=True, slots=True)
class Groups(Operation):
    """The number of the group of every row, from the rows at which the groups end."""

    rows: Dim

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - the number of rows is stated
        return (ArrayType((self.rows,), "index"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.minimum(xp.searchsorted(arrays[0], xp.arange(int(self.rows)), side="right"), len(arrays[0]) - 1)


@dataclass(frozen=True, slots=True)
class At(Operation):
    """The entries at arrays of positions, one array for each axis in ``axes``; Booleans choose the positions at which they are true.

    ``shape`` is stated, because the number of true entries is not known from shapes.
    """

    axes: tuple[int, ...]
    shape: tuple[Axis, ...]

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType(self.shape, taken[0].kind),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - always the indices
        return tuple(Kept("taken", n) for n in range(1, len(taken)))

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - a selection
        x, *positions = arrays
        return x[_where(self.axes, positions)]

    def __str__(self) -> str:
        return "gather"


How: TypeAlias = Literal["set", "add", "multiply", "maximum", "minimum"]


@dataclass(frozen=True, slots=True)
class PutAt(Operation):
    """An array with other entries at arrays of positions: set there, or combined with the entries.

    With ``along``, the positions are one array with as many axes as the values, and replace their places along one axis.
    """

    axes: tuple[int, ...]
    how: How = "set"
    along: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return taken[:1]

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        return () if self.how == "set" else (Work(self.how, flat(taken[1].shape)),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all needs
        positions = tuple(Kept("taken", n) for n in range(2, len(taken)))
        return positions if self.how in {"set", "add"} else (Kept("taken"), Kept("taken", 1), *positions, Kept("given"))

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, values, *positions = arrays
        y, where = x.copy(), _where(self.axes, positions)
        if self.along:
            places = xp.indices(values.shape, sparse=True)
            where = tuple(positions[0] if n in self.axes else one for n, one in enumerate(places))
        if self.how == "set":
            y[where] = values
        else:
            getattr(xp, self.how).at(y, where, values.astype(y.dtype))
        return y

    def __str__(self) -> str:
        return "scatter"


def _where(axes: tuple[int, ...], positions: Sequence[Any]) -> tuple[Any, ...]:
    """Return the index of NumPy with arrays for some axes; one array of Booleans may cover several axes."""
    where: list[Any] = []
    for axis, one in zip(axes, positions, strict=True):
        where += [slice(None)] * (axis - len(where))
        where.append(one)
    return tuple(where)


def at(x: Value, positions: Sequence[Value], axes: Sequence[int], shape: Sequence[Count]) -> Value:
    """Return the entries at arrays of positions along some axes; Booleans choose those that are true. A copy."""
    return record(At(tuple(axes), tuple(shape)), x, *positions)


def put_at(x: Value, values: Value, positions: Sequence[Value], axes: Sequence[int], *, how: How = "set", along: bool = False) -> Value:
    """Return an array with other entries at arrays of positions. Work: one operation per entry that is combined."""
    return record(PutAt(tuple(axes), how, along), x, values, *positions)


def groups_of(ends: Value, rows: Dim) -> Value:
    """Return the number of the group of every row, from the rows at which the groups end."""
    return record(Groups(rows), ends)


def counts(x: Value, bins: Dim) -> Value:
    """Return how often each whole number below ``bins`` occurs."""
    return record(Counts(bins), x)


def dispatch(x: Value, weights: Value, chosen: Value) -> tuple[Value, Value]:
    """Return one row of (..., features) for each chosen expert (..., k), together (..., k, features), and their weights.

    Both are copies in the order of the experts, for a loop that takes the rows of one expert after another.
    """
    places = record(Places(), chosen)
    return record(Rows(), x, places), record(Weights(), weights, places)


def collect(y: Value) -> Value:
    """Return the sum of the rows (..., k, features) of every position. Work: one addition per entry."""
    return record(Collect(), y)
