"""Small random configurations of decoder-only and state-space families, for the live classes to build; none is a recorded row.

A family joins by a row of ``DECODERS``. Some keys are left to their defaults, some are at values that no published model has.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

ACTIVATIONS = ("gelu", "relu", "prelu", "xielu", "silu")
KINDS = ("full_attention", "sliding_attention")


def labels(draw: random.Random) -> dict[str, Any]:
    """Labels in one of the three ways in which a configuration gives them."""
    many = draw.randint(1, 9)
    return draw.choice(({}, {"num_labels": many}, {"id2label": {str(number): "x" for number in range(many)}}))


def rope(draw: random.Random, *, partly: bool) -> dict[str, Any]:
    """How positions are rotated, in the present and in the old spelling."""
    share = draw.choice((0.25, 0.5, 1.0, 0.9)) if partly else 1.0
    return draw.choice(
        (
            {},
            {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}},
            {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "partial_rotary_factor": share}},
            {"rope_scaling": {"type": "linear", "factor": 2.0}},
            {"partial_rotary_factor": share, "rope_theta": 1e6},
        )
    )


def grouped(
    draw: random.Random,
    *,
    flags: str = "",
    act: str = "hidden_act",
    exact: bool = False,
    null_groups: bool = False,
    head_dim: bool = True,
    partly: bool = False,
    rotates: bool = True,
    listed: bool = True,
    **own: Callable[[random.Random], dict[str, Any]],
) -> dict[str, Any]:
    """A decoder with grouped heads; ``exact`` where the reference refuses heads that do not divide the width."""
    groups, layers = draw.randint(1, 3), draw.randint(0, 4)
    heads, width = groups * draw.randint(1, 3), 2 * draw.randint(1, 4)
    config = {
        "vocab_size": draw.randint(2, 90),
        "hidden_size": heads * width + (0 if exact or heads == 1 else draw.choice((0, 0, 1))),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "intermediate_size": draw.randint(1, 40),
        act: draw.choice(ACTIVATIONS),
        "tie_word_embeddings": draw.random() < 0.5,
        "pad_token_id": None,
    }
    if null_groups and draw.random() < 0.3:
        config["num_key_value_heads"] = None
    if head_dim and draw.random() < 0.5:
        config["head_dim"] = 2 * draw.randint(1, 6)
    if listed and draw.random() < 0.3:
        config["layer_types"] = [draw.choice(KINDS) for _ in range(layers)]
    if rotates:
        config |= rope(draw, partly=partly)
    config |= {flag: draw.random() < 0.5 for flag in flags.split() if draw.random() < 0.8}
    for more in own.values():
        config |= more(draw)
    return config | labels(draw)


def _gemma3(draw: random.Random) -> dict[str, Any]:
    return draw.choice(({}, {"sliding_window_pattern": draw.randint(1, 4)}, {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}))


def _experts(stored: str, least: int = 1) -> Callable[[random.Random], dict[str, Any]]:
    def draw_experts(draw: random.Random) -> dict[str, Any]:
        many = draw.randint(least, 5)
        return {stored: many, "num_experts_per_tok": draw.randint(1, max(1, many))}

    return draw_experts


def _qwen_moe(draw: random.Random) -> dict[str, Any]:
    return {
        "moe_intermediate_size": draw.randint(1, 20),
        "decoder_sparse_step": draw.choice((1, 1, 2, 3, 7)),
        "mlp_only_layers": draw.choice((None, [], [0], [1, 3], [2, 0, 2], [9])),
    }


def _qwen2_moe(draw: random.Random) -> dict[str, Any]:
    return _qwen_moe(draw) | {"shared_expert_intermediate_size": draw.choice((0, draw.randint(1, 20)))}


def deepseek(draw: random.Random, flags: str = "attention_bias") -> dict[str, Any]:
    """DeepSeek-V2 and V3: latent attention, dense layers first."""
    heads, layers, many = draw.randint(1, 4), draw.randint(0, 4), draw.randint(1, 5)
    return {
        "vocab_size": draw.randint(2, 90),
        "hidden_size": heads * draw.randint(1, 6),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "intermediate_size": draw.randint(1, 40),
        "moe_intermediate_size": draw.randint(1, 20),
        "n_routed_experts": many,
        "n_shared_experts": draw.randint(0, 3),
        "num_experts_per_tok": draw.randint(1, many),
        "first_k_dense_replace": draw.randint(0, 5),
        "q_lora_rank": draw.choice((None, draw.randint(1, 9))),
        "kv_lora_rank": draw.randint(1, 9),
        "qk_nope_head_dim": draw.randint(1, 9),
        "qk_rope_head_dim": 2 * draw.randint(1, 4),
        "v_head_dim": draw.randint(1, 9),
        "hidden_act": draw.choice(ACTIVATIONS),
        "tie_word_embeddings": draw.random() < 0.5,
        "pad_token_id": None,
        **{flag: draw.random() < 0.5 for flag in flags.split()},
        **rope(draw, partly=True),
    } | labels(draw)


def older(
    draw: random.Random,
    names: str,
    act: str = "",
    more: Callable[[random.Random], dict[str, Any]] | None = None,
    flags: str = "",
    pairs: int = 1,
) -> dict[str, Any]:
    """A decoder without grouped heads; ``names`` are its keys for width, layers, heads, inner width and positions, "-" for none."""
    width, layers, heads, inner, positions = names.split()
    many = draw.randint(1, 4)
    config = {
        "vocab_size": draw.randint(2, 90),
        width: pairs * many * draw.randint(1, 6),
        layers: draw.randint(0, 3),
        heads: many,
        inner: draw.randint(1, 40),
        positions: draw.randint(1, 30),
        act: draw.choice(ACTIVATIONS),
        "tie_word_embeddings": draw.random() < 0.5,
        "pad_token_id": None,
        "bos_token_id": None,
        "eos_token_id": None,
        **{flag: draw.random() < 0.5 for flag in flags.split()},
    }
    config = {name: value for name, value in config.items() if name not in {"-", ""}}
    if draw.random() < 0.3:
        spelt = {width: "hidden_size", layers: "num_hidden_layers", heads: "num_attention_heads"}
        config = {spelt.get(name, name): value for name, value in config.items()}
    return config | (more(draw) if more else {}) | labels(draw)


def _neox(draw: random.Random) -> dict[str, Any]:
    return draw.choice(({}, {"rotary_pct": 1.0, "rotary_emb_base": 500}, {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}))


def gpt_neo(draw: random.Random) -> dict[str, Any]:
    """GPT-Neo, whose kinds of attention are one per layer."""
    config = older(draw, "hidden_size num_layers num_heads - max_position_embeddings", "activation_function")
    layers = config.get("num_layers", config.get("num_hidden_layers"))
    inner = draw.choice((None, draw.randint(1, 40)))
    return config | {"attention_types": [[["global"], 1], [["local"], layers - 1]] if layers else [], "intermediate_size": inner}


def _bigcode(draw: random.Random) -> dict[str, Any]:
    return draw.choice(({}, {"multi_query": True}, {"multi_query": False}, {"multi_query": False, "add_cross_attention": True}))


def _opt(draw: random.Random) -> dict[str, Any]:
    return draw.choice(({}, {"word_embed_proj_dim": draw.randint(1, 9)}, {"_remove_final_layer_norm": True}))


def _falcon(draw: random.Random) -> dict[str, Any]:
    config = {"num_ln_in_parallel_attn": draw.choice((None, 1, 2)), "ffn_hidden_size": draw.choice((None, draw.randint(1, 40)))}
    return config | draw.choice(
        ({}, {"num_kv_heads": 1}, {"new_decoder_architecture": True}, {"rope_scaling": {"type": "linear", "factor": 2.0}})
    )


def mamba(draw: random.Random) -> dict[str, Any]:
    """Mamba, with an inner width of its own now and then."""
    return {
        "vocab_size": draw.randint(2, 90),
        "hidden_size": draw.randint(1, 40),
        "num_hidden_layers": draw.randint(0, 3),
        "state_size": draw.randint(1, 9),
        "conv_kernel": draw.randint(1, 5),
        "expand": draw.randint(1, 3),
        "time_step_rank": draw.choice(("auto", draw.randint(1, 5))),
        "use_bias": draw.random() < 0.5,
        "use_conv_bias": draw.random() < 0.5,
        "hidden_act": draw.choice(ACTIVATIONS),
        "tie_word_embeddings": draw.random() < 0.5,
        "pad_token_id": None,
    } | draw.choice(({}, {}, {"intermediate_size": draw.randint(1, 40)}))


def mamba2(draw: random.Random) -> dict[str, Any]:
    """Mamba-2, whose heads make up the inner width."""
    heads, head_dim, expand = draw.randint(1, 4), draw.randint(1, 4), draw.randint(1, 3)
    config = mamba(draw)
    config.pop("intermediate_size", None)
    return config | {
        "hidden_size": heads * head_dim,
        "num_heads": heads * expand,
        "head_dim": head_dim,
        "expand": expand,
        "n_groups": draw.randint(1, 3),
    }


DECODERS: dict[str, tuple[Callable[[random.Random], dict[str, Any]], str]] = {
    "llama": (partial(grouped, flags="attention_bias mlp_bias", exact=True, null_groups=True), "LlamaConfig"),
    "mistral": (grouped, "MistralConfig"),
    "qwen2": (partial(grouped, null_groups=True), "Qwen2Config"),
    "qwen3": (partial(grouped, flags="attention_bias", null_groups=True), "Qwen3Config"),
    "granite": (partial(grouped, flags="attention_bias mlp_bias", null_groups=True), "GraniteConfig"),
    "gemma": (partial(grouped, flags="attention_bias"), "GemmaConfig"),
    "gemma2": (partial(grouped, flags="attention_bias", act="hidden_activation", exact=True), "Gemma2Config"),
    "gemma3_text": (
        partial(grouped, flags="attention_bias", act="hidden_activation", exact=True, rotates=False, more=_gemma3),
        "Gemma3TextConfig",
    ),
    "phi3": (partial(grouped, null_groups=True, rotates=False), "Phi3Config"),
    "phi": (partial(grouped, flags="qk_layernorm", null_groups=True, partly=True), "PhiConfig"),
    "olmo": (partial(grouped, flags="attention_bias", null_groups=True), "OlmoConfig"),
    "olmo2": (partial(grouped, flags="attention_bias", null_groups=True), "Olmo2Config"),
    "starcoder2": (partial(grouped, flags="use_bias"), "Starcoder2Config"),
    "stablelm": (
        partial(grouped, flags="use_qkv_bias qk_layernorm use_parallel_residual", exact=True, head_dim=False, partly=True),
        "StableLmConfig",
    ),
    "mixtral": (partial(grouped, more=_experts("num_local_experts")), "MixtralConfig"),
    "qwen2_moe": (
        partial(grouped, flags="qkv_bias", more=_qwen2_moe, experts=_experts("num_experts", 0)),
        "Qwen2MoeConfig",
    ),
    "qwen3_moe": (partial(grouped, flags="attention_bias", more=_qwen_moe, experts=_experts("num_experts", 0)), "Qwen3MoeConfig"),
    "olmoe": (partial(grouped, flags="attention_bias", null_groups=True, more=_experts("num_experts")), "OlmoeConfig"),
    "gpt_oss": (partial(grouped, flags="attention_bias", more=_experts("num_local_experts")), "GptOssConfig"),
    "deepseek_v2": (partial(deepseek, flags="attention_bias mlp_bias"), "DeepseekV2Config"),
    "deepseek_v3": (deepseek, "DeepseekV3Config"),
    "gpt_neox": (
        partial(
            older,
            names="hidden_size num_hidden_layers num_attention_heads intermediate_size -",
            act="hidden_act",
            more=_neox,
            flags="attention_bias is_decoder",
        ),
        "GPTNeoXConfig",
    ),
    "gptj": (
        partial(
            older,
            names="n_embd n_layer n_head n_inner n_positions",
            act="activation_function",
            more=lambda draw: {"rotary_dim": draw.randint(0, 9)},
        ),
        "GPTJConfig",
    ),
    "gpt_neo": (gpt_neo, "GPTNeoConfig"),
    "gpt_bigcode": (
        partial(older, names="n_embd n_layer n_head n_inner n_positions", act="activation_function", more=_bigcode),
        "GPTBigCodeConfig",
    ),
    "opt": (
        partial(
            older,
            names="hidden_size num_hidden_layers num_attention_heads ffn_dim max_position_embeddings",
            act="activation_function",
            more=_opt,
            flags="do_layer_norm_before enable_bias layer_norm_elementwise_affine",
        ),
        "OPTConfig",
    ),
    "bloom": (partial(older, names="hidden_size n_layer n_head - -"), "BloomConfig"),
    "mpt": (partial(older, names="d_model n_layers n_heads - -"), "MptConfig"),
    "falcon": (
        partial(
            older,
            names="hidden_size num_hidden_layers num_attention_heads - -",
            act="activation",
            more=_falcon,
            flags="alibi multi_query parallel_attn bias",
            pairs=2,
        ),
        "FalconConfig",
    ),
    "mamba": (mamba, "MambaConfig"),
    "mamba2": (mamba2, "Mamba2Config"),
    "cohere": (partial(grouped, flags="attention_bias use_qk_norm", null_groups=True), "CohereConfig"),
}
"""By ``model_type``: how to draw a configuration, and its class."""
