"""Pooling to a wanted extent, or to one number for each channel, whatever arrives. It stores nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, TypeAlias

from paramsym.errors import ArgumentError, ShapeError
from paramsym.layer import Layer
from paramsym.layers.axes import DataFormat, Spatial, not_empty, take_apart
from paramsym.layers.spatial import per_axis
from paramsym.size import Dim, Shape, within

Target: TypeAlias = Dim | tuple[Dim | None, ...] | None
"""One extent for every spatial axis, or one per axis; None keeps the input's."""


class _AdaptivePool(Spatial):
    """What pooling to a wanted extent shares."""

    rank: ClassVar[int]

    output_size: Target

    def conditions(self) -> None:
        """There is one extent per axis."""
        per_axis(self.output_size, self.rank, "output_size")

    @property
    def gathers(self) -> bool:
        """Pooling to one number makes one of all places."""
        return all(extent == 1 for extent in per_axis(self.output_size, self.rank, "output_size"))

    def output_shape(self, input_shape: Shape) -> Shape:
        """The extents that are wanted; None keeps the input's."""
        axes = take_apart(input_shape, self.rank, getattr(self, "data_format", "channels_first"))
        wanted = per_axis(self.output_size, self.rank, "output_size")
        left = tuple(length if size is None else size for length, size in zip(axes.extents, wanted, strict=True))
        if isinstance(self, AdaptiveMaxPool1d | AdaptiveMaxPool2d | AdaptiveMaxPool3d):
            not_empty((axes.channels, *axes.extents), "the axes")
        elif any(extent != 1 for extent in left):  # the mean of nothing is taken where one number is wanted
            not_empty(axes.extents, "the axes")
        return axes.giving(left)


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


class _GlobalPool(Layer):
    """What pooling over everything spatial shares."""

    rank: Dim
    keepdims: bool
    data_format: DataFormat

    def conditions(self) -> None:
        """There are one, two or three spatial axes."""
        if not within(self.rank, 3):
            message = f"rank is {self.rank}; wanted 1, 2 or 3, the number of spatial axes."
            raise ArgumentError(message)

    @property
    def gathers(self) -> bool:
        """It makes one of all places."""
        return True

    def output_shape(self, input_shape: Shape) -> Shape:
        """Batch and channels, and between or after them 1 for every spatial axis with ``keepdims``."""
        if not isinstance(self.rank, int):
            message = f"the number of spatial axes is {self.rank}; it must be known."
            raise ShapeError(message)
        rank = self.rank
        axes = take_apart(input_shape, rank, self.data_format, batched=True)
        return axes.giving((1,) * rank if self.keepdims else ())


@dataclass(frozen=True)
class GlobalAvgPool(_GlobalPool):
    """The mean of each channel over everything spatial; the spatial axes go, or stay as 1 with ``keepdims``.

    Reference: Keras ``GlobalAveragePooling1D`` to ``GlobalAveragePooling3D``.

    >>> GlobalAvgPool(2).params
    0
    """

    rank: Dim
    keepdims: bool = False
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class GlobalMaxPool(_GlobalPool):
    """The maximum of each channel over everything spatial; the spatial axes go, or stay as 1 with ``keepdims``.

    Reference: Keras ``GlobalMaxPooling1D`` to ``GlobalMaxPooling3D``.

    >>> GlobalMaxPool(2).params
    0
    """

    rank: Dim
    keepdims: bool = False
    data_format: DataFormat = "channels_first"
