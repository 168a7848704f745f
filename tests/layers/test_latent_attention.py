"""Latent attention against transformers' DeepSeek modules, and as algebra."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, imported
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import A, D, H, R
from paramsym.errors import ArgumentError, SizeError

r, v, q = ps.dims("r v q")
sizes = st.integers(1, 9)


@pytest.mark.parametrize("family", ["DeepseekV2", "DeepseekV3"])
@settings(max_examples=15, deadline=None)
@given(
    arguments=st.fixed_dictionaries(
        {
            "hidden_size": sizes,
            "num_attention_heads": sizes,
            "kv_lora_rank": sizes,
            "qk_nope_head_dim": sizes,
            "qk_rope_head_dim": sizes.map(lambda half: 2 * half),
            "v_head_dim": sizes,
            "q_lora_rank": st.none() | sizes,
            "attention_bias": st.booleans(),
        }
    )
)
def test_transformers(family: str, arguments: dict[str, Any]) -> None:
    """Names, shapes, order and state dict are those of the live attention modules; V2's configuration wants heads to divide the width."""
    arguments = {**arguments, "hidden_size": arguments["hidden_size"] * arguments["num_attention_heads"]}
    modeling = imported(f"transformers.models.{family.lower().replace('v', '_v')}.modeling_{family.lower().replace('v', '_v')}")
    config = getattr(modeling, f"{family}Config")(**arguments, num_key_value_heads=arguments["num_attention_heads"])
    assert_same_as_torch(ps.LatentAttention(**arguments), lambda: getattr(modeling, f"{family}Attention")(config, 0))


def test_the_heads_do_not_cancel() -> None:
    """Head widths are free, so the count grows with A; the latent widths and the shared rotary key do not depend on it."""
    layer = ps.LatentAttention(H, A, R, D, r, v, q_lora_rank=q)
    query = H * q + q + A * (D + r) * q
    keys = H * (R + r) + R + A * (D + v) * R
    assert layer.params == (query + keys + A * v * H).expand()
    assert layer.params.diff(A) == ((D + r) * q + (D + v) * R + v * H).expand()
    assert [line.label for line in layer.ledger() if line.name == "kv_b_proj.weight"] == ["key", "value"]


def test_sizes_put_in_equal_sizes_built_in() -> None:
    """``at``, repr and pickle give equal layers."""
    layer = ps.LatentAttention(H, A, R, D, r, v, attention_bias=True)
    assert layer.at(H=5, A=2, R=3, D=4, r=2, v=7) == ps.LatentAttention(5, 2, 3, 4, 2, 7, attention_bias=True)
    assert_value(layer)


def test_wrong_input() -> None:
    """One clear error when the layer is built."""
    with pytest.raises(SizeError, match="kv_lora_rank is 0"):
        ps.LatentAttention(8, 2, 0, 2, 2, 2)
    with pytest.raises(ArgumentError, match="attention_bias is None"):
        ps.LatentAttention(8, 2, 2, 2, 2, 2, attention_bias=None)  # type: ignore[arg-type]
