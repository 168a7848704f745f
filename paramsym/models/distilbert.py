"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108). Reference: ``transformers.models.distilbert`` 5.23, its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY

from paramsym.algebra.size import Count, Dim, equal
from paramsym.algebra.symbols import A, F, H, L, P, V
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Part
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import learned
from paramsym.models.bert import ENCODER, TextModel
from paramsym.models.bert_blocks import Attention, BertEmbeddings, TextBase
from paramsym.models.blocks import FeedForward, PostNorm, activation
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import classes, family, key
from paramsym.program import Own, Value, apply, take

EPS = 1e-12
"""The epsilon of all its norms, which has no key in the configuration."""


class DistilBert(TextModel):
    """DistilBERT and its heads, as the reference class ``architecture`` stores them.

    H is ``dim``, F is ``hidden_dim``. It has no token types and no pooler. A table that is initialised with sinusoids is stored and trained
    as well.

    Raises:
        ArgumentError: question answering without two labels, beside the errors of every model.

    >>> DistilBert().params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L + H*P + H*V + 2*H
    >>> DistilBert().at("distilbert-base-uncased").params
    66362880
    """

    vocab_size: Dim = key(V, 30522)
    max_position_embeddings: Dim = key(P, 512)
    sinusoidal_pos_embds: bool = key(Flag())
    n_layers: Count = key(L, 6, least=0)
    n_heads: Dim = key(A, 12, divides="dim")
    dim: Dim = key(H, 768)
    hidden_dim: Dim = key(F, 3072)
    activation: str = key(Function("gelu"))
    architecture: str = classes({"DistilBert": f"Model ForMaskedLM {ENCODER}"})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    dropout: float = key(Real(0.1))
    attention_dropout: float = key(Real(0.1))
    qa_dropout: float = key(Real(0.1))
    seq_classif_dropout: float = key(Real(0.2))

    heads, depth = ("n_heads", "dim"), "n_layers"
    base_name, output = "distilbert", "vocab_projector"

    def conditions(self) -> None:
        super().conditions()
        if self.task == "QuestionAnswering" and self.num_labels is not None and not equal(self.num_labels, 2):
            message = f"num_labels is {self.num_labels}; {self.architecture} has two outputs, where an answer begins and where it ends."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        if self.task == "MaskedLM":
            yield from (Part(name, layer) for name, layer in learned("activation", self.activation).items())
        yield from super().parts()

    def head(self) -> Iterator[Part]:
        width = self.dim
        if self.task == "MaskedLM":
            yield Part("vocab_transform", Dense(width, width))
            yield Part("vocab_layer_norm", LayerNorm(width, EPS))
            yield Part("vocab_projector", Dense(width, self.vocab_size))
        if self.task in {"SequenceClassification", "MultipleChoice"}:
            yield Part("pre_classifier", Dense(width, width))
        yield from super().head()

    @property
    def classifier_rate(self) -> float:
        return {"QuestionAnswering": self.qa_dropout, "TokenClassification": self.dropout}.get(self.task, self.seq_classif_dropout)

    def answer(self, own: Own, x: Value, *pooled: Value) -> Value:  # noqa: ARG002 - there is no pooler
        if self.task == "MaskedLM":
            return own.vocab_projector(own.vocab_layer_norm(activation(own, self.activation, own.vocab_transform(x), "activation")))
        x = apply("relu", own.pre_classifier(take(x, 1))) if "pre_classifier" in own else x
        return super().answer(own, x)

    def base(self) -> TextBase:
        width, inner, norm = self.dim, self.hidden_dim, LayerNorm(self.dim, EPS)
        sliced = (self.n_heads, self.head_width())
        names = ("q_lin", "k_lin", "v_lin")
        projections = {**dict.fromkeys(names, Dense(width, sliced)), "out_lin": Dense(sliced, width)}
        network = {"lin1": Dense(width, inner), "lin2": Dense(inner, width), **learned("activation", self.activation)}
        block = PostNorm(
            {
                "attention": Attention(projections, names=names, output="out_lin", dropout=self.attention_dropout),
                "sa_layer_norm": norm,
                "ffn": FeedForward(network, self.activation, names=("lin1", "activation", "lin2")),
                "output_layer_norm": norm,
            },
            names=("sa_layer_norm", "attention", "output_layer_norm", "ffn"),
            dropped=(0.0, self.dropout),
        )
        tables = DistilBertEmbeddings(self.vocab_size, self.max_position_embeddings, None, width, eps=EPS, dropped=self.dropout)
        return TextBase({"embeddings": tables, "transformer": Sequential(layer=Repeat(block, self.n_layers))}, blocks="transformer")


class DistilBertEmbeddings(BertEmbeddings):
    """BERT's, with one index buffer.

    >>> DistilBertEmbeddings(V, P, None, H).params
    H*P + H*V + 2*H
    """

    indices = ("position_ids",)


FAMILIES = (family("distilbert", DistilBert),)
