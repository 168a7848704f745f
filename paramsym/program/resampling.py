"""Interpolation along the last axes: every output entry is a weighted sum of neighbouring entries, axis by axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sympy import Expr

from paramsym.algebra.size import Count, shown
from paramsym.program.graph import Kept, Operation, Work
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, flat

Interpolation: TypeAlias = Literal["nearest", "nearest-exact", "linear", "cubic", "lanczos3", "lanczos5"]


def _cubic(xp: Any, distance: Any) -> Any:
    # Keys 1981, equation 4, with the constant -3/4, which is torch's.
    near = (1.25 * distance - 2.25) * distance**2 + 1
    far = -0.75 * (((distance - 5) * distance + 8) * distance - 4)
    return xp.where(distance <= 1, near, xp.where(distance < 2, far, 0))


def _lanczos(radius: int) -> Callable[[Any, Any], Any]:
    return lambda xp, distance: xp.where(distance < radius, xp.sinc(distance) * xp.sinc(distance / radius), 0)


_KERNELS: Mapping[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "linear": (2, lambda xp, distance: xp.maximum(1 - distance, 0)),
    "cubic": (4, _cubic),
    "lanczos3": (6, _lanczos(3)),
    "lanczos5": (10, _lanczos(5)),
}
"""The number of input entries per output entry along an axis, and their weights by distance."""


@dataclass(frozen=True, slots=True)
class Resample(Operation):
    """The last axes interpolated to other lengths.

    ``factors`` are the stated scale factors, None if they follow from the lengths; ``aligned`` aligns the first and the last entries of
    input and output.
    """

    mode: Interpolation
    lengths: tuple[Count, ...]
    factors: tuple[float | Expr | None, ...]
    aligned: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType((*taken[0].shape[: -len(self.lengths)], *self.lengths)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the result
        taps, _ = _KERNELS.get(self.mode, (1, None))
        return (Work(self.mode, (*flat(given[0].shape), *(taps,) * len(self.lengths))),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        for position, (length, factor) in enumerate(zip(self.lengths, self.factors, strict=True), x.ndim - len(self.lengths)):
            weights = self._weights(xp, x.shape[position], int(length), None if factor is None else float(factor))
            x = xp.moveaxis(xp.tensordot(weights.astype(x.dtype), x, (1, position)), 0, position)
        return x

    def _weights(self, xp: Any, size: int, length: int, factor: float | None) -> Any:
        """Return the matrix (output entries, input entries) of one axis."""
        step = size / length if factor is None else 1 / factor
        if self.aligned:
            step = (size - 1) / (length - 1) if length > 1 else 0.0
        there = xp.arange(length)
        if self.mode in {"nearest", "nearest-exact"}:
            found = xp.floor((there + (0.5 if self.mode == "nearest-exact" else 0)) * step)
            return xp.eye(size)[xp.minimum(found, size - 1).astype(int)]
        where = there * step if self.aligned else (there + 0.5) * step - 0.5
        taps, kernel = _KERNELS[self.mode]
        if self.mode == "linear":
            where = xp.maximum(where, 0)
        near = xp.floor(where)[:, None] + xp.arange(1 - taps // 2, 1 + taps // 2)
        weights = kernel(xp, xp.abs(where[:, None] - near))
        inside = (near >= 0) & (near < size)
        if self.mode.startswith("lanczos"):  # entries beyond the edge have no weight; other modes repeat the edge
            weights = xp.where(inside, weights, 0)
            weights = weights / weights.sum(1, keepdims=True)
        matrix = xp.zeros((length, size))
        xp.add.at(matrix, (there[:, None], xp.clip(near, 0, size - 1).astype(int)), weights)
        return matrix

    def __str__(self) -> str:
        return f"resample {self.mode} to {shown(self.lengths)}"


Beyond: TypeAlias = Literal["zeros", "border", "reflection"]


@dataclass(frozen=True, slots=True)
class Sample(Operation):
    """Entries of (batch, channels, *spatial) interpolated at the points of a second array, (batch, *points, rank), from -1 to 1.

    The last axis of the points lists the spatial axes from the last one to the first. ``beyond`` says what is outside of the input.
    """

    kept = (Kept("taken"), Kept("taken", 1))

    mode: Literal["linear", "nearest"]
    beyond: Beyond = "zeros"
    aligned: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        x, points = taken
        return (ArrayType((*x.shape[:2], *points.shape[1:-1]), x.kind),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:
        taps = 2 ** (len(taken[0].shape) - 2) if self.mode == "linear" else 1
        return (Work(self.mode, (*flat(given[0].shape), taps)),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, points = arrays
        sizes = x.shape[2:]
        where = [self._position(xp, points[..., -1 - n], size) for n, size in enumerate(sizes)]
        batch = xp.arange(len(x)).reshape(-1, *(1,) * (points.ndim - 2))
        total: Any = 0
        for corner in xp.ndindex(*(1 if self.mode == "nearest" else 2,) * len(sizes)):
            weight, index = xp.ones_like(where[0]), []
            for at, side, size in zip(where, corner, sizes, strict=True):
                near = xp.rint(at) if self.mode == "nearest" else xp.floor(at) + side
                weight = weight * (1 if self.mode == "nearest" else 1 - xp.abs(at - near)) * ((near >= 0) & (near < size))
                index.append(xp.clip(near, 0, size - 1).astype(int))
            total = total + x[(batch, slice(None), *index)] * weight[..., None]
        return xp.moveaxis(total, -1, 1).astype(x.dtype)

    def _position(self, xp: Any, point: Any, size: int) -> Any:
        """Return where a point is among the entries of an axis."""
        at = (point + 1) / 2 * (size - 1) if self.aligned else ((point + 1) * size - 1) / 2
        if self.beyond == "reflection":
            low, span = (0.0, size - 1) if self.aligned else (-0.5, size)
            turned = xp.abs(at - low) % (2 * span) if span else xp.zeros_like(at)
            at = xp.minimum(turned, 2 * span - turned) + low
        return at if self.beyond == "zeros" else xp.clip(at, 0, size - 1)

    def __str__(self) -> str:
        return f"sample {self.mode}"


def sample(x: Value, points: Value, mode: Literal["linear", "nearest"], beyond: Beyond, *, aligned: bool = False) -> Value:
    """Interpolate the last axes at points from -1 to 1. Work: one operation per neighbour of every point."""
    return record(Sample(mode, beyond, aligned), x, points)


def resample(
    mode: Interpolation, x: Value, lengths: Sequence[Count], factors: Sequence[float | Expr | None], *, aligned: bool = False
) -> Value:
    """Interpolate the last axes to other lengths. Work: one operation per input entry of every output entry."""
    return record(Resample(mode, tuple(lengths), tuple(factors), aligned), x)
