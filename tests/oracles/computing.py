"""Keys of configurations that change what is computed and not what is stored: values to draw from, by ``model_type``."""

from __future__ import annotations

import random
from typing import Any

from oracles.runnable import TOKENS, config_of

from paramsym.models.family import Family, Nested

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
WINDOW: dict[str, tuple[Any, ...]] = {"use_sliding_window": (True, False), "sliding_window": (2, 3), "max_window_layers": (0, 1, 2)}
SEEN: dict[str, tuple[Any, ...]] = {"layer_norm_eps": (1e-2, 1e-6), "hidden_act": ("gelu", "quick_gelu", "gelu_new", "relu")}
COMPUTING: dict[str, dict[str, tuple[Any, ...]]] = {
    "vit": {**SEEN, "qkv_bias": (True, False)},
    "deit": {**SEEN, "qkv_bias": (True, False)},
    "beit": {
        **SEEN,
        "use_mean_pooling": (True, False),
        "use_absolute_position_embeddings": (True, False),
        "use_relative_position_bias": (True, False),
        "use_shared_relative_position_bias": (True, False),
        "layer_scale_init_value": (0.1, 0.0),
        "add_fpn": (True, False),
        "pool_scales": ([1, 2, 3, 6], [2, 3]),
        "use_auxiliary_head": (True, False),
        "auxiliary_concat_input": (True, False),
    },
    "swin": {
        **SEEN,
        "qkv_bias": (True, False),
        "out_features": (["stem", "stage2"], ["stage1"], None),
        "out_indices": (None,),
    },
    "dinov2": {
        **SEEN,
        "qkv_bias": (True, False),
        "out_features": (["stem", "stage1"], ["stage1"], None),
        "out_indices": (None,),
        "apply_layernorm": (True, False),
        "reshape_hidden_states": (True, False),
    },
    "clip_text_model": {**SEEN, "eos_token_id": (2, 3)},
    **dict.fromkeys(("clip_vision_model", "siglip_text_model", "siglip_vision_model"), SEEN),
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
}


def chosen(family: Family, draw: random.Random) -> dict[str, Any]:
    """Return one value for each key of a family that is listed; a key of its own that has no value keeps the reference's default."""
    found = {name: draw.choice(values) for name, values in COMPUTING.get(family.model_type, {}).items()}
    return {name: value for name, value in found.items() if value is not None or name == "sliding_window"}


def configured(family: Family, draw: random.Random) -> dict[str, Any]:
    """Return a small random configuration with the keys that change what is computed, also in the configurations inside it."""
    config = {**config_of(family, draw), **chosen(family, draw)}
    for name, key in family.keys.items():
        if isinstance(key, Nested):
            config[name] = {**TOKENS, **config[name], **chosen(key.reader, draw)}
    return config
