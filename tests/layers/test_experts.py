"""Mixtures of experts against transformers' live blocks, and as algebra."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, imported
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import E, F, H, K
from paramsym.errors import ArgumentError, SizeError, StructureError

S = ps.dims("s")
few = settings(max_examples=10, deadline=None)
sizes = st.tuples(st.integers(1, 6).map(lambda half: 2 * half), st.integers(1, 9), st.integers(2, 6))


@few
@given(sizes)
def test_mixtral(drawn: tuple[int, int, int]) -> None:
    """``MixtralSparseMoeBlock``: the default."""
    modeling = imported("transformers.models.mixtral.modeling_mixtral")
    width, hidden, experts = drawn
    config = modeling.MixtralConfig(
        hidden_size=width,
        intermediate_size=hidden,
        num_local_experts=experts,
        num_experts_per_tok=2,
        num_attention_heads=1,
        num_key_value_heads=1,
    )
    assert_same_as_torch(ps.MixtureOfExperts(width, hidden, experts, 2), lambda: modeling.MixtralSparseMoeBlock(config))


@few
@given(sizes, st.integers(1, 9))
def test_qwen2(drawn: tuple[int, int, int], shared: int) -> None:
    """``Qwen2MoeSparseMoeBlock``: a shared expert behind a gate."""
    modeling = imported("transformers.models.qwen2_moe.modeling_qwen2_moe")
    width, hidden, experts = drawn
    config = modeling.Qwen2MoeConfig(
        hidden_size=width,
        moe_intermediate_size=hidden,
        num_experts=experts,
        num_experts_per_tok=2,
        shared_expert_intermediate_size=shared,
        num_attention_heads=1,
        num_key_value_heads=1,
    )
    layer = ps.MixtureOfExperts(width, hidden, experts, 2, shared_dim=shared, shared="shared_expert", shared_gate=True)
    assert_same_as_torch(layer, lambda: modeling.Qwen2MoeSparseMoeBlock(config))


@pytest.mark.parametrize(("family", "block", "correction"), [("V2", "DeepseekV2Moe", False), ("V3", "DeepseekV3MoE", True)])
@few
@given(drawn=sizes, shared=st.integers(1, 3))
def test_deepseek(*, family: str, block: str, correction: bool, drawn: tuple[int, int, int], shared: int) -> None:
    """``DeepseekV2Moe`` and ``DeepseekV3MoE``: experts first, shared experts in one, and V3's correction buffer."""
    modeling = imported(f"transformers.models.deepseek_{family.lower()}.modeling_deepseek_{family.lower()}")
    width, hidden, experts = drawn
    config = getattr(modeling, f"Deepseek{family}Config")(
        hidden_size=width,
        moe_intermediate_size=hidden,
        n_routed_experts=experts,
        n_shared_experts=shared,
        num_experts_per_tok=2,
        n_group=1,
        num_attention_heads=1,
        num_key_value_heads=1,
    )
    layer = ps.MixtureOfExperts(width, hidden, experts, 2, shared_dim=shared * hidden, experts_first=True, correction_bias=correction)
    assert_same_as_torch(layer, lambda: getattr(modeling, block)(config))


@few
@given(sizes)
def test_gpt_oss(drawn: tuple[int, int, int]) -> None:
    """``GptOssMLP``: biases everywhere, and the stacks lie the other way round."""
    modeling = imported("transformers.models.gpt_oss.modeling_gpt_oss")
    width, hidden, experts = drawn
    config = modeling.GptOssConfig(hidden_size=width, intermediate_size=hidden, num_local_experts=experts, num_experts_per_tok=2)
    layer = ps.MixtureOfExperts(width, hidden, experts, 2, router="router", router_bias=True, transposed=True, expert_bias=True)
    assert_same_as_torch(layer, lambda: modeling.GptOssMLP(config))


def test_experts_without_a_gate() -> None:
    """``NemotronHMoE``: experts and shared expert with one way up."""
    modeling = imported("transformers.models.nemotron_h.modeling_nemotron_h")
    config = modeling.NemotronHConfig(
        hidden_size=12, moe_intermediate_size=7, n_routed_experts=4, moe_shared_expert_intermediate_size=5, num_experts_per_tok=2
    )
    layer = ps.MixtureOfExperts(12, 7, 4, 2, gated=False, shared_dim=5, experts_first=True, correction_bias=True)
    assert_same_as_torch(layer, lambda: modeling.NemotronHMoE(config))


def test_separate_storage_holds_the_same_numbers() -> None:
    """Stacked or one by one: equal counts, stored and used, as a checkpoint of Qwen2-MoE names them."""
    separate, stacked = (ps.MixtureOfExperts(H, F, E, K, storage=storage, expert_bias=True) for storage in ("separate", "stacked"))
    assert separate.params == stacked.params == 3 * E * F * H + 2 * E * F + 2 * E * H
    assert separate.active == stacked.active == E * H + 3 * F * H * K + 2 * F * K + H * K
    assert list(ps.MixtureOfExperts(4, 3, 2, 1, storage="separate").shapes()) == [
        "gate.weight",
        *(f"experts.{number}.{name}_proj.weight" for number in (0, 1) for name in ("gate", "up", "down")),
    ]
    assert "experts.1.up_proj.weight" in ps.MixtureOfExperts(4, 3, 2, 1, storage="separate", gated=False).shapes()


def test_stored_and_used() -> None:
    """The router and the shared experts are used whole; of E experts a token uses K."""
    layer = ps.MixtureOfExperts(H, F, E, K, shared_dim=S, shared_gate=True)
    assert layer.params == 3 * E * F * H + E * H + 3 * H * S + H
    assert layer.active == 3 * F * H * K + E * H + 3 * H * S + H
    assert layer.params.diff(K) == 0
    assert ps.MixtureOfExperts(H, F, E, E).active == ps.MixtureOfExperts(H, F, E, E).params


def test_mixtral_8x7b_uses_12_9_of_46_7_billion() -> None:
    """Jiang et al. 2024, section 1: 47B parameters, of which a token uses 13B; 32 layers, tables and attention around the experts."""
    experts = ps.MixtureOfExperts(4096, 14336, 8, 2)
    attention = ps.MultiHeadAttention(4096, 32, bias=False, kv_heads=8)
    model = ps.Block(
        embed=ps.Embedding(32000, 4096),
        layers=32 * ps.Block(a=attention, b=experts, n=ps.RMSNorm(4096), m=ps.RMSNorm(4096)),
        norm=ps.RMSNorm(4096),
        head=ps.Dense(4096, 32000, bias=False),
    )
    assert model.params == 46_702_792_704
    assert model.active == 12_879_925_248


def test_values() -> None:
    """``at``, repr and pickle give equal layers; more experts used than stored is refused whenever it shows."""
    layer = ps.MixtureOfExperts(H, F, E, K, correction_bias=True, shared_dim=2 * F)
    assert layer.at(H=4, F=3, E=5, K=2) == ps.MixtureOfExperts(4, 3, 5, 2, correction_bias=True, shared_dim=6)
    assert_value(layer)
    assert layer.params == layer.ledger().stored
    assert layer.ledger(buffers=True).where(lambda line: line.buffer).polynomial().as_expr() == E
    with pytest.raises(SizeError, match="experts_per_token 9 is more than num_experts 8"):
        layer.at(E=8, K=9)
    with pytest.raises(SizeError, match="StackedExperts: experts_per_token 9 is more than num_experts 8"):
        ps.StackedExperts(4, 3, 8, 9)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (((4, 3, 2, 3), {}), SizeError, "experts_per_token 3 is more than num_experts 2"),
        (((4, 3, 2, 0), {}), SizeError, "experts_per_token is 0"),
        (((4, 3, 2, 1), {"storage": "separate", "transposed": True}), ArgumentError, "needs storage='stacked'"),
        (((4, 3, 2, 1), {"shared_gate": True}), ArgumentError, "give their width as shared_dim"),
        (((4, 3, 2, 1), {"router": "experts"}), StructureError, "two parts or tensors are named 'experts'"),
    ],
)
def test_wrong_input(arguments: tuple[tuple[Any, ...], dict[str, Any]], error: type[Exception], words: str) -> None:
    """One clear error when the layer is built."""
    with pytest.raises(error, match=words):
        ps.MixtureOfExperts(*arguments[0], **arguments[1])


def test_stacked_experts_without_a_gate() -> None:
    """Nemotron-H's experts are two matrices, ``up_proj`` and ``down_proj``; a gate makes the first one twice as wide."""
    assert list(ps.StackedExperts(3, 4, 5, 2, gated=False).shapes()) == ["up_proj", "down_proj"]
    plain, gated = (ps.StackedExperts(3, 4, 5, 2, gated=flag).count for flag in (False, True))
    assert gated - plain == 5 * 3 * 4
