"""Keras' convolutions and transposed convolutions, spelt as Keras spells them.

Arguments that change no weight (initialisers, regularisers, constraints) are taken and have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramsym.keras._base import activated, adapted, check_activation
from paramsym.keras._common import channel_axis, check_window, finished, padding_word, per_axis_argument
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import convolution
from paramsym.size import Count, Dim


def Conv1D(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = 1,
    groups: Dim = 1,
    activation: object = None,
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    lora_rank: Dim | None = None,
    lora_alpha: object = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.Conv1d`` with what Keras stores: ``kernel`` (k, channels/groups, filters) and ``bias`` (filters,).

    ``lora_rank`` freezes the kernel and adds ``lora_kernel_a`` and ``lora_kernel_b``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> Conv1D(8, 3, input_shape=(None, 10, 3)).params
    80
    """
    check_activation(activation, "keras.Conv1D")
    arguments = _Arguments(
        filters, kernel_size, strides, padding, dilation_rate, use_bias, data_format, groups=groups, activation=activation
    )
    lora = _Lora(lora_rank, kernel_constraint, lora_alpha)
    return _door("Conv1D", convolution.Conv1d, arguments, base, input_shape, lora)


def Conv2D(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = (1, 1),
    groups: Dim = 1,
    activation: object = None,
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    lora_rank: Dim | None = None,
    lora_alpha: object = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.Conv2d`` with what Keras stores: ``kernel`` (k, k, channels/groups, filters) and ``bias`` (filters,).

    ``lora_rank`` freezes the kernel and adds ``lora_kernel_a`` and ``lora_kernel_b``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> Conv2D(8, 3, input_shape=(None, 10, 10, 3)).params
    224
    """
    check_activation(activation, "keras.Conv2D")
    arguments = _Arguments(
        filters, kernel_size, strides, padding, dilation_rate, use_bias, data_format, groups=groups, activation=activation
    )
    lora = _Lora(lora_rank, kernel_constraint, lora_alpha)
    return _door("Conv2D", convolution.Conv2d, arguments, base, input_shape, lora)


def Conv3D(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = (1, 1, 1),
    groups: Dim = 1,
    activation: object = None,
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    lora_rank: Dim | None = None,
    lora_alpha: object = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.Conv3d`` with what Keras stores: ``kernel`` (k, k, k, channels/groups, filters) and ``bias`` (filters,).

    ``lora_rank`` freezes the kernel and adds ``lora_kernel_a`` and ``lora_kernel_b``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> Conv3D(8, 3, input_shape=(None, 10, 10, 10, 3)).params
    656
    """
    check_activation(activation, "keras.Conv3D")
    arguments = _Arguments(
        filters, kernel_size, strides, padding, dilation_rate, use_bias, data_format, groups=groups, activation=activation
    )
    lora = _Lora(lora_rank, kernel_constraint, lora_alpha)
    return _door("Conv3D", convolution.Conv3d, arguments, base, input_shape, lora)


def Conv1DTranspose(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = 1,
    padding: str = "valid",
    output_padding: Count | Sequence[Count] | None = None,
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = 1,
    activation: object = None,
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.ConvTranspose1d`` with what Keras stores: ``kernel`` (k, filters, channels) and ``bias`` (filters,).

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> Conv1DTranspose(8, 3, input_shape=(None, 10, 3)).params
    80
    """
    check_activation(activation, "keras.Conv1DTranspose")
    arguments = _Arguments(
        filters, kernel_size, strides, padding, dilation_rate, use_bias, data_format, output_padding=output_padding, activation=activation
    )
    return _door("Conv1DTranspose", convolution.ConvTranspose1d, arguments, base, input_shape)


def Conv2DTranspose(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = (1, 1),
    padding: str = "valid",
    output_padding: Count | Sequence[Count] | None = None,
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = (1, 1),
    activation: object = None,
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.ConvTranspose2d`` with what Keras stores: ``kernel`` (k, k, filters, channels) and ``bias`` (filters,).

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> Conv2DTranspose(8, 3, input_shape=(None, 10, 10, 3)).params
    224
    """
    check_activation(activation, "keras.Conv2DTranspose")
    arguments = _Arguments(
        filters, kernel_size, strides, padding, dilation_rate, use_bias, data_format, output_padding=output_padding, activation=activation
    )
    return _door("Conv2DTranspose", convolution.ConvTranspose2d, arguments, base, input_shape)


def Conv3DTranspose(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    output_padding: Count | Sequence[Count] | None = None,
    dilation_rate: Dim | Sequence[Dim] = (1, 1, 1),
    activation: object = None,
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    bias_constraint: object = None,
    *,
    input_shape: Shape | None = None,
    **base: object,
) -> Layer | Unbuilt:
    """Return ``paramsym.ConvTranspose3d`` with what Keras stores: ``kernel`` (k, k, k, filters, channels) and ``bias`` (filters,).

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> Conv3DTranspose(8, 3, input_shape=(None, 10, 10, 10, 3)).params
    656
    """
    check_activation(activation, "keras.Conv3DTranspose")
    arguments = _Arguments(
        filters, kernel_size, strides, padding, dilation_rate, use_bias, data_format, output_padding=output_padding, activation=activation
    )
    return _door("Conv3DTranspose", convolution.ConvTranspose3d, arguments, base, input_shape)


@dataclass(frozen=True)
class _Arguments:
    """The arguments that change or check something, under Keras' names."""

    filters: Dim
    kernel_size: Dim | Sequence[Dim]
    strides: Dim | Sequence[Dim]
    padding: str
    dilation_rate: Dim | Sequence[Dim]
    use_bias: bool
    data_format: str | None
    groups: Dim = 1
    output_padding: Count | Sequence[Count] | None = None
    activation: object = None


@dataclass(frozen=True)
class _Lora:
    """The arguments of a low-rank update."""

    rank: Dim | None = None
    constraint: object = None
    alpha: object = None


def _door(
    name: str,
    kind: Any,
    given: _Arguments,
    base: Mapping[str, object],
    input_shape: Shape | None,
    lora: _Lora = _Lora(),
) -> Layer | Unbuilt:
    where = f"keras.{name}"
    axis = channel_axis(given.data_format, where)
    transposed = name.endswith("Transpose")
    named: dict[str, Any] = {
        "stride": per_axis_argument(given.strides, kind.rank, "strides", where),
        "padding": padding_word(given.padding, where, causal=kind.rank == 1 and not transposed),
        "dilation": per_axis_argument(given.dilation_rate, kind.rank, "dilation_rate", where),
        "bias": given.use_bias,
        "dialect": "keras",
        "data_format": "channels_first" if axis == 1 else None,
    }
    if transposed:
        named["output_padding"] = per_axis_argument(given.output_padding, kind.rank, "output_padding", where)
    else:
        named["groups"] = given.groups
    kernel = per_axis_argument(given.kernel_size, kind.rank, "kernel_size", where)
    # Keras refuses bad arguments before it sees an input; as many channels as groups suit any number of groups.
    kind(given.groups, given.filters, kernel, **named)

    def build(shape: Shape) -> Layer:
        checked = shape_of(shape, where, rank=kind.rank + 2)
        layer = kind(axis_size(checked, axis, where), given.filters, kernel, **named)
        if not transposed:
            check_window(checked, axis, layer, where)
        layer = adapted(layer, lora.rank, lora.constraint, where, lora.alpha)
        return finished(activated(layer, given.activation, where), base, where)

    return door(name, build, input_shape, base)
