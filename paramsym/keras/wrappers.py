"""Wrappers in Keras' spelling.

The wrapped layer is the result of another door, with or without an input shape, or its name: ``layer="LSTM", layer_kwargs={"units": 4}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from paramsym.algebra.size import size
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, ShapeError, UnknownNameError
from paramsym.keras._arguments import takes
from paramsym.keras._door import DOORS, Given, Unbuilt, door, shape_of
from paramsym.layers import wrappers
from paramsym.layers.reparametrized import SpectralNorm
from paramsym.layers.wrappers import keras_name
from paramsym.naming import described

_RECURRENT = frozenset({"GRU", "LSTM", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"})
_INNER = {"layer_kwargs": None}


def _check_directions(given: Given) -> bool:
    """Compare the arguments that Keras compares, as far as they were given."""
    forward, backward = _directions(given)
    for layer in (forward, backward):
        if isinstance(layer, Unbuilt) and layer.name not in _RECURRENT:
            raise ArgumentError(f"{layer.name} is not a recurrent layer; wanted one of {', '.join(sorted(_RECURRENT))}.")
    if isinstance(forward, Layer) or isinstance(backward, Layer):
        return isinstance(forward, Layer) and isinstance(backward, Layer | None)
    there, back = forward.options, (backward or forward).options
    if there["go_backwards"] if backward is None else there["go_backwards"] == back["go_backwards"]:
        message = "both directions would read in the same direction; the backward layer needs go_backwards=True, the forward one False."
        raise ArgumentError(message)
    for flag in ("stateful", "return_sequences", "return_state"):
        if there[flag] != back[flag]:
            raise ArgumentError(f"{flag} is {there[flag]} forwards and {back[flag]} backwards; wanted the same in both.")
    return False


@door(takes("layer", merge_mode="concat", weights=None, backward_layer=None), _INNER, complete=_check_directions)
def Bidirectional(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.Bidirectional`` around a recurrent layer: ``forward_lstm``, ``backward_lstm``.

    >>> Bidirectional(LSTM(4), input_shape=(None, 10, 8)).params
    416
    """
    forward, backward = _directions(given)
    back = None if backward is None else _built(backward, shape)
    names = {"name": _name(forward), "backward_name": "" if backward is None else _name(backward)}
    return wrappers.Bidirectional(_built(forward, shape), given.merge_mode, back, **names)


def _ready(given: Given) -> bool:
    return isinstance(_inner(given), Layer)


@door(takes("layer", power_iterations=1), _INNER, reads={"power_iterations": size}, complete=_ready)
def SpectralNormalization(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.SpectralNorm`` around a layer with a kernel, or an embedding.

    >>> list(SpectralNormalization(Dense(4), input_shape=(None, 8)).shapes(buffers=True))
    ['dense.kernel', 'vector_u', 'dense.bias']
    """
    inner = _inner(given)
    built = _built(inner, shape)
    if not any(tensor.name in {"kernel", "embeddings"} for tensor in built.own_tensors[:1]):
        raise ArgumentError(f"{type(built).__name__} has neither a kernel nor embeddings.")
    return SpectralNorm(built, called="" if isinstance(inner, Layer) else _name(inner))


@door(takes("layer"), _INNER, complete=_ready)
def TimeDistributed(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.TimeDistributed``: one layer for every step along axis 1, stored once.

    >>> TimeDistributed(LSTM(4), input_shape=(None, 5, 10, 8)).params
    208
    """
    inner, step = _inner(given), None
    if shape is not None:
        checked = shape_of(shape)
        if len(checked) < 3:
            raise ShapeError(f"input_shape {checked} has {len(checked)} axes; wanted batch, time and at least one more.")
        step = (checked[0], *checked[2:])
    return wrappers.TimeDistributed(_built(inner, step), _name(inner))


def _inner(given: Given) -> Layer | Unbuilt:
    return _wrapped(given.layer, given.layer_kwargs)


def _directions(given: Given) -> tuple[Layer | Unbuilt, Layer | Unbuilt | None]:
    return _inner(given), None if given.backward_layer is None else _wrapped(given.backward_layer, None)


def _wrapped(layer: object, arguments: object) -> Layer | Unbuilt:
    """Return the layer to wrap, built by its name if that is given."""
    if not isinstance(arguments, Mapping | None):
        raise ArgumentError(f"layer_kwargs is {described(arguments)}; wanted a dictionary of arguments.")
    named: Mapping[Any, Any] = arguments or {}
    foreign = next((name for name in named if not isinstance(name, str)), None)
    if foreign is not None:
        raise ArgumentError(f"layer_kwargs has the key {described(foreign)}; wanted names of arguments, as in {{'units': 4}}.")
    if isinstance(layer, str):
        if layer not in DOORS:
            raise UnknownNameError(f"there is no layer {layer!r}; wanted one of {', '.join(sorted(DOORS))}.")
        opens = DOORS[layer]
        try:
            signature(opens).bind(**named)
        except TypeError as error:
            raise ArgumentError(f"layer_kwargs for keras.{opens.__name__}: {error}.") from None
        opened: Layer | Unbuilt = opens(**named)
        # A layer that needs no input shape may still have a given name.
        return Unbuilt(layer, lambda _: opened, named) if isinstance(opened, Layer) and "name" in named else opened
    if not isinstance(layer, Layer | Unbuilt):
        raise ArgumentError(f"layer is {described(layer)}; wanted a layer such as keras.LSTM(4).")
    if named:
        raise ArgumentError("layer_kwargs go with the name of a layer, as in layer='LSTM'; this layer is already built.")
    return layer


def _built(layer: Layer | Unbuilt, input_shape: Any) -> Layer:
    return layer if isinstance(layer, Layer) else layer.build(input_shape)


def _name(layer: Layer | Unbuilt) -> str:
    if isinstance(layer, Layer):
        return keras_name(layer)
    return layer.options.get("name") or keras_name(layer.name)
