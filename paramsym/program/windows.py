"""Kernels that slide over spatial axes: convolutions, their transposes, pooling, and the windows themselves.

Arrays are (batch, channels, *spatial). A padding is a pair (before, after) for every spatial axis, or "same": the number of zeros that
gives ``ceil(length / stride)`` output positions, an odd zero at the end (``torch.nn.Conv2d`` with ``padding="same"``; Keras and XLA
likewise).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from math import inf, prod
from typing import Any, Literal, TypeAlias

from paramsym.algebra.convolution import negative, same_length, transposed_length, window_count, window_count_ceil
from paramsym.algebra.size import Axis, Count, Dim, canonical, conditions_are_asked, shown
from paramsym.errors import NotYetError, ShapeError
from paramsym.program.graph import MULTIPLY_ADD, Kept, Operation, Work
from paramsym.program.tracing import Value, record, record_all
from paramsym.program.types import ArrayType, flat

Margins: TypeAlias = tuple[tuple[Count, Count], ...] | Literal["same"]
Pooling: TypeAlias = Literal["max", "mean"]
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

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        """Return the other factor of each factor that needs a gradient."""
        return (*((Kept("taken", 1),) if needs[0] else ()), *((Kept("taken", 0),) if needs[1] else ()))

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

    ``lengths`` are the output lengths; ``before`` is the number of positions cut off in front; a negative number adds zeros there.
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

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        """Return the other factor of each factor that needs a gradient."""
        return (*((Kept("taken", 1),) if needs[0] else ()), *((Kept("taken", 0),) if needs[1] else ()))

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Add the scaled copies of the kernel at their positions."""
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


@dataclass(frozen=True, slots=True)
class Pool(Operation):
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
        """Return the input with one entry per window along the spatial axes."""
        (x,) = taken
        lead = len(x.shape) - len(self.kernel)
        spatial = lengths(x.sizes[lead:], self.kernel, self.stride, self.padding, self.dilation, ceil=self.ceil)
        shape = (*x.shape[:lead], *spatial)
        return (ArrayType(shape), ArrayType(shape, "index")) if self.indices else (ArrayType(shape),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the result
        """One operation per entry of every window."""
        return (Work(f"{self.name} pool", (*flat(given[0].shape), *self.kernel)),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all needs
        """Return the input, and for a maximum its positions."""
        index = Kept("given", 1) if self.indices else Kept("own", factors=given[0].sizes, kind="index")
        return (Kept("taken"), index) if self.name == "max" else (Kept("taken"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Reduce every window."""
        (x,) = arrays
        return self._maxima(xp, x) if self.name == "max" else self._means(xp, x)

    def _windows(self, xp: Any, x: Any, fill: float = 0.0, count: Any = None, padding: Margins | None = None) -> Any:
        margins = self.padding if padding is None else padding
        return windows_of(xp, x, self.kernel, self.stride, margins, self.dilation, fill=fill, ceil=self.ceil, count=count)

    def _maxima(self, xp: Any, x: Any) -> Any:
        rank = len(self.kernel)
        seen = self._windows(xp, x, -inf)
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


@dataclass(frozen=True, slots=True)
class PoolTo(Operation):
    """The maximum or the mean of ``lengths`` windows over the last axes.

    Window i of o covers the entries from floor(i*n/o) to ceil((i+1)*n/o). With ``kernel`` the windows have that size and tile the input in
    random steps (Graham 2014). ``indices`` are those of ``Pool``.
    """

    name: Pooling
    lengths: tuple[Count, ...]
    kernel: tuple[Dim, ...] | None = None
    indices: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the input with the wanted spatial axes."""
        shape = (*taken[0].shape[: -len(self.lengths)], *self.lengths)
        return (ArrayType(shape), ArrayType(shape, "index")) if self.indices else (ArrayType(shape),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:
        """One operation per entry of the input; an entry in two windows counts once."""
        factors = flat(taken[0].shape) if self.kernel is None else (*flat(given[0].shape), *self.kernel)
        return (Work(f"{self.name} pool to a size", factors),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all needs
        """Return the input, and for a maximum its positions."""
        index = Kept("given", 1) if self.indices else Kept("own", factors=given[0].sizes, kind="index")
        return (Kept("taken"), index) if self.name == "max" else (Kept("taken"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Reduce every window.

        Raises:
            NotYetError: windows in random steps.
        """
        if self.kernel is not None:
            message = "fractional pooling draws its windows at random, so no two runs agree; its shape and its work are known."
            raise NotYetError(message)
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


@dataclass(frozen=True, slots=True)
class Fold(Operation):
    """Windows added where they overlap, the transpose of ``Unfold``: (..., *positions, *kernel) becomes (..., *lengths)."""

    stride: tuple[Dim, ...]
    before: tuple[Count, ...]
    dilation: tuple[Dim, ...]
    lengths: tuple[Count, ...]

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        """Return the stated lengths instead of positions and windows."""
        return (ArrayType((*taken[0].shape[: -2 * len(self.lengths)], *self.lengths)),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        """One addition per entry of every window."""
        return (Work("add", flat(taken[0].shape)),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        """Add up the windows."""
        return folded(xp, arrays[0], self.stride, self.before, self.dilation, self.lengths)

    def __str__(self) -> str:
        return "fold"


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


def unfold(x: Value, kernel: Sequence[Dim], stride: Sequence[Dim], padding: Margins, dilation: Sequence[Dim]) -> Value:
    """Return the windows of the last axes as further axes. No work; a copy."""
    return record(Unfold(tuple(kernel), tuple(stride), padding, tuple(dilation)), x)


def fold(x: Value, stride: Sequence[Dim], before: Sequence[Count], dilation: Sequence[Dim], lengths: Sequence[Count]) -> Value:
    """Add up windows ``(..., *positions, *kernel)`` where they overlap. Work: one addition per entry."""
    return record(Fold(tuple(stride), tuple(before), tuple(dilation), tuple(lengths)), x)


def along_each(function: Callable[..., Count], *settings: Sequence[Any]) -> tuple[Count, ...]:
    """Apply a function of lengths to every spatial axis; an error names the axis.

    Raises:
        ShapeError: an error of the function, or a negative length.
    """
    found: dict[tuple[Any, ...], Count] = {}  # square images have the same length along all axes
    axes = list(zip(*settings, strict=True))
    for position, given in enumerate(axes):
        try:
            if given not in found:
                found[given] = _possible(function(*given), given[0])
        except ShapeError as error:
            names = _SPATIAL.get(len(settings[0]))
            raise ShapeError(f"along the {names[position]}, {error}" if names else str(error)) from None
    return tuple(found[given] for given in axes)


def lengths(
    spatial: tuple[Dim, ...],
    kernel: tuple[Dim, ...],
    stride: tuple[Dim, ...],
    padding: Margins,
    dilation: tuple[Dim, ...],
    *,
    ceil: bool = False,
) -> tuple[Count, ...]:
    """Return the number of output positions along every spatial axis; while conditions are collected, every size is checked again.

    Raises:
        ShapeError: a kernel that is longer than the padded axis; the message names the axis.
    """
    return (_lengths if conditions_are_asked() else _known_lengths)(spatial, kernel, stride, padding, dilation, ceil)


def _lengths(
    spatial: Sequence[Dim], kernel: Sequence[Dim], stride: Sequence[Dim], padding: Margins, dilation: Sequence[Dim], ceil: bool
) -> tuple[Count, ...]:
    if padding == "same":
        return along_each(same_length, spatial, stride)
    if ceil:
        return along_each(lambda n, k, s, p, d: window_count_ceil(n, k, s, p[0], d), spatial, kernel, stride, padding, dilation)
    return along_each(lambda n, k, s, p, d: window_count(n, k, s, canonical(p[0] + p[1]), d), spatial, kernel, stride, padding, dilation)


_known_lengths = lru_cache(maxsize=1 << 12)(_lengths)


def margins_of(spatial: Sequence[Any], kernel: Sequence[Any], stride: Sequence[Any], padding: Margins, dilation: Sequence[Any]) -> Any:
    """Return the padding in numbers; "same" puts an odd zero at the end."""
    if padding != "same":
        return [(int(before), int(after)) for before, after in padding]
    totals = starmap(
        lambda n, k, s, d: max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0), zip(spatial, kernel, stride, dilation, strict=True)
    )
    return [(total // 2, total - total // 2) for total in totals]


def windows_of(
    xp: Any, x: Any, kernel: Any, stride: Any, padding: Margins, dilation: Any, *, fill: float = 0.0, ceil: bool = False, count: Any = None
) -> Any:
    """Return the windows of the last axes of an array, as further axes; ``count`` positions along each, if given."""
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


def folded(xp: Any, seen: Any, stride: Any, before: Any, dilation: Any, lengths: Any) -> Any:
    """Return arrays of windows, (..., *positions, *kernel), added up; ``before`` positions are cut off in front."""
    stride, before, dilation, lengths = (tuple(map(int, setting)) for setting in (stride, before, dilation, lengths))
    rank = len(lengths)
    positions, kernel = seen.shape[-2 * rank : -rank], seen.shape[-rank:]
    ahead = tuple(max(-cut, 0) for cut in before)
    spans = ((n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(positions, stride, kernel, dilation, strict=True))
    total = (a + max(span, cut + n) for a, span, cut, n in zip(ahead, spans, before, lengths, strict=True))
    y = xp.zeros((*seen.shape[: -2 * rank], *total), dtype=seen.dtype)
    for offset in xp.ndindex(*kernel):
        first = (a + o * d for a, o, d in zip(ahead, offset, dilation, strict=True))
        y[(..., *(slice(f, f + n * s, s) for f, n, s in zip(first, positions, stride, strict=True)))] += seen[(..., *offset)]
    return y[(..., *(slice(a + cut, a + cut + n) for a, cut, n in zip(ahead, before, lengths, strict=True)))]


def greatest(xp: Any, windows: Any, places: Any) -> tuple[Any, Any]:
    """Return the first largest entry along the last axis, and its entry of ``places``."""
    which = windows.argmax(-1)[..., None]
    found = xp.broadcast_to(places, windows.shape)
    return xp.take_along_axis(windows, which, -1)[..., 0], xp.take_along_axis(found, which, -1)[..., 0]


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
        ShapeError: padding that cuts away more than the whole output; the message names the axis.
    """
    return along_each(transposed_length, spatial, kernel, stride, padding, dilation, extra)


def _possible(length: Count, of: Count) -> Count:
    if negative(length):
        message = f"{length} entries are left of {of}."
        raise ShapeError(message)
    return length
