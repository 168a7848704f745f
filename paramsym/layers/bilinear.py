"""A bilinear form between two inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.algebra.size import Width
from paramsym.core.layer import Layer, Tensor

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class Bilinear(Layer):
    r"""A bilinear form per output, :math:`y = x_1^\top W x_2 + b`.

    ``weight`` is (out_features, in1_features, in2_features); ``bias``, if present, is (out_features,). Parameters: in1*in2*out + out.
    Reference: ``torch.nn.Bilinear``.

    >>> from paramsym import F, H
    >>> Bilinear(H, H, F).params
    F*H**2 + F
    """

    in1_features: Width
    in2_features: Width
    out_features: Width
    bias: bool = True

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.out_features, self.in1_features, self.in2_features))
        if self.bias:
            yield Tensor("bias", (self.out_features,), role="bias")

    def forward(self, own: Own, x: Value, other: Value | None = None) -> Value:
        """The forms between the two inputs, and the bias; a single input is used for both."""
        other = x if other is None else other

        def kernel(x: Value, other: Value, weight: Value) -> Value:
            return ops.contract("... o j, ... j -> ... o", ops.contract("... i, o i j -> ... o j", x, weight), other)

        factors = (ops.features(x, self.in1_features), ops.features(other, self.in2_features), own.weight)
        keeps = (ops.Kept("taken", 0, wanted=(1, 2)), ops.Kept("taken", 1, wanted=(0, 2)), ops.Kept("taken", 2, wanted=(0, 1)))
        y = ops.region("bilinear", kernel, *factors, keeps=keeps)
        return y + own.bias if self.bias else y
