"""Blocks of transformers as layers: attention, feed-forward networks, norms and residual additions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sympy import Expr

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, canonical
from paramsym.core.compose import copies_of
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part
from paramsym.layers.dense import Dense, TransposedDense
from paramsym.models.activations import activated, learned
from paramsym.program import (
    ALL,
    Mask,
    Own,
    Value,
    apply,
    at_each,
    attend,
    axes,
    best,
    compare,
    constant,
    drop,
    heads,
    reduce,
    remember,
    rotate,
    take,
    where,
)  # fmt: skip
from paramsym.program.own import through


class Holder(Declared):
    """Named layers, given as a mapping in storage order; a subclass states the forward pass."""

    layers: tuple[tuple[str, Layer], ...] | Mapping[str, Layer]

    def __post_init__(self) -> None:
        """Store the mapping as pairs, because a layer is immutable."""
        if isinstance(self.layers, Mapping):
            object.__setattr__(self, "layers", tuple(self.layers.items()))
        super().__post_init__()

    def parts(self) -> Iterator[Part]:
        for name, layer in dict(self.layers).items():
            yield Part(name, layer)


class PreNorm(Holder):
    """A block that adds ``attention`` of the first norm and ``feed_forward`` of the second to the residual stream, times ``residual``.

    ``names`` are the names of the first norm, the attention, the second norm and the feed-forward network among ``layers``. ``dropped`` are
    the rates of dropout after the two bodies.
    """

    _: KW_ONLY
    names: tuple[str, str, str, str] = ("input_layernorm", "self_attn", "post_attention_layernorm", "mlp")
    residual: float = 1.0
    dropped: tuple[float, float] = (0.0, 0.0)

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        (first, attention, second, feed_forward), (one, other) = self.names, self.dropped
        x = x + scaled(drop(own[attention](own[first](x), *along), one), self.residual)
        return x + scaled(drop(own[feed_forward](own[second](x)), other), self.residual)


class PostNorm(PreNorm):
    """A block as ``PreNorm`` with each norm after the sum."""

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        (first, attention, second, feed_forward), (one, other) = self.names, self.dropped
        x = own[first](x + drop(own[attention](x, *along), one))
        return own[second](x + drop(own[feed_forward](x), other))


class Residual(Holder):
    """A block that adds to the residual stream what each of its ``branches`` makes of it, one branch after the other.

    A branch names layers that are applied in turn, such as a norm, a sub-layer and another norm. Further inputs, such as rotations, are
    passed to ``attention``.
    """

    _: KW_ONLY
    branches: tuple[tuple[str, ...], ...]
    attention: str = "self_attn"

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        for branch in self.branches:
            y = x
            for name in branch:
                y = own[name](y, *(along if name == self.attention else ()))
            x = x + y
        return x


class Parallel(PreNorm):
    """A block whose attention and feed-forward network both read the block's input, in parallel; one norm may serve both."""

    _: KW_ONLY
    names: tuple[str, str, str, str] = ("input_layernorm", "self_attn", "input_layernorm", "mlp")

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        (first, attention, second, feed_forward), (one, other) = self.names, self.dropped
        read = own[first](x)
        return x + drop(own[attention](read, *along), one) + drop(own[feed_forward](read if second == first else own[second](x)), other)


class Attention(Holder):
    """Multi-head attention: ``q_proj``, ``k_proj``, ``v_proj`` and an output. A ``mask`` may hide pairs of positions.

    ``dropout`` is the rate of the weights. The forward pass may take a bias that is added to the scores.
    """

    _: KW_ONLY
    output: str = "o_proj"
    mask: Mask = ALL
    dropout: float = 0.0

    def forward(self, own: Own, x: Value, *bias: Value) -> Value:
        query, key, value = (heads(own[name](x)) for name in ("q_proj", "k_proj", "v_proj"))
        return own[self.output](attend(query, key, value, mask=self.mask, bias=bias[0] if bias else None, dropout=self.dropout))


def inward_and_out(
    width: Dim, sliced: tuple[Dim, Dim], *, bias: bool = True, key_bias: bool = True, output_bias: bool = True
) -> dict[str, Layer]:
    """Return the matrices of attention under fairseq's names, in its order; ``sliced`` are the heads and their width.

    A matrix has a bias unless ``bias`` is False, or that of the keys or of the output.

    >>> from paramsym.algebra.symbols import A, D, H
    >>> {name: layer.params for name, layer in inward_and_out(H, (A, D), key_bias=False).items()}
    {'k_proj': A*D*H, 'v_proj': A*D*H + A*D, 'q_proj': A*D*H + A*D, 'out_proj': A*D*H + H}
    """
    inward = Dense(width, sliced, bias)
    key = Dense(width, sliced, bias and key_bias)
    return {"k_proj": key, "v_proj": inward, "q_proj": inward, "out_proj": Dense(sliced, width, output_bias)}


class RotatedAttention(Holder):
    """Causal attention, most often with rotated queries and keys: ``q_proj``, ``k_proj``, ``v_proj`` and an output.

    ``norms`` name two norms for the heads of queries and keys before the rotation, if the layers contain them; ``joint`` norms take all
    heads of a position together. ``clip`` limits queries, keys and values to numbers from -clip to clip. ``window`` is how many positions a
    query sees; ``scale`` replaces 1/sqrt(width); ``cap`` limits the scores. ``sinks``, if stored, are one more score for each head.
    ``halves`` says that cosines and sines have every angle once; ``dropout`` is the rate of the weights.
    """

    _: KW_ONLY
    output: str = "o_proj"
    norms: tuple[str, str] = ("q_norm", "k_norm")
    joint: bool = False
    clip: float | None = None
    causal: bool = True
    window: Dim | None = None
    scale: float | Expr | None = None
    cap: float | None = None
    partly: bool = False
    halves: bool = False
    dropout: float = 0.0

    wide: ClassVar[bool] = True  # whether the softmax is computed in float32
    remembers: ClassVar[bool] = False  # whether keys and values outside the window are kept

    def projected(self, own: Own, x: Value) -> tuple[Value, Value, Value]:
        """Return queries, keys and values, each (batch, positions, heads, width)."""
        query, key, value = (own[name](x) for name in ("q_proj", "k_proj", "v_proj"))
        normed = self.norms[0] in own
        if normed and self.joint:
            query, key = own[self.norms[0]](query), own[self.norms[1]](key)
        if self.clip is not None:
            query, key, value = (apply("clip", one, -self.clip, self.clip) for one in (query, key, value))
        query, key, value = heads(query), heads(key), heads(value)
        if normed and not self.joint:
            query, key = own[self.norms[0]](query), own[self.norms[1]](key)
        return query, key, value

    def turned(self, x: Value, *turn: Value) -> Value:
        return rotate(x, *turn, partly=self.partly, halves=self.halves)

    def forward(self, own: Own, x: Value, *turn: Value) -> Value:
        """Project, normalise, rotate, attend; ``turn`` are cosines and sines, none if nothing is rotated."""
        query, key, value = self.projected(own, x)
        if turn:
            query, key = self.turned(query, *turn), self.turned(key, *turn)
        kept = None if self.window is None or self.remembers else canonical(self.window - 1)  # the next query sees itself as well
        key, value = (remember(name, one, axis=1, at_most=kept) for name, one in (("key", key), ("value", value)))
        mask, sinks = Mask(self.causal, self.window), own.sinks if "sinks" in own else None
        how: dict[str, Any] = {"scale": self.scale, "cap": self.cap, "dropout": self.dropout, "sinks": sinks, "wide": self.wide}
        return own[self.output](attend(query, key, value, mask=mask, **how))


class FeedForward(Holder):
    """A feed-forward network without a gate: ``names`` are its two matrices among ``layers``, with a learned activation between them.

    ``dropped`` are the dropout rates after the activation and after the second matrix.
    """

    function: str
    _: KW_ONLY
    names: tuple[str, str, str] = ("c_fc", "act", "c_proj")
    dropped: tuple[float, float] = (0.0, 0.0)

    def forward(self, own: Own, x: Value) -> Value:
        (up, act, down), (inside, behind) = self.names, self.dropped
        return drop(own[down](drop(activation(own, self.function, own[up](x), act), inside)), behind)


def feed_forward(
    width: Dim,
    inner: Dim,
    function: str,
    names: tuple[str, str, str] = ("c_fc", "act", "c_proj"),
    *,
    bias: bool = True,
    matrix: type[Dense | TransposedDense] = Dense,
) -> FeedForward:
    """Return a feed-forward network that stores the matrix up, the matrix down, and the activation if it has parameters.

    >>> from paramsym.algebra.symbols import F, H
    >>> feed_forward(H, F, "prelu").shapes()
    {'c_fc.weight': (F, H), 'c_fc.bias': (F,), 'c_proj.weight': (H, F), 'c_proj.bias': (H,), 'act.weight': (1,)}
    """
    up, act, down = names
    return FeedForward({up: matrix(width, inner, bias), down: matrix(inner, width, bias), **learned(act, function)}, function, names=names)


class Summary(Holder):
    """One vector of a text, of the "first" or the last position or the "mean" of all, projected if there is a part ``summary``.

    ``dropped`` are the dropout rates before the projection and after the activation.
    """

    function: str
    kind: str = "first"
    dropped: tuple[float, float] = (0.0, 0.0)

    def forward(self, own: Own, x: Value) -> Value:
        x = drop(self.position(x), self.dropped[0])
        x = own.summary(x) if "summary" in own else x
        return drop(activation(own, self.function, x, "activation"), self.dropped[1])

    def position(self, x: Value) -> Value:
        """Return (batch, width) of (batch, positions, width); for choices the second axis is reduced, as references do."""
        return reduce("mean", x, 1) if self.kind == "mean" else take(x, 1, 0) if self.kind == "first" else last_position(x)


class Gated(Holder):
    """A gated feed-forward network: ``down_proj`` of the activated ``gate_proj`` times ``up_proj`` (Shazeer 2020, arXiv:2002.05202)."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        return own.down_proj(activation(own, self.function, own.gate_proj(x)) * own.up_proj(x))


class Mixture(Holder):
    """A mixture of experts: the part ``router`` chooses some of ``experts`` for every token.

    With ``shared`` every token also uses the part of that name, times the sigmoid of the part ``<shared>_gate`` if present.
    """

    _: KW_ONLY
    router: str = "gate"
    shared: str | None = None

    def forward(self, own: Own, x: Value) -> Value:
        _, weights, chosen = own[self.router](x)
        y = own.experts(x, weights, chosen)
        if self.shared is None:
            return y
        shared, gate = own[self.shared](x), f"{self.shared}_gate"
        return y + (shared * apply("sigmoid", own[gate](x)) if gate in own else shared)


class Ladder(Declared):
    """``depth`` numbered blocks with the same tensors; ``blocks`` are their different forward passes.

    The forward passes alternate; with ``first`` this number of copies of the first one come before, and the others alternate after them.

    >>> from paramsym import Dense, H, L
    >>> Ladder((Dense(H, H), Dense(H, H)), L).params
    H**2*L + H*L
    """

    blocks: tuple[Layer, ...]
    depth: Count
    first: Count = 0

    def parts(self) -> Iterator[Part]:
        yield Part("", self.blocks[0], Numbers(self.depth))

    def forward(self, own: Own, x: Value, *along: Value) -> Any:  # noqa: ARG002 - every copy stores what the first one does
        if self.first != 0:
            x = through([(Numbers(self.first), self.blocks[0])], (x,), along)
        turns = self.blocks if self.first == 0 else self.blocks[1:]
        rest, period = canonical(self.depth - self.first), len(turns)
        counts = [copies_of(rest, position, period) for position in range(period - 1)]
        counts.append(canonical(rest - sum(counts)))  # the rest for the last one, so that the counts add up to the depth
        runs = [
            (Numbers(count, self.first + n, period), block)
            for n, (count, block) in enumerate(zip(counts, turns, strict=True))
            if count != 0
        ]
        return through(runs, (x,), along) if runs else x


class Stem(Holder):
    """The base of a language model: its layers, applied in the order in which they are stored, from the token ids on.

    The first layer's result is multiplied by ``scale``, with dropout at the rate ``dropped``. The layer ``blocks`` also gets the cosines
    and sines of ``rotary_emb``, which may be stored anywhere.
    """

    _: KW_ONLY
    blocks: str = "layers"
    scale: float | Expr = 1.0
    dropped: float = 0.0

    def forward(self, own: Own, input_ids: Value) -> Value:
        first, *names = dict(self.layers)
        x = drop(scaled(own[first](input_ids), self.scale), self.dropped)
        for name in names:
            if name == self.blocks:
                x = own[name](x, *self.along(own, x))
            elif name != "rotary_emb":
                x = own[name](x)
        return x

    def along(self, own: Own, x: Value) -> tuple[Value, ...]:
        """Return the further inputs of every block."""
        return own.rotary_emb(x) if "rotary_emb" in own else ()


def scaled(x: Value, factor: float | Expr) -> Value:
    """Return an array times a number; for 1, the array itself."""
    return x if factor == 1 else x * factor


def activation(own: Own, function: str, x: Value, name: str = "act_fn") -> Value:
    """Apply an activation by its configuration name; an activation with parameters is the part ``name``."""
    return own[name](x) if name in own else activated(function, x)


def last_position(x: Value) -> Value:
    """Return the entry of the last position: (batch, positions, features) to (batch, features)."""
    return take(x, 1, canonical(x.sizes[1] - 1))


def last_word(x: Value, input_ids: Value, padding: int | None) -> Value:
    """Return the entry of the last position that is not padding: (batch, positions, features) to (batch, features)."""
    return _last_where(x, input_ids, padding, holds=False)


def last_of(x: Value, input_ids: Value, token: int | None) -> Value:
    """Return the entry of the last position that holds a token, or of the first position if no position holds it."""
    return _last_where(x, input_ids, token, holds=True)


def _last_where(x: Value, input_ids: Value, token: int | None, *, holds: bool) -> Value:
    """Return the entry of the last position that holds a token, or holds another one; without a token, of the last position."""
    if token is None:
        return last_position(x)
    first, positions = constant("index zeros", (1, 1), kind="index"), constant("positions", (x.sizes[1],), 0, kind="index")
    wanted, others = (positions, first) if holds else (first, positions)
    return at_position(x, best(where(compare(input_ids, "equal", token), wanted, others), 1)[1])


def at_position(x: Value, position: Value) -> Value:
    """Return the entry of each text at a position, (batch, 1): (batch, positions, features) to (batch, features)."""
    return at_each(x, take(position, 1, 0))


def tokens(input_ids: Value) -> Value:
    """Return the token ids after a check of their axes: (batch, positions).

    Raises:
        ShapeError: another number of axes.
    """
    return axes(input_ids, "batch positions")[0]
