"""Pooling: one number for each window, or for each channel. It stores nothing.

``stride=None`` is the window itself. Keras' ``padding="valid"`` and ``"same"`` are taken where torch takes numbers; ``data_format`` says
where the channels stand.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypeAlias

from paramsym.errors import ArgumentError, SizeError
from paramsym.layer import Layer
from paramsym.layers.padding import DataFormat
from paramsym.layers.spatial import Extents, Margin, per_axis
from paramsym.size import Dim

Padding: TypeAlias = Margin | Literal["valid", "same"]
"""Numbers as in torch, or one of Keras' words."""
Target: TypeAlias = Dim | tuple[Dim | None, ...] | None
"""One extent for every spatial axis, or one per axis; None keeps the input's."""


def check_padding(padding: Padding, kernel_size: Extents, rank: int) -> None:
    """Raise ``SizeError`` where padding is more than half of a window, its dilation aside, which torch refuses when the layer is called."""
    kernels = per_axis(kernel_size, rank, "kernel_size")
    if isinstance(padding, str):
        return
    for margin, kernel in zip(per_axis(padding, rank, "padding"), kernels, strict=True):
        if isinstance(margin, int) and isinstance(kernel, int) and 2 * margin > kernel:
            message = f"padding {margin} is more than half of the kernel size {kernel}."
            raise SizeError(message)


class _Pool(Layer):
    """What pooling by windows shares."""

    rank: ClassVar[int]

    kernel_size: Extents
    stride: Extents | None
    padding: Padding

    def conditions(self) -> None:
        """There is one number per axis, and padding is at most half of a window."""
        check_padding(self.padding, self.kernel_size, self.rank)
        per_axis(self.stride, self.rank, "stride")


class _MaxPool(Layer):
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
class AvgPool3d(_Pool):
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


class _LPPool(Layer):
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
class LPPool3d(_LPPool):
    """The p-norm of each window of a volume, p being ``norm_type``. Reference: ``torch.nn.LPPool3d``.

    >>> LPPool3d(2, 3).params
    0
    """

    rank = 3

    norm_type: float
    kernel_size: Extents
    stride: Extents | None = None
    ceil_mode: bool = False


class _FractionalMaxPool(Layer):
    """What fractional pooling shares."""

    rank: ClassVar[int]

    kernel_size: Extents
    output_size: Extents | None
    output_ratio: float | tuple[float, ...] | None

    def conditions(self) -> None:
        """The output is given by its size or by its ratio to the input."""
        per_axis(self.kernel_size, self.rank, "kernel_size")
        per_axis(self.output_size, self.rank, "output_size")
        if (self.output_size is None) == (self.output_ratio is None):
            message = f"output_size is {self.output_size} and output_ratio {self.output_ratio}; wanted exactly one of them."
            raise ArgumentError(message)
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in per_axis(self.output_ratio, self.rank, "output_ratio")):
            message = f"output_ratio is {self.output_ratio}; a ratio is between 0 and 1."
            raise ArgumentError(message)


@dataclass(frozen=True)
class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest entry of windows that tile an image in random steps (Graham 2014). Reference: ``torch.nn.FractionalMaxPool2d``.

    Raises:
        ArgumentError: both or neither of size and ratio, or a ratio outside 0 to 1.

    >>> FractionalMaxPool2d(3, output_ratio=0.5).params
    0
    """

    rank = 2

    kernel_size: Extents
    output_size: Extents | None = None
    output_ratio: float | tuple[float, ...] | None = None
    return_indices: bool = False


@dataclass(frozen=True)
class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest entry of windows that tile a volume in random steps. Reference: ``torch.nn.FractionalMaxPool3d``.

    Raises:
        ArgumentError: both or neither of size and ratio, or a ratio outside 0 to 1.

    >>> FractionalMaxPool3d(3, output_size=4).params
    0
    """

    rank = 3

    kernel_size: Extents
    output_size: Extents | None = None
    output_ratio: float | tuple[float, ...] | None = None
    return_indices: bool = False


class _MaxUnpool(Layer):
    """What undoing a pooling by maximum shares."""

    rank: ClassVar[int]

    kernel_size: Extents
    stride: Extents | None
    padding: Margin

    def conditions(self) -> None:
        """There is one number per axis."""
        per_axis(self.kernel_size, self.rank, "kernel_size")
        per_axis(self.stride, self.rank, "stride")
        per_axis(self.padding, self.rank, "padding")


@dataclass(frozen=True)
class MaxUnpool1d(_MaxUnpool):
    """The maxima of a sequence put back in their places, zeros elsewhere. Reference: ``torch.nn.MaxUnpool1d``.

    >>> MaxUnpool1d(2).params
    0
    """

    rank = 1

    kernel_size: Extents
    stride: Extents | None = None
    padding: Margin = 0


@dataclass(frozen=True)
class MaxUnpool2d(_MaxUnpool):
    """The maxima of an image put back in their places, zeros elsewhere. Reference: ``torch.nn.MaxUnpool2d``.

    >>> MaxUnpool2d(2).params
    0
    """

    rank = 2

    kernel_size: Extents
    stride: Extents | None = None
    padding: Margin = 0


@dataclass(frozen=True)
class MaxUnpool3d(_MaxUnpool):
    """The maxima of a volume put back in their places, zeros elsewhere. Reference: ``torch.nn.MaxUnpool3d``.

    >>> MaxUnpool3d(2).params
    0
    """

    rank = 3

    kernel_size: Extents
    stride: Extents | None = None
    padding: Margin = 0


class _AdaptivePool(Layer):
    """What pooling to a wanted extent shares."""

    rank: ClassVar[int]

    output_size: Target

    def conditions(self) -> None:
        """There is one extent per axis."""
        per_axis(self.output_size, self.rank, "output_size")


@dataclass(frozen=True)
class AdaptiveAvgPool1d(_AdaptivePool):
    """Means over as many windows of a sequence as are wanted. Reference: ``torch.nn.AdaptiveAvgPool1d``.

    >>> AdaptiveAvgPool1d(1).params
    0
    """

    rank = 1

    output_size: Target
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class AdaptiveAvgPool2d(_AdaptivePool):
    """Means over as many windows of an image as are wanted. Reference: ``torch.nn.AdaptiveAvgPool2d``.

    >>> AdaptiveAvgPool2d((None, 7)).params
    0
    """

    rank = 2

    output_size: Target
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class AdaptiveAvgPool3d(_AdaptivePool):
    """Means over as many windows of a volume as are wanted. Reference: ``torch.nn.AdaptiveAvgPool3d``.

    >>> AdaptiveAvgPool3d(1).params
    0
    """

    rank = 3

    output_size: Target
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class AdaptiveMaxPool1d(_AdaptivePool):
    """Maxima over as many windows of a sequence as are wanted. Reference: ``torch.nn.AdaptiveMaxPool1d``.

    >>> AdaptiveMaxPool1d(1).params
    0
    """

    rank = 1

    output_size: Target
    return_indices: bool = False
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class AdaptiveMaxPool2d(_AdaptivePool):
    """Maxima over as many windows of an image as are wanted. Reference: ``torch.nn.AdaptiveMaxPool2d``.

    >>> AdaptiveMaxPool2d(1).params
    0
    """

    rank = 2

    output_size: Target
    return_indices: bool = False
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class AdaptiveMaxPool3d(_AdaptivePool):
    """Maxima over as many windows of a volume as are wanted. Reference: ``torch.nn.AdaptiveMaxPool3d``.

    >>> AdaptiveMaxPool3d(1).params
    0
    """

    rank = 3

    output_size: Target
    return_indices: bool = False
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class GlobalAvgPool(Layer):
    """The mean of each channel over everything spatial; the spatial axes go, or stay as 1 with ``keepdims``.

    Reference: Keras ``GlobalAveragePooling1D`` to ``GlobalAveragePooling3D``.

    >>> GlobalAvgPool(2).params
    0
    """

    rank: Dim
    keepdims: bool = False
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class GlobalMaxPool(Layer):
    """The maximum of each channel over everything spatial; the spatial axes go, or stay as 1 with ``keepdims``.

    Reference: Keras ``GlobalMaxPooling1D`` to ``GlobalMaxPooling3D``.

    >>> GlobalMaxPool(2).params
    0
    """

    rank: Dim
    keepdims: bool = False
    data_format: DataFormat = "channels_first"
