"""The blocks of BERT and of its descendants: embeddings, encoder, pooler and heads of pre-training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

from paramsym.algebra.size import Dim, divides
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, TokenTypes
from paramsym.models.activations import activated, learned
from paramsym.models.blocks import Holder, activation
from paramsym.program import Mask, Own, Value, attend, drop, heads, remember, take


def tables_of(model: Any, width: Dim) -> BertEmbeddings:
    """Return BERT's tables with rows of a given width."""
    sizes = (model.vocab_size, model.max_position_embeddings, model.type_vocab_size, width)
    return BertEmbeddings(*sizes, eps=model.layer_norm_eps, dropped=model.hidden_dropout_prob)


def pooler_of(model: Any, name: str = "dense") -> dict[str, Layer]:
    """Return the pooler under its name, if the class has one; ``name`` is the name of its projection."""
    return {"pooler": Pooler(model.hidden_size, name)} if model.has_pooler else {}


def encoder_of(model: Any) -> Layer:
    """Return the blocks of BERT and of those of its descendants that have the same configuration keys."""
    block = encoder_layer(
        model.hidden_size,
        model.num_attention_heads,
        model.intermediate_size,
        model.hidden_act,
        causal=model.is_decoder,
        cross_attention=model.add_cross_attention,
        eps=model.layer_norm_eps,
        rates=(model.attention_probs_dropout_prob, model.hidden_dropout_prob),
    )
    return Sequential(layer=Repeat(block, model.num_hidden_layers))


def encoder_layer(
    width: Dim,
    heads: Dim,
    inner: Dim,
    hidden_act: str,
    *,
    causal: bool = False,
    cross_attention: bool = False,
    eps: float = 1e-12,
    rates: tuple[float, float] = (0.0, 0.0),
) -> BertLayer:
    """Return BERT's block, which its descendants share: attention, cross attention in a decoder, and the feed-forward network.

    ``rates`` are the dropout rates of the attention weights and of the residual additions.

    >>> from paramsym import A, F, H
    >>> encoder_layer(H, A, F, "gelu").params
    2*F*H + F + 4*H**2 + 9*H
    """
    sliced = (heads, divides(heads, width, "num_attention_heads", "hidden_size"))
    projections: dict[str, Layer] = dict.fromkeys(("query", "key", "value"), Dense(width, sliced))
    weighed, added = rates
    output = AddedNorm({"dense": Dense(sliced, width), "LayerNorm": LayerNorm(width, eps)}, added)
    attention = Attention(projections, causal=causal, dropout=weighed)
    layers: dict[str, Layer] = {"attention": AttentionAndOutput({"self": attention, "output": output})}
    if cross_attention:
        layers["crossattention"] = AttentionAndOutput({"self": Attention(projections, dropout=weighed), "output": output})
    activation = learned("intermediate_act_fn", hidden_act)
    layers["intermediate"] = Activated({"dense": Dense(width, inner), **activation}, hidden_act, act_name="intermediate_act_fn")
    layers["output"] = AddedNorm({"dense": Dense(inner, width), "LayerNorm": LayerNorm(width, eps)}, added)
    return BertLayer(layers)


@dataclass(frozen=True)
class Attention(Holder):
    """Self-attention, or attention to an encoder's output: three projections under ``names``, and an ``output``.

    With ``causal`` a position sees only earlier ones, and keys and values are kept for the next step; ``dropout`` is the rate of the
    weights.
    """

    _: KW_ONLY
    names: tuple[str, str, str] = ("query", "key", "value")
    output: str = ""
    causal: bool = False
    dropout: float = 0.0

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        source = memory or (x,)
        query, key, value = (heads(own[name](*given)) for name, given in zip(self.names, ((x,), source, source), strict=True))
        if memory or self.causal:
            key, value = (remember(name, one, None if memory else 1) for name, one in (("key", key), ("value", value)))
        y = attend(query, key, value, mask=Mask(self.causal), dropout=self.dropout)
        return own[self.output](y) if self.output else y


@dataclass(frozen=True)
class AttentionAndOutput(Holder):
    """Attention, and the ``output`` that adds its result to the residual stream."""

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        return own.output(own.self(x, *memory), x)


@dataclass(frozen=True)
class AddedNorm(Holder):
    """A projection of the sub-layer's result, added to the residual stream and normalised: ``dense``, ``LayerNorm``.

    ``dropped`` is the rate of dropout after the projection.
    """

    dropped: float = 0.0

    def forward(self, own: Own, y: Value, x: Value) -> Value:
        return own.LayerNorm(drop(own.dense(y), self.dropped) + x)


@dataclass(frozen=True)
class Activated(Holder):
    """An activated projection, ``dense``; with an optional ``LayerNorm`` after it."""

    function: str
    _: KW_ONLY
    act_name: str = "activation"

    def forward(self, own: Own, x: Value) -> Value:
        x = activation(own, self.function, own.dense(x), self.act_name)
        return own.LayerNorm(x) if "LayerNorm" in own else x


@dataclass(frozen=True)
class BertLayer(Holder):
    """Attention, cross attention in a decoder, and the feed-forward network, each added to the residual stream, then normalised."""

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        """Without a memory the cross attention is skipped, as in a language model without an encoder."""
        x = own.attention(x)
        x = own.crossattention(x, *memory) if memory else x
        return own.output(own.intermediate(x), x)


@dataclass(frozen=True)
class Pooler(Layer):
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


@dataclass(frozen=True)
class TextBase(Holder):
    """The base model: ``embeddings``, their projection if present, the ``blocks``, and the ``pooler`` if present."""

    _: KW_ONLY
    blocks: str = "encoder"

    def forward(self, own: Own, input_ids: Value, *memory: Value) -> Any:
        x = own.embeddings(input_ids)
        x = own.embeddings_project(x) if "embeddings_project" in own else x
        x = own[self.blocks](x, *memory)
        return (x, own.pooler(x)) if "pooler" in own else x


@dataclass(frozen=True)
class TextClassifier(Holder):
    """The labels of a text, from its first position; ``dropped`` is the rate of dropout before ``dense`` and before ``out_proj``."""

    function: str
    dropped: float = 0.0

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, positions, width) to (batch, labels)."""
        x = activated(self.function, own.dense(drop(take(x, 1), self.dropped)))
        return own.out_proj(drop(x, self.dropped))


@dataclass(frozen=True)
class TwoHeads(Holder):
    """The heads of pre-training: ``predictions`` for all positions, ``seq_relationship`` for the text."""

    def forward(self, own: Own, x: Value, pooled: Value) -> tuple[Value, Value]:
        return own.predictions(x), own.seq_relationship(pooled)


@dataclass(frozen=True)
class BertEmbeddings(Layer):
    """Word, position and token type tables and their normalisation: (V + P + T + 2)*H. Two index buffers are not in the state dict.

    >>> from paramsym import H, P, T, V
    >>> BertEmbeddings(V, P, T, H).params
    H*P + H*T + H*V + 2*H
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    type_vocab_size: Dim
    hidden_size: Dim
    _: KW_ONLY
    eps: float = 1e-12
    dropped: float = 0.0

    def tensors(self) -> Iterator[Tensor]:
        """The indices of positions and token types, which the reference computes and does not save."""
        for name in ("position_ids", "token_type_ids"):
            yield Tensor(name, (1, self.max_position_embeddings), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        yield Part("word_embeddings", Embedding(self.vocab_size, self.hidden_size))
        yield Part("position_embeddings", LearnedPositions(self.max_position_embeddings, self.hidden_size, counted="buffer"))
        yield Part("token_type_embeddings", TokenTypes(self.type_vocab_size, self.hidden_size))
        yield Part("LayerNorm", LayerNorm(self.hidden_size, self.eps))

    def forward(self, own: Own, input_ids: Value) -> Value:
        return drop(own.LayerNorm(own.position_embeddings(own.token_type_embeddings(own.word_embeddings(input_ids)))), self.dropped)


@dataclass(frozen=True)
class BertPredictions(Layer):
    """The masked language model's head: a transform, then the output matrix; the bias occurs twice, before and in the decoder.

    >>> from paramsym import H, V
    >>> BertPredictions(H, V).params
    H**2 + H*V + 3*H + 2*V
    """

    hidden_size: Dim
    vocab_size: Dim
    hidden_act: str = "gelu"
    _: KW_ONLY
    eps: float = 1e-12

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("bias", (self.vocab_size,), role="bias")

    def parts(self) -> Iterator[Part]:
        width, act = self.hidden_size, learned("transform_act_fn", self.hidden_act)
        layers = {"dense": Dense(width, width), **act, "LayerNorm": LayerNorm(width, self.eps)}
        yield Part("transform", Activated(layers, self.hidden_act, act_name="transform_act_fn"))
        yield Part("decoder", Dense(width, self.vocab_size))

    def forward(self, own: Own, x: Value) -> Value:
        """A score for every word; the bias is the decoder's, which uses it."""
        return own.decoder(own.transform(x))
