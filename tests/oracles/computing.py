"""Keys of configurations that change what is computed and not what is stored: values to draw from, by ``model_type``."""

from __future__ import annotations

import random
from copy import deepcopy
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
SIGNAL: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("gelu", "relu", "prelu"),
    "feat_extract_activation": ("gelu", "silu", "prelu"),
    "layer_norm_eps": (1e-5, 1e-2),
    "conv_bias": (True, False),
    "use_weighted_layer_sum": (True, False),
}
WINDOW: dict[str, tuple[Any, ...]] = {"use_sliding_window": (True, False), "sliding_window": (2, 3), "max_window_layers": (0, 1, 2)}
SEEN: dict[str, tuple[Any, ...]] = {"layer_norm_eps": (1e-2, 1e-6), "hidden_act": ("gelu", "quick_gelu", "gelu_new", "relu")}
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
ENCODER: dict[str, tuple[Any, ...]] = {
    "layer_norm_eps": (1e-2, 1e-5, 1e-12),
    "hidden_act": ("gelu", "gelu_new", "relu", "silu", "prelu"),
    "is_decoder": (False, True),
}
ACTIVATIONS = ("gelu_new", "gelu", "relu", "silu", "prelu")
EPSILON: dict[str, tuple[Any, ...]] = {"layer_norm_epsilon": (1e-5, 1e-2)}
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
    "t5": RELATIVE,
    "mt5": RELATIVE,
    "umt5": RELATIVE,
    "whisper": {**STACKS, "use_weighted_layer_sum": (True, False)},
    **dict.fromkeys(("bart", "mbart", "pegasus"), STACKS),
    "marian": {**STACKS, "share_encoder_decoder_embeddings": (True, False), "decoder_vocab_size": (50, 60)},
    **dict.fromkeys(("bert", "roberta", "xlm-roberta"), ENCODER),
    "electra": {
        **ENCODER,
        "embedding_size": (16, 64),
        "summary_type": ("first", "last", "mean", "cls_index"),
        "summary_use_proj": (True, False),
        "summary_activation": ("gelu", "tanh", "prelu"),
    },
    "albert": {
        "layer_norm_eps": ENCODER["layer_norm_eps"],
        "hidden_act": ENCODER["hidden_act"],
        "num_hidden_layers": (1, 3, 5),
        "num_hidden_groups": (1, 2, 3, 4),
        "inner_group_num": (1, 2),
    },
    "deberta-v2": {
        "layer_norm_eps": (1e-2, 1e-7),
        "hidden_act": ENCODER["hidden_act"],
        "conv_act": ("tanh", "gelu"),
        "pooler_hidden_act": ("gelu", "tanh"),
        "position_buckets": (4, 6, -1),
        "max_relative_positions": (3, 12, -1),
        "pos_att_type": (["p2c", "c2p"], ["c2p"], ["p2c"], []),
        "conv_kernel_size": (0, 1, 3),
        "conv_groups": (1, 2),
        "position_biased_input": (True, False),
        "type_vocab_size": (0, 2),
    },
    "distilbert": {"activation": ENCODER["hidden_act"]},
    "gpt2": {
        **EPSILON,
        "n_inner": (24, None),
        "activation_function": ACTIVATIONS,
        "scale_attn_weights": (True, False),
        "scale_attn_by_inverse_layer_idx": (True, False),
        "summary_type": ("last", "first", "mean", "cls_index"),
        "summary_use_proj": (True, False),
        "summary_activation": ("tanh", None),
        "summary_proj_to_labels": (True, False),
    },
    "opt": {
        "activation_function": ACTIVATIONS,
        "do_layer_norm_before": (True, False),
        "_remove_final_layer_norm": (True, False),
        "enable_bias": (True, False),
        "layer_norm_elementwise_affine": (True, False),
    },
    "gpt_neo": {
        **EPSILON,
        "activation_function": ACTIVATIONS,
        "intermediate_size": (24, None),
        "num_layers": (4,),
        "attention_types": (
            [[["global", "local"], 2]],
            [[["local"], 4]],
            [[["global"], 1], [["local"], 3]],
            [[["local", "local", "global", "local"], 1]],
        ),
        "window_size": (1, 2, 3),
    },
    "gptj": {**EPSILON, "n_inner": (24, None), "activation_function": ACTIVATIONS, "rotary_dim": (2, 4, 8)},
    "gpt_neox": {
        "layer_norm_eps": (1e-5, 1e-2),
        "hidden_act": ACTIVATIONS,
        "attention_bias": (True, False),
        "use_parallel_residual": (True, False),
        "rope_parameters": ROPES,
        "rotary_pct": (0.5, 0.75, 1.0),
        "rotary_emb_base": (10000, 500),
    },
    "gpt_bigcode": {
        **EPSILON,
        "n_inner": (24, None),
        "activation_function": ACTIVATIONS,
        "multi_query": (True, False),
        "scale_attn_weights": (True, False),
    },
    "bloom": {**EPSILON, "n_head": (1, 2, 4), "apply_residual_connection_post_layernorm": (True, False), "n_layer": (2, 3)},
    "mpt": {
        **EPSILON,
        "d_model": (48,),
        "n_heads": (2, 3, 4, 6),
        "attn_config": (
            None,
            {"clip_qkv": 0.5},
            {"softmax_scale": 0.25, "alibi_bias_max": 8},
            {"clip_qkv": 1.0, "softmax_scale": 2.0},
        ),
    },
    "falcon": {
        **EPSILON,
        "hidden_size": (32, 64),
        "num_attention_heads": (2, 4),
        "num_ln_in_parallel_attn": (None, 1),
        "alibi": (True, False, False),
        "multi_query": (True, False),
        "bias": (True, False),
        "activation": ACTIVATIONS,
        "rope_parameters": ROPES,
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
    # Copies, because the references write their defaults into the settings that they are given.
    found = {name: deepcopy(draw.choice(values)) for name, values in COMPUTING.get(family.model_type, {}).items()}
    return {name: value for name, value in found.items() if value is not None or name == "sliding_window"}


def configured(family: Family, draw: random.Random) -> dict[str, Any]:
    """Return a small random configuration with the keys that change what is computed, also in the configurations inside it."""
    config = {**config_of(family, draw), **chosen(family, draw)}
    for name, key in family.keys.items():
        if isinstance(key, Nested):
            config[name] = {**TOKENS, **config[name], **chosen(key.reader, draw)}
    return config
