"""Recurrent layers and their cells in Keras' spelling: Keras has one bias, torch two."""

from __future__ import annotations

from typing import Any

from paramsym.core.layer import Layer
from paramsym.keras._arguments import takes, weights
from paramsym.keras._door import Door, Given, axis_size, shape_of
from paramsym.layers import cells, recurrent as stacks
from paramsym.layers.activation import Sigmoid, Tanh

RETURNED = takes(return_sequences=False, return_state=False, go_backwards=False, stateful=False)
_USUAL = {"activation": Tanh(), "recurrent_activation": Sigmoid()}


def recurrent(kind: Any, given: Given) -> dict[str, Any]:
    """Return the arguments of a recurrent layer or a convolution; a value that Keras chooses is None here.

    Keras' ``dropout`` applies to the input of the cell, torch's between layers, so it is not passed on.
    """
    named = {**given.named(kind), "dialect": "keras"}
    named.pop("dropout", None)
    if named.get("return_sequences") is False:
        named["return_sequences"] = None
    return {**named, **{name: None for name, layer in _USUAL.items() if named.get(name) == layer}}


def _door(name: str, kind: Any, arguments: dict[str, Any], keywords: dict[str, Any], count: int, says: str = "") -> None:
    """Make the door of a layer over (batch, steps, features), or of a cell."""
    cell = name.endswith("Cell")
    inside = "" if cell else f" of ``{kind.cell_name}``"

    def opens(given: Given, shape: Any) -> Layer:
        layer: Layer = kind(axis_size(shape_of(shape, None if cell else 3), -1), **recurrent(kind, given))
        return layer

    said = f"Return ``paramsym.{kind.__name__}`` with Keras' ``kernel``, ``recurrent_kernel`` and ``bias``{inside}{says}.\n\n"
    said += f">>> {name}(4, input_shape=(None, {'' if cell else '10, '}8)).params\n{count}\n"
    Door(opens, arguments, keywords, name=name, says=said)


DROPPED = takes(dropout=0.0, recurrent_dropout=0.0)
SEED = {"seed": None}
UNMASKED = {"zero_output_for_mask": False}
FORGET = {"unit_forget_bias": True}
_PLAIN = takes("units", activation="tanh", use_bias=True)
_GATED = takes("units", activation="tanh", recurrent_activation="sigmoid", use_bias=True)
_OLDER = {"implementation": 2}
_AFTER = {"reset_after": True}
_CUDNN = {"use_cudnn": "auto"}
_STEPS = {**RETURNED, "unroll": False}
_TWO = "; with ``reset_after`` the bias is (2, 3*units)"


def weighted(*, activity: bool = True, more: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the arguments of the three weights, and dropout."""
    return weights("kernel", "recurrent", "bias", activity=activity, more=more) | DROPPED


_door("SimpleRNN", stacks.RNN, _PLAIN | weighted() | _STEPS | SEED, UNMASKED, 52)
_door("SimpleRNNCell", cells.RNNCell, _PLAIN | weighted(activity=False) | SEED, {}, 52)
_door("LSTM", stacks.LSTM, _GATED | weighted(more=FORGET) | SEED | _STEPS | _CUDNN, UNMASKED | _OLDER, 208)
_door("LSTMCell", cells.LSTMCell, _GATED | weighted(activity=False, more=FORGET) | SEED, _OLDER, 208)
_door("GRU", stacks.GRU, _GATED | weighted() | SEED | _STEPS | _AFTER | _CUDNN, UNMASKED | _OLDER, 168, _TWO)
_door("GRUCell", cells.GRUCell, _GATED | weighted(activity=False) | _AFTER | SEED, _OLDER, 168, _TWO)
