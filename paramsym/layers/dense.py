"""Fully connected layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.layer import Layer, Tensor
from paramsym.size import Width


@dataclass(frozen=True)
class Dense(Layer):
    r"""A fully connected layer, :math:`y = W x + b`.

    ``weight`` is (out_features, in_features); ``bias``, where there is one, (out_features,). Parameters: in*out + out.
    Reference: ``torch.nn.Linear``.

    >>> from paramsym import F, H
    >>> Dense(H, F).params
    F*H + F
    """

    in_features: Width
    out_features: Width
    bias: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The weight, then the bias."""
        yield Tensor("weight", (self.out_features, self.in_features))
        if self.bias:
            yield Tensor("bias", (self.out_features,), role="bias")
