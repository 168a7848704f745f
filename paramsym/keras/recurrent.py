"""Recurrent layers and their cells in Keras' spelling: Keras has one bias, torch two."""

from __future__ import annotations

from functools import partial
from typing import Any

from paramsym.core.layer import Layer
from paramsym.keras._arguments import takes, weights
from paramsym.keras._door import Door, Given, axis_size, listed, shape_of
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


def _opens(kind: Any, rank: int | None, given: Given, shape: Any) -> Layer:
    layer: Layer = kind(axis_size(shape_of(shape, rank), -1), **recurrent(kind, given))
    return layer


DROPPED = {"dropout": 0.0, "recurrent_dropout": 0.0}
FUNCTION = {"activation": "tanh"}
_UNITS = takes("units") | FUNCTION
GATES = {"recurrent_activation": "sigmoid"}
BIAS = {"use_bias": True}
SEED = {"seed": None}
UNMASKED = {"zero_output_for_mask": False}
_OLDER = {"implementation": 2}
_AFTER = {"reset_after": True}
_CUDNN = {"use_cudnn": "auto"}
_NAMES = ("kernel", "recurrent", "bias")
_FORGET = {"unit_forget_bias": True}
_STEPS = {**RETURNED, "unroll": False}
_STORED = "with Keras' ``kernel``, ``recurrent_kernel`` and ``bias``"
_TWO = "; with ``reset_after`` the bias is (2, 3*units)"


def _door(name: str, kind: Any, arguments: dict[str, Any], keywords: dict[str, Any], count: int, says: str = "") -> Door:
    """Return the door of a layer over (batch, steps, features), or of a cell."""
    rank, steps = (None, "") if name.endswith("Cell") else (3, "10, ")
    inside = "" if rank is None else f" of ``{kind.cell_name}``"
    said = f"Return ``paramsym.{kind.__name__}`` {_STORED}{inside}{says}.\n\n>>> {name}(4, input_shape=(None, {steps}8)).params\n{count}\n"
    return Door(partial(_opens, kind, rank), arguments, keywords, name=name, says=said)


def _weights(*, cell: bool, more: dict[str, Any] | None = None) -> dict[str, Any]:
    return weights(*_NAMES, activity=not cell, more=more) | DROPPED


DOORS = listed(
    _door("SimpleRNN", stacks.RNN, _UNITS | BIAS | _weights(cell=False) | _STEPS | SEED, UNMASKED, 52),
    _door("SimpleRNNCell", cells.RNNCell, _UNITS | BIAS | _weights(cell=True) | SEED, {}, 52),
    _door(
        "LSTM",
        stacks.LSTM,
        _UNITS | GATES | BIAS | _weights(cell=False, more=_FORGET) | SEED | _STEPS | _CUDNN,
        UNMASKED | _OLDER,
        208,
    ),
    _door("LSTMCell", cells.LSTMCell, _UNITS | GATES | BIAS | _weights(cell=True, more=_FORGET) | SEED, _OLDER, 208),
    _door(
        "GRU",
        stacks.GRU,
        _UNITS | GATES | BIAS | _weights(cell=False) | SEED | _STEPS | _AFTER | _CUDNN,
        UNMASKED | _OLDER,
        168,
        _TWO,
    ),
    _door("GRUCell", cells.GRUCell, _UNITS | GATES | BIAS | _weights(cell=True) | _AFTER | SEED, _OLDER, 168, _TWO),
)
