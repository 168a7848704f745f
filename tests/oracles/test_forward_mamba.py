"""Mamba's mixers compute what the reference's slow path computes, on random settings."""

from __future__ import annotations

from random import Random
from typing import Any

from frameworks import imported, widened
from running import assert_runs_as_torch, draws

import paramsym as ps


@widened()
def test_mamba() -> None:
    """Ten random settings against ``MambaMixer``."""
    torch, transformers, random = imported("torch"), imported("transformers"), Random(1)
    for _ in draws(10):
        drawn: dict[str, Any] = {
            "hidden_size": 4 * random.randint(1, 3),
            "state_size": random.randint(1, 4),
            "conv_kernel": random.randint(1, 4),
            "expand": random.randint(1, 3),
            "time_step_rank": random.randint(1, 3),
            "use_bias": random.random() < 0.5,
            "use_conv_bias": random.random() < 0.5,
            "hidden_act": random.choice(["silu", "gelu"]),
        }
        config = transformers.MambaConfig(**drawn, num_hidden_layers=1)
        module = transformers.models.mamba.modeling_mamba.MambaMixer(config, 0)
        assert_runs_as_torch(ps.Mamba(**drawn), module, torch.randn(2, random.randint(1, 7), drawn["hidden_size"], dtype=torch.float64))


@widened()
def test_mamba2() -> None:
    """Ten random settings against ``Mamba2Mixer``, with several chunks."""
    torch, transformers, random = imported("torch"), imported("transformers"), Random(2)
    for _ in draws(10):
        heads, width, groups = 2 * random.randint(1, 2), random.randint(1, 3), random.choice([1, 2])
        drawn: dict[str, Any] = {
            "hidden_size": heads * width,
            "num_heads": heads,
            "head_dim": 2 * width,
            "expand": 2,
            "state_size": random.randint(1, 4),
            "conv_kernel": random.randint(1, 4),
            "n_groups": groups,
            "use_bias": random.random() < 0.5,
            "use_conv_bias": random.random() < 0.5,
            "chunk_size": random.randint(1, 5),
            "time_step_limit": random.choice([(0.0, float("inf")), (0.1, 0.8)]),
            "layer_norm_epsilon": random.choice([1e-5, 1e-2]),
        }
        config = transformers.Mamba2Config(**drawn, num_hidden_layers=1)
        module = transformers.models.mamba2.modeling_mamba2.Mamba2Mixer(config, 0)
        assert_runs_as_torch(ps.Mamba2(**drawn), module, torch.randn(2, random.randint(1, 9), drawn["hidden_size"], dtype=torch.float64))
