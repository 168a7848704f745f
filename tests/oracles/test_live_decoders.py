"""Decoder-only and state-space families against the live classes: the closed form at random sizes, and experts as files hold them."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from frameworks import imported, on_meta
from hypothesis import HealthCheck, given, settings, strategies as st
from oracles.decoder_configs import DECODERS
from oracles.test_forward_models import AS_IT_STANDS, outputs, randomised

import paramsym as ps
from paramsym.models import family_of
from paramsym.testing.running import largest_difference

FAMILIES = sorted(DECODERS)
SEPARATE = {
    "mixtral": ("MixtralForCausalLM", {"num_local_experts": 3}),
    "qwen2_moe": (
        "Qwen2MoeForCausalLM",
        {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 5, "decoder_sparse_step": 2},
    ),
    "qwen3_moe": ("Qwen3MoeForCausalLM", {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 5}),
    "olmoe": ("OlmoeForCausalLM", {"num_experts": 3, "num_experts_per_tok": 2}),
    "deepseek_v2": (
        "DeepseekV2ForCausalLM",
        {"n_routed_experts": 3, "num_experts_per_tok": 2, "first_k_dense_replace": 1, "moe_intermediate_size": 5},
    ),
    "deepseek_v3": (
        "DeepseekV3ForCausalLM",
        {
            "n_routed_experts": 3,
            "num_experts_per_tok": 2,
            "first_k_dense_replace": 1,
            "moe_intermediate_size": 5,
            "n_group": 1,
            "topk_group": 1,
        },
    ),
}
"""By ``model_type``: a class, and what its small configuration has beside the sizes that all have."""


def test_enough_families() -> None:
    """Every family of this kind is drawn."""
    assert len(FAMILIES) >= 32


@pytest.mark.parametrize("model_type", FAMILIES)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(draw=st.randoms(use_true_random=False))
def test_closed_form(model_type: str, draw: random.Random) -> None:
    """At any valid sizes the closed form gives the number of parameters of the live class, whichever class it is."""
    configure, config_class = DECODERS[model_type]
    architecture = draw.choice(family_of(model_type).architectures)
    config = configure(draw)
    transformers = imported("transformers")
    transformers.logging.set_verbosity_error()
    module: Any = on_meta(lambda: getattr(transformers, architecture)(getattr(transformers, config_class)(**config)))
    counted = sum(parameter.numel() for parameter in module.parameters())
    model = ps.from_config({"model_type": model_type, **config}, architecture, strict=True)
    assert model.formula.xreplace(model.sizes).doit() == counted
    assert model.count == counted


@pytest.mark.parametrize("model_type", SEPARATE)
def test_experts_as_files_hold_them(model_type: str, tmp_path: Any) -> None:
    """With one matrix each, names and shapes are those that transformers writes to files, buffers included; the count is the same.

    With the tensors of the files each also computes what the reference computes.
    """
    torch, transformers, safetensors = imported("torch"), imported("transformers"), imported("safetensors")
    transformers.logging.set_verbosity_error()
    architecture, own = SEPARATE[model_type]
    sizes = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = getattr(transformers, DECODERS[model_type][1])(**sizes, intermediate_size=10, pad_token_id=None, **own)
    module = randomised(torch, getattr(transformers, architecture)(config).eval())
    module.save_pretrained(tmp_path)
    with safetensors.safe_open(tmp_path / "model.safetensors", "pt") as file:
        tensors = {name: file.get_tensor(name).numpy() for name in file.keys()}  # noqa: SIM118 - the file is not a mapping
    stored = {name: tensor.shape for name, tensor in tensors.items()}
    model: Any = ps.from_config(tmp_path, strict=True)
    separate = replace(model, expert_storage="separate")
    assert separate.shapes(buffers=True) == stored
    assert separate.count == model.count
    assert separate.active == model.active
    tokens = torch.randint(3, 20, (2, 5))
    with torch.no_grad():
        wanted = outputs(module(tokens))
    largest_difference(imported("numpy"), separate, ps.run(separate, tensors, tokens.numpy()), wanted, AS_IT_STANDS)
    assert ps.flops(separate, (2, 5)).total == ps.flops(model, (2, 5)).total
    assert ps.flops(separate, (2, 5), way="both").total == ps.flops(model, (2, 5), way="both").total
