"""LSTMs whose gates also read the cell state: the cell, and stacks of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.algebra.size import Count, cat
from paramsym.core.layer import Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.cells import _LSTMCell
from paramsym.layers.gates import functions, lstm_state
from paramsym.layers.recurrent import _Gated

if TYPE_CHECKING:
    from paramsym.program import Own, Value

_GATES = ("input", "forget", "output")
"""The gates that read the cell state."""


def _check(dialect: str) -> None:
    """Refuse the framework that never had peepholes."""
    if dialect in {"flax", "nnx"}:
        raise ArgumentError(f"dialect is {dialect!r}, which has no LSTM with peepholes; wanted 'torch' or 'keras'.")


@dataclass(frozen=True)
class PeepholeLSTMCell(_LSTMCell):
    r"""One step of an LSTM whose gates also read the cell state, each through a diagonal matrix.

    An ``LSTMCell`` plus three vectors of weights, of input, forget and output gate: 3*h parameters more. torch has no such cell;
    ``dialect="torch"`` adds ``weight_ch`` (3*hidden,) to ``torch.nn.LSTMCell``. ``"keras"`` adds ``input_gate_peephole_weights``,
    ``forget_gate_peephole_weights`` and ``output_gate_peephole_weights``, (hidden,) each, as ``tf.keras.experimental.PeepholeLSTMCell``.

    Source: Gers and Schmidhuber 2000, "Recurrent nets that time and count", section 2.

    >>> from paramsym import H, LSTMCell, dims
    >>> PeepholeLSTMCell(dims("i"), H, dialect="keras").params
    4*H**2 + 4*H*i + 7*H
    >>> PeepholeLSTMCell(dims("i"), H).params - LSTMCell(dims("i"), H).params
    3*H
    """

    def conditions(self) -> None:
        _check(self.dialect)
        super().conditions()

    def tensors(self) -> Iterator[Tensor]:
        yield from super().tensors()
        if self.dialect == "torch":
            yield Tensor("weight_ch", (cat(**dict.fromkeys(_GATES, self.hidden_size)),))
            return
        for gate in _GATES:
            yield Tensor(f"{gate}_gate_peephole_weights", (self.hidden_size,))

    def gated(self, own: Own, fed: Value, kept: Value, *states: Value) -> tuple[Value, ...]:
        torch = self.dialect == "torch"
        holes = ops.segments(own.weight_ch) if torch else [own[f"{gate}_gate_peephole_weights"] for gate in _GATES]
        return lstm_state(ops.segments(fed + kept), states[1], holes, functions(own, self))


@dataclass(frozen=True)
class PeepholeLSTM(_Gated):
    r"""A stack of LSTMs whose gates also read the cell state, each through a diagonal matrix: 3*h parameters more per layer and direction.

    Stored like ``LSTM``, with ``weight_ch_l0`` (3*hidden,) after the biases. torch has no such layer; ``dialect="keras"`` is a recurrent
    layer around the ``PeepholeLSTMCell`` of that dialect (``peephole_lstm_cell``).

    Raises:
        SizeError, ArgumentError: as ``LSTM``.

    Source: Gers and Schmidhuber 2000, "Recurrent nets that time and count", section 2; with a projection, Sak et al. 2014, section 3.

    >>> from paramsym import H, LSTM, dims
    >>> i = dims("i")
    >>> PeepholeLSTM(i, H).params - LSTM(i, H).params
    3*H
    """

    kind = PeepholeLSTMCell
    cell_name = "peephole_lstm_cell"

    proj_size: Count = 0

    def conditions(self) -> None:
        _check(self.dialect)
        super().conditions()
