"""Position-wise feed-forward networks, plain and gated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.algebra.size import Dim, cat
from paramsym.core.layer import Layer, Part
from paramsym.layers.dense import Dense

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class FeedForward(Layer):
    r"""Two dense layers with an activation between them (Vaswani et al. 2017, section 3.3).

    ``linear1.weight`` (F, H), ``linear1.bias`` (F,), ``linear2.weight`` (H, F), ``linear2.bias`` (H,), where H is ``d_model`` and F is
    ``dim_feedforward`` (the paper's :math:`d_\text{ff}`). Parameters: 2*H*F + F + H. Reference: the middle of
    ``torch.nn.TransformerEncoderLayer``.

    >>> from paramsym import F, H
    >>> FeedForward(H, F).params
    2*F*H + F + H
    """

    d_model: Dim
    dim_feedforward: Dim
    bias: bool = True
    activation: str = "relu"
    dropout: float = 0.0

    def parts(self) -> Iterator[Part]:
        yield Part("linear1", Dense(self.d_model, self.dim_feedforward, self.bias))
        yield Part("linear2", Dense(self.dim_feedforward, self.d_model, self.bias))

    def forward(self, own: Own, x: Value) -> Value:
        return own.linear2(ops.drop(ops.apply(self.activation, own.linear1(x)), self.dropout))


@dataclass(frozen=True)
class GatedFeedForward(Layer):
    """Two dense layers up, multiplied, and one down: SwiGLU, GeGLU and others (Shazeer 2020, section 2).

    ``gate_proj.weight`` (F, H), ``up_proj.weight`` (F, H), ``down_proj.weight`` (H, F), where H is ``d_model`` and F is
    ``dim_feedforward``; with ``fused``, gate and up in one ``gate_up_proj.weight`` (2F, H). ``down_bias``: None follows ``bias``. The
    activation (*silu*: SwiGLU, *gelu*: GeGLU, *sigmoid*: GLU) stores nothing. Parameters: 3*H*F. References in transformers:
    ``LlamaMLP``, and ``Phi3MLP`` for the fused one.

    >>> from paramsym import F, H
    >>> GatedFeedForward(H, F).params, GatedFeedForward(H, F, bias=True, fused=True).params
    (3*F*H, 3*F*H + 2*F + H)
    """

    d_model: Dim
    dim_feedforward: Dim
    bias: bool = False
    activation: str = "silu"
    fused: bool = False
    down_bias: bool | None = None

    def parts(self) -> Iterator[Part]:
        if self.fused:
            yield Part("gate_up_proj", Dense(self.d_model, cat(gate=self.dim_feedforward, up=self.dim_feedforward), self.bias))
        else:
            yield Part("gate_proj", Dense(self.d_model, self.dim_feedforward, self.bias))
            yield Part("up_proj", Dense(self.d_model, self.dim_feedforward, self.bias))
        yield Part("down_proj", Dense(self.dim_feedforward, self.d_model, self.bias if self.down_bias is None else self.down_bias))

    def forward(self, own: Own, x: Value) -> Value:
        gate, up = ops.segments(own.gate_up_proj(x)) if self.fused else (own.gate_proj(x), own.up_proj(x))
        return own.down_proj(ops.apply(self.activation, gate) * up)
