"""Depthwise and depthwise-separable convolutions: filter every channel separately, then mix the channels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from paramsym import program as ops
from paramsym.algebra.size import Dim, canonical
from paramsym.core.layer import Part, Tensor
from paramsym.layers.axes import DataFormat, in_front
from paramsym.layers.convolution import Conv1d, Conv2d, Conv3d, Filtering
from paramsym.layers.spatial import Extents, Padding, PaddingMode, both_sides

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Dialect: TypeAlias = Literal["torch", "keras"]
"""The dialects; Flax has neither layer."""


@dataclass(frozen=True)
class _Depthwise(Filtering):
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
        (extents,), outputs = self._each("kernel_size"), (self.in_channels, self.depth_multiplier)
        if self.dialect == "torch":
            yield Tensor("weight", (outputs, 1, *extents))
        else:
            yield Tensor("kernel", (*extents, *outputs))
        if self.bias:
            yield Tensor("bias", (outputs,), role="bias")

    def _convolved(self, own: Own, x: Value) -> Value:
        kernel = own.weight if self.dialect == "torch" else in_front(own.kernel, self.rank, "i m -> (i m) ()")
        return self._sliding.convolve(x, kernel, self.in_channels)


@dataclass(frozen=True)
class _Separable(Filtering):
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
        return own.pointwise(own.depthwise(x)) if self.dialect == "torch" else super().forward(own, x)

    def _convolved(self, own: Own, x: Value) -> Value:
        y = self._sliding.convolve(x, in_front(own.depthwise_kernel, self.rank, "i m -> (i m) ()"), self.in_channels)
        return ops.convolve(y, in_front(own.pointwise_kernel, self.rank, "i o -> o i"), (1,) * self.rank, both_sides((0,) * self.rank))

    def _refused(self) -> Iterator[str]:
        yield from super()._refused()
        if self.dialect == "keras" and self.depthwise_bias:
            yield "depthwise_bias is True; Keras' separable convolutions have one bias, after both steps."

    def tensors(self) -> Iterator[Tensor]:
        if self.dialect == "torch":
            return
        (extents,), between = self._each("kernel_size"), (self.in_channels, self.depth_multiplier)
        yield Tensor("depthwise_kernel", (*extents, *between))
        yield Tensor("pointwise_kernel", (*(1,) * self.rank, between, self.out_channels))
        if self.bias:
            yield Tensor("bias", (self.out_channels,), role="bias")

    def parts(self) -> Iterator[Part]:
        if self.dialect != "torch":
            return
        depthwise, pointwise = self.layers
        settings = (self.stride, self.padding, self.dilation, self.depthwise_bias, self.padding_mode)
        yield Part("depthwise", depthwise(self.in_channels, self.kernel_size, self.depth_multiplier, *settings))
        between = canonical(self.in_channels * self.depth_multiplier)
        yield Part("pointwise", pointwise(between, self.out_channels, 1, bias=self.bias))


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


class DepthwiseConv2d(_Depthwise, rank=2):
    r"""As ``DepthwiseConv1d``, over images: ``weight`` is (in_channels*multiplier, 1, height, width).

    Reference: Keras: ``DepthwiseConv2D``. Howard et al. 2017, "MobileNets", section 3.1.

    >>> from paramsym import C, K, dims
    >>> DepthwiseConv2d(C, K, bias=False).params, DepthwiseConv2d(C, K, dims("m")).params
    (C*K**2, C*K**2*m + C*m)
    """


class DepthwiseConv3d(_Depthwise, rank=3):
    r"""As ``DepthwiseConv1d``, over volumes: ``weight`` is (in_channels*multiplier, 1, depth, height, width). Keras has no such class.

    >>> from paramsym import C, K
    >>> DepthwiseConv3d(C, K).params
    C*K**3 + C
    """


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


class SeparableConv2d(_Separable, rank=2, layers=(DepthwiseConv2d, Conv2d)):
    r"""As ``SeparableConv1d``, over images: a ``DepthwiseConv2d``, then a ``Conv2d`` of kernel size 1.

    Reference: Keras: ``SeparableConv2D``. Chollet 2017, "Xception", section 1.1.

    >>> from paramsym import C, F, K
    >>> SeparableConv2d(C, F, K).params
    C*F + C*K**2 + F
    """


class SeparableConv3d(_Separable, rank=3, layers=(DepthwiseConv3d, Conv3d)):
    r"""As ``SeparableConv1d``, over volumes: a ``DepthwiseConv3d``, then a ``Conv3d`` of kernel size 1. Keras has no such class.

    >>> from paramsym import C, F, K
    >>> SeparableConv3d(C, F, K).params
    C*F + C*K**3 + F
    """
