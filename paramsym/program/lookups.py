"""Rows of tables, the largest entries, constants that follow from sizes, and dropout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from paramsym.algebra.size import Count, Dim, shown
from paramsym.errors import ArgumentError
from paramsym.program.graph import Kept, Operation, Work
from paramsym.program.masks import Rows
from paramsym.program.rotary import Rope
from paramsym.program.tracing import Value, record, record_all
from paramsym.program.types import ArrayType, Kind, flat


@dataclass(frozen=True, slots=True)
class Stored(Operation):
    """A tensor that the layer stores."""

    view: ClassVar[bool] = True

    tensor: Any
    type: ArrayType = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Read the shape as it is stated, with its factors."""
        object.__setattr__(self, "type", ArrayType(self.tensor.shape))

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - takes nothing
        """Return the stated shape."""
        return (self.type,)

    def __str__(self) -> str:
        return str(self.tensor.name)


@dataclass(frozen=True, slots=True)
class Lookup(Operation):
    """The rows of a table that an array of indices selects."""

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the indices' shape, with one row for every index."""
        table, index = taken
        return (ArrayType((*index.shape, *table.shape[1:])),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:
        """One look-up per entry of the result."""
        return (Work("lookup", (*flat(given[0].shape), Rows(taken[0].sizes[0]))),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        """Return the indices."""
        return (Kept("taken", 1),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Select the rows.

        Raises:
            ArgumentError: indices that are not row numbers.
        """
        table, index = arrays
        check_positions(index, len(table))
        return xp.take(table, index, axis=0)

    def __str__(self) -> str:
        return "lookup"


def check_positions(index: Any, size: int) -> None:
    """Raise ``ArgumentError`` unless all indices are positions in ``size`` entries; NumPy would count negative ones from the end."""
    if index.dtype.kind not in "iu" or (index.size and not 0 <= index.min() <= index.max() < size):
        found = f" from {index.min()} to {index.max()}" if index.size else ""
        message = f"the positions are {index.dtype}{found}; wanted whole numbers from 0 to {size - 1}."
        raise ArgumentError(message)


@dataclass(frozen=True, slots=True)
class Choose(Operation):
    """The slices of stacked weights at an array of indices; they are used in place and never copied."""

    view: ClassVar[bool] = True

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the indices' shape, with one slice for every index."""
        weights, index = taken
        return (ArrayType((*index.shape, *weights.shape[1:])),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Select the slices."""
        weights, index = arrays
        return xp.take(weights, index, axis=0)

    def __str__(self) -> str:
        return "choose"


@dataclass(frozen=True, slots=True)
class Pick(Operation):
    """The entries of the last axis at the positions in a second array."""

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return one entry for every index; the indices may lack leading axes."""
        x, index = taken
        return (ArrayType((*x.shape[:-1], index.shape[-1]), x.kind),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        """Return the array, of which torch reads the shape, and the positions."""
        return Kept("taken"), Kept("taken", 1)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Gather the entries."""
        x, index = arrays
        return xp.take_along_axis(x, xp.broadcast_to(index, (*x.shape[:-1], index.shape[-1])), -1)

    def __str__(self) -> str:
        return "pick"


@dataclass(frozen=True, slots=True)
class Put(Operation):
    """The inverse of ``Pick``: entries put at the positions in a second array, in a last axis of ``size`` zeros."""

    size: Dim

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the last axis with the new size."""
        return (taken[0].with_axis(-1, self.size),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        """Return the positions."""
        return (Kept("taken", 1),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Scatter the entries.

        Raises:
            ArgumentError: positions that are not whole numbers below ``size``.
        """
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
    """The k largest entries of the last axis in descending order, and their positions."""

    k: Dim

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the entries and the positions."""
        shape = (*taken[0].shape[:-1], self.k)
        return ArrayType(shape), ArrayType(shape, "index")

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        """One comparison per entry."""
        return (Work("compare", flat(taken[0].shape)),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        """Return the positions."""
        return (Kept("given", 1),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Sort the entries."""
        (x,) = arrays
        index = xp.argsort(-x, axis=-1, kind="stable")[..., : int(self.k)]
        return xp.take_along_axis(x, index, -1), index

    def __str__(self) -> str:
        return f"best {shown(self.k)}"


@dataclass(frozen=True, slots=True)
class Drop(Operation):
    """Dropout: nothing in evaluation mode; in training a mask of the input's shape, and one product per entry.

    ``over`` are the axes of a mask with one entry for each channel. The mask is of another ``kind`` where it is noise to multiply with;
    noise that is added (None) is not kept.
    """

    rate: float
    over: tuple[int, ...] | None = None
    kind: Literal["mask", "float"] | None = "mask"

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        """One dropout per entry."""
        return (Work("dropout", flat(taken[0].shape)),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - depends on the input
        """Return the mask."""
        shape = taken[0].shape
        kept = shape if self.over is None else tuple(shape[axis] for axis in self.over)
        return () if self.kind is None else (Kept("own", factors=flat(kept), kind=self.kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - nothing is computed in evaluation mode
        """Return the array as it came."""
        return arrays[0]

    def __str__(self) -> str:
        return f"drop {self.rate}"


@dataclass(frozen=True, slots=True)
class Still(Operation):
    """The array itself; no gradient passes back through it."""

    view: ClassVar[bool] = True

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the type unchanged."""
        return taken

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - nothing is computed
        """Return the array as it came."""
        return arrays[0]

    def __str__(self) -> str:
        return "still"


@dataclass(frozen=True, slots=True)
class Constant(Operation):
    """An array that follows from sizes and settings alone: positions, zeros, frequencies; ``held`` means a buffer of the model."""

    name: str
    shape: tuple[Dim, ...]
    settings: tuple[Any, ...] = ()
    kind: Kind = "float"
    held: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - takes nothing
        """Return the stated shape."""
        return (ArrayType(self.shape, self.kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - takes nothing
        """Compute the entries in float64; the array that they are combined with decides the precision of the result."""
        return _CONSTANTS[self.name](xp, tuple(map(int, self.shape)), *self.settings)

    def __str__(self) -> str:
        return " ".join((self.name, *map(shown, self.settings)))


def _frequencies(xp: Any, shape: tuple[int, ...], rope: Rope, width: int, length: int) -> Any:  # noqa: ARG001 - the width gives the shape
    return rope.frequencies(xp, int(width), int(length))


def _sinusoids(xp: Any, shape: tuple[int, ...], start: int = 0) -> Any:
    """Sines on even features, cosines on odd ones (Vaswani et al. 2017, section 3.5)."""
    features = xp.arange(shape[1])
    angles = (xp.arange(shape[0]) + int(start))[:, None] / 10000.0 ** (2 * (features // 2) / shape[1])
    return xp.where(features % 2 == 0, xp.sin(angles), xp.cos(angles))


def _distances(xp: Any, shape: tuple[int, ...]) -> Any:
    """The distance of every key from every query; the last query is at the last key."""
    return xp.arange(shape[1])[None, :] - (xp.arange(shape[0])[:, None] + shape[1] - shape[0])


def _slopes(xp: Any, shape: tuple[int, ...]) -> Any:
    """A geometric sequence; between two powers of two also every other slope of the next one (Press et al. 2022, section 3)."""
    whole = 1 << (shape[0].bit_length() - 1)
    found = 2.0 ** (-8 / whole * xp.arange(1, whole + 1))
    between = 2.0 ** (-4 / whole * xp.arange(1, 2 * (shape[0] - whole) + 1, 2))
    return xp.concatenate([found, between])


def _t5_buckets(xp: Any, shape: tuple[int, ...], buckets: int, farthest: int, both: bool) -> Any:
    """One bucket per small distance, logarithmic ones beyond (Raffel et al. 2020, section 2.1)."""
    distance, first, buckets = _distances(xp, shape), 0, int(buckets)
    if both:
        buckets //= 2
        first = xp.where(distance > 0, buckets, 0)
        distance = xp.abs(distance)
    else:
        distance = -xp.minimum(distance, 0)
    exact = buckets // 2
    far = xp.log(xp.maximum(distance, 1) / exact) / xp.log(int(farthest) / exact) * (buckets - exact)
    return first + xp.where(distance < exact, distance, xp.minimum(exact + far.astype(int), buckets - 1))


def _deberta_buckets(xp: Any, shape: tuple[int, ...], buckets: int, farthest: int, sign: int) -> Any:
    """The relative position of every pair, or its negative with the sign -1; logarithmic beyond half the buckets.

    ``buckets`` is 0 if every distance has a separate row. Logarithms are computed in float32, as in the reference. (He et al. 2021.)
    """
    distance, buckets, farthest = -_distances(xp, shape), int(buckets), int(farthest)
    middle, span = buckets // 2, buckets or farthest
    if middle:
        apart = xp.maximum(xp.abs(distance), middle).astype(xp.float32)
        far = xp.ceil(xp.log(apart / middle) / xp.log(xp.float32((farthest - 1) / middle)) * (middle - 1)).astype(int) + middle
        distance = xp.where(xp.abs(distance) <= middle, distance, far * xp.sign(distance))
    return xp.clip(int(sign) * distance + span, 0, 2 * span - 1)


def _swin_index(xp: Any, shape: tuple[int, ...], *window: int) -> Any:
    """The table row of every pair of positions in a window of any rank (Liu et al. 2021, section 3.2)."""
    sides = tuple(map(int, window))
    row: Any = 0
    for place, side in zip(xp.indices(sides).reshape(len(sides), -1), sides, strict=True):
        row = row * (2 * side - 1) + place[:, None] - place[None, :] + side - 1
    return row.reshape(shape)


def _swin_regions(xp: Any, shape: tuple[int, ...], extents: tuple[int, ...], window: int | tuple[int, ...], *shifts: int) -> Any:
    """For every window of a shifted map, -100 for two positions that were not neighbours before the shift (Liu et al. 2021, section 3.2).

    A single side or shift is used for all axes; along an axis without a shift all positions are neighbours.
    """
    rank, region, parts = len(extents), xp.zeros((), dtype=int), []
    sides, each = window if isinstance(window, tuple) else (window,) * rank, shifts if len(shifts) == rank else shifts * rank
    for length, side, shift in ((int(one), int(other), int(last)) for one, other, last in zip(extents, sides, each, strict=True)):
        place = xp.arange(length)
        region = 3 * region[..., None] + ((place >= length - side).astype(int) + (place >= length - shift)) * (shift > 0)
        parts += [length // side, side]
    order = (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2))
    rows = region.reshape(parts).transpose(order).reshape(shape[0], 1, 1, shape[-1])
    return xp.where(rows == rows.swapaxes(2, 3), 0.0, -100.0)


def _pooled_distances(xp: Any, shape: tuple[int, ...]) -> Any:
    """The table row of every pair of a query and a key with different pooling, in float32 as in the reference (Li et al. 2022)."""
    queries, keys = shape
    more, fewer = xp.float32(max(queries / keys, 1)), xp.float32(max(keys / queries, 1))
    apart = xp.arange(queries)[:, None] * fewer - (xp.arange(keys) + 1 - keys) * more
    return apart.astype(int)


def _beit_index(xp: Any, shape: tuple[int, ...], height: int, width: int) -> Any:
    """The same with a class token; three more rows are for pairs from it, to it, and with itself (Bao et al. 2022)."""
    index = xp.pad(_swin_index(xp, (shape[0] - 1, shape[1] - 1), height, width), ((1, 0), (1, 0)))
    rows = (2 * int(height) - 1) * (2 * int(width) - 1)
    index[0, :], index[:, 0], index[0, 0] = rows, rows + 1, rows + 2
    return index


def _earlier(xp: Any, shape: tuple[int, ...]) -> Any:
    """Whether a key is at or before a query; the last query is at the last key."""
    return xp.broadcast_to(_distances(xp, shape[-2:]) <= 0, shape)


_CONSTANTS: Mapping[str, Callable[..., Any]] = {
    "full": lambda xp, shape, value: xp.full(shape, value if isinstance(value, int | tuple) else float(value)),
    "zeros": lambda xp, shape: xp.zeros(shape),
    "index zeros": lambda xp, shape: xp.zeros(shape, dtype=xp.int64),
    "positions": lambda xp, shape, start=0: xp.arange(shape[0]) + int(start),
    "frequencies": _frequencies,
    "distances": _distances,
    "earlier": _earlier,
    "sinusoids": _sinusoids,
    "alibi slopes": _slopes,
    "t5 buckets": _t5_buckets,
    "deberta buckets": _deberta_buckets,
    "swin index": _swin_index,
    "swin regions": _swin_regions,
    "beit index": _beit_index,
    "pooled distances": _pooled_distances,
}


def lookup(table: Value, index: Value) -> Value:
    """Return the row of the table for every index."""
    return record(Lookup(), table, index)


def choose(weights: Value, index: Value) -> Value:
    """Return the slice of stacked weights for every index, as a view."""
    return record(Choose(), weights, index)


def pick(x: Value, index: Value) -> Value:
    """Return the entries of the last axis at the positions in ``index``, as ``torch.gather`` along the last axis."""
    return record(Pick(), x, index)


def put(x: Value, index: Value, size: Dim) -> Value:
    """Return a last axis of ``size`` entries with those of ``x`` at the positions in ``index``, and zeros elsewhere."""
    return record(Put(size), x, index)


def best(x: Value, k: Dim) -> tuple[Value, Value]:
    """Return the k largest entries of the last axis and their positions."""
    entries, positions = record_all(Best(k), x)
    return entries, positions


def drop(x: Value, rate: float, *, over: tuple[int, ...] | None = None, kind: Literal["mask", "float"] | None = "mask") -> Value:
    """Apply dropout to single entries, or ``over`` some axes with one random number for all entries of the others."""
    return x if rate == 0 else record(Drop(rate, over, kind), x)


def still(x: Value) -> Value:
    """Return an array through which no gradient passes back."""
    return record(Still(), x)


def constant(name: str, shape: tuple[Count, ...], *settings: Any, kind: Kind = "float", held: bool = False) -> Value:
    """Return an array that follows from sizes: "zeros", "full", "positions", "frequencies"; ``held`` means a buffer of the model.

    Raises:
        ArgumentError: an unknown name.
    """
    if name not in _CONSTANTS:
        message = f"{name!r} is not a known constant; known: {', '.join(_CONSTANTS)}."
        raise ArgumentError(message)
    return record(Constant(name, shape, settings, kind, held))
