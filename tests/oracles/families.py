"""Small models of the families that transformers writes; a family joins by a row."""

from __future__ import annotations

from typing import Any

TINY: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": (
        "BertConfig",
        "BertForPreTraining",
        {"vocab_size": 90, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40},
    ),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {"vocab_size": 90, "n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 20}),
    "vit": (
        "ViTConfig",
        "ViTForImageClassification",
        {"image_size": 32, "patch_size": 8, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40},
    ),
    "roberta": (
        "RobertaConfig",
        "RobertaForMaskedLM",
        {"vocab_size": 90, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40},
    ),
    "distilbert": (
        "DistilBertConfig",
        "DistilBertForMaskedLM",
        {"vocab_size": 90, "dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 40},
    ),
    "albert": (
        "AlbertConfig",
        "AlbertForMaskedLM",
        {
            "vocab_size": 90,
            "embedding_size": 12,
            "hidden_size": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "intermediate_size": 40,
        },
    ),
    "electra": (
        "ElectraConfig",
        "ElectraForPreTraining",
        {
            "vocab_size": 90,
            "embedding_size": 12,
            "hidden_size": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "intermediate_size": 40,
        },
    ),
    "t5": (
        "T5Config",
        "T5ForConditionalGeneration",
        {"vocab_size": 90, "d_model": 24, "d_kv": 6, "d_ff": 40, "num_layers": 3, "num_heads": 4},
    ),
    "bart": (
        "BartConfig",
        "BartForConditionalGeneration",
        {
            "vocab_size": 90,
            "d_model": 24,
            "encoder_layers": 2,
            "decoder_layers": 3,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 40,
            "decoder_ffn_dim": 40,
            "max_position_embeddings": 30,
        },
    ),
    "gpt_neox": (
        "GPTNeoXConfig",
        "GPTNeoXForCausalLM",
        {"vocab_size": 90, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40},
    ),
    "opt": (
        "OPTConfig",
        "OPTForCausalLM",
        {
            "vocab_size": 90,
            "hidden_size": 24,
            "word_embed_proj_dim": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "ffn_dim": 40,
            "max_position_embeddings": 30,
        },
    ),
    "llama": (
        "LlamaConfig",
        "LlamaForCausalLM",
        {
            "vocab_size": 90,
            "hidden_size": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "intermediate_size": 40,
        },
    ),
    "mistral": (
        "MistralConfig",
        "MistralForCausalLM",
        {
            "vocab_size": 90,
            "hidden_size": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "intermediate_size": 40,
        },
    ),
    "qwen2": (
        "Qwen2Config",
        "Qwen2ForCausalLM",
        {
            "vocab_size": 90,
            "hidden_size": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "intermediate_size": 40,
        },
    ),
    "mixtral": (
        "MixtralConfig",
        "MixtralForCausalLM",
        {
            "vocab_size": 90,
            "hidden_size": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "intermediate_size": 40,
            "num_local_experts": 4,
        },
    ),
    "gemma2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        {
            "vocab_size": 90,
            "hidden_size": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 6,
            "intermediate_size": 40,
        },
    ),
    "mamba": ("MambaConfig", "MambaForCausalLM", {"vocab_size": 90, "hidden_size": 24, "num_hidden_layers": 2, "state_size": 4}),
}
"""By ``model_type``: the classes of configuration and model, and small sizes."""

FILE_NAMES: dict[str, dict[str, str]] = {
    "mixtral": {
        "model.layers.{}.block_sparse_moe.experts.{}.w1.weight": "model.layers.{}.mlp.experts.gate_up_proj[gate][{}]",
        "model.layers.{}.block_sparse_moe.experts.{}.w3.weight": "model.layers.{}.mlp.experts.gate_up_proj[up][{}]",
        "model.layers.{}.block_sparse_moe.experts.{}.w2.weight": "model.layers.{}.mlp.experts.down_proj[{}]",
        "model.layers.{}.block_sparse_moe.{}": "model.layers.{}.mlp.{}",
    },
}
"""How files hold the slices of one tensor apart; other spellings are ``rename="auto"``'s business."""

NEEDED: dict[str, dict[str, Any]] = {"BeitForSemanticSegmentation": {"out_indices": [3, 5, 7, 11]}}
"""By class: what a configuration must have, in the reference as here; others may be empty."""
