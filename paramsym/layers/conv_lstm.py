"""Convolutional LSTMs: the products of an LSTM become convolutions over one, two or three spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

from sympy import Max

from paramsym import program as ops
from paramsym.algebra.size import Dim, canonical, cat, within
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.axes import DataFormat, in_front, per_channel
from paramsym.layers.gates import Functions, check_functions, functions, lstm_gates, lstm_state, returned
from paramsym.layers.siblings import Spatial
from paramsym.layers.spatial import Extents, exclude
from paramsym.layers.windowed import Sliding

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class _Cell(Layer):
    """A cell in Keras' storage."""

    in_channels: Dim
    out_channels: Dim
    sliding: Sliding
    bias: bool
    channels_last: bool = True
    activation: Layer | None = None
    recurrent_activation: Layer | None = None

    def tensors(self) -> Iterator[Tensor]:
        gates = lstm_gates(self.out_channels)
        yield Tensor("kernel", (*self.sliding.kernel, self.in_channels, gates))
        yield Tensor("recurrent_kernel", (*self.sliding.kernel, self.out_channels, gates))
        if self.bias:
            yield Tensor("bias", (gates,), role="bias")

    def forward(self, own: Own, x: Value) -> tuple[Value, ...]:
        """Return the hidden states of all steps and the last states from (batch, steps, channels, *spatial)."""
        rank = len(self.sliding.kernel)
        resting = Sliding.of(rank, self.sliding.kernel, 1, 1, "same")
        fed = every_step(x, lambda image: self.sliding.convolve(image, in_front(own.kernel, rank, "i o -> o i")))
        fed = fed + per_channel(own.bias, rank) if self.bias else fed

        def step(hidden: Value, cell: Value, fed: Value) -> tuple[Value, ...]:
            kept = resting.convolve(hidden, in_front(own.recurrent_kernel, rank, "i o -> o i"))
            hidden, cell = lstm_state(ops.segments(fed + kept, axis=1), cell, functions=self._functions(own))
            return hidden, cell, hidden

        return scanned(step, fed, self.out_channels)

    def _functions(self, own: Own) -> Functions:
        """The activations of a state and of a gate; one given in Keras gets the axes in Keras' order, which a softmax needs."""
        places = " ".join("xyz"[: len(self.sliding.kernel)])
        first, last = f"b c {places}", f"b {places} c"

        def seen(function: Callable[[Value], Value], given: Layer | None) -> Callable[[Value], Value]:
            if given is None or not self.channels_last:
                return function
            return lambda x: ops.rearrange(function(ops.rearrange(x, f"{first} -> {last}")), f"{last} -> {first}")

        squash, gate = functions(own, self)
        return seen(squash, self.activation), seen(gate, self.recurrent_activation)


@dataclass(frozen=True)
class _Gates(Layer):
    """One of Flax' two convolutions: all gates of the input, or of the state. Its cell gate comes before the forget gate."""

    rows: Dim
    columns: Dim
    sliding: Sliding
    bias: bool

    def tensors(self) -> Iterator[Tensor]:
        gates = cat(input=self.columns, cell=self.columns, forget=self.columns, output=self.columns)
        yield Tensor("kernel", (*self.sliding.kernel, self.rows, gates))
        if self.bias:
            yield Tensor("bias", (gates,), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        rank = len(self.sliding.kernel)
        y = self.sliding.convolve(x, in_front(own.kernel, rank, "i o -> o i"))
        return y + per_channel(own.bias, rank) if self.bias else y


def every_step(x: Value, convolve: Callable[[Value], Value]) -> Value:
    """Convolve every step of (batch, steps, channels, *spatial)."""
    rest = " ".join("cxyz"[: x.rank - 2])
    y = convolve(ops.rearrange(x, f"b t {rest} -> (b t) {rest}"))
    return ops.rearrange(y, f"(b t) {rest} -> b t {rest}", t=x.sizes[1])


def scanned(step: Callable[..., tuple[Value, ...]], fed: Value, channels: Dim) -> tuple[Value, ...]:
    """Return the hidden states of all steps and the last states, from the input's contribution to the gates of every step."""
    zero = ops.constant("zeros", (fed.sizes[0], channels, *fed.sizes[3:]))
    hidden, cell, outputs = ops.scan(step, (zero, zero), fed)
    return outputs, hidden, cell


@dataclass(frozen=True)
class _ConvLSTM(Spatial):
    """The common base of the three classes."""

    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    stride: Extents = 1
    padding: Literal["valid", "same"] = "valid"
    dilation: Extents = 1
    bias: bool = True
    _: KW_ONLY
    dialect: Literal["keras", "flax"] = "keras"
    data_format: DataFormat | None = None
    return_sequences: bool | None = None
    return_state: bool = False
    activation: Layer | None = None
    recurrent_activation: Layer | None = None
    go_backwards: bool = False

    def forward(self, own: Own, x: Value) -> Any:
        names = " ".join(("depth", "height", "width")[-self.rank :]) if self.rank > 1 else "length"
        first, last = f"batch steps channels {names}", f"batch steps {names} channels"
        here = first if self.data_format == "channels_first" else last
        x, _ = ops.axes(x, here, channels=self.in_channels)
        x = ops.rearrange(ops.flip(x, 1) if self.go_backwards else x, f"{here} -> {first}")
        outputs, *states = own.conv_lstm_cell(x) if self.dialect == "keras" else self._flax(own, x)
        states = [ops.rearrange(state, f"{first} -> {here}".replace("steps ", "")) for state in states]
        return returned(self, lambda: ops.rearrange(outputs, f"{first} -> {here}"), states)

    def _flax(self, own: Own, x: Value) -> tuple[Value, ...]:
        def step(hidden: Value, cell: Value, fed: Value) -> tuple[Value, ...]:
            entering, new, forget, leaving = ops.segments(fed + own["cell.hh"](hidden), axis=1)
            hidden, cell = lstm_state((entering, forget + 1, new, leaving), cell)  # Flax adds 1 to the forget gate
            return hidden, cell, hidden

        return scanned(step, every_step(x, own["cell.ih"]), self.out_channels)

    def conditions(self) -> None:
        kernel, stride, dilation = self._each("kernel_size", "stride", "dilation")
        exclude(stride, dilation)
        if self.dialect == "flax":
            if not within(canonical(Max(*dilation)), 1):
                raise ArgumentError(f"dilation is {self.dilation}; Flax' cell has none.")
            if not within(canonical(Max(*stride)), 1):
                raise ArgumentError(f"stride is {self.stride}; Flax' cell convolves its state with the same stride, so wanted 1.")
            if self.padding != "same" and any(size != 1 for size in kernel):
                raise ArgumentError(f"padding is {self.padding!r}; Flax' cell would shrink its state at every step. Write padding='same'.")
        check_functions(self)

    def parts(self) -> Iterator[Part]:
        sliding = Sliding.of(self.rank, self.kernel_size, self.stride, self.dilation, self.padding, dialect=self.dialect)
        if self.dialect == "keras":
            seen = (self.data_format != "channels_first", self.activation, self.recurrent_activation)
            yield Part("conv_lstm_cell", _Cell(self.in_channels, self.out_channels, sliding, self.bias, *seen))
        else:
            yield Part("cell.ih", _Gates(self.in_channels, self.out_channels, sliding, self.bias))
            yield Part("cell.hh", _Gates(self.out_channels, self.out_channels, sliding, self.bias))


class ConvLSTM1d(_ConvLSTM, rank=1):
    r"""An LSTM over sequences of sequences: convolutions over one axis replace the matrix products.

    ``conv_lstm_cell.kernel`` (kernel, in_channels, 4*out_channels), ``conv_lstm_cell.recurrent_kernel`` (kernel, out_channels,
    4*out_channels), ``conv_lstm_cell.bias`` (4*out_channels,). Parameters: 4*out*(k*(in + out) + 1). With ``dialect="flax"`` there are two
    biases: ``cell.ih.kernel``, ``cell.ih.bias``, ``cell.hh.kernel``, ``cell.hh.bias``; 4*out*(k*(in + out) + 2). The paper's peepholes,
    which depend on the size of the image, are in neither framework. The activations and ``go_backwards`` are arguments of Keras.

    Flax' cell convolves its state as it convolves the input, so ``dialect="flax"`` needs ``padding="same"`` and no stride.

    Raises:
        ArgumentError: a tuple of another length than there are axes; stride and dilation both above one; a padding or stride with which
            the state of Flax' cell would become smaller.

    Reference: Keras: ``ConvLSTM1D``; Flax: ``linen.RNN(linen.ConvLSTMCell(...))``.

    >>> from paramsym import C, F, K
    >>> ConvLSTM1d(C, F, K).params
    4*C*F*K + 4*F**2*K + 4*F
    """


class ConvLSTM2d(_ConvLSTM, rank=2):
    r"""As ``ConvLSTM1d``, over sequences of images: kernels are (height, width, ...). Parameters: 4*out*(k*k*(in + out) + 1).

    Reference: Keras: ``ConvLSTM2D``; Flax: ``linen.RNN(linen.ConvLSTMCell(...))``. Shi et al. 2015, section 3.1.

    >>> from paramsym import C, F, K
    >>> ConvLSTM2d(C, F, K).params
    4*C*F*K**2 + 4*F**2*K**2 + 4*F
    """


class ConvLSTM3d(_ConvLSTM, rank=3):
    r"""As ``ConvLSTM1d``, over sequences of volumes: kernels are (depth, height, width, ...). Reference: Keras: ``ConvLSTM3D``.

    >>> from paramsym import C, F, K
    >>> ConvLSTM3d(C, F, K).params
    4*C*F*K**3 + 4*F**2*K**3 + 4*F
    """
