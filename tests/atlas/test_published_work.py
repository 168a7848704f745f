"""FLOPs of published sizes, with products counted by hand from the sizes on their model cards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import paramsym as ps

pytestmark = pytest.mark.filterwarnings("ignore:config keys that")  # files have keys that no size depends on
LENGTH = 512
ORACLES = Path(__file__).parents[1] / "oracles"


def published(name: str) -> Any:
    """Return a published configuration."""
    listed = (json.loads((ORACLES / file).read_text(encoding="utf-8")) for file in ("older_configs.json", "published_configs.json"))
    return next(one[name] for one in listed if name in one)


def decoder(layers: int, width: int, network: int, heads: int, groups: int, each: int, tokens: int) -> int:
    """Return the FLOPs of a text: queries and output, keys and values, the network's products, scores and values, the head.

    ``network`` are the numbers in the matrices of one layer's network.
    """
    layer = 2 * heads * each * width + 2 * groups * each * width + network
    return 2 * LENGTH * (layers * layer + tokens * width) + 4 * layers * heads * each * LENGTH**2


SCOUT = 17 * 3 * 5120 * 8192 + 16 * 5120  # the reference runs all 16 experts for each token, and a shared one
TEXTS = [
    ("smollm3", decoder(36, 2048, 3 * 2048 * 11_008, 16, 4, 128, 128_256)),
    ("olmo3", decoder(32, 4096, 3 * 4096 * 11_008, 32, 32, 128, 100_278)),
    ("cohere2_7b", decoder(32, 4096, 3 * 4096 * 14_336, 32, 8, 128, 256_000)),
    ("glm4_9b", decoder(40, 4096, 3 * 4096 * 13_696, 32, 2, 128, 151_552)),
    ("gemma3_4b", decoder(34, 2560, 3 * 2560 * 10_240, 8, 4, 256, 262_208)),
    ("qwen2vl7b", decoder(28, 3584, 3 * 3584 * 18_944, 28, 4, 128, 152_064)),
    ("qwen25vl7b", decoder(28, 3584, 3 * 3584 * 18_944, 28, 4, 128, 152_064)),
    ("qwen3vl8b", decoder(36, 4096, 3 * 4096 * 12_288, 32, 8, 128, 151_936)),
    ("paligemma", decoder(18, 2048, 3 * 2048 * 16_384, 8, 1, 256, 257_216)),
    ("llama4scout", decoder(48, 5120, SCOUT, 40, 8, 128, 202_048)),
]
"""Texts, without pictures where a model takes some."""


@pytest.mark.parametrize(("name", "wanted"), TEXTS, ids=[name for name, _ in TEXTS])
def test_texts(name: str, wanted: int) -> None:
    model = ps.from_config(published(name))
    assert ps.flops(model, (1, LENGTH)).total == wanted


def test_a_network_of_two_matrices() -> None:
    """Minitron 8B: squared ReLU between two matrices, and heads whose widths together are more than the model's."""
    keys = {"hidden_size": 4096, "intermediate_size": 16_384, "num_hidden_layers": 32, "num_attention_heads": 48, "head_dim": 128}
    model = ps.from_config(
        {"model_type": "nemotron", **keys, "num_key_value_heads": 8, "vocab_size": 256_000}, architecture="NemotronForCausalLM"
    )
    assert ps.flops(model, (1, LENGTH)).total == decoder(32, 4096, 2 * 4096 * 16_384, 48, 8, 128, 256_000)


def test_masked_words() -> None:
    """ModernBERT-base: 22 layers, all pairs of tokens as in the reference, and a matrix before the scores of words."""
    layer = 4 * 768**2 + 3 * 768 * 1152
    wanted = 2 * LENGTH * (22 * layer + 768**2 + 50_368 * 768) + 4 * 22 * 768 * LENGTH**2
    assert ps.flops(ps.from_config(published("modernbert")), (1, LENGTH)).total == wanted


def test_relative_positions() -> None:
    """XLNet-large: each layer has keys of twice as many distances as tokens, and scores of both."""
    layer = 4 * 1024**2 + 2 * 1024**2 + 2 * 1024 * 4096
    pairs = 2 + 2 * 2 + 2
    wanted = 2 * LENGTH * (24 * layer + 32_000 * 1024) + pairs * 24 * 1024 * LENGTH**2
    assert ps.flops(ps.from_config(published("xlnet_large")), (2, LENGTH)).total == 2 * wanted


def test_pictures() -> None:
    """DINOv3-S: 14 x 14 parts of 16 x 16, a token for the picture and four more."""
    tokens = 14 * 14 + 5
    layer = 4 * 384**2 + 2 * 384 * 1536
    wanted = 2 * 14 * 14 * 3 * 16 * 16 * 384 + 2 * tokens * 12 * layer + 4 * 12 * 384 * tokens**2
    assert ps.flops(ps.from_config(published("dinov3s")), (1, 3, 224, 224)).total == wanted


@pytest.mark.parametrize("chosen", [8, 4])
def test_experts(chosen: int) -> None:
    """Qwen3-VL-30B-A3B without pictures: 128 experts, of which a key without a tensor says how many each token has."""
    text = {"hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128}
    text |= {"num_local_experts": 128, "moe_intermediate_size": 768, "num_experts_per_tok": chosen, "vocab_size": 151_936}
    model = ps.from_config({"model_type": "qwen3_vl_moe", "text_config": text})
    network = 128 * 2048 + chosen * 3 * 2048 * 768
    assert ps.flops(model, (1, LENGTH)).total == decoder(48, 2048, network, 32, 4, 128, 151_936)


def test_experts_that_a_file_does_not_say() -> None:
    """The number is the default's, 4."""
    given, bare = ({"model_type": "qwen3_vl_moe", "text_config": text} for text in ({"num_experts_per_tok": 4}, {}))
    assert ps.flops(ps.from_config(given), (1, 8)).total == ps.flops(ps.from_config(bare), (1, 8)).total
