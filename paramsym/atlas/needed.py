"""Keys without which the reference builds no model: its default of the key, or of one inside it, fails.

Found by building every class of the atlas from its default configuration alone (transformers 5.23).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramsym.errors import ConfigError

_NULL = "its default is null, which the reference cannot use"
_ROPES = "its default has no entry 'full_attention'"
_REASONS: Mapping[str, tuple[str, str]] = {
    "AyaVisionForConditionalGeneration AyaVisionModel": (
        "vision_config",
        "its default has a hidden size of 1152, which its 14 heads do not divide",
    ),
    "ChameleonModel ChameleonForConditionalGeneration Emu3Model Emu3ForConditionalGeneration": (
        "vocabulary_map",
        "its default is null, and the reference looks the images' tokens up in it",
    ),
    "CohereCompassForConditionalGeneration CohereCompassModel": (
        "text_config",
        "the rope_parameters of its default have no entry 'full_attention'",
    ),
    "CohereCompassForCausalLM CohereCompassTextForSequenceClassification CohereCompassTextModel": ("rope_parameters rope_scaling", _ROPES),
    "DbrxForCausalLM DbrxModel": ("attn_config", "its default has no rope_theta"),
    "DeepseekOcr2Model DeepseekOcr2ForConditionalGeneration": ("text_config", "the mlp_layer_types of its default are null"),
    "DiffusionGemmaModel DiffusionGemmaForBlockDiffusion": ("text_config", "the num_experts of its default are null"),
    "FocalNetBackbone": ("hidden_sizes", "its default is a tuple, to which the reference adds a list"),
    "Granite4VisionForConditionalGeneration Granite4VisionModel": ("deepstack_layer_map", _NULL),
    "HieraForPreTraining": ("decoder_hidden_size", _NULL),
    "HunYuanVLModel HunYuanVLForConditionalGeneration": ("text_config head_dim", "the head_dim of its default is null"),
    "PerceiverForImageClassificationFourier": ("num_cross_attention_heads", "its default of 8 does not divide the 261 channels"),
    "PerceiverForImageClassificationConvProcessing": ("num_cross_attention_heads", "its default of 8 does not divide the 322 channels"),
    "PPOCRV6MediumDetModel": ("intraclass_block_config", _NULL),
    "Qwen4ExpModel": ("text_config", "the sizes of its default's indexer are null"),
    "ReformerModelWithLMHead": ("is_decoder", "the class needs true, and the default is false"),
    "T5GemmaEncoderModel": ("is_encoder_decoder", "the class needs false, and the default is true"),
    "T5Gemma2Encoder": ("text_config", "its default has no dropout_rate"),
    "T5Gemma2Decoder T5Gemma2TextEncoder": ("dropout_rate", "it has no default"),
}
NEEDED: Mapping[str, tuple[tuple[str, ...], str]] = {
    name: (tuple(keys.split()), why) for names, (keys, why) in _REASONS.items() for name in names.split()
}
"""By the class: the keys of which one must be given, and why."""


def check_needed(config: Mapping[str, Any], architecture: str) -> None:
    """Refuse a configuration without a key that the reference needs.

    Raises:
        ConfigError: the key is missing or null.

    >>> check_needed({"model_type": "dbrx"}, "DbrxModel")
    Traceback (most recent call last):
        ...
    paramsym.errors.ConfigError: DbrxModel: attn_config is not given; its default has no rope_theta, so the reference builds no model; ...
    """
    keys, why = NEEDED.get(architecture, ((), ""))
    if keys and all(config.get(key) is None for key in keys):
        raise ConfigError(f"{architecture}: {keys[0]} is not given; {why}, so the reference builds no model; give it.")
