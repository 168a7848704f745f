"""BART, mBART, PEGASUS and Marian: one encoder-decoder in four variants.

Lewis et al. 2020, arXiv:1910.13461; Liu et al. 2020, arXiv:2001.08210; Zhang et al. 2020, arXiv:1912.08777; Junczys-Dowmunt et al. 2018,
arXiv:1804.00344. Reference: ``transformers.models.bart``, ``mbart``, ``pegasus`` and ``marian`` 5.23, their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

from sympy import sqrt

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import Counting, LearnedPositions, SinusoidalPositions
from paramsym.models.activations import check_activation, learned
from paramsym.models.blocks import Holder, activation, last_position, scaled
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.decoder import OptionalFlag, OptionalWhole
from paramsym.models.family import Family, Flag, Key, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.models.seq2seq import ClassificationHead, Seq2Seq, Stacks
from paramsym.program import Mask, Own, Value, attend, compact, heads as apart, rearrange, remember, roll
from paramsym.size import Count, Dim, divides
from paramsym.symbols import A, F, H, L, P, V, dims

BartClass = Literal[
    "BartModel", "BartForConditionalGeneration", "BartForCausalLM", "BartForSequenceClassification", "BartForQuestionAnswering"
]
MBartClass = Literal[
    "MBartModel", "MBartForConditionalGeneration", "MBartForCausalLM", "MBartForSequenceClassification", "MBartForQuestionAnswering"
]
PegasusClass = Literal["PegasusModel", "PegasusForConditionalGeneration", "PegasusForCausalLM"]
MarianClass = Literal["MarianModel", "MarianMTModel", "MarianForCausalLM"]
_ALL = (*get_args(BartClass), *get_args(MBartClass), *get_args(PegasusClass), *get_args(MarianClass))
_TRANSLATES = frozenset(name for name in _ALL if name.endswith(("ForConditionalGeneration", "MTModel")))
_LABELLED = frozenset({"BartForSequenceClassification", "MBartForSequenceClassification"})
_ENCODES = tuple(name for name in _ALL if not name.endswith("ForCausalLM"))
DECODER_LAYERS, DECODER_INNER, DECODER_HEADS, DECODER_WORDS = dims("L_d F_d A_d V_d")


def _size(vocab_size: int, d_model: int, layers: int, heads: int, positions: int = 1024, inner: int | None = None) -> dict[str, int]:
    """All published sizes have two stacks of one size."""
    stacks = {
        f"{stack}_{what}": number
        for stack in ("encoder", "decoder")
        for what, number in (("layers", layers), ("ffn_dim", 4 * d_model if inner is None else inner), ("attention_heads", heads))
    }
    return {"vocab_size": vocab_size, "max_position_embeddings": positions, "d_model": d_model, **stacks}


@dataclass(frozen=True)
class Bart(Seq2Seq):
    """BART, mBART, PEGASUS, Marian and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration: H = ``d_model``. The base model stores one table, V rows of H, which
    encoder, decoder and output share; a table of positions for each stack; L blocks of 4*H**2 + 2*F*H + 9*H + F in the encoder, and L_d of
    8*H**2 + 2*F_d*H + 15*H + F_d in the decoder, which also attends to the encoder. The relatives differ in little:

    =======  ========================  ==========================  =========================
    variant  positions                 normalisations of a stack   normalisations in a block
    =======  ========================  ==========================  =========================
    BART     P + 2 learned             after the embeddings        after each sum
    mBART    P + 2 learned             there, and at the end       before each body
    PEGASUS  P sinusoids, frozen       at the end                  before each body
    Marian   P sinusoids, frozen       none                        after each sum
    =======  ========================  ==========================  =========================

    The classes that generate keep V zeros as a buffer that is added to the output. The causal classes are the decoder alone. Marian may
    have a vocabulary for each side: ``share_encoder_decoder_embeddings=False``, and ``decoder_vocab_size``, which is
    ``vocab_size`` where it is None. With ``scale_embedding`` the rows of the table are multiplied by the root of the width. ``num_labels``
    is N where the architecture has labels and no number is given.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an activation or architecture that the reference does not know; Marian's arguments for another family.

    >>> Bart(decoder_layers=L, decoder_ffn_dim=F, decoder_attention_heads=A).params
    4*F*H*L + 2*F*L + 12*H**2*L + 24*H*L + 2*H*P + H*V + 8*H
    >>> Bart(architecture="BartForConditionalGeneration").at("facebook/bart-large").params
    406291456
    """

    vocab_size: Dim = V
    max_position_embeddings: Dim = P
    encoder_layers: Count = L
    encoder_ffn_dim: Dim = F
    encoder_attention_heads: Dim = A
    decoder_layers: Count = DECODER_LAYERS
    decoder_ffn_dim: Dim = DECODER_INNER
    decoder_attention_heads: Dim = DECODER_HEADS
    activation_function: str = "gelu"
    d_model: Dim = H
    tie_word_embeddings: bool = True
    decoder_vocab_size: Dim | None = None
    share_encoder_decoder_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Literal[BartClass, MBartClass, PegasusClass, MarianClass] = "BartModel"
    _: KW_ONLY
    scale_embedding: bool = False
    decoder_start_token_id: int | None = 2

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "facebook/bart-base": _size(50265, 768, 6, 12),
        "facebook/bart-large": _size(50265, 1024, 12, 16),
        "facebook/bart-large-cnn": _size(50264, 1024, 12, 16),
        "facebook/mbart-large-50": _size(250054, 1024, 12, 16),
        "google/pegasus-large": _size(96103, 1024, 16, 16),
        "Helsinki-NLP/opus-mt-en-de": _size(58101, 512, 6, 8, 512),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("facebook/bart-base", 139_420_416, RECALLED, counts="BartModel"),
        Claim("facebook/bart-large", 406_291_456, RECALLED, counts="BartForConditionalGeneration"),
        Claim("facebook/bart-large-cnn", 406_290_432, BUILT, counts="BartForConditionalGeneration"),
        Claim("facebook/mbart-large-50", 610_879_488, BUILT, counts="MBartForConditionalGeneration"),
        Claim("Helsinki-NLP/opus-mt-en-de", 74_410_496, BUILT, counts="MarianMTModel"),
        Claim("google/pegasus-large", 568_000_000, "Zhang et al. 2020 (568M)", counts="568,699,904 without sinusoids"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width; only Marian has two vocabularies."""
        divides(self.encoder_attention_heads, self.d_model, "encoder_attention_heads", "d_model")
        divides(self.decoder_attention_heads, self.d_model, "decoder_attention_heads", "d_model")
        check_activation(self.activation_function, "activation_function")
        if self._relative != "Marian" and (self.decoder_vocab_size is not None or not self.share_encoder_decoder_embeddings):
            message = f"decoder_vocab_size and share_encoder_decoder_embeddings are Marian's; {self.architecture} has one vocabulary."
            raise ArgumentError(message)

    def tensors(self) -> Iterator[Tensor]:
        """What is added to the output: zeros, which are saved and not learned."""
        if self.architecture in _TRANSLATES:
            yield Tensor("final_logits_bias", (1, self._outputs), role="bias", buffer=True)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``model`` where a head follows, then the head."""
        width = self.d_model
        if self._causal:
            yield Part("model", Sequential(decoder=self._decoder()))
        else:
            shared = Embedding(self.vocab_size, width) if self.share_encoder_decoder_embeddings else None
            yield Part("" if self._bare else "model", Stacks(self._encoder(), self._decoder(), shared))
        if self.architecture in _TRANSLATES or self._causal:
            yield Part("lm_head", Dense(width, self._outputs, bias=False))
        elif self.architecture.endswith("ForQuestionAnswering"):
            yield Part("qa_outputs", Dense(width, 2))
        elif self.num_labels is not None and self.architecture in _LABELLED:
            head = {"dense": Dense(width, width), "out_proj": Dense(width, self.num_labels)}
            yield Part("classification_head", ClassificationHead(head))

    def forward(self, own: Own, input_ids: Value, decoder_input_ids: Value | None = None) -> Value:
        """Last hidden states, scores of tokens or labels per position, or scores of each text, at its last token, which ends it."""
        x = own["" if self._bare else "model"](*self.texts(input_ids, decoder_input_ids))
        if self.architecture in _TRANSLATES or self._causal:
            scores = own.lm_head(x)
            return scores if self._causal else scores + own.final_logits_bias
        if self.architecture.endswith("ForQuestionAnswering"):
            return own.qa_outputs(x)
        return own.classification_head(last_position(x)) if self.architecture in _LABELLED else x

    def moved(self, source: Value) -> Value:
        """The source moved on by one position; mBART puts its last token, which names the language, in front."""
        return roll(source, (1,), (1,)) if self._relative == "MBart" else super().moved(source)

    def ties(self) -> Mapping[str, str]:
        """One table for both stacks and the output, unless ``tie_word_embeddings`` is False."""
        if not self.tie_word_embeddings:
            return {}
        under = "" if self._bare else "model."
        shares = self.share_encoder_decoder_embeddings and not self._causal
        ties = {f"{under}{stack}.embed_tokens.weight": f"{under}shared.weight" for stack in (("encoder", "decoder") if shares else ())}
        if self.architecture in _TRANSLATES or self._causal:
            ties["lm_head.weight"] = "model.shared.weight" if shares else "model.decoder.embed_tokens.weight"
        return ties

    @property
    def decodes(self) -> bool:
        """All but the causal classes, which are the decoder alone."""
        return not self._causal

    @property
    def one_text(self) -> bool:
        """Whether labels or answers are asked of one text, which the decoder reads again."""
        return self.architecture.endswith(("Classification", "Answering"))

    @property
    def _bare(self) -> bool:
        return self.architecture.removeprefix(self._relative) == "Model"

    @property
    def _relative(self) -> str:
        return next(name for name in ("MBart", "Bart", "Pegasus", "Marian") if self.architecture.startswith(name))

    @property
    def _causal(self) -> bool:
        return self.architecture.endswith("ForCausalLM")

    @property
    def _decoder_words(self) -> Dim:
        """Where the tables are shared and tied, the decoder's is the other one, however many words it was given."""
        shared = self.share_encoder_decoder_embeddings and self.tie_word_embeddings and not self._causal
        return self.vocab_size if self.decoder_vocab_size is None or shared else self.decoder_vocab_size

    @property
    def _outputs(self) -> Dim:
        if self._causal:
            return self._decoder_words if self.tie_word_embeddings else self.vocab_size
        return self.vocab_size if self.share_encoder_decoder_embeddings else self._decoder_words

    def _encoder(self) -> Stack:
        settings = (self.encoder_attention_heads, self.encoder_ffn_dim, self.activation_function)
        return self._stack(
            self.vocab_size, Repeat(encoder_block(self.d_model, *settings, norm_first=self._norm_first), self.encoder_layers), "each"
        )

    def _decoder(self) -> Stack:
        settings = (self.decoder_attention_heads, self.decoder_ffn_dim, self.activation_function)
        return self._stack(
            self._decoder_words, Repeat(decoder_block(self.d_model, *settings, norm_first=self._norm_first), self.decoder_layers)
        )

    @property
    def _norm_first(self) -> bool:
        return self._relative in {"MBart", "Pegasus"}

    def _stack(self, words: Dim, blocks: Repeat, counted: Counting = "once") -> Stack:
        width, positions = self.d_model, self.max_position_embeddings
        layers: dict[str, Layer] = {"embed_tokens": Embedding(words, width)}
        if self._relative in {"Bart", "MBart"}:
            # The reference offsets positions by two, for a padding that it no longer has.
            layers |= {"embed_positions": LearnedPositions(positions, width, offset=2, counted=counted), "layers": blocks}
            layers["layernorm_embedding"] = LayerNorm(width)
        else:
            layers |= {"embed_positions": SinusoidalPositions(positions, width, "frozen"), "layers": blocks}
        if self._norm_first:
            layers["layer_norm"] = LayerNorm(width)
        return Stack(layers, scales=self.scale_embedding)


@dataclass(frozen=True)
class Stack(Holder):
    """One stack: the table, times the root of the width where it ``scales``; positions; blocks; normalisations where they are stored."""

    _: KW_ONLY
    scales: bool = False

    def forward(self, own: Own, input_ids: Value, *memory: Value) -> Value:
        """From the numbers of tokens to the last hidden states; ``memory`` is what the encoder gives to a decoder."""
        x = own.embed_tokens(input_ids)
        x = own.embed_positions(scaled(x, sqrt(x.sizes[-1])) if self.scales else x)
        x = own.layers(own.layernorm_embedding(x) if "layernorm_embedding" in own else x, *memory)
        return own.layer_norm(x) if "layer_norm" in own else x


@dataclass(frozen=True)
class Attention(Holder):
    """Attention with the projections ``q_proj``, ``k_proj``, ``v_proj`` and ``out_proj``, to its own input or to a memory.

    With ``laid`` the reference copies its queries, heads before positions.
    """

    _: KW_ONLY
    causal: bool = False
    laid: bool = False

    def forward(self, own: Own, x: Value, memory: Value | None = None) -> Value:
        """Keys and values of a causal attention grow from step to step; those of a memory stay as they are."""
        seen = x if memory is None else memory
        query, key, value = apart(own.q_proj(x)), apart(own.k_proj(seen)), apart(own.v_proj(seen))
        if self.laid:
            query = rearrange(compact(rearrange(query, "b s a d -> b a s d")), "b a s d -> b s a d")
        if self.causal or memory is not None:
            axis = 1 if memory is None else None
            key, value = remember("key", key, axis), remember("value", value, axis)
        return own.out_proj(attend(query, key, value, mask=Mask(self.causal and memory is None)))


@dataclass(frozen=True)
class Around(Holder):
    """A block: attention to itself, in a decoder to a memory, and the feed-forward network, each with a norm before it or after the sum."""

    function: str
    norm_first: bool = False

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        """The bodies one after another; without a memory, the attention to it is left out, as in the reference."""
        x = self._added(own, "self_attn", x)
        if memory:
            x = self._added(own, "encoder_attn", x, *memory)
        norm = own.final_layer_norm
        y = own.fc1(norm(x) if self.norm_first else x)
        y = x + own.fc2(activation(own, self.function, y, "activation_fn"))
        return y if self.norm_first else norm(y)

    def _added(self, own: Own, name: str, x: Value, *memory: Value) -> Value:
        norm, body = own[f"{name}_layer_norm"], own[name]
        return x + body(norm(x), *memory) if self.norm_first else norm(x + body(x, *memory))


def attention(width: Dim, heads: Dim, *, key_bias: bool = True, causal: bool = False) -> Attention:
    """Return one attention in the order in which fairseq's descendants store it: key, value, query, output.

    >>> attention(H, A).params, attention(H, A, key_bias=False).params
    (4*H**2 + 4*H, 4*H**2 + 3*H)
    """
    sliced = (heads, divides(heads, width, "attention_heads", "d_model"))
    projection = Dense(width, sliced)
    layers = {"k_proj": Dense(width, sliced, bias=key_bias), "v_proj": projection, "q_proj": projection}
    return Attention({**layers, "out_proj": Dense(sliced, width)}, causal=causal, laid=not key_bias)  # Whisper does both


def encoder_block(width: Dim, heads: Dim, inner: Dim, function: str, *, key_bias: bool = True, norm_first: bool = False) -> Around:
    """Return an encoder's block: attention and feed-forward network, each with its normalisation.

    >>> encoder_block(H, A, F, "gelu").params
    2*F*H + F + 4*H**2 + 9*H
    """
    body: dict[str, Layer] = {
        "self_attn": attention(width, heads, key_bias=key_bias),
        "self_attn_layer_norm": LayerNorm(width),
        **learned("activation_fn", function),
        "fc1": Dense(width, inner),
        "fc2": Dense(inner, width),
        "final_layer_norm": LayerNorm(width),
    }
    return Around(body, function, norm_first)


def decoder_block(width: Dim, heads: Dim, inner: Dim, function: str, *, key_bias: bool = True, norm_first: bool = False) -> Around:
    """Return a decoder's block: an encoder's, and in the middle the attention to the encoder's output.

    >>> decoder_block(H, A, F, "gelu").params
    2*F*H + F + 8*H**2 + 15*H
    """
    body: dict[str, Layer] = {
        "self_attn": attention(width, heads, key_bias=key_bias, causal=True),
        **learned("activation_fn", function),
        "self_attn_layer_norm": LayerNorm(width),
        "encoder_attn": attention(width, heads, key_bias=key_bias),
        "encoder_attn_layer_norm": LayerNorm(width),
        "fc1": Dense(width, inner),
        "fc2": Dense(inner, width),
        "final_layer_norm": LayerNorm(width),
    }
    return Around(body, function, norm_first)


def _one_vocabulary(arguments: dict[str, Any], sizes: Sizes) -> None:
    """No words, or as many as the encoder's, are the encoder's."""
    if sizes.get(DECODER_WORDS) in {0, sizes[V]}:
        arguments["decoder_vocab_size"] = None
        del sizes[DECODER_WORDS]


def stacks(layers: int, inner: int, heads: int, encodes: tuple[str, ...], decodes: tuple[str, ...] = ()) -> Mapping[str, Key]:
    """Return the keys of two stacks with their defaults; ``encodes`` and ``decodes`` are the classes that have them, if not all."""
    return {
        "encoder_layers": Size(L, layers, least=0, only=encodes),
        "encoder_ffn_dim": Size(F, inner, only=encodes),
        "encoder_attention_heads": Size(A, heads, only=encodes),
        "decoder_layers": Size(DECODER_LAYERS, layers, least=0, only=decodes),
        "decoder_ffn_dim": Size(DECODER_INNER, inner, only=decodes),
        "decoder_attention_heads": Size(DECODER_HEADS, heads, only=decodes),
    }


ALIASES = {"num_attention_heads": "encoder_attention_heads", "hidden_size": "d_model", "num_hidden_layers": "encoder_layers"}
IGNORED = {
    "drops values while training": (
        "dropout attention_dropout activation_dropout classifier_dropout classif_dropout encoder_layerdrop decoder_layerdrop"
    ),
    "seeds the weights": "init_std",
}
_OLD = {
    "described variants of the first release, which no class reads": (
        "add_bias_logits add_final_layer_norm normalize_before normalize_embedding static_position_embeddings extra_pos_embeddings"
        " force_bos_token_to_be_generated"
    ),
}


def _family(
    model_type: str, architectures: tuple[str, ...], vocab_size: int, start: int | None, own: Mapping[str, Key], labels: int = 2
) -> Family:
    return Family(
        model_type=model_type,
        model=Bart,
        architectures=architectures,
        labelled=_LABELLED.intersection(architectures),
        keys={
            "vocab_size": Size(V, vocab_size),
            "max_position_embeddings": Size(P, 1024),
            **stacks(12, 4096, 16, _ENCODES),
            "activation_function": Word("gelu"),
            "d_model": Size(H, 1024),
            "tie_word_embeddings": Flag(default=True),
            "scale_embedding": OptionalFlag(),
            "decoder_start_token_id": OptionalWhole(start, least=0),
            **own,
        },
        aliases=ALIASES,
        ignored={**IGNORED, **_OLD},
        usual={"is_encoder_decoder": (True, False), "is_decoder": (True, False)},
        arrange=_one_vocabulary,
        labels=labels,
    )


FAMILIES = (
    _family("bart", get_args(BartClass), 50265, 2, {}, labels=3),
    _family("mbart", get_args(MBartClass), 50265, None, {}),
    _family("pegasus", get_args(PegasusClass), 50265, 0, {}),
    _family(
        "marian",
        get_args(MarianClass),
        58101,
        58100,
        {"decoder_vocab_size": Size(DECODER_WORDS, None, least=0), "share_encoder_decoder_embeddings": Flag(default=True)},
    ),
)
