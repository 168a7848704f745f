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
RELATIVE: dict[str, tuple[Any, ...]] = {
    "layer_norm_epsilon": (1e-2, 1e-6),
    "relative_attention_max_distance": (5, 20),
    "feed_forward_proj": ("relu", "gelu", "gated-gelu", "gated-silu", "gated-relu2"),
    "num_decoder_layers": (1, 2, 3),
    "tie_word_embeddings": (True, False),
}
STACKS: dict[str, tuple[Any, ...]] = {
    "scale_embedding": (True, False),
    "activation_function": ("gelu", "relu", "swish"),
    "decoder_layers": (1, 3),
    "decoder_attention_heads": (1, 4),
    "decoder_ffn_dim": (24, 40),
    "decoder_start_token_id": (1, 3),
    "tie_word_embeddings": (True, False),
}
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
    "t5": RELATIVE,
    "mt5": RELATIVE,
    "umt5": RELATIVE,
    "whisper": {**STACKS, "use_weighted_layer_sum": (True, False)},
    **dict.fromkeys(("bart", "mbart", "pegasus"), STACKS),
    "marian": {**STACKS, "share_encoder_decoder_embeddings": (True, False), "decoder_vocab_size": (50, 60)},
}


def chosen(family: Family, draw: random.Random) -> dict[str, Any]:
    """Return one value for each key of a family that is listed; a key of its own that has no value keeps the reference's default."""
    found = {name: draw.choice(values) for name, values in COMPUTING.get(family.model_type, {}).items()}
    return {name: value for name, value in found.items() if value is not None or name == "sliding_window"}
