"""Windows along all spatial axes at once: output lengths, each by ``algebra.convolution``, and the windows of an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import starmap
from typing import Any, Literal, TypeAlias

from paramsym.algebra.convolution import negative, same_length, transposed_length, window_count, window_count_ceil
from paramsym.algebra.size import Count, Dim, canonical, conditions_are_asked
from paramsym.errors import ShapeError

_SPATIAL = {2: ("height", "width"), 3: ("depth", "height", "width")}


Margins: TypeAlias = tuple[tuple[Count, Count], ...] | Literal["same"]


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
    """Return the number of output positions along every spatial axis.

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
        raise ShapeError(f"{length} entries are left of {of}.")
    return length
