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
    keys = 2 * width * (groups * width // heads)
    matrices = layers * (2 * width**2 + keys + 3 * width * inner) + vocabulary * width
    return BATCH * (2 * length * matrices + layers * 4 * length**2 * width)


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
    ],
    ids=["xlm-mlm-en-2048", "flaubert_base_cased", "Qwen2-VL-7B"],
)
def test_flops_are_those_by_hand(config: dict[str, Any], counted: Any, length: int) -> None:
    assert ps.flops(ps.from_config(config), (BATCH, length)).total == counted(length)
