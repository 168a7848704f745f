"""Output shapes of convolutions and transposed convolutions in torch, Keras and Flax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Max, Mod

from paramsym.algebra.convolution import effective_kernel, over, transposed_length, transposed_length_by_word, up_over, window_count
from paramsym.algebra.size import Count, Dim, canonical, within
from paramsym.errors import ShapeError
from paramsym.layers.axes import DataFormat, not_empty
from paramsym.layers.dialects import Dialect
from paramsym.layers.spatial import Extents, Margin, Padding, PaddingMode, per_axis
from paramsym.program import Value, convolve, convolve_transposed, pad, rearrange, reduce
from paramsym.program.lengths import along_each


def data_format_of(data_format: DataFormat | None, dialect: str) -> DataFormat:
    """Return the axis of the channels: first in torch, by default last in Keras and Flax."""
    if data_format is not None:
        return data_format
    return "channels_first" if dialect == "torch" else "channels_last"


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
        if self.padding == "same" and self.padding_mode == "zeros":
            margins = self._margins() if self.dialect == "torch" else ()
            if any(isinstance(after, int) and before != after for before, after in margins):
                x = pad(x, tuple((0, canonical(after - before)) for before, after in margins))  # a copy, which torch keeps
                return convolve(x, kernel, self.stride, tuple((before, before) for before, _ in margins), self.dilation, groups)
            return convolve(x, kernel, self.stride, "same", self.dilation, groups)
        margins = self._margins()
        if self.padding_mode == "zeros":
            return convolve(x, kernel, self.stride, margins, self.dilation, groups)
        if self.dialect == "torch":  # Flax repeats an input several times if necessary
            check_copied(self.padding_mode, x.sizes[2:], margins)
        padded = pad(x, margins, self.padding_mode)
        return convolve(padded, kernel, self.stride, ((0, 0),) * len(margins), self.dilation, groups)

    def _margins(self) -> tuple[tuple[Count, Count], ...]:
        """Return the padding before and after every axis."""
        if not isinstance(self.padding, str):
            return tuple([(margin, margin) for margin in self.padding])
        if self.padding not in {"causal", "same"}:
            return ((0, 0),) * len(self.kernel)
        totals = tuple(canonical(effective_kernel(kernel, spacing) - 1) for kernel, spacing in zip(self.kernel, self.dilation, strict=True))
        if self.padding == "causal":
            return tuple((total, 0) for total in totals)
        return tuple((over(total, 2), canonical(total - over(total, 2))) for total in totals)


def check_copied(padding_mode: str, extents: Sequence[Count], margins: Sequence[tuple[Any, Any]]) -> None:
    """Raise ``ShapeError`` for a reflection or a circular padding by more than an axis has."""
    for length, sides in zip(extents, margins, strict=True):
        widest = max((side for side in sides if isinstance(side, int)), default=0)
        if padding_mode == "reflect" and not within(widest + 1, length):
            message = f"a padding of {widest} mirrors too much; reflect padding must be smaller than the input, which has {length}."
            raise ShapeError(message)
        if padding_mode == "circular" and not within(widest, length):
            message = f"a padding of {widest} goes around the {length} entries of the input more than once."
            raise ShapeError(message)


@dataclass(frozen=True)
class Spreading:
    """The settings of a transposed convolution, with one entry per spatial axis."""

    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    dilation: tuple[Dim, ...]
    padding: tuple[Count, ...] | str
    output_padding: tuple[Count | None, ...]
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
        dialect: Dialect,
    ) -> Spreading:
        """Read the settings of a layer, in which one number applies to every axis."""
        margins = padding if isinstance(padding, str) else per_axis(padding, rank, "padding")
        settings = (per_axis(kernel, rank, "kernel_size"), per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation"))
        return cls(*settings, margins, per_axis(output_padding, rank, "output_padding"), dialect)

    def convolve(self, x: Value, kernel: Value, groups: Dim = 1) -> Value:
        """Spread (batch, in, *spatial) by a kernel (in, out/groups, *extents).

        Raises:
            ShapeError: an empty axis, an output padding that is smaller than neither stride nor dilation, or more padding than output.
        """
        if x.sizes[0] != 0 or self.dialect != "torch":  # torch takes an empty batch with any other axes
            not_empty(x.sizes[2:], "the axes")
            self._check_output_padding()
        spread_over = self._by_word if isinstance(self.padding, str) else self._by_number
        margins = self.padding if isinstance(self.padding, tuple) else (self.padding,) * len(self.kernel)
        settings = (self.kernel, self.stride, self.dilation, margins, self.output_padding)
        lengths = along_each(lambda *given: spread_over(*given)[0], x.sizes[2:], *settings)
        before = tuple(spread_over(*given)[1] for given in zip(x.sizes[2:], *settings, strict=True))
        return convolve_transposed(x, kernel, self.stride, before, self.dilation, lengths, groups)

    def around(self, x: Value, kernel: Value, *, odd_before: bool) -> Value:
        """The same on circles, each ``stride`` times as long as the axis: entries beyond the end continue at the start, as in Flax."""
        circles = [canonical(length * stride) for length, stride in zip(x.sizes[2:], self.stride, strict=True)]
        y = self.convolve(x, kernel)
        for axis, (length, circle) in enumerate(zip(y.sizes[2:], circles, strict=True), 2):
            y = wrapped(y, axis, canonical(length - circle), circle, odd_before=odd_before)
        return y

    def _by_number(self, length: Count, kernel: Dim, stride: Dim, dilation: Dim, margin: Count, extra: Count | None) -> tuple[Count, Count]:
        """Return the output length and the entries cut off in front; Flax pads the spread input instead of cutting the output."""
        if self.dialect != "flax":
            return transposed_length(length, kernel, stride, canonical(2 * margin), dilation, extra or 0), margin
        total = canonical(2 * margin)
        before = canonical(effective_kernel(kernel, dilation) - 1 - margin)
        return window_count(canonical((length - 1) * stride + 1), kernel, 1, total, dilation), before

    def _by_word(self, length: Count, kernel: Dim, stride: Dim, dilation: Dim, word: str, extra: Count | None) -> tuple[Count, Count]:
        """Return the output length and the entries cut off in front (``keras.src.backend.common.backend_utils``)."""
        if word != "same":
            return transposed_length_by_word(length, kernel, stride, word, dilation, extra), 0
        width = effective_kernel(kernel, dilation)
        odd = width % 2 if isinstance(width, int) else Mod(width, 2)
        pads = stride + width - 2 if extra is None else width + odd - 2 + extra
        before = canonical(width - 1 - up_over(canonical(pads), 2))
        before = max(before, 0) if isinstance(before, int) else Max(before, 0)
        return transposed_length_by_word(length, kernel, stride, word, dilation, extra), before

    def _check_output_padding(self) -> None:
        for extra, stride, dilation in zip(self.output_padding, self.stride, self.dilation, strict=True):
            known = self.dialect == "torch" and all(isinstance(value, int) for value in (extra, stride, dilation))
            if known and not (extra < stride or extra < dilation):  # type: ignore[operator]
                message = f"output_padding {extra} must be smaller than the stride {stride} or the dilation {dilation}."
                raise ShapeError(message)


def wrapped(y: Value, axis: int, beyond: Count, circle: Dim, *, odd_before: bool) -> Value:
    """Add up an axis, ``beyond`` entries longer than a circle, around the circle; entries before its middle are in reverse order."""
    twice = canonical(2 * circle)
    short = -beyond % twice if isinstance(beyond, int) and isinstance(twice, int) else Mod(-beyond, twice)
    half = over(short, 2)
    rest = canonical(short - half)
    none = [(0, 0)] * (y.rank - axis - 1)
    y = pad(y, [(rest, half) if odd_before else (half, rest), *none])
    names = [f"a{n}" for n in range(y.rank)]
    left, right = " ".join(names[:axis]), " ".join(names[axis + 1 :])
    return reduce("sum", rearrange(y, f"{left} (rounds circle) {right} -> {left} rounds circle {right}", circle=circle), axis)
