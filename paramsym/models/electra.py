"""ELECTRA (Clark et al. 2020, arXiv:2003.10555). Reference: ``transformers.models.electra`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.size import Dim, same
from paramsym.algebra.symbols import E, H
from paramsym.core.layer import Part
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation, learned
from paramsym.models.bert import ENCODER, BertLike
from paramsym.models.bert_blocks import Activated, TextBase, text_classifier
from paramsym.models.blocks import Holder, Summary, activation
from paramsym.models.key_kinds import Flag, Real, Word, left_out
from paramsym.models.model import classes, family, key
from paramsym.program import Own, Value, take

_CHOICE = ("ElectraForMultipleChoice",)


class Electra(BertLike):
    """ELECTRA and its heads, as the reference class ``architecture`` stores them.

    The tables have rows of E, which are projected to H unless both are equal; this is decided when the model is built (write
    ``embedding_size=H``). The blocks are BERT's.

    Raises:
        ArgumentError: a summary that the reference does not build, beside the errors of every model.

    >>> Electra().params
    E*H + E*P + E*T + E*V + 2*E + 2*F*H*L + F*L + 4*H**2*L + 9*H*L + H
    >>> Electra(embedding_size=H).at("google/electra-base-discriminator").params
    108891648
    """

    embedding_size: Dim = key(E, 128)
    summary_type: str = key(Word("first", only=_CHOICE))
    summary_use_proj: bool = key(Flag(default=True, only=_CHOICE))
    summary_activation: str | None = key(Word("gelu", only=_CHOICE))
    is_decoder: bool = key(Flag())
    add_cross_attention: bool = key(Flag())
    architecture: str = classes({"Electra": f"Model ForPreTraining ForMaskedLM ForCausalLM {ENCODER}"})

    base_name, output = "electra", "generator_lm_head"
    _: KW_ONLY
    summary_first_dropout: float = key(Real(0.0))
    summary_last_dropout: float = key(Real(0.1))

    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = {**BertLike.usual, "summary_proj_to_labels": (False,)}

    def conditions(self) -> None:
        super().conditions()
        if self.task == "MultipleChoice":
            if self.summary_activation:
                check_activation(self.summary_activation, "summary_activation")
            if self.summary_type == "attn":
                message = "summary_type is 'attn', which the reference does not build; take 'first', 'last', 'mean' or 'cls_index'."
                raise ArgumentError(message)

    def answer(self, own: Own, x: Value, *pooled: Value) -> Value:  # noqa: ARG002 - there is no pooler
        if self.language:
            return own.generator_lm_head(own.generator_predictions(x))
        if self.task == "PreTraining":
            return own.discriminator_predictions(x)
        if self.task == "MultipleChoice":
            return own.classifier(own.sequence_summary(x))
        return own.classifier(x) if self.task == "SequenceClassification" else super().answer(own, x)

    def base(self) -> TextBase:
        narrow, width = self.embedding_size, self.hidden_size
        widened = {} if same(narrow, width) else {"embeddings_project": Dense(narrow, width)}
        return TextBase({"embeddings": self.tables(narrow), **widened, "encoder": self.encoder()})

    def head(self) -> Iterator[Part]:
        narrow, width = self.embedding_size, self.hidden_size
        if self.language:
            layers = {"LayerNorm": LayerNorm(narrow, self.layer_norm_eps), "dense": Dense(width, narrow)}
            yield Part("generator_predictions", Activated(layers, "gelu"))
            yield Part("generator_lm_head", Dense(narrow, self.vocab_size))
        elif self.task == "PreTraining":
            act = learned("activation", self.hidden_act)
            layers = {"dense": Dense(width, width), **act, "dense_prediction": Dense(width, 1)}
            yield Part("discriminator_predictions", Discriminator(layers, self.hidden_act))
        elif self.task == "SequenceClassification" and self.num_labels is not None:
            yield Part("classifier", text_classifier(width, self.num_labels, self.classifier_rate, "gelu"))
        else:
            if self.task == "MultipleChoice":
                function = self.summary_activation or "linear"
                projection = {"summary": Dense(width, width)} if self.summary_use_proj else {}
                layers, rates = {**projection, **learned("activation", function)}, (self.summary_first_dropout, self.summary_last_dropout)
                yield Part("sequence_summary", Summary(layers, function, self.summary_type, rates))
            yield from super().head()


class Discriminator(Holder):
    """One score for each position: an activated projection ``dense``, then ``dense_prediction`` of one output."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, positions, width) to (batch, positions)."""
        return take(own.dense_prediction(activation(own, self.function, own.dense(x), "activation")), 2)


_DEFAULTS = {"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024}
FAMILIES = (family("electra", Electra, "", _DEFAULTS, left_out(H, H, embedding_size=E)),)
