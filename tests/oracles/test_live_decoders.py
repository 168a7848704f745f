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
from paramsym.errors import ConfigError, NotYetError, ShapeError
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


@pytest.mark.parametrize(("heads", "share", "runs"), [(5, 1.0, False), (3, 1.0, False), (6, 1.0, True), (20, 0.25, True)])
def test_an_odd_rotation(heads: int, share: float, runs: bool) -> None:
    """GPT-NeoX stores heads of any width, and fails if a whole head of odd width is rotated; for five entries of twenty it rotates six."""
    torch, transformers = imported("torch"), imported("transformers")
    sizes = {"vocab_size": 7, "hidden_size": 2 * heads, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 3}
    theirs = transformers.GPTNeoXModel(transformers.GPTNeoXConfig(**sizes, rotary_pct=share))
    ours = ps.from_config({"model_type": "gpt_neox", **sizes, "rotary_pct": share})
    assert ours.count == sum(parameter.numel() for parameter in theirs.parameters())
    inputs = torch.zeros(1, 3, dtype=torch.long)
    if runs:
        assert tuple(theirs(inputs).last_hidden_state.shape) == ps.output_shape(ours, (1, 3))
    else:
        with pytest.raises(RuntimeError, match="must match the size"):
            theirs(inputs)
        with pytest.raises(ShapeError, match="wanted an even width"):
            ps.flops(ours, (1, 3))


@pytest.mark.parametrize(
    ("model_type", "kind", "share", "runs"),
    [
        ("phi", "default", 0.5, True),
        ("phi", "default", 0.25, False),
        ("stablelm", "default", 0.95, False),
        ("phi3", "default", 0.25, True),
        ("llama", "linear", 0.5, False),
        ("llama", "linear", 0.95, True),
    ],
)
def test_a_share_of_a_head(model_type: str, kind: str, share: float, runs: bool) -> None:
    """Of 20 entries, Phi and StableLM rotate an even number, Phi-3 any number, and Llama all, where 19 mean 20."""
    torch, transformers = imported("torch"), imported("transformers")
    rope = {"rope_type": kind, "rope_theta": 10000.0, "partial_rotary_factor": share} | ({"factor": 2.0} if kind != "default" else {})
    config = {"vocab_size": 7, "hidden_size": 40, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 3}
    config |= {"rope_parameters": rope, "pad_token_id": 0, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2}
    config |= {"num_key_value_heads": 2} if model_type == "stablelm" else {}
    theirs = transformers.AutoModel.from_config(transformers.CONFIG_MAPPING[model_type](**config))
    ours = ps.from_config({"model_type": model_type, **config})
    assert ours.count == sum(parameter.numel() for parameter in theirs.parameters())
    inputs = torch.ones(1, 3, dtype=torch.long)
    if runs:
        assert tuple(theirs(inputs)[0].shape) == ps.output_shape(ours, (1, 3))
        assert ps.flops(ours, (1, 3)).count == ps.evaluate(ps.flops(ours.origin[0]), {"B": 1, "S": 3} | _by_name(ours))
    else:
        with pytest.raises(RuntimeError, match="must match the size"):
            theirs(inputs)
        for ask in (ps.flops, ps.activations, ps.output_shape):
            with pytest.raises((ShapeError, NotYetError), match=r"of a head to rotate|rotary_dim is 5; .* for multiples of 2"):
                ask(ours, (1, 3))


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_yarn_rotates_pairs(share: float) -> None:
    """The reference cannot build five rotated entries of twenty with YaRN, and builds ten."""
    transformers = imported("transformers")
    rope = {
        "rope_type": "yarn",
        "rope_theta": 10000.0,
        "factor": 2.0,
        "original_max_position_embeddings": 16,
        "partial_rotary_factor": share,
    }
    config = {"vocab_size": 7, "hidden_size": 40, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 3}
    config |= {"rope_parameters": rope, "max_position_embeddings": 64, "rotary_pct": share}

    def build() -> Any:
        return transformers.GPTNeoXModel(transformers.GPTNeoXConfig(**config))

    if share == 0.5:
        assert ps.from_config({"model_type": "gpt_neox", **config}).count == sum(one.numel() for one in build().parameters())
    else:
        with pytest.raises(RuntimeError, match="must match the size"):
            build()
        with pytest.raises(ConfigError, match="'yarn' rotates pairs; found 5 of 20"):
            ps.from_config({"model_type": "gpt_neox", **config})


def _by_name(model: ps.Layer) -> dict[str, Any]:
    return {symbol.name: size for symbol, size in model.sizes.items()}


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_runs_with_a_share_of_a_head(share: float) -> None:
    """Phi's record gives what the reference gives, also for other shares than the half of each head that was recorded."""
    torch, transformers = imported("torch"), imported("transformers")
    config = {"vocab_size": 11, "hidden_size": 32, "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 8}
    config |= {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 500.0, "partial_rotary_factor": share}}
    theirs = transformers.AutoModel.from_config(transformers.PhiConfig(**config, bos_token_id=1, eos_token_id=2)).eval()
    tokens = torch.arange(1, 8)[None]
    with torch.no_grad():
        expected = theirs(tokens).last_hidden_state.numpy()
    tensors = {name: tensor.numpy() for name, tensor in theirs.state_dict().items()}
    found = ps.run(ps.from_config({"model_type": "phi", **config}, "PhiModel"), tensors, tokens.numpy())[0]
    assert abs(found - expected).max() < 1e-4 * abs(expected).max()
