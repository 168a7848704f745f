"""Pooling: one number for each window. It stores nothing.

``stride=None`` is the window itself. Keras' ``padding="valid"`` and ``"same"`` are taken where torch takes numbers; ``data_format`` says
where the channels stand.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypeAlias

from paramsym.errors import ShapeError, SizeError
from paramsym.extents import View, reach, same, windows, windows_ceil
from paramsym.layers.axes import Axes, DataFormat, Spatial, not_empty, take_apart
from paramsym.layers.spatial import Extents, Margin, per_axis
from paramsym.size import Count, Dim, Shape, canonical, within

Padding: TypeAlias = Margin | Literal["valid", "same"]
"""Numbers as in torch, or one of Keras' words."""


def check_padding(padding: Padding, kernel_size: Extents, rank: int) -> None:
    """Raise ``SizeError`` where padding is more than half of a window, its dilation aside, which torch refuses when the layer is called."""
    kernels = per_axis(kernel_size, rank, "kernel_size")
    if isinstance(padding, str):
        return
    for margin, kernel in zip(per_axis(padding, rank, "padding"), kernels, strict=True):
        if not within(2 * margin, kernel):
            message = f"padding {margin} is more than half of the kernel size {kernel}."
            raise SizeError(message)


class _Windows(Spatial):
    """What every pooling by windows shares: places, as torch counts them with numbers for the padding, or Keras with words."""

    rank: ClassVar[int]

    def output_shape(self, input_shape: Shape) -> Shape:
        """One entry for each place of the window; the channels are kept."""
        axes = take_apart(input_shape, self.rank, getattr(self, "data_format", "channels_first"), batched=self._batched)
        not_empty((axes.channels, *axes.extents), "the axes")
        return axes.giving(self._places(axes))

    def views(self) -> tuple[View, ...]:
        """The window with its gaps, moved on by the stride."""
        return tuple(View(reach(kernel, gap), step) for kernel, step, _, gap in zip(*self._settings, strict=True))

    @property
    def _batched(self) -> bool | None:
        return True if isinstance(getattr(self, "padding", 0), str) else None

    @property
    def _settings(self) -> tuple[tuple[Dim, ...], tuple[Dim, ...], tuple[Count | str, ...], tuple[Dim, ...]]:
        """Kernel, stride, padding and dilation, one entry per axis."""
        kernel = per_axis(self.kernel_size, self.rank, "kernel_size")  # type: ignore[attr-defined]
        stride = kernel if self.stride is None else per_axis(self.stride, self.rank, "stride")  # type: ignore[attr-defined]
        padding = per_axis(getattr(self, "padding", 0), self.rank, "padding")
        return kernel, stride, padding, per_axis(getattr(self, "dilation", 1), self.rank, "dilation")

    def _places(self, axes: Axes) -> tuple[Count | None, ...]:
        return axes.each(self._along, *self._settings)

    def _along(self, length: Count, kernel: Dim, stride: Dim, padding: Count | str, dilation: Dim) -> Count:
        if padding == "same":
            return same(length, stride)
        margin = 0 if isinstance(padding, str) else padding
        if getattr(self, "ceil_mode", False):
            return windows_ceil(length, kernel, stride, margin, dilation)
        return windows(length, kernel, stride, canonical(2 * margin), dilation)


class _WholeWindows(_Windows):
    """Means over volumes: torch wants the input, without its padding, to be as large as the window."""

    def _places(self, axes: Axes) -> tuple[Count | None, ...]:
        kernel, stride, padding, _ = self._settings
        padded = isinstance(padding[0], str) and padding[0] == "same" and not _even_on_both_sides(axes, kernel, stride)
        for length, size in zip(axes.extents, kernel, strict=True):
            if isinstance(length, int) and isinstance(size, int) and length < size and not padded:
                message = f"the input {axes.extents} is smaller than the window {kernel}; padding does not count here."
                raise ShapeError(message)
        return super()._places(axes)


def _even_on_both_sides(axes: Axes, kernel: tuple[Dim, ...], stride: tuple[Dim, ...]) -> bool:
    """Say whether padding "same" is the same before and after on every axis; Keras on torch then leaves it to torch, else pads itself."""
    for length, size, step in zip(axes.extents, kernel, stride, strict=True):
        if isinstance(length, int) and isinstance(size, int) and isinstance(step, int):
            total = size - 1 if step == 1 else max(0, (same(length, step) - 1) * step + size - length)
            if total % 2:
                return False
    return True


class _Pool(_Windows):
    """What pooling by windows shares."""

    rank: ClassVar[int]

    kernel_size: Extents
    stride: Extents | None
    padding: Padding

    def conditions(self) -> None:
        """There is one number per axis, and padding is at most half of a window."""
        check_padding(self.padding, self.kernel_size, self.rank)
        per_axis(self.stride, self.rank, "stride")


class _MaxPool(_Windows):
    """What pooling by maximum shares."""

    rank: ClassVar[int]

    kernel_size: Extents
    stride: Extents | None
    padding: Padding
    dilation: Extents

    def conditions(self) -> None:
        """There is one number per axis, and padding is at most half of a window."""
        check_padding(self.padding, self.kernel_size, self.rank)
        per_axis(self.stride, self.rank, "stride")
        per_axis(self.dilation, self.rank, "dilation")


@dataclass(frozen=True)
class MaxPool1d(_MaxPool):
    """The largest entry of each window of a sequence. Reference: ``torch.nn.MaxPool1d``; Keras: ``MaxPooling1D``.

    Raises:
        ArgumentError: a tuple that has not one entry per spatial axis; likewise for the others below.
        SizeError: padding of more than half of a window, which torch refuses when the layer is called; likewise.

    >>> MaxPool1d(2).params
    0
    """

    rank = 1

    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    dilation: Extents = 1
    return_indices: bool = False
    ceil_mode: bool = False
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class MaxPool2d(_MaxPool):
    """The largest entry of each window of an image. Reference: ``torch.nn.MaxPool2d``; Keras: ``MaxPooling2D``.

    >>> MaxPool2d(3, stride=2, padding=1).params
    0
    """

    rank = 2

    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    dilation: Extents = 1
    return_indices: bool = False
    ceil_mode: bool = False
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class MaxPool3d(_MaxPool):
    """The largest entry of each window of a volume. Reference: ``torch.nn.MaxPool3d``; Keras: ``MaxPooling3D``.

    >>> MaxPool3d(2).params
    0
    """

    rank = 3

    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    dilation: Extents = 1
    return_indices: bool = False
    ceil_mode: bool = False
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class AvgPool1d(_Pool):
    """The mean of each window of a sequence. Reference: ``torch.nn.AvgPool1d``; Keras: ``AveragePooling1D``.

    >>> AvgPool1d(2).params
    0
    """

    rank = 1

    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class AvgPool2d(_Pool):
    """The mean of each window of an image. Reference: ``torch.nn.AvgPool2d``; Keras: ``AveragePooling2D``.

    >>> AvgPool2d(2).params
    0
    """

    rank = 2

    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class AvgPool3d(_Pool, _WholeWindows):
    """The mean of each window of a volume. Reference: ``torch.nn.AvgPool3d``; Keras: ``AveragePooling3D``.

    >>> AvgPool3d(2).params
    0
    """

    rank = 3

    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


class _LPPool(_Windows):
    """What pooling by a power mean shares."""

    rank: ClassVar[int]

    norm_type: float
    kernel_size: Extents
    stride: Extents | None

    def conditions(self) -> None:
        """There is one number per axis."""
        per_axis(self.kernel_size, self.rank, "kernel_size")
        per_axis(self.stride, self.rank, "stride")


@dataclass(frozen=True)
class LPPool1d(_LPPool):
    """The p-norm of each window of a sequence, p being ``norm_type``. Reference: ``torch.nn.LPPool1d``.

    >>> LPPool1d(2, 3).params
    0
    """

    rank = 1

    norm_type: float
    kernel_size: Extents
    stride: Extents | None = None
    ceil_mode: bool = False


@dataclass(frozen=True)
class LPPool2d(_LPPool):
    """The p-norm of each window of an image, p being ``norm_type``. Reference: ``torch.nn.LPPool2d``.

    >>> LPPool2d(2, 3).params
    0
    """

    rank = 2

    norm_type: float
    kernel_size: Extents
    stride: Extents | None = None
    ceil_mode: bool = False


@dataclass(frozen=True)
class LPPool3d(_LPPool, _WholeWindows):
    """The p-norm of each window of a volume, p being ``norm_type``. Reference: ``torch.nn.LPPool3d``.

    >>> LPPool3d(2, 3).params
    0
    """

    rank = 3

    norm_type: float
    kernel_size: Extents
    stride: Extents | None = None
    ceil_mode: bool = False
