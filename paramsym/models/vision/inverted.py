"""Inverted residuals, which MobileNets, MNASNet, EfficientNet and MaxViT share: wide inside, with a depthwise convolution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from paramsym.algebra.size import Dim, same
from paramsym.core.compose import Residual, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import Sigmoid
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.pooling import AvgPool2d
from paramsym.models.vision.blocks import EXACT_GELU, RELU, Projected, conv_norm
from paramsym.program import Own, Value, reduce

_SIGMOID = Sigmoid()


@dataclass(frozen=True)
class SqueezeExcitation(Layer):
    """Every channel times a number computed from the means of all channels (Hu et al. 2018, section 3).

    Reference: ``torchvision.ops.SqueezeExcitation``.

    >>> from paramsym import C, R
    >>> SqueezeExcitation(C, R).params
    2*C*R + C + R
    """

    input_channels: Dim
    squeeze_channels: Dim
    activation: Layer = field(default=RELU)
    scale_activation: Layer = field(default=_SIGMOID)

    def parts(self) -> Iterator[Part]:
        yield Part("fc1", Conv2d(self.input_channels, self.squeeze_channels, 1))
        yield Part("fc2", Conv2d(self.squeeze_channels, self.input_channels, 1))
        yield Part("activation", self.activation)
        yield Part("scale_activation", self.scale_activation)

    def forward(self, own: Own, x: Value) -> Value:
        scale = own.fc2(own.activation(own.fc1(reduce("mean", x, 2, 3, keep=True))))
        return own.scale_activation(scale) * x


def inverted(
    near: Dim,
    inside: Dim,
    far: Dim,
    kernel: int,
    stride: int,
    activation: Layer,
    squeeze: Layer | None = None,
    *,
    dilation: int = 1,
    **norm: Any,
) -> list[Layer]:
    """Return the layers of an inverted residual: a 1x1 convolution to ``inside`` channels, a depthwise one, and a 1x1 one to ``far``.

    If ``inside`` equals ``near``, there is no first convolution. ``squeeze`` is the squeeze-and-excitation before the last one. A dilated
    convolution has no stride. ``norm`` are the settings of the norms, as in ``conv_norm``.

    Source: Sandler et al. 2018, "MobileNetV2: Inverted Residuals and Linear Bottlenecks", section 3.

    >>> from paramsym import C
    >>> from paramsym.core.compose import Sequential
    >>> Sequential(*inverted(C, 6 * C, C, 3, 1, RELU)).params
    12*C**2 + 80*C
    """
    layers = [] if same(inside, near) else [conv_norm(near, inside, 1, 1, activation, **norm)]
    step = 1 if dilation > 1 else stride
    layers.append(conv_norm(inside, inside, kernel, step, activation, groups=inside, dilation=dilation, **norm))
    return [*layers, *([] if squeeze is None else [squeeze]), conv_norm(inside, far, 1, 1, None, **norm)]


def residual(body: Layer, incoming: Dim, outgoing: Dim, stride: int, name: str) -> Layer:
    """Return a block that adds its input if the shape stays the same: at stride 1, with equal channels.

    Widths in letters are equal if they are one expression.
    """
    return Residual(body, name=name) if stride == 1 and incoming == outgoing else Sequential({name: body})


class MBConv(Projected):
    """MaxViT's inverted residual; a summary names it."""


def mbconv(near: Dim, inside: Dim, far: Dim, stride: int, squeeze: Layer, eps: float) -> MBConv:
    """Return MaxViT's inverted residual of 3x3 under its names; the pooling of the shortcut has the same stride.

    >>> from paramsym import C
    >>> mbconv(C, 4 * C, C, 1, SqueezeExcitation(4 * C, C), 1e-3).params
    16*C**2 + 60*C
    """
    body: dict[str, Layer] = {
        "pre_norm": BatchNorm2d(near, eps=eps),
        "conv_a": conv_norm(near, inside, 1, 1, EXACT_GELU, eps=eps),
        "conv_b": conv_norm(inside, inside, 3, stride, EXACT_GELU, groups=inside, eps=eps),
        "squeeze_excitation": squeeze,
        "conv_c": Conv2d(inside, far, 1),
    }
    projection = {"proj": Sequential(AvgPool2d(3, stride, 1), Conv2d(near, far, 1))} if stride != 1 else {}
    return MBConv({**projection, "layers": Sequential(body)}, "layers")
