"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108). Reference: ``transformers.models.distilbert`` 5.23, its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions
from paramsym.models.activations import check_activation, learned
from paramsym.models.bert import Attention, TextBase, TextModel
from paramsym.models.blocks import Holder, activation
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.family import Family, Flag, Size, Word
from paramsym.models.labels import give_labels
from paramsym.program import Own, Value, apply, take
from paramsym.size import Count, Dim, divides, equal
from paramsym.symbols import A, F, H, L, P, V

Architecture = Literal[
    "DistilBertModel",
    "DistilBertForMaskedLM",
    "DistilBertForSequenceClassification",
    "DistilBertForMultipleChoice",
    "DistilBertForTokenClassification",
    "DistilBertForQuestionAnswering",
]
EPS = 1e-12
"""What all its normalisations add; no key of the configuration says it."""
_LABELLED = frozenset({"DistilBertForSequenceClassification", "DistilBertForTokenClassification", "DistilBertForQuestionAnswering"})


def _size(vocab_size: int) -> dict[str, int]:
    """All published sizes are half a BERT base deep."""
    return {"vocab_size": vocab_size, "max_position_embeddings": 512, "n_layers": 6, "n_heads": 12, "dim": 768, "hidden_dim": 3072}


@dataclass(frozen=True)
class DistilBert(TextModel):
    """DistilBERT and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration: H = ``dim``, F = ``hidden_dim``. The base model stores two tables, V and P
    rows of H (a table that begins as sinusoids is stored and trained like any other); their normalisation; and L blocks of
    4*H**2 + 2*F*H + 9*H + F. It has no token types and no pooler. ``num_labels`` is N where the architecture has labels and no number is
    given. With ``tie_word_embeddings`` the output matrix is the word table.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an activation or architecture that the reference does not know; an answer that is not two labels.

    >>> DistilBert().params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L + H*P + H*V + 2*H
    >>> DistilBert().at("distilbert-base-uncased").params
    66362880
    """

    vocab_size: Dim = V
    max_position_embeddings: Dim = P
    sinusoidal_pos_embds: bool = False
    n_layers: Count = L
    n_heads: Dim = A
    dim: Dim = H
    hidden_dim: Dim = F
    activation: str = "gelu"
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "DistilBertModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "distilbert-base-uncased": _size(30522),
        "distilbert-base-cased": _size(28996),
        "distilbert-base-multilingual-cased": _size(119547),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("distilbert-base-uncased", 66_362_880, BUILT, counts="DistilBertModel"),
        Claim("distilbert-base-uncased", 66_985_530, RECALLED, counts="DistilBertForMaskedLM"),
        Claim("distilbert-base-cased", 65_190_912, BUILT, counts="DistilBertModel"),
        Claim("distilbert-base-multilingual-cased", 134_734_080, BUILT, counts="DistilBertModel"),
        Claim("distilbert-base-uncased", 66_000_000, "Sanh et al. 2019, table 3 (66M)", counts="rounded; the base model has 66,362,880"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width; an answer is a beginning and an end."""
        divides(self.n_heads, self.dim, "n_heads", "dim")
        check_activation(self.activation, "activation")
        if self.architecture == "DistilBertForQuestionAnswering" and self.num_labels is not None and not equal(self.num_labels, 2):
            message = f"num_labels is {self.num_labels}; {self.architecture} has two outputs, where an answer begins and where it ends."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``distilbert`` where a head follows, then the head."""
        masked = self.architecture == "DistilBertForMaskedLM"
        if masked:
            yield from (Part(name, layer) for name, layer in learned("activation", self.activation).items())
        yield Part("" if self.architecture == "DistilBertModel" else "distilbert", self._base())
        width = self.dim
        if masked:
            yield Part("vocab_transform", Dense(width, width))
            yield Part("vocab_layer_norm", LayerNorm(width, EPS))
            yield Part("vocab_projector", Dense(width, self.vocab_size))
        if self.architecture in {"DistilBertForSequenceClassification", "DistilBertForMultipleChoice"}:
            yield Part("pre_classifier", Dense(width, width))
        if self.architecture == "DistilBertForMultipleChoice":
            yield Part("classifier", Dense(width, 1))
        elif self.num_labels is not None and self.architecture in _LABELLED:
            yield Part(
                "qa_outputs" if self.architecture == "DistilBertForQuestionAnswering" else "classifier", Dense(width, self.num_labels)
            )

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, unless ``tie_word_embeddings`` is False."""
        tied = self.architecture == "DistilBertForMaskedLM" and self.tie_word_embeddings
        return {"vocab_projector.weight": "distilbert.embeddings.word_embeddings.weight"} if tied else {}

    def answer(self, own: Own, x: Value, *pooled: Value) -> Value:  # noqa: ARG002 - there is no pooler
        """The scores of words, of labels, or of a text by its first position."""
        if self.architecture == "DistilBertForMaskedLM":
            return own.vocab_projector(own.vocab_layer_norm(activation(own, self.activation, own.vocab_transform(x), "activation")))
        x = apply("relu", own.pre_classifier(take(x, 1))) if "pre_classifier" in own else x
        return own["qa_outputs" if self.architecture == "DistilBertForQuestionAnswering" else "classifier"](x)

    def _base(self) -> TextBase:
        width, inner, norm = self.dim, self.hidden_dim, LayerNorm(self.dim, EPS)
        sliced = (self.n_heads, divides(self.n_heads, width, "n_heads", "dim"))
        names = ("q_lin", "k_lin", "v_lin")
        projections = {**dict.fromkeys(names, Dense(width, sliced)), "out_lin": Dense(sliced, width)}
        network = {"lin1": Dense(width, inner), "lin2": Dense(inner, width), **learned("activation", self.activation)}
        block = PostNorm(
            {
                "attention": Attention(projections, names=names, output="out_lin"),
                "sa_layer_norm": norm,
                "ffn": FeedForward(network, self.activation),
                "output_layer_norm": norm,
            }
        )
        tables = DistilBertEmbeddings(self.vocab_size, self.max_position_embeddings, width)
        return TextBase({"embeddings": tables, "transformer": Sequential(layer=Repeat(block, self.n_layers))}, blocks="transformer")


@dataclass(frozen=True)
class PostNorm(Holder):
    """Attention and the feed-forward network, each added to what goes by and normalised after the sum."""

    def forward(self, own: Own, x: Value) -> Value:
        """Both, one after the other."""
        x = own.sa_layer_norm(own.attention(x) + x)
        return own.output_layer_norm(own.ffn(x) + x)


@dataclass(frozen=True)
class FeedForward(Holder):
    """The feed-forward network: ``lin1``, activated, then ``lin2``."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """Up, activated, down."""
        return own.lin2(activation(own, self.function, own.lin1(x), "activation"))


@dataclass(frozen=True)
class DistilBertEmbeddings(Layer):
    """Word and position tables and their normalisation: (V + P + 2)*H. The index buffer is in no state dict.

    >>> DistilBertEmbeddings(V, P, H).params
    H*P + H*V + 2*H
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    dim: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The indices of positions, which the reference computes and does not save."""
        yield Tensor("position_ids", (1, self.max_position_embeddings), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """Two tables, then the normalisation."""
        yield Part("word_embeddings", Embedding(self.vocab_size, self.dim))
        yield Part("position_embeddings", LearnedPositions(self.max_position_embeddings, self.dim, counted="buffer"))
        yield Part("LayerNorm", LayerNorm(self.dim, EPS))

    def forward(self, own: Own, input_ids: Value) -> Value:
        """The sum of what the tables hold for each token, normalised."""
        return own.LayerNorm(own.position_embeddings(own.word_embeddings(input_ids)))


FAMILIES = (
    Family(
        model_type="distilbert",
        model=DistilBert,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "vocab_size": Size(V, 30522),
            "max_position_embeddings": Size(P, 512),
            "sinusoidal_pos_embds": Flag(default=False),
            "n_layers": Size(L, 6, least=0),
            "n_heads": Size(A, 12),
            "dim": Size(H, 768),
            "hidden_dim": Size(F, 3072),
            "activation": Word("gelu"),
            "tie_word_embeddings": Flag(default=True),
        },
        aliases={"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"},
        ignored={
            "drops values while training": "dropout attention_dropout qa_dropout seq_classif_dropout",
        },
    ),
)
