"""What records say beyond a pass through a whole text: one more position after others, and other activations; counts by hand."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import expand

import paramsym as ps
from paramsym import A, B, D, F, G, H, L, V
from paramsym.algebra.symbols import dims
from paramsym.errors import NotYetError, ParamsymError, ShapeError

T = dims("T")


def glm(**keys: Any) -> ps.Layer:
    return ps.from_config({"model_type": "glm4", **keys}, architecture="Glm4ForCausalLM")


def test_a_step_by_hand() -> None:
    """One token passes all matrices, and meets each position before it and itself: scores and values."""
    each_token = L * (2 * A * D * H + 2 * G * D * H + 3 * H * F) + V * H
    wanted = 2 * B * each_token + 4 * L * B * A * D * (T + 1)
    assert expand(ps.flops(glm().origin[0], (B, 1), past=T).total - wanted) == 0


def test_a_step_of_a_published_size() -> None:
    """GLM-4-9B-0414 after 8,191 tokens: 40 layers, 32 heads of 128, 2 groups."""
    layer = 2 * 32 * 128 * 4096 + 2 * 2 * 128 * 4096 + 3 * 4096 * 13696
    wanted = 2 * (40 * layer + 151_552 * 4096) + 4 * 40 * 32 * 128 * 8192
    assert ps.flops(glm(attention_bias=False), (1, 1), past=8191).total == wanted
    assert ps.kv_cache(glm(), (1, 1), past=8191).total == ps.kv_cache(glm(), (1, 8192)).total == 2 * 40 * 2 * 128 * 8192


def test_a_window_limits_what_is_kept() -> None:
    """OLMo 3 7B: 24 of 32 layers keep 4,095 positions of 32 heads of 128, and the others all; each query meets one more, itself."""
    olmo = ps.from_config({"model_type": "olmo3"}, architecture="Olmo3ForCausalLM")
    longer = ps.flops(olmo, (1, 1), past=8000).total - ps.flops(olmo, (1, 1), past=7000).total
    assert longer == 4 * 8 * 32 * 128 * 1000
    assert ps.kv_cache(olmo, (1, 1), past=8000).total == 2 * 32 * 128 * (24 * 4095 + 8 * 8001)


def test_texts_longer_than_their_positions() -> None:
    """A table of CTRL and BioGPT has so many positions; those before count."""
    bio = ps.from_config({"model_type": "biogpt"}, architecture="BioGptForCausalLM")
    assert ps.flops(bio, (1, 1), past=1023).total > 0
    with pytest.raises(ShapeError, match="S is 1025; the model has positions for 1024"):
        ps.flops(bio, (1, 1), past=1024)


def test_no_step_where_it_is_not_known() -> None:
    with pytest.raises(NotYetError, match=r"what ModernBertForMaskedLM computes after earlier positions is not known: give all positions"):
        ps.flops(ps.from_config({"model_type": "modernbert"}, architecture="ModernBertForMaskedLM"), (1, 1), past=7)


def test_other_activations_cost_other_work() -> None:
    """DeepSpeed counts 1 for an entry of SiLU or ReLU, and none for tanh: here 40 layers with 16 times 13,696 entries."""
    entries = 40 * 16 * 13_696
    work = {word: ps.flops(glm(hidden_act=word), (2, 8), convention="deepspeed").total for word in ("silu", "relu", "tanh")}
    assert work["silu"] == work["relu"] == work["tanh"] + entries
    assert len({ps.flops(glm(hidden_act=word), (2, 8)).total for word in work}) == 1


def test_other_activations_keep_other_arrays() -> None:
    """Beside its result, GELU by tanh keeps x/2, the tangent and 1 more than it; a squared ReLU keeps the root."""
    entries = 40 * 16 * 13_696
    kept = {word: ps.activations(glm(hidden_act=word), (2, 8), dtype="float32").total for word in ("silu", "relu2", "gelu_new")}
    assert kept["relu2"] - kept["silu"] == 4 * entries
    assert kept["gelu_new"] - kept["silu"] == 3 * 4 * entries


@pytest.mark.parametrize("word", ["prelu", "xielu"])
def test_an_activation_with_tensors_is_refused(word: str) -> None:
    with pytest.raises(ParamsymError, match=f"hidden_act is '{word}'"):
        ps.flops(glm(hidden_act=word), (1, 8))


def test_the_activation_of_another_key_stays() -> None:
    """ModernBERT's blocks have one activation, and its head another one: two sets of modules, each with its word."""
    model = {"model_type": "modernbert"}
    kept = [
        ps.activations(ps.from_config({**model, **keys}, architecture="ModernBertForMaskedLM"), (1, 8), dtype="float32").total
        for keys in ({}, {"classifier_activation": "gelu_new"}, {"hidden_activation": "gelu_new"})
    ]
    assert kept[0] < kept[1] < kept[2]
