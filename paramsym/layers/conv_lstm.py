"""Convolutional LSTMs: the products of an LSTM become convolutions over one, two or three spatial axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.cells import lstm_gates
from paramsym.layers.spatial import Extents, exceeds_one, per_axis
from paramsym.size import Dim


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
    dialect: Literal["keras", "flax"] = "keras"


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
    dialect: Literal["keras", "flax"] = "keras"


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
    dialect: Literal["keras", "flax"] = "keras"
