"""Convolutional LSTMs: the products of an LSTM become convolutions over one, two or three spatial axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, cast

from paramsym.errors import ArgumentError, ShapeError
from paramsym.flow import Step
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.axes import Axes, DataFormat, take_apart
from paramsym.layers.cells import lstm_gates
from paramsym.layers.spatial import Extents, exceeds_one, per_axis
from paramsym.layers.windowed import Sliding
from paramsym.size import Count, Dim, Shape, product, text


@dataclass(frozen=True)
class _Cell(Layer):
    """One step, as Keras stores it: a kernel for the input, one for the state, one bias."""

    in_channels: Dim
    out_channels: Dim
    kernel: tuple[Dim, ...]
    bias: bool

    def tensors(self) -> Iterator[Tensor]:
        """The kernels of input and state, then the bias."""
        gates = lstm_gates(self.out_channels)
        yield Tensor("kernel", (*self.kernel, self.in_channels, gates))
        yield Tensor("recurrent_kernel", (*self.kernel, self.out_channels, gates))
        if self.bias:
            yield Tensor("bias", (gates,), role="bias")

    def output_shape(self, input_shape: Shape) -> Shape:
        """The shape of the state, channels last, goes in and comes out."""
        return input_shape

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Every weight and bias is used once per position of the state."""
        return {tensor.name: product(input_shape[1:-1]) for tensor in self.own_tensors}


@dataclass(frozen=True)
class _Gates(Layer):
    """One of Flax' two convolutions: all gates of the input, or of the state."""

    rows: Dim
    columns: Dim
    kernel: tuple[Dim, ...]
    bias: bool

    def tensors(self) -> Iterator[Tensor]:
        """The kernel, then the bias."""
        gates = lstm_gates(self.columns)
        yield Tensor("kernel", (*self.kernel, self.rows, gates))
        if self.bias:
            yield Tensor("bias", (gates,), role="bias")

    def output_shape(self, input_shape: Shape) -> Shape:
        """The shape of the state, channels last, goes in and comes out."""
        return input_shape

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Every weight and bias is used once per position of the state."""
        return {tensor.name: product(input_shape[1:-1]) for tensor in self.own_tensors}


class _ConvLSTM(Layer):
    """The one statement behind the three classes."""

    rank: ClassVar[int]

    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    stride: Extents
    padding: Literal["valid", "same"]
    dilation: Extents
    bias: bool
    dialect: Literal["keras", "flax"]
    data_format: DataFormat | None
    return_sequences: bool | None
    return_state: bool

    def output_shape(self, input_shape: Shape) -> Shape:
        """The states of all steps, or of the last one, which is Keras' choice; with ``return_state`` the shapes of output and states."""
        axes, extents = self._step(input_shape)
        left = axes.giving(extents, self.out_channels)
        every = self.dialect == "flax" if self.return_sequences is None else self.return_sequences
        output = (input_shape[0], input_shape[1], *left[1:]) if every else left
        return cast("Shape", (output, left, left)) if self.return_state else output

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Step by step, with as many places of the kernels as the state has positions."""
        axes, extents = self._step(input_shape)
        state = (*axes.batch, *extents, self.out_channels)
        for part in self.own_parts:
            yield Step(part.name, part.layer, state, state, product(input_shape[1:2]))

    def _step(self, input_shape: Shape) -> tuple[Axes, tuple[Count | None, ...]]:
        """Return what goes into one step, taken apart, and the extents that come out of it."""
        if len(input_shape) != self.rank + 3:
            message = f"wanted batch, steps, {self.rank} spatial axes and channels; found {len(input_shape)} axes, {text(input_shape)}."
            raise ShapeError(message)
        step = (input_shape[0], *input_shape[2:])
        axes = take_apart(step, self.rank, self.data_format or "channels_last", channels=self.in_channels, batched=True)
        sliding = Sliding.of(self.rank, self.kernel_size, self.stride, self.dilation, self.padding, dialect="keras")
        return axes, sliding.over(axes)

    def conditions(self) -> None:
        """Tuples have one entry per axis; stride and dilation exclude each other."""
        per_axis(self.kernel_size, self.rank, "kernel_size")
        stride, dilation = per_axis(self.stride, self.rank, "stride"), per_axis(self.dilation, self.rank, "dilation")
        if exceeds_one(stride) and exceeds_one(dilation):
            message = f"stride {self.stride} together with dilation {self.dilation}: Keras takes one of them above 1, not both."
            raise ArgumentError(message)
        if self.dialect == "flax" and exceeds_one(dilation):
            message = f"dilation is {self.dilation}; Flax' cell has none."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The cell: whole in Keras, two convolutions in Flax."""
        kernel = per_axis(self.kernel_size, self.rank, "kernel_size")
        if self.dialect == "keras":
            yield Part("conv_lstm_cell", _Cell(self.in_channels, self.out_channels, kernel, self.bias))
        else:
            yield Part("cell.ih", _Gates(self.in_channels, self.out_channels, kernel, self.bias))
            yield Part("cell.hh", _Gates(self.out_channels, self.out_channels, kernel, self.bias))


@dataclass(frozen=True)
class ConvLSTM1d(_ConvLSTM):
    r"""An LSTM over sequences of sequences: convolutions over one axis take the place of the products.

    ``conv_lstm_cell.kernel`` (kernel, in_channels, 4*out_channels), ``conv_lstm_cell.recurrent_kernel`` (kernel, out_channels,
    4*out_channels), ``conv_lstm_cell.bias`` (4*out_channels,). Parameters: 4*out*(k*(in + out) + 1). With ``dialect="flax"`` there are two
    biases: ``cell.ih.kernel``, ``cell.ih.bias``, ``cell.hh.kernel``, ``cell.hh.bias``; 4*out*(k*(in + out) + 2).

    Raises:
        ArgumentError: a tuple that is not one entry long; stride and dilation both above one.

    Reference: Keras: ``ConvLSTM1D``; Flax: ``linen.RNN(linen.ConvLSTMCell(...))``.

    >>> from paramsym import C, F, K
    >>> ConvLSTM1d(C, F, K).params
    4*C*F*K + 4*F**2*K + 4*F
    """

    rank = 1

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


@dataclass(frozen=True)
class ConvLSTM2d(_ConvLSTM):
    r"""An LSTM over sequences of images: convolutions over two axes take the place of the products.

    ``conv_lstm_cell.kernel`` (height, width, in_channels, 4*out_channels), ``conv_lstm_cell.recurrent_kernel`` (height, width,
    out_channels, 4*out_channels), ``conv_lstm_cell.bias`` (4*out_channels,). Parameters: 4*out*(k*k*(in + out) + 1). The paper's peepholes,
    which depend on the size of the image, are in neither framework. With ``dialect="flax"`` there are two biases: ``cell.ih.kernel``,
    ``cell.ih.bias``, ``cell.hh.kernel``, ``cell.hh.bias``; 4*out*(k*k*(in + out) + 2).

    Raises:
        ArgumentError: a tuple that is not two entries long; stride and dilation both above one.

    Reference: Keras: ``ConvLSTM2D``; Flax: ``linen.RNN(linen.ConvLSTMCell(...))``. Shi et al. 2015, section 3.1.

    >>> from paramsym import C, F, K
    >>> ConvLSTM2d(C, F, K).params
    4*C*F*K**2 + 4*F**2*K**2 + 4*F
    """

    rank = 2

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


@dataclass(frozen=True)
class ConvLSTM3d(_ConvLSTM):
    r"""An LSTM over sequences of volumes: convolutions over three axes take the place of the products.

    ``conv_lstm_cell.kernel`` (depth, height, width, in_channels, 4*out_channels), ``conv_lstm_cell.recurrent_kernel`` (depth, height,
    width, out_channels, 4*out_channels), ``conv_lstm_cell.bias`` (4*out_channels,). Parameters: 4*out*(k*k*k*(in + out) + 1). With
    ``dialect="flax"`` there are two biases: ``cell.ih.kernel``, ``cell.ih.bias``, ``cell.hh.kernel``, ``cell.hh.bias``.

    Raises:
        ArgumentError: a tuple that is not three entries long; stride and dilation both above one.

    Reference: Keras: ``ConvLSTM3D``; Flax: ``linen.RNN(linen.ConvLSTMCell(...))``.

    >>> from paramsym import C, F, K
    >>> ConvLSTM3d(C, F, K).params
    4*C*F*K**3 + 4*F**2*K**3 + 4*F
    """

    rank = 3

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
