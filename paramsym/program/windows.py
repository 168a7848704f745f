"""Kernels that slide over spatial axes: convolutions, their transposes, pooling, and the windows themselves.

Arrays are (batch, channels, *spatial). A padding is a pair (before, after) for every spatial axis, or "same": the number of zeros that
gives ``ceil(length / stride)`` output positions, an odd zero at the end (``torch.nn.Conv2d`` with ``padding="same"``; Keras and XLA
likewise).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any, Literal, TypeAlias

from paramsym.algebra.size import Axis, Count, Dim, canonical, shown
from paramsym.errors import NotYetError
from paramsym.program.graph import MULTIPLY_ADD, Kept, Operation, Work
from paramsym.program.lengths import Margins, folded, greatest, lengths, windows_of
from paramsym.program.tracing import Value, record, record_all
from paramsym.program.types import ArrayType, flat

Pooling: TypeAlias = Literal["max", "mean"]


@dataclass(frozen=True, slots=True)
class Convolve(Operation):
    """A kernel (out, in/groups, *extents) at every position of the spatial axes of (batch, in, *spatial)."""

    kept = (Kept("taken"), Kept("taken", 1))  # one function gives both gradients

    stride: tuple[Dim, ...]
    padding: Margins
    dilation: tuple[Dim, ...]
    groups: Dim = 1

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        x, kernel = taken
        spatial = lengths(x.sizes[2:], kernel.sizes[2:], self.stride, self.padding, self.dilation)
        return (ArrayType((x.shape[0], kernel.shape[0], *spatial)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:
        return (Work(MULTIPLY_ADD, (*flat((taken[0].shape[0], *taken[1].shape)), *given[0].sizes[2:])),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, kernel = arrays
        groups, rank = int(self.groups), kernel.ndim - 2
        seen = windows_of(xp, x, kernel.shape[2:], self.stride, self.padding, self.dilation)
        seen = seen.reshape(x.shape[0], groups, x.shape[1] // groups, *seen.shape[2:])
        kernel = kernel.reshape(groups, kernel.shape[0] // groups, *kernel.shape[1:])
        positions, extents = "uvw"[:rank], "xyz"[:rank]
        y = xp.einsum(f"bgc{positions}{extents},goc{extents}->bgo{positions}", seen, kernel, optimize=True)
        return y.reshape(x.shape[0], -1, *y.shape[3:])


@dataclass(frozen=True, slots=True)
class ConvolveTransposed(Operation):
    """The transpose of a convolution: every entry of (batch, in, *spatial) is spread by a kernel (in, out/groups, *extents).

    ``lengths`` are the output lengths; ``before`` is the number of positions cut off in front; a negative number adds zeros there.
    """

    kept = (Kept("taken"), Kept("taken", 1))  # one function gives both gradients

    stride: tuple[Dim, ...]
    before: tuple[Count, ...]
    dilation: tuple[Dim, ...]
    lengths: tuple[Count, ...]
    groups: Dim = 1

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        x, kernel = taken
        channels: Axis = kernel.shape[1] if self.groups == 1 else canonical(kernel.sizes[1] * self.groups)
        return (ArrayType((x.shape[0], channels, *self.lengths)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - input positions count
        x, kernel = taken
        return (Work(MULTIPLY_ADD, (*flat((x.shape[0], *kernel.shape)), *x.sizes[2:])),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, kernel = arrays
        groups, rank = int(self.groups), kernel.ndim - 2
        grouped = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
        parts = kernel.reshape(groups, kernel.shape[0] // groups, *kernel.shape[1:])
        positions, extents = "uvw"[:rank], "xyz"[:rank]
        spread_out = xp.einsum(f"bgi{positions},gio{extents}->bgo{positions}{extents}", grouped, parts, optimize=True)
        spread_out = spread_out.reshape(x.shape[0], -1, *spread_out.shape[3:])
        return folded(xp, spread_out, self.stride, self.before, self.dilation, self.lengths)

    def __str__(self) -> str:
        return "convolve transposed"


class _Pooling(Operation):
    name: Pooling
    indices: bool

    def _results(self, *shape: Axis) -> tuple[ArrayType, ...]:
        return (ArrayType(shape), ArrayType(shape, "index")) if self.indices else (ArrayType(shape),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all needs
        index = Kept("given", 1) if self.indices else Kept("own", factors=given[0].sizes, kind="index")
        return (Kept("taken"), index) if self.name == "max" else (Kept("taken"),)


@dataclass(frozen=True, slots=True)
class Pool(_Pooling):
    """The maximum or the mean of every window over the last axes.

    ``ceil`` also takes a last, partial window; then the padding is the same on both sides. ``whole`` divides a mean by the size of the
    window even if it reaches into the padding; ``divisor`` replaces that size. ``indices`` gives a second result: the position of each
    maximum in the flattened spatial axes.
    """

    name: Pooling
    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    padding: Margins
    dilation: tuple[Dim, ...]
    ceil: bool = False
    whole: bool = True
    divisor: int | None = None
    indices: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        lead = len(x.shape) - len(self.kernel)
        spatial = lengths(x.sizes[lead:], self.kernel, self.stride, self.padding, self.dilation, ceil=self.ceil)
        return self._results(*x.shape[:lead], *spatial)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the result
        return (Work(f"{self.name} pool", (*flat(given[0].shape), *self.kernel)),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        return self._maxima(xp, x) if self.name == "max" else self._means(xp, x)

    def _windows(self, xp: Any, x: Any, fill: float = 0.0, count: Any = None, padding: Margins | None = None) -> Any:
        margins = self.padding if padding is None else padding
        return windows_of(xp, x, self.kernel, self.stride, margins, self.dilation, fill=fill, ceil=self.ceil, count=count)

    def _maxima(self, xp: Any, x: Any) -> Any:
        rank = len(self.kernel)
        seen = self._windows(xp, x, _least(xp, x))
        if not self.indices:
            return seen.max(tuple(range(-rank, 0)))
        places = self._windows(xp, xp.arange(prod(x.shape[-rank:])).reshape(x.shape[-rank:]), -1)
        size = prod(seen.shape[-rank:])
        return greatest(xp, seen.reshape(*seen.shape[:-rank], size), places.reshape(*places.shape[:-rank], size))

    def _means(self, xp: Any, x: Any) -> Any:
        rank = len(self.kernel)
        last = tuple(range(-rank, 0))
        total = self._windows(xp, x).sum(last)
        if self.divisor is not None:
            return total / self.divisor
        inside = xp.ones(x.shape[-rank:], dtype=x.dtype)
        if not self.whole:
            return total / self._windows(xp, inside).sum(last)
        if not self.ceil or self.padding == "same":
            return total / prod(map(int, self.kernel))
        padded = xp.pad(inside, [(int(a), int(b)) for a, b in self.padding], constant_values=1)
        return total / self._windows(xp, padded, count=total.shape[-rank:], padding=((0, 0),) * rank).sum(last)

    def __str__(self) -> str:
        return f"{self.name} pool"


def _least(xp: Any, x: Any) -> Any:
    """Return what no entry of an array is below: whole numbers and truth values have no infinity."""
    if x.dtype.kind == "b":
        return False
    return xp.iinfo(x.dtype).min if x.dtype.kind in "iu" else -inf


@dataclass(frozen=True, slots=True)
class PoolTo(_Pooling):
    """The maximum or the mean of ``lengths`` windows over the last axes.

    Window i of o covers the entries from floor(i*n/o) to ceil((i+1)*n/o). With ``kernel`` the windows have that size and tile the input in
    random steps (Graham 2014). ``indices`` are those of ``Pool``.
    """

    name: Pooling
    lengths: tuple[Count, ...]
    kernel: tuple[Dim, ...] | None = None
    indices: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return self._results(*taken[0].shape[: -len(self.lengths)], *self.lengths)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:
        # An entry in two windows counts once.
        factors = flat(taken[0].shape) if self.kernel is None else (*flat(given[0].shape), *self.kernel)
        return (Work(f"{self.name} pool to a size", factors),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        if self.kernel is not None:
            raise NotYetError("fractional pooling draws its windows at random, so no two runs agree; its shape and its work are known.")
        (x,) = arrays
        rank = len(self.lengths)
        lead, spatial, wanted = x.shape[:-rank], x.shape[-rank:], tuple(map(int, self.lengths))
        places = xp.arange(prod(spatial)).reshape(spatial)
        y, index = xp.empty((*lead, *wanted), dtype=x.dtype), xp.empty((*lead, *wanted), dtype=xp.int64)
        for position in xp.ndindex(*wanted):
            spans = (slice(i * n // o, -(-(i + 1) * n // o)) for i, n, o in zip(position, spatial, wanted, strict=True))
            where = (..., *spans)
            found = places[where].reshape(-1)
            window, here = x[where].reshape(*lead, found.size), (..., *position)
            y[here], index[here] = greatest(xp, window, found) if self.name == "max" else (window.mean(-1), 0)
        return (y, index) if self.indices else y

    def __str__(self) -> str:
        return f"{self.name} pool to {shown(self.lengths)}"


@dataclass(frozen=True, slots=True)
class Unfold(Operation):
    """The windows themselves: (batch, channels, *spatial) becomes (batch, channels, *positions, *kernel); ``shared`` if they are views."""

    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    padding: Margins
    dilation: tuple[Dim, ...]
    shared: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        lead = len(x.shape) - len(self.kernel)
        positions = lengths(x.sizes[lead:], self.kernel, self.stride, self.padding, self.dilation)
        return (ArrayType((*x.shape[:lead], *positions, *self.kernel), x.kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return windows_of(xp, arrays[0], self.kernel, self.stride, self.padding, self.dilation)


@dataclass(frozen=True, slots=True)
class Fold(Operation):
    """Windows added where they overlap, the transpose of ``Unfold``: (..., *positions, *kernel) becomes (..., *lengths)."""

    stride: tuple[Dim, ...]
    before: tuple[Count, ...]
    dilation: tuple[Dim, ...]
    lengths: tuple[Count, ...]

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType((*taken[0].shape[: -2 * len(self.lengths)], *self.lengths)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        return (Work("add", flat(taken[0].shape)),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return folded(xp, arrays[0], self.stride, self.before, self.dilation, self.lengths)


def convolve(
    x: Value, kernel: Value, stride: Sequence[Dim], padding: Margins, dilation: Sequence[Dim] | None = None, groups: Dim = 1
) -> Value:
    """Slide a kernel ``(out, in/groups, *extents)`` over ``(batch, in, *spatial)``. Work: kernel entries x output positions x batch."""
    return record(Convolve(tuple(stride), padding, tuple(dilation or (1,) * len(stride)), groups), x, kernel)


def convolve_transposed(
    x: Value,
    kernel: Value,
    stride: Sequence[Dim],
    before: Sequence[Count],
    dilation: Sequence[Dim],
    lengths: Sequence[Count],
    groups: Dim = 1,
) -> Value:
    """Spread every entry by a kernel ``(in, out/groups, *extents)``. Work: kernel entries x input positions x batch."""
    return record(ConvolveTransposed(tuple(stride), tuple(before), tuple(dilation), tuple(lengths), groups), x, kernel)


def pool(name: Pooling, x: Value, kernel: Sequence[Dim], stride: Sequence[Dim], padding: Margins, **more: Any) -> Any:
    """Reduce every window over the last axes to one number. Work: one operation per entry of every window.

    Return one array, or with ``indices=True`` also where each maximum was found.
    """
    dilation = more.pop("dilation", (1,) * len(kernel))
    results = record_all(Pool(name, tuple(kernel), tuple(stride), padding, tuple(dilation), **more), x)
    return results if more.get("indices") else results[0]


def pool_to(name: Pooling, x: Value, lengths: Sequence[Count], kernel: Sequence[Dim] | None = None, *, indices: bool = False) -> Any:
    """Reduce the last axes to the given lengths, by windows that tile them. Work: one operation per entry of the input.

    Return one array, or with ``indices=True`` also where each maximum was found.
    """
    results = record_all(PoolTo(name, tuple(lengths), None if kernel is None else tuple(kernel), indices), x)
    return results if indices else results[0]


def unfold(
    x: Value, kernel: Sequence[Dim], stride: Sequence[Dim], padding: Margins, dilation: Sequence[Dim], *, shared: bool = False
) -> Value:
    """Return the windows of the last axes as further axes. No work; a copy, or a view of a ``shared`` storage."""
    return record(Unfold(tuple(kernel), tuple(stride), padding, tuple(dilation), shared), x)


def fold(x: Value, stride: Sequence[Dim], before: Sequence[Count], dilation: Sequence[Dim], lengths: Sequence[Count]) -> Value:
    """Add up windows ``(..., *positions, *kernel)`` where they overlap. Work: one addition per entry."""
    return record(Fold(tuple(stride), tuple(before), tuple(dilation), tuple(lengths)), x)
