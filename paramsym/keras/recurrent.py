"""Keras' recurrent layers and their cells, spelt as Keras spells them.

Arguments that change no weight (initialisers, dropout) are taken and have no effect. Activations other than the default, and
``go_backwards``, leave the layer without a forward pass: its parameters and shapes are known, ``run`` and ``flops`` raise ``NotYetError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from paramsym.errors import ArgumentError
from paramsym.keras._base import Unstated, check_activation
from paramsym.keras._common import finished, recurrent_options, what_is_returned
from paramsym.keras._unbuilt import Shape, Unbuilt, axis_size, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import cells, recurrent
from paramsym.naming import quoted
from paramsym.size import Dim


def SimpleRNN(
    units: Dim,
    activation: object = "tanh",
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    recurrent_initializer: object = "orthogonal",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    recurrent_regularizer: object = None,
    bias_regularizer: object = None,
    activity_regularizer: object = None,
    kernel_constraint: object = None,
    recurrent_constraint: object = None,
    bias_constraint: object = None,
    dropout: float = 0.0,
    recurrent_dropout: float = 0.0,
    return_sequences: bool = False,
    return_state: bool = False,
    go_backwards: bool = False,
    stateful: bool = False,
    unroll: bool = False,
    seed: int | None = None,
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.RNN`` with what Keras stores: ``kernel``, ``recurrent_kernel``, ``bias`` of ``simple_rnn_cell``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> SimpleRNN(4, input_shape=(None, 10, 8)).params
    52
    """
    check_activation(activation, "keras.SimpleRNN")
    base.pop("zero_output_for_mask", None)
    options = recurrent_options(base, return_sequences, return_state, go_backwards, stateful)
    returned = what_is_returned(return_sequences, return_state)
    stated = activation == "tanh" and not go_backwards
    build = partial(_build, "SimpleRNN", recurrent.RNN, units, base, rank=3, bias=use_bias, **returned, stated=stated)
    return door("SimpleRNN", build, input_shape, options)


def SimpleRNNCell(
    units: Dim,
    activation: object = "tanh",
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    recurrent_initializer: object = "orthogonal",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    recurrent_regularizer: object = None,
    bias_regularizer: object = None,
    kernel_constraint: object = None,
    recurrent_constraint: object = None,
    bias_constraint: object = None,
    dropout: float = 0.0,
    recurrent_dropout: float = 0.0,
    seed: int | None = None,
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.RNNCell`` with what Keras stores: ``kernel``, ``recurrent_kernel``, ``bias``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> SimpleRNNCell(4, input_shape=(None, 8)).params
    52
    """
    check_activation(activation, "keras.SimpleRNNCell")
    stated = activation == "tanh"
    build = partial(_build, "SimpleRNNCell", cells.RNNCell, units, base, bias=use_bias, stated=stated)
    return door("SimpleRNNCell", build, input_shape, base)


def LSTM(
    units: Dim,
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
    unroll: bool = False,
    use_cudnn: bool | str = "auto",
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.LSTM`` with what Keras stores: ``kernel``, ``recurrent_kernel``, ``bias`` of ``lstm_cell``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> LSTM(4, input_shape=(None, 10, 8)).params
    208
    """
    check_activation(activation, "keras.LSTM")
    check_activation(recurrent_activation, "keras.LSTM")
    base.pop("implementation", None)
    base.pop("zero_output_for_mask", None)
    _check_cudnn(use_cudnn, "LSTM")
    options = recurrent_options(base, return_sequences, return_state, go_backwards, stateful)
    returned = what_is_returned(return_sequences, return_state)
    stated = activation == "tanh" and recurrent_activation == "sigmoid" and not go_backwards
    build = partial(_build, "LSTM", recurrent.LSTM, units, base, rank=3, bias=use_bias, **returned, stated=stated)
    return door("LSTM", build, input_shape, options)


def LSTMCell(
    units: Dim,
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
    kernel_constraint: object = None,
    recurrent_constraint: object = None,
    bias_constraint: object = None,
    dropout: float = 0.0,
    recurrent_dropout: float = 0.0,
    seed: int | None = None,
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.LSTMCell`` with what Keras stores: ``kernel``, ``recurrent_kernel``, ``bias``.

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> LSTMCell(4, input_shape=(None, 8)).params
    208
    """
    check_activation(activation, "keras.LSTMCell")
    check_activation(recurrent_activation, "keras.LSTMCell")
    base.pop("implementation", None)
    stated = activation == "tanh" and recurrent_activation == "sigmoid"
    build = partial(_build, "LSTMCell", cells.LSTMCell, units, base, bias=use_bias, stated=stated)
    return door("LSTMCell", build, input_shape, base)


def GRU(
    units: Dim,
    activation: object = "tanh",
    recurrent_activation: object = "sigmoid",
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    recurrent_initializer: object = "orthogonal",
    bias_initializer: object = "zeros",
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
    unroll: bool = False,
    reset_after: bool = True,
    use_cudnn: bool | str = "auto",
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.GRU`` with what Keras stores: ``kernel``, ``recurrent_kernel``, ``bias`` of ``gru_cell``.

    With ``reset_after`` the bias is (2, 3*units).

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> GRU(4, input_shape=(None, 10, 8)).params
    168
    """
    check_activation(activation, "keras.GRU")
    check_activation(recurrent_activation, "keras.GRU")
    base.pop("implementation", None)
    base.pop("zero_output_for_mask", None)
    _check_cudnn(use_cudnn, "GRU")
    options = recurrent_options(base, return_sequences, return_state, go_backwards, stateful)
    returned = what_is_returned(return_sequences, return_state)
    stated = activation == "tanh" and recurrent_activation == "sigmoid" and not go_backwards
    build = partial(_build, "GRU", recurrent.GRU, units, base, rank=3, bias=use_bias, reset_after=reset_after, **returned, stated=stated)
    return door("GRU", build, input_shape, options)


def GRUCell(
    units: Dim,
    activation: object = "tanh",
    recurrent_activation: object = "sigmoid",
    use_bias: bool = True,
    kernel_initializer: object = "glorot_uniform",
    recurrent_initializer: object = "orthogonal",
    bias_initializer: object = "zeros",
    kernel_regularizer: object = None,
    recurrent_regularizer: object = None,
    bias_regularizer: object = None,
    kernel_constraint: object = None,
    recurrent_constraint: object = None,
    bias_constraint: object = None,
    dropout: float = 0.0,
    recurrent_dropout: float = 0.0,
    reset_after: bool = True,
    seed: int | None = None,
    *,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.GRUCell`` with what Keras stores: ``kernel``, ``recurrent_kernel``, ``bias``.

    With ``reset_after`` the bias is (2, 3*units).

    Raises:
        ParamsymError: what Keras refuses, in arguments or input shape.

    >>> GRUCell(4, input_shape=(None, 8)).params
    168
    """
    check_activation(activation, "keras.GRUCell")
    check_activation(recurrent_activation, "keras.GRUCell")
    base.pop("implementation", None)
    stated = activation == "tanh" and recurrent_activation == "sigmoid"
    build = partial(_build, "GRUCell", cells.GRUCell, units, base, bias=use_bias, reset_after=reset_after, stated=stated)
    return door("GRUCell", build, input_shape, base)


def _build(
    name: str, kind: Any, units: Dim, base: Mapping[str, Any], input_shape: Shape, *, stated: bool, rank: int | None = None, **named: Any
) -> Layer:
    where = f"keras.{name}"
    width = axis_size(shape_of(input_shape, where, rank=rank), -1, where)
    layer = kind(width, units, **named, dialect="keras")
    return finished(layer if stated else Unstated(layer), base, where)


def _check_cudnn(use_cudnn: object, name: str) -> None:
    if not isinstance(use_cudnn, str | int) or use_cudnn not in {"auto", True, False}:
        message = f"keras.{name}: use_cudnn is {quoted(use_cudnn)}; wanted 'auto', True or False."
        raise ArgumentError(message)
