"""ELECTRA (Clark et al. 2020, arXiv:2003.10555). Reference: ``transformers.models.electra`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from paramsym.errors import ArgumentError
from paramsym.layer import Part
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation, learned
from paramsym.models.bert import Activated, BertEmbeddings, TextBase, TextClassifier, TextModel, encoder_of
from paramsym.models.blocks import Holder, activation, last_position
from paramsym.models.family import Family
from paramsym.models.keys import Flag, Real, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.models.published import published_in
from paramsym.program import Own, Value, reduce, take
from paramsym.size import Count, Dim, divides, same
from paramsym.symbols import A, E, F, H, L, P, T, V

Architecture = Literal[
    "ElectraModel",
    "ElectraForPreTraining",
    "ElectraForMaskedLM",
    "ElectraForCausalLM",
    "ElectraForSequenceClassification",
    "ElectraForMultipleChoice",
    "ElectraForTokenClassification",
    "ElectraForQuestionAnswering",
]
_LANGUAGE = frozenset({"ElectraForMaskedLM", "ElectraForCausalLM"})
_LABELLED = frozenset({"ElectraForSequenceClassification", "ElectraForTokenClassification", "ElectraForQuestionAnswering"})
_PAPER = "Clark et al. 2020, table 1"


@dataclass(frozen=True)
class Electra(TextModel):
    """ELECTRA and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores three tables, V, P and T rows of E; their
    normalisation; a projection of E*H + H, unless E and H are equal, which is decided when the model is built (write
    ``embedding_size=H``); and L of BERT's blocks, 4*H**2 + 2*F*H + 9*H + F each. ``num_labels`` is N where the architecture has labels and
    no number is given. With ``tie_word_embeddings`` the generator's output matrix is the word table.

    Raises:
        DivisibilityError: heads that do not divide the hidden width.
        ArgumentError: cross attention without ``is_decoder``; a summary, activation or architecture that the reference does not build.

    >>> Electra().params
    E*H + E*P + E*T + E*V + 2*E + 2*F*H*L + F*L + 4*H**2*L + 9*H*L + H
    >>> Electra(embedding_size=H).at("google/electra-base-discriminator").params
    108891648
    """

    vocab_size: Dim = V
    embedding_size: Dim = E
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    intermediate_size: Dim = F
    max_position_embeddings: Dim = P
    type_vocab_size: Dim = T
    hidden_act: str = "gelu"
    summary_type: str = "first"
    summary_use_proj: bool = True
    summary_activation: str | None = "gelu"
    is_decoder: bool = False
    add_cross_attention: bool = False
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "ElectraModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-12

    published, claims = published_in("electra")

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width; the reference builds the summary."""
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")
        if self.add_cross_attention and not self.is_decoder:
            message = "add_cross_attention=True needs is_decoder=True: only a decoder attends to an encoder."
            raise ArgumentError(message)
        if self.architecture == "ElectraForMultipleChoice":
            if self.summary_activation:
                check_activation(self.summary_activation, "summary_activation")
            if self.summary_type == "attn":
                message = "summary_type is 'attn', which the reference does not build; take 'first', 'last', 'mean' or 'cls_index'."
                raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``electra`` where a head follows, then the head."""
        yield Part("" if self.architecture == "ElectraModel" else "electra", self._base())
        yield from self._head()

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, unless ``tie_word_embeddings`` is False."""
        tied = self.architecture in _LANGUAGE and self.tie_word_embeddings
        return {"generator_lm_head.weight": "electra.embeddings.word_embeddings.weight"} if tied else {}

    @property
    def reads_memory(self) -> bool:
        """The base model and the language model that decodes take what an encoder gives."""
        return self.add_cross_attention and self.architecture in {"ElectraModel", "ElectraForCausalLM"}

    def answer(self, own: Own, x: Value, *pooled: Value) -> Value:  # noqa: ARG002 - there is no pooler
        """The scores of words, of labels, of a text by its summary, or one for each position: whether its word was replaced."""
        if self.architecture in _LANGUAGE:
            return own.generator_lm_head(own.generator_predictions(x))
        if self.architecture == "ElectraForPreTraining":
            return own.discriminator_predictions(x)
        x = own.sequence_summary(x) if "sequence_summary" in own else x
        return own["qa_outputs" if self.architecture == "ElectraForQuestionAnswering" else "classifier"](x)

    def _base(self) -> TextBase:
        narrow, width = self.embedding_size, self.hidden_size
        tables = BertEmbeddings(self.vocab_size, self.max_position_embeddings, self.type_vocab_size, narrow, eps=self.layer_norm_eps)
        widened = {} if same(narrow, width) else {"embeddings_project": Dense(narrow, width)}
        return TextBase({"embeddings": tables, **widened, "encoder": encoder_of(self)})

    def _head(self) -> Iterator[Part]:
        narrow, width = self.embedding_size, self.hidden_size
        if self.architecture in _LANGUAGE:
            layers = {"LayerNorm": LayerNorm(narrow, self.layer_norm_eps), "dense": Dense(width, narrow)}
            yield Part("generator_predictions", Activated(layers, "gelu"))
            yield Part("generator_lm_head", Dense(narrow, self.vocab_size))
        elif self.architecture == "ElectraForPreTraining":
            act = learned("activation", self.hidden_act)
            layers = {"dense": Dense(width, width), **act, "dense_prediction": Dense(width, 1)}
            yield Part("discriminator_predictions", Discriminator(layers, self.hidden_act))
        elif self.architecture == "ElectraForMultipleChoice":
            function = self.summary_activation or "linear"
            projection = {"summary": Dense(width, width)} if self.summary_use_proj else {}
            yield Part("sequence_summary", Summary({**projection, **learned("activation", function)}, function, self.summary_type))
            yield Part("classifier", Dense(width, 1))
        elif self.num_labels is not None and self.architecture == "ElectraForSequenceClassification":
            yield Part("classifier", TextClassifier({"dense": Dense(width, width), "out_proj": Dense(width, self.num_labels)}, "gelu"))
        elif self.num_labels is not None and self.architecture in _LABELLED:
            yield Part("qa_outputs" if self.architecture == "ElectraForQuestionAnswering" else "classifier", Dense(width, self.num_labels))


@dataclass(frozen=True)
class Discriminator(Holder):
    """One score for each position: an activated projection ``dense``, then ``dense_prediction`` of one output."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, positions, width) to (batch, positions)."""
        return take(own.dense_prediction(activation(own, self.function, own.dense(x), "activation")), 2)


@dataclass(frozen=True)
class Summary(Holder):
    """One vector for each text, of the "first" or the "last" position or the "mean" of all, projected where ``summary`` is there."""

    function: str
    kind: str = "first"

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, positions, width) to (batch, width); "cls_index" is the last position where none is given."""
        x = reduce("mean", x, 1) if self.kind == "mean" else take(x, 1) if self.kind == "first" else last_position(x)
        return activation(own, self.function, own.summary(x) if "summary" in own else x, "activation")


def _without_a_projection(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Where the two widths are equal, they are one letter, and there is no projection."""
    if sizes[E] == sizes[H]:
        arguments["embedding_size"] = H
        del sizes[E]


FAMILIES = (
    Family(
        model_type="electra",
        model=Electra,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "vocab_size": Size(V, 30522),
            "embedding_size": Size(E, 128),
            "hidden_size": Size(H, 256),
            "num_hidden_layers": Size(L, 12, least=0),
            "num_attention_heads": Size(A, 4),
            "intermediate_size": Size(F, 1024),
            "max_position_embeddings": Size(P, 512),
            "type_vocab_size": Size(T, 2),
            "hidden_act": Word("gelu"),
            "summary_type": Word("first", only=("ElectraForMultipleChoice",)),
            "summary_use_proj": Flag(default=True, only=("ElectraForMultipleChoice",)),
            "summary_activation": Word("gelu", only=("ElectraForMultipleChoice",)),
            "is_decoder": Flag(default=False),
            "add_cross_attention": Flag(default=False),
            "tie_word_embeddings": Flag(default=True),
            "layer_norm_eps": Real(1e-12),
        },
        ignored={
            "drops values while training": (
                "hidden_dropout_prob attention_probs_dropout_prob classifier_dropout summary_last_dropout summary_first_dropout"
            ),
        },
        usual={"position_embedding_type": ("absolute", None), "summary_proj_to_labels": (False,)},
        arrange=_without_a_projection,
    ),
)
