"""What shape comes out where a kernel slides over spatial axes, or is spread over them, in torch, Keras and Flax."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from paramsym.errors import ShapeError
from paramsym.extents import View, exactly, over, reach, same, spread, spread_by_word, windows
from paramsym.layers.axes import Axes, DataFormat, not_empty
from paramsym.layers.dialects import Dialect
from paramsym.layers.spatial import Extents, Margin, Padding, PaddingMode, per_axis
from paramsym.program import Value, convolve, pad
from paramsym.size import Count, Dim, canonical, text


def data_format_of(data_format: DataFormat | None, dialect: str) -> DataFormat:
    """Return where the channels stand: first in torch, last in Keras and Flax unless told otherwise."""
    if data_format is not None:
        return data_format
    return "channels_first" if dialect == "torch" else "channels_last"


@dataclass(frozen=True)
class Sliding:
    """How a kernel slides over the spatial axes; every setting has one entry per axis."""

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
        """Read the settings as a layer takes them: one number stands for every axis."""
        margins = padding if isinstance(padding, str) else per_axis(padding, rank, "padding")
        settings = (per_axis(kernel, rank, "kernel_size"), per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation"))
        return cls(*settings, margins, padding_mode, dialect)

    def convolve(self, x: Value, kernel: Value, groups: Dim = 1) -> Value:
        """Slide a kernel (out, in/groups, *extents) over (batch, in, *spatial).

        Raises:
            ShapeError: an empty axis, a kernel that does not fit, or a padding that copies more than there is.
        """
        if x.sizes[0] != 0 or self.padding_mode != "zeros":  # torch takes an empty batch whatever the other axes are
            not_empty(x.sizes[2:], "the axes")
        if self.padding == "same" and self.padding_mode == "zeros":
            return convolve(x, kernel, self.stride, "same", self.dilation, groups)
        margins = self._margins()
        if self.padding_mode == "zeros":
            return convolve(x, kernel, self.stride, margins, self.dilation, groups)
        for length, (before, after) in zip(x.sizes[2:], margins, strict=True):
            check_copied(self.padding_mode, length, before, after)
        padded = pad(x, margins, self.padding_mode)
        return convolve(padded, kernel, self.stride, ((0, 0),) * len(margins), self.dilation, groups)

    def _margins(self) -> tuple[tuple[Count, Count], ...]:
        """Return the padding before and after every axis."""
        totals = tuple(canonical(reach(kernel, spacing) - 1) for kernel, spacing in zip(self.kernel, self.dilation, strict=True))
        if self.padding == "causal":
            return tuple((total, 0) for total in totals)
        if self.padding == "same":
            return tuple((over(total, 2), canonical(total - over(total, 2))) for total in totals)
        if isinstance(self.padding, str):
            return ((0, 0),) * len(totals)
        return tuple((margin, margin) for margin in self.padding)

    def over(self, axes: Axes) -> tuple[Count | None, ...]:
        """Return the extents that are left.

        Raises:
            ShapeError: an empty axis, a kernel that does not fit, or a padding that copies more than there is.
        """
        margins = self.padding if isinstance(self.padding, tuple) else (self.padding,) * len(self.kernel)
        if axes.batch != (0,) or self.padding_mode != "zeros":  # of an empty batch torch works out the shape alone
            not_empty(axes.extents, "the axes")
        return axes.each(self._along, self.kernel, self.stride, self.dilation, margins)

    def views(self) -> tuple[View, ...]:
        """Return what one output entry sees."""
        settings = zip(self.kernel, self.dilation, self.stride, strict=True)
        return tuple(View(reach(kernel, spacing), stride) for kernel, spacing, stride in settings)

    def _along(self, length: Count, kernel: Dim, stride: Dim, dilation: Dim, margin: Count | str) -> Count:
        if self.dialect != "torch" and margin in {"same", "causal"}:
            return same(length, stride)  # Flax continues an input as often as it takes, whatever the padding mode
        width = reach(kernel, dilation)
        if margin == "same":
            not_empty((length,), "the axis")
            before, after = _halves(width)
        else:
            before = after = 0 if isinstance(margin, str) else margin
        check_copied(self.padding_mode, length, before, after)
        return length if margin == "same" else windows(length, kernel, stride, canonical(before + after), dilation)


def _halves(width: Count) -> tuple[Count, Count]:
    """Return the padding of both sides that keeps a length; the odd entry comes after, as in torch."""
    total = canonical(width - 1)
    before = total // 2 if isinstance(total, int) else 0  # symbols are checked once they are numbers
    return before, canonical(total - before) if isinstance(total, int) else 0


def check_copied(padding_mode: str, length: Count, before: Any, after: Any) -> None:
    """Raise ``ShapeError`` where more is to be mirrored or continued than the axis holds."""
    widest = max((side for side in (before, after) if isinstance(side, int)), default=0)
    if not isinstance(length, int):
        return
    if padding_mode == "reflect" and widest >= length:
        message = f"a padding of {widest} mirrors more than there is; reflect padding must be smaller than the input, which has {length}."
        raise ShapeError(message)
    if padding_mode == "circular" and widest > length:
        message = f"a padding of {widest} goes around the {length} entries of the input more than once."
        raise ShapeError(message)


@dataclass(frozen=True)
class Spreading:
    """How a transposed convolution spreads its input; every setting has one entry per axis."""

    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    dilation: tuple[Dim, ...]
    padding: tuple[Count, ...] | str
    output_padding: tuple[Count | None, ...]
    groups: Dim
    dialect: Dialect

    @classmethod
    def of(
        cls,
        rank: int,
        kernel: Extents,
        stride: Extents,
        dilation: Extents,
        padding: Padding,
        output_padding: Margin | None,
        groups: Dim,
        dialect: Dialect,
    ) -> Spreading:
        """Read the settings as a layer takes them: one number stands for every axis."""
        margins = padding if isinstance(padding, str) else per_axis(padding, rank, "padding")
        settings = (per_axis(kernel, rank, "kernel_size"), per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation"))
        return cls(*settings, margins, per_axis(output_padding, rank, "output_padding"), groups, dialect)

    def over(self, axes: Axes) -> tuple[Count | None, ...]:
        """Return the extents that come out.

        Raises:
            ShapeError: an empty axis, an output padding that is smaller than neither stride nor dilation, more padding than output, or an
                empty output where torch's kernels refuse one.
        """
        if self.dialect != "torch" and isinstance(self.padding, str):
            return axes.each(self._by_word, self.kernel, self.stride, self.dilation, self.output_padding)
        if self.dialect == "flax":
            return axes.each(self._padded, self.kernel, self.stride, self.padding, self.dilation)
        margins = (0,) * len(self.kernel) if isinstance(self.padding, str) else self.padding
        if axes.batch != (0,):  # of an empty batch torch works out the shape alone
            not_empty(axes.extents, "the axes")
            self._check_output_padding()
        left = axes.each(self._along, self.kernel, self.stride, margins, self.dilation, self.output_padding)
        if 0 in left and not self._empty_allowed(axes):
            message = f"nothing of the output is left after padding; its extents are {text(left)}, and torch makes no empty ones here."
            raise ShapeError(message)
        return left

    def _along(self, length: Count, kernel: Dim, stride: Dim, margin: Count, dilation: Dim, extra: Count | None) -> Count:
        return spread(length, kernel, stride, canonical(2 * margin), dilation, extra or 0)

    def _padded(self, length: Count, kernel: Dim, stride: Dim, margin: Count, dilation: Dim) -> Count:
        """Flax pads the spread input instead of cutting the output."""
        return windows(canonical((length - 1) * stride + 1), kernel, 1, canonical(2 * margin), dilation)

    def _by_word(self, length: Count, kernel: Dim, stride: Dim, dilation: Dim, extra: Count | None) -> Count:
        not_empty((length,), "the axis")
        return spread_by_word(length, kernel, stride, str(self.padding), dilation, extra)

    def _check_output_padding(self) -> None:
        for extra, stride, dilation in zip(self.output_padding, self.stride, self.dilation, strict=True):
            if all(isinstance(value, int) for value in (extra, stride, dilation)) and not (extra < stride or extra < dilation):  # type: ignore[operator]
                message = f"output_padding {extra} must be smaller than the stride {stride} or the dilation {dilation}."
                raise ShapeError(message)

    def _empty_allowed(self, axes: Axes) -> bool:
        """Say whether torch returns an empty output: its oneDNN kernels do, its native ones refuse.

        Which of them a float32 call on a processor with several threads takes follows from its settings (``use_mkldnn`` in
        ``aten/src/ATen/native/Convolution.cpp``). Outputs of negative extent are refused by both, in different words.
        """
        batch = axes.batch[0] if axes.batch else 1
        if batch == 0:
            return True
        pairs = zip(self.output_padding, self.stride, strict=True)
        if any(isinstance(extra, int) and isinstance(step, int) and extra >= step for extra, step in pairs):
            return False
        kernel, extents = ((1, *values) if len(self.kernel) == 1 else values for values in (self.kernel, axes.extents))
        wide = all(isinstance(size, int) and size > 3 for size in kernel[-2:])
        known = (batch, axes.channels, *extents[:2])
        large = all(isinstance(size, int) for size in known) and prod(size for size in known if isinstance(size, int)) > 20480
        return self.groups != 1 or batch != 1 or wide or large


def shuffled(channels: Count | None, factor: Dim, what: str) -> Count | None:
    """Return channels over a factor, where they are known."""
    return None if channels is None else exactly(channels, factor, what)
