"""A dense layer whose input width follows from its input shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from sympy import Symbol

from paramsym.algebra.size import Dim, Shape, Width, text
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ShapeError
from paramsym.layers.dense import Dense

if TYPE_CHECKING:
    from paramsym.program import Own, Value

OPEN = Symbol("in_features", integer=True, positive=True)
"""The letter for the unknown width of a lazy layer; the second lazy layer of a model has ``in_features_2``."""
_OPEN = re.compile(rf"{OPEN.name}(_\d+)?")


@dataclass(frozen=True)
class LazyDense(Layer):
    r"""A fully connected layer whose ``in_features`` is open: a letter, until ``infer(layer, input_shape)`` puts the input's width in.

    It takes inputs of any width. Parameters: in_features*out + out, with ``in_features`` as a letter. Each lazy layer of a model has a
    separate letter, ``in_features_2`` for the second, because two unknown widths may differ; for equal widths give one letter,
    ``in_features=dims("n")``. Tensors are those of ``Dense``.

    Raises:
        SizeError: a width that cannot be a positive integer.

    Reference: ``torch.nn.LazyLinear``; Keras: every ``Dense`` before it is built.

    >>> from paramsym import B, C, Conv2d, Flatten, Sequential, W, infer
    >>> LazyDense(10).params
    10*in_features + 10
    >>> Sequential(LazyDense(8), LazyDense(4)).params
    8*in_features + 4*in_features_2 + 12
    >>> infer(Sequential(Conv2d(3, C, 3), Flatten(), LazyDense(10)), (B, 3, W, W)).part("2")
    Dense(C*W**2 - 4*C*W + 4*C, 10)
    """

    out_features: Width
    bias: bool = True
    _: KW_ONLY
    in_features: Dim = OPEN
    dialect: Literal["torch", "keras"] = "torch"

    @cached_property
    def open_letters(self) -> frozenset[Symbol]:
        """The letter of the width, unless another one was given."""
        width = self.in_features
        return frozenset({width} if isinstance(width, Symbol) and _OPEN.fullmatch(width.name) else ())

    def tensors(self) -> Iterator[Tensor]:
        yield from self.built(self.in_features).own_tensors

    def built(self, in_features: Width) -> Dense:
        """Return the dense layer of a given width."""
        return Dense(in_features, self.out_features, self.bias, dialect=self.dialect)

    def forward(self, own: Own, x: Value) -> Value:
        self.width(x.sizes)
        return self.built(self.in_features).forward(own, x)

    @staticmethod
    def width(input_shape: Shape) -> Dim:
        """Return the width of the input.

        Raises:
            ShapeError: no axis, an empty one, or one of unknown extent.
        """
        arrived = input_shape[-1] if input_shape else None
        if arrived is None or arrived == 0:
            message = f"the width of the weights follows from the last axis of {text(input_shape)}, which must be a size or a symbol."
            raise ShapeError(message)
        return arrived
