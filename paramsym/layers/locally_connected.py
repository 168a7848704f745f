"""Locally connected layers: a window slides as in a convolution, but every place has weights of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

from paramsym.errors import ShapeError
from paramsym.extents import View, Views, differ, windows
from paramsym.layer import Layer, Tensor
from paramsym.layers.axes import take_apart
from paramsym.layers.spatial import Extents, Margin, per_axis
from paramsym.size import Dim, Shape, text


class _LocallyConnected(Layer):
    """The one statement behind the three classes: a kernel and a bias for every place of the window."""

    rank: ClassVar[int]

    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    input_size: Extents
    stride: Extents
    padding: Margin
    bias: bool
    dialect: Literal["keras", "flax"]

    def conditions(self) -> None:
        """Tuples have one entry per axis, and the window fits into the input."""
        self.places  # noqa: B018 - working the places out is the check

    @property
    def places(self) -> tuple[Dim, ...]:
        """At how many places the window stands, along each axis."""
        names = ("input_size", "kernel_size", "stride", "padding")
        fields = (per_axis(getattr(self, name), self.rank, name) for name in names)
        return tuple(windows(length, kernel, stride, 2 * padding) for length, kernel, stride, padding in zip(*fields, strict=True))

    def output_shape(self, input_shape: Shape) -> Shape:
        """(batch, places, out_channels) from (batch, extents, in_channels): channels last, as Keras has them unless told otherwise."""
        axes = take_apart(input_shape, self.rank, "channels_last", channels=self.in_channels)
        for found, wanted in zip(axes.extents, per_axis(self.input_size, self.rank, "input_size"), strict=True):
            if differ(found, wanted):
                message = f"the input is {text(axes.extents)}; the weights were made for {text(self.input_size)}."
                raise ShapeError(message)
        return axes.giving(self.places, self.out_channels)

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """No weight is shared: each is used once."""
        self.output_shape(input_shape)
        return {tensor.name: 1 for tensor in self.own_tensors}

    def views(self) -> tuple[View, ...]:
        """The kernel, moved on by the stride."""
        kernel, stride = per_axis(self.kernel_size, self.rank, "kernel_size"), per_axis(self.stride, self.rank, "stride")
        return Views(map(View, kernel, stride), "channels_last")

    def tensors(self) -> Iterator[Tensor]:
        """The kernels of all places, then their biases."""
        window = (*per_axis(self.kernel_size, self.rank, "kernel_size"), self.in_channels)
        places = self.places if self.dialect == "flax" else (self.places,)
        yield Tensor("kernel", (*places, window, self.out_channels))
        if self.bias:
            yield Tensor("bias", (*self.places, self.out_channels), role="bias")


@dataclass(frozen=True)
class LocallyConnected1d(_LocallyConnected):
    r"""An unshared convolution over sequences: every place of the window has a kernel and a bias of its own.

    With p = floor((length + 2*padding - kernel)/stride) + 1 places, ``kernel`` is (p, kernel*in_channels, out_channels) and ``bias``,
    where there is one, (p, out_channels). Parameters: p*out*(k*in + 1); they depend on the length of the input, so ``input_size`` is a
    field.

    Raises:
        ShapeError: a window that does not fit into the input.

    Reference: ``tf.keras.layers.LocallyConnected1D(implementation=1)`` of Keras 2; Flax: ``linen.ConvLocal``.

    >>> from paramsym import C, F, K, W
    >>> LocallyConnected1d(C, F, K, input_size=W, bias=False).params
    -C*F*K**2 + C*F*K*W + C*F*K
    >>> LocallyConnected1d(3, 8, 5, input_size=32).shapes()
    {'kernel': (28, 15, 8), 'bias': (28, 8)}
    """

    rank = 1

    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    input_size: Extents
    stride: Extents = 1
    padding: Margin = 0
    bias: bool = True
    _: KW_ONLY
    dialect: Literal["keras", "flax"] = "keras"


@dataclass(frozen=True)
class LocallyConnected2d(_LocallyConnected):
    r"""An unshared convolution over images: every place of the window has a kernel and a bias of its own.

    With p and q places along the two axes, each floor((length + 2*padding - kernel)/stride) + 1, ``kernel`` is (p*q,
    height*width*in_channels, out_channels), with ``dialect="flax"`` (p, q, height*width*in_channels, out_channels), and ``bias``, where
    there is one, (p, q, out_channels). Parameters: p*q*out*(k*k*in + 1); they depend on the size of the input, so ``input_size`` is a
    field.

    Raises:
        ShapeError: a window that does not fit into the input.

    Reference: ``tf.keras.layers.LocallyConnected2D(implementation=1)`` of Keras 2; Flax: ``linen.ConvLocal``. LeCun 1989,
    "Generalization and network design strategies", net-3; Taigman et al. 2014, "DeepFace", section 3.

    >>> from paramsym import C, F, W
    >>> LocallyConnected2d(C, F, 3, input_size=W, padding=1, bias=False).params
    9*C*F*W**2
    """

    rank = 2

    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    input_size: Extents
    stride: Extents = 1
    padding: Margin = 0
    bias: bool = True
    _: KW_ONLY
    dialect: Literal["keras", "flax"] = "keras"


@dataclass(frozen=True)
class LocallyConnected3d(_LocallyConnected):
    r"""An unshared convolution over volumes: every place of the window has a kernel and a bias of its own.

    The storage continues that of ``LocallyConnected1d`` and ``LocallyConnected2d``: ``kernel`` is (places, window*in_channels,
    out_channels), ``bias`` (places along each axis, out_channels). Parameters: p*q*r*out*(k*k*k*in + 1).

    Raises:
        ShapeError: a window that does not fit into the input.

    >>> LocallyConnected3d(1, 2, 3, input_size=(5, 5, 4)).params
    1008
    """

    rank = 3

    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    input_size: Extents
    stride: Extents = 1
    padding: Margin = 0
    bias: bool = True
    _: KW_ONLY
    dialect: Literal["keras", "flax"] = "keras"
