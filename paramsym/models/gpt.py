"""The common base of GPT-2 and similar language models: one matrix for queries, keys and values, parallel branches, biases by distance."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from sympy import Expr

from paramsym.algebra.size import Axis, Count, Dim, canonical, per
from paramsym.algebra.symbols import A, F, H, L, P
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer
from paramsym.layers.dense import Dense, TransposedDense
from paramsym.layers.dropout import Dropout
from paramsym.layers.position import LearnedPositions
from paramsym.models.blocks import Holder, PreNorm, Stem, feed_forward, scaled, tokens
from paramsym.models.decoder import Decoder
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import key
from paramsym.program import (
    Mask,
    Own,
    Value,
    apply,
    attend,
    constant,
    copies,
    drop,
    heads,
    hide,
    listed,
    past,
    rearrange,
    remember,
    rotate,
    segments,
)


class Gpt(Decoder):
    """A decoder whose configuration has GPT-2's names, with learned positions; abstract. ``n_inner`` None is 4*H.

    Blocks with cross attention may get the states of an encoder.
    """

    n_positions: Dim = key(P, 1024)
    n_embd: Dim = key(H, 768)
    n_layer: Count = key(L, 12, least=0)
    n_head: Dim = key(A, 12, divides="n_embd")
    n_inner: Dim | None = key(F, None, argument=None)
    activation_function: str = key(Function("gelu_new"))
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    layer_norm_epsilon: float = key(Real(1e-5))
    attn_pdrop: float = key(Real(0.1))
    embd_pdrop: float = key(Real(0.1))
    resid_pdrop: float = key(Real(0.1))

    heads = ("n_head", "n_embd")
    depth = "n_layer"
    base_name = "transformer"
    stem = ("wte", "h", "ln_f")
    classifier_name = "classifier"

    @property
    def inner(self) -> Dim:
        return 4 * self.n_embd if self.n_inner is None else self.n_inner

    def forward(self, own: Own, input_ids: Value, *along: Value) -> Any:
        """Like every decoder; ``along`` are the states of cross attention, (batch, positions, width), which is skipped without them."""
        return self.answered(own, own[self.base_path](tokens(input_ids), *along), input_ids)

    def base(self) -> Layer:
        return positioned(self, self.n_positions, self.embd_pdrop)

    def fused_block(self, matrix: type[Dense | TransposedDense], fused: Axis, shared: Axis | None, scale: float | Expr | None) -> PreNorm:
        """Return GPT-2's block: attention, cross attention if present, and the feed-forward network, each with its normalisation.

        ``matrix`` is the class of its matrices, ``fused`` the axis of queries, keys and values; ``shared`` is that of the keys and values
        of cross attention. ``scale`` replaces 1/sqrt(width).
        """
        width, sliced = self.n_embd, (self.n_head, self.head_width())
        out = matrix(sliced, width)
        how: dict[str, Any] = {"scale": scale, "dropout": self.attn_pdrop}
        attention = FusedAttention({"c_attn": matrix(width, fused), "c_proj": out}, names=("c_attn", "c_proj"), **how)
        layers: dict[str, Layer] = {"ln_1": self.norm(), "attn": attention, "ln_2": self.norm()}
        if shared is not None:
            inward = {"c_attn": matrix(width, shared), "q_attn": matrix(width, sliced)}
            layers |= {"crossattention": FusedCross({**inward, "c_proj": out}, **how), "ln_cross_attn": self.norm()}
        layers["mlp"] = feed_forward(width, self.inner, self.activation_function, matrix=matrix)
        dropped = (self.resid_pdrop, self.resid_pdrop)
        return (PreNorm if shared is None else CrossPreNorm)(layers, names=("ln_1", "attn", "ln_2", "mlp"), dropped=dropped)


def positioned(model: Decoder, positions: Dim, dropped: float) -> Sequential:
    """Return GPT-2's base model: a table of tokens, one of positions, dropout, the blocks, the last normalisation."""
    tables = {"wte": model.token_table(), "wpe": LearnedPositions(positions, model.width)}
    dropout = {"drop": Dropout(dropped)} if dropped else {}
    return Sequential({**tables, **dropout, "h": model.blocks(), "ln_f": model.norm()})


ALIASES = {"max_position_embeddings": "n_positions"}
SUMMARY = "summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj"
"""Keys of GPT-2's summary, which similar models have and do not read."""


class AlibiStem(Stem):
    """The base of a language model whose blocks get a bias by distance, in place of rotations (Press et al. 2022, section 3).

    Each of ``num_heads`` heads has one slope. ``factor`` multiplies all biases. ``masked`` ones hide later keys as well, in one array that
    all blocks share; with ``written`` the blocks also get a mask.
    """

    num_heads: Dim
    _: KW_ONLY
    factor: float | Expr = 1.0
    masked: bool = False
    written: bool = False

    def along(self, own: Own, x: Value) -> tuple[Value, ...]:  # noqa: ARG002 - the biases follow from the sizes
        """Return the bias of the scores for (batch, positions, width): (heads, 1, keys), or masked (batch, heads, queries, keys).

        The slope times the number of the key has the effect of the slope times the distance: a softmax is the same after a shift of all
        scores.
        """
        batch, length = x.sizes[:2]
        keys = canonical(length + past())
        seen = (constant("earlier", (batch, 1, length, keys), kind="truth"),) if self.written else ()
        slopes = rearrange(constant("alibi slopes", (self.num_heads,)), "a -> a () ()")
        bias = scaled(slopes * constant("positions", (keys,)), self.factor)
        if self.masked:
            each = copies(rearrange(copies(bias, length, axis=1), "a q k -> () a q k"), batch, axis=0)
            bias = hide(each, Mask(causal=True))
        return (bias, *seen)


class FusedAttention(Holder):
    """Causal attention with one matrix ``names[0]`` for queries, keys and values, and an output ``names[1]``.

    The factors of the matrix's axis state the order of heads in it: three segments of heads, heads of three segments, or groups of several
    queries with one key and one value. ``scale`` replaces 1/sqrt(width); ``clip`` limits queries, keys and values. With ``spread`` keys and
    values are copied for every head before they are kept. With ``listed`` the reference takes the key and the value of a group by a list,
    which makes copies of them. ``written`` says that the mask is an array for every kernel. With ``partly``, only the first entries of each
    head are rotated. ``dropout`` is the rate of the weights.
    """

    _: KW_ONLY
    names: tuple[str, str] = ("query_key_value", "dense")
    scale: float | Expr | None = None
    clip: float | None = None
    spread: bool = False
    listed: bool = False
    written: bool = False
    partly: bool = False
    dropout: float = 0.0

    def projected(self, own: Own, x: Value) -> tuple[Value, Value, Value]:
        """Return queries, keys and values, each (batch, positions, heads, width of a head)."""
        fused = own[self.names[0]](x)
        if self.clip is not None:
            fused = apply("clip", fused, -self.clip, self.clip)
        query, key, value = segments(heads(fused))
        if self.listed:
            key, value = (listed(rearrange(one, "... d -> ... () d"), -2, 0) for one in (key, value))
        query, key, value = by_head(query), by_head(key), by_head(value)
        if self.spread:
            shared = canonical(per(query.sizes[2], key.sizes[2]))
            key, value = copies(key, shared, axis=2), copies(value, shared, axis=2)
        return query, key, value

    def attended(self, own: Own, query: Value, key: Value, value: Value, bias: Value | None = None, seen: Value | None = None) -> Value:
        key, value = remember("key", key, axis=1), remember("value", value, axis=1)
        how: dict[str, Any] = {"scale": self.scale, "bias": bias, "seen": seen, "dropout": self.dropout}
        return own[self.names[1]](attend(query, key, value, mask=Mask(causal=True, written=self.written), **how))

    def forward(self, own: Own, x: Value, *turn: Value) -> Value:
        """Project, rotate by cosines and sines, if any, and attend: (batch, positions, width)."""
        query, key, value = self.projected(own, x)
        if turn:
            query, key = (rotate(one, *turn, partly=self.partly) for one in (query, key))
        return self.attended(own, query, key, value)


class FusedBiased(FusedAttention):
    """The same with a bias that is added to the scores; scores outside the mask ``seen``, if given, are filled in."""

    def forward(self, own: Own, x: Value, *added: Value) -> Value:
        return self.attended(own, *self.projected(own, x), *added)


class FusedCross(Holder):
    """Attention to other states: ``q_attn`` for the queries, ``c_attn`` for keys and values, ``c_proj`` for the output."""

    _: KW_ONLY
    scale: float | Expr | None = None
    dropout: float = 0.0

    def forward(self, own: Own, x: Value, states: Value) -> Value:
        key, value = (by_head(one) for one in segments(heads(own.c_attn(states))))
        key, value = remember("cross key", key), remember("cross value", value)
        return own.c_proj(attend(by_head(own.q_attn(x)), key, value, scale=self.scale, dropout=self.dropout))


class CrossPreNorm(PreNorm):
    """A block with a cross attention between its two sub-layers, which is left out if there are no states to attend to."""

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        (first, attention, second, feed_forward), (one, other) = self.names, self.dropped
        x = x + drop(own[attention](own[first](x)), one)
        if along:
            x = x + drop(own.crossattention(own.ln_cross_attn(x), *along), one)
        return x + drop(own[feed_forward](own[second](x)), other)


def by_head(x: Value) -> Value:
    """Return a projection as (batch, positions, heads, width): one head has no axis yet, heads in groups have one for the groups."""
    x = heads(x)
    if x.rank == 3:
        return rearrange(x, "b s d -> b s () d")
    return x if x.rank == 4 else rearrange(x, "b s g a d -> b s (g a) d")
