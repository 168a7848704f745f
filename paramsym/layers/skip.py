"""A skip connection that joins the input with the result, as in a U-Net."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.core.layer import Layer, Part

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class SkipConnection(Layer):
    """The input and ``submodule(input)``, joined along ``axis``; ``Residual`` adds them instead.

    With channels on axis 1, an input of C channels and a submodule with D output channels give C + D channels. All other axes agree. A
    U-Net is one of these inside another: each holds a pooling, the next level, and an upsampling.

    Source: Ronneberger et al. 2015, "U-Net", section 2. Reference: ``monai.networks.layers.SkipConnection`` with ``mode="cat"``.

    Raises:
        ShapeError: for the output shape, if an axis other than ``axis`` differs.

    >>> from paramsym import B, C, Conv2d, F, W, output_shape
    >>> skip = SkipConnection(Conv2d(C, F, 3, padding=1))
    >>> skip.params, output_shape(skip, (B, C, W, W))
    (9*C*F + F, (B, C + F, W, W))
    """

    submodule: Layer
    axis: int = 1

    def parts(self) -> Iterator[Part]:
        yield Part("submodule", self.submodule)

    def forward(self, own: Own, x: Value) -> Value:
        return ops.join(x, own.submodule(x), axis=self.axis)
