"""A dense layer whose input width follows from the shape that reaches it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from sympy import Symbol

from paramsym.errors import ShapeError
from paramsym.extents import View, Views
from paramsym.layer import Layer, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.features import positions
from paramsym.size import Dim, Shape, Width, extent, text

OPEN = Symbol("in_features", integer=True, positive=True)
"""The width of a lazy layer until a shape reaches it."""


@dataclass(frozen=True)
class LazyDense(Layer):
    r"""A fully connected layer whose ``in_features`` is open: a letter, until ``infer(layer, input_shape)`` puts the arriving width in.

    It takes whatever width arrives. Parameters: in_features*out + out, with ``in_features`` as a letter; where the count matters before it
    is inferred, several lazy layers of one model want letters of their own, as in ``LazyDense(10, in_features=dims("n"))``. Tensors are
    those of ``Dense``.

    Raises:
        SizeError: a width that cannot be a positive integer.

    Reference: ``torch.nn.LazyLinear``; Keras: every ``Dense`` before it is built.

    >>> from paramsym import B, C, Conv2d, Flatten, Sequential, W, infer
    >>> LazyDense(10).params
    10*in_features + 10
    >>> infer(Sequential(Conv2d(3, C, 3), Flatten(), LazyDense(10)), (B, 3, W, W)).part("2")
    Dense(C*W**2 - 4*C*W + 4*C, 10)
    """

    out_features: Width
    bias: bool = True
    _: KW_ONLY
    in_features: Dim = OPEN
    dialect: Literal["torch", "keras"] = "torch"

    def tensors(self) -> Iterator[Tensor]:
        """Those of the dense layer."""
        yield from self.built(self.in_features).own_tensors

    def built(self, in_features: Width) -> Dense:
        """Return the dense layer of a given width."""
        return Dense(in_features, self.out_features, self.bias, dialect=self.dialect)

    def output_shape(self, input_shape: Shape) -> Shape:
        """Positions are kept; the last axis takes the output's width."""
        self.width(input_shape)
        return (*input_shape[:-1], extent(self.out_features))

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Every weight and bias is used once per position."""
        return {tensor.name: positions(input_shape) for tensor in self.own_tensors}

    def views(self) -> tuple[View, ...]:
        """Every output position sees its own input position, and all channels there."""
        return Views((), "channels_last")

    @staticmethod
    def width(input_shape: Shape) -> Dim:
        """Return the width that arrives.

        Raises:
            ShapeError: no axis, an empty one, or one of unknown extent.
        """
        arrived = input_shape[-1] if input_shape else None
        if arrived is None or arrived == 0:
            message = f"the width of the weights follows from the last axis of {text(input_shape)}, which must be a size or a symbol."
            raise ShapeError(message)
        return arrived
