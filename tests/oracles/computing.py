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
    {"rope_type": "proportional", "partial_rotary_factor": 0.5, "factor": 2.0},
)
ROTATED: dict[str, tuple[Any, ...]] = {"rms_norm_eps": (1e-3, 1e-6), "rope_parameters": ROPES, "hidden_act": ("silu", "gelu_new", "relu2")}
PARTLY: dict[str, tuple[Any, ...]] = {
    "rope_parameters": (*ROPES[:4], {"rope_type": "default", "partial_rotary_factor": 0.5, "rope_theta": 500.0}),
    "partial_rotary_factor": (0.25, 0.5, 1.0),
    "hidden_size": (64,),
}
"""Of a head only a share is rotated."""
LONG: dict[str, Any] = {"short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [4.0, 3.0, 2.0, 1.5], "partial_rotary_factor": 0.5}
"""For heads of 16, of which half is rotated; Phi-3 alone has it so."""
GEMMA: dict[str, tuple[Any, ...]] = {
    "rms_norm_eps": (1e-3, 1e-6),
    "rope_parameters": ROPES,
    "hidden_activation": ("gelu_pytorch_tanh", "relu"),
    "attention_bias": (True, False),
    "head_dim": (8, 16),
}
WINDOWED: dict[str, tuple[Any, ...]] = {"query_pre_attn_scalar": (3, 256), "sliding_window": (2, 3)}
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
    "starcoder2": {
        **{name: values for name, values in ROTATED.items() if name != "rms_norm_eps"},
        "norm_epsilon": (1e-3, 1e-5),
        "sliding_window": (2, 3, None),
        "use_bias": (True, False),
        "head_dim": (8, 16),
    },
    "olmo": {**ROTATED, "clip_qkv": (0.5, 2.0, None), "attention_bias": (True, False), "head_dim": (8, 16)},
    "olmo2": {**ROTATED, "attention_bias": (True, False), "head_dim": (8, 16)},
    "phi3": {
        **ROTATED,
        "hidden_size": (64,),
        "num_attention_heads": (4,),
        "rope_parameters": (
            *ROPES[:2],
            {"rope_type": "longrope", **LONG},
            {"type": "su", **LONG, "attention_factor": 1.3, "original_max_position_embeddings": 8},
        ),
        "original_max_position_embeddings": (4, 12, 4096),
        "sliding_window": (2, 3, None),
    },
    "phi": {
        **PARTLY,
        "layer_norm_eps": (1e-3, 1e-5),
        "hidden_act": ("gelu_new", "relu"),
        "qk_layernorm": (True, False),
    },
    "cohere": {
        **{name: values for name, values in ROTATED.items() if name != "rms_norm_eps"},
        "layer_norm_eps": (1e-3, 1e-5),
        "logit_scale": (0.25, 0.0625),
        "attention_bias": (True, False),
        "use_qk_norm": (True, False),
        "head_dim": (8, 16),
    },
    "gemma": {**GEMMA, "hidden_act": ("gelu", "gelu_pytorch_tanh", "silu"), "use_bidirectional_attention": (True, False)},
    "gemma2": {
        **GEMMA,
        **WINDOWED,
        "attn_logit_softcapping": (0.5, 5.0, None),
        "final_logit_softcapping": (0.5, 30.0, None),
        "num_hidden_layers": (3,),
        "layer_types": (
            ["full_attention", "sliding_attention", "full_attention"],
            ["full_attention", "full_attention", "sliding_attention"],
            ["sliding_attention"] * 3,
            None,
        ),
    },
    "gemma3_text": {
        **GEMMA,
        **WINDOWED,
        "num_hidden_layers": (3, 4),
        "sliding_window_pattern": (1, 2, 3, 9),
        "final_logit_softcapping": (0.5, None),
        "use_bidirectional_attention": (True, False),
        "rope_parameters": (
            None,
            {"full_attention": {"rope_type": "linear", "factor": 3.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 7.0}},
            {"full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 50.0}},
        ),
        "rope_local_base_freq": (10.0, 1e4),
        "rope_theta": (100.0, 1e6),
    },
    "stablelm": {
        **PARTLY,
        "layer_norm_eps": (1e-3, 1e-5),
        "hidden_act": ("silu", "gelu"),
        **dict.fromkeys(("use_qkv_bias", "qk_layernorm", "use_parallel_residual"), (True, False)),
    },
}


def chosen(family: Family, draw: random.Random) -> dict[str, Any]:
    """Return one value for each key of a family that is listed; a key of its own that has no value keeps the reference's default."""
    found = {name: draw.choice(values) for name, values in COMPUTING.get(family.model_type, {}).items()}
    return {name: value for name, value in found.items() if value is not None or name == "sliding_window"}
