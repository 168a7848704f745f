"""ONNX's recurrent functions, by the cells of the layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramsym.errors import NotYetError
from paramsym.layers.cells import Cell, GRUCell, LSTMCell, RNNCell
from paramsym.program import Value, join, rearrange, segments, take
from paramsym.read.onnx_entries import ONNX, array
from paramsym.read.torch_entries import filled
from paramsym.read.torch_recurrent import scanned

_CELLS: Mapping[str, type[Cell]] = {"LSTM": LSTMCell, "GRU": GRUCell, "RNN": RNNCell}
_USUAL: Mapping[str, tuple[str, ...]] = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_GATES: Mapping[str, tuple[int, ...]] = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""The places of torch's gates among ONNX's: of an LSTM input, forget, cell, output; of a GRU reset, update, new."""


@ONNX("LSTM", "GRU", "RNN")
def _recurrent(
    X: Any,
    W: Any,
    R: Any,
    B: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    initial_c: Any = None,
    P: Any = None,
    activations: Any = None,
    clip: Any = None,
    direction: str = "forward",
    hidden_size: int = 0,
    input_forget: int = 0,
    layout: int = 0,
    linear_before_reset: int = 0,
    operator: str = "",
) -> tuple[Value, ...]:
    """Return the hidden states of all steps (length, directions, batch, hidden), then the last states."""
    if P is not None or input_forget or (operator != "LSTM" and initial_c is not None):
        raise NotYetError(f"{operator} with peepholes, coupled gates or a second state is not known.")
    if operator == "GRU" and not linear_before_reset:
        raise NotYetError("a GRU that resets before the product is not known.")
    if sequence_lens is not None or layout or clip is not None:
        raise NotYetError(f"{operator} with lengths, with the batch first or with limits of entries is not known.")
    x, kind, gates, usual = array(X), _CELLS[operator], _GATES[operator], _USUAL[operator]
    words = activations or ()
    relu = kind is RNNCell and set(words) == {"Relu"}
    if words and not relu and tuple(words) != usual * (len(words) // len(usual)):
        raise NotYetError(f"{operator} with the functions {', '.join(words)} is not known.")
    ways = 2 if direction == "bidirectional" else 1
    hidden = hidden_size or array(R).sizes[-1]
    zeros = filled((ways, x.sizes[1], hidden), 0.0)
    initial = (initial_h, initial_c) if operator == "LSTM" else (initial_h,)
    states = [zeros if one is None else array(one) for one in initial]
    outputs, last = [], []
    for way in range(ways):
        weights = [_ordered(take(array(one), 0, way), hidden, gates) for one in (W, R)]
        if B is not None:
            weights += [_ordered(one, hidden, gates) for one in segments(take(array(B), 0, way), *(len(gates) * hidden,) * 2, axis=0)]
        more = {"nonlinearity": "relu" if relu else "tanh"} if kind is RNNCell else {}
        reverse = way == 1 or direction == "reverse"
        *ends, output = scanned(kind, more, x, [take(one, 0, way) for one in states], weights, B is not None, False, reverse)
        outputs.append(rearrange(output, "s b h -> s () b h"))
        last.append([rearrange(one, "b h -> () b h") for one in ends])
    y = outputs[0] if ways == 1 else join(*outputs, axis=1)
    return (y, *(one[0] if ways == 1 else join(*one, axis=0) for one in zip(*last, strict=True)))


def _ordered(x: Value, hidden: Any, gates: Sequence[int]) -> Value:
    """Return the gates of a matrix or a bias in torch's order."""
    if len(gates) == 1:
        return x
    pieces = segments(x, *(hidden,) * len(gates), axis=0)
    return join(*(pieces[place] for place in gates), axis=0)
