"""Whisper (Radford et al. 2022, arXiv:2212.04356). Reference: ``transformers.models.whisper`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ShapeError
from paramsym.extents import differ
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv1d
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, SinusoidalPositions
from paramsym.models.activations import check_activation
from paramsym.models.bart import (
    ALIASES,
    DECODER_HEADS,
    DECODER_INNER,
    DECODER_LAYERS,
    IGNORED,
    Stack,
    decoder_block,
    encoder_block,
    stacks,
)
from paramsym.models.blocks import Holder, tokens
from paramsym.models.claims import BUILT, CARD, RECALLED, Claim
from paramsym.models.family import Family, Flag, Size, Word
from paramsym.models.labels import give_labels
from paramsym.models.seq2seq import TARGET, Stacks
from paramsym.program import Own, Value, apply, axes, collected, each, join, rearrange, reduce, softmax
from paramsym.size import Count, Dim, Shape, canonical, divides, text
from paramsym.symbols import A, B, C, F, H, L, P, S, V, dims

Architecture = Literal["WhisperModel", "WhisperForConditionalGeneration", "WhisperForCausalLM", "WhisperForAudioClassification"]
_LABELLED = frozenset({"WhisperForAudioClassification"})
_ENCODES = ("WhisperModel", "WhisperForConditionalGeneration", "WhisperForAudioClassification")
_DECODES = ("WhisperModel", "WhisperForConditionalGeneration", "WhisperForCausalLM")
_PAPER = "Radford et al. 2022, table 1"
TARGETS, PROJECTED = dims("P_d H_p")


def _size(d_model: int, layers: int, heads: int, *, vocab_size: int = 51865, mels: int = 80, decoder_layers: int = 0) -> dict[str, int]:
    """All published sizes hear 30 seconds, write 448 tokens, and have a feed-forward width of four times the width."""
    return {
        "vocab_size": vocab_size,
        "num_mel_bins": mels,
        "d_model": d_model,
        "encoder_layers": layers,
        "encoder_ffn_dim": 4 * d_model,
        "encoder_attention_heads": heads,
        "decoder_layers": decoder_layers or layers,
        "decoder_ffn_dim": 4 * d_model,
        "decoder_attention_heads": heads,
        "max_source_positions": 1500,
        "max_target_positions": 448,
    }


@dataclass(frozen=True)
class Whisper(Layer):
    """Whisper and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration: H = ``d_model``, C = ``num_mel_bins``. The encoder stores two convolutions
    over three frames, 3*C*H + H and 3*H**2 + H; P frozen sinusoids; L blocks of 4*H**2 + 2*F*H + 8*H + F, whose keys have no bias; and a
    normalisation. The decoder stores the table of words and of P_d positions, L_d blocks that also attend to the encoder, and a
    normalisation. The causal class is the decoder alone, the classifier the encoder alone, with a projection to ``classifier_proj_size``
    and, with ``use_weighted_layer_sum``, a weight for every layer. ``num_labels`` is N where there are labels and no number is given.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Whisper(architecture="WhisperForConditionalGeneration").at("openai/whisper-tiny").params
    37760640
    >>> Whisper().part("encoder.conv1").params
    3*C*H + H
    """

    vocab_size: Dim = V
    num_mel_bins: Dim = C
    encoder_layers: Count = L
    encoder_ffn_dim: Dim = F
    encoder_attention_heads: Dim = A
    decoder_layers: Count = DECODER_LAYERS
    decoder_ffn_dim: Dim = DECODER_INNER
    decoder_attention_heads: Dim = DECODER_HEADS
    activation_function: str = "gelu"
    d_model: Dim = H
    max_source_positions: Dim = P
    max_target_positions: Dim = TARGETS
    use_weighted_layer_sum: bool = False
    classifier_proj_size: Dim = PROJECTED
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "WhisperModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "openai/whisper-tiny": _size(384, 4, 6),
        "openai/whisper-base": _size(512, 6, 8),
        "openai/whisper-small": _size(768, 12, 12),
        "openai/whisper-medium": _size(1024, 24, 16),
        "openai/whisper-large-v2": _size(1280, 32, 20),
        "openai/whisper-large-v3": _size(1280, 32, 20, vocab_size=51866, mels=128),
        "openai/whisper-large-v3-turbo": _size(1280, 32, 20, vocab_size=51866, mels=128, decoder_layers=4),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("openai/whisper-tiny", 37_760_640, RECALLED, counts="WhisperForConditionalGeneration"),
        Claim("openai/whisper-base", 72_593_920, BUILT, counts="WhisperForConditionalGeneration"),
        Claim("openai/whisper-small", 241_734_912, RECALLED, counts="WhisperForConditionalGeneration"),
        Claim("openai/whisper-medium", 763_857_920, RECALLED, counts="WhisperForConditionalGeneration"),
        Claim("openai/whisper-large-v2", 1_543_304_960, BUILT, counts="WhisperForConditionalGeneration"),
        Claim("openai/whisper-large-v3", 1_543_490_560, CARD, counts="WhisperForConditionalGeneration"),
        Claim("openai/whisper-large-v3-turbo", 808_878_080, CARD, counts="WhisperForConditionalGeneration"),
        Claim("openai/whisper-tiny", 39_000_000, _PAPER, counts="more than the model has; 37,760,640"),
        Claim("openai/whisper-large-v2", 1_550_000_000, _PAPER, counts="rounded; 1,543,304,960"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width."""
        divides(self.encoder_attention_heads, self.d_model, "encoder_attention_heads", "d_model")
        divides(self.decoder_attention_heads, self.d_model, "decoder_attention_heads", "d_model")
        check_activation(self.activation_function, "activation_function")

    def tensors(self) -> Iterator[Tensor]:
        """The classifier's weights of the layers, and of the embeddings before them."""
        if self.architecture in _LABELLED and self.use_weighted_layer_sum:
            yield Tensor("layer_weights", (self.encoder_layers + 1,))

    def parts(self) -> Iterator[Part]:
        """The stacks, under ``model`` where they generate, then the head."""
        encodes, decodes = self.architecture in _ENCODES, self.architecture in _DECODES
        base = Stacks(self._encoder(), self._decoder()) if encodes and decodes else None
        alone = Sequential(encoder=self._encoder()) if encodes else Sequential(decoder=self._decoder())
        yield Part("model" if self._generates else "", alone if base is None else base)
        if self._generates:
            yield Part("proj_out", Dense(self.d_model, self.vocab_size, bias=False))
        elif self.num_labels is not None and self.architecture in _LABELLED:
            yield Part("projector", Dense(self.d_model, self.classifier_proj_size))
            yield Part("classifier", Dense(self.classifier_proj_size, self.num_labels))

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The spectrogram, (batch, mel bins, frames), and the numbers of tokens, (batch, positions); the causal class reads these alone."""
        if self.architecture not in _ENCODES:
            return {"input_ids": (B, S)}
        heard: dict[str, Shape] = {"input_features": (B, self.num_mel_bins, canonical(2 * self.max_source_positions))}
        return {**heard, "decoder_input_ids": (B, TARGET)} if self.architecture in _DECODES else heard

    @property
    def takes_several(self) -> bool:
        """The spectrogram and the tokens, where there are two stacks."""
        return self.architecture in _ENCODES and self.architecture in _DECODES

    def forward(
        self, own: Own, input_features: Value | None = None, decoder_input_ids: Value | None = None, input_ids: Value | None = None
    ) -> Value:
        """Last hidden states or scores of tokens, (batch, tokens, width or words); scores of a recording, (batch, labels).

        Those inputs count that ``inputs`` names; in order, the causal class has one, the tokens.
        """
        given = [one for one in (input_features, decoder_input_ids, input_ids) if one is not None]
        if len(given) != len(self.inputs):
            wanted = " and ".join(f"{name} {text(shape)}" for name, shape in self.inputs.items())
            message = f"wanted {len(self.inputs)} shape{'s' * (len(self.inputs) != 1)}, {wanted}; found {len(given)}."
            raise ShapeError(message)
        if self.architecture == "WhisperForCausalLM":
            return own.proj_out(own.model(tokens(given[0])))
        heard, *written = given
        if self.architecture in _LABELLED:
            last, *before = each(own.encoder(heard))
            return own.classifier(reduce("mean", own.projector(self._weighted(own, last, *before) if before else last), 1))
        x = own["model" if self._generates else ""](heard, *map(tokens, written))
        return own.proj_out(x) if self._generates else x

    def _weighted(self, own: Own, last: Value, before: Value) -> Value:
        """The mean of what reached every block and of the last hidden states, by weights that are learned."""
        layers = join(before, rearrange(last, "b s h -> () b s h"), axis=0)
        return reduce("sum", layers * rearrange(softmax(own.layer_weights), "n -> n () () ()"), 0)

    def ties(self) -> Mapping[str, str]:
        """The output matrix is the word table, unless ``tie_word_embeddings`` is False."""
        return {"proj_out.weight": "model.decoder.embed_tokens.weight"} if self._generates and self.tie_word_embeddings else {}

    @property
    def _generates(self) -> bool:
        return self.architecture in {"WhisperForConditionalGeneration", "WhisperForCausalLM"}

    def _encoder(self) -> Encoder:
        width, depth = self.d_model, self.encoder_layers
        settings = (width, self.encoder_attention_heads, self.encoder_ffn_dim, self.activation_function)
        block = encoder_block(*settings, key_bias=False, norm_first=True)
        layers = {
            "conv1": Conv1d(self.num_mel_bins, width, 3, padding=1),
            "conv2": Conv1d(width, width, 3, stride=2, padding=1),
            "embed_positions": SinusoidalPositions(self.max_source_positions, width, "frozen"),
            "layers": Collected(Handing(block), depth) if self.own_tensors else Repeat(block, depth),
            "layer_norm": LayerNorm(width),
        }
        return Encoder(layers, self.num_mel_bins, self.max_source_positions)

    def _decoder(self) -> Stack:
        width = self.d_model
        settings = (width, self.decoder_attention_heads, self.decoder_ffn_dim, self.activation_function)
        layers = {
            "embed_tokens": Embedding(self.vocab_size, width),
            "embed_positions": LearnedPositions(self.max_target_positions, width, counted="each"),
            "layers": Repeat(decoder_block(*settings, key_bias=False, norm_first=True), self.decoder_layers),
            "layer_norm": LayerNorm(width),
        }
        return Stack(layers)


@dataclass(frozen=True)
class Encoder(Holder):
    """Two convolutions over the frames of a spectrogram, positions, blocks, and a normalisation."""

    bins: Dim
    positions: Dim

    def forward(self, own: Own, features: Value) -> Any:
        """Hidden states, (batch, positions, width), for (batch, mel bins, frames), two frames for each position.

        Blocks that hand on what reached them add that, (blocks, batch, positions, width).
        """
        x, _ = axes(features, "batch bins frames", bins=self.bins)
        frames = canonical(2 * self.positions)
        if differ(x.sizes[2], frames):
            message = f"the spectrogram has {x.sizes[2]} frames; wanted {frames}, two for each of the {self.positions} positions."
            raise ShapeError(message)
        x = apply("gelu", own.conv2(apply("gelu", own.conv1(x))))
        x, *others = each(own.layers(own.embed_positions(rearrange(x, "b h s -> b s h"))))
        x = own.layer_norm(x)
        return (x, *others) if others else x


@dataclass(frozen=True)
class Handing(Layer):
    """A block that gives what reached it beside its result."""

    block: Layer

    def parts(self) -> Iterator[Part]:
        """The block, on this layer's own level."""
        yield Part("", self.block)

    def forward(self, own: Own, x: Value) -> tuple[Value, Value]:
        """The block's result, then its input."""
        return own[""](x), x


@dataclass(frozen=True)
class Collected(Repeat):
    """Blocks whose second results come out stacked, behind the result of the last."""

    def forward(self, own: Own, x: Value, *along: Value) -> tuple[Value, ...]:
        """Block after block."""
        return collected(own, 0, x, *along)


FAMILIES = (
    Family(
        model_type="whisper",
        model=Whisper,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "vocab_size": Size(V, 51865, only=_DECODES),
            "num_mel_bins": Size(C, 80, only=_ENCODES),
            **stacks(4, 1536, 6, _ENCODES, _DECODES),
            "activation_function": Word("gelu"),
            "d_model": Size(H, 384),
            "max_source_positions": Size(P, 1500, only=_ENCODES),
            "max_target_positions": Size(TARGETS, 448, only=_DECODES),
            "use_weighted_layer_sum": Flag(default=False, only=("WhisperForAudioClassification",)),
            "classifier_proj_size": Size(PROJECTED, 256, only=("WhisperForAudioClassification",)),
            "tie_word_embeddings": Flag(default=True),
        },
        aliases={**ALIASES, "num_key_value_heads": "encoder_attention_heads"},
        ignored={
            **IGNORED,
            "is worked out by the reference, which then scales nothing by it": "scale_embedding",
            "masks the input while training": (
                "apply_spec_augment mask_time_prob mask_time_length mask_time_min_masks mask_feature_prob mask_feature_length"
                " mask_feature_min_masks"
            ),
            "smooths the times of words": "median_filter_width alignment_heads",
            "names the language or the task of what is generated": "forced_decoder_ids lang_ids language task",
        },
        usual={"is_encoder_decoder": (True, False), "is_decoder": (True, False)},
    ),
)
