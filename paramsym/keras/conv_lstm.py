"""Keras' convolutional LSTMs, spelt as Keras spells them.

Arguments that change no weight (initialisers, dropout) are taken and have no effect. Activations other than the default, and
``go_backwards``, leave the layer without a forward pass: its parameters and shapes are known, ``run`` and ``flops`` raise ``NotYetError``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramsym.keras._base import Unstated, check_activation
from paramsym.keras._common import channel_axis, finished, padding_word, per_axis_argument, recurrent_options, what_is_returned
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import conv_lstm
from paramsym.size import Dim


def ConvLSTM1D(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = 1,
    activation: object = "tanh",
    recurrent_activation: object = "sigmoid",
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    recurrent_initializer: object = "orthogonal",
    bias_initializer: object = "zeros",
    unit_forget_bias: bool = True,
    kernel_regularizer: object = None,
    recurrent_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    recurrent_constraint: object = None,
    bias_constraint: object = None,
    dropout: float = 0.0,
    recurrent_dropout: float = 0.0,
    seed: int | None = None,
    return_sequences: bool = False,
    return_state: bool = False,
    go_backwards: bool = False,
    stateful: bool = False,
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.ConvLSTM1d``: ``kernel``, ``recurrent_kernel`` and ``bias`` of ``conv_lstm_cell``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> ConvLSTM1D(4, 3, input_shape=(None, 5, 10, 3)).params
    352
    """
    check_activation(activation, "keras.ConvLSTM1D")
    check_activation(recurrent_activation, "keras.ConvLSTM1D")
    arguments = _Arguments(filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, activation, recurrent_activation)
    options = recurrent_options(base, return_sequences, return_state, go_backwards, stateful)
    return _door("ConvLSTM1D", conv_lstm.ConvLSTM1d, arguments, base, options, input_shape)


def ConvLSTM2D(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = 1,
    activation: object = "tanh",
    recurrent_activation: object = "sigmoid",
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    recurrent_initializer: object = "orthogonal",
    bias_initializer: object = "zeros",
    unit_forget_bias: bool = True,
    kernel_regularizer: object = None,
    recurrent_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    recurrent_constraint: object = None,
    bias_constraint: object = None,
    dropout: float = 0.0,
    recurrent_dropout: float = 0.0,
    seed: int | None = None,
    return_sequences: bool = False,
    return_state: bool = False,
    go_backwards: bool = False,
    stateful: bool = False,
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.ConvLSTM2d``: ``kernel``, ``recurrent_kernel`` and ``bias`` of ``conv_lstm_cell``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> ConvLSTM2D(4, 3, input_shape=(None, 5, 10, 10, 3)).params
    1024
    """
    check_activation(activation, "keras.ConvLSTM2D")
    check_activation(recurrent_activation, "keras.ConvLSTM2D")
    arguments = _Arguments(filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, activation, recurrent_activation)
    options = recurrent_options(base, return_sequences, return_state, go_backwards, stateful)
    return _door("ConvLSTM2D", conv_lstm.ConvLSTM2d, arguments, base, options, input_shape)


def ConvLSTM3D(
    filters: Dim,
    kernel_size: Dim | Sequence[Dim],
    strides: Dim | Sequence[Dim] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Dim | Sequence[Dim] = 1,
    activation: object = "tanh",
    recurrent_activation: object = "sigmoid",
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    recurrent_initializer: object = "orthogonal",
    bias_initializer: object = "zeros",
    unit_forget_bias: bool = True,
    kernel_regularizer: object = None,
    recurrent_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    recurrent_constraint: object = None,
    bias_constraint: object = None,
    dropout: float = 0.0,
    recurrent_dropout: float = 0.0,
    seed: int | None = None,
    return_sequences: bool = False,
    return_state: bool = False,
    go_backwards: bool = False,
    stateful: bool = False,
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.ConvLSTM3d``: ``kernel``, ``recurrent_kernel`` and ``bias`` of ``conv_lstm_cell``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> ConvLSTM3D(4, 3, input_shape=(None, 5, 10, 10, 10, 3)).params
    3040
    """
    check_activation(activation, "keras.ConvLSTM3D")
    check_activation(recurrent_activation, "keras.ConvLSTM3D")
    arguments = _Arguments(filters, kernel_size, strides, padding, data_format, dilation_rate, use_bias, activation, recurrent_activation)
    options = recurrent_options(base, return_sequences, return_state, go_backwards, stateful)
    return _door("ConvLSTM3D", conv_lstm.ConvLSTM3d, arguments, base, options, input_shape)


@dataclass(frozen=True)
class _Arguments:
    """The arguments that change or check something, under Keras' names."""

    filters: Dim
    kernel_size: Dim | Sequence[Dim]
    strides: Dim | Sequence[Dim]
    padding: str
    data_format: str | None
    dilation_rate: Dim | Sequence[Dim]
    use_bias: bool
    activation: object
    recurrent_activation: object


def _door(
    name: str,
    kind: Any,
    given: _Arguments,
    base: dict[str, Any],
    options: Mapping[str, Any],
    input_shape: Shape | None,
) -> Layer | Unbuilt:
    where = f"keras.{name}"
    base.pop("unroll", None)
    base.pop("zero_output_for_mask", None)
    named: dict[str, Any] = {
        "stride": per_axis_argument(given.strides, kind.rank, "strides", where),
        "padding": padding_word(given.padding, where),
        "dilation": per_axis_argument(given.dilation_rate, kind.rank, "dilation_rate", where),
        "bias": given.use_bias,
        "data_format": "channels_first" if channel_axis(given.data_format, where) == 1 else None,
        **what_is_returned(options["return_sequences"], options["return_state"]),
    }
    kernel = per_axis_argument(given.kernel_size, kind.rank, "kernel_size", where)
    axis = channel_axis(given.data_format, where)
    stated = given.activation == "tanh" and given.recurrent_activation == "sigmoid" and not options["go_backwards"]
    kind(1, given.filters, kernel, **named)  # Keras refuses bad arguments before it sees an input.

    def build(shape: Shape) -> Layer:
        checked = shape_of(shape, where, rank=kind.rank + 3)
        step = (checked[0], *checked[2:])
        for position in range(1, len(step)):
            axis_size(step, position, where)  # Keras wants every axis but batch and time to be known
        layer = kind(axis_size(step, axis, where), given.filters, kernel, **named)
        return finished(layer if stated else Unstated(layer), base, where)

    return door(name, build, input_shape, options)
