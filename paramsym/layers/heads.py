"""Layers with a separate axis of heads, as Flax and Keras store them: projections between groups of axes, and norms of each head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from paramsym import program as ops
from paramsym.algebra.size import Dim, Width
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.dialects import affine_tensors

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class HeadProjection(Layer):
    """A dense layer between groups of axes, so that heads are a separate axis: ``kernel`` (inputs, outputs), ``bias`` (outputs).

    Reference: the projections inside ``keras.layers.MultiHeadAttention``, and ``flax.linen.DenseGeneral``.

    >>> from paramsym import A, D, H
    >>> HeadProjection((H,), (A, D)).params
    A*D*H + A*D
    """

    inputs: tuple[Width, ...]
    outputs: tuple[Width, ...]
    bias: bool = True

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("kernel", (*self.inputs, *self.outputs))
        if self.bias:
            yield Tensor("bias", self.outputs, role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        taken, given = (" ".join(f"{word}{n}" for n in range(len(axes))) for word, axes in (("i", self.inputs), ("o", self.outputs)))
        y = ops.contract(f"... {taken}, {taken} {given} -> ... {given}", ops.features(x, *self.inputs), own.kernel)
        return y + own.bias if self.bias else y


@dataclass(frozen=True)
class ByHead(Layer):
    """A layer that is applied to each head separately and stored once for all.

    >>> from paramsym import A, D
    >>> ByHead(A, HeadNorm((D,))).params
    D
    """

    in_order = True

    heads: Dim
    layer: Layer

    def parts(self) -> Iterator[Part]:
        yield Part("", self.layer)


@dataclass(frozen=True)
class HeadNorm(Layer):
    """The norm of the last axis of queries or keys: ``weight`` (Flax: ``scale``) of ``shape``, and with ``bias`` a shift of that shape.

    >>> from paramsym import A, D
    >>> HeadNorm((D,)).params, HeadNorm((A, D), bias=True).params
    (D, 2*A*D)
    """

    shape: tuple[Width, ...]
    bias: bool = False
    dialect: Literal["torch", "flax"] = "torch"
    kind: Literal["rms", "layer"] = "rms"
    eps: float = 1e-6

    def tensors(self) -> Iterator[Tensor]:
        yield from affine_tensors(self.shape, self.dialect, scale=True, shift=self.bias)

    def forward(self, own: Own, x: Value) -> Value:
        scale = own.weight if self.dialect == "torch" else own.scale
        shift = own.bias if self.bias else None
        return ops.normalise(
            ops.features(x, *self.shape), self.kind, -1, eps=self.eps, scale=scale, shift=shift, steps=self.kind == "layer"
        )
