"""The blocks of BERT and of its descendants: embeddings, encoder, pooler and heads of pre-training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.size import Dim
from paramsym.core.declared import Declared
from paramsym.core.layer import Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, TokenTypes
from paramsym.models.activations import activated
from paramsym.models.blocks import Holder, activation
from paramsym.program import Mask, Own, Value, attend, compact, contract, drop, heads, rearrange, remember, take


class Attention(Holder):
    """Self-attention, or attention to an encoder's output: three projections under ``names``, and an ``output``.

    With ``causal`` a position sees only earlier ones. Keys and values of earlier positions, or of the encoder's output, are kept for the
    next step. With ``laid``, the reference copies its queries into memory with heads before positions. ``dropout`` is the rate of the
    weights.
    """

    _: KW_ONLY
    names: tuple[str, str, str] = ("query", "key", "value")
    output: str = ""
    causal: bool = False
    laid: bool = False
    dropout: float = 0.0

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        source = memory or (x,)
        query, key, value = (heads(own[name](*given)) for name, given in zip(self.names, ((x,), source, source), strict=True))
        if self.laid:
            query = rearrange(compact(rearrange(query, "b s a d -> b a s d")), "b a s d -> b s a d")
        if memory or self.causal:
            key, value = (remember(name, one, None if memory else 1) for name, one in (("key", key), ("value", value)))
        y = attend(query, key, value, mask=Mask(self.causal), dropout=self.dropout)
        return own[self.output](y) if self.output else y


class NormedAttention(Attention):
    """Attention with its output, added to the residual stream and normalised; ``dropped`` is the dropout rate before the sum."""

    dropped: float = 0.0
    norm: str = "LayerNorm"

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        return own[self.norm](drop(super().forward(own, x, *memory), self.dropped) + x)


class AttentionAndOutput(Holder):
    """Attention, and the ``output`` that adds its result to the residual stream."""

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        return own.output(own.self(x, *memory), x)


class AddedNorm(Holder):
    """A projection of the sub-layer's result, added to the residual stream and normalised: ``dense``, ``LayerNorm``.

    ``dropped`` is the rate of dropout after the projection.
    """

    dropped: float = 0.0

    def forward(self, own: Own, y: Value, x: Value) -> Value:
        return own.LayerNorm(drop(own.dense(y), self.dropped) + x)


class Activated(Holder):
    """An activated projection, ``dense``; with an optional normalisation after it, under the name ``norm``."""

    function: str
    _: KW_ONLY
    act_name: str = "activation"
    norm: str = "LayerNorm"

    def forward(self, own: Own, x: Value) -> Value:
        x = activation(own, self.function, own.dense(x), self.act_name)
        return own[self.norm](x) if self.norm in own else x


class Predictions(Activated):
    """Scores of words: an activated projection, which may be the part ``transform``, then the output matrix ``decoder``.

    The bias is stored twice: here, and in the decoder, which uses its own. Without a decoder the forward pass takes the word table and uses
    the bias that is stored here.

    >>> from paramsym.algebra.symbols import H, V
    >>> Predictions({"dense": Dense(H, H), "LayerNorm": LayerNorm(H), "decoder": Dense(H, V)}, "gelu", V).params
    H**2 + H*V + 3*H + 2*V
    """

    vocab_size: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("bias", (self.vocab_size,), role="bias")

    def forward(self, own: Own, x: Value, words: Value | None = None) -> Value:
        x = own.transform(x) if "transform" in own else super().forward(own, x)
        return own.decoder(x) if words is None else contract("... i, o i -> ... o", x, words) + own.bias


class BertLayer(Holder):
    """Attention, cross attention in a decoder, and the feed-forward network, each added to the residual stream, then normalised.

    Further inputs are those of the cross attention, which is skipped without them, as in a language model without an encoder; without a
    cross attention they are those of the attention.
    """

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        crosses = "crossattention" in own
        x = own.attention(x, *(() if crosses else along))
        x = own.crossattention(x, *along) if crosses and along else x
        return own.output(own.intermediate(x), x)


class Pooler(Declared):
    """One vector for each text: an activated projection of the first position, under a ``name`` or without a prefix.

    >>> from paramsym import B, H, S, output_shape
    >>> Pooler(H).params, output_shape(Pooler(H), (B, S, H))
    (H**2 + H, (B, H))
    """

    width: Dim
    name: str = "dense"
    function: str = "tanh"
    dropped: float = 0.0

    def parts(self) -> Iterator[Part]:
        yield Part(self.name, Dense(self.width, self.width))

    def forward(self, own: Own, x: Value) -> Value:
        return activated(self.function, own[self.name](drop(take(x, 1), self.dropped)))


class TextBase(Holder):
    """The base model: ``embeddings``, their projection if present, the ``blocks``, and the ``pooler`` if present."""

    _: KW_ONLY
    blocks: str = "encoder"

    def forward(self, own: Own, input_ids: Value, *memory: Value) -> Any:
        x = own.embeddings(input_ids)
        x = own.embeddings_project(x) if "embeddings_project" in own else x
        x = own[self.blocks](x, *memory)
        return (x, own.pooler(x)) if "pooler" in own else x


class TextClassifier(Holder):
    """The labels of a text, from a vector of it or from its first position; ``dropped`` is the rate of dropout before each projection."""

    function: str
    dropped: float = 0.0

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, width), or (batch, positions, width), to (batch, labels)."""
        x = take(x, 1) if x.rank == 3 else x
        x = activated(self.function, own.dense(drop(x, self.dropped)))
        return own.out_proj(drop(x, self.dropped))


def text_classifier(width: Dim, labels: Dim, dropped: float | None = 0.0, function: str = "tanh") -> TextClassifier:
    """Return a projection with an activation, ``dense``, and one to labels, ``out_proj``.

    >>> from paramsym.algebra.symbols import H, N
    >>> text_classifier(H, N).params
    H**2 + H*N + H + N
    """
    return TextClassifier({"dense": Dense(width, width), "out_proj": Dense(width, labels)}, function, dropped or 0.0)


class TwoHeads(Holder):
    """The heads of pre-training: ``predictions`` for all positions, ``seq_relationship`` for the text."""

    def forward(self, own: Own, x: Value, pooled: Value) -> tuple[Value, Value]:
        return own.predictions(x), own.seq_relationship(pooled)


class BertEmbeddings(Declared):
    """Word, position and optional token type tables and their normalisation: (V + P + T + 2)*H. The index buffers are in no state dict.

    >>> from paramsym import H, P, T, V
    >>> BertEmbeddings(V, P, T, H).params
    H*P + H*T + H*V + 2*H
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    type_vocab_size: Dim | None
    hidden_size: Dim
    _: KW_ONLY
    eps: float = 1e-12
    dropped: float = 0.0

    indices: ClassVar[tuple[str, ...]] = ("position_ids", "token_type_ids")
    """The index buffers, which the reference computes and does not save."""

    def tensors(self) -> Iterator[Tensor]:
        for name in self.indices:
            yield Tensor(name, (1, self.max_position_embeddings), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        yield Part("word_embeddings", Embedding(self.vocab_size, self.hidden_size))
        yield Part("position_embeddings", LearnedPositions(self.max_position_embeddings, self.hidden_size, counted="buffer"))
        if self.type_vocab_size is not None:
            yield Part("token_type_embeddings", TokenTypes(self.type_vocab_size, self.hidden_size))
        yield Part("LayerNorm", LayerNorm(self.hidden_size, self.eps))

    def forward(self, own: Own, input_ids: Value) -> Value:
        x = own.word_embeddings(input_ids)
        x = own.token_type_embeddings(x) if "token_type_embeddings" in own else x
        return drop(own.LayerNorm(own.position_embeddings(x)), self.dropped)
