"""Normalisation layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.layer import Layer, Tensor
from paramsym.size import Dim


@dataclass(frozen=True)
class LayerNorm(Layer):
    """Layer normalisation (Ba et al. 2016). ``weight`` and ``bias`` have ``normalized_shape``. Reference: ``torch.nn.LayerNorm``.

    >>> from paramsym import H
    >>> LayerNorm(H).params
    2*H
    """

    normalized_shape: Dim | tuple[Dim, ...]
    eps: float = 1e-5
    elementwise_affine: bool = True
    bias: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The scale, then the shift."""
        shape = self.normalized_shape if isinstance(self.normalized_shape, tuple) else (self.normalized_shape,)
        if self.elementwise_affine:
            yield Tensor("weight", shape, role="scale")
            if self.bias:
                yield Tensor("bias", shape, role="bias")
