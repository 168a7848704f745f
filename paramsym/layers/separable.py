"""Depthwise and depthwise-separable convolutions: filter every channel separately, then mix the channels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypeAlias

from paramsym.algebra.size import Dim, canonical
from paramsym.core.layer import Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.axes import DataFormat, in_front, per_channel, spatial
from paramsym.layers.convolution import Conv1d, Conv2d, Conv3d
from paramsym.layers.siblings import Sibling
from paramsym.layers.spatial import Extents, Padding, PaddingMode, per_axis
from paramsym.layers.windowed import Sliding, data_format_of
from paramsym.program import Own, Value, convolve

Dialect: TypeAlias = Literal["torch", "keras"]
"""The dialects; Flax has neither layer."""


class _Filtering(Sibling):
    """How the kernel of every channel slides over the spatial axes."""

    rank: ClassVar[int]

    in_channels: Dim
    kernel_size: Extents
    stride: Extents
    padding: Padding
    dilation: Extents
    bias: bool
    padding_mode: PaddingMode
    dialect: Dialect
    data_format: DataFormat | None

    def conditions(self) -> None:
        """Tuples have one entry per axis; arguments that the framework refuses are refused."""
        per_axis(self.kernel_size, self.rank, "kernel_size")
        per_axis(self.dilation, self.rank, "dilation")
        check_padding(self.padding, per_axis(self.stride, self.rank, "stride"), self.padding_mode, self.rank, self.dialect)
        if self.dialect == "torch" and self.data_format == "channels_last":
            message = "data_format is 'channels_last', which needs dialect='keras'; torch's convolutions take the channels first."
            raise ArgumentError(message)

    def forward(self, own: Own, x: Value) -> Value:
        """Every channel filtered separately, then the layer's mixing of channels, and the bias."""
        data_format = data_format_of(self.data_format, self.dialect)
        x, restored = spatial(x, self.rank, data_format, channels=self.in_channels, batched=self.dialect != "torch")
        sliding = Sliding.of(self.rank, self.kernel_size, self.stride, self.dilation, self.padding, self.padding_mode, self.dialect)
        y = self._mixed(own, sliding.convolve(x, self._filters(own), self.in_channels))
        return restored(y + per_channel(own.bias, self.rank) if self.bias else y)

    def _filters(self, own: Own) -> Value:
        """The kernels of all channels as torch stores them."""
        raise NotImplementedError

    def _mixed(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - for those that mix
        return x


@dataclass(frozen=True)
class _Depthwise(_Filtering):
    """The common base of the three classes: ``depth_multiplier`` kernels for every channel."""

    in_channels: Dim
    kernel_size: Extents
    depth_multiplier: Dim = 1
    stride: Extents = 1
    padding: Padding = 0
    dilation: Extents = 1
    bias: bool = True
    padding_mode: PaddingMode = "zeros"
    _: KW_ONLY
    dialect: Dialect = "torch"
    data_format: DataFormat | None = None

    def tensors(self) -> Iterator[Tensor]:
        extents, outputs = per_axis(self.kernel_size, self.rank, "kernel_size"), (self.in_channels, self.depth_multiplier)
        if self.dialect == "torch":
            yield Tensor("weight", (outputs, 1, *extents))
        else:
            yield Tensor("kernel", (*extents, *outputs))
        if self.bias:
            yield Tensor("bias", (outputs,), role="bias")

    def _filters(self, own: Own) -> Value:
        return own.weight if self.dialect == "torch" else in_front(own.kernel, self.rank, "i m -> (i m) ()")


@dataclass(frozen=True)
class _Separable(_Filtering):
    """The common base of the three classes: a depthwise convolution, then one of kernel size 1 over all channels."""

    rank: ClassVar[int]
    layers: ClassVar[tuple[type, type]]

    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    stride: Extents = 1
    padding: Padding = 0
    dilation: Extents = 1
    depth_multiplier: Dim = 1
    bias: bool = True
    depthwise_bias: bool = False
    padding_mode: PaddingMode = "zeros"
    _: KW_ONLY
    dialect: Dialect = "torch"
    data_format: DataFormat | None = None

    def forward(self, own: Own, x: Value) -> Value:
        """The depthwise convolution, then the one that mixes the channels."""
        return own.pointwise(own.depthwise(x)) if self.dialect == "torch" else super().forward(own, x)

    def _filters(self, own: Own) -> Value:
        return in_front(own.depthwise_kernel, self.rank, "i m -> (i m) ()")

    def _mixed(self, own: Own, x: Value) -> Value:
        none = ((0, 0),) * self.rank
        return convolve(x, in_front(own.pointwise_kernel, self.rank, "i o -> o i"), (1,) * self.rank, none)

    def conditions(self) -> None:
        super().conditions()
        if self.dialect == "keras" and self.depthwise_bias:
            message = "depthwise_bias is True; Keras' separable convolutions have one bias, after both steps."
            raise ArgumentError(message)

    def tensors(self) -> Iterator[Tensor]:
        if self.dialect == "torch":
            return
        between = (self.in_channels, self.depth_multiplier)
        yield Tensor("depthwise_kernel", (*per_axis(self.kernel_size, self.rank, "kernel_size"), *between))
        yield Tensor("pointwise_kernel", (*(1,) * self.rank, between, self.out_channels))
        if self.bias:
            yield Tensor("bias", (self.out_channels,), role="bias")

    def parts(self) -> Iterator[Part]:
        if self.dialect != "torch":
            return
        depthwise, pointwise = self.layers
        yield Part(
            "depthwise",
            depthwise(
                self.in_channels,
                self.kernel_size,
                self.depth_multiplier,
                self.stride,
                self.padding,
                self.dilation,
                self.depthwise_bias,
                self.padding_mode,
            ),
        )
        between = canonical(self.in_channels * self.depth_multiplier)
        yield Part("pointwise", pointwise(between, self.out_channels, 1, bias=self.bias))


def check_padding(padding: object, stride: tuple[Dim, ...], padding_mode: PaddingMode, rank: int, dialect: str) -> None:
    """Raise ``ArgumentError`` for padding that a framework does not have: "same" with a stride in torch, anything but zeros in Keras."""
    if not isinstance(padding, str):
        per_axis(padding, rank, "padding")
    if dialect == "torch" and padding == "same" and any(step != 1 for step in stride):
        message = f"padding='same' with stride {stride}: torch has no 'same' for strided convolutions; give the padding in numbers."
        raise ArgumentError(message)
    if dialect == "keras" and padding_mode != "zeros":
        message = f"padding_mode is {padding_mode!r}; Keras' convolutions pad with zeros."
        raise ArgumentError(message)


@dataclass(frozen=True)
class DepthwiseConv1d(_Depthwise, rank=1):
    r"""A convolution over sequences that filters every channel separately, with ``depth_multiplier`` kernels each.

    ``weight`` is (in_channels*multiplier, 1, kernel), as ``torch.nn.Conv1d(in, in*multiplier, kernel, groups=in)`` stores it; ``bias``,
    if present, is (in_channels*multiplier,). With ``dialect="keras"`` the first is ``kernel``, (kernel, in_channels, multiplier).
    Parameters: in*multiplier*(k + 1).

    Raises:
        ArgumentError: a tuple of another length than there are axes; ``padding="same"`` with a stride in torch.

    Reference: Keras: ``DepthwiseConv1D``.

    >>> from paramsym import C, K
    >>> DepthwiseConv1d(C, K).params
    C*K + C
    """


@dataclass(frozen=True)
class DepthwiseConv2d(_Depthwise, rank=2):
    r"""As ``DepthwiseConv1d``, over images: ``weight`` is (in_channels*multiplier, 1, height, width).

    Reference: Keras: ``DepthwiseConv2D``. Howard et al. 2017, "MobileNets", section 3.1.

    >>> from paramsym import C, K, dims
    >>> DepthwiseConv2d(C, K, bias=False).params, DepthwiseConv2d(C, K, dims("m")).params
    (C*K**2, C*K**2*m + C*m)
    """


@dataclass(frozen=True)
class DepthwiseConv3d(_Depthwise, rank=3):
    r"""As ``DepthwiseConv1d``, over volumes; Keras has no such class; the storage is that of the other two.

    >>> from paramsym import C, K
    >>> DepthwiseConv3d(C, K).params
    C*K**3 + C
    """


@dataclass(frozen=True)
class SeparableConv1d(_Separable, rank=1, layers=(DepthwiseConv1d, Conv1d)):
    r"""A depthwise convolution over sequences, then one of kernel size 1 that mixes the channels.

    In torch the parts ``depthwise`` (a ``DepthwiseConv1d``, without bias unless ``depthwise_bias``) and ``pointwise`` (a ``Conv1d``). With
    ``dialect="keras"``: ``depthwise_kernel`` (kernel, in_channels, multiplier), ``pointwise_kernel`` (1, in_channels*multiplier,
    out_channels), ``bias`` (out_channels,). Parameters, with multiplier m: in*m*k + in*m*out + out.

    Raises:
        ArgumentError: a tuple of another length than there are axes; ``padding="same"`` with a stride in torch.

    Reference: Keras: ``SeparableConv1D``.

    >>> from paramsym import C, F, K
    >>> SeparableConv1d(C, F, K).params
    C*F + C*K + F
    """


@dataclass(frozen=True)
class SeparableConv2d(_Separable, rank=2, layers=(DepthwiseConv2d, Conv2d)):
    r"""As ``SeparableConv1d``, over images: a ``DepthwiseConv2d``, then a ``Conv2d`` of kernel size 1.

    Reference: Keras: ``SeparableConv2D``. Chollet 2017, "Xception", section 1.1.

    >>> from paramsym import C, F, K
    >>> SeparableConv2d(C, F, K).params
    C*F + C*K**2 + F
    """


@dataclass(frozen=True)
class SeparableConv3d(_Separable, rank=3, layers=(DepthwiseConv3d, Conv3d)):
    r"""As ``SeparableConv1d``, over volumes; Keras has no such class; the storage is that of the other two.

    >>> from paramsym import C, F, K
    >>> SeparableConv3d(C, F, K).params
    C*F + C*K**3 + F
    """
