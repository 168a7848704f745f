"""Keras' depthwise and separable convolutions, spelt as Keras spells them.

Arguments that change no weight (initialisers, regularisers, constraints) are taken and have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramsym.keras._base import activated, check_activation
from paramsym.keras._common import channel_axis, check_window, finished, padding_word, per_axis_argument
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import separable
from paramsym.size import Dim


def DepthwiseConv1D(
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = 1,
    padding: str = "valid",
    depth_multiplier: Dim = 1,
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = 1,
    activation: object = None,
    use_bias: bool = True,
    depthwise_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    depthwise_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    depthwise_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.DepthwiseConv1d`` with what Keras stores: ``kernel`` (k, channels, multiplier) and ``bias``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> DepthwiseConv1D(3, depth_multiplier=2, input_shape=(None, 10, 3)).params
    24
    """
    check_activation(activation, "keras.DepthwiseConv1D")
    arguments = _Arguments(kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, use_bias, activation)
    return _door("DepthwiseConv1D", separable.DepthwiseConv1d, arguments, base, input_shape)


def DepthwiseConv2D(
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = (1, 1),
    padding: str = "valid",
    depth_multiplier: Dim = 1,
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = (1, 1),
    activation: object = None,
    use_bias: bool = True,
    depthwise_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    depthwise_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    depthwise_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.DepthwiseConv2d`` with what Keras stores: ``kernel`` (k, k, channels, multiplier) and ``bias``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> DepthwiseConv2D(3, depth_multiplier=2, input_shape=(None, 10, 10, 3)).params
    60
    """
    check_activation(activation, "keras.DepthwiseConv2D")
    arguments = _Arguments(kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, use_bias, activation)
    return _door("DepthwiseConv2D", separable.DepthwiseConv2d, arguments, base, input_shape)


def SeparableConv1D(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = 1,
    depth_multiplier: Dim = 1,
    activation: object = None,
    use_bias: bool = True,
    depthwise_initializer: object = "glorot_uniform",
    pointwise_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    depthwise_regularizer: object = None,
    pointwise_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    depthwise_constraint: object = None,
    pointwise_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.SeparableConv1d`` with what Keras stores: ``depthwise_kernel``, ``pointwise_kernel`` and ``bias``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> SeparableConv1D(8, 3, input_shape=(None, 10, 3)).params
    41
    """
    check_activation(activation, "keras.SeparableConv1D")
    arguments = _Arguments(kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, use_bias, activation)
    return _door("SeparableConv1D", separable.SeparableConv1d, arguments, base, input_shape, filters)


def SeparableConv2D(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = (1, 1),
    depth_multiplier: Dim = 1,
    activation: object = None,
    use_bias: bool = True,
    depthwise_initializer: object = "glorot_uniform",
    pointwise_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    depthwise_regularizer: object = None,
    pointwise_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    depthwise_constraint: object = None,
    pointwise_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.SeparableConv2d`` with what Keras stores: ``depthwise_kernel``, ``pointwise_kernel`` and ``bias``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> SeparableConv2D(8, 3, input_shape=(None, 10, 10, 3)).params
    59
    """
    check_activation(activation, "keras.SeparableConv2D")
    arguments = _Arguments(kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, use_bias, activation)
    return _door("SeparableConv2D", separable.SeparableConv2d, arguments, base, input_shape, filters)


@dataclass(frozen=True)
class _Arguments:
    """The arguments that change or check something, under Keras' names."""

    kernel_size: Dim | Sequence[Dim]
    strides: Dim | Sequence[Dim]
    padding: str
    depth_multiplier: Dim
    data_format: str | None
    dilation_rate: Dim | Sequence[Dim]
    use_bias: bool
    activation: object


def _door(
    name: str,
    kind: Any,
    given: _Arguments,
    base: Mapping[str, object],
    input_shape: Shape | None,
    filters: Dim | None = None,
) -> Layer | Unbuilt:
    where = f"keras.{name}"
    axis = channel_axis(given.data_format, where)
    named: dict[str, Any] = {
        "kernel_size": per_axis_argument(given.kernel_size, kind.rank, "kernel_size", where),
        "stride": per_axis_argument(given.strides, kind.rank, "strides", where),
        "padding": padding_word(given.padding, where),
        "dilation": per_axis_argument(given.dilation_rate, kind.rank, "dilation_rate", where),
        "depth_multiplier": given.depth_multiplier,
        "bias": given.use_bias,
        "dialect": "keras",
        "data_format": "channels_first" if axis == 1 else None,
    }
    if name.startswith("Separable"):
        named["out_channels"] = filters
    kind(1, **named)  # Keras refuses bad arguments before it sees an input.

    def build(shape: Shape) -> Layer:
        checked = shape_of(shape, where, rank=kind.rank + 2)
        layer = kind(axis_size(checked, axis, where), **named)
        check_window(checked, axis, layer, where)
        return finished(activated(layer, given.activation, where), base, where)

    return door(name, build, input_shape, base)
