"""RoBERTa (Liu et al. 2019, arXiv:1907.11692) and XLM-RoBERTa (Conneau et al. 2020, arXiv:1911.02116).

Reference: ``transformers.models.roberta`` and ``transformers.models.xlm_roberta`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import TokenTypes, check_positions
from paramsym.models.activations import check_activation
from paramsym.models.bert import Pooler, TextBase, TextClassifier, TextModel, encoder_of
from paramsym.models.claims import BUILT, CARD, RECALLED, Claim
from paramsym.models.decoder import OptionalWhole
from paramsym.models.family import Family, Flag, Key, Number, Size, Word
from paramsym.models.labels import give_labels
from paramsym.program import Own, Value, apply, compact, constant, copies, past, rearrange
from paramsym.size import Count, Dim, canonical, divides
from paramsym.symbols import A, F, H, L, P, T, V

RobertaClass = Literal[
    "RobertaModel",
    "RobertaForMaskedLM",
    "RobertaForCausalLM",
    "RobertaForSequenceClassification",
    "RobertaForMultipleChoice",
    "RobertaForTokenClassification",
    "RobertaForQuestionAnswering",
]
XlmRobertaClass = Literal[
    "XLMRobertaModel",
    "XLMRobertaForMaskedLM",
    "XLMRobertaForCausalLM",
    "XLMRobertaForSequenceClassification",
    "XLMRobertaForMultipleChoice",
    "XLMRobertaForTokenClassification",
    "XLMRobertaForQuestionAnswering",
]
_LABELLED = frozenset(
    name for name in (*get_args(RobertaClass), *get_args(XlmRobertaClass)) if name.endswith(("Classification", "Answering"))
)


def _size(vocab_size: int, hidden_size: int, layers: int, heads: int) -> dict[str, int]:
    """All published sizes have 514 positions, of which two are never used, and one token type."""
    return {
        "vocab_size": vocab_size,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden_size,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
    }


@dataclass(frozen=True)
class Roberta(TextModel):
    """RoBERTa, XLM-RoBERTa and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration; the blocks are BERT's. The base model stores three tables, V, P and T rows
    of H; their normalisation; L blocks of 4*H**2 + 2*F*H + 9*H + F; and a pooler of H**2 + H, which only the base classes let one leave
    out. ``num_labels`` is N where the architecture has labels and no number is given. With ``tie_word_embeddings`` the output matrix is the
    word table and the two output biases are one. XLM-RoBERTa's classes store their heads before the base model.

    Raises:
        DivisibilityError: heads that do not divide the hidden width.
        ArgumentError: cross attention without ``is_decoder``; an activation or architecture that the reference does not know.

    >>> Roberta().params
    2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*T + H*V + 3*H
    >>> Roberta(architecture="RobertaForMaskedLM").at("roberta-base").params
    124697433
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
    architecture: Literal[RobertaClass, XlmRobertaClass] = "RobertaModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 1

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "roberta-base": _size(50265, 768, 12, 12),
        "roberta-large": _size(50265, 1024, 24, 16),
        "distilroberta-base": _size(50265, 768, 6, 12),
        "xlm-roberta-base": _size(250002, 768, 12, 12),
        "xlm-roberta-large": _size(250002, 1024, 24, 16),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("roberta-base", 124_645_632, BUILT, counts="RobertaModel"),
        Claim("roberta-base", 124_697_433, RECALLED, counts="RobertaForMaskedLM"),
        Claim("roberta-large", 355_359_744, BUILT, counts="RobertaModel"),
        Claim("roberta-large", 355_412_057, CARD, counts="RobertaForMaskedLM"),
        Claim("distilroberta-base", 82_118_400, BUILT, counts="RobertaModel"),
        Claim("xlm-roberta-base", 278_043_648, BUILT, counts="XLMRobertaModel"),
        Claim("xlm-roberta-base", 278_295_186, RECALLED, counts="XLMRobertaForMaskedLM"),
        Claim("xlm-roberta-large", 559_890_432, BUILT, counts="XLMRobertaModel"),
        Claim("xlm-roberta-large", 560_142_482, BUILT, counts="XLMRobertaForMaskedLM"),
        Claim("roberta-base", 125_000_000, "Liu et al. 2019, README of fairseq (125M)", counts="rounded; 124,697,433 with the tied head"),
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
        if not self.add_pooling_layer and self._task != "Model":
            message = f"add_pooling_layer=False is for the base classes; {self.architecture} itself decides whether it has a pooler."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``roberta`` where there is a head, and the head: after it in RoBERTa, before it in XLM-RoBERTa."""
        if self._task == "Model":
            yield Part("", self._base(pooled=self.add_pooling_layer))
            return
        base = Part("roberta", self._base(pooled=self._task == "ForMultipleChoice"))
        yield from (self._head(), base) if self.architecture.startswith("XLM") else (base, self._head())

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, and the decoder's bias the head's, unless ``tie_word_embeddings`` is False."""
        if not self._task.endswith("LM") or not self.tie_word_embeddings:
            return {}
        return {"lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight", "lm_head.decoder.bias": "lm_head.bias"}

    @property
    def _task(self) -> str:
        return self.architecture.removeprefix("XLM").removeprefix("Roberta")

    @property
    def reads_memory(self) -> bool:
        """The base models and the language models that decode take what an encoder gives."""
        return self.add_cross_attention and self._task in {"Model", "ForCausalLM"}

    def answer(self, own: Own, x: Value, *pooled: Value) -> Value:
        """The scores of words, of labels, or of a text by its pooled vector."""
        if self._task.endswith("LM"):
            return own.lm_head(x)
        return own["qa_outputs" if self._task == "ForQuestionAnswering" else "classifier"](*(pooled or (x,)))

    def _base(self, *, pooled: bool) -> Layer:
        width = self.hidden_size
        tables = RobertaEmbeddings(
            *(self.vocab_size, self.max_position_embeddings, self.type_vocab_size, width),
            eps=self.layer_norm_eps,
            padding_idx=self.pad_token_id,
        )
        return TextBase({"embeddings": tables, "encoder": encoder_of(self), **({"pooler": Pooler(width)} if pooled else {})})

    def _head(self) -> Part:
        width = self.hidden_size
        labels = self.num_labels if self.num_labels is not None and self.architecture in _LABELLED else 1
        if self._task.endswith("LM"):
            return Part("lm_head", RobertaPredictions(width, self.vocab_size, eps=self.layer_norm_eps))
        if self._task == "ForSequenceClassification":
            return Part("classifier", TextClassifier({"dense": Dense(width, width), "out_proj": Dense(width, labels)}, "tanh"))
        return Part("qa_outputs" if self._task == "ForQuestionAnswering" else "classifier", Dense(width, labels))


@dataclass(frozen=True)
class RobertaEmbeddings(Layer):
    """Word and token type tables, their normalisation, then the positions: (V + P + T + 2)*H. Two index buffers are in no state dict.

    Positions are counted from the row behind ``padding_idx`` on, which is the padding's.

    >>> RobertaEmbeddings(V, P, T, H).params
    H*P + H*T + H*V + 2*H
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    type_vocab_size: Dim
    hidden_size: Dim
    _: KW_ONLY
    eps: float = 1e-12
    padding_idx: int | None = 1

    def tensors(self) -> Iterator[Tensor]:
        """The indices of positions and token types, which the reference computes and does not save."""
        for name in ("position_ids", "token_type_ids"):
            yield Tensor(name, (1, self.max_position_embeddings), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """Two tables, the normalisation, the third table."""
        yield Part("word_embeddings", Embedding(self.vocab_size, self.hidden_size))
        yield Part("token_type_embeddings", TokenTypes(self.type_vocab_size, self.hidden_size, counted="each"))
        yield Part("LayerNorm", LayerNorm(self.hidden_size, self.eps))
        yield Part("position_embeddings", Embedding(self.max_position_embeddings, self.hidden_size))

    def forward(self, own: Own, input_ids: Value) -> Value:
        """The sum of what the tables hold for each token, normalised.

        Raises:
            ArgumentError: no ``padding_idx``, which the reference needs for its positions.
            ShapeError: more positions than rows.
        """
        if self.padding_idx is None:
            message = "pad_token_id is None; the positions are counted from the row behind it on: give a whole number, such as 1."
            raise ArgumentError(message)
        first, length = self.padding_idx + 1, input_ids.sizes[1]
        check_positions(input_ids.sizes, canonical(self.max_position_embeddings - first))
        index = rearrange(constant("positions", (length,), canonical(first + past()), kind="index"), "s -> () s")
        rows = own.position_embeddings(compact(copies(index, input_ids.sizes[0], axis=0)))
        return own.LayerNorm(own.token_type_embeddings(own.word_embeddings(input_ids)) + rows)


@dataclass(frozen=True)
class RobertaPredictions(Layer):
    """The language model's head: a transform, then the output matrix; the bias stands twice, before and in the decoder.

    >>> RobertaPredictions(H, V).params
    H**2 + H*V + 3*H + 2*V
    """

    hidden_size: Dim
    vocab_size: Dim
    _: KW_ONLY
    eps: float = 1e-12

    def tensors(self) -> Iterator[Tensor]:
        """The output bias."""
        yield Tensor("bias", (self.vocab_size,), role="bias")

    def parts(self) -> Iterator[Part]:
        """The transform, its normalisation, the output matrix."""
        width = self.hidden_size
        yield Part("dense", Dense(width, width))
        yield Part("layer_norm", LayerNorm(width, self.eps))
        yield Part("decoder", Dense(width, self.vocab_size))

    def forward(self, own: Own, x: Value) -> Value:
        """A score for every word; the bias is the decoder's, which uses it."""
        return own.decoder(own.layer_norm(apply("gelu", own.dense(x))))


def _keys(vocab_size: int) -> Mapping[str, Key]:
    return {
        "vocab_size": Size(V, vocab_size),
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
        "pad_token_id": OptionalWhole(1, least=0),
    }


_IGNORED = {
    "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob classifier_dropout",
}
_USUAL: Mapping[str, tuple[Any, ...]] = {"position_embedding_type": ("absolute", None)}
FAMILIES = (
    Family(
        model_type="roberta",
        model=Roberta,
        architectures=get_args(RobertaClass),
        labelled=_LABELLED.intersection(get_args(RobertaClass)),
        keys=_keys(50265),
        ignored=_IGNORED,
        usual=_USUAL,
    ),
    Family(
        model_type="xlm-roberta",
        model=Roberta,
        architectures=get_args(XlmRobertaClass),
        labelled=_LABELLED.intersection(get_args(XlmRobertaClass)),
        keys=_keys(30522),
        ignored=_IGNORED,
        usual=_USUAL,
    ),
)
