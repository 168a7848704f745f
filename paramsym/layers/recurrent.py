"""Recurrent layers: stacks of cells over a sequence, in one direction or both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from paramsym import program as ops
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Axis, Count, Dim, Width, text, within
from paramsym.core.fields import field_names
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, ShapeError, SizeError
from paramsym.layers.cells import Cell, GRUCell, LSTMCell, RNNCell
from paramsym.layers.gates import Dialect, check_functions, check_reset_after, returned

if TYPE_CHECKING:
    from paramsym.program import Own, Value

_PLAIN = str.maketrans("", "", "[]")


@dataclass(frozen=True)
class _Level(Layer):
    """One layer of a stack in torch's storage: a cell for each direction, whose tensors are numbered by the layer, ``{}``."""

    cell: Cell
    inputs: Width
    state: Dim
    projected: bool
    bidirectional: bool
    dropout: float

    @property
    def _endings(self) -> tuple[str, ...]:
        return ("_l{}", "_l{}_reverse") if self.bidirectional else ("_l{}",)

    def tensors(self) -> Iterator[Tensor]:
        shapes = {"weight_ih": (self.cell.gates, self.inputs), "weight_hh": (self.cell.gates, self.state)}
        for ending in self._endings:
            for tensor in self.cell.own_tensors:
                yield replace(tensor, name=f"{tensor.name}{ending}", shape=shapes.get(tensor.name, tensor.shape))
            if self.projected:
                yield Tensor(f"weight_hr{ending}", (self.state, self.cell.hidden_size))

    def forward(self, own: Own, x: Value) -> tuple[Value, ...]:
        """Return the hidden states of all steps, both directions joined, then the last states (directions, batch, width)."""
        x, _ = ops.axes(x, "steps batch features")
        x = ops.features(ops.drop(x, self.dropout), self.inputs)
        *states, outputs = zip(*(self._direction(own, x, ending) for ending in self._endings), strict=True)
        return (ops.join(*outputs), *(ops.join(*(ops.rearrange(one, "b h -> () b h") for one in state), axis=0) for state in states))

    def _direction(self, own: Own, x: Value, ending: str) -> tuple[Value, ...]:
        lent = ops.Numbered(own, ending)
        fed = self.cell.product(lent, "i", x)

        def step(hidden: Value, *rest: Value) -> tuple[Value, ...]:
            *others, fed = rest
            hidden, *others = self.cell.gated(lent, fed, self.cell.product(lent, "h", hidden), hidden, *others)
            hidden = ops.contract("b i, o i -> b o", hidden, own[f"weight_hr{ending}"]) if self.projected else hidden
            return (hidden, *others, hidden)

        widths = (self.state, self.cell.hidden_size)[: self.cell.states]
        zeros = tuple(ops.constant("zeros", (x.sizes[1], width)) for width in widths)
        return ops.scan(step, zeros, fed, axis=0, reverse=ending.endswith("reverse"))


class _Recurrent(Layer):
    """The common base of recurrent layers: torch's arguments and storage; Keras and Flax wrap one cell."""

    kind: ClassVar[Any]
    cell_name: ClassVar[str]
    """The class of the cell, and Keras' name of it."""
    proj_size: Count = 0
    recurrent_activation: Layer | None = None

    input_size: Dim
    hidden_size: Dim
    num_layers: Dim
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    dialect: Dialect
    return_sequences: bool | None
    return_state: bool
    activation: Layer | None
    go_backwards: bool

    def conditions(self) -> None:
        if not 0 <= self.dropout <= 1:
            raise ArgumentError(f"dropout is {self.dropout}; it is a probability, from 0 to 1.")
        check_functions(self)
        narrow, wide = self.proj_size, self.hidden_size
        if narrow != 0 and not within(narrow + 1, wide):
            raise SizeError(f"proj_size {narrow} is not smaller than hidden_size {wide}; a projection narrows the state.")
        if self.dialect == "torch":
            return
        name = type(self).__name__
        if self.num_layers != 1:
            message = f"num_layers is {self.num_layers}; {self.dialect} has one layer per object; write Sequential of several {name}."
            raise ArgumentError(message)
        if self.bidirectional:
            raise ArgumentError(f"bidirectional is True; in {self.dialect} that is a wrapper: write Bidirectional({name}(...)).")
        if self.proj_size != 0:
            raise ArgumentError(f"proj_size is {self.proj_size}; {self.dialect} has no projected {name}.")

    def parts(self) -> Iterator[Part]:
        cell = self.kind(**{name: getattr(self, name) for name in field_names(self.kind)})
        if self.dialect != "torch":
            yield Part(self.cell_name if self.dialect == "keras" else "cell", cell)
            return
        state = self.hidden_size if self.proj_size == 0 else self.proj_size
        below: Axis = (2, state) if self.bidirectional else state
        options = (state, self.proj_size != 0, self.bidirectional)
        yield Part("", _Level(cell, self.input_size, *options, 0.0), Numbers(1, pattern=""))
        yield Part("", _Level(cell, below, *options, self.dropout), Numbers(self.num_layers - 1, 1, pattern=""))

    def forward(self, own: Own, x: Value) -> Any:
        """Return the hidden states of all steps, or the last one; with ``return_state`` the last states after it.

        In torch the steps come first unless ``batch_first``, a batch axis may be missing, and all steps are returned; the states are
        (layers*directions, batch, width). In Keras only the last step is returned unless ``return_sequences``; the states are (batch,
        width); with ``go_backwards`` the last step is read first, and the states are returned in the order of computation.
        """
        torch = self.dialect == "torch"
        order = "batch steps features" if not torch else "[batch] steps features" if self.batch_first else "steps [batch] features"
        x, restored = ops.axes(x, order, features=self.input_size)
        if torch and x.sizes[1 if self.batch_first else 0] == 0:
            raise ShapeError(f"there are no steps in {text(x.sizes)}, read as ({order.replace(' ', ', ').translate(_PLAIN)}).")
        output, *states = self._stacked(own, x) if torch else self._scanned(own, ops.flip(x, 1) if self.go_backwards else x)
        if torch and restored(states[0]).rank < states[0].rank:
            states = [ops.take(state, 1) for state in states]
        return returned(self, lambda: restored(output), states)

    def _stacked(self, own: Own, x: Value) -> tuple[Value, ...]:
        """Return the hidden states of the last level, and the last states of all levels; torch puts the axis of steps first."""
        output, *states = ops.collected(own, 0, ops.rearrange(x, "b s f -> s b f") if self.batch_first else x)
        if self.num_layers != 1:
            output, *more = ops.collected(own, 1, output)
            states = [ops.join(*both, axis=0) for both in zip(states, more, strict=True)]
        output = ops.rearrange(output, "s b f -> b s f") if self.batch_first else output
        return (output, *(ops.rearrange(state, "l d b h -> (l d) b h") for state in states))

    def _scanned(self, own: Own, x: Value) -> tuple[Value, ...]:
        cell = own[self.own_parts[0].name]

        def step(*given: Value) -> tuple[Value, ...]:
            *states, entry = given
            new = tuple(ops.each(cell(entry, *states)))
            return (*new, new[0])

        zero = ops.constant("zeros", (x.sizes[0], self.hidden_size))
        *states, outputs = ops.scan(step, (zero,) * cell.layer.states, x)
        return (outputs, *states)


@dataclass(frozen=True)
class RNN(_Recurrent):
    r"""A stack of Elman networks, :math:`h_t = \tanh(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})`.

    ``weight_ih_l0`` (hidden, input), ``weight_hh_l0`` (hidden, hidden), ``bias_ih_l0`` and ``bias_hh_l0`` (hidden,); further layers and
    directions as in ``LSTM``. Parameters of one layer: h*(i + h + 2). With ``dialect="keras"`` (``simple_rnn_cell``), ``"flax"`` and
    ``"nnx"`` (``cell``) the layer is one ``RNNCell`` of that dialect.

    Raises:
        ArgumentError: dropout outside 0 to 1; several layers or both directions in Keras' or Flax' dialect.

    Reference: ``torch.nn.RNN``; Keras: ``SimpleRNN``; Flax: ``linen.RNN(linen.SimpleCell(...))``. Elman 1990.

    >>> from paramsym import H, L, dims
    >>> RNN(dims("i"), H, L).params
    2*H**2*L - H**2 + 2*H*L + H*i
    """

    kind = RNNCell
    cell_name = "simple_rnn_cell"

    input_size: Dim
    hidden_size: Dim
    num_layers: Dim = 1
    nonlinearity: Literal["tanh", "relu"] = "tanh"
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    _: KW_ONLY
    dialect: Dialect = "torch"
    return_sequences: bool | None = None
    return_state: bool = False
    activation: Layer | None = None
    go_backwards: bool = False


@dataclass(frozen=True)
class _Gated(_Recurrent):
    """The arguments of layers with gates, and of an LSTM's cell."""

    input_size: Dim
    hidden_size: Dim
    num_layers: Dim = 1
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    _: KW_ONLY
    dialect: Dialect = "torch"
    return_sequences: bool | None = None
    return_state: bool = False
    activation: Layer | None = None
    recurrent_activation: Layer | None = None
    go_backwards: bool = False


@dataclass(frozen=True)
class LSTM(_Gated):
    r"""A stack of long short-term memories: input, forget, cell and output gate, joined in this order in every tensor.

    ``weight_ih_l0`` (4*hidden, input), ``weight_hh_l0`` (4*hidden, hidden), ``bias_ih_l0`` and ``bias_hh_l0`` (4*hidden,); with
    ``proj_size`` the state is projected to this size by ``weight_hr_l0`` (proj, hidden). Further layers ``_l1``, ... read
    (directions*state); the backward direction's names end in ``_reverse``. Parameters of one layer: 4*h*(i + h + 2). With
    ``dialect="keras"`` (``lstm_cell``), ``"flax"`` and ``"nnx"`` (``cell``) the layer is one ``LSTMCell`` of that dialect: 4*h*(i + h + 1).

    Raises:
        SizeError: a projection that is not narrower than the state.
        ArgumentError: dropout outside 0 to 1; several layers, both directions or a projection in Keras' or Flax' dialect.

    Reference: ``torch.nn.LSTM``; Keras: ``LSTM``; Flax: ``linen.RNN(linen.LSTMCell(...))``. Hochreiter and Schmidhuber 1997; the projection
    is Sak et al. 2014, section 3.

    >>> from paramsym import H, L, R, dims
    >>> i = dims("i")
    >>> LSTM(i, H).params, LSTM(i, H, dialect="keras").params
    (4*H**2 + 4*H*i + 8*H, 4*H**2 + 4*H*i + 4*H)
    >>> LSTM(i, H, L, bidirectional=True).params
    24*H**2*L - 16*H**2 + 16*H*L + 8*H*i
    >>> LSTM(i, H, proj_size=R, bias=False).params
    5*H*R + 4*H*i
    """

    kind = LSTMCell
    cell_name = "lstm_cell"

    proj_size: Count = 0


@dataclass(frozen=True)
class GRU(_Gated):
    r"""A stack of gated recurrent units: reset, update and new gate, joined in this order in every tensor.

    ``weight_ih_l0`` (3*hidden, input), ``weight_hh_l0`` (3*hidden, hidden), ``bias_ih_l0`` and ``bias_hh_l0`` (3*hidden,); further layers
    and directions as in ``LSTM``. Parameters of one layer: 3*h*(i + h + 2). With ``dialect="keras"`` (``gru_cell``), ``"flax"`` and
    ``"nnx"`` (``cell``) the layer is one ``GRUCell`` of that dialect; ``reset_after=False`` is Keras' variant with one bias.

    Raises:
        ArgumentError: as ``RNN``; ``reset_after=False`` outside of Keras.

    Reference: ``torch.nn.GRU``; Keras: ``GRU``; Flax: ``linen.RNN(linen.GRUCell(...))``. Cho et al. 2014, section 2.3.

    >>> from paramsym import H, L, dims
    >>> i = dims("i")
    >>> GRU(i, H).params, GRU(i, H, reset_after=False, dialect="keras").params
    (3*H**2 + 3*H*i + 6*H, 3*H**2 + 3*H*i + 3*H)
    >>> GRU(i, H, L).params
    6*H**2*L - 3*H**2 + 6*H*L + 3*H*i
    """

    kind = GRUCell
    cell_name = "gru_cell"

    reset_after: bool = True

    def conditions(self) -> None:
        super().conditions()
        check_reset_after(self.dialect, reset_after=self.reset_after)
