"""Torch's recurrent functions, by the cells of the layers: one scan for every level and direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from paramsym.errors import NotYetError
from paramsym.layers.cells import Cell, GRUCell, LSTMCell, RNNCell
from paramsym.program import Value, contract, drop, join, known, rearrange, scan, take
from paramsym.read.torch_entries import TORCH

_MATRICES = ("weight_ih", "weight_hh")
_BIASES = ("bias_ih", "bias_hh")
_GATES: Mapping[type[Cell], int] = {LSTMCell: 4, GRUCell: 3, RNNCell: 1}


class _Weights:
    """The tensors of a cell by name, with its gates as segments of their axes."""

    def __init__(self, cell: Cell, values: Mapping[str, Value]) -> None:
        self.values = {name: known(x, cell.gates, *x.shape[1:]) for name, x in values.items()}

    def __getitem__(self, name: str) -> Value:
        return self.values[name]


def _cell(kind: type[Cell], weights: Sequence[Value], more: Mapping[str, Any], *, bias: bool) -> tuple[Any, _Weights]:
    """Return a cell and its tensors, from the matrices and the biases in torch's order."""
    gates = _GATES[kind]
    rows: Any = weights[0].sizes[0]
    cell: Any = kind(weights[0].sizes[1], rows // gates, bias, **more)
    names = (*_MATRICES, *(_BIASES if bias else ()))
    return cell, _Weights(cell, dict(zip(names, weights, strict=False)))


def _stacked(
    kind: type[Cell],
    more: Mapping[str, Any],
    input: Value,
    hx: Any,
    params: Sequence[Value],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Value, ...]:
    """Return the hidden states of all steps, then the last states of all levels."""
    x, states = rearrange(input, "b s f -> s b f") if batch_first else input, _states(hx)
    ways = 2 if bidirectional else 1
    each = len(params) // (num_layers * ways)
    projected = each > len(_MATRICES) + len(_BIASES) * has_biases
    last: list[list[Value]] = []
    for level in range(num_layers):
        x = drop(x, dropout) if level and train else x
        outputs = []
        for way in range(ways):
            place = level * ways + way
            weights = params[place * each : (place + 1) * each]
            *ends, output = scanned(kind, more, x, [take(one, 0, place) for one in states], weights, has_biases, projected, way == 1)
            outputs.append(output)
            last.append(ends)
        x = outputs[0] if ways == 1 else join(*outputs)
    stacked = [_along_levels(list(one)) for one in zip(*last, strict=True)]
    return (rearrange(x, "s b f -> b s f") if batch_first else x, *stacked)


def _states(hx: Any) -> tuple[Value, ...]:
    """Return the states, of which torch gives one by itself."""
    return hx if isinstance(hx, tuple) else (hx,)


def _along_levels(states: list[Value]) -> Value:
    rows = [rearrange(one, "b h -> () b h") for one in states]
    return rows[0] if len(rows) == 1 else join(*rows, axis=0)


def scanned(
    kind: type[Cell],
    more: Mapping[str, Any],
    x: Value,
    states: Sequence[Value],
    weights: Sequence[Value],
    bias: bool,
    projected: bool,
    reverse: bool,
) -> tuple[Value, ...]:
    """Return the last states of one level in one direction, then the hidden states of all steps; gates are in torch's order."""
    cell, own = _cell(kind, weights, more, bias=bias)
    fed = cell.product(own, "i", x)

    def step(*given: Value) -> tuple[Value, ...]:
        *before, entry = given
        hidden, *others = cell.gated(own, entry, cell.product(own, "h", before[0]), *before)
        hidden = contract("b i, o i -> b o", hidden, weights[-1]) if projected else hidden
        return (hidden, *others, hidden)

    return scan(step, tuple(states), fed, axis=0, reverse=reverse)


def _recurrent(name: str, kind: type[Cell], **more: Any) -> None:
    TORCH(name)(partial(_stacked, kind, more))

    @TORCH(f"{name}_cell")
    def one_step(
        input: Value, hx: Any, w_ih: Value, w_hh: Value, b_ih: Value | None = None, b_hh: Value | None = None
    ) -> tuple[Value, ...]:
        biases = [one for one in (b_ih, b_hh) if one is not None]
        if len(biases) == 1:
            raise NotYetError(f"{name}_cell with only one of its biases is not known.")
        cell, own = _cell(kind, (w_ih, w_hh, *biases), more, bias=bool(biases))
        return tuple(cell.step(own, input, *_states(hx)))


_recurrent("lstm", LSTMCell)
_recurrent("gru", GRUCell)
_recurrent("rnn_tanh", RNNCell, nonlinearity="tanh")
_recurrent("rnn_relu", RNNCell, nonlinearity="relu")
