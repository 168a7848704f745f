"""The keys that a configuration must have, because the reference cannot build a model from the defaults alone."""

from __future__ import annotations

from collections.abc import Mapping

from paramsym.atlas.values import Value, object_of

_ROPE = object_of({"rope_type": "default", "rope_theta": 10000.0})
_TWO_ROPES = object_of({"full_attention": _ROPE, "sliding_attention": _ROPE})
_INDEXER = {"n_heads": 16, "kv_heads": 1, "head_dim": 256, "budget": 2048, "compress_ratio": 4}
_SPARSE = {"num_hidden_layers": 4, "mlp_layer_types": ("dense", "sparse", "sparse", "sparse")}
_EXPERTS = {"num_experts": 8, "moe_intermediate_size": 64, "top_k_experts": 2}
_HEAD = {
    "upsample_out_channels": (768, 512, 256, 128),
    "conv_out_channels": (64, 48, 32),
    "scale_conv_out_channels": (96, 64, 32),
    "scale_final_hidden_sizes": (128, 32),
}
_PERCEPTION = {
    "architecture": "vit_pe_core_large_patch14_336",
    "model_args": object_of(
        {"embed_dim": 1024, "img_size": (448, 448), "depth": 23, "global_pool": "", "use_post_transformer_norm": False}
    ),
}


def _around(size: int) -> Value:
    """Return a quadratic window that keeps the size."""
    return ((size, size), (1, 1), (size // 2, size // 2))


def _along(size: int) -> Value:
    """Return a vertical window that keeps the size."""
    return ((size, 1), (1, 1), (size // 2, 0))


def _across(size: int) -> Value:
    """Return a horizontal window that keeps the size."""
    return ((1, size), (1, 1), (0, size // 2))


_WINDOWS = {"long": 7, "mid": 5, "short": 3}
_INTRACLASS = {
    "reduce_channel": (1, 1, 0),
    "return_channel": (1, 1, 0),
    **{f"vertical_long_to_small_conv_{which}ratio": _along(size) for which, size in _WINDOWS.items()},
    **{f"horizontal_small_to_long_conv_{which}ratio": _across(size) for which, size in _WINDOWS.items()},
    **{f"symmetric_conv_long_{which}ratio": _around(size) for which, size in _WINDOWS.items()},
}
_DETECTION = {"intraclass_block_config": object_of(_INTRACLASS), "scale_factor_list": (1, 2, 4, 8), "kernel_list": (3, 2, 2)}


STARTS: Mapping[str, Mapping[str, Value]] = {
    "autoformer": {"prediction_length": 24},
    "aya_vision": {"vision_config.num_attention_heads": 16},
    "chameleon": {"vocabulary_map": object_of({"<image>": 8711})},
    "cohere_compass": {"text_config.rope_parameters": _TWO_ROPES},
    "cohere_compass_text": {"rope_parameters": _TWO_ROPES},
    "convnextv2": {"hidden_sizes": (96, 192, 384, 768)},  # its default is a tuple, to which a list is added
    "dbrx": {"attn_config.rope_theta": 10000.0},
    "deepseek_ocr2": {f"text_config.{key}": value for key, value in _SPARSE.items()},
    "deepseek_ocr2_text": _SPARSE,
    "diffusion_gemma": {f"text_config.{key}": value for key, value in _EXPERTS.items()},
    "diffusion_gemma_text": _EXPERTS,
    "dots1": {"n_routed_experts": 128, "n_shared_experts": 2, "num_experts_per_tok": 6},
    "emu3": {"vocabulary_map": object_of({"<image>": 151851})},
    "esm": {"vocab_size": 33},
    "focalnet": {"hidden_sizes": (192, 384, 768, 768)},  # likewise
    "granite4_vision": {"deepstack_layer_map": ((0, 1),), "downsample_rate": "4/8"},
    "hiera": {"decoder_hidden_size": 512, "decoder_depth": 8, "decoder_num_heads": 16},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "hunyuan_vl": {"text_config.head_dim": 128},
    "hunyuan_vl_text": {"head_dim": 128},
    "informer": {"prediction_length": 24},
    "lfm2_moe": {"num_hidden_layers": 6, "layer_types": ("conv", "conv", "full_attention") * 2},
    "ministral": {"head_dim": 128},
    "moonshine_streaming": {"num_key_value_heads": 8},
    "nemotron": {"head_dim": 128, "num_key_value_heads": 8},
    "perceiver": {"num_cross_attention_heads": 1},
    "perception_lm": {f"vision_config.{key}": value for key, value in _PERCEPTION.items()},
    "pp_ocrv5_server_det": _DETECTION,
    "pp_ocrv6_medium_det": _DETECTION,
    "qwen3_omni_moe": {"talker_config.text_config.shared_expert_intermediate_size": 768},
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 768},
    "qwen4_exp": {f"text_config.indexer_{key}": value for key, value in _INDEXER.items()},
    "qwen4_exp_text": {f"indexer_{key}": value for key, value in _INDEXER.items()},
    "reformer": {"is_decoder": True},
    "sapiens2": {f"head_config.{key}": value for key, value in _HEAD.items()},
    "t5gemma": {"is_encoder_decoder": False},
    "t5gemma2_decoder": {"dropout_rate": 0.0},
    "t5gemma2_encoder": {"text_config.dropout_rate": 0.0},
    "t5gemma2_text": {"dropout_rate": 0.0},
    "time_series_transformer": {"prediction_length": 24},
    "vitmatte": {"fusion_hidden_sizes": (256, 128, 64, 32)},  # likewise
    "wav2vec2-bert": {"vocab_size": 32},
    "wav2vec2-conformer": {"vocab_size": 32},
}
"""By the type. They are given only where the defaults alone are not built."""

_GLOBAL: Mapping[str, Value] = {"global_head_dim": 512, "num_global_key_value_heads": None}
TAKEN: Mapping[str, Mapping[str, Value]] = {
    **dict.fromkeys(("gemma4_text", "gemma4_unified_text", "diffusion_gemma_text"), _GLOBAL),
    "embedding_gemma2_text": {**_GLOBAL, "num_global_key_value_heads": 1},
}
"""Keys that a type takes and does not keep, with the meaning of a missing one; the settings of single layers have what they say."""
