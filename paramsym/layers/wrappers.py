"""Wrappers around one layer: both directions of a recurrent layer, and one layer for every step in time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from paramsym import program as ops
from paramsym.algebra.size import text
from paramsym.core.around import Around
from paramsym.core.layer import Layer, Part
from paramsym.errors import ShapeError, StructureError

if TYPE_CHECKING:
    from paramsym.program import Own, Value


def keras_name(layer: Layer | str) -> str:
    """Return Keras' name of a layer, from its class or from Keras' own spelling.

    >>> from paramsym import H, LSTM, RNN
    >>> keras_name("Conv2DTranspose"), keras_name(LSTM(H, H)), keras_name(RNN(H, H, dialect="keras"))
    ('conv2d_transpose', 'lstm', 'simple_rnn')
    """
    layer = _inside(layer)
    name = layer if isinstance(layer, str) else type(layer).__name__
    if name == "RNN" and getattr(layer, "dialect", "") == "keras":
        name = "SimpleRNN"
    return re.sub(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _inside(layer: Any) -> Any:
    return _inside(layer.layer) if isinstance(layer, Around) else layer


@dataclass(frozen=True)
class Bidirectional(Layer):
    r"""A recurrent layer and a copy that reads the sequence backwards, with separate weights.

    The two are under ``forward_<name>`` and ``backward_<name>``; ``name`` is Keras' name of the layer (``lstm``), or ``rnn`` in Flax'
    dialect. ``backward_layer`` is a different layer for the backward direction; it has its own name, or ``backward_name``. ``merge_mode``
    says how the two outputs are merged and does not change the count. Parameters: twice those of the layer.

    Raises:
        StructureError: a layer of torch that already has both directions.

    Reference: Keras: ``Bidirectional``; Flax: ``linen.Bidirectional``. Schuster and Paliwal 1997.

    >>> from paramsym import H, LSTM, dims
    >>> Bidirectional(LSTM(dims("i"), H, dialect="keras")).params
    8*H**2 + 8*H*i + 8*H
    >>> list(Bidirectional(LSTM(8, 4, bias=False, dialect="keras")).shapes())[:2]
    ['forward_lstm.lstm_cell.kernel', 'forward_lstm.lstm_cell.recurrent_kernel']
    """

    layer: Layer
    merge_mode: Literal["sum", "mul", "ave", "concat"] | None = "concat"
    backward_layer: Layer | None = None
    name: str = ""
    backward_name: str = ""

    def conditions(self) -> None:
        for layer in (self.layer, self.backward_layer):
            if layer is not None and getattr(layer, "bidirectional", False):
                raise StructureError(f"{type(layer).__name__} already has both directions (bidirectional=True); wrap it without.")

    def parts(self) -> Iterator[Part]:
        flax = getattr(self.layer, "dialect", "") in {"flax", "nnx"}
        name = self.name or ("rnn" if flax else keras_name(self.layer))
        backward = self.backward_name or f"backward_{name.removeprefix('backward_')}"
        if self.backward_layer is not None and not self.backward_name and not flax:
            backward = keras_name(self.backward_layer)
        yield Part(f"forward_{name.removeprefix('forward_')}", self.layer)
        yield Part(backward, self.layer if self.backward_layer is None else self.backward_layer)

    def forward(self, own: Own, x: Value) -> Any:
        """The outputs joined or merged, then the states; a backward layer that has ``go_backwards`` reads the sequence unchanged."""
        forward, backward = self.own_parts
        alone = sum(bool(getattr(_inside(part.layer), "go_backwards", False)) for part in self.own_parts) == 1
        there, *states = ops.each(own[forward.name](x))
        back, *others = ops.each(own[backward.name](x if alone else ops.flip(x, 1)))
        back = ops.flip(back, 1) if back.rank == x.rank else back
        if self.merge_mode is None:
            return (there, back, *states, *others)
        merged = ops.join(there, back) if self.merge_mode == "concat" else there * back if self.merge_mode == "mul" else there + back
        merged = merged / 2 if self.merge_mode == "ave" else merged
        return (merged, *states, *others) if states else merged


@dataclass(frozen=True)
class TimeDistributed(Layer):
    r"""One layer applied to every step in time; its weights are stored once.

    The layer is under ``name``, by default Keras' name of it (``dense``). Parameters: those of the layer.

    Reference: Keras: ``TimeDistributed``.

    >>> from paramsym import Dense, F, H
    >>> TimeDistributed(Dense(H, F)).params
    F*H + F
    >>> TimeDistributed(Dense(8, 4, dialect="keras")).shapes()
    {'dense.kernel': (8, 4), 'dense.bias': (4,)}
    """

    layer: Layer
    name: str = ""

    def parts(self) -> Iterator[Part]:
        yield Part(self.name or keras_name(self.layer), self.layer)

    def forward(self, own: Own, x: Value) -> Value:
        if x.rank < 3:
            raise ShapeError(f"wanted batch, time and at least one more axis; found {x.rank}, {text(x.sizes)}.")
        return ops.scan(lambda step: (own[self.own_parts[0].name](step),), (), x)[0]
