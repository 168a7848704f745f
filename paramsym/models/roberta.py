"""RoBERTa (Liu et al. 2019, arXiv:1907.11692) and XLM-RoBERTa (Conneau et al. 2020, arXiv:1911.02116).

Reference: ``transformers.models.roberta`` and ``transformers.models.xlm_roberta`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY

from paramsym.algebra.size import Dim, canonical
from paramsym.core.layer import Part
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import TokenTypes, check_positions
from paramsym.models.bert import ENCODER, BertLike
from paramsym.models.bert_blocks import BertEmbeddings, Predictions, text_classifier
from paramsym.models.key_kinds import Flag, Whole
from paramsym.models.model import classes, family, key
from paramsym.program import Own, Value, compare, constant, cumulate, drop, past, where

_NAMES = f"Model ForMaskedLM ForCausalLM {ENCODER}"


class Roberta(BertLike):
    """RoBERTa, XLM-RoBERTa and their heads, as the reference class ``architecture`` stores them.

    The blocks are BERT's. The pooler is optional only in the base classes. XLM-RoBERTa's classes store their heads before the base model.

    >>> Roberta().params
    2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*T + H*V + 3*H
    >>> Roberta(architecture="RobertaForMaskedLM").at("roberta-base").params
    124697433
    """

    is_decoder: bool = key(Flag())
    add_cross_attention: bool = key(Flag())
    add_pooling_layer: bool = True
    architecture: str = classes({"Roberta XLMRoberta": _NAMES})
    _: KW_ONLY
    pad_token_id: int | None = key(Whole(1, least=0))

    base_name, output = "roberta", "lm_head.decoder"
    pooled = ("MultipleChoice",)

    def parts(self) -> Iterator[Part]:
        parts = tuple(super().parts())
        yield from reversed(parts) if self.kind == "XLMRoberta" else parts

    @property
    def classifier_rate(self) -> float:
        return self.hidden_dropout_prob if self.task == "MultipleChoice" else super().classifier_rate

    def answer(self, own: Own, x: Value, *pooled: Value) -> Value:
        if self.task == "SequenceClassification":
            return own.classifier(x)
        return own.lm_head(x) if self.language else super().answer(own, x, *pooled)

    def embeddings(self) -> BertEmbeddings:
        return self.tables(self.hidden_size, RobertaEmbeddings, padding_idx=self.pad_token_id)

    def head(self) -> Iterator[Part]:
        width = self.hidden_size
        if self.language:
            layers = {"dense": Dense(width, width), "layer_norm": self.norm(), "decoder": Dense(width, self.vocab_size)}
            yield Part("lm_head", Predictions(layers, "gelu", self.vocab_size, norm="layer_norm"))
        elif self.task == "SequenceClassification" and self.num_labels is not None:
            yield Part("classifier", text_classifier(width, self.num_labels, self.classifier_rate))
        else:
            yield from super().head()


class RobertaEmbeddings(BertEmbeddings):
    """Word and token type tables, their normalisation, then the positions: (V + P + T + 2)*H. Two index buffers are in no state dict.

    Positions of words start at the row after ``padding_idx``, the row of all padding; the forward pass needs it.

    >>> from paramsym.algebra.symbols import H, P, T, V
    >>> RobertaEmbeddings(V, P, T, H).params
    H*P + H*T + H*V + 2*H
    """

    type_vocab_size: Dim
    _: KW_ONLY
    padding_idx: int | None = 1

    def parts(self) -> Iterator[Part]:
        yield Part("word_embeddings", Embedding(self.vocab_size, self.hidden_size))
        yield Part("token_type_embeddings", TokenTypes(self.type_vocab_size, self.hidden_size, counted="each"))
        yield Part("LayerNorm", LayerNorm(self.hidden_size, self.eps))
        yield Part("position_embeddings", Embedding(self.max_position_embeddings, self.hidden_size))

    def forward(self, own: Own, input_ids: Value) -> Value:
        if self.padding_idx is None:
            raise ArgumentError("pad_token_id is None; positions begin at the row after it; give a whole number, such as 1.")
        check_positions(input_ids.sizes, canonical(self.max_position_embeddings - self.padding_idx - 1))
        words = where(compare(input_ids, "equal", self.padding_idx), constant("index zeros", (1, 1), kind="index"), 1)
        rows = own.position_embeddings((cumulate(words, 1) + past()) * words + self.padding_idx)
        return drop(own.LayerNorm(own.token_type_embeddings(own.word_embeddings(input_ids)) + rows), self.dropped)


FAMILIES = (family("roberta", Roberta, "Roberta", {"vocab_size": 50265}), family("xlm-roberta", Roberta, "XLMRoberta"))
