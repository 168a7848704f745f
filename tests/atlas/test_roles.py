"""The tables and scales of recorded types: embeddings are counted apart, and a table is looked up."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import B, H, P, S, V

OUTSIDE_OF_EMBEDDINGS = {
    ("led", "LEDForConditionalGeneration"): 390_504_448,
    ("smollm3", "SmolLM3ForCausalLM"): 2_812_430_336,
    ("codegen", "CodeGenForCausalLM"): 5_844_444_384,
    ("modernbert", "ModernBertForMaskedLM"): 110_972_608,
    ("xglm", "XGLMForCausalLM"): 302_311_424,
    ("squeezebert", "SqueezeBertModel"): 27_254_016,
}
"""transformers 5.23: ``model.num_parameters(exclude_embeddings=True)`` of the default configuration."""


@pytest.mark.parametrize(("model_type", "name"), OUTSIDE_OF_EMBEDDINGS)
def test_embeddings_are_left_out_as_by_the_reference(model_type: str, name: str) -> None:
    """Tables by their module, tied output matrices included; a table that is a parameter of its own counts."""
    layer = ps.from_config({"model_type": model_type}, name)
    assert ps.conventions(layer)["non-embedding (Hugging Face)"].params == OUTSIDE_OF_EMBEDDINGS[model_type, name]


def test_a_table_has_rows_and_positions() -> None:
    """As in a family: the vocabulary is a number of rows, and nanoGPT's count leaves out the positions."""
    led = ps.load("led")
    assert "a table with one row for each of V" in str(ps.explain(led, "V"))
    assert ps.conventions(led)["non-embedding (nanoGPT)"].difference == -H * P - H * ps.dims("P_d")


def test_a_table_is_looked_up_and_not_multiplied() -> None:
    """Torchtitan leaves out the embedding that is only looked up, and PaLM counts it."""
    model = ps.load("glm4", "Glm4ForCausalLM")
    counts = {one: ps.flops(model, (B, S), convention=one).total for one in ("palm", "torchtitan")}
    assert (counts["palm"] - counts["torchtitan"]).expand() == 2 * B * S * V * H


def test_scales_are_those_of_norms() -> None:
    """One in each layer, and the last."""
    codegen = ps.load("codegen", "CodeGenModel")
    assert [line.name for line in codegen.ledger() if line.role == "scale"] == ["h.{0..L-1}.ln_1.weight", "ln_f.weight"]
