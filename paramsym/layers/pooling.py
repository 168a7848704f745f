"""Pooling: one number for each window. It stores nothing.

``stride=None`` is the window itself. ``padding`` also takes Keras' ``"valid"`` and ``"same"``; ``data_format`` is the axis of the channels.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from paramsym.algebra.size import Count, Dim, product, text, within
from paramsym.errors import ShapeError, SizeError
from paramsym.layers.axes import DataFormat, not_empty, spatial
from paramsym.layers.siblings import Sibling
from paramsym.layers.spatial import Extents, Margin, per_axis
from paramsym.program import Own, Value, apply, pad, pool
from paramsym.program.lengths import Margins, margins_of

Padding: TypeAlias = Margin | Literal["valid", "same"]
"""Numbers as in torch, or a name as in Keras."""


def check_padding(padding: Padding, kernel_size: Extents, rank: int) -> None:
    """Raise ``SizeError`` for padding of more than half a window (without dilation), which torch refuses when the layer is called."""
    kernels = per_axis(kernel_size, rank, "kernel_size")
    if isinstance(padding, str):
        return
    for margin, kernel in zip(per_axis(padding, rank, "padding"), kernels, strict=True):
        if not within(2 * margin, kernel):
            message = f"padding {margin} is more than half of the kernel size {kernel}."
            raise SizeError(message)


class _Windows(Sibling):
    """The common base of pooling by windows: positions as in torch, with numbers for the padding, or as in Keras, with names."""

    rank: ClassVar[int]

    def forward(self, own: Own, x: Value) -> Any:  # noqa: ARG002 - it stores nothing
        """One entry for each position of the window; the channels are kept."""
        x, restored = spatial(x, self.rank, getattr(self, "data_format", "channels_first"), batched=isinstance(self._padding, str))
        not_empty(x.sizes[1:], "the axes")
        pooled = self._pooled(x)
        return tuple(map(restored, pooled)) if isinstance(pooled, tuple) else restored(pooled)

    def _pooled(self, x: Value) -> Any:
        """Return the result for (batch, channels, *spatial)."""
        raise NotImplementedError

    @property
    def _padding(self) -> Padding:
        return getattr(self, "padding", 0)

    def _settings(self) -> tuple[tuple[Dim, ...], tuple[Dim, ...], Margins]:
        """Return kernel, stride and padding, one entry per axis."""
        kernel = per_axis(self.kernel_size, self.rank, "kernel_size")  # type: ignore[attr-defined]
        stride = kernel if self.stride is None else per_axis(self.stride, self.rank, "stride")  # type: ignore[attr-defined]
        if self._padding == "same":
            return kernel, stride, "same"
        margins: tuple[Count, ...] = (0,) * self.rank if self._padding == "valid" else per_axis(self._padding, self.rank, "padding")
        return kernel, stride, tuple((margin, margin) for margin in margins)

    def _means(self, x: Value, margins: Margins, **more: Any) -> Value:
        """Return the mean of every window; for volumes torch requires an input, without its padding, of at least the window's size."""
        kernel, stride, _ = self._settings()
        for length, size in zip(x.sizes[2:], kernel, strict=True):
            if self.rank == 3 and not within(size, length):
                message = f"the input {text(x.sizes[2:])} is smaller than the window {text(kernel)}; padding does not count here."
                raise ShapeError(message)
        mean: Value = pool("mean", x, kernel, stride, margins, ceil=getattr(self, "ceil_mode", False), **more)
        return mean


@dataclass(frozen=True)
class _AvgPool(_Windows):
    """The common base of pooling by means."""

    rank: ClassVar[int]

    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    _: KW_ONLY
    data_format: DataFormat = "channels_first"

    def conditions(self) -> None:
        check_padding(self.padding, self.kernel_size, self.rank)
        per_axis(self.stride, self.rank, "stride")

    def _pooled(self, x: Value) -> Value:
        if self.padding != "same":
            whole = self.count_include_pad and self.padding != "valid"
            return self._means(x, self._settings()[2], whole=whole, divisor=getattr(self, "divisor_override", None))
        kernel, stride, _ = self._settings()
        sizes = (x.sizes[2:], kernel, stride)
        if all(isinstance(size, int) for one in sizes for size in one):
            margins = margins_of(*sizes, "same", (1,) * self.rank)
            if any(before != after for before, after in margins):  # Keras on torch then repeats the edge, otherwise leaves padding out
                return self._means(pad(x, margins, "replicate"), ((0, 0),) * self.rank)
        return self._means(x, "same", whole=False)


@dataclass(frozen=True)
class _MaxPool(_Windows):
    """The common base of pooling by maximum."""

    rank: ClassVar[int]

    kernel_size: Extents
    stride: Extents | None = None
    padding: Padding = 0
    dilation: Extents = 1
    return_indices: bool = False
    ceil_mode: bool = False
    _: KW_ONLY
    data_format: DataFormat = "channels_first"

    def conditions(self) -> None:
        check_padding(self.padding, self.kernel_size, self.rank)
        per_axis(self.stride, self.rank, "stride")
        per_axis(self.dilation, self.rank, "dilation")

    def _pooled(self, x: Value) -> Any:
        dilation = per_axis(self.dilation, self.rank, "dilation")
        return pool("max", x, *self._settings(), dilation=dilation, ceil=self.ceil_mode, indices=self.return_indices)


@dataclass(frozen=True)
class MaxPool1d(_MaxPool, rank=1):
    """The largest entry of each window of a sequence. Reference: ``torch.nn.MaxPool1d``; Keras: ``MaxPooling1D``.

    Raises:
        ArgumentError: a tuple without one entry per spatial axis; the same holds for the classes below.
        SizeError: padding of more than half of a window, which torch refuses when the layer is called.
    """


@dataclass(frozen=True)
class MaxPool2d(_MaxPool, rank=2):
    """The largest entry of each window of an image. Reference: ``torch.nn.MaxPool2d``; Keras: ``MaxPooling2D``."""


@dataclass(frozen=True)
class MaxPool3d(_MaxPool, rank=3):
    """The largest entry of each window of a volume. Reference: ``torch.nn.MaxPool3d``; Keras: ``MaxPooling3D``."""


@dataclass(frozen=True)
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
    """The common base of pooling by a power mean."""

    rank: ClassVar[int]

    norm_type: float
    kernel_size: Extents
    stride: Extents | None = None
    ceil_mode: bool = False

    def conditions(self) -> None:
        per_axis(self.kernel_size, self.rank, "kernel_size")
        per_axis(self.stride, self.rank, "stride")

    def _pooled(self, x: Value) -> Value:
        mean = self._means(x**self.norm_type, ((0, 0),) * self.rank)
        mean = apply("sign", mean) * apply("relu", apply("abs", mean))  # as torch computes it: the same result, with more kept arrays
        return (mean * product(per_axis(self.kernel_size, self.rank, "kernel_size"))) ** (1 / self.norm_type)


@dataclass(frozen=True)
class LPPool1d(_LPPool, rank=1):
    """The p-norm of each window of a sequence, with p = ``norm_type``. Reference: ``torch.nn.LPPool1d``."""


@dataclass(frozen=True)
class LPPool2d(_LPPool, rank=2):
    """The p-norm of each window of an image, with p = ``norm_type``. Reference: ``torch.nn.LPPool2d``."""


@dataclass(frozen=True)
class LPPool3d(_LPPool, rank=3):
    """The p-norm of each window of a volume, with p = ``norm_type``. Reference: ``torch.nn.LPPool3d``."""
