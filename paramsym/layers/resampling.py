"""Layers that move entries between resolution and channels, or enlarge the input. They store nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Any, Literal, TypeAlias, cast

from paramsym.algebra.convolution import differ, exactly, scaled_length
from paramsym.algebra.size import Dim, canonical, product, text
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, RankError, ShapeError
from paramsym.layers.axes import DataFormat, named, not_empty, spatial
from paramsym.layers.spatial import Extents, Margin, per_axis
from paramsym.program import Own, Value, fold, pool_to, rearrange, resample, unfold
from paramsym.program.lengths import along_each, lengths

Factors: TypeAlias = Dim | float | tuple[Dim | float, ...]
"""The factors of the spatial axes: whole numbers are exact, torch also takes fractions."""


@dataclass(frozen=True)
class _Upsample(Layer):
    """The common base of upsampling: a target size, or factors."""

    size: Extents | None = None
    scale_factor: Factors | None = None

    def conditions(self) -> None:
        if (self.size is None) == (self.scale_factor is None):
            message = f"size is {self.size} and scale_factor {self.scale_factor}; wanted exactly one of them."
            raise ArgumentError(message)
        factors = self.scale_factor if isinstance(self.scale_factor, tuple) else (self.scale_factor,)
        if any(isinstance(factor, float) and not 0 < factor < inf for factor in factors):
            message = f"scale_factor is {self.scale_factor}; wanted positive numbers."
            raise ArgumentError(message)

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        """Batch and channels are kept; each spatial axis gets the target size, or grows by its factor, rounded down."""
        mode, rank = self._mode, self._checked(x)
        x, restored = spatial(x, rank, getattr(self, "data_format", "channels_first"), batched=True)
        not_empty(x.sizes[1:], "the axes")
        given = self.scale_factor if self.size is None else self.size
        wanted = cast("Any", given if isinstance(given, tuple) else (given,) * rank)
        extents = along_each(scaled_length, x.sizes[2:], wanted) if self.size is None else wanted
        if mode == "area":
            return restored(pool_to("mean", x, extents))
        not_empty(extents, "the output")
        stated = self.size is None and not getattr(self, "recompute_scale_factor", False)
        aligned = isinstance(self, UpsamplingBilinear2d) or bool(getattr(self, "align_corners", False))
        return restored(resample(_MODES.get(mode, mode), x, extents, wanted if stated else (None,) * rank, aligned=aligned))

    @property
    def _mode(self) -> Any:
        return getattr(self, "mode", "bilinear" if isinstance(self, UpsamplingBilinear2d) else "nearest")

    def _checked(self, x: Value) -> int:
        """Return the number of spatial axes.

        Raises:
            ShapeError: a number of axes that does not fit the mode or the given sizes, or ``align_corners`` for a mode without it.
        """
        rank, mode, given = x.rank - 2, self._mode, self.scale_factor if self.size is None else self.size
        allowed = _RANKS.get(mode, (1, 2, 3))
        if rank not in allowed:
            wanted = " or ".join(str(known + 2) for known in allowed)
            message = f"mode {mode!r} wants {wanted} axes, batch and channels included; found {x.rank}, {text(x.sizes)}."
            raise RankError(message)
        if getattr(self, "align_corners", None) is not None and mode not in _MODES:
            message = f"align_corners is {getattr(self, 'align_corners', None)}, which mode {mode!r} does not have."
            raise ShapeError(message)
        if isinstance(given, tuple) and len(given) != rank:
            message = f"{given} is for {len(given)} spatial axes; {text(x.sizes)} has {rank}."
            raise ShapeError(message)
        return rank


_RANKS = {"linear": (1,), "bilinear": (2,), "bicubic": (2,), "lanczos3": (2,), "lanczos5": (2,), "trilinear": (3,)}
_MODES: dict[str, Any] = {"linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
"""The modes that torch limits to a number of spatial axes; the modes that can align corners, with their computation along each axis."""


@dataclass(frozen=True)
class Upsample(_Upsample):
    """Interpolation to ``size``, or by ``scale_factor``. Reference: ``torch.nn.Upsample``; Keras: ``UpSampling1D`` to ``UpSampling3D``.

    Raises:
        ArgumentError: both or neither of size and factor, or an unknown mode.
    """

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
    """


@dataclass(frozen=True)
class UpsamplingBilinear2d(_Upsample):
    """An image enlarged by interpolation. Reference: ``torch.nn.UpsamplingBilinear2d``.

    Raises:
        ArgumentError: both or neither of size and factor.
    """


@dataclass(frozen=True)
class PixelShuffle(Layer):
    """Channels turned into resolution: (C*r**2, H, W) to (C, H*r, W*r) (Shi et al. 2016). Reference: ``torch.nn.PixelShuffle``."""

    upscale_factor: Dim

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        """The channels are divided by the factor's square, height and width multiplied by the factor; any axes may precede them."""
        x, r = named(x, 2), self.upscale_factor
        exactly(x.sizes[-3], canonical(r**2), "the channels")
        return rearrange(x, "... (c y x) h w -> ... c (h y) (w x)", y=r, x=r)


@dataclass(frozen=True)
class PixelUnshuffle(Layer):
    """Resolution turned into channels, the inverse of ``PixelShuffle``. Reference: ``torch.nn.PixelUnshuffle``."""

    downscale_factor: Dim

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        """Height and width are divided by the factor, the channels multiplied by its square."""
        x, r = named(x, 2), self.downscale_factor
        for length in x.sizes[-2:]:
            exactly(length, r, "the entries")
        return rearrange(x, "... c (h y) (w x) -> ... (c y x) h w", y=r, x=r)


@dataclass(frozen=True)
class ChannelShuffle(Layer):
    """Channels interleaved between groups (Zhang et al. 2018). Reference: ``torch.nn.ChannelShuffle``."""

    groups: Dim

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        """The input's shape; the groups must divide the channels."""
        if x.rank < 3:
            message = f"wanted at least 3 axes, (batch, channels, ...); found {x.rank}, {text(x.sizes)}."
            raise RankError(message)
        exactly(x.sizes[1], self.groups, "the channels")
        return rearrange(x, "b (g c) ... -> b (c g) ...", g=self.groups)


class _Columns(Layer):
    """The common base of windows as columns."""

    kernel_size: Extents
    dilation: Extents
    padding: Margin
    stride: Extents

    def conditions(self) -> None:
        for name in ("kernel_size", "dilation", "padding", "stride"):
            per_axis(getattr(self, name), 2, name)

    def _settings(self) -> tuple[Any, ...]:
        """Return kernel, stride, padding and dilation, two entries each."""
        kernel, stride, padding, dilation = (per_axis(one, 2, "") for one in (self.kernel_size, self.stride, self.padding, self.dilation))
        return kernel, stride, tuple((margin, margin) for margin in padding), dilation


@dataclass(frozen=True)
class Unfold(_Columns):
    """Every window of an image written out as a column. Reference: ``torch.nn.Unfold``."""

    kernel_size: Extents
    dilation: Extents = 1
    padding: Margin = 0
    stride: Extents = 1

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        """(batch, channels*window, places); the batch axis may be missing."""
        x, restored = spatial(x, 2)
        not_empty(x.sizes[1:], "the axes")
        return restored(rearrange(unfold(x, *self._settings()), "b c u v h w -> b (c h w) (u v)"))


@dataclass(frozen=True)
class Fold(_Columns):
    """Columns summed back into an image, the counterpart of ``Unfold``. Reference: ``torch.nn.Fold``."""

    output_size: Extents
    kernel_size: Extents
    dilation: Extents = 1
    padding: Margin = 0
    stride: Extents = 1

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        """(batch, channels, height, width) from (batch, channels*window, positions); the batch axis may be missing."""
        x, restored = spatial(x, 1)
        not_empty(x.sizes[1:], "the axes")
        size, (kernel, stride, margins, dilation) = per_axis(self.output_size, 2, "output_size"), self._settings()
        high, wide = lengths(size, kernel, stride, margins, dilation)
        if differ(x.sizes[2], product((high, wide))):
            message = f"{x.sizes[2]} columns do not fold into {text(size)}, which takes {product((high, wide))}."
            raise ShapeError(message)
        exactly(x.sizes[1], product(kernel), "the rows")
        seen = rearrange(x, "b (c h w) (u v) -> b c u v h w", h=kernel[0], w=kernel[1], u=high, v=wide)
        return restored(fold(seen, stride, tuple(before for before, _ in margins), dilation, size))
