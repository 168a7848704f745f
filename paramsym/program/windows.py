"""Kernels that slide over spatial axes: convolutions, their transposes, pooling, and the windows themselves.

Arrays are (batch, channels, *spatial). A padding is a pair (before, after) for every spatial axis, or "same": as many zeros as keep
``ceil(length / stride)`` output positions, the odd one after (``torch.nn.Conv2d`` with ``padding="same"``; Keras and XLA likewise).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import starmap
from math import inf
from typing import Any, Literal, TypeAlias

from paramsym.errors import ShapeError
from paramsym.extents import negative, reach, same, spread, windows, windows_ceil
from paramsym.program.graph import MULTIPLY_ADD, Operation, Work
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, flat
from paramsym.size import Axis, Count, Dim, canonical

Margins: TypeAlias = tuple[tuple[Count, Count], ...] | Literal["same"]
_SPATIAL = {2: ("height", "width"), 3: ("depth", "height", "width")}


@dataclass(frozen=True, slots=True)
class Convolve(Operation):
    """A kernel (out, in/groups, *extents) at every position of the spatial axes of (batch, in, *spatial)."""

    stride: tuple[Dim, ...]
    padding: Margins
    dilation: tuple[Dim, ...]
    groups: Dim = 1

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return (batch, out, *output positions)."""
        x, kernel = taken
        spatial = lengths(x.sizes[2:], kernel.sizes[2:], self.stride, self.padding, self.dilation)
        return (ArrayType((x.shape[0], kernel.shape[0], *spatial)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:
        """One multiply-add for every entry of the kernel at every output position, padding included."""
        return (Work(MULTIPLY_ADD, (*flat((taken[0].shape[0], *taken[1].shape)), *given[0].sizes[2:])),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Multiply the windows with the kernel."""
        x, kernel = arrays
        groups, rank = int(self.groups), kernel.ndim - 2
        seen = windows_of(xp, x, kernel.shape[2:], self.stride, self.padding, self.dilation)
        seen = seen.reshape(x.shape[0], groups, x.shape[1] // groups, *seen.shape[2:])
        kernel = kernel.reshape(groups, kernel.shape[0] // groups, *kernel.shape[1:])
        positions, extents = "uvw"[:rank], "xyz"[:rank]
        y = xp.einsum(f"bgc{positions}{extents},goc{extents}->bgo{positions}", seen, kernel, optimize=True)
        return y.reshape(x.shape[0], -1, *y.shape[3:])

    def __str__(self) -> str:
        return "convolve"


@dataclass(frozen=True, slots=True)
class ConvolveTransposed(Operation):
    """The transpose of a convolution: every entry of (batch, in, *spatial) is spread by a kernel (in, out/groups, *extents).

    ``lengths`` are the output lengths; ``before`` says how many positions are cut off in front.
    """

    stride: tuple[Dim, ...]
    before: tuple[Count, ...]
    dilation: tuple[Dim, ...]
    lengths: tuple[Count, ...]
    groups: Dim = 1

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return (batch, out, *lengths)."""
        x, kernel = taken
        channels: Axis = kernel.shape[1] if self.groups == 1 else canonical(kernel.sizes[1] * self.groups)
        return (ArrayType((x.shape[0], channels, *self.lengths)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - input positions count
        """One multiply-add for every entry of the kernel at every input position."""
        x, kernel = taken
        return (Work(MULTIPLY_ADD, (*flat((x.shape[0], *kernel.shape)), *x.sizes[2:])),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Add every scaled copy of the kernel where it belongs."""
        x, kernel = arrays
        groups, rank = int(self.groups), kernel.ndim - 2
        grouped = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
        parts = kernel.reshape(groups, kernel.shape[0] // groups, *kernel.shape[1:])
        positions, extents = "uvw"[:rank], "xyz"[:rank]
        spread_out = xp.einsum(f"bgi{positions},gio{extents}->bgo{positions}{extents}", grouped, parts, optimize=True)
        spread_out = spread_out.reshape(x.shape[0], -1, *spread_out.shape[3:])
        stride, dilation = (tuple(map(int, setting)) for setting in (self.stride, self.dilation))
        spans = tuple((n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(x.shape[2:], stride, kernel.shape[2:], dilation, strict=True))
        total = tuple(max(span, int(a) + int(n)) for span, a, n in zip(spans, self.before, self.lengths, strict=True))
        y = xp.zeros((*spread_out.shape[:2], *total), dtype=spread_out.dtype)
        for offset in xp.ndindex(*kernel.shape[2:]):
            where = tuple(
                slice(o * d, o * d + (n - 1) * s + 1, s) for o, d, n, s in zip(offset, dilation, x.shape[2:], stride, strict=True)
            )
            y[(slice(None), slice(None), *where)] += spread_out[(..., *offset)]
        cut = tuple(slice(int(a), int(a) + int(n)) for a, n in zip(self.before, self.lengths, strict=True))
        return y[(slice(None), slice(None), *cut)]

    def __str__(self) -> str:
        return "convolve transposed"


@dataclass(frozen=True, slots=True)
class Pool(Operation):
    """The maximum, the mean or the power mean of every window over the last axes.

    ``ceil`` also takes a last, partial window; then the padding is as much on both sides. ``whole`` divides a mean by the size of the
    window even where it reaches into the padding; ``divisor`` takes the place of that size. ``norm`` is the exponent of a power mean.
    """

    name: Literal["max", "mean", "norm"]
    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    padding: Margins
    dilation: tuple[Dim, ...]
    ceil: bool = False
    whole: bool = True
    divisor: int | None = None
    norm: float = 2.0

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the input with a window's position for every entry of the spatial axes."""
        (x,) = taken
        lead = len(x.shape) - len(self.kernel)
        spatial = lengths(x.sizes[lead:], self.kernel, self.stride, self.padding, self.dilation, ceil=self.ceil)
        return (ArrayType((*x.shape[:lead], *spatial)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the result
        """One operation per entry of every window."""
        return (Work(f"{self.name} pool", (*flat(given[0].shape), *self.kernel)),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Reduce every window."""
        (x,) = arrays
        rank, size = len(self.kernel), 1
        last = tuple(range(-rank, 0))
        if self.name == "max":
            return windows_of(xp, x, self.kernel, self.stride, self.padding, self.dilation, fill=-inf, ceil=self.ceil).max(last)
        if self.name == "norm":
            total = (windows_of(xp, x**self.norm, self.kernel, self.stride, self.padding, self.dilation, ceil=self.ceil)).sum(last)
            return xp.sign(total) * xp.abs(total) ** (1 / self.norm) if self.norm == 1 else total ** (1 / self.norm)
        total = windows_of(xp, x, self.kernel, self.stride, self.padding, self.dilation, ceil=self.ceil).sum(last)
        if self.divisor is not None:
            return total / self.divisor
        inside = xp.ones(x.shape[-rank:], dtype=x.dtype)
        if not self.whole:
            return total / windows_of(xp, inside, self.kernel, self.stride, self.padding, self.dilation, ceil=self.ceil).sum(last)
        if not self.ceil:
            for extent in self.kernel:
                size *= int(extent)
            return total / size
        assert self.padding != "same"  # noqa: S101 - for the type checker; a partial window needs margins in numbers
        padded = xp.pad(inside, [(int(a), int(b)) for a, b in self.padding], constant_values=1)
        none = ((0, 0),) * rank
        beyond = windows_of(xp, padded, self.kernel, self.stride, none, self.dilation, count=total.shape[-rank:])
        return total / beyond.sum(last)

    def __str__(self) -> str:
        return f"{self.name} pool"


@dataclass(frozen=True, slots=True)
class Unfold(Operation):
    """The windows themselves: (batch, channels, *spatial) becomes (batch, channels, *positions, *kernel)."""

    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    padding: Margins
    dilation: tuple[Dim, ...]

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return one axis of positions and one of the window for every spatial axis."""
        (x,) = taken
        lead = len(x.shape) - len(self.kernel)
        return (
            ArrayType((*x.shape[:lead], *lengths(x.sizes[lead:], self.kernel, self.stride, self.padding, self.dilation), *self.kernel)),
        )

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Return the windows."""
        return windows_of(xp, arrays[0], self.kernel, self.stride, self.padding, self.dilation)

    def __str__(self) -> str:
        return "unfold"


def convolve(
    x: Value, kernel: Value, stride: Sequence[Dim], padding: Margins, dilation: Sequence[Dim] | None = None, groups: Dim = 1
) -> Value:
    """Slide a kernel (out, in/groups, *extents) over (batch, in, *spatial). Work: kernel entries x output positions x batch."""
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
    """Spread every entry by a kernel (in, out/groups, *extents). Work: kernel entries x input positions x batch."""
    return record(ConvolveTransposed(tuple(stride), tuple(before), tuple(dilation), tuple(lengths), groups), x, kernel)


def pool(
    name: Literal["max", "mean", "norm"], x: Value, kernel: Sequence[Dim], stride: Sequence[Dim], padding: Margins, **more: Any
) -> Value:
    """Reduce every window over the last axes to one number. Work: one operation per entry of every window."""
    dilation = more.pop("dilation", (1,) * len(kernel))
    return record(Pool(name, tuple(kernel), tuple(stride), padding, tuple(dilation), **more), x)


def unfold(x: Value, kernel: Sequence[Dim], stride: Sequence[Dim], padding: Margins, dilation: Sequence[Dim]) -> Value:
    """Return the windows of the last axes as further axes. No work; a copy."""
    return record(Unfold(tuple(kernel), tuple(stride), padding, tuple(dilation)), x)


def along_each(function: Callable[..., Count], *settings: Sequence[Any]) -> tuple[Count, ...]:
    """Apply a function of lengths to every spatial axis; an error names the axis.

    Raises:
        ShapeError: what the function raises, and a length that is negative.
    """
    found: list[Count] = []
    for position, given in enumerate(zip(*settings, strict=True)):
        try:
            found.append(_possible(function(*given), given[0]))
        except ShapeError as error:
            names = _SPATIAL.get(len(settings[0]))
            raise ShapeError(f"along the {names[position]}, {error}" if names else str(error)) from None
    return tuple(found)


def lengths(
    spatial: Sequence[Dim], kernel: Sequence[Dim], stride: Sequence[Dim], padding: Margins, dilation: Sequence[Dim], *, ceil: bool = False
) -> tuple[Count, ...]:
    """Return how many output positions a kernel has along every spatial axis.

    Raises:
        ShapeError: a kernel that is longer than the padded axis; the message names the axis.
    """
    if padding == "same":
        return along_each(same, spatial, stride)
    if ceil:
        return along_each(lambda n, k, s, p, d: windows_ceil(n, k, s, p[0], d), spatial, kernel, stride, padding, dilation)
    return along_each(lambda n, k, s, p, d: windows(n, k, s, canonical(p[0] + p[1]), d), spatial, kernel, stride, padding, dilation)


def margins_of(spatial: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Margins, dilation: Sequence[int]) -> Any:
    """Return the padding in numbers; "same" puts the odd position after."""
    if padding != "same":
        return [(int(before), int(after)) for before, after in padding]
    totals = starmap(
        lambda n, k, s, d: max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0), zip(spatial, kernel, stride, dilation, strict=True)
    )
    return [(total // 2, total - total // 2) for total in totals]


def windows_of(
    xp: Any, x: Any, kernel: Any, stride: Any, padding: Margins, dilation: Any, *, fill: float = 0.0, ceil: bool = False, count: Any = None
) -> Any:
    """Return the windows of the last axes of an array, as further axes; ``count`` positions along each, where it is given."""
    kernel, stride, dilation = (tuple(map(int, setting)) for setting in (kernel, stride, dilation))
    rank = len(kernel)
    spatial = x.shape[-rank:]
    margins = margins_of(spatial, kernel, stride, padding, dilation)
    if count is None:
        stated = tuple(margins) if padding == "same" else padding
        count = lengths(spatial, kernel, stride, stated, dilation, ceil=ceil)
    reaches = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
    needed = [(c - 1) * s + r for c, s, r in zip(map(int, count), stride, reaches, strict=True)]
    pads = [(a, max(b, n - size - a)) for (a, b), n, size in zip(margins, needed, spatial, strict=True)]
    x = xp.pad(x, [(0, 0)] * (x.ndim - rank) + pads, constant_values=fill)
    seen = xp.lib.stride_tricks.sliding_window_view(x, reaches, axis=tuple(range(x.ndim - rank, x.ndim)))
    positions = tuple(slice(0, (c - 1) * s + 1, s) for c, s in zip(map(int, count), stride, strict=True))
    return seen[(..., *positions, *(slice(None, None, d) for d in dilation))]


def transposed_lengths(
    spatial: Sequence[Dim],
    kernel: Sequence[Dim],
    stride: Sequence[Dim],
    padding: Sequence[Count],
    dilation: Sequence[Dim],
    extra: Sequence[Count],
) -> tuple[Count, ...]:
    """Return the output lengths of a transposed convolution; ``padding`` is the total of both sides.

    Raises:
        ShapeError: more padding than there is to cut away; the message names the axis.
    """
    return along_each(spread, spatial, kernel, stride, padding, dilation, extra)


def _possible(length: Count, of: Count) -> Count:
    if negative(length):
        message = f"{length} entries are left of {of}."
        raise ShapeError(message)
    return length


__all__ = ["Convolve", "ConvolveTransposed", "Pool", "Unfold", "convolve", "convolve_transposed", "pool", "reach", "unfold"]
