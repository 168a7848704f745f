"""T5 (Raffel et al. 2020, arXiv:1910.10683), mT5 (Xue et al. 2021, arXiv:2010.11934) and UMT5 (Chung et al. 2023, arXiv:2304.09151).

Reference: ``transformers.models.t5``, ``mt5`` and ``umt5`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from paramsym.algebra.size import Count, Dim
from paramsym.algebra.symbols import A, D, F, H, L, V, dims
from paramsym.core.compose import Block, Repeat
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import RMSNorm
from paramsym.layers.position import Distances
from paramsym.models.activations import check_activation, learned
from paramsym.models.bert_blocks import text_classifier
from paramsym.models.blocks import Holder, activation, last_of, scaled, tokens
from paramsym.models.family import Family
from paramsym.models.key_kinds import Flag, Key, Real, Sizes, Whole, Word, as_numbers
from paramsym.models.model import classes, family, key
from paramsym.models.seq2seq import Ending, Seq2Seq, Stacks
from paramsym.program import Mask, Own, Value, attend, collected, constant, drop, each, heads, in_turn, rearrange, remember, take
from paramsym.program.attention import root_reciprocal

_ENCODES = ("EncoderModel", "TokenClassification")
_DECODES = ("T5Model", "Generation", "SequenceClassification", "Answering")
DECODER_LAYERS = dims("L_d")


class T5(Seq2Seq):
    """T5, mT5, UMT5 and their heads, as the reference class ``architecture`` stores them.

    H is ``d_model``, D is ``d_kv``, F is ``d_ff``, L is ``num_layers``, also of the decoder unless ``num_decoder_layers`` is given. No
    layer has a bias. Encoder, decoder and output share one table. A feed-forward network "gated-..." has a third matrix. Each stack has one
    table of n_b buckets for A heads, in its first block: relative positions are shared by all layers of a stack; in UMT5 every block has
    its own.

    The reference ties the output matrix for every configuration; T5 1.1's and later files have ``tie_word_embeddings=False``. T5 and UMT5
    divide the tied matrix's input by the root of the width; T5 1.1 does not, which is ``scale_decoder_outputs=False``. Queries and keys are
    multiplied without a scale. With ``is_decoder`` the classes with an encoder alone attend to earlier positions only and store attentions
    to another encoder, which nothing feeds; the other classes set the key themselves.

    >>> T5().params
    12*A*D*H*L + 2*A*n_b + 4*F*H*L + 5*H*L + H*V + 2*H
    >>> T5(architecture="T5ForConditionalGeneration").at("t5-small").params
    60506624
    """

    vocab_size: Dim = key(V, 250112)
    d_model: Dim = key(H, 512)
    d_kv: Dim = key(D, 64)
    d_ff: Dim = key(F, 1024)
    num_layers: Count = key(L, 8, least=0)
    num_decoder_layers: Count | None = key(DECODER_LAYERS, None, least=0, only=_DECODES, argument=None)
    num_heads: Dim = key(A, 6)
    relative_attention_num_buckets: Dim = key(dims("n_b"), 32)
    feed_forward_proj: str = key(Word("gated-gelu"), argument="relu")
    tie_word_embeddings: bool = True
    is_decoder: bool = key(Flag(), only=_ENCODES)
    architecture: str = classes(
        {"T5 MT5 UMT5": "Model ForConditionalGeneration EncoderModel ForSequenceClassification ForTokenClassification ForQuestionAnswering"}
    )
    _: KW_ONLY
    relative_attention_max_distance: Dim = key(Whole(128))
    layer_norm_epsilon: float = key(Real(1e-6))
    scale_decoder_outputs: bool = True
    dropout_rate: float = key(Real(0.1))
    decoder_start_token_id: int | None = key(Whole(0, least=0))
    eos_token_id: int | None = key(Ending(1, least=0))

    heads, depth = ("num_heads", "d_model"), "num_layers"
    reads: ClassVar[Mapping[str, Key]] = {"is_gated_act": Flag(None), "dense_act_fn": Word(None)}
    labelled: ClassVar[tuple[str, ...]] = ("Classification", "Answering")
    ignored: ClassVar[Mapping[str, str]] = {"named the number of positions of the training data, and no class reads it": "n_positions"}
    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = {"is_encoder_decoder": (True, False)}

    def conditions(self) -> None:
        super().conditions()
        gate, _, act = self.feed_forward_proj.rpartition("-")
        if gate not in {"", "gated"}:
            raise ArgumentError(f"feed_forward_proj is {self.feed_forward_proj!r}; wanted an activation such as 'relu' or 'gated-gelu'.")
        if self.feed_forward_proj != "gated-gelu":
            check_activation(act, "feed_forward_proj")

    def parts(self) -> Iterator[Part]:
        shared, decoder = Embedding(self.vocab_size, self.d_model), self._stack(crosses=True) if self.decodes else None
        yield Part(self._under, Stacks(self._stack(crosses=self.is_decoder and not self.decodes), decoder, shared))
        width, labels = self.d_model, self.num_labels
        if self.task == "ConditionalGeneration":
            yield Part("lm_head", Dense(width, self.vocab_size, bias=False))
        elif labels is not None and self.task == "SequenceClassification":
            yield Part("classification_head", text_classifier(width, labels, self.classifier_dropout))
        elif labels is not None and self.task:
            yield Part(self._labeller, Dense(width, labels))

    def forward(self, own: Own, input_ids: Value, decoder_input_ids: Value | None = None) -> Value:
        """Last hidden states, scores of tokens or labels per position, or scores of each text at its last token, the end token."""
        x = own[self._under](*self.texts(input_ids, decoder_input_ids))
        if self.task == "ConditionalGeneration":
            scales = self.scale_decoder_outputs and self.tie_word_embeddings and self.kind != "MT5"
            return own.lm_head(scaled(x, root_reciprocal(self.d_model)) if scales else x)
        if self.task == "SequenceClassification":
            return own.classification_head(last_of(x, tokens(input_ids), self.eos_token_id))
        x = drop(x, self.classifier_dropout or 0.0) if self.task == "TokenClassification" else x
        return own[self._labeller](x) if self.task else x

    def ties(self) -> Mapping[str, str]:
        under = f"{self._under}." if self._under else ""
        stacks = ("encoder", "decoder") if self.decodes else ("encoder",)
        ties = {f"{under}{stack}.embed_tokens.weight": f"{under}shared.weight" for stack in stacks}
        if self.task == "ConditionalGeneration" and self.tie_word_embeddings:
            ties["lm_head.weight"] = "shared.weight"
        return ties

    @property
    def decodes(self) -> bool:
        return self.architecture.endswith(_DECODES)

    @property
    def one_text(self) -> bool:
        return self.architecture.endswith(self.labelled)

    @property
    def _under(self) -> str:
        return "transformer" if self.task in {"SequenceClassification", "TokenClassification"} else ""

    @property
    def _labeller(self) -> str:
        return "qa_outputs" if self.task == "QuestionAnswering" else "classifier"

    def _stack(self, *, crosses: bool) -> _Stack:
        depth = self.num_decoder_layers if crosses and self.num_decoder_layers is not None else self.num_layers
        first = self._block(crosses=crosses, located=True)
        if self.kind == "UMT5":
            blocks = Repeat(first, depth)
        else:
            blocks = _Located(self._block(crosses=crosses, located=False), depth, first=None if depth == 0 else first)
        layers = {"embed_tokens": Embedding(self.vocab_size, self.d_model), "block": blocks, "final_layer_norm": self._norm()}
        return _Stack(layers, self.dropout_rate)

    def _norm(self) -> RMSNorm:
        return RMSNorm(self.d_model, self.layer_norm_epsilon)

    def _block(self, *, crosses: bool, located: bool) -> _Block:
        layers: dict[str, Layer] = self._projections()
        if located:
            layers["relative_attention_bias"] = Distances(self.relative_attention_num_buckets, self.num_heads)
        bodies: dict[str, Layer] = {
            "SelfAttention": _SelfAttention(layers, crosses, self.relative_attention_max_distance, self.dropout_rate)
        }
        if crosses:
            bodies["EncDecAttention"] = _CrossAttention(self._projections(), self.dropout_rate)
        bodies["DenseReluDense"] = self._feed_forward()
        steps = {
            str(n): _Added({name: body, "layer_norm": self._norm()}, name, self.dropout_rate)
            for n, (name, body) in enumerate(bodies.items())
        }
        return _Block({"layer": Block(steps)}, located, located and self.kind != "UMT5")

    def _projections(self) -> dict[str, Layer]:
        width, sliced = self.d_model, (self.num_heads, self.d_kv)
        projection = Dense(width, sliced, bias=False)
        return {"q": projection, "k": projection, "v": projection, "o": Dense(sliced, width, bias=False)}

    def _feed_forward(self) -> _FeedForward:
        gate, _, act = self.feed_forward_proj.rpartition("-")
        up = Dense(self.d_model, self.d_ff, bias=False)
        layers: dict[str, Layer] = {"wi_0": up, "wi_1": up} if gate else {"wi": up}
        layers |= {"wo": Dense(self.d_ff, self.d_model, bias=False), **learned("act", act)}
        # The reference reads this word as GELU's approximation.
        return _FeedForward(layers, "gelu_new" if self.feed_forward_proj == "gated-gelu" else act, self.dropout_rate)


class _Stack(Holder):
    """One stack: the table, the blocks, the last normalisation; ``dropped`` is the rate of dropout after the first and the last."""

    dropped: float

    def forward(self, own: Own, input_ids: Value, *memory: Value) -> Value:
        x = own.block(drop(own.embed_tokens(input_ids), self.dropped), *memory)
        return drop(own.final_layer_norm(x), self.dropped)


class _SelfAttention(Holder):
    """Attention without a scale, with a bias of the scores from a table of buckets of distances."""

    causal: bool
    farthest: Dim
    dropout: float = 0.0

    def forward(self, own: Own, x: Value, *given: Value) -> Any:
        """Attend; with its own table the layer also returns the bias, (1, heads, queries, keys); otherwise the bias is an input."""
        query, key, value = (heads(own[name](x)) for name in ("q", "k", "v"))
        if self.causal:
            key, value = remember("key", key, axis=1), remember("value", value, axis=1)
        (bias,) = given or (self._rows(own, query.sizes[1], key.sizes[1]),)
        y = own.o(attend(query, key, value, mask=Mask(self.causal), scale=1, bias=bias, dropout=self.dropout))
        return y if given else (y, bias)

    def _rows(self, own: Own, queries: Dim, keys: Dim) -> Value:
        buckets = own["relative_attention_bias"].layer.num_embeddings
        index = constant("t5 buckets", (queries, keys), buckets, self.farthest, not self.causal, kind="index")
        return rearrange(own.relative_attention_bias(rearrange(index, "q k -> () q k")), "b q k a -> b a q k")


class _CrossAttention(Holder):
    """Attention without a scale to the encoder's output; the bias of the scores is zero."""

    dropout: float = 0.0

    def forward(self, own: Own, x: Value, memory: Value, *given: Value) -> Any:
        """Queries of the input, keys and values of the memory, which stay unchanged; a new bias of zeros is also returned."""
        query, key, value = (heads(own[name](one)) for name, one in (("q", x), ("k", memory), ("v", memory)))
        (bias,) = given or (constant("zeros", (1, query.sizes[2], query.sizes[1], key.sizes[1])),)
        y = own.o(attend(query, remember("key", key), remember("value", value), scale=1, bias=bias, dropout=self.dropout))
        return y if given else (y, bias)


class _FeedForward(Holder):
    """``wo`` of the activated ``wi``, or of the activated ``wi_0`` times ``wi_1``."""

    function: str
    dropped: float = 0.0

    def forward(self, own: Own, x: Value) -> Value:
        y = activation(own, self.function, own["wi" if "wi" in own else "wi_0"](x), "act")
        return own.wo(drop(y if "wi" in own else y * own.wi_1(x), self.dropped))


class _Added(Holder):
    """The output of ``body`` for the normalised input is added to the input."""

    body: str
    dropped: float = 0.0

    def forward(self, own: Own, x: Value, *given: Value) -> Any:
        y, *others = each(own[self.body](own.layer_norm(x), *given))
        y = x + drop(y, self.dropped)
        return (y, *others) if others else y


class _Block(Holder):
    """Attention, in a decoder also to the encoder's output, and the feed-forward network.

    ``located``: the block has the table of relative positions; otherwise their bias is an input. ``shares``: this bias is returned beside
    the result, and so is that of the attention to the encoder.
    """

    located: bool
    shares: bool

    def forward(self, own: Own, x: Value, *given: Value) -> Any:
        """The inputs are the bias of relative positions, unless the block has the table, and the encoder's output with its bias.

        Without an encoder's output, the attention to it is left out.
        """
        bias, memory = ((), given) if self.located else (given[:1], given[1:])
        x, *rows = each(own["layer.0"](x, *bias))
        if memory:
            x, *zeros = each(own["layer.1"](x, *memory))
            rows += zeros
        x = own["layer.2" if "layer.2" in own else "layer.1"](x)
        return (x, *rows) if self.shares else x


@dataclass(frozen=True)
class _Located(Repeat):
    """Blocks, the first of which looks up the relative positions for all."""

    def forward(self, own: Own, x: Value, *memory: Value) -> Any:
        if self.first is None:
            return in_turn(own, x, *memory)
        x, *shared = collected(own, 0, x, *memory)
        rows, *zeros = (take(one, 0) for one in shared)
        return collected(own, 1, x, rows, *memory, *zeros)[0]


class _NotFalse(Flag):
    """A key that the reference only compares with false; null is true."""

    default: bool | None = True

    nothing = True


def _as_read(arguments: dict[str, Any], sizes: Sizes) -> None:
    """As in the reference, the values from ``feed_forward_proj`` are used if it is given; a stack without blocks has no first one."""
    said = arguments["feed_forward_proj"]
    gate, _, act = said.rpartition("-")
    read, gated, function = "gelu_new" if said == "gated-gelu" else act, arguments.pop("is_gated_act"), arguments.pop("dense_act_fn")
    if gate in {"", "gated"} and (gated not in {None, gate != ""} or function not in {None, read}):
        open_gate, function = gate != "" if gated is None else gated, function or read
        # With a gate the word "gelu" is read as GELU's approximation; the exact function also has another name.
        arguments["feed_forward_proj"] = ("gated-gelu_python" if function == "gelu" else f"gated-{function}") if open_gate else function
    tied, scales = arguments.pop("tie_word_embeddings", True), arguments.pop("scale_decoder_outputs", None)
    arguments["scale_decoder_outputs"] = tied if scales is None else scales
    as_numbers(arguments, sizes, num_layers=L, num_decoder_layers=DECODER_LAYERS)


def _family(model_type: str, prefix: str, defaults: Mapping[str, Any], ignored: Mapping[str, str], **own: Any) -> Family:
    own |= {"aliases": {"head_dim": "d_kv"}, "follows": {"num_decoder_layers": "num_layers"}}
    return family(model_type, T5, prefix, defaults, _as_read, ignored=ignored, **own)


_T5 = {
    "vocab_size": 32128,
    "d_ff": 2048,
    "num_layers": 6,
    "num_heads": 8,
    "feed_forward_proj": "relu",
    # An untied output matrix in a file means that the decoder's output is not scaled; the reference ties it nevertheless.
    "tie_word_embeddings": _NotFalse(null=True),
    "scale_decoder_outputs": Flag(None),
}
_T5_ALONE = {
    "is overridden: the reference always ties the output matrix": "tie_word_embeddings",
    "is read only by T5": "scale_decoder_outputs",
}
FAMILIES = (
    _family("t5", "T5", _T5, {}, former={"T5WithLMHeadModel": "T5ForConditionalGeneration"}),
    _family("mt5", "MT5", {}, _T5_ALONE),
    _family("umt5", "UMT5", {}, _T5_ALONE),
)
