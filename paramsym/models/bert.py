"""BERT (Devlin et al. 2019, arXiv:1810.04805). Reference: ``transformers.models.bert`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.size import Count, Dim, Shape, Width
from paramsym.algebra.symbols import A, B, F, H, L, P, S, T, V, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import learned
from paramsym.models.bert_blocks import (
    Activated,
    AddedNorm,
    Attention,
    AttentionAndOutput,
    BertEmbeddings,
    BertLayer,
    Pooler,
    Predictions,
    TextBase,
    TwoHeads,
)
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import Model, classes, family, key
from paramsym.program import Own, Value, axes, drop, each, rearrange

CHOICES, SOURCE = dims("n_c S_e")
"""The number of texts to choose from, and the positions of an encoder's output."""
ENCODER = "ForSequenceClassification ForMultipleChoice ForTokenClassification ForQuestionAnswering"
"""The classes without a language model's head that BERT and its descendants have, without their prefix."""


class TextModel(Model):
    """A model over the tokens of texts, (batch, positions), abstract: BERT and its descendants.

    A class that chooses among several texts takes (batch, choices, positions) and gives one score for each. A decoder with cross attention
    may take an encoder's output, (batch, positions, features).
    """

    labelled: ClassVar[tuple[str, ...]] = ("SequenceClassification", "TokenClassification", "QuestionAnswering")
    base_name: ClassVar[str]
    output: ClassVar[str]
    """The path of the matrix that gives scores of words."""
    pooled: ClassVar[tuple[str, ...]] = ()
    """The heads that read the pooled vector."""

    def conditions(self) -> None:
        super().conditions()
        if getattr(self, "add_cross_attention", False) and not getattr(self, "is_decoder", False):
            raise ArgumentError("add_cross_attention=True needs is_decoder=True: only a decoder attends to an encoder.")
        if not getattr(self, "add_pooling_layer", True) and self.task:
            raise ArgumentError(f"add_pooling_layer=False is for the base classes; {self.architecture} has a fixed choice of the pooler.")

    def parts(self) -> Iterator[Part]:
        yield Part(self.base_name if self.task else "", self.base())
        yield from self.head()

    def base(self) -> TextBase:
        raise NotImplementedError

    def head(self) -> Iterator[Part]:
        if self.task == "MultipleChoice":
            yield Part("classifier", Dense(self.width, 1))
        elif self.num_labels is not None and self.task.endswith(self.labelled):
            yield Part(self.head_name, Dense(self.width, self.num_labels))

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, and a ``decoder``'s bias the head's, unless ``tie_word_embeddings`` is False."""
        if not self.language or not getattr(self, "tie_word_embeddings", True):
            return {}
        head, _, last = self.output.rpartition(".")
        ties = {f"{self.output}.weight": f"{self.base_name}.embeddings.word_embeddings.weight"}
        return ties | ({f"{self.output}.bias": f"{head}.bias"} if last == "decoder" else {})

    @property
    def language(self) -> bool:
        """Whether the class gives scores of words."""
        return self.task.endswith("LM")

    @property
    def head_name(self) -> str:
        return "qa_outputs" if self.task == "QuestionAnswering" else "classifier"

    @property
    def has_pooler(self) -> bool:
        return self.task in self.pooled if self.task else getattr(self, "add_pooling_layer", False)

    @property
    def reads_memory(self) -> bool:
        """Whether the class takes an encoder's output: base models and causal language models with cross attention."""
        return getattr(self, "add_cross_attention", False) and self.task in {"", "CausalLM"}

    @property
    def inputs(self) -> Mapping[str, Shape]:
        choices = (CHOICES,) if self.architecture.endswith("MultipleChoice") else ()
        memory = {"encoder_hidden_states": (B, SOURCE, self.width)} if self.reads_memory else {}
        return {"input_ids": (B, *choices, S), **memory}

    def forward(self, own: Own, input_ids: Value, encoder_hidden_states: Value | None = None) -> Any:
        if encoder_hidden_states is not None and not self.reads_memory:
            raise ShapeError(f"{self.architecture} takes no encoder_hidden_states: wanted 1 shape, of the token ids; found 2.")
        memory = () if encoder_hidden_states is None else (encoder_hidden_states,)
        base = next(part for part in self.own_parts if isinstance(part.layer, TextBase))
        if not self.architecture.endswith("MultipleChoice"):
            x, *pooled = each(own[base.name](axes(input_ids, "batch positions")[0], *memory))
            return self.answer(own, x, *pooled) if base.name else x
        texts, _ = axes(input_ids, "batch choices positions")
        x, *pooled = each(own[base.name](rearrange(texts, "b c s -> (b c) s")))
        return rearrange(self.answer(own, x, *pooled), "(b c) () -> b c", b=texts.sizes[0], c=texts.sizes[1])

    @property
    def classifier_rate(self) -> float:
        return 0.0

    def answer(self, own: Own, x: Value, *pooled: Value) -> Any:
        (read,) = pooled or (x,)
        return own[self.head_name](drop(read, self.classifier_rate))


class BertLike(TextModel):
    """A text model whose configuration has BERT's names, abstract."""

    vocab_size: Dim = key(V, 30522)
    hidden_size: Dim = key(H, 768)
    num_hidden_layers: Count = key(L, 12, least=0)
    num_attention_heads: Dim = key(A, 12, divides="hidden_size")
    intermediate_size: Dim = key(F, 3072)
    max_position_embeddings: Dim = key(P, 512)
    type_vocab_size: Dim = key(T, 2)
    hidden_act: str = key(Function("gelu"))
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    layer_norm_eps: float = key(Real(1e-12))
    hidden_dropout_prob: float = key(Real(0.1))
    attention_probs_dropout_prob: float = key(Real(0.1))
    classifier_dropout: float | None = key(Real())

    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = {"position_embedding_type": ("absolute", None)}

    @property
    def classifier_rate(self) -> float:
        """The dropout rate of classifiers, by default that of the hidden states; question answering has no dropout."""
        rate = self.hidden_dropout_prob if self.classifier_dropout is None else self.classifier_dropout
        return 0.0 if self.task == "QuestionAnswering" else rate

    def base(self) -> TextBase:
        return TextBase({"embeddings": self.embeddings(), "encoder": self.encoder(), **self.pooler()})

    def embeddings(self) -> BertEmbeddings:
        return self.tables(self.hidden_size)

    def tables(self, width: Dim, kind: type[BertEmbeddings] = BertEmbeddings, **own: Any) -> BertEmbeddings:
        """Return the tables with rows of a given width; ``own`` are further arguments of their ``kind``."""
        sizes = (self.vocab_size, self.max_position_embeddings, self.type_vocab_size, width)
        return kind(*sizes, eps=self.layer_norm_eps, dropped=self.hidden_dropout_prob, **own)

    def pooler(self, name: str = "dense") -> dict[str, Layer]:
        """Return the pooler under its name, if the class has one; ``name`` is the name of its projection."""
        return {"pooler": Pooler(self.hidden_size, name)} if self.has_pooler else {}

    def encoder(self) -> Layer:
        sliced, rate = (self.num_attention_heads, self.head_width()), self.attention_probs_dropout_prob
        projections: dict[str, Layer] = dict.fromkeys(("query", "key", "value"), Dense(self.hidden_size, sliced))
        attentions: dict[str, Layer] = {"attention": Attention(projections, causal=getattr(self, "is_decoder", False), dropout=rate)}
        if getattr(self, "add_cross_attention", False):
            attentions["crossattention"] = Attention(projections, dropout=rate)
        return Sequential(layer=Repeat(self.block(attentions, sliced), self.num_hidden_layers))

    def block(self, attentions: Mapping[str, Layer], joined: Width) -> BertLayer:
        """Return one block: ``attentions``, each with the projection of its ``joined`` heads, and the feed-forward network."""
        width, act = self.hidden_size, "intermediate_act_fn"

        def added(near: Width) -> AddedNorm:
            return AddedNorm({"dense": Dense(near, width), "LayerNorm": self.norm()}, self.hidden_dropout_prob)

        layers: dict[str, Layer] = {
            name: AttentionAndOutput({"self": attention, "output": added(joined)}) for name, attention in attentions.items()
        }
        inner = {"dense": Dense(width, self.intermediate_size), **learned(act, self.hidden_act)}
        layers["intermediate"] = Activated(inner, self.hidden_act, act_name=act)
        return BertLayer({**layers, "output": added(self.intermediate_size)})

    def predictions(self, width: Dim, *, decodes: bool = True) -> Predictions:
        """Return BERT's scores of words: a transform to ``width``, and the output matrix unless not ``decodes``."""
        act = "transform_act_fn"
        layers = {
            "dense": Dense(self.hidden_size, width),
            **learned(act, self.hidden_act),
            "LayerNorm": LayerNorm(width, self.layer_norm_eps),
        }
        if not decodes:
            return Predictions(layers, self.hidden_act, self.vocab_size, act_name=act)
        transform = Activated(layers, self.hidden_act, act_name=act)
        return Predictions({"transform": transform, "decoder": Dense(width, self.vocab_size)}, self.hidden_act, self.vocab_size)


class Bert(BertLike):
    """BERT and its heads, as the reference class ``architecture`` stores them.

    The pooler is optional only in ``BertModel``.

    >>> Bert().params
    2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*T + H*V + 3*H
    >>> Bert().at("bert-base-uncased").params
    109482240
    >>> Bert(architecture="BertForMaskedLM").at("bert-base-uncased").params
    109514298
    """

    is_decoder: bool = key(Flag())
    add_cross_attention: bool = key(Flag())
    add_pooling_layer: bool = True
    architecture: str = classes({"Bert": f"Model ForPreTraining ForMaskedLM LMHeadModel ForNextSentencePrediction {ENCODER}"})

    base_name, output = "bert", "cls.predictions.decoder"
    pooled = ("PreTraining", "NextSentencePrediction", "SequenceClassification", "MultipleChoice")
    ignored: ClassVar[Mapping[str, str]] = {
        **BertLike.ignored,
        "described the pooler of the first release, which no class reads": (
            "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type"
        ),
    }

    @property
    def task(self) -> str:
        """The head's task; the class with a causal language model's head has an irregular name."""
        return "CausalLM" if self.architecture == "BertLMHeadModel" else super().task

    @property
    def language(self) -> bool:
        return self.task in {"PreTraining", "MaskedLM", "CausalLM"}

    def answer(self, own: Own, x: Value, *pooled: Value) -> Any:
        if "cls" in own:
            return own.cls(x, *pooled) if self.language else own.cls(*pooled)
        return super().answer(own, x, *pooled)

    def head(self) -> Iterator[Part]:
        relation = {"seq_relationship": Dense(self.hidden_size, 2)}
        if self.language:
            both, predictions = self.task == "PreTraining", {"predictions": self.predictions(self.hidden_size)}
            yield Part("cls", TwoHeads({**predictions, **relation}) if both else Sequential(predictions))
        elif self.task == "NextSentencePrediction":
            yield Part("cls", Sequential(relation))
        yield from super().head()


FAMILIES = (family("bert", Bert),)
