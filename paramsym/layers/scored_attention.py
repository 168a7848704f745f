"""Attention without a separate projection of the values: a dot product or a small network scores each pair of query and key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from paramsym import program as ops
from paramsym.algebra.size import Dim, canonical
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.program.masks import ALL

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class AdditiveAttention(Layer):
    r"""The score :math:`v^\top \tanh(W_q q + W_k k)` of Bahdanau et al. 2015 (appendix A.1.2, where the matrices are W_a, U_a and v_a).

    ``W_q.weight`` (U, query_dim), ``W_k.weight`` (U, key_dim), ``v.weight`` (1, U), where U is ``hidden_dim``; with ``bias`` each of the
    three has one. ``key_dim`` and ``hidden_dim`` default to ``query_dim``. Parameters: U*(query_dim + key_dim + 1).

    With ``dialect="keras"`` (``keras.layers.AdditiveAttention``) there are no projections: query and key are added, and the only parameter
    is v, named ``scale`` (query_dim,), with ``use_scale``.

    Raises:
        ArgumentError: projections for Keras' layer, or ``use_scale=False`` for the paper's.

    >>> from paramsym import H, dims
    >>> u = dims("u")
    >>> AdditiveAttention(H, 2*H, u).params
    3*H*u + u
    >>> AdditiveAttention(H, dialect="keras").params
    H
    """

    query_dim: Dim
    key_dim: Dim | None = None
    hidden_dim: Dim | None = None
    bias: bool = False
    _: KW_ONLY
    use_scale: bool = True
    dropout: float = 0.0
    dialect: Literal["torch", "keras"] = "torch"

    def conditions(self) -> None:
        if self.dialect == "torch":
            if not self.use_scale:
                raise ArgumentError("use_scale=False leaves out v, which only dialect='keras' allows.")
            return
        for name, width in (("key_dim", self.key_dim), ("hidden_dim", self.hidden_dim)):
            if width is not None and canonical(width) != canonical(self.query_dim):
                message = f"dialect='keras' adds query and key without projecting them, so {name} must be query_dim, not {width}."
                raise ArgumentError(message)
        if self.bias:
            raise ArgumentError("dialect='keras' has no projections, so it has no bias.")

    def tensors(self) -> Iterator[Tensor]:
        if self.dialect == "keras" and self.use_scale:
            yield Tensor("scale", (self.query_dim,), role="scale")

    def parts(self) -> Iterator[Part]:
        if self.dialect == "torch":
            hidden = self.query_dim if self.hidden_dim is None else self.hidden_dim
            yield Part("W_q", Dense(self.query_dim, hidden, self.bias))
            yield Part("W_k", Dense(self.query_dim if self.key_dim is None else self.key_dim, hidden, self.bias))
            yield Part("v", Dense(hidden, 1, self.bias))

    def forward(self, own: Own, query: Value, key: Value | None = None, last: Value | None = None) -> Value:
        """For each query a weighted mean of the keys, which are also the values; Keras takes queries, values, and optional keys."""
        value = query if key is None else key
        key = value if last is None else last
        if self.dialect == "keras":
            both = ops.apply("tanh", pairs(ops.features(query, self.query_dim), ops.features(key, self.query_dim)))
            scores = ops.reduce("sum", both * own.scale if self.use_scale else both)
        else:
            scores = ops.take(own.v(ops.apply("tanh", pairs(own.W_q(query), own.W_k(key)))), -1)
        return ops.contract("b q k, b k d -> b q d", ops.drop(ops.softmax(scores), self.dropout), value, within=("q", "k", ALL))


@dataclass(frozen=True)
class DotProductAttention(Layer):
    """Keras' ``Attention`` (Luong et al. 2015): no projections, at most two learned scalars.

    ``scale`` () with ``use_scale``; ``concat_score_weight`` () if the score is *concat*: a weight on tanh(query + key).

    >>> DotProductAttention().params, DotProductAttention(use_scale=True, score_mode="concat").params
    (0, 2)
    """

    use_scale: bool = False
    score_mode: Literal["dot", "concat"] = "dot"
    dropout: float = 0.0

    def tensors(self) -> Iterator[Tensor]:
        if self.use_scale:
            yield Tensor("scale", (), role="scale")
        if self.score_mode == "concat":
            yield Tensor("concat_score_weight", ())

    def forward(self, own: Own, query: Value, value: Value | None = None, key: Value | None = None) -> Value:
        """The mean of the values, weighted by their keys' scores. ``value`` is ``query`` by default, and ``key`` is ``value``."""
        value = query if value is None else value
        key = value if key is None else key
        if self.score_mode == "dot":
            scores = ops.contract("... q d, ... k d -> ... q k", query, key, within=("q", "k", ALL))
            scores = scores * own.scale if self.use_scale else scores
        else:
            both = pairs(query, key)
            scores = ops.reduce("sum", ops.apply("tanh", both * own.scale if self.use_scale else both)) * own.concat_score_weight
        return ops.contract("... q k, ... k d -> ... q d", ops.drop(ops.softmax(scores), self.dropout), value, within=("q", "k", ALL))


def pairs(query: Value, key: Value) -> Value:
    """Return the sum of every query and every key: (batch, queries, keys, width)."""
    return ops.rearrange(query, "b q d -> b q () d") + ops.rearrange(key, "b k d -> b () k d")
