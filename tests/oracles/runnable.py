"""Small configurations that the references can not only build but run, made from a family's own keys: a new family joins by existing."""

from __future__ import annotations

import random
from typing import Any

from paramsym.models.family import Family, Nested

WIDTHS, DEPTHS, HEADS, INNER = (32, 64), (1, 2), (2, 4), (24, 48)
SIZES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim"), WIDTHS),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers"), DEPTHS),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads"), HEADS),
    **dict.fromkeys(("intermediate_size", "hidden_dim", "d_ff", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "n_inner"), INNER),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "ffn_hidden_size"), INNER),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_target_positions", "max_source_positions"), (20, 24)),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), (4,)),
    **dict.fromkeys(("hidden_sizes",), ((8, 16), (16, 16, 32))),
    "vocab_size": (40, 50),
    "num_key_value_heads": (1, 2),
    "num_kv_heads": (1, 2),
    "num_experts_per_tok": (2,),
    "type_vocab_size": (1, 2),
    "embedding_size": (16, 32),
    "d_kv": (8, 16),
    "relative_attention_num_buckets": (8,),
    "image_size": (16, 24),
    "patch_size": (4, 8),
    "num_channels": (3,),
    "num_mel_bins": (8,),
    "projection_dim": (16, 24),
    "classifier_proj_size": (16,),
    "encoder_stride": (4,),
    "state_size": (8,),
    "kv_lora_rank": (16,),
    "q_lora_rank": (16,),
    "qk_nope_head_dim": (8,),
    "qk_rope_head_dim": (8,),
    "v_head_dim": (16,),
    "first_k_dense_replace": (1, 0),
    "mlp_ratio": (2, 4),
}
"""Values by key; a key that is not here keeps the reference's default."""
OWN: dict[str, dict[str, tuple[Any, ...]]] = {
    "swin": {
        "depths": ((1, 2), (2, 1)),
        "num_layers": (2,),
        "num_heads": ((2, 4),),
        "window_size": (2, 3),
        "patch_size": (2, 3),
        "image_size": (24, 31),
    },
    "convnext": {"depths": ((1, 2, 1),), "hidden_sizes": ([8, 16, 24],), "num_stages": (3,), "patch_size": (2, 4), "image_size": (33, 40)},
    "resnet": {"depths": ((1, 2, 1),), "hidden_sizes": ((16, 32, 32),), "embedding_size": (16, 8), "layer_type": ("basic", "bottleneck")},
    "gemma3_text": {"sliding_window_pattern": (1, 2), "head_dim": (16,)},
    "mamba2": {"num_heads": (8,), "head_dim": (8,), "hidden_size": (32,), "n_groups": (2,)},
    "wav2vec2": {
        "conv_dim": ((8, 8, 16),),
        "conv_kernel": ((10, 3, 2),),
        "conv_stride": ((5, 2, 2),),
        "num_conv_pos_embeddings": (4, 5),
        "num_conv_pos_embedding_groups": (2,),
        "feat_extract_norm": ("group", "layer"),
        "do_stable_layer_norm": (True, False),
        "tdnn_dim": ((8, 12),),
        "tdnn_kernel": ((3, 2),),
        "tdnn_dilation": ((1, 2),),
        "xvector_output_dim": (10,),
        "mask_time_prob": (0.0,),
        "codevector_dim": (8,),
        "proj_codevector_dim": (12,),
        "num_codevectors_per_group": (6,),
    },
    "deberta-v2": {
        "relative_attention": (True, False),
        "position_buckets": (4, -1),
        "pos_att_type": (["p2c", "c2p"], ["c2p"]),
        "share_att_key": (True, False),
        "norm_rel_ebd": ("layer_norm", "none"),
        "conv_kernel_size": (0, 3),
    },
    "albert": {"num_hidden_groups": (1,)},
    "opt": {"word_embed_proj_dim": (16, 32)},
    "gptj": {"rotary_dim": (8,)},
    "gpt_bigcode": {"multi_query": (True, False)},
    "falcon": {"new_decoder_architecture": (True, False), "parallel_attn": (True, False)},
    "dinov2": {"use_swiglu_ffn": (True, False), "image_size": (16,)},
    "beit": {
        "num_hidden_layers": (4, 5),
        "out_indices": ([0, 1, 2, 4], [1, 2, 3, 4]),
        "auxiliary_channels": (8,),
        "auxiliary_num_convs": (1, 3),
        "use_mean_pooling": (True, False),
        "use_relative_position_bias": (True, False),
        "use_shared_relative_position_bias": (False,),
    },
}
OWN["hubert"] = {
    name: values for name, values in OWN["wav2vec2"].items() if not name.startswith(("tdnn", "xvec", "code", "proj", "num_codev"))
}
TOKENS = {"use_cache": False, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
"""Within the small vocabulary; nothing is kept for a next call."""


def config_of(family: Family, draw: random.Random) -> dict[str, Any]:
    """Return a configuration of a family with small random sizes."""
    found: dict[str, Any] = {}
    for name, key in family.keys.items():
        choices = OWN.get(family.model_type, {}).get(name, SIZES.get(name))
        if isinstance(key, Nested):
            found[name] = config_of(key.reader, draw)
        elif choices is not None:
            found[name] = draw.choice(choices)
    return _attuned(family.model_type, found)


def _attuned(model_type: str, config: dict[str, Any]) -> dict[str, Any]:
    """Make sizes that depend on each other fit: what follows from others is left to the reference."""
    if "hidden_sizes" in config and "depths" in config:
        config["depths"] = config["depths"][: len(config["hidden_sizes"])]
    if model_type == "falcon" and config["new_decoder_architecture"]:
        config["parallel_attn"] = True  # the reference has no forward pass for the other way
    elif model_type == "falcon":
        config.pop("num_kv_heads")
    if model_type == "gpt_neo":
        config["attention_types"] = [[["global"], config["num_layers"]]]
    if model_type == "deepseek_v3":
        config |= {"n_group": 1, "topk_group": 1}
    if model_type == "siglip":
        config["text_config"]["hidden_size"] = config["vision_config"]["hidden_size"]
    return config
