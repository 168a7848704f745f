"""ALBERT (Lan et al. 2020, arXiv:1909.11942). Reference: ``transformers.models.albert`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, canonical, per
from paramsym.algebra.symbols import E, dims
from paramsym.core.compose import Repeat, Sequential, Shared
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import learned
from paramsym.models.bert import ENCODER, BertLike
from paramsym.models.bert_blocks import BertEmbeddings, NormedAttention, Predictions
from paramsym.models.blocks import Holder, activation
from paramsym.models.key_kinds import Function, Real, as_numbers
from paramsym.models.model import classes, family, key
from paramsym.program import Own, Value, drop
from paramsym.program.own import through

GROUPS, INNER = dims("n_g n_i")


class Albert(BertLike):
    """ALBERT and its heads, as the reference class ``architecture`` stores them.

    The tables have rows of E, which are projected to H. One block is stored, which a token passes L times; with ``num_hidden_groups``
    several groups are stored, each of ``inner_group_num`` blocks, and a token still passes L groups. The pooler is optional only in
    ``AlbertModel``.

    >>> Albert().params
    E*H + E*P + E*T + E*V + 2*E + 2*F*H + F + 5*H**2 + 11*H
    >>> Albert().at("albert-base-v2").params, Albert().at("albert-base-v2").active
    (11683584, 89650176)
    """

    embedding_size: Dim = key(E, 128)
    num_hidden_groups: Count = key(GROUPS, 1, least=0, argument=1)
    inner_group_num: Count = key(INNER, 1, least=0, argument=1)
    hidden_act: str = key(Function("gelu_new"))
    add_pooling_layer: bool = True
    architecture: str = classes({"Albert": f"Model ForPreTraining ForMaskedLM {ENCODER}"})
    _: KW_ONLY
    classifier_dropout_prob: float = key(Real(0.1))

    base_name, output = "albert", "predictions.decoder"
    pooled = ("PreTraining", "SequenceClassification", "MultipleChoice")
    labelled: ClassVar[tuple[str, ...]] = ("PreTraining", *BertLike.labelled)
    ignored: ClassVar[Mapping[str, str]] = {
        "is read by no class": "down_scale_factor",
        "described memory layers that no class has": "net_structure_type gap_size num_memory_blocks",
    }

    @property
    def classifier_rate(self) -> float:
        return 0.0 if self.task == "QuestionAnswering" else self.classifier_dropout_prob

    @property
    def language(self) -> bool:
        return self.task in {"PreTraining", "MaskedLM"}

    def answer(self, own: Own, x: Value, *pooled: Value) -> Any:
        if self.task == "PreTraining":
            return own.predictions(x), own.sop_classifier(drop(pooled[0], self.classifier_dropout_prob))
        return own.predictions(x) if self.language else super().answer(own, x, *pooled)

    def embeddings(self) -> BertEmbeddings:
        return self.tables(self.embedding_size)

    def pooler(self, name: str = "") -> dict[str, Layer]:
        return super().pooler(name)

    def encoder(self) -> Layer:
        group = Sequential(albert_layers=Repeat(self._layer(), self.inner_group_num))
        return Sequential(
            embedding_hidden_mapping_in=Dense(self.embedding_size, self.hidden_size),
            albert_layer_groups=AlbertGroups(group, self.num_hidden_groups, self.num_hidden_layers),
        )

    def _layer(self) -> AlbertLayer:
        width, inner, norm = self.hidden_size, self.intermediate_size, self.norm()
        sliced = (self.num_attention_heads, self.head_width())
        projections = dict.fromkeys(("query", "key", "value"), Dense(width, sliced))
        layers: dict[str, Layer] = {
            "full_layer_layer_norm": norm,
            "attention": NormedAttention(
                {**projections, "dense": Dense(sliced, width), "LayerNorm": norm},
                output="dense",
                dropout=self.attention_probs_dropout_prob,
                dropped=self.hidden_dropout_prob,
            ),
            "ffn": Dense(width, inner),
            "ffn_output": Dense(inner, width),
            **learned("activation", self.hidden_act),
        }
        return AlbertLayer(layers, self.hidden_act)

    def head(self) -> Iterator[Part]:
        narrow, words, act = self.embedding_size, self.vocab_size, self.hidden_act
        if self.language:  # back to the words' width
            layers = {"LayerNorm": LayerNorm(narrow, self.layer_norm_eps), "dense": Dense(self.hidden_size, narrow)}
            yield Part("predictions", Predictions({**layers, "decoder": Dense(narrow, words), **learned("activation", act)}, act, words))
        if self.task != "PreTraining":
            yield from super().head()
        elif self.num_labels is not None:
            yield Part("sop_classifier", Sequential(classifier=Dense(self.hidden_size, self.num_labels)))


class AlbertLayer(Holder):
    """Attention, then the feed-forward network, each added to the residual stream and normalised after the sum."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        x = own.attention(x)
        return own.full_layer_layer_norm(own.ffn_output(activation(own, self.function, own.ffn(x), "activation")) + x)


class AlbertGroups(Declared):
    """Stored groups of blocks; a token passes ``times`` groups, each of them several times.

    Like ``Shared`` for several blocks: they may be passed a different number of times, together ``times`` times.

    >>> from paramsym.algebra.symbols import H, L
    >>> AlbertGroups(Dense(H, H), 1, L).params, AlbertGroups(Dense(H, H), 1, L).active
    (H**2 + H, H**2*L + H*L)
    """

    group: Layer
    groups: Count
    times: Count

    def parts(self) -> Iterator[Part]:
        yield Part("", self.group, Numbers(self.groups), used=self.times)

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - the groups are numbered
        """The first group several times, then the second, ...; if their number or that of the passes is a symbol, all equally often.

        Raises:
            ArgumentError: passes without a group.
        """
        if self.times == 0:
            return x
        if self.groups == 0:
            raise ArgumentError(f"num_hidden_groups is 0, but a token passes {self.times} of them; wanted at least one group.")
        if not isinstance(self.groups, int) or (self.groups > 1 and not isinstance(self.times, int)):
            return through([(Numbers(self.groups), Shared(self.group, canonical(per(self.times, self.groups))))], (x,), ())
        passes = [self.times] if self.groups == 1 else _passes(self.groups, int(self.times))
        for number, times in enumerate(passes):
            if times != 0:
                x = through([(Numbers(times, pattern=""), self.group)], (x,), (), shared=str(number))
        return x


def _passes(groups: int, times: int) -> list[int]:
    """Return the number of passes through each group: pass i is through group i/(times/groups), rounded down, as in the reference."""
    chosen = [int(number / (times / groups)) for number in range(times)]
    return [chosen.count(group) for group in range(groups)]


_DEFAULTS = {"vocab_size": 30000, "hidden_size": 4096, "num_attention_heads": 64, "intermediate_size": 16384}
_ONE = partial(as_numbers, most=1, num_hidden_groups=GROUPS, inner_group_num=INNER)
"""One group of one block, as in all published models, is left out of the formula."""
FAMILIES = (family("albert", Albert, "", _DEFAULTS, _ONE),)
