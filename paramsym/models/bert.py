"""BERT (Devlin et al. 2019, arXiv:1810.04805). Reference: ``transformers.models.bert`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from paramsym.algebra.size import Count, Dim, Shape, divides
from paramsym.algebra.symbols import A, B, F, H, L, P, S, T, V, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, TokenTypes
from paramsym.models.activations import activated, learned
from paramsym.models.blocks import Holder, activation
from paramsym.models.keys import Flag, Function, Real
from paramsym.models.model import Model, classes, family, key
from paramsym.models.published import published_in
from paramsym.program import Mask, Own, Value, attend, axes, drop, each, heads, rearrange, remember, take

CHOICES, SOURCE = dims("n_c S_e")
"""The number of texts to choose from, and the positions of an encoder's output."""
ENCODER = "ForSequenceClassification ForMultipleChoice ForTokenClassification ForQuestionAnswering"
"""The classes without a language model's head that BERT and its descendants have, without their prefix."""


@dataclass(frozen=True)
class TextModel(Model):
    """A model over the tokens of texts, (batch, positions), abstract: BERT and its descendants.

    A class that chooses among several texts takes (batch, choices, positions) and gives one score for each. A decoder with cross attention
    may take an encoder's output, (batch, positions, features).
    """

    labelled: ClassVar[tuple[str, ...]] = ("SequenceClassification", "TokenClassification", "QuestionAnswering")
    base_name: ClassVar[str]
    pooled: ClassVar[tuple[str, ...]] = ()
    """The heads that read the pooled vector."""

    def conditions(self) -> None:
        """The flags fit the class."""
        super().conditions()
        if getattr(self, "add_cross_attention", False) and not getattr(self, "is_decoder", False):
            message = "add_cross_attention=True needs is_decoder=True: only a decoder attends to an encoder."
            raise ArgumentError(message)
        if not getattr(self, "add_pooling_layer", True) and self.task:
            message = f"add_pooling_layer=False is for the base classes; {self.architecture} has a fixed choice of the pooler."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under its own name if a head follows, then the head."""
        yield Part(self.base_name if self.task else "", self.base())
        yield from self.head()

    def base(self) -> TextBase:
        """Return the base model."""
        raise NotImplementedError

    def head(self) -> Iterator[Part]:
        """Yield what the head stores: one score for each choice, or for each label."""
        if self.task == "MultipleChoice":
            yield Part("classifier", Dense(self.width, 1))
        elif self.num_labels is not None and self.task.endswith(self.labelled):
            yield Part(self.head_name, Dense(self.width, self.num_labels))

    @property
    def head_name(self) -> str:
        """The name of the last projection to labels."""
        return "qa_outputs" if self.task == "QuestionAnswering" else "classifier"

    @property
    def has_pooler(self) -> bool:
        """Whether the base model ends with a pooler."""
        return self.task in self.pooled if self.task else getattr(self, "add_pooling_layer", False)

    @property
    def reads_memory(self) -> bool:
        """Whether the class takes an encoder's output."""
        return False

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The token ids, and an encoder's output."""
        choices = (CHOICES,) if self.architecture.endswith("MultipleChoice") else ()
        memory = {"encoder_hidden_states": (B, SOURCE, self.width)} if self.reads_memory else {}
        return {"input_ids": (B, *choices, S), **memory}

    def forward(self, own: Own, input_ids: Value, encoder_hidden_states: Value | None = None) -> Any:
        """Last hidden states, or the output of the head."""
        if encoder_hidden_states is not None and not self.reads_memory:
            message = f"{self.architecture} takes no encoder_hidden_states: wanted 1 shape, of the token ids; found 2."
            raise ShapeError(message)
        memory = () if encoder_hidden_states is None else (encoder_hidden_states,)
        base = next(part for part in self.own_parts if isinstance(part.layer, TextBase))
        if not self.architecture.endswith("MultipleChoice"):
            x, *pooled = each(own[base.name](axes(input_ids, "batch positions")[0], *memory))
            return self.answer(own, x, *pooled) if base.name else x
        texts, _ = axes(input_ids, "batch choices positions")
        x, *pooled = each(own[base.name](rearrange(texts, "b c s -> (b c) s")))
        return rearrange(self.answer(own, x, *pooled), "(b c) () -> b c", b=texts.sizes[0], c=texts.sizes[1])

    @property
    def classifier_rate(self) -> float:
        """The rate at which the head drops what it reads."""
        return 0.0

    def answer(self, own: Own, x: Value, *pooled: Value) -> Any:
        """Return the head's output for the last hidden states, or for the pooled vector."""
        (read,) = pooled or (x,)
        return own[self.head_name](drop(read, self.classifier_rate))


@dataclass(frozen=True)
class BertLike(TextModel):
    """A text model whose configuration has BERT's names, abstract."""

    vocab_size: Dim = key(V, 30522)
    hidden_size: Dim = key(H, 768)
    num_hidden_layers: Count = key(L, 12, least=0)
    num_attention_heads: Dim = key(A, 12, divides="hidden_size")
    intermediate_size: Dim = key(F, 3072)
    max_position_embeddings: Dim = key(P, 512)
    type_vocab_size: Dim = key(T, 2)
    hidden_act: str = key(Function("gelu"))
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    layer_norm_eps: float = key(Real(1e-12))
    hidden_dropout_prob: float = key(Real(0.1))
    attention_probs_dropout_prob: float = key(Real(0.1))

    classifier_dropout: float | None = key(Real())

    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = {"position_embedding_type": ("absolute", None)}

    @property
    def classifier_rate(self) -> float:
        """That of classifiers, by default the one of all hidden states; answers to questions drop nothing."""
        rate = self.hidden_dropout_prob if self.classifier_dropout is None else self.classifier_dropout
        return 0.0 if self.task == "QuestionAnswering" else rate


@dataclass(frozen=True)
class Bert(BertLike):
    """BERT and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores three tables, V, P and T rows of H; their
    normalisation; L blocks of 4*H**2 + 2*F*H + 9*H + F; and a pooler of H**2 + H, which is optional only in ``BertModel``.
    ``num_labels`` is N if the architecture has labels and no number is given. With ``tie_word_embeddings`` the output matrix is the
    word table and the two output biases are one.

    Raises:
        DivisibilityError: heads that do not divide the hidden size.
        ArgumentError: cross attention without ``is_decoder``; an activation or architecture that the reference does not know.

    >>> Bert().params
    2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*T + H*V + 3*H
    >>> Bert().at("bert-base-uncased").params
    109482240
    >>> Bert(architecture="BertForMaskedLM").at("bert-base-uncased").params
    109514298
    """

    is_decoder: bool = key(Flag())
    add_cross_attention: bool = key(Flag())
    add_pooling_layer: bool = True
    architecture: str = classes({"Bert": f"Model ForPreTraining ForMaskedLM LMHeadModel ForNextSentencePrediction {ENCODER}"})

    base_name = "bert"
    pooled = ("PreTraining", "NextSentencePrediction", "SequenceClassification", "MultipleChoice")
    ignored: ClassVar[Mapping[str, str]] = {
        **BertLike.ignored,
        "described the pooler of the first release, which no class reads": (
            "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type"
        ),
    }
    published, claims = published_in("bert")

    @property
    def task(self) -> str:
        """The head's task; the class with a causal language model's head has an irregular name."""
        return "CausalLM" if self.architecture == "BertLMHeadModel" else super().task

    @property
    def language(self) -> bool:
        """Whether the class gives scores of words."""
        return self.task in {"PreTraining", "MaskedLM", "CausalLM"}

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, and the decoder's bias the head's, unless ``tie_word_embeddings`` is False."""
        if not self.language or not self.tie_word_embeddings:
            return {}
        return {
            "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        }

    @property
    def reads_memory(self) -> bool:
        """The base model and the language model take an encoder's output."""
        return self.add_cross_attention and self.task in {"", "CausalLM"}

    def answer(self, own: Own, x: Value, *pooled: Value) -> Any:
        """The scores of the head, which reads the pooled vector if present; both scores in pre-training."""
        if "cls" in own:
            return own.cls(x, *pooled) if self.language else own.cls(*pooled)
        return super().answer(own, x, *pooled)

    def base(self) -> TextBase:
        """The tables, the blocks, the pooler."""
        return TextBase({"embeddings": tables_of(self, self.hidden_size), "encoder": encoder_of(self), **pooler_of(self)})

    def head(self) -> Iterator[Part]:
        """The heads of pre-training have a separate prefix."""
        relation = {"seq_relationship": Dense(self.hidden_size, 2)}
        if self.language:
            predictions = BertPredictions(self.hidden_size, self.vocab_size, self.hidden_act, eps=self.layer_norm_eps)
            both = self.task == "PreTraining"
            yield Part("cls", TwoHeads({"predictions": predictions, **relation}) if both else Sequential(predictions=predictions))
        elif self.task == "NextSentencePrediction":
            yield Part("cls", Sequential(relation))
        yield from super().head()


def tables_of(model: BertLike, width: Dim) -> BertEmbeddings:
    """Return BERT's tables with rows of a given width."""
    sizes = (model.vocab_size, model.max_position_embeddings, model.type_vocab_size, width)
    return BertEmbeddings(*sizes, eps=model.layer_norm_eps, dropped=model.hidden_dropout_prob)


def pooler_of(model: BertLike, name: str = "dense") -> dict[str, Layer]:
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
        """Project, attend, and project back if the output projection is a part of this layer."""
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
        """Self-attention, or attention to the memory."""
        return own.output(own.self(x, *memory), x)


@dataclass(frozen=True)
class AddedNorm(Holder):
    """A projection of the sub-layer's result, added to the residual stream and normalised: ``dense``, ``LayerNorm``.

    ``dropped`` is the rate of dropout after the projection.
    """

    dropped: float = 0.0

    def forward(self, own: Own, y: Value, x: Value) -> Value:
        """Project, add, normalise."""
        return own.LayerNorm(drop(own.dense(y), self.dropped) + x)


@dataclass(frozen=True)
class Activated(Holder):
    """An activated projection, ``dense``; with an optional ``LayerNorm`` after it."""

    function: str
    _: KW_ONLY
    act_name: str = "activation"

    def forward(self, own: Own, x: Value) -> Value:
        """Project, activate, normalise."""
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

    >>> Pooler(H).params, Pooler(H).output_shape((B, S, H))
    (H**2 + H, (B, H))
    """

    width: Dim
    name: str = "dense"
    function: str = "tanh"
    dropped: float = 0.0

    def parts(self) -> Iterator[Part]:
        """The projection."""
        yield Part(self.name, Dense(self.width, self.width))

    def forward(self, own: Own, x: Value) -> Value:
        """The first position, projected."""
        return activated(self.function, own[self.name](drop(take(x, 1), self.dropped)))


@dataclass(frozen=True)
class TextBase(Holder):
    """The base model: ``embeddings``, their projection if present, the ``blocks``, and the ``pooler`` if present."""

    _: KW_ONLY
    blocks: str = "encoder"

    def forward(self, own: Own, input_ids: Value, *memory: Value) -> Any:
        """The last hidden states, and the pooled vector."""
        x = own.embeddings(input_ids)
        x = own.embeddings_project(x) if "embeddings_project" in own else x
        x = own[self.blocks](x, *memory)
        return (x, own.pooler(x)) if "pooler" in own else x


@dataclass(frozen=True)
class TextClassifier(Holder):
    """The labels of a text, from its first position: an activated projection ``dense``, then ``out_proj``; ``dropped`` before both."""

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
        """The scores of words, and those of the text."""
        return own.predictions(x), own.seq_relationship(pooled)


@dataclass(frozen=True)
class BertEmbeddings(Layer):
    """Word, position and token type tables and their normalisation: (V + P + T + 2)*H. Two index buffers are not in the state dict.

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
        """Three tables, then the normalisation."""
        yield Part("word_embeddings", Embedding(self.vocab_size, self.hidden_size))
        yield Part("position_embeddings", LearnedPositions(self.max_position_embeddings, self.hidden_size, counted="buffer"))
        yield Part("token_type_embeddings", TokenTypes(self.type_vocab_size, self.hidden_size))
        yield Part("LayerNorm", LayerNorm(self.hidden_size, self.eps))

    def forward(self, own: Own, input_ids: Value) -> Value:
        """The sum of the three embeddings of each token, normalised."""
        return drop(own.LayerNorm(own.position_embeddings(own.token_type_embeddings(own.word_embeddings(input_ids)))), self.dropped)


@dataclass(frozen=True)
class BertPredictions(Layer):
    """The masked language model's head: a transform, then the output matrix; the bias occurs twice, before and in the decoder.

    >>> BertPredictions(H, V).params
    H**2 + H*V + 3*H + 2*V
    """

    hidden_size: Dim
    vocab_size: Dim
    hidden_act: str = "gelu"
    _: KW_ONLY
    eps: float = 1e-12

    def tensors(self) -> Iterator[Tensor]:
        """The output bias."""
        yield Tensor("bias", (self.vocab_size,), role="bias")

    def parts(self) -> Iterator[Part]:
        """The transform, then the decoder."""
        width, act = self.hidden_size, learned("transform_act_fn", self.hidden_act)
        layers = {"dense": Dense(width, width), **act, "LayerNorm": LayerNorm(width, self.eps)}
        yield Part("transform", Activated(layers, self.hidden_act, act_name="transform_act_fn"))
        yield Part("decoder", Dense(width, self.vocab_size))

    def forward(self, own: Own, x: Value) -> Value:
        """A score for every word; the bias is the decoder's, which uses it."""
        return own.decoder(own.transform(x))


FAMILIES = (family("bert", Bert),)
