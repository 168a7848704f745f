"""GPT-2 (Radford et al. 2019). Reference: ``transformers.models.gpt2`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Flow, Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part
from paramsym.layers.dense import Dense, TransposedDense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions
from paramsym.layers.stream import Stream
from paramsym.models.activations import check_activation, learned
from paramsym.models.between import Heads, OneOfEach, Squeeze, TokenModel
from paramsym.models.claims import BUILT, CARD, Claim
from paramsym.models.family import Family, Flag, Size, Word
from paramsym.models.labels import give_labels
from paramsym.size import Count, Dim, cat, divides
from paramsym.symbols import A, F, H, L, P, V

Architecture = Literal[
    "GPT2Model",
    "GPT2LMHeadModel",
    "GPT2DoubleHeadsModel",
    "GPT2ForSequenceClassification",
    "GPT2ForTokenClassification",
    "GPT2ForQuestionAnswering",
]
_LANGUAGE = frozenset({"GPT2LMHeadModel", "GPT2DoubleHeadsModel"})
_LABELLED = frozenset({"GPT2ForSequenceClassification", "GPT2ForTokenClassification"})
_SUMMARIES = frozenset({"last", "first", "mean", "cls_index"})
_PAPER = "Radford et al. 2019, table 2"


def _size(n_embd: int, n_layer: int, n_head: int) -> dict[str, int]:
    """All published sizes share the vocabulary and the 1024 positions."""
    return {"vocab_size": 50257, "n_positions": 1024, "n_embd": n_embd, "n_layer": n_layer, "n_head": n_head}


@dataclass(frozen=True)
class Gpt2(TokenModel):
    """GPT-2 and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores V*H + P*H for its tables, L blocks of
    12*H**2 + 13*H where ``n_inner`` is left at 4*H, and a last normalisation of 2*H. Matrices are stored (in, out); query, key and value
    are one tensor. ``num_labels`` is N where the architecture has labels and no number is given. With ``tie_word_embeddings`` the output
    matrix is the word table.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an activation, summary or architecture that the reference does not know or build.

    >>> Gpt2().params
    12*H**2*L + 13*H*L + H*P + H*V + 2*H
    >>> Gpt2(architecture="GPT2LMHeadModel").at("gpt2").params
    124439808
    """

    vocab_size: Dim = V
    n_positions: Dim = P
    n_embd: Dim = H
    n_layer: Count = L
    n_head: Dim = A
    n_inner: Dim | None = None
    activation_function: str = "gelu_new"
    summary_type: str = "cls_index"
    summary_use_proj: bool = True
    summary_activation: str | None = None
    summary_proj_to_labels: bool = True
    add_cross_attention: bool = False
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "GPT2Model"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "gpt2": _size(768, 12, 12),
        "gpt2-medium": _size(1024, 24, 16),
        "gpt2-large": _size(1280, 36, 20),
        "gpt2-xl": _size(1600, 48, 25),
        "distilgpt2": _size(768, 6, 12),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("gpt2", 124_439_808, BUILT, counts="GPT2LMHeadModel"),
        Claim("gpt2-medium", 354_823_168, BUILT, counts="GPT2LMHeadModel"),
        Claim("gpt2-large", 774_030_080, BUILT, counts="GPT2LMHeadModel"),
        Claim("gpt2-xl", 1_557_611_200, BUILT, counts="GPT2LMHeadModel"),
        Claim("distilgpt2", 81_912_576, "Hugging Face model card (82M)", counts="GPT2LMHeadModel"),
        Claim(
            "gpt2",
            137_022_720,
            CARD,
            counts="GPT2LMHeadModel and the causal mask of each layer, L*P**2 entries that are no parameters",
        ),
        Claim("gpt2", 117_000_000, _PAPER, counts="wrong; openai/gpt-2's README corrects it to 124M"),
        Claim("gpt2-medium", 345_000_000, _PAPER, counts="wrong; openai/gpt-2's README corrects it to 355M"),
        Claim("gpt2-large", 762_000_000, _PAPER, counts="wrong; openai/gpt-2 itself names the model 774M"),
        Claim("gpt2-xl", 1_542_000_000, _PAPER, counts="wrong; openai/gpt-2 itself names the model 1558M"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width; the reference knows the activations and builds the summary."""
        divides(self.n_head, self.n_embd, "n_head", "n_embd")
        check_activation(self.activation_function, "activation_function")
        if self.architecture != "GPT2DoubleHeadsModel":
            return
        if self.summary_activation:
            check_activation(self.summary_activation, "summary_activation")
        if self.summary_type not in _SUMMARIES:
            message = f"summary_type is {self.summary_type!r}; GPT2DoubleHeadsModel builds {', '.join(sorted(_SUMMARIES))}."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``transformer`` where a head follows, then the head."""
        base = Sequential(
            wte=Embedding(self.vocab_size, self.n_embd),
            wpe=LearnedPositions(self.n_positions, self.n_embd),
            h=Repeat(self._block(), self.n_layer),
            ln_f=LayerNorm(self.n_embd),
        )
        if self.architecture == "GPT2Model":
            yield Part("", base)
            return
        yield Part("transformer", base)
        yield from self._head()

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model, then the head, or both heads; the scores of one token are those of the text."""
        (name, base), *heads = ((part.name, part.layer) for part in self.own_parts)
        yield name, base
        if self.architecture == "GPT2DoubleHeadsModel":
            yield "", Heads(tuple(heads))
        else:
            yield from heads
        if self.architecture == "GPT2ForSequenceClassification":
            yield "last", OneOfEach()

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, unless ``tie_word_embeddings`` is False."""
        tied = self.architecture in _LANGUAGE and self.tie_word_embeddings
        return {"lm_head.weight": "transformer.wte.weight"} if tied else {}

    def _block(self) -> Stream:
        width = self.n_embd
        inner = 4 * width if self.n_inner is None else self.n_inner
        sliced = (self.n_head, divides(self.n_head, width, "n_head", "n_embd"))
        project = TransposedDense(sliced, width)
        layers: dict[str, Layer] = {
            "ln_1": LayerNorm(width),
            "attn": Block(c_attn=TransposedDense(width, cat(query=sliced, key=sliced, value=sliced)), c_proj=project),
            "ln_2": LayerNorm(width),
        }
        if self.add_cross_attention:
            layers["crossattention"] = Block(
                c_attn=TransposedDense(width, cat(key=sliced, value=sliced)), q_attn=TransposedDense(width, sliced), c_proj=project
            )
            layers["ln_cross_attn"] = LayerNorm(width)
        layers["mlp"] = Block(
            c_fc=TransposedDense(width, inner), c_proj=TransposedDense(inner, width), **learned("act", self.activation_function)
        )
        if not self.add_cross_attention:
            return Stream(width, Block(layers))
        return Stream(width, Block(layers), ("crossattention.c_attn",), ("crossattention", "ln_cross_attn"))

    def _head(self) -> Iterator[Part]:
        width = self.n_embd
        if self.architecture in _LANGUAGE:
            yield Part("lm_head", Dense(width, self.vocab_size, bias=False))
        if self.architecture == "GPT2DoubleHeadsModel":
            # The reference sets num_labels to 1 here, whatever the configuration says.
            scores, act = self.summary_use_proj and self.summary_proj_to_labels, learned("activation", self.summary_activation or "linear")
            summary: dict[str, Layer] = {"summary": Dense(width, 1 if scores else width)} if self.summary_use_proj else {}
            layers = {**summary, **act}
            choosing = Flow(layers, ("one", OneOfEach()), *layers, *([("scores", Squeeze())] if scores else []))
            yield Part("multiple_choice_head", choosing)
        elif self.architecture == "GPT2ForQuestionAnswering":
            yield Part("qa_outputs", Dense(width, 2))
        elif self.num_labels is not None and self.architecture == "GPT2ForSequenceClassification":
            yield Part("score", Dense(width, self.num_labels, bias=False))
        elif self.num_labels is not None and self.architecture == "GPT2ForTokenClassification":
            yield Part("classifier", Dense(width, self.num_labels))


FAMILIES = (
    Family(
        model_type="gpt2",
        model=Gpt2,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "vocab_size": Size(V, 50257),
            "n_positions": Size(P, 1024),
            "n_embd": Size(H, 768),
            "n_layer": Size(L, 12, least=0),
            "n_head": Size(A, 12),
            "n_inner": Size(F, None),
            "activation_function": Word("gelu_new"),
            "summary_type": Word("cls_index"),
            "summary_use_proj": Flag(default=True),
            "summary_activation": Word(None),
            "summary_proj_to_labels": Flag(default=True),
            "add_cross_attention": Flag(default=False),
            "tie_word_embeddings": Flag(default=True),
        },
        aliases={
            "hidden_size": "n_embd",
            "max_position_embeddings": "n_positions",
            "num_attention_heads": "n_head",
            "num_hidden_layers": "n_layer",
        },
        ignored={
            "drops values while training": (
                "resid_pdrop embd_pdrop attn_pdrop summary_first_dropout summary_last_dropout classifier_dropout hidden_dropout"
            ),
            "keeps a quotient finite": "layer_norm_epsilon",
            "scales the attention scores": "scale_attn_weights scale_attn_by_inverse_layer_idx reorder_and_upcast_attn",
            "repeats n_positions, and no class reads it": "n_ctx",
            "is read by the generation, not by a class": "is_decoder",
        },
    ),
)
