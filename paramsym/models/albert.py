"""ALBERT (Lan et al. 2020, arXiv:1909.11942). Reference: ``transformers.models.albert`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from paramsym.compose import Repeat, Sequential, Shared
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.ledger import Numbers
from paramsym.models.activations import check_activation, learned
from paramsym.models.bert import Attention, BertEmbeddings, Pooler, TextBase, TextModel
from paramsym.models.blocks import Holder, activation
from paramsym.models.family import Family
from paramsym.models.keys import Flag, Real, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.models.published import published_in
from paramsym.program import Own, Value
from paramsym.program.own import through
from paramsym.size import Count, Dim, canonical, divides, per
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


@dataclass(frozen=True)
class Albert(TextModel):
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
    _: KW_ONLY
    layer_norm_eps: float = 1e-12

    published, claims = published_in("albert")

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

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, and the decoder's bias the head's, unless ``tie_word_embeddings`` is False."""
        if self.architecture not in _LANGUAGE or not self.tie_word_embeddings:
            return {}
        return {
            "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
            "predictions.decoder.bias": "predictions.bias",
        }

    def answer(self, own: Own, x: Value, *pooled: Value) -> Any:
        """The scores of words, of labels, or of a text by its pooled vector; both in pre-training."""
        if self.architecture == "AlbertForPreTraining":
            return own.predictions(x), own.sop_classifier(*pooled)
        if self.architecture == "AlbertForMaskedLM":
            return own.predictions(x)
        return own["qa_outputs" if self.architecture == "AlbertForQuestionAnswering" else "classifier"](*(pooled or (x,)))

    def _base(self, *, pooled: bool) -> TextBase:
        narrow, width = self.embedding_size, self.hidden_size
        group = Sequential(albert_layers=Repeat(self._layer(), self.inner_group_num))
        layers: dict[str, Layer] = {
            "embeddings": BertEmbeddings(
                self.vocab_size, self.max_position_embeddings, self.type_vocab_size, narrow, eps=self.layer_norm_eps
            ),
            "encoder": Sequential(
                embedding_hidden_mapping_in=Dense(narrow, width),
                albert_layer_groups=AlbertGroups(group, self.num_hidden_groups, self.num_hidden_layers),
            ),
        }
        return TextBase({**layers, **({"pooler": Pooler(width, "")} if pooled else {})})

    def _layer(self) -> AlbertLayer:
        width, inner, norm = self.hidden_size, self.intermediate_size, LayerNorm(self.hidden_size, self.layer_norm_eps)
        sliced = (self.num_attention_heads, divides(self.num_attention_heads, width, "num_attention_heads", "hidden_size"))
        projections = dict.fromkeys(("query", "key", "value"), Dense(width, sliced))
        layers: dict[str, Layer] = {
            "full_layer_layer_norm": norm,
            "attention": AlbertAttention({**projections, "dense": Dense(sliced, width), "LayerNorm": norm}, output="dense"),
            "ffn": Dense(width, inner),
            "ffn_output": Dense(inner, width),
            **learned("activation", self.hidden_act),
        }
        return AlbertLayer(layers, self.hidden_act)

    def _head(self) -> Iterator[Part]:
        width = self.hidden_size
        if self.architecture in _LANGUAGE:
            sizes = (width, self.embedding_size, self.vocab_size)
            yield Part("predictions", AlbertPredictions(*sizes, self.hidden_act, eps=self.layer_norm_eps))
        if self.architecture == "AlbertForMultipleChoice":
            yield Part("classifier", Dense(width, 1))
        elif self.num_labels is not None and self.architecture == "AlbertForPreTraining":
            yield Part("sop_classifier", Sequential(classifier=Dense(width, self.num_labels)))
        elif self.num_labels is not None and self.architecture in _LABELLED:
            yield Part("qa_outputs" if self.architecture == "AlbertForQuestionAnswering" else "classifier", Dense(width, self.num_labels))


@dataclass(frozen=True)
class AlbertAttention(Attention):
    """Attention with its output, added to what goes by and normalised after the sum."""

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        """The positions attend to each other."""
        return own.LayerNorm(super().forward(own, x, *memory) + x)


@dataclass(frozen=True)
class AlbertLayer(Holder):
    """Attention, then the feed-forward network, each added to what goes by and normalised after the sum."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """Both, one after the other."""
        x = own.attention(x)
        return own.full_layer_layer_norm(own.ffn_output(activation(own, self.function, own.ffn(x), "activation")) + x)


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

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - the groups are numbered
        """The first group some times, then the second, ...; where their number or that of the passes is a symbol, all equally often.

        Raises:
            ArgumentError: passes, and no group to pass.
        """
        if self.times == 0:
            return x
        if self.groups == 0:
            message = f"num_hidden_groups is 0, and a token passes {self.times} of them; wanted at least one group."
            raise ArgumentError(message)
        if not isinstance(self.groups, int) or (self.groups > 1 and not isinstance(self.times, int)):
            return through([(Numbers(self.groups), Shared(self.group, canonical(per(self.times, self.groups))))], (x,), ())
        passes = [self.times] if self.groups == 1 else _passes(self.groups, int(self.times))
        for number, times in enumerate(passes):
            if times != 0:
                x = through([(Numbers(times, pattern=""), self.group)], (x,), (), shared=str(number))
        return x


def _passes(groups: int, times: int) -> list[int]:
    """Return how often a token passes each group: pass i is through group i/(times/groups), rounded down, as the reference does it."""
    chosen = [int(number / (times / groups)) for number in range(times)]
    return [chosen.count(group) for group in range(groups)]


@dataclass(frozen=True)
class AlbertPredictions(Layer):
    """The language model's head: back to the words' width, then the output matrix; the bias stands twice, before and in the decoder.

    >>> AlbertPredictions(H, E, V).params
    E*H + E*V + 3*E + 2*V
    """

    hidden_size: Dim
    embedding_size: Dim
    vocab_size: Dim
    hidden_act: str = "gelu_new"
    _: KW_ONLY
    eps: float = 1e-12

    def tensors(self) -> Iterator[Tensor]:
        """The output bias."""
        yield Tensor("bias", (self.vocab_size,), role="bias")

    def parts(self) -> Iterator[Part]:
        """The normalisation, the projection before it, the output matrix."""
        yield Part("LayerNorm", LayerNorm(self.embedding_size, self.eps))
        yield Part("dense", Dense(self.hidden_size, self.embedding_size))
        yield Part("decoder", Dense(self.embedding_size, self.vocab_size))
        yield from (Part(name, layer) for name, layer in learned("activation", self.hidden_act).items())

    def forward(self, own: Own, x: Value) -> Value:
        """A score for every word; the bias is the decoder's, which uses it."""
        return own.decoder(own.LayerNorm(activation(own, self.hidden_act, own.dense(x), "activation")))


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
            "layer_norm_eps": Real(1e-12),
        },
        ignored={
            "drops values while training": (
                "hidden_dropout_prob attention_probs_dropout_prob classifier_dropout_prob classifier_dropout down_scale_factor"
            ),
            "described memory layers that no class has": "net_structure_type gap_size num_memory_blocks",
        },
        usual={"position_embedding_type": ("absolute", None)},
        arrange=_one_is_no_letter,
    ),
)
