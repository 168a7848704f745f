"""Pooling: one number for each window. It stores nothing.

``stride=None`` is the window itself. ``padding`` also takes Keras' ``"valid"`` and ``"same"``; ``data_format`` is the axis of the channels.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from paramsym import program as ops
from paramsym.algebra.size import Dim, product, text, within
from paramsym.errors import ShapeError, SizeError
from paramsym.layers.axes import DataFormat, not_empty, spatial
from paramsym.layers.siblings import Spatial
from paramsym.layers.spatial import Extents, Margin, both_sides
from paramsym.program.lengths import Margins, margins_of

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Padding: TypeAlias = Margin | Literal["valid", "same"]
"""Numbers as in torch, or a name as in Keras."""


class Pooling(Spatial):
    """The base of poolings, which keep the channels; a maximum may also return its positions."""

    padding: Padding = 0
    data_format: DataFormat = "channels_first"
    return_indices: bool = False

    def forward(self, own: Own, x: Value) -> Any:  # noqa: ARG002 - it stores nothing
        x, restored = spatial(x, self.rank, self.data_format, batched=isinstance(self.padding, str))
        pooled = self._pooled(x)
        return tuple(map(restored, pooled)) if self.return_indices else restored(pooled)

    def _pooled(self, x: Value) -> Any:
        """Return the result for (batch, channels, *spatial)."""
        raise NotImplementedError


class _Windows(Pooling):
    """Pooling by windows: positions as in torch, with numbers for the padding, or as in Keras, with names."""

    kernel_size: Extents
    stride: Extents | None
    dilation: Extents = 1
    ceil_mode: bool
    divisor_override: int | None = None

    def conditions(self) -> None:
        kernels, margins, *_ = self._each("kernel_size", "padding", "stride", "dilation")
        for margin, kernel in zip(margins, kernels, strict=True):
            if not isinstance(margin, str) and not within(2 * margin, kernel):  # torch refuses it when the layer is called
                raise SizeError(f"padding {margin} is more than half of the kernel size {kernel}.")

    def _settings(self) -> tuple[tuple[Dim, ...], tuple[Dim, ...], Margins]:
        """Return kernel, stride and padding, one entry per axis."""
        kernel, stride, margins = self._each("kernel_size", "stride", "padding")
        stride = kernel if self.stride is None else stride
        if self.padding == "same":
            return kernel, stride, "same"
        return kernel, stride, both_sides((0,) * self.rank if self.padding == "valid" else margins)

    def _means(self, x: Value, margins: Margins, **more: Any) -> Value:
        """Return the mean of every window; for volumes torch requires an input, without its padding, of at least the window's size."""
        kernel, stride, _ = self._settings()
        for length, size in zip(x.sizes[2:], kernel, strict=True):
            if self.rank == 3 and not within(size, length):
                raise ShapeError(f"the input {text(x.sizes[2:])} is smaller than the window {text(kernel)}; padding does not count here.")
        return ops.pool("mean", x, kernel, stride, margins, ceil=self.ceil_mode, **more)


@dataclass(frozen=True)
class _AvgPool(_Windows):
    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    _: KW_ONLY
    data_format: DataFormat = "channels_first"

    def _pooled(self, x: Value) -> Value:
        not_empty(x.sizes[1:], "the axes")
        kernel, stride, margins = self._settings()
        if margins != "same":
            return self._means(x, margins, whole=self.count_include_pad and self.padding != "valid", divisor=self.divisor_override)
        sizes = (x.sizes[2:], kernel, stride)
        if all(isinstance(size, int) for one in sizes for size in one):
            margins = margins_of(*sizes, "same", (1,) * self.rank)
            if any(before != after for before, after in margins):  # Keras on torch then repeats the edge, otherwise leaves padding out
                return self._means(ops.pad(x, margins, "replicate"), both_sides((0,) * self.rank))
        return self._means(x, "same", whole=False)


@dataclass(frozen=True)
class _MaxPool(_Windows):
    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    dilation: Extents = 1
    return_indices: bool = False
    ceil_mode: bool = False
    _: KW_ONLY
    data_format: DataFormat = "channels_first"

    def _pooled(self, x: Value) -> Any:
        not_empty(x.sizes[1:], "the axes")
        return ops.pool("max", x, *self._settings(), dilation=self._each("dilation")[0], ceil=self.ceil_mode, indices=self.return_indices)


class MaxPool1d(_MaxPool, rank=1):
    """The largest entry of each window of a sequence. Reference: ``torch.nn.MaxPool1d``; Keras: ``MaxPooling1D``.

    Raises:
        ArgumentError: a tuple without one entry per spatial axis.
        SizeError: padding of more than half of a window, which torch refuses when the layer is called.
    """


class MaxPool2d(_MaxPool, rank=2):
    """The largest entry of each window of an image. Reference: ``torch.nn.MaxPool2d``; Keras: ``MaxPooling2D``."""


class MaxPool3d(_MaxPool, rank=3):
    """The largest entry of each window of a volume. Reference: ``torch.nn.MaxPool3d``; Keras: ``MaxPooling3D``."""


class AvgPool1d(_AvgPool, rank=1):
    """The mean of each window of a sequence. Reference: ``torch.nn.AvgPool1d``; Keras: ``AveragePooling1D``."""


@dataclass(frozen=True)
class AvgPool2d(_AvgPool, rank=2):
    """The mean of each window of an image. Reference: ``torch.nn.AvgPool2d``; Keras: ``AveragePooling2D``."""

    divisor_override: int | None = None


@dataclass(frozen=True)
class AvgPool3d(_AvgPool, rank=3):
    """The mean of each window of a volume. Reference: ``torch.nn.AvgPool3d``; Keras: ``AveragePooling3D``."""

    divisor_override: int | None = None


@dataclass(frozen=True)
class _LPPool(_Windows):
    norm_type: float
    kernel_size: Extents
    stride: Extents | None = None
    ceil_mode: bool = False

    def _pooled(self, x: Value) -> Value:
        not_empty(x.sizes[1:], "the axes")
        kernel, _, margins = self._settings()
        mean = self._means(x**self.norm_type, margins)
        mean = ops.apply("sign", mean) * ops.apply(
            "relu", ops.apply("abs", mean)
        )  # as torch computes it: the same result, with more kept arrays
        return (mean * product(kernel)) ** (1 / self.norm_type)


class LPPool1d(_LPPool, rank=1):
    """The p-norm of each window of a sequence, with p = ``norm_type``. Reference: ``torch.nn.LPPool1d``."""


class LPPool2d(_LPPool, rank=2):
    """The p-norm of each window of an image, with p = ``norm_type``. Reference: ``torch.nn.LPPool2d``."""


class LPPool3d(_LPPool, rank=3):
    """The p-norm of each window of a volume, with p = ``norm_type``. Reference: ``torch.nn.LPPool3d``."""
