"""Whisper (Radford et al. 2022, arXiv:2212.04356). Reference: ``transformers.models.whisper`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, Shape, canonical
from paramsym.algebra.symbols import B, C, P, S, V, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ShapeError
from paramsym.layers.convolution import Conv1d
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions, SinusoidalPositions
from paramsym.models.blocks import Holder, tokens
from paramsym.models.key_kinds import Flag
from paramsym.models.model import classes, family, key
from paramsym.models.seq2seq import TARGET, Stacks
from paramsym.models.signals import Collected, Handing
from paramsym.models.stacks import DECODES, ENCODES, Stack, TwoStacks
from paramsym.program import Own, Value, apply, axes, drop, each, join, rearrange, reduce, softmax

_LISTENS = ("AudioClassification",)


class Whisper(TwoStacks):
    """Whisper and its heads, as the reference class ``architecture`` stores them.

    H is ``d_model``, C is ``num_mel_bins``. The encoder stores two convolutions over three frames and P frozen sinusoids; keys have no
    bias. The causal class is the decoder alone, the classifier the encoder alone, with a projection to ``classifier_proj_size`` and, with
    ``use_weighted_layer_sum``, a weight for every layer.

    >>> Whisper(architecture="WhisperForConditionalGeneration").at("openai/whisper-tiny").params
    37760640
    >>> Whisper().part("encoder.conv1").params
    3*C*H + H
    """

    vocab_size: Dim = key(V, 51865, only=DECODES)
    num_mel_bins: Dim = key(C, 80, only=ENCODES)
    max_source_positions: Dim = key(P, 1500, only=ENCODES)
    max_target_positions: Dim = key(dims("P_d"), 448, only=DECODES)
    use_weighted_layer_sum: bool = key(Flag(only=_LISTENS))
    classifier_proj_size: Dim = key(dims("H_p"), 256, only=_LISTENS)
    architecture: str = classes({"Whisper": "Model ForConditionalGeneration ForCausalLM ForAudioClassification"})

    key_bias: ClassVar[bool] = False

    def tensors(self) -> Iterator[Tensor]:
        if not self._decodes and self.use_weighted_layer_sum:
            yield Tensor("layer_weights", (self.encoder_layers + 1,))

    def parts(self) -> Iterator[Part]:
        base: Layer = Sequential(encoder=self._encoder()) if self._encodes else Sequential(decoder=self._decoder())
        yield Part(self._base_name, Stacks(self._encoder(), self._decoder()) if self._encodes and self._decodes else base)
        if self._base_name:
            yield Part("proj_out", Dense(self.d_model, self.vocab_size, bias=False))
        elif self.num_labels is not None and not self._decodes:
            yield Part("projector", Dense(self.d_model, self.classifier_proj_size))
            yield Part("classifier", Dense(self.classifier_proj_size, self.num_labels))

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The spectrogram, (batch, mel bins, frames), and the token ids, (batch, positions); the causal class reads only these."""
        if not self._encodes:
            return {"input_ids": (B, S)}
        heard: dict[str, Shape] = {"input_features": (B, self.num_mel_bins, canonical(2 * self.max_source_positions))}
        return {**heard, "decoder_input_ids": (B, TARGET)} if self._decodes else heard

    def forward(self, own: Own, *given: Value) -> Value:
        """Last hidden states or scores of tokens, (batch, tokens, width or words); scores of a recording, (batch, labels)."""
        if not self._encodes:
            return own.proj_out(own.model(tokens(given[0])))
        heard, *written = given
        if not self._decodes:
            last, *before = each(own.encoder(heard))
            return own.classifier(reduce("mean", own.projector(self._weighted(own, last, *before) if before else last), 1))
        x = own[self._base_name](heard, *map(tokens, written))
        return own.proj_out(x) if self._base_name else x

    def _weighted(self, own: Own, last: Value, before: Value) -> Value:
        layers = join(before, rearrange(last, "b s h -> () b s h"), axis=0)
        return reduce("sum", layers * rearrange(softmax(own.layer_weights), "n -> n () () ()"), 0)

    def ties(self) -> Mapping[str, str]:
        return {"proj_out.weight": "model.decoder.embed_tokens.weight"} if self._base_name and self.tie_word_embeddings else {}

    @property
    def _encodes(self) -> bool:
        return self.architecture.endswith(ENCODES)

    @property
    def _decodes(self) -> bool:
        return self.architecture.endswith(DECODES)

    @property
    def _base_name(self) -> str:
        return "model" if self.task in {"ConditionalGeneration", "CausalLM"} else ""

    def _encoder(self) -> Encoder:
        width, block, depth = self.d_model, self.encoder_block(), self.encoder_layers
        layers = {
            "conv1": Conv1d(self.num_mel_bins, width, 3, padding=1),
            "conv2": Conv1d(width, width, 3, stride=2, padding=1),
            "embed_positions": SinusoidalPositions(self.max_source_positions, width, "frozen"),
            "layers": Collected(Handing(block), depth) if self.own_tensors else Repeat(block, depth),
            "layer_norm": LayerNorm(width),
        }
        return Encoder(layers, self.num_mel_bins, self.max_source_positions, self.dropout)

    def _decoder(self) -> Stack:
        width = self.d_model
        layers = {
            "embed_tokens": Embedding(self.vocab_size, width),
            "embed_positions": LearnedPositions(self.max_target_positions, width, counted="each"),
            "layers": self.decoder_blocks(),
            "layer_norm": LayerNorm(width),
        }
        return Stack(layers, dropped=self.dropout)


class Encoder(Holder):
    """Two convolutions over the frames of a spectrogram, positions, blocks, and a normalisation."""

    bins: Dim
    positions: Dim
    dropped: float = 0.0

    def forward(self, own: Own, features: Value) -> Any:
        """Hidden states, (batch, positions, width), for (batch, mel bins, frames), two frames for each position.

        Blocks that return their inputs add them, (blocks, batch, positions, width).
        """
        x, _ = axes(features, "batch bins frames", bins=self.bins)
        frames = canonical(2 * self.positions)
        if differ(x.sizes[2], frames):
            raise ShapeError(f"the spectrogram has {x.sizes[2]} frames; wanted {frames}, two for each of the {self.positions} positions.")
        x = apply("gelu", own.conv2(apply("gelu", own.conv1(x))))
        x, *others = each(own.layers(drop(own.embed_positions(rearrange(x, "b h s -> b s h")), self.dropped)))
        x = own.layer_norm(x)
        return (x, *others) if others else x


_TINY = {"d_model": 384} | {
    f"{stack}_{name}": size for stack in ("encoder", "decoder") for name, size in (("layers", 4), ("ffn_dim", 1536), ("attention_heads", 6))
}
FAMILIES = (
    family(
        "whisper",
        Whisper,
        defaults=_TINY,
        aliases={"num_key_value_heads": "encoder_attention_heads"},
        ignored={
            "is computed by the reference, which does not use it": "scale_embedding",
            "masks the input while training": (
                "apply_spec_augment mask_time_prob mask_time_length mask_time_min_masks mask_feature_prob mask_feature_length"
                " mask_feature_min_masks"
            ),
            "smooths the times of words": "median_filter_width alignment_heads",
            "names the language or the task of what is generated": "forced_decoder_ids lang_ids language task",
        },
    ),
)
