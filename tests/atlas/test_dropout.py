"""Dropout of a pass in training, put in a record's pass in evaluation: masks counted by hand, at StarCoder2's places."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps
from paramsym.atlas.building import recorded
from paramsym.core.layer import Layer

H, A, L, B, S = 3072, 24, 3, 2, 5
"""The default's hidden size and heads, with fewer layers."""


def model(task: str = "CausalLM", **keys: Any) -> Layer:
    return recorded({"model_type": "starcoder2", "num_hidden_layers": L, **keys}, f"Starcoder2For{task}")[0]


def kept(layer: Layer, convention: str = "torch-sdpa") -> int:
    return int(ps.activations(layer, (B, S), dtype="float32", convention=convention).total)


@pytest.mark.parametrize(
    ("key", "masks"),
    [("embedding_dropout", B * S * H), ("residual_dropout", 2 * L * B * S * H), ("attention_dropout", 0)],
)
def test_masks(key: str, masks: int) -> None:
    """A mask has one byte for each entry: once after the embedding, twice in each layer; fused attention keeps a seed."""
    rate: dict[str, Any] = {key: 0.1}
    assert kept(model(**rate)) - kept(model()) == masks


def test_weights_of_attention() -> None:
    """Attention that is not fused keeps a mask of its weights and, beside them, what dropout gives."""
    masks = L * B * A * S * S
    assert kept(model(attention_dropout=0.1), "torch-eager") - kept(model(), "torch-eager") == masks + 4 * masks


def test_the_rate_of_a_head() -> None:
    """0.1 if neither key gives another rate; ``classifier_dropout`` comes first, and no rate is no mask."""
    mask = B * S * H
    usual = kept(model("TokenClassification"))
    assert usual - kept(model("TokenClassification", classifier_dropout=0)) == mask
    assert usual - kept(model("TokenClassification", hidden_dropout=0)) == mask
    assert usual == kept(model("TokenClassification", classifier_dropout=0.5, hidden_dropout=0))


def test_no_product_is_added() -> None:
    """Dropout changes no count of multiplications."""
    assert ps.flops(model(residual_dropout=0.1), (B, S)).total == ps.flops(model(), (B, S)).total
