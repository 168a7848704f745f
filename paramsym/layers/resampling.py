"""Layers that move entries between resolution and channels, or make more of them. They store nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, TypeAlias

from paramsym.errors import ArgumentError
from paramsym.layer import Layer
from paramsym.layers.padding import DataFormat
from paramsym.layers.spatial import Extents, Margin
from paramsym.size import Dim

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
        if any(isinstance(factor, float) and not factor > 0 for factor in factors):
            message = f"scale_factor is {self.scale_factor}; wanted positive numbers."
            raise ArgumentError(message)


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


@dataclass(frozen=True)
class PixelUnshuffle(Layer):
    """Resolution turned into channels, the inverse of ``PixelShuffle``. Reference: ``torch.nn.PixelUnshuffle``.

    >>> PixelUnshuffle(2).params
    0
    """

    downscale_factor: Dim


@dataclass(frozen=True)
class ChannelShuffle(Layer):
    """Channels interleaved between groups (Zhang et al. 2018). Reference: ``torch.nn.ChannelShuffle``.

    >>> ChannelShuffle(2).params
    0
    """

    groups: Dim


@dataclass(frozen=True)
class Unfold(Layer):
    """Every window of an image written out as a column. Reference: ``torch.nn.Unfold``.

    >>> Unfold((2, 3)).params
    0
    """

    kernel_size: Extents
    dilation: Extents = 1
    padding: Margin = 0
    stride: Extents = 1


@dataclass(frozen=True)
class Fold(Layer):
    """Columns summed back into an image, the counterpart of ``Unfold``. Reference: ``torch.nn.Fold``.

    >>> Fold((4, 5), (2, 2)).params
    0
    """

    output_size: Extents
    kernel_size: Extents
    dilation: Extents = 1
    padding: Margin = 0
    stride: Extents = 1
