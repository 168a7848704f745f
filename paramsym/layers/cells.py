"""Recurrent cells: one step of a recurrent layer, with the weights of every gate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from paramsym import program as ops
from paramsym.algebra.size import Axis, Dim, cat
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layers.dense import Dense
from paramsym.layers.gates import Dialect, check_functions, check_reset_after, functions, gru_state, lstm_gates, lstm_state, torch_gru_state

if TYPE_CHECKING:
    from paramsym.program import Own, Value


class Cell(Layer):
    """The common base of the cells: the storage of the gates in each framework."""

    states: ClassVar[int] = 1
    """The number of states."""
    linen: ClassVar[str | tuple[str, ...]] = ()
    """The letters of linen's gates, in its order."""
    linen_bias: ClassVar[tuple[bool, bool]] = (True, False)
    """Whether Flax' dense layers of the input and of the state have a bias."""

    input_size: Dim
    hidden_size: Dim
    bias: bool
    dialect: Dialect
    activation: Layer | None = None
    recurrent_activation: Layer | None = None

    def conditions(self) -> None:
        check_functions(self)
        if self.dialect in {"flax", "nnx"} and not self.bias:
            raise ArgumentError("bias is False; Flax' recurrent cells always have one.")

    @property
    def _two_biases(self) -> bool:
        """Whether Keras' bias is one of the input and one of the state."""
        return getattr(self, "reset_after", False)

    @property
    def gates(self) -> Axis:
        return lstm_gates(self.hidden_size)

    def tensors(self) -> Iterator[Tensor]:
        """The weights of input and state, with the gates joined, then the biases: two in torch, one in Keras, or a pair in one tensor."""
        if self.dialect == "torch":
            yield Tensor("weight_ih", (self.gates, self.input_size))
            yield Tensor("weight_hh", (self.gates, self.hidden_size))
            for name in ("bias_ih", "bias_hh") if self.bias else ():
                yield Tensor(name, (self.gates,), role="bias")
        elif self.dialect == "keras":
            yield Tensor("kernel", (self.input_size, self.gates))
            yield Tensor("recurrent_kernel", (self.hidden_size, self.gates))
            if self.bias:
                yield Tensor("bias", (2, self.gates) if self._two_biases else (self.gates,), role="bias")

    def parts(self) -> Iterator[Part]:
        """Flax' dense layers: linen has two for every gate, NNX two for all gates together."""
        fed, kept = self.linen_bias
        if self.dialect == "flax":
            for gate in self.linen:
                yield Part(f"i{gate}", Dense(self.input_size, self.hidden_size, fed, dialect="flax"))
                both = kept or (gate == "n" and getattr(self, "reset_gate", True))
                yield Part(f"h{gate}", Dense(self.hidden_size, self.hidden_size, both, dialect="flax"))
        elif self.dialect == "nnx":
            yield Part("dense_i", Dense(self.input_size, self.gates, fed, dialect="flax"))
            yield Part("dense_h", Dense(self.hidden_size, self.gates, kept, dialect="flax"))

    def forward(self, own: Own, x: Value, *states: Value) -> Any:
        """One step; missing states are zero. Return the new states, the hidden state first."""
        if len(states) > self.states:
            raise ShapeError(f"wanted at most {1 + self.states} shapes, of the input and of its states; found {1 + len(states)}.")
        x, restored = ops.axes(x, "[batch] features" if self.dialect == "torch" else "batch features", features=self.input_size)
        zero = ops.constant("zeros", (x.sizes[0], self.hidden_size))
        known = [state if state.rank == 2 else ops.axes(state, "[batch] features")[0] for state in states]
        new = self.step(own, x, *known, *(zero,) * (self.states - len(known)))
        return restored(new[0]) if self.states == 1 else tuple(map(restored, new))

    def step(self, own: Own, x: Value, *states: Value) -> tuple[Value, ...]:
        """One step from the input (batch, features) and the states (batch, hidden)."""
        return self.gated(own, self.product(own, "i", x), self.product(own, "h", states[0]), *states)

    def product(self, own: Own, source: Literal["i", "h"], x: Value) -> Value:
        """The contribution of the input or of the hidden state to the gates."""
        if self.dialect in {"flax", "nnx"}:
            product: Value = own[f"dense_{source}" if self.dialect == "nnx" else source](x)
            return product
        if self.dialect == "torch":
            y = ops.contract("... i, o i -> ... o", x, own[f"weight_{source}h"])
            return y + own[f"bias_{source}h"] if self.bias else y
        y = ops.contract("... i, i o -> ... o", x, own.kernel if source == "i" else own.recurrent_kernel)
        if self.bias and self._two_biases:
            return y + ops.take(own.bias, 0, "ih".index(source))
        return y + own.bias if self.bias and source == "i" else y

    def gated(self, own: Own, fed: Value, kept: Value, *states: Value) -> tuple[Value, ...]:
        """The new states from the contributions of the input and the hidden state to the joined gates."""
        raise NotImplementedError


@dataclass(frozen=True)
class RNNCell(Cell):
    r"""One step of an Elman network, :math:`h' = \tanh(W_{ih} x + b_{ih} + W_{hh} h + b_{hh})`.

    With ``dialect="torch"``: ``weight_ih`` (hidden, input), ``weight_hh`` (hidden, hidden), ``bias_ih`` and ``bias_hh`` (hidden,).
    Parameters: h*(i + h + 2). With ``"keras"``: ``kernel`` (input, hidden), ``recurrent_kernel`` (hidden, hidden) and one ``bias``; h*(i +
    h + 1). With ``"flax"``: the dense layers ``i``, with a bias, and ``h``, without; with ``"nnx"`` they are ``dense_i`` and ``dense_h``.

    Reference: ``torch.nn.RNNCell``; Keras: ``SimpleRNNCell``; Flax: ``linen.SimpleCell``, ``nnx.SimpleCell``. Elman 1990, "Finding
    structure in time".

    >>> from paramsym import H, dims
    >>> i = dims("i")
    >>> RNNCell(i, H).params, RNNCell(i, H, dialect="keras").params
    (H**2 + H*i + 2*H, H**2 + H*i + H)
    """

    input_size: Dim
    hidden_size: Dim
    bias: bool = True
    nonlinearity: Literal["tanh", "relu"] = "tanh"
    dialect: Dialect = "torch"
    _: KW_ONLY
    activation: Layer | None = None

    linen = ("",)

    @property
    def gates(self) -> Axis:
        return self.hidden_size

    def gated(self, own: Own, fed: Value, kept: Value, *states: Value) -> tuple[Value, ...]:  # noqa: ARG002 - the state is in ``kept``
        return (ops.apply(self.nonlinearity, fed + kept) if self.activation is None else self.activation.forward(own, fed + kept),)


@dataclass(frozen=True)
class _LSTMCell(Cell):
    """The arguments of an LSTM's cells; two states go from step to step."""

    states = 2

    input_size: Dim
    hidden_size: Dim
    bias: bool = True
    dialect: Dialect = "torch"
    _: KW_ONLY
    activation: Layer | None = None
    recurrent_activation: Layer | None = None


@dataclass(frozen=True)
class LSTMCell(_LSTMCell):
    r"""One step of a long short-term memory: input, forget, cell and output gate.

    With ``dialect="torch"``: ``weight_ih`` (4*hidden, input), ``weight_hh`` (4*hidden, hidden), ``bias_ih`` and ``bias_hh`` (4*hidden,).
    Parameters: 4*h*(i + h + 2). With ``"keras"``: ``kernel`` (input, 4*hidden), ``recurrent_kernel`` (hidden, 4*hidden) and one ``bias``;
    4*h*(i + h + 1). With ``"flax"``: a dense layer per gate for the input (``ii``, ``if``, ``ig``, ``io``), without bias, and one for the
    state (``hi``, ``hf``, ``hg``, ``ho``), with one; with ``"nnx"`` ``dense_i``, for all gates, without bias, and ``dense_h`` with one.
    Both have Keras' count.

    Reference: ``torch.nn.LSTMCell``; Keras: ``LSTMCell``; Flax: ``linen.LSTMCell``, ``linen.OptimizedLSTMCell``, ``nnx.OptimizedLSTMCell``
    (``nnx.LSTMCell`` stores what linen's does, but spells ``if`` as ``if_``). Hochreiter and Schmidhuber 1997; the forget gate is Gers,
    Schmidhuber and Cummins 2000, section 3.1.

    >>> from paramsym import H, dims
    >>> i = dims("i")
    >>> LSTMCell(i, H).params, LSTMCell(i, H, dialect="keras").params
    (4*H**2 + 4*H*i + 8*H, 4*H**2 + 4*H*i + 4*H)
    """

    linen = "ifgo"
    linen_bias = (False, True)

    def step(self, own: Own, x: Value, *states: Value) -> tuple[Value, ...]:
        if self.dialect != "flax":
            return super().step(own, x, *states)
        return lstm_state([own[f"i{gate}"](x) + own[f"h{gate}"](states[0]) for gate in self.linen], states[1])

    def gated(self, own: Own, fed: Value, kept: Value, *states: Value) -> tuple[Value, ...]:
        return lstm_state(ops.segments(fed + kept), states[1], functions=functions(own, self))


@dataclass(frozen=True)
class GRUCell(Cell):
    r"""One step of a gated recurrent unit: reset, update and new gate.

    With ``dialect="torch"``: ``weight_ih`` (3*hidden, input), ``weight_hh`` (3*hidden, hidden), ``bias_ih`` and ``bias_hh`` (3*hidden,).
    Parameters: 3*h*(i + h + 2). With ``"keras"``: ``kernel`` (input, 3*hidden), ``recurrent_kernel`` (hidden, 3*hidden) and ``bias``, which
    is (2, 3*hidden) with ``reset_after`` (the count is torch's) and (3*hidden,) without it, as in the paper. With ``"flax"``: dense layers
    ``ir``, ``hr``, ``iz``, ``hz``, ``in``, ``hn``; all but ``hr`` and ``hz`` have a bias: 3*h*(i + h) + 4*h. With ``"nnx"``: ``dense_i``,
    for all gates, with a bias, and ``dense_h`` without: 3*h*(i + h + 1).

    Raises:
        ArgumentError: ``reset_after=False`` outside of Keras: torch and Flax always reset after the product.

    Reference: ``torch.nn.GRUCell``; Keras: ``GRUCell``; Flax: ``linen.GRUCell``, ``nnx.GRUCell``. Cho et al. 2014, section 2.3; with
    ``reset_after``, its second version (arXiv:1406.1078v1).

    >>> from paramsym import H, dims
    >>> i = dims("i")
    >>> GRUCell(i, H).params, GRUCell(i, H, reset_after=False, dialect="keras").params
    (3*H**2 + 3*H*i + 6*H, 3*H**2 + 3*H*i + 3*H)
    >>> GRUCell(i, H, dialect="flax").params, GRUCell(i, H, dialect="nnx").params
    (3*H**2 + 3*H*i + 4*H, 3*H**2 + 3*H*i + 3*H)
    """

    input_size: Dim
    hidden_size: Dim
    bias: bool = True
    reset_after: bool = True
    dialect: Dialect = "torch"
    _: KW_ONLY
    activation: Layer | None = None
    recurrent_activation: Layer | None = None

    linen = "rzn"

    @property
    def gates(self) -> Axis:
        """The joined gates; Keras has the update gate first."""
        names = ("update", "reset", "new") if self.dialect == "keras" else ("reset", "update", "new")
        return cat(**dict.fromkeys(names, self.hidden_size))

    def conditions(self) -> None:
        super().conditions()
        check_reset_after(self.dialect, reset_after=self.reset_after)

    def step(self, own: Own, x: Value, *states: Value) -> tuple[Value, ...]:
        """Without ``reset_after`` the reset state is multiplied."""
        (hidden,) = states
        if self.dialect == "flax":
            return (gru_state([own[f"i{gate}"](x) for gate in self.linen], [own[f"h{gate}"](hidden) for gate in self.linen], hidden),)
        if self.reset_after:
            return super().step(own, x, *states)
        update, reset, new = ops.segments(self.product(own, "i", x))
        for_update, for_reset, for_new = ops.segments(own.recurrent_kernel)
        squash, gate = functions(own, self)
        update = gate(update + ops.contract("... i, i o -> ... o", hidden, for_update))
        reset = gate(reset + ops.contract("... i, i o -> ... o", hidden, for_reset))
        new = squash(new + ops.contract("... i, i o -> ... o", reset * hidden, for_new))
        return (update * hidden + (1 - update) * new,)

    def gated(self, own: Own, fed: Value, kept: Value, *states: Value) -> tuple[Value, ...]:
        if self.dialect == "torch":
            return (torch_gru_state(fed, kept, *states),)
        order = (1, 0, 2) if self.dialect == "keras" else (0, 1, 2)
        fed_gates, kept_gates = ops.segments(fed), ops.segments(kept)
        return (gru_state([fed_gates[n] for n in order], [kept_gates[n] for n in order], states[0], functions(own, self)),)


@dataclass(frozen=True)
class MGUCell(Cell):
    r"""One step of a minimal gated unit: one gate that forgets and, by default, resets.

    Dense layers ``if`` and ``in`` of the input, with a bias, ``hf`` and ``hn`` of the state; of these ``hn`` has a bias with
    ``reset_gate``, where the gate is between the two sums. Parameters: 2*h*(i + h) + 3*h, or 2*h*(i + h + 1) without the reset.

    Raises:
        ArgumentError: ``bias=False``, or another dialect: only Flax' linen has the cell.

    Reference: ``flax.linen.MGUCell``; Zhou et al. 2016, "Minimal gated unit for recurrent neural networks", section 3.

    >>> from paramsym import H, dims
    >>> MGUCell(dims("i"), H).params
    2*H**2 + 2*H*i + 3*H
    """

    input_size: Dim
    hidden_size: Dim
    bias: bool = True
    reset_gate: bool = True
    dialect: Dialect = "flax"

    linen = "fn"

    def conditions(self) -> None:
        super().conditions()
        if self.dialect != "flax":
            raise ArgumentError(f"dialect is {self.dialect!r}; only linen has the minimal gated unit: dialect='flax'.")

    def step(self, own: Own, x: Value, *states: Value) -> tuple[Value, ...]:
        (hidden,) = states
        forget = ops.apply("sigmoid", own["if"](x) + own.hf(hidden))
        kept = own.hn(hidden)
        new = ops.apply("tanh", own["in"](x) + (forget * kept if self.reset_gate else kept))
        return ((1 - forget) * new + forget * hidden,)
