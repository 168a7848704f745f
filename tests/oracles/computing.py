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
WINDOW: dict[str, tuple[Any, ...]] = {"use_sliding_window": (True, False), "sliding_window": (2, 3), "max_window_layers": (0, 1, 2)}
SPARSE: dict[str, tuple[Any, ...]] = {
    "num_hidden_layers": (1, 3, 5),
    "norm_topk_prob": (True, False),
    "decoder_sparse_step": (1, 2),
    "mlp_only_layers": ([], [1], [0, 3]),
}
LISTED: dict[str, tuple[Any, ...]] = {
    "num_hidden_layers": (4,),
    "layer_types": (None, ["full_attention", "sliding_attention", "sliding_attention", "full_attention"], ["sliding_attention"] * 4),
}
LATENT: dict[str, tuple[Any, ...]] = {
    **ROTATED,
    "num_hidden_layers": (2, 3),
    "first_k_dense_replace": (0, 1, 2),
    "n_routed_experts": (6,),
    "n_group": (3,),
    "topk_group": (1, 2),
    "routed_scaling_factor": (1.0, 2.5),
    "attention_bias": (True, False),
}
COMPUTING: dict[str, dict[str, tuple[Any, ...]]] = {
    "llama": {**ROTATED, "attention_bias": (True, False), "mlp_bias": (True, False), "head_dim": (8, 16)},
    "mistral": {**ROTATED, "sliding_window": (2, 3, None)},
    "qwen2": {**ROTATED, **WINDOW},
    "qwen3": {**ROTATED, **WINDOW, "head_dim": (8, 16)},
    "mixtral": {**ROTATED, "sliding_window": (2, 3, None), "head_dim": (8, 16)},
    "qwen2_moe": {
        **ROTATED,
        **SPARSE,
        **WINDOW,
        **LISTED,
        "qkv_bias": (True, False),
        "max_window_layers": (0, 1, 3, 28),
        "use_sliding_window": (True,),
    },
    "qwen3_moe": {**ROTATED, **SPARSE, **WINDOW, "head_dim": (8, 16), "attention_bias": (True, False)},
    "olmoe": {
        **ROTATED,
        "attention_bias": (True, False),
        "norm_topk_prob": (True, False),
        "clip_qkv": (None, 0.25),
        "rope_parameters": ROPES[:4],
    },
    "gpt_oss": {
        **ROTATED,
        **LISTED,
        "head_dim": (8, 16),
        "attention_bias": (True, False),
        "sliding_window": (2, 3),
        "swiglu_limit": (0.5, 7.0),
        "swiglu_alpha": (1.702, 0.5),
    },
    "deepseek_v2": {
        **LATENT,
        "mlp_bias": (True, False),
        "topk_method": ("greedy", "group_limited_greedy"),
    },
    "deepseek_v3": {**LATENT, "norm_topk_prob": (True, False), "rope_interleave": (True, False)},
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
