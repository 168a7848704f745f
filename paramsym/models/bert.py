"""BERT (Devlin et al. 2019, arXiv:1810.04805). Reference: ``transformers.models.bert`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, TokenTypes
from paramsym.models.activations import activated, check_activation, learned
from paramsym.models.blocks import Holder, activation
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.family import Family, Flag, Number, Size, Word
from paramsym.models.labels import give_labels
from paramsym.program import Mask, Own, Value, attend, axes, each, heads, rearrange, remember, take
from paramsym.size import Count, Dim, Shape, divides
from paramsym.symbols import A, B, F, H, L, P, S, T, V, dims

CHOICES, SOURCE = dims("n_c S_e")
"""The texts to choose among, and the positions of what an encoder gives."""
Architecture = Literal[
    "BertModel",
    "BertForPreTraining",
    "BertForMaskedLM",
    "BertLMHeadModel",
    "BertForNextSentencePrediction",
    "BertForSequenceClassification",
    "BertForMultipleChoice",
    "BertForTokenClassification",
    "BertForQuestionAnswering",
]
_POOLED = frozenset({"BertForPreTraining", "BertForNextSentencePrediction", "BertForSequenceClassification", "BertForMultipleChoice"})
_LANGUAGE = frozenset({"BertForPreTraining", "BertForMaskedLM", "BertLMHeadModel"})
_LABELLED = frozenset({"BertForSequenceClassification", "BertForTokenClassification", "BertForQuestionAnswering"})


def _size(vocab_size: int, hidden_size: int, layers: int, heads: int) -> dict[str, int]:
    """All published BERTs have 512 positions, two token types and a feed-forward width of four times the hidden width."""
    return {
        "vocab_size": vocab_size,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden_size,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
    }


class TextModel(Layer):
    """A model over the tokens of texts, (batch, positions), abstract: BERT and its descendants.

    One that chooses among several texts takes (batch, choices, positions) and gives one score for each. A decoder with cross attention
    may take what an encoder gives, (batch, positions, features).
    """

    architecture: Any  # each family's own words

    @property
    def reads_memory(self) -> bool:
        """Whether the class takes what an encoder gives."""
        return False

    @property
    def takes_several(self) -> bool:
        """The second input is what an encoder gives."""
        return self.reads_memory

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The numbers of tokens, and what an encoder gives."""
        choices = (CHOICES,) if self.architecture.endswith("MultipleChoice") else ()
        memory = {"encoder_hidden_states": (B, SOURCE, self.hidden_size)} if self.reads_memory else {}  # type: ignore[attr-defined]
        return {"input_ids": (B, *choices, S), **memory}

    def forward(self, own: Own, input_ids: Value, encoder_hidden_states: Value | None = None) -> Any:
        """Last hidden states, or what the head says of them."""
        if encoder_hidden_states is not None and not self.reads_memory:
            message = f"{self.architecture} takes no encoder_hidden_states: wanted 1 shape, of the numbers of tokens; found 2."
            raise ShapeError(message)
        memory = () if encoder_hidden_states is None else (encoder_hidden_states,)
        base = next(part for part in self.own_parts if isinstance(part.layer, TextBase))
        if not self.architecture.endswith("MultipleChoice"):
            x, *pooled = each(own[base.name](axes(input_ids, "batch positions")[0], *memory))
            return self.answer(own, x, *pooled) if base.name else x
        texts, _ = axes(input_ids, "batch choices positions")
        x, *pooled = each(own[base.name](rearrange(texts, "b c s -> (b c) s")))
        return rearrange(self.answer(own, x, *pooled), "(b c) () -> b c", b=texts.sizes[0], c=texts.sizes[1])

    def answer(self, own: Own, x: Value, *pooled: Value) -> Any:
        """Return what the head says of the last hidden states, or of the pooled vector."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bert(TextModel):
    """BERT and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores three tables, V, P and T rows of H; their
    normalisation; L blocks of 4*H**2 + 2*F*H + 9*H + F; and a pooler of H**2 + H, which only ``BertModel`` lets one leave out.
    ``num_labels`` is N where the architecture has labels and no number is given. With ``tie_word_embeddings`` the output matrix is the
    word table and the two output biases are one.

    Raises:
        DivisibilityError: heads that do not divide the hidden width.
        ArgumentError: cross attention without ``is_decoder``; an activation or architecture that the reference does not know.

    >>> Bert().params
    2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*T + H*V + 3*H
    >>> Bert().at("bert-base-uncased").params
    109482240
    >>> Bert(architecture="BertForMaskedLM").at("bert-base-uncased").params
    109514298
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    intermediate_size: Dim = F
    max_position_embeddings: Dim = P
    type_vocab_size: Dim = T
    hidden_act: str = "gelu"
    is_decoder: bool = False
    add_cross_attention: bool = False
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    add_pooling_layer: bool = True
    architecture: Architecture = "BertModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-12

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "bert-base-uncased": _size(30522, 768, 12, 12),
        "bert-base-cased": _size(28996, 768, 12, 12),
        "bert-large-uncased": _size(30522, 1024, 24, 16),
        "bert-large-cased": _size(28996, 1024, 24, 16),
        "bert-base-multilingual-uncased": _size(105879, 768, 12, 12),
        "bert-base-multilingual-cased": _size(119547, 768, 12, 12),
        "bert-base-chinese": _size(21128, 768, 12, 12),
        "google/bert_uncased_L-2_H-128_A-2": _size(30522, 128, 2, 2),
        "google/bert_uncased_L-4_H-256_A-4": _size(30522, 256, 4, 4),
        "google/bert_uncased_L-4_H-512_A-8": _size(30522, 512, 4, 8),
        "google/bert_uncased_L-8_H-512_A-8": _size(30522, 512, 8, 8),
        "sentence-transformers/all-MiniLM-L6-v2": _size(30522, 384, 6, 12),
    }

    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("bert-base-uncased", 109_482_240, BUILT, counts="BertModel"),
        Claim("bert-base-cased", 108_310_272, BUILT, counts="BertModel"),
        Claim("bert-large-uncased", 335_141_888, BUILT, counts="BertModel"),
        Claim("bert-large-cased", 333_579_264, BUILT, counts="BertModel"),
        Claim("bert-base-multilingual-cased", 177_853_440, BUILT, counts="BertModel"),
        Claim("bert-base-chinese", 102_267_648, BUILT, counts="BertModel"),
        Claim("google/bert_uncased_L-4_H-512_A-8", 28_763_648, "Turc et al. 2019, table 1 (28.8M)", counts="BertModel"),
        Claim("sentence-transformers/all-MiniLM-L6-v2", 22_713_216, RECALLED, counts="BertModel"),
        Claim("bert-base-uncased", 110_106_428, RECALLED, counts="BertForPreTraining"),
        Claim("bert-base-cased", 108_932_934, RECALLED, counts="BertForPreTraining"),
        Claim("bert-large-uncased", 336_226_108, RECALLED, counts="BertForPreTraining"),
        Claim("bert-base-multilingual-cased", 178_566_653, RECALLED, counts="BertForPreTraining"),
        Claim("bert-base-chinese", 102_882_442, RECALLED, counts="BertForPreTraining"),
        Claim("bert-base-uncased", 109_514_298, BUILT, counts="BertForMaskedLM"),
        Claim(
            "bert-base-uncased", 110_000_000, "Devlin et al. 2019, section 3 (110M)", counts="rounded; BertForPreTraining has 110,106,428"
        ),
        Claim(
            "bert-large-uncased", 340_000_000, "Devlin et al. 2019, section 3 (340M)", counts="rounded; BertForPreTraining has 336,226,108"
        ),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width; the flags fit the architecture."""
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")
        if self.add_cross_attention and not self.is_decoder:
            message = "add_cross_attention=True needs is_decoder=True: only a decoder attends to an encoder."
            raise ArgumentError(message)
        if not self.add_pooling_layer and self.architecture != "BertModel":
            message = f"add_pooling_layer=False is for BertModel; {self.architecture} itself decides whether it has a pooler."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``bert`` where a head follows, then the head."""
        if self.architecture == "BertModel":
            yield Part("", self._base(pooled=self.add_pooling_layer))
            return
        yield Part("bert", self._base(pooled=self.architecture in _POOLED))
        yield from self._head()

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, and the decoder's bias the head's, unless ``tie_word_embeddings`` is False."""
        if self.architecture not in _LANGUAGE or not self.tie_word_embeddings:
            return {}
        return {
            "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        }

    @property
    def reads_memory(self) -> bool:
        """The base model and the language model take what an encoder gives."""
        return self.add_cross_attention and self.architecture in {"BertModel", "BertLMHeadModel"}

    def answer(self, own: Own, x: Value, *pooled: Value) -> Any:
        """The scores of the head, which reads the pooled vector where there is one; both scores in pre-training."""
        if "cls" in own:
            return own.cls(x, *pooled) if self.architecture in _LANGUAGE else own.cls(*pooled)
        return own["qa_outputs" if self.architecture == "BertForQuestionAnswering" else "classifier"](*(pooled or (x,)))

    def _base(self, *, pooled: bool) -> Layer:
        width, eps = self.hidden_size, self.layer_norm_eps
        tables = BertEmbeddings(self.vocab_size, self.max_position_embeddings, self.type_vocab_size, width, eps=eps)
        return TextBase({"embeddings": tables, "encoder": encoder_of(self), **({"pooler": Pooler(width)} if pooled else {})})

    def _head(self) -> Iterator[Part]:
        width = self.hidden_size
        if self.architecture in _LANGUAGE:
            heads: dict[str, Layer] = {"predictions": BertPredictions(width, self.vocab_size, self.hidden_act, eps=self.layer_norm_eps)}
            if self.architecture == "BertForPreTraining":
                heads["seq_relationship"] = Dense(width, 2)
            yield Part("cls", TwoHeads(heads) if len(heads) > 1 else Sequential(heads))
        elif self.architecture == "BertForNextSentencePrediction":
            yield Part("cls", Sequential(seq_relationship=Dense(width, 2)))
        elif self.architecture == "BertForMultipleChoice":
            yield Part("classifier", Dense(width, 1))
        elif self.num_labels is not None:
            yield Part("qa_outputs" if self.architecture == "BertForQuestionAnswering" else "classifier", Dense(width, self.num_labels))


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
    )
    return Sequential(layer=Repeat(block, model.num_hidden_layers))


def encoder_layer(
    width: Dim, heads: Dim, inner: Dim, hidden_act: str, *, causal: bool = False, cross_attention: bool = False, eps: float = 1e-12
) -> BertLayer:
    """Return BERT's block, which its descendants share: attention, cross attention in a decoder, and the feed-forward network.

    >>> encoder_layer(H, A, F, "gelu").params
    2*F*H + F + 4*H**2 + 9*H
    """
    sliced = (heads, divides(heads, width, "num_attention_heads", "hidden_size"))
    projections: dict[str, Layer] = dict.fromkeys(("query", "key", "value"), Dense(width, sliced))
    output = AddedNorm({"dense": Dense(sliced, width), "LayerNorm": LayerNorm(width, eps)})
    layers: dict[str, Layer] = {"attention": AttentionAndOutput({"self": Attention(projections, causal=causal), "output": output})}
    if cross_attention:
        layers["crossattention"] = AttentionAndOutput({"self": Attention(projections), "output": output})
    activation = learned("intermediate_act_fn", hidden_act)
    layers["intermediate"] = Activated({"dense": Dense(width, inner), **activation}, hidden_act, act_name="intermediate_act_fn")
    layers["output"] = AddedNorm({"dense": Dense(inner, width), "LayerNorm": LayerNorm(width, eps)})
    return BertLayer(layers)


@dataclass(frozen=True)
class Attention(Holder):
    """Attention of all positions to each other, or to what an encoder gave: three projections under ``names``, and an ``output``.

    ``causal`` lets a position see the ones before it only, and keeps keys and values for the next step.
    """

    _: KW_ONLY
    names: tuple[str, str, str] = ("query", "key", "value")
    output: str = ""
    causal: bool = False

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        """Project, attend, and project back where the output stands here."""
        source = memory or (x,)
        query, key, value = (heads(own[name](*given)) for name, given in zip(self.names, ((x,), source, source), strict=True))
        if memory or self.causal:
            key, value = (remember(name, one, None if memory else 1) for name, one in (("key", key), ("value", value)))
        y = attend(query, key, value, mask=Mask(self.causal))
        return own[self.output](y) if self.output else y


@dataclass(frozen=True)
class AttentionAndOutput(Holder):
    """Attention, and the ``output`` that adds its result to what goes by."""

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        """The positions attend to each other, or to the memory."""
        return own.output(own.self(x, *memory), x)


@dataclass(frozen=True)
class AddedNorm(Holder):
    """The norm of what goes by and a projection of what was computed from it, after the sum: ``dense``, ``LayerNorm``."""

    def forward(self, own: Own, y: Value, x: Value) -> Value:
        """Project, add, normalise."""
        return own.LayerNorm(own.dense(y) + x)


@dataclass(frozen=True)
class Activated(Holder):
    """An activated projection, ``dense``; with a ``LayerNorm`` behind it where there is one."""

    function: str
    _: KW_ONLY
    act_name: str = "activation"

    def forward(self, own: Own, x: Value) -> Value:
        """Project, activate, normalise."""
        x = activation(own, self.function, own.dense(x), self.act_name)
        return own.LayerNorm(x) if "LayerNorm" in own else x


@dataclass(frozen=True)
class BertLayer(Holder):
    """Attention, cross attention in a decoder, and the feed-forward network, each added to what goes by and normalised after the sum."""

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        """Without a memory nothing attends to it, as in a language model that stands alone."""
        x = own.attention(x)
        x = own.crossattention(x, *memory) if memory else x
        return own.output(own.intermediate(x), x)


@dataclass(frozen=True)
class Pooler(Layer):
    """One vector for each text: an activated projection of the first position's, under a ``name`` or on the pooler's own level.

    >>> Pooler(H).params, Pooler(H).output_shape((B, S, H))
    (H**2 + H, (B, H))
    """

    width: Dim
    name: str = "dense"
    function: str = "tanh"

    def parts(self) -> Iterator[Part]:
        """The projection."""
        yield Part(self.name, Dense(self.width, self.width))

    def forward(self, own: Own, x: Value) -> Value:
        """The first position, projected."""
        return activated(self.function, own[self.name](take(x, 1)))


@dataclass(frozen=True)
class TextBase(Holder):
    """The base model: ``embeddings``, their projection where there is one, the ``blocks``, and the ``pooler`` where there is one."""

    _: KW_ONLY
    blocks: str = "encoder"

    def forward(self, own: Own, input_ids: Value, *memory: Value) -> Any:
        """The last hidden states, and the pooled vector beside them."""
        x = own.embeddings(input_ids)
        x = own.embeddings_project(x) if "embeddings_project" in own else x
        x = own[self.blocks](x, *memory)
        return (x, own.pooler(x)) if "pooler" in own else x


@dataclass(frozen=True)
class TextClassifier(Holder):
    """The labels of a text, from its first position: an activated projection ``dense``, then ``out_proj``."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, positions, width) to (batch, labels)."""
        return own.out_proj(activated(self.function, own.dense(take(x, 1))))


@dataclass(frozen=True)
class TwoHeads(Holder):
    """The heads of pre-training: ``predictions`` for all positions, ``seq_relationship`` for the text."""

    def forward(self, own: Own, x: Value, pooled: Value) -> tuple[Value, Value]:
        """The scores of words, and those of the text."""
        return own.predictions(x), own.seq_relationship(pooled)


@dataclass(frozen=True)
class BertEmbeddings(Layer):
    """Word, position and token type tables and their normalisation: (V + P + T + 2)*H. Two index buffers are in no state dict.

    >>> BertEmbeddings(V, P, T, H).params
    H*P + H*T + H*V + 2*H
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    type_vocab_size: Dim
    hidden_size: Dim
    _: KW_ONLY
    eps: float = 1e-12

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
        """The sum of what the tables hold for each token, normalised."""
        return own.LayerNorm(own.position_embeddings(own.token_type_embeddings(own.word_embeddings(input_ids))))


@dataclass(frozen=True)
class BertPredictions(Layer):
    """The masked language model's head: a transform, then the output matrix; the bias stands twice, before and in the decoder.

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


FAMILIES = (
    Family(
        model_type="bert",
        model=Bert,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "vocab_size": Size(V, 30522),
            "hidden_size": Size(H, 768),
            "num_hidden_layers": Size(L, 12, least=0),
            "num_attention_heads": Size(A, 12),
            "intermediate_size": Size(F, 3072),
            "max_position_embeddings": Size(P, 512),
            "type_vocab_size": Size(T, 2),
            "hidden_act": Word("gelu"),
            "is_decoder": Flag(default=False),
            "add_cross_attention": Flag(default=False),
            "tie_word_embeddings": Flag(default=True),
            "layer_norm_eps": Number(1e-12),
        },
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob classifier_dropout",
            "described the pooler of the first release, which no class reads": (
                "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type"
            ),
        },
        usual={"position_embedding_type": ("absolute", None)},
    ),
)
