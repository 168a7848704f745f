"""Layers that move entries between resolution and channels, or make more of them. They store nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Literal, TypeAlias, cast

from paramsym.errors import ArgumentError, ShapeError
from paramsym.extents import differ, exactly, scaled, windows
from paramsym.layer import Layer
from paramsym.layers.axes import Axes, DataFormat, not_empty, take_apart
from paramsym.layers.spatial import Extents, Margin, per_axis
from paramsym.size import Count, Dim, Shape, canonical, product, text

Factors: TypeAlias = Dim | float | tuple[Dim | float, ...]
"""By how much each spatial axis grows: whole numbers stay exact, torch also takes fractions."""


class _Upsample(Layer):
    """What upsampling shares: a target, or factors."""

    size: Extents | None
    scale_factor: Factors | None

    def conditions(self) -> None:
        """The output is given by its size or by factors that are positive."""
        if (self.size is None) == (self.scale_factor is None):
            message = f"size is {self.size} and scale_factor {self.scale_factor}; wanted exactly one of them."
            raise ArgumentError(message)
        factors = self.scale_factor if isinstance(self.scale_factor, tuple) else (self.scale_factor,)
        if any(isinstance(factor, float) and not 0 < factor < inf for factor in factors):
            message = f"scale_factor is {self.scale_factor}; wanted positive numbers."
            raise ArgumentError(message)

    def output_shape(self, input_shape: Shape) -> Shape:
        """Batch and channels are kept; each spatial axis takes the size that is wanted, or grows by its factor, rounded down."""
        rank = len(input_shape) - 2
        mode, allowed = getattr(self, "mode", "nearest"), _RANKS.get(getattr(self, "mode", "nearest"), (1, 2, 3))
        if rank not in allowed:
            wanted = " or ".join(str(known + 2) for known in allowed)
            message = f"mode {mode!r} wants {wanted} axes, batch and channels included; found {len(input_shape)}, {text(input_shape)}."
            raise ShapeError(message)
        if getattr(self, "align_corners", None) is not None and mode not in _INTERPOLATING:
            message = f"align_corners is {getattr(self, 'align_corners', None)}, which mode {mode!r} does not have."
            raise ShapeError(message)
        axes = take_apart(input_shape, rank, getattr(self, "data_format", "channels_first"))
        not_empty((axes.channels, *axes.extents), "the axes")
        given = self.scale_factor if self.size is None else self.size
        if isinstance(given, tuple) and len(given) != rank:
            message = f"{given} is for {len(given)} spatial axes; {text(input_shape)} has {rank}."
            raise ShapeError(message)
        left = axes.each(self._along, given if isinstance(given, tuple) else (given,) * rank)
        if mode != "area":  # which is a mean over windows, and those may be none
            not_empty(left, "the output")
        return axes.giving(left)

    def _along(self, length: Count, given: Dim | float) -> Count:
        return scaled(length, given, "scale_factor") if self.size is None else cast("Dim", given)


_RANKS = {"linear": (1,), "bilinear": (2,), "bicubic": (2,), "lanczos3": (2,), "lanczos5": (2,), "trilinear": (3,)}
_INTERPOLATING = {"linear", "bilinear", "bicubic", "trilinear", "lanczos3", "lanczos5"}
"""The modes that torch ties to a number of spatial axes, and those that can align corners."""


@dataclass(frozen=True)
class Upsample(_Upsample):
    """Interpolation to ``size``, or by ``scale_factor``. Reference: ``torch.nn.Upsample``; Keras: ``UpSampling1D`` to ``UpSampling3D``.

    Raises:
        ArgumentError: both or neither of size and factor, or an unknown mode.

    >>> Upsample(scale_factor=2, mode="bilinear").params
    0
    """

    size: Extents | None = None
    scale_factor: Factors | None = None
    mode: Literal["nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact", "lanczos3", "lanczos5"] = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None
    _: KW_ONLY
    data_format: DataFormat = "channels_first"


@dataclass(frozen=True)
class UpsamplingNearest2d(_Upsample):
    """An image enlarged by its nearest entries. Reference: ``torch.nn.UpsamplingNearest2d``.

    Raises:
        ArgumentError: both or neither of size and factor.

    >>> UpsamplingNearest2d(scale_factor=2).params
    0
    """

    size: Extents | None = None
    scale_factor: Factors | None = None


@dataclass(frozen=True)
class UpsamplingBilinear2d(_Upsample):
    """An image enlarged by interpolation. Reference: ``torch.nn.UpsamplingBilinear2d``.

    Raises:
        ArgumentError: both or neither of size and factor.

    >>> UpsamplingBilinear2d(size=(32, 32)).params
    0
    """

    size: Extents | None = None
    scale_factor: Factors | None = None


@dataclass(frozen=True)
class PixelShuffle(Layer):
    """Channels turned into resolution: (C*r**2, H, W) to (C, H*r, W*r) (Shi et al. 2016). Reference: ``torch.nn.PixelShuffle``.

    >>> PixelShuffle(2).params
    0
    """

    upscale_factor: Dim

    def output_shape(self, input_shape: Shape) -> Shape:
        """The channels fall by the factor's square, height and width rise by the factor; any axes may stand in front."""
        lead, channels, extents = _image(input_shape)
        fewer = None if channels is None else exactly(channels, canonical(self.upscale_factor**2), "the channels")
        return (*lead, fewer, *(None if length is None else canonical(length * self.upscale_factor) for length in extents))


@dataclass(frozen=True)
class PixelUnshuffle(Layer):
    """Resolution turned into channels, the inverse of ``PixelShuffle``. Reference: ``torch.nn.PixelUnshuffle``.

    >>> PixelUnshuffle(2).params
    0
    """

    downscale_factor: Dim

    def output_shape(self, input_shape: Shape) -> Shape:
        """Height and width fall by the factor, the channels rise by its square."""
        lead, channels, extents = _image(input_shape)
        more = None if channels is None else canonical(channels * self.downscale_factor**2)
        return (*lead, more, *(None if length is None else exactly(length, self.downscale_factor, "the entries") for length in extents))


@dataclass(frozen=True)
class ChannelShuffle(Layer):
    """Channels interleaved between groups (Zhang et al. 2018). Reference: ``torch.nn.ChannelShuffle``.

    >>> ChannelShuffle(2).params
    0
    """

    groups: Dim

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape; the groups must divide the channels."""
        if len(input_shape) < 3:
            message = f"wanted at least 3 axes, (batch, channels, ...); found {len(input_shape)}, {text(input_shape)}."
            raise ShapeError(message)
        if input_shape[1] is not None:
            exactly(input_shape[1], self.groups, "the channels")
        return input_shape


def _image(input_shape: Shape) -> tuple[Shape, Count | None, tuple[Count | None, ...]]:
    """Take the last three axes for channels, height and width."""
    if len(input_shape) < 3:
        message = f"wanted at least 3 axes, (..., channels, height, width); found {len(input_shape)}, {text(input_shape)}."
        raise ShapeError(message)
    return input_shape[:-3], input_shape[-3], input_shape[-2:]


class _Columns(Layer):
    """What windows as columns share."""

    kernel_size: Extents
    dilation: Extents
    padding: Margin
    stride: Extents

    def conditions(self) -> None:
        """There is one number per axis."""
        for name in ("kernel_size", "dilation", "padding", "stride"):
            per_axis(getattr(self, name), 2, name)

    def _blocks(self, extents: tuple[Count | None, ...]) -> Count | None:
        """Return at how many places the window stands."""
        names = ("kernel_size", "stride", "padding", "dilation")
        kernel, stride, padding, dilation = (per_axis(getattr(self, name), 2, name) for name in names)
        both = tuple(canonical(2 * side) for side in padding)
        places = Axes((), None, extents).each(windows, kernel, stride, both, dilation)
        return None if None in places else product(places)

    @property
    def _window(self) -> Count:
        return product(per_axis(self.kernel_size, 2, "kernel_size"))


@dataclass(frozen=True)
class Unfold(_Columns):
    """Every window of an image written out as a column. Reference: ``torch.nn.Unfold``.

    >>> Unfold((2, 3)).params
    0
    """

    kernel_size: Extents
    dilation: Extents = 1
    padding: Margin = 0
    stride: Extents = 1

    def output_shape(self, input_shape: Shape) -> Shape:
        """(batch, channels*window, places); the batch axis may be missing."""
        axes = take_apart(input_shape, 2)
        not_empty((axes.channels, *axes.extents), "the axes")
        rows = None if axes.channels is None else canonical(axes.channels * self._window)
        return (*axes.batch, rows, self._blocks(axes.extents))


@dataclass(frozen=True)
class Fold(_Columns):
    """Columns summed back into an image, the counterpart of ``Unfold``. Reference: ``torch.nn.Fold``.

    >>> Fold((4, 5), (2, 2)).params
    0
    """

    output_size: Extents
    kernel_size: Extents
    dilation: Extents = 1
    padding: Margin = 0
    stride: Extents = 1

    def output_shape(self, input_shape: Shape) -> Shape:
        """(batch, channels, height, width) from (batch, channels*window, places); the batch axis may be missing."""
        axes = take_apart(input_shape, 1)
        not_empty((axes.channels, *axes.extents), "the axes")
        size, places = per_axis(self.output_size, 2, "output_size"), axes.extents[0]
        wanted = self._blocks(size)
        if differ(places, wanted):
            message = f"{places} columns do not fold into {text(size)}, which takes {wanted}."
            raise ShapeError(message)
        channels = None if axes.channels is None else exactly(axes.channels, self._window, "the rows")
        return (*axes.batch, channels, *size)
