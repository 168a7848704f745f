"""ALBERT (Lan et al. 2020, arXiv:1909.11942). Reference: ``transformers.models.albert`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Flow, InTurn, Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.extents import View
from paramsym.flow import Step
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.stream import Stream
from paramsym.ledger import Numbers
from paramsym.models.activations import check_activation, learned
from paramsym.models.bert import BertEmbeddings
from paramsym.models.between import Heads, TokenModel, pooling
from paramsym.models.claims import BUILT, Claim
from paramsym.models.family import Family, Flag, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.size import Count, Dim, Shape, divides
from paramsym.symbols import A, E, F, H, L, P, T, V, dims

Architecture = Literal[
    "AlbertModel",
    "AlbertForPreTraining",
    "AlbertForMaskedLM",
    "AlbertForSequenceClassification",
    "AlbertForMultipleChoice",
    "AlbertForTokenClassification",
    "AlbertForQuestionAnswering",
]
_POOLED = frozenset({"AlbertForPreTraining", "AlbertForSequenceClassification", "AlbertForMultipleChoice"})
_LANGUAGE = frozenset({"AlbertForPreTraining", "AlbertForMaskedLM"})
_LABELLED = frozenset(
    {"AlbertForPreTraining", "AlbertForSequenceClassification", "AlbertForTokenClassification", "AlbertForQuestionAnswering"}
)
_PAPER = "Lan et al. 2020, table 1"
GROUPS, INNER = dims("n_g n_i")


def _size(hidden_size: int, layers: int, heads: int) -> dict[str, int]:
    """All published sizes have one group of one block, a word width of 128, and a feed-forward width of four times the hidden width."""
    return {
        "vocab_size": 30000,
        "embedding_size": 128,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden_size,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
    }


@dataclass(frozen=True)
class Albert(TokenModel):
    """ALBERT and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores three tables, V, P and T rows of E; their
    normalisation; a projection of E*H + H; *one* block of 4*H**2 + 2*F*H + 9*H + F, which a token passes L times; and a pooler of H**2 + H,
    which only ``AlbertModel`` lets one leave out. With ``num_hidden_groups`` so many are stored, each of ``inner_group_num`` blocks, and a
    token still passes L groups. ``num_labels`` is N where the architecture has labels and no number is given. With
    ``tie_word_embeddings`` the output matrix is the word table and the two output biases are one.

    Raises:
        DivisibilityError: heads that do not divide the hidden width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Albert().params
    E*H + E*P + E*T + E*V + 2*E + 2*F*H + F + 5*H**2 + 11*H
    >>> Albert().at("albert-base-v2").params, Albert().at("albert-base-v2").active
    (11683584, 89650176)
    """

    vocab_size: Dim = V
    embedding_size: Dim = E
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_hidden_groups: Count = 1
    num_attention_heads: Dim = A
    intermediate_size: Dim = F
    inner_group_num: Count = 1
    max_position_embeddings: Dim = P
    type_vocab_size: Dim = T
    hidden_act: str = "gelu_new"
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    add_pooling_layer: bool = True
    architecture: Architecture = "AlbertModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "albert-base-v2": _size(768, 12, 12),
        "albert-large-v2": _size(1024, 24, 16),
        "albert-xlarge-v2": _size(2048, 24, 16),
        "albert-xxlarge-v2": _size(4096, 12, 64),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("albert-base-v2", 11_683_584, BUILT, counts="AlbertModel"),
        Claim("albert-large-v2", 17_683_968, BUILT, counts="AlbertModel"),
        Claim("albert-xlarge-v2", 58_724_864, BUILT, counts="AlbertModel"),
        Claim("albert-xxlarge-v2", 222_595_584, BUILT, counts="AlbertModel"),
        Claim("albert-base-v2", 12_000_000, _PAPER, counts="rounded; AlbertModel has 11,683,584"),
        Claim("albert-large-v2", 18_000_000, _PAPER, counts="rounded; AlbertModel has 17,683,968"),
        Claim("albert-xlarge-v2", 60_000_000, _PAPER, counts="rounded up; AlbertModel has 58,724,864"),
        Claim("albert-xxlarge-v2", 235_000_000, _PAPER, counts="more than the model has; AlbertModel has 222,595,584"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width; only the base class can go without its pooler."""
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")
        if not self.add_pooling_layer and self.architecture != "AlbertModel":
            message = f"add_pooling_layer=False is for AlbertModel; {self.architecture} itself decides whether it has a pooler."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``albert`` where a head follows, then the head."""
        if self.architecture == "AlbertModel":
            yield Part("", self._base(pooled=self.add_pooling_layer))
            return
        yield Part("albert", self._base(pooled=self.architecture in _POOLED))
        yield from self._head()

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model, then the head, or both heads."""
        if self.architecture != "AlbertForPreTraining":
            yield from super().sequence()
            return
        (name, base), *heads = ((part.name, part.layer) for part in self.own_parts)
        yield name, base
        yield "", Heads(tuple(heads), pooled=("sop_classifier",))

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, and the decoder's bias the head's, unless ``tie_word_embeddings`` is False."""
        if self.architecture not in _LANGUAGE or not self.tie_word_embeddings:
            return {}
        return {
            "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
            "predictions.decoder.bias": "predictions.bias",
        }

    def _base(self, *, pooled: bool) -> Flow:
        narrow, width = self.embedding_size, self.hidden_size
        layers: dict[str, Layer] = {
            "embeddings": BertEmbeddings(self.vocab_size, self.max_position_embeddings, self.type_vocab_size, narrow),
            "encoder": Sequential(
                embedding_hidden_mapping_in=Dense(narrow, width),
                albert_layer_groups=AlbertGroups(
                    Sequential(albert_layers=Repeat(self._layer(), self.inner_group_num)), self.num_hidden_groups, self.num_hidden_layers
                ),
            ),
        }
        if pooled:
            layers["pooler"] = Dense(width, width)
        return pooling(layers, "embeddings", "encoder", aside=self.architecture in {"AlbertModel", "AlbertForPreTraining"})

    def _layer(self) -> Stream:
        width, inner = self.hidden_size, self.intermediate_size
        sliced = (self.num_attention_heads, divides(self.num_attention_heads, width, "num_attention_heads", "hidden_size"))
        projection = Dense(width, sliced)
        block = Block(
            full_layer_layer_norm=LayerNorm(width),
            attention=Block(query=projection, key=projection, value=projection, dense=Dense(sliced, width), LayerNorm=LayerNorm(width)),
            ffn=Dense(width, inner),
            ffn_output=Dense(inner, width),
            **learned("activation", self.hidden_act),
        )
        return Stream(width, block)

    def _head(self) -> Iterator[Part]:
        width = self.hidden_size
        if self.architecture in _LANGUAGE:
            yield Part("predictions", AlbertPredictions(width, self.embedding_size, self.vocab_size, self.hidden_act))
        if self.architecture == "AlbertForMultipleChoice":
            yield Part("classifier", Dense(width, 1))
        elif self.num_labels is not None and self.architecture == "AlbertForPreTraining":
            yield Part("sop_classifier", Sequential(classifier=Dense(width, self.num_labels)))
        elif self.num_labels is not None and self.architecture in _LABELLED:
            yield Part("qa_outputs" if self.architecture == "AlbertForQuestionAnswering" else "classifier", Dense(width, self.num_labels))


@dataclass(frozen=True)
class AlbertGroups(Layer):
    """So many stored groups of blocks, of which a token passes ``times``, each of them several times.

    ``Shared`` for several blocks at once: they need not be passed equally often, but together are passed ``times`` times.

    >>> AlbertGroups(Dense(H, H), 1, L).params, AlbertGroups(Dense(H, H), 1, L).active
    (H**2 + H, H**2*L + H*L)
    """

    group: Layer
    groups: Count
    times: Count

    def parts(self) -> Iterator[Part]:
        """The groups."""
        yield Part("", self.group, Numbers(self.groups), used=self.times)

    def views(self) -> tuple[View, ...]:
        """As a group."""
        return self.group.views()

    def output_shape(self, input_shape: Shape) -> Shape:
        """As a group gives it."""
        return self.group.output_shape(input_shape)

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """The groups, passed ``times`` times together."""
        left = self.output_shape(input_shape)
        yield Step(str(Numbers(self.groups)), self.group, input_shape, left, used=self.times, stored=self.groups)


@dataclass(frozen=True)
class AlbertPredictions(InTurn):
    """The language model's head: back to the words' width, then the output matrix; the bias stands twice, before and in the decoder.

    >>> AlbertPredictions(H, E, V).params
    E*H + E*V + 3*E + 2*V
    """

    hidden_size: Dim
    embedding_size: Dim
    vocab_size: Dim
    hidden_act: str = "gelu_new"

    def tensors(self) -> Iterator[Tensor]:
        """The output bias."""
        yield Tensor("bias", (self.vocab_size,), role="bias")

    def parts(self) -> Iterator[Part]:
        """The normalisation, the projection before it, the output matrix."""
        yield Part("LayerNorm", LayerNorm(self.embedding_size))
        yield Part("dense", Dense(self.hidden_size, self.embedding_size))
        yield Part("decoder", Dense(self.embedding_size, self.vocab_size))
        yield from (Part(name, layer) for name, layer in learned("activation", self.hidden_act).items())

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The projection, what its activation learns, the normalisation, the output matrix."""
        parts = self.named()
        yield from ((name, parts[name]) for name in ("dense", "activation", "LayerNorm", "decoder") if name in parts)

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """The bias is the decoder's, which uses it."""
        del input_shape
        return {}


def _one_is_no_letter(arguments: dict[str, Any], sizes: Sizes) -> None:
    """One group of one block, which all published models have, is left out of the formula."""
    for name, letter in (("num_hidden_groups", GROUPS), ("inner_group_num", INNER)):
        if sizes[letter] <= 1:
            arguments[name] = sizes.pop(letter)


FAMILIES = (
    Family(
        model_type="albert",
        model=Albert,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "vocab_size": Size(V, 30000),
            "embedding_size": Size(E, 128),
            "hidden_size": Size(H, 4096),
            "num_hidden_layers": Size(L, 12, least=0),
            "num_hidden_groups": Size(GROUPS, 1, least=0),
            "num_attention_heads": Size(A, 64),
            "intermediate_size": Size(F, 16384),
            "inner_group_num": Size(INNER, 1, least=0),
            "max_position_embeddings": Size(P, 512),
            "type_vocab_size": Size(T, 2),
            "hidden_act": Word("gelu_new"),
            "tie_word_embeddings": Flag(default=True),
        },
        ignored={
            "drops values while training": (
                "hidden_dropout_prob attention_probs_dropout_prob classifier_dropout_prob classifier_dropout down_scale_factor"
            ),
            "keeps a quotient finite": "layer_norm_eps",
            "described memory layers that no class has": "net_structure_type gap_size num_memory_blocks",
        },
        usual={"position_embedding_type": ("absolute", None)},
        arrange=_one_is_no_letter,
    ),
)
