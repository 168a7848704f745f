"""Arrays that follow from sizes and settings alone: positions, frequencies, slopes, relative positions, masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from paramsym.algebra.size import Count, Dim, shown
from paramsym.errors import ArgumentError, NotYetError
from paramsym.program.graph import Operation
from paramsym.program.rotary import Rope
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, Kind


@dataclass(frozen=True, slots=True)
class Constant(Operation):
    """An array that follows from sizes and settings alone: positions, zeros, frequencies; ``held`` means a buffer of the model."""

    name: str
    shape: tuple[Dim, ...]
    settings: tuple[Any, ...] = ()
    kind: Kind = "float"
    held: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - takes nothing
        return (ArrayType(self.shape, self.kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - takes nothing
        # In float64: the array that they are combined with decides the precision of the result.
        found = _CONSTANTS[self.name](xp, tuple(map(int, self.shape)), *self.settings)
        return found.astype(complex) if self.kind == "complex" else found

    def __str__(self) -> str:
        return " ".join((self.name, *map(shown, self.settings)))


@dataclass(frozen=True, slots=True)
class Noise(Operation):
    """Numbers drawn at random at every run."""

    type: ArrayType

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - takes nothing
        return (self.type,)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - nothing can be computed
        raise NotYetError("numbers are drawn at random here, so no two runs agree; their shape and the work are known.")


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
    "full": lambda xp, shape, value: xp.full(shape, value if isinstance(value, int | complex | tuple) else float(value)),
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


def noise(shape: tuple[Count, ...], kind: Kind = "float") -> Value:
    """Return numbers that are drawn at random."""
    return record(Noise(ArrayType(shape, kind)))


def constant(name: str, shape: tuple[Count, ...], *settings: Any, kind: Kind = "float", held: bool = False) -> Value:
    """Return an array that follows from sizes: "zeros", "full", "positions", "frequencies"; ``held`` means a buffer of the model.

    Raises:
        ArgumentError: an unknown name.
    """
    if name not in _CONSTANTS:
        raise ArgumentError(f"{name!r} is not a known constant; known: {', '.join(_CONSTANTS)}.")
    return record(Constant(name, shape, settings, kind, held))
