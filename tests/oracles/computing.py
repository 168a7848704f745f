"""Keys of configurations that change what is computed and not what is stored: values to draw from, by ``model_type``."""

from __future__ import annotations

import random
from typing import Any

from paramsym.models.family import Family

ROPES: tuple[Any, ...] = (
    None,
    {"rope_type": "default", "rope_theta": 500.0},
    {"rope_type": "linear", "factor": 2.0},
    {"rope_type": "dynamic", "factor": 3.0},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "mscale": 1.2, "mscale_all_dim": 0.7, "truncate": False},
    {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
)
ROTATED: dict[str, tuple[Any, ...]] = {"rms_norm_eps": (1e-3, 1e-6), "rope_parameters": ROPES, "hidden_act": ("silu", "gelu_new", "relu2")}
SIGNAL: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("gelu", "relu", "prelu"),
    "feat_extract_activation": ("gelu", "silu", "prelu"),
    "layer_norm_eps": (1e-5, 1e-2),
    "conv_bias": (True, False),
    "use_weighted_layer_sum": (True, False),
}
WINDOW: dict[str, tuple[Any, ...]] = {"use_sliding_window": (True, False), "sliding_window": (2, 3), "max_window_layers": (0, 1, 2)}
COMPUTING: dict[str, dict[str, tuple[Any, ...]]] = {
    "llama": {**ROTATED, "attention_bias": (True, False), "mlp_bias": (True, False), "head_dim": (8, 16)},
    "mistral": {**ROTATED, "sliding_window": (2, 3, None)},
    "qwen2": {**ROTATED, **WINDOW},
    "qwen3": {**ROTATED, **WINDOW, "head_dim": (8, 16)},
    "granite": {
        **ROTATED,
        "embedding_multiplier": (1.0, 3.0),
        "residual_multiplier": (0.25, 1.0),
        "attention_multiplier": (0.5, 0.1),
        "logits_scaling": (2.0, 1.0),
    },
    "wav2vec2": {**SIGNAL, "adapter_attn_dim": (None, 6)},
    "hubert": {**SIGNAL, "feat_proj_layer_norm": (True, False), "conv_pos_batch_norm": (True, False)},
    "convnext": {
        "hidden_act": ("gelu", "prelu", "relu"),
        "layer_norm_eps": (1e-12, 1e-3),
        "layer_scale_init_value": (1e-6, 0.0, 1.0),
        "out_features": (["stem", "stage3"], ["stage1", "stage2"], None),
        "out_indices": (None,),
    },
    "mamba": {"hidden_act": ("silu", "gelu_new", "relu2"), "layer_norm_epsilon": (1e-5, 1e-2), "time_step_rank": ("auto", 3)},
    "mamba2": {
        "hidden_act": ("silu", "gelu_new", "relu2"),
        "layer_norm_epsilon": (1e-5, 1e-2),
        "chunk_size": (2, 3, 256),
        "time_step_limit": ((0.0, float("inf")), (0.1, 0.8)),
    },
    "resnet": {
        "hidden_act": ("relu", "gelu", "prelu"),
        "downsample_in_first_stage": (True, False),
        "downsample_in_bottleneck": (True, False),
        "out_features": (["stem", "stage3"], ["stage1", "stage2"], None),
        "out_indices": (None,),
    },
}


def chosen(family: Family, draw: random.Random) -> dict[str, Any]:
    """Return one value for each key of a family that is listed; a key of its own that has no value keeps the reference's default."""
    found = {name: draw.choice(values) for name, values in COMPUTING.get(family.model_type, {}).items()}
    return {name: value for name, value in found.items() if value is not None or name == "sliding_window"}
