"""Layers that move entries between resolution and channels, or enlarge the input. They store nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from paramsym import program as ops
from paramsym.algebra.convolution import differ, exactly, scaled_length
from paramsym.algebra.size import Dim, canonical, product, text
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, RankError, ShapeError
from paramsym.layers.axes import DataFormat, check_rank, named, not_empty, spatial
from paramsym.layers.siblings import Spatial, Variant
from paramsym.layers.spatial import Extents, Margin, both_sides, exactly_one, per_axis
from paramsym.program.lengths import along_each, lengths

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Factors: TypeAlias = Dim | float | tuple[Dim | float, ...]
"""The factors of the spatial axes: whole numbers are exact, torch also takes fractions."""


_RANKS = {"linear": (1,), "bilinear": (2,), "bicubic": (2,), "lanczos3": (2,), "lanczos5": (2,), "trilinear": (3,)}
"""The modes that torch limits to a number of spatial axes."""
_ALONG: dict[str, Any] = {"linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
"""The modes that can align corners, with their computation along each axis."""


class _Interpolation(Variant):
    size: Extents | None
    scale_factor: Factors | None
    mode: Any = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None
    data_format: DataFormat = "channels_first"

    def conditions(self) -> None:
        exactly_one(self, "size", "scale_factor")
        factors = self.scale_factor if isinstance(self.scale_factor, tuple) else (self.scale_factor,)
        if any(isinstance(factor, float) and not 0 < factor < inf for factor in factors):
            raise ArgumentError(f"scale_factor is {self.scale_factor}; wanted positive numbers.")

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        rank, given = x.rank - 2, self.scale_factor if self.size is None else self.size
        self._check_rank(x, given)
        x, restored = spatial(x, rank, self.data_format, batched=True)
        not_empty(x.sizes[1:], "the axes")
        wanted = per_axis(given, rank, "")
        extents = along_each(scaled_length, x.sizes[2:], wanted) if self.size is None else wanted
        if self.mode == "area":
            return restored(ops.pool_to("mean", x, extents))
        not_empty(extents, "the output")
        stated = self.size is None and not self.recompute_scale_factor
        mode = _ALONG.get(self.mode, self.mode)
        return restored(ops.resample(mode, x, extents, wanted if stated else (None,) * rank, aligned=bool(self.align_corners)))

    def _check_rank(self, x: Value, given: Any) -> None:
        """Raise ``ShapeError`` for a number of axes that does not fit the mode or the given sizes, or corners that a mode cannot align."""
        allowed = _RANKS.get(self.mode, (1, 2, 3))
        if x.rank - 2 not in allowed:
            wanted = " or ".join(str(rank + 2) for rank in allowed)
            raise RankError(f"mode {self.mode!r} wants {wanted} axes, batch and channels included; found {x.rank}, {text(x.sizes)}.")
        if self.align_corners is not None and self.mode not in _ALONG:
            raise ShapeError(f"align_corners is {self.align_corners}, which mode {self.mode!r} does not have.")
        if isinstance(given, tuple) and len(given) != x.rank - 2:
            raise ShapeError(f"{given} is for {len(given)} spatial axes; {text(x.sizes)} has {x.rank - 2}.")


@dataclass(frozen=True)
class _Upsample(_Interpolation):
    size: Extents | None = None
    scale_factor: Factors | None = None


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
    """As ``Upsample``, of an image by its nearest entries. Reference: ``torch.nn.UpsamplingNearest2d``."""


class UpsamplingBilinear2d(_Upsample, mode="bilinear", align_corners=True):
    """As ``Upsample``, of an image by interpolation with aligned corners. Reference: ``torch.nn.UpsamplingBilinear2d``."""


@dataclass(frozen=True)
class PixelShuffle(Layer):
    """Channels turned into resolution: (C*r**2, H, W) to (C, H*r, W*r) (Shi et al. 2016). Reference: ``torch.nn.PixelShuffle``."""

    upscale_factor: Dim

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        x, r = named(x, 2), self.upscale_factor
        exactly(x.sizes[-3], canonical(r**2), "the channels")
        return ops.rearrange(x, "... (c y x) h w -> ... c (h y) (w x)", y=r, x=r)


@dataclass(frozen=True)
class PixelUnshuffle(Layer):
    """Resolution turned into channels, the inverse of ``PixelShuffle``. Reference: ``torch.nn.PixelUnshuffle``."""

    downscale_factor: Dim

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        x, r = named(x, 2), self.downscale_factor
        for length in x.sizes[-2:]:
            exactly(length, r, "the entries")
        return ops.rearrange(x, "... c (h y) (w x) -> ... (c y x) h w", y=r, x=r)


@dataclass(frozen=True)
class ChannelShuffle(Layer):
    """Channels interleaved between groups (Zhang et al. 2018). Reference: ``torch.nn.ChannelShuffle``."""

    groups: Dim

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        check_rank(x, x.rank >= 3, "at least 3 axes, (batch, channels, ...)")
        exactly(x.sizes[1], self.groups, "the channels")
        return ops.rearrange(x, "b (g c) ... -> b (c g) ...", g=self.groups)


class _Columns(Spatial, rank=2):
    """Windows of an image as columns."""

    def conditions(self) -> None:
        self._settings()

    def _settings(self) -> tuple[Any, ...]:
        """Return kernel, stride, padding and dilation, two entries each."""
        kernel, dilation, padding, stride = self._each("kernel_size", "dilation", "padding", "stride")
        return kernel, stride, both_sides(padding), dilation


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
        return restored(ops.rearrange(ops.unfold(x, *self._settings()), "b c u v h w -> b (c h w) (u v)"))


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
        (size,), (kernel, stride, margins, dilation) = self._each("output_size"), self._settings()
        high, wide = lengths(size, kernel, stride, margins, dilation)
        if differ(x.sizes[2], product((high, wide))):
            raise ShapeError(f"{x.sizes[2]} columns do not fold into {text(size)}, which takes {product((high, wide))}.")
        exactly(x.sizes[1], product(kernel), "the rows")
        seen = ops.rearrange(x, "b (c h w) (u v) -> b c u v h w", h=kernel[0], w=kernel[1], u=high, v=wide)
        return restored(ops.fold(seen, stride, tuple(before for before, _ in margins), dilation, size))
