"""Convolutions and transposed convolutions of arrays as torch, Keras and Flax compute them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sympy import Max, Mod

from paramsym import program as ops
from paramsym.algebra.convolution import effective_kernel, over, transposed_length, transposed_length_by_word, up_over, window_count
from paramsym.algebra.size import Count, Dim, canonical, within
from paramsym.errors import ShapeError
from paramsym.layers.axes import not_empty
from paramsym.layers.spatial import Extents, Margin, Padding, PaddingMode, both_sides, per_axis
from paramsym.program.lengths import Margins, along_each

if TYPE_CHECKING:
    from paramsym.program import Value


@dataclass(frozen=True)
class Sliding:
    """The settings of a convolution, with one entry per spatial axis."""

    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    dilation: tuple[Dim, ...]
    padding: tuple[Count, ...] | str
    padding_mode: PaddingMode = "zeros"
    dialect: str = "torch"

    @classmethod
    def of(
        cls,
        rank: int,
        kernel: Extents,
        stride: Extents,
        dilation: Extents,
        padding: Padding,
        padding_mode: PaddingMode = "zeros",
        dialect: str = "torch",
    ) -> Sliding:
        """Read the settings of a layer, in which one number applies to every axis."""
        margins = padding if isinstance(padding, str) else per_axis(padding, rank, "padding")
        settings = (per_axis(kernel, rank, "kernel_size"), per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation"))
        return cls(*settings, margins, padding_mode, dialect)

    def convolve(self, x: Value, kernel: Value, groups: Dim = 1) -> Value:
        """Slide a kernel (out, in/groups, *extents) over (batch, in, *spatial).

        Raises:
            ShapeError: an empty axis, a kernel that does not fit, or a padding that copies more entries than there are.
        """
        if x.sizes[0] != 0 or self.padding_mode != "zeros" or self.padding == "same":  # otherwise torch takes an empty batch of any shape
            not_empty(x.sizes[2:], "the axes")
        sides = self._margins()
        margins: Margins = sides
        if self.padding_mode != "zeros":
            if self.dialect == "torch":  # Flax repeats an input several times if necessary
                check_copied(self.padding_mode, x.sizes[2:], sides)
            x, margins = ops.pad(x, sides, self.padding_mode), both_sides((0,) * len(sides))
        elif self.padding == "same":
            margins = "same"
            if self.dialect == "torch" and any(isinstance(after, int) and before != after for before, after in sides):
                x = ops.pad(x, tuple((0, canonical(after - before)) for before, after in sides))  # a copy, which torch keeps
                margins = both_sides(tuple(before for before, _ in sides))
        return ops.convolve(x, kernel, self.stride, margins, self.dilation, groups)

    def _margins(self) -> tuple[tuple[Count, Count], ...]:
        """Return the padding before and after every axis."""
        if not isinstance(self.padding, str):
            return both_sides(self.padding)
        if self.padding == "valid":
            return both_sides((0,) * len(self.kernel))
        totals = tuple(canonical(effective_kernel(kernel, spacing) - 1) for kernel, spacing in zip(self.kernel, self.dilation, strict=True))
        if self.padding == "causal":
            return tuple((total, 0) for total in totals)
        return tuple((over(total, 2), canonical(total - over(total, 2))) for total in totals)

    def spread(self, x: Value, kernel: Value, output_padding: Margin | None = None, groups: Dim = 1) -> Value:
        """Spread (batch, in, *spatial) by a kernel (in, out/groups, *extents): a transposed convolution.

        Raises:
            ShapeError: an empty axis, an output padding that is smaller than neither stride nor dilation, or more padding than output.
        """
        extras = per_axis(output_padding, len(self.kernel), "output_padding")
        if x.sizes[0] != 0 or self.dialect != "torch":  # torch takes an empty batch with any other axes
            not_empty(x.sizes[2:], "the axes")
            for extra, stride, dilation in zip(extras, self.stride, self.dilation, strict=True):
                known = self.dialect == "torch" and all(isinstance(value, int) for value in (extra, stride, dilation))
                if known and extra >= max(stride, dilation):
                    raise ShapeError(f"output_padding {extra} must be smaller than the stride {stride} or the dilation {dilation}.")
        settings = (self.kernel, self.stride, self.dilation, per_axis(self.padding, len(self.kernel), "padding"), extras)
        lengths = along_each(self._spread_length, x.sizes[2:], *settings)
        return ops.convolve_transposed(x, kernel, self.stride, tuple(map(self._cut, *settings)), self.dilation, lengths, groups)

    def spread_around(self, x: Value, kernel: Value, *, odd_before: bool) -> Value:
        """The same on circles, each ``stride`` times as long as the axis: entries beyond the end continue at the start, as in Flax."""
        y = replace(self, padding="valid").spread(x, kernel)
        for axis, (length, stride) in enumerate(zip(x.sizes[2:], self.stride, strict=True), 2):
            y = wrapped(y, axis, canonical(length * stride), odd_before=odd_before)
        return y

    def _spread_length(self, length: Count, kernel: Dim, stride: Dim, dilation: Dim, padding: Count | str, extra: Count | None) -> Count:
        """Return the output length; Flax pads the spread input instead of cutting the output."""
        if isinstance(padding, str):
            return transposed_length_by_word(length, kernel, stride, padding, dilation, extra)
        if self.dialect == "flax":
            return window_count(canonical((length - 1) * stride + 1), kernel, 1, canonical(2 * padding), dilation)
        return transposed_length(length, kernel, stride, canonical(2 * padding), dilation, extra or 0)

    def _cut(self, kernel: Dim, stride: Dim, dilation: Dim, padding: Count | str, extra: Count | None) -> Count:
        """Return the number of entries cut off in front (for words, ``keras.src.backend.common.backend_utils``)."""
        width = effective_kernel(kernel, dilation)
        if not isinstance(padding, str):
            return canonical(width - 1 - padding) if self.dialect == "flax" else padding
        if padding != "same":
            return 0
        odd = width % 2 if isinstance(width, int) else Mod(width, 2)
        pads = stride + width - 2 if extra is None else width + odd - 2 + extra
        before = canonical(width - 1 - up_over(canonical(pads), 2))
        return max(before, 0) if isinstance(before, int) else Max(before, 0)


def check_copied(padding_mode: str, extents: Sequence[Count], margins: Sequence[tuple[Any, Any]]) -> None:
    """Raise ``ShapeError`` for a reflection or a circular padding by more than an axis has."""
    for length, sides in zip(extents, margins, strict=True):
        widest = max((side for side in sides if isinstance(side, int)), default=0)
        if padding_mode == "reflect" and not within(widest + 1, length):
            raise ShapeError(f"a padding of {widest} mirrors too much; reflect padding must be smaller than the input, which has {length}.")
        if padding_mode == "circular" and not within(widest, length):
            raise ShapeError(f"a padding of {widest} goes around the {length} entries of the input more than once.")


def wrapped(y: Value, axis: int, circle: Dim, *, odd_before: bool) -> Value:
    """Add up an axis around a circle; entries before its middle are in reverse order."""
    beyond, twice = canonical(y.sizes[axis] - circle), canonical(2 * circle)
    short = -beyond % twice if isinstance(beyond, int) and isinstance(twice, int) else Mod(-beyond, twice)
    half = over(short, 2)
    rest = canonical(short - half)
    y = ops.pad(y, [(rest, half) if odd_before else (half, rest), *[(0, 0)] * (y.rank - axis - 1)])
    before = " ".join(f"a{n}" for n in range(axis))
    return ops.reduce("sum", ops.rearrange(y, f"{before} (rounds circle) ... -> {before} rounds circle ...", circle=circle), axis)
