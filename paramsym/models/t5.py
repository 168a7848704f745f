"""T5 (Raffel et al. 2020, arXiv:1910.10683), mT5 (Xue et al. 2021, arXiv:2010.11934) and UMT5 (Chung et al. 2023, arXiv:2304.09151).

Reference: ``transformers.models.t5``, ``mt5`` and ``umt5`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Flow, Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import RMSNorm
from paramsym.layers.position import Distances
from paramsym.layers.stream import Stream
from paramsym.models.activations import check_activation, learned
from paramsym.models.between import OneOfEach, Seq2Seq, Stacks
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.family import Family, Flag, Key, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.size import Count, Dim
from paramsym.symbols import A, D, F, H, L, V, dims

T5Class = Literal[
    "T5Model",
    "T5ForConditionalGeneration",
    "T5EncoderModel",
    "T5ForSequenceClassification",
    "T5ForTokenClassification",
    "T5ForQuestionAnswering",
]
Mt5Class = Literal[
    "MT5Model",
    "MT5ForConditionalGeneration",
    "MT5EncoderModel",
    "MT5ForSequenceClassification",
    "MT5ForTokenClassification",
    "MT5ForQuestionAnswering",
]
Umt5Class = Literal[
    "UMT5Model",
    "UMT5ForConditionalGeneration",
    "UMT5EncoderModel",
    "UMT5ForSequenceClassification",
    "UMT5ForTokenClassification",
    "UMT5ForQuestionAnswering",
]
_ALL = (*get_args(T5Class), *get_args(Mt5Class), *get_args(Umt5Class))
_LABELLED = frozenset(name for name in _ALL if name.endswith(("Classification", "Answering")))
_UNTIED = "V*H more: the file has an output matrix of its own, which transformers 5 ties when it builds the class"
BUCKETS, DECODER_LAYERS = dims("n_b L_d")


def _size(
    d_model: int, d_ff: int, layers: int, heads: int, d_kv: int = 64, vocab_size: int = 32128, *, gated: bool = True
) -> dict[str, Any]:
    """All published sizes have 32 buckets; the first release is not gated."""
    return {
        "vocab_size": vocab_size,
        "d_model": d_model,
        "d_kv": d_kv,
        "d_ff": d_ff,
        "num_layers": layers,
        "num_heads": heads,
        "relative_attention_num_buckets": 32,
        "feed_forward_proj": "gated-gelu" if gated else "relu",
    }


@dataclass(frozen=True)
class T5(Seq2Seq):
    """T5, mT5, UMT5 and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration: H = ``d_model``, D = ``d_kv``, F = ``d_ff``, L = ``num_layers``. No layer
    has a bias. The base model stores one table, V rows of H, which the encoder, the decoder and the output share; L blocks of attention,
    4*A*D*H, and feed-forward network, 2*F*H or with ``"gated-..."`` 3*F*H, with a scale of H before each; as many in the decoder
    (``num_decoder_layers``, where it is None), with a second attention; a scale after each stack; and one table of n_b buckets for A heads
    per stack, in its first block: relative positions are shared by all layers of a stack, in UMT5 every block has its own. ``num_labels``
    is N where the architecture has labels and no number is given.

    The reference ties the output matrix whatever the configuration says; ``tie_word_embeddings=False`` is what T5 1.1's and later files
    hold.

    Raises:
        ArgumentError: a feed-forward network, activation or architecture that the reference does not know.

    >>> T5().params
    12*A*D*H*L + 2*A*n_b + 4*F*H*L + 5*H*L + H*V + 2*H
    >>> T5(architecture="T5ForConditionalGeneration").at("t5-small").params
    60506624
    """

    vocab_size: Dim = V
    d_model: Dim = H
    d_kv: Dim = D
    d_ff: Dim = F
    num_layers: Count = L
    num_decoder_layers: Count | None = None
    num_heads: Dim = A
    relative_attention_num_buckets: Dim = BUCKETS
    feed_forward_proj: str = "relu"
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Literal[T5Class, Mt5Class, Umt5Class] = "T5Model"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "t5-small": _size(512, 2048, 6, 8, gated=False),
        "t5-base": _size(768, 3072, 12, 12, gated=False),
        "t5-large": _size(1024, 4096, 24, 16, gated=False),
        "t5-3b": _size(1024, 16384, 24, 32, 128, gated=False),
        "t5-11b": _size(1024, 65536, 24, 128, 128, gated=False),
        "google/flan-t5-small": _size(512, 1024, 8, 6),
        "google/flan-t5-base": _size(768, 2048, 12, 12),
        "google/flan-t5-large": _size(1024, 2816, 24, 16),
        "google/flan-t5-xl": _size(2048, 5120, 24, 32),
        "google/flan-t5-xxl": _size(4096, 10240, 24, 64),
        "google/mt5-small": _size(512, 1024, 8, 6, vocab_size=250112),
        "google/mt5-base": _size(768, 2048, 12, 12, vocab_size=250112),
        "google/mt5-large": _size(1024, 2816, 24, 16, vocab_size=250112),
        "google/mt5-xl": _size(2048, 5120, 24, 32, vocab_size=250112),
        "google/mt5-xxl": _size(4096, 10240, 24, 64, vocab_size=250112),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("t5-small", 60_506_624, RECALLED, counts="T5ForConditionalGeneration"),
        Claim("t5-base", 222_903_552, RECALLED, counts="T5ForConditionalGeneration"),
        Claim("t5-large", 737_668_096, RECALLED, counts="T5ForConditionalGeneration"),
        Claim("t5-3b", 2_851_598_336, BUILT, counts="T5ForConditionalGeneration"),
        Claim("t5-11b", 11_307_321_344, BUILT, counts="T5ForConditionalGeneration"),
        Claim("google/flan-t5-small", 76_961_152, RECALLED, "T5ForConditionalGeneration", 32128 * 512, _UNTIED),
        Claim("google/flan-t5-base", 247_577_856, RECALLED, "T5ForConditionalGeneration", 32128 * 768, _UNTIED),
        Claim("google/flan-t5-large", 783_150_080, RECALLED, "T5ForConditionalGeneration", 32128 * 1024, _UNTIED),
        Claim("google/flan-t5-xl", 2_849_757_184, RECALLED, "T5ForConditionalGeneration", 32128 * 2048, _UNTIED),
        Claim("google/flan-t5-xxl", 11_135_332_352, RECALLED, "T5ForConditionalGeneration", 32128 * 4096, _UNTIED),
        Claim("google/mt5-small", 300_176_768, RECALLED, "MT5ForConditionalGeneration", 250112 * 512, _UNTIED),
        Claim("google/mt5-base", 582_401_280, RECALLED, "MT5ForConditionalGeneration", 250112 * 768, _UNTIED),
        Claim("google/mt5-large", 1_229_581_312, RECALLED, "MT5ForConditionalGeneration", 250112 * 1024, _UNTIED),
        Claim("google/mt5-xl", 3_742_619_648, RECALLED, "MT5ForConditionalGeneration", 250112 * 2048, _UNTIED),
        Claim("google/mt5-xxl", 11_896_598_528, BUILT, counts="MT5ForConditionalGeneration"),
        Claim("t5-base", 220_000_000, "Raffel et al. 2020, section 3.1.1 (about 220 million)", counts="rounded; 222,903,552"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """The feed-forward network is an activation, gated or not."""
        gate, _, act = self.feed_forward_proj.rpartition("-")
        if gate not in {"", "gated"}:
            message = f"feed_forward_proj is {self.feed_forward_proj!r}; wanted an activation such as 'relu', or 'gated-' and one."
            raise ArgumentError(message)
        if self.feed_forward_proj != "gated-gelu":
            check_activation(act, "feed_forward_proj")

    def parts(self) -> Iterator[Part]:
        """The base model, under ``transformer`` where a classifier follows, then the head."""
        shared, encoder = Embedding(self.vocab_size, self.d_model), self._stack(crosses=False)
        encodes = Flow({"shared": shared, "encoder": encoder}, "encoder")
        yield Part(self._under, Stacks(encoder, self._stack(crosses=True), shared) if self._decodes else encodes)
        width, task = self.d_model, self._task
        if task == "ForConditionalGeneration":
            yield Part("lm_head", Dense(width, self.vocab_size, bias=False))
        elif self.num_labels is not None and task == "ForSequenceClassification":
            yield Part("classification_head", Sequential(dense=Dense(width, width), out_proj=Dense(width, self.num_labels)))
        elif self.num_labels is not None and self.architecture in _LABELLED:
            yield Part("qa_outputs" if task == "ForQuestionAnswering" else "classifier", Dense(width, self.num_labels))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model and the head, which reads the last token of a text."""
        (name, base), *head = ((part.name, part.layer) for part in self.own_parts)
        yield name, base
        if self._task == "ForSequenceClassification":
            yield "last", OneOfEach()
        yield from head

    def ties(self) -> Mapping[str, str]:
        """One table for both stacks, and for the output unless ``tie_word_embeddings`` is False."""
        under = f"{self._under}." if self._under else ""
        ties = {f"{under}encoder.embed_tokens.weight": f"{under}shared.weight"}
        if self._decodes:
            ties[f"{under}decoder.embed_tokens.weight"] = f"{under}shared.weight"
        if self._task == "ForConditionalGeneration" and self.tie_word_embeddings:
            ties["lm_head.weight"] = "shared.weight"
        return ties

    @property
    def _task(self) -> str:
        return self.architecture.partition("T5")[2]

    @property
    def _decodes(self) -> bool:
        return self._task not in {"EncoderModel", "ForTokenClassification"}

    @property
    def _under(self) -> str:
        return "transformer" if self._task in {"ForSequenceClassification", "ForTokenClassification"} else ""

    def _stack(self, *, crosses: bool) -> Sequential:
        depth = self.num_decoder_layers if crosses and self.num_decoder_layers is not None else self.num_layers
        located = self._block(crosses=crosses, located=True)
        if self.architecture.startswith("UMT5"):
            blocks = Repeat(located, depth)
        else:
            blocks = Repeat(self._block(crosses=crosses, located=False), depth, first=None if depth == 0 else located)
        return Sequential(embed_tokens=Embedding(self.vocab_size, self.d_model), block=blocks, final_layer_norm=RMSNorm(self.d_model))

    def _block(self, *, crosses: bool, located: bool) -> Stream:
        """``located`` is the block that holds the table of relative positions."""
        norm = RMSNorm(self.d_model)
        layers: list[Layer] = [Block(SelfAttention=self._attention(located=located), layer_norm=norm)]
        if crosses:
            layers.append(Block(EncDecAttention=self._attention(located=False), layer_norm=norm))
        layers.append(Block(DenseReluDense=self._feed_forward(), layer_norm=norm))
        memory = ("layer.1.EncDecAttention.k", "layer.1.EncDecAttention.v") if crosses else ()
        return Stream(self.d_model, Block(layer=Block({str(position): layer for position, layer in enumerate(layers)})), memory)

    def _attention(self, *, located: bool) -> Block:
        width, sliced = self.d_model, (self.num_heads, self.d_kv)
        projection = Dense(width, sliced, bias=False)
        layers: dict[str, Layer] = {"q": projection, "k": projection, "v": projection, "o": Dense(sliced, width, bias=False)}
        if located:
            layers["relative_attention_bias"] = Distances(self.relative_attention_num_buckets, self.num_heads)
        return Block(layers)

    def _feed_forward(self) -> Block:
        gate, _, act = self.feed_forward_proj.rpartition("-")
        up = Dense(self.d_model, self.d_ff, bias=False)
        layers: dict[str, Layer] = {"wi_0": up, "wi_1": up} if gate else {"wi": up}
        return Block({**layers, "wo": Dense(self.d_ff, self.d_model, bias=False), **learned("act", act)})


def _as_read(arguments: dict[str, Any], sizes: Sizes) -> None:
    """As in the reference, what it works out of ``feed_forward_proj`` wins where it is given; a stack of no blocks has no first one."""
    said = arguments["feed_forward_proj"]
    gate, _, act = said.rpartition("-")
    gated, function = arguments.pop("is_gated_act"), arguments.pop("dense_act_fn")
    if gate in {"", "gated"} and (gated not in {None, gate != ""} or function not in {None, "gelu_new" if said == "gated-gelu" else act}):
        open_gate = gate != "" if gated is None else gated
        arguments["feed_forward_proj"] = ("gated-" if open_gate else "") + (function or act)
    for name, letter in (("num_layers", L), ("num_decoder_layers", DECODER_LAYERS)):
        if sizes.get(letter) == 0:
            arguments[name] = sizes.pop(letter)


_DECODES = tuple(name for name in _ALL if not name.endswith(("EncoderModel", "ForTokenClassification")))


def _keys(vocab_size: int, d_ff: int, layers: int, heads: int, feed_forward_proj: str) -> Mapping[str, Key]:
    return {
        "vocab_size": Size(V, vocab_size),
        "d_model": Size(H, 512),
        "d_kv": Size(D, 64),
        "d_ff": Size(F, d_ff),
        "num_layers": Size(L, layers, least=0),
        "num_decoder_layers": Size(DECODER_LAYERS, None, least=0, only=_DECODES),
        "num_heads": Size(A, heads),
        "relative_attention_num_buckets": Size(BUCKETS, 32),
        "feed_forward_proj": Word(feed_forward_proj),
        "is_gated_act": Flag(None),
        "dense_act_fn": Word(None),
    }


def _family(model_type: str, architectures: tuple[str, ...], keys: Mapping[str, Key], **own: Any) -> Family:
    return Family(
        model_type=model_type,
        model=T5,
        architectures=architectures,
        labelled=_LABELLED.intersection(architectures),
        keys=keys,
        aliases={"hidden_size": "d_model", "num_attention_heads": "num_heads", "num_hidden_layers": "num_layers", "head_dim": "d_kv"},
        ignored={
            "drops values while training": "dropout_rate classifier_dropout",
            "keeps a quotient finite": "layer_norm_epsilon",
            "says which bucket a distance falls into": "relative_attention_max_distance",
            "is overruled: the reference ties the output matrix whatever this says": "tie_word_embeddings",
            "scales the output": "scale_decoder_outputs",
            "named the number of positions of the training data, and no class reads it": "n_positions",
        },
        follows={"num_decoder_layers": "num_layers"},
        usual={"is_encoder_decoder": (True, False)},
        arrange=_as_read,
        **own,
    )


FAMILIES = (
    _family("t5", get_args(T5Class), _keys(32128, 2048, 6, 8, "relu"), former={"T5WithLMHeadModel": "T5ForConditionalGeneration"}),
    _family("mt5", get_args(Mt5Class), _keys(250112, 1024, 8, 6, "gated-gelu")),
    _family("umt5", get_args(Umt5Class), _keys(250112, 1024, 8, 6, "gated-gelu")),
)
