"""The gates of recurrent cells: their order in each framework, and how they compute the next state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from paramsym import program as ops
from paramsym.algebra.size import Dim, cat
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Dialect: TypeAlias = Literal["torch", "keras", "flax", "nnx"]
"""Flax has two interfaces: linen (``flax``) has dense layers for every gate, NNX (``nnx``) one for the input and one for the state."""


Functions: TypeAlias = "tuple[Callable[[Value], Value], Callable[[Value], Value]]"

USUAL: Functions = (lambda x: ops.apply("tanh", x), lambda x: ops.apply("sigmoid", x))
"""The activation of a state, and that of a gate."""


def functions(own: Own, layer: Any) -> Functions:
    """Return the activations of a recurrent layer: given ones in Keras, or the defaults."""
    return tuple(  # type: ignore[return-value]
        usual if given is None else partial(given.forward, own)
        for given, usual in zip((layer.activation, layer.recurrent_activation), USUAL, strict=True)
    )


def check_functions(layer: Any) -> None:
    """Raise ``ArgumentError`` for Keras' arguments in torch or Flax: other activations, reading from the end."""
    for name in ("activation", "recurrent_activation", "go_backwards"):
        value = getattr(layer, name, None)
        if layer.dialect != "keras" and value not in {None, False}:
            raise ArgumentError(f"{name} is {value!r}, which needs dialect='keras'; found dialect={layer.dialect!r}.")
        if isinstance(value, Layer) and value.lines:
            raise ArgumentError(f"{name} is {value!r}, which stores tensors; wanted a function such as ReLU().")


def returned(layer: Any, outputs: Callable[[], Value], states: Sequence[Value]) -> Any:
    """Return the hidden states of all steps, or the last one, as Keras does by default; with ``return_state`` the last states after it."""
    every = layer.dialect != "keras" if layer.return_sequences is None else layer.return_sequences
    output = outputs() if every else states[0]
    return (output, *states) if layer.return_state else output


def lstm_gates(width: Dim) -> cat:
    """Return the four gates of an LSTM in the order of torch and Keras."""
    return cat(input=width, forget=width, cell=width, output=width)


def check_reset_after(dialect: str, *, reset_after: bool) -> None:
    """Raise ``ArgumentError`` for a GRU that resets before the product in a framework without it."""
    if dialect != "keras" and not reset_after:
        raise ArgumentError(f"reset_after is False, which only dialect='keras' offers; {dialect} resets after the product.")


def lstm_state(
    gates: Sequence[Value], cell: Value, peepholes: Sequence[Value] | None = None, functions: Functions = USUAL
) -> tuple[Value, Value]:
    """Return the hidden and the cell state of an LSTM from the sums of its gates: input, forget, cell, output.

    Peepholes add the old cell state to the input and forget gates and the new one to the output gate (Gers and Schmidhuber 2000).
    """
    squash, gate = functions
    entering, forget, new, leaving = gates
    if peepholes is not None:
        entering, forget = entering + peepholes[0] * cell, forget + peepholes[1] * cell
    cell = gate(forget) * cell + gate(entering) * squash(new)
    leaving = leaving if peepholes is None else leaving + peepholes[2] * cell
    return gate(leaving) * squash(cell), cell


def gru_state(fed: Sequence[Value], kept: Sequence[Value], hidden: Value, functions: Functions = USUAL) -> Value:
    """Return the hidden state of a GRU from the contributions of the input and the hidden state to its gates: reset, update, new."""
    squash, gate = functions
    reset, update = (gate(one + other) for one, other in zip(fed[:2], kept[:2], strict=True))
    new = squash(fed[2] + reset * kept[2])
    return (1 - update) * new + update * hidden


def torch_gru_state(fed: Value, kept: Value, hidden: Value) -> Value:
    """Return the hidden state of a GRU as torch computes it: in place, with copies of the numbers that it overwrites.

    It keeps the array of the three gates, a copy of the hidden state's contribution to the new state, the new state, and its difference
    from the old state.
    """

    def kernel(fed: Value, kept: Value, hidden: Value) -> Value:
        return gru_state(ops.segments(fed), ops.segments(kept), hidden)

    one = ops.Kept("own", factors=hidden.sizes)
    return ops.region("gru", kernel, fed, kept, hidden, keeps=(ops.Kept("own", factors=kept.sizes), one, one, one))
