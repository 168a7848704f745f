"""Keras' wrappers, spelt as Keras spells them.

The wrapped layer is what another door returns, with or without an input shape, or its name: ``layer="LSTM", layer_kwargs={"units": 4}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from paramsym.errors import ArgumentError, ShapeError, UnknownNameError
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape, Unbuilt, door, shape_of
from paramsym.layer import Layer
from paramsym.layers import wrappers
from paramsym.layers.reparametrized import SpectralNorm
from paramsym.layers.wrappers import keras_name
from paramsym.naming import described
from paramsym.size import size

Wrapped: TypeAlias = Layer | Unbuilt | str
_RECURRENT = frozenset({"GRU", "LSTM", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"})
_COMPARED = ("stateful", "return_sequences", "return_state")
_LEAST_AXES = 3


def Bidirectional(
    layer: Wrapped,
    merge_mode: str | None = "concat",
    weights: object = None,
    backward_layer: Wrapped | None = None,
    *,
    layer_kwargs: Mapping[str, Any] | None = None,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.Bidirectional`` around a recurrent layer: ``forward_lstm``, ``backward_lstm``.

    Raises:
        ParamsymError: what Keras refuses, such as two directions that read the same way.

    >>> from paramsym import keras
    >>> Bidirectional(keras.LSTM(4), input_shape=(None, 10, 8)).params
    416
    """
    where = "keras.Bidirectional"
    forward = _wrapped(layer, layer_kwargs, where)
    backward = None if backward_layer is None else _wrapped(backward_layer, None, where)
    _check_directions(forward, backward, where)

    def build(shape: Shape | None) -> Layer:
        wrapped = wrappers.Bidirectional(
            _built(forward, shape),
            merge_mode,  # type: ignore[arg-type]
            None if backward is None else _built(backward, shape),
            name=_name(forward),
            backward_name="" if backward is None else _name(backward),
        )
        return finished(wrapped, base, where)

    ready = isinstance(forward, Layer) and (backward is None or isinstance(backward, Layer))
    return build(input_shape) if ready else door("Bidirectional", build, input_shape, base)


def SpectralNormalization(
    layer: Wrapped,
    power_iterations: int = 1,
    *,
    layer_kwargs: Mapping[str, Any] | None = None,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.SpectralNorm`` around a layer with a kernel, or an embedding: ``dense.kernel``, ``vector_u``, ``dense.bias``.

    Raises:
        ParamsymError: a layer without a kernel, or what the layer refuses.

    >>> from paramsym import keras
    >>> list(SpectralNormalization(keras.Dense(4), input_shape=(None, 8)).shapes(buffers=True))
    ['dense.kernel', 'vector_u', 'dense.bias']
    """
    where = "keras.SpectralNormalization"
    size(power_iterations, f"{where}: power_iterations")
    inner = _wrapped(layer, layer_kwargs, where)

    def build(shape: Shape | None) -> Layer:
        built = _built(inner, shape)
        if not any(tensor.name in {"kernel", "embeddings"} for tensor in built.own_tensors[:1]):
            message = f"{where}: {type(built).__name__} has neither kernel nor embeddings of its own."
            raise ArgumentError(message)
        return finished(SpectralNorm(built, called="" if isinstance(inner, Layer) else _name(inner)), base, where)

    return build(input_shape) if isinstance(inner, Layer) else door("SpectralNormalization", build, input_shape, base)


def TimeDistributed(
    layer: Wrapped,
    *,
    layer_kwargs: Mapping[str, Any] | None = None,
    input_shape: Shape | None = None,
    **base: Any,
) -> Layer | Unbuilt:
    """Return ``paramsym.TimeDistributed``: one layer for every step along axis 1, stored once.

    Raises:
        ParamsymError: an input shape without an axis for time, or what the layer refuses.

    >>> from paramsym import keras
    >>> TimeDistributed(keras.LSTM(4), input_shape=(None, 5, 10, 8)).params
    208
    """
    where = "keras.TimeDistributed"
    inner = _wrapped(layer, layer_kwargs, where)

    def build(shape: Shape | None) -> Layer:
        step: Shape | None = None
        if shape is not None:
            checked = shape_of(shape, where)
            if len(checked) < _LEAST_AXES:
                message = f"{where}: input_shape {checked} has {len(checked)} axes; wanted batch, time and at least one more."
                raise ShapeError(message)
            step = (checked[0], *checked[2:])
        return finished(wrappers.TimeDistributed(_built(inner, step), _name(inner)), base, where)

    return build(input_shape) if isinstance(inner, Layer) else door("TimeDistributed", build, input_shape, base)


def _wrapped(layer: object, arguments: Mapping[str, Any] | None, where: str) -> Layer | Unbuilt:
    """Return the layer to wrap, opened by its name where that is given."""
    from paramsym import keras  # the room itself, for its other doors

    if not isinstance(arguments, Mapping | None):
        message = f"{where}: layer_kwargs is {described(arguments)}; wanted a dictionary of arguments."  # type: ignore[unreachable]
        raise ArgumentError(message)
    if isinstance(layer, str):
        if layer not in dir(keras):
            message = f"{where}: there is no layer {layer!r}; there are {', '.join(dir(keras))}."
            raise UnknownNameError(message)
        opened = getattr(keras, layer)(**(arguments or {}))
        # A door that passes no options on still has a name, where one was given.
        if isinstance(opened, Layer):
            return Unbuilt(layer, lambda _: opened, arguments or {}) if "name" in (arguments or {}) else opened
        return Unbuilt(opened.name, opened.build, {**(arguments or {}), **opened.options})
    if not isinstance(layer, Layer | Unbuilt):
        message = f"{where}: layer is {described(layer)}; wanted a layer such as keras.LSTM(4)."
        raise ArgumentError(message)
    if arguments:
        message = f"{where}: layer_kwargs go with the name of a layer, as in layer='LSTM'; this layer is already made."
        raise ArgumentError(message)
    return layer


def _built(layer: Layer | Unbuilt, input_shape: Shape | None) -> Layer:
    return layer if isinstance(layer, Layer) else layer.build(input_shape)


def _name(layer: Layer | Unbuilt) -> str:
    if isinstance(layer, Layer):
        return keras_name(layer)
    return layer.options.get("name") or keras_name(layer.name)


def _check_directions(forward: Layer | Unbuilt, backward: Layer | Unbuilt | None, where: str) -> None:
    """Compare what Keras compares, as far as the doors were told."""
    for layer in (forward, backward):
        if isinstance(layer, Unbuilt) and layer.name not in _RECURRENT:
            message = f"{where}: {layer.name} is not a recurrent layer; wanted one of {', '.join(sorted(_RECURRENT))}."
            raise ArgumentError(message)
    if isinstance(forward, Layer) or isinstance(backward, Layer):
        return
    onwards = forward.options.get("go_backwards", False)
    if onwards if backward is None else onwards == backward.options.get("go_backwards", False):
        message = f"{where}: both directions would read the same way; the backward layer needs go_backwards=True, the forward one False."
        raise ArgumentError(message)
    there, back = forward.options, forward.options if backward is None else backward.options
    for flag in _COMPARED:
        if there.get(flag, False) != back.get(flag, False):
            message = f"{where}: {flag} is {there.get(flag, False)} forwards and {back.get(flag, False)} backwards."
            raise ArgumentError(message)
