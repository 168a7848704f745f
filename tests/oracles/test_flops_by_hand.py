"""FLOPs of published models beside counts by hand: two for each entry of a matrix and each token, and the products of attention."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps

BATCH = 2


def encoder(width: int, layers: int, vocabulary: int, length: int) -> int:
    """Return the FLOPs of layers with four square matrices and a feed-forward network of four times the width, and of the scores."""
    matrices = layers * (4 * width**2 + 2 * width * 4 * width) + vocabulary * width
    return BATCH * (2 * length * matrices + layers * 4 * length**2 * width)


def gated_decoder(width: int, heads: int, groups: int, inner: int, layers: int, vocabulary: int, length: int) -> int:
    """Return the FLOPs of layers with grouped attention and a gated feed-forward network, and of the scores."""
    return wide_decoder(width, heads, width // heads, groups, inner, layers, vocabulary, length)


def wide_decoder(
    width: int, heads: int, head: int, groups: int, inner: int, layers: int, vocabulary: int, length: int, more: int = 0
) -> int:
    """Return the FLOPs of the same layers with heads of any width, and with so many more entries in each."""
    matrices = layers * (2 * width * head * (heads + groups) + 3 * width * inner + more) + vocabulary * width
    return BATCH * (2 * length * matrices + layers * 4 * length**2 * heads * head)


def xlm(model_type: str, name: str, vocabulary: int, width: int, heads: int) -> dict[str, Any]:
    """Return the configuration of a published model."""
    return {
        "model_type": model_type,
        "architectures": [name],
        "vocab_size": vocabulary,
        "emb_dim": width,
        "n_heads": heads,
        "n_layers": 12,
        "n_langs": 1,
    }


def qwen2_vl(vocabulary: int, width: int, heads: int, groups: int, inner: int) -> dict[str, Any]:
    """Return the configuration of a published model, whose pictures are left out."""
    return {
        "model_type": "qwen2_vl",
        "architectures": ["Qwen2VLForConditionalGeneration"],
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": 28,
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
        "vision_config": {"depth": 32, "embed_dim": 1280, "hidden_size": width, "num_heads": 16, "patch_size": 14},
    }


def with_pictures(model_type: str, name: str, text: dict[str, Any], vision: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Return the configuration of a published model, whose pictures are left out."""
    return {"model_type": model_type, "architectures": [name], "text_config": text, "vision_config": vision, **keys}


GEMMA = with_pictures(  # huggingface.co/google/gemma-3-4b-it
    "gemma3",
    "Gemma3ForConditionalGeneration",
    {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024},
    {"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size": 896, "num_hidden_layers": 27, "patch_size": 14},
)
PALIGEMMA = with_pictures(  # huggingface.co/google/paligemma-3b-pt-224
    "paligemma",
    "PaliGemmaForConditionalGeneration",
    {
        "model_type": "gemma",
        "hidden_size": 2048,
        "intermediate_size": 16384,
        "num_attention_heads": 8,
        "num_hidden_layers": 18,
        "num_image_tokens": 256,
        "num_key_value_heads": 1,
        "vocab_size": 257216,
    },
    {"model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "patch_size": 14},
    projection_dim=2048,
    image_token_index=257152,
)
LLAVA = with_pictures(  # huggingface.co/llava-hf/llava-1.5-7b-hf
    "llava",
    "LlavaForConditionalGeneration",
    {"model_type": "llama", "max_position_embeddings": 4096, "rms_norm_eps": 1e-05, "vocab_size": 32064},
    {"model_type": "clip_vision_model", "hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14},
    image_token_index=32000,
)
# huggingface.co/meta-llama/Llama-4-Scout-17B-16E: the reference sends each token through all 16 experts, and one that is shared
SCOUT = with_pictures("llama4", "Llama4ForConditionalGeneration", {"model_type": "llama4_text"}, {"model_type": "llama4_vision_model"})
ROUTED = 16 * 3 * 5120 * 8192 + 16 * 5120


@pytest.mark.parametrize("length", [1 << 4, 300])
@pytest.mark.parametrize(
    ("config", "counted"),
    [
        # huggingface.co/FacebookAI/xlm-mlm-en-2048
        (xlm("xlm", "XLMWithLMHeadModel", 30145, 2048, 16), lambda length: encoder(2048, 12, 30145, length)),
        # huggingface.co/flaubert/flaubert_base_cased
        (xlm("flaubert", "FlaubertWithLMHeadModel", 68729, 768, 12), lambda length: encoder(768, 12, 68729, length)),
        # huggingface.co/Qwen/Qwen2-VL-7B-Instruct
        (qwen2_vl(152064, 3584, 28, 4, 18944), lambda length: gated_decoder(3584, 28, 4, 18944, 28, 152064, length)),
        (GEMMA, lambda length: wide_decoder(2560, 8, 256, 4, 10240, 34, 262208, length)),
        (PALIGEMMA, lambda length: wide_decoder(2048, 8, 256, 1, 16384, 18, 257216, length)),
        (LLAVA, lambda length: gated_decoder(4096, 32, 32, 11008, 32, 32064, length)),
        (SCOUT, lambda length: wide_decoder(5120, 40, 128, 8, 8192, 48, 202048, length, ROUTED)),
    ],
    ids=["xlm-mlm-en-2048", "flaubert_base_cased", "Qwen2-VL-7B", "gemma-3-4b", "paligemma-3b", "llava-1.5-7b", "Llama-4-Scout"],
)
def test_flops_are_those_by_hand(config: dict[str, Any], counted: Any, length: int) -> None:
    assert ps.flops(ps.from_config(config), (BATCH, length)).total == counted(length)
