"""BERT (Devlin et al. 2019, arXiv:1810.04805). Reference: ``transformers.models.bert`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Flow, InTurn, Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, TokenTypes
from paramsym.layers.stream import Stream
from paramsym.models.activations import check_activation, learned
from paramsym.models.between import Heads, TokenModel, pooling
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.family import Family, Flag, Size, Word
from paramsym.models.labels import give_labels
from paramsym.size import Count, Dim, Shape, divides
from paramsym.symbols import A, F, H, L, P, T, V

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


@dataclass(frozen=True)
class Bert(TokenModel):
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

    def _base(self, *, pooled: bool) -> Flow:
        width = self.hidden_size
        layers: dict[str, Layer] = {
            "embeddings": BertEmbeddings(self.vocab_size, self.max_position_embeddings, self.type_vocab_size, width),
            "encoder": Sequential(
                layer=Repeat(
                    encoder_layer(
                        width, self.num_attention_heads, self.intermediate_size, self.hidden_act, cross_attention=self.add_cross_attention
                    ),
                    self.num_hidden_layers,
                )
            ),
        }
        if pooled:
            layers["pooler"] = Sequential(dense=Dense(width, width))
        return pooling(layers, "embeddings", "encoder", aside=self.architecture in {"BertModel", "BertForPreTraining"})

    def _head(self) -> Iterator[Part]:
        width = self.hidden_size
        if self.architecture in _LANGUAGE:
            heads: dict[str, Layer] = {"predictions": BertPredictions(width, self.vocab_size, self.hidden_act)}
            if self.architecture == "BertForPreTraining":
                heads["seq_relationship"] = Dense(width, 2)
            yield Part("cls", Heads(tuple(heads.items()), pooled=("seq_relationship",)) if len(heads) > 1 else Sequential(heads))
        elif self.architecture == "BertForNextSentencePrediction":
            yield Part("cls", Sequential(seq_relationship=Dense(width, 2)))
        elif self.architecture == "BertForMultipleChoice":
            yield Part("classifier", Dense(width, 1))
        elif self.num_labels is not None:
            yield Part("qa_outputs" if self.architecture == "BertForQuestionAnswering" else "classifier", Dense(width, self.num_labels))


def encoder_layer(width: Dim, heads: Dim, inner: Dim, hidden_act: str, *, cross_attention: bool = False) -> Stream:
    """Return BERT's block, which its descendants share: attention, cross attention in a decoder, and the feed-forward network.

    >>> encoder_layer(H, A, F, "gelu").params
    2*F*H + F + 4*H**2 + 9*H
    """
    sliced = (heads, divides(heads, width, "num_attention_heads", "hidden_size"))
    projection = Dense(width, sliced)
    attention = Block(
        {
            "self": Block(query=projection, key=projection, value=projection),
            "output": Block(dense=Dense(sliced, width), LayerNorm=LayerNorm(width)),
        }
    )
    layers: dict[str, Layer] = {"attention": attention}
    if cross_attention:
        layers["crossattention"] = attention
    layers["intermediate"] = Block(dense=Dense(width, inner), **learned("intermediate_act_fn", hidden_act))
    layers["output"] = Block(dense=Dense(inner, width), LayerNorm=LayerNorm(width))
    memory = ("crossattention.self.key", "crossattention.self.value") if cross_attention else ()
    return Stream(width, Block(layers), memory, ("crossattention",) if cross_attention else ())


@dataclass(frozen=True)
class BertEmbeddings(InTurn):
    """Word, position and token type tables and their normalisation: (V + P + T + 2)*H. Two index buffers are in no state dict.

    >>> BertEmbeddings(V, P, T, H).params
    H*P + H*T + H*V + 2*H
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    type_vocab_size: Dim
    hidden_size: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The indices of positions and token types, which the reference computes and does not save."""
        for name in ("position_ids", "token_type_ids"):
            yield Tensor(name, (1, self.max_position_embeddings), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """Three tables, then the normalisation."""
        yield Part("word_embeddings", Embedding(self.vocab_size, self.hidden_size))
        yield Part("position_embeddings", LearnedPositions(self.max_position_embeddings, self.hidden_size))
        yield Part("token_type_embeddings", TokenTypes(self.type_vocab_size, self.hidden_size))
        yield Part("LayerNorm", LayerNorm(self.hidden_size))


@dataclass(frozen=True)
class BertPredictions(InTurn):
    """The masked language model's head: a transform, then the output matrix; the bias stands twice, before and in the decoder.

    >>> BertPredictions(H, V).params
    H**2 + H*V + 3*H + 2*V
    """

    hidden_size: Dim
    vocab_size: Dim
    hidden_act: str = "gelu"

    def tensors(self) -> Iterator[Tensor]:
        """The output bias."""
        yield Tensor("bias", (self.vocab_size,), role="bias")

    def parts(self) -> Iterator[Part]:
        """The transform, then the decoder."""
        width = self.hidden_size
        act = learned("transform_act_fn", self.hidden_act)
        yield Part("transform", Sequential({"dense": Dense(width, width), **act, "LayerNorm": LayerNorm(width)}))
        yield Part("decoder", Dense(width, self.vocab_size))

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """The bias is the decoder's, which uses it."""
        del input_shape
        return {}


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
        },
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob classifier_dropout",
            "keeps a quotient finite": "layer_norm_eps",
            "described the pooler of the first release, which no class reads": (
                "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type"
            ),
        },
        usual={"position_embedding_type": ("absolute", None)},
    ),
)
