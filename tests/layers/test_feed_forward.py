"""Feed-forward networks against torch and transformers, and as algebra."""

from __future__ import annotations

import pickle

import pytest
from frameworks import assert_same_as_torch, imported, on_meta

import paramsym as ps
from paramsym import F, H
from paramsym.errors import ArgumentError, SizeError


@pytest.mark.parametrize("bias", [True, False])
def test_plain_is_the_middle_of_torchs_encoder_layer(*, bias: bool) -> None:
    """``linear1`` and ``linear2`` are those of ``torch.nn.TransformerEncoderLayer``."""
    torch = imported("torch")
    module = on_meta(lambda: torch.nn.TransformerEncoderLayer(12, 3, 7, bias=bias))
    theirs = {name: tuple(tensor.shape) for name, tensor in module.named_parameters() if name.startswith("linear")}
    assert ps.FeedForward(12, 7, bias).shapes() == theirs


@pytest.mark.parametrize("bias", [True, False])
def test_gated_is_llamas(*, bias: bool) -> None:
    """``gate_proj``, ``up_proj`` and ``down_proj`` are those of ``LlamaMLP``."""
    modeling = imported("transformers.models.llama.modeling_llama")
    config = modeling.LlamaConfig(hidden_size=12, intermediate_size=7, mlp_bias=bias, num_attention_heads=2)
    assert_same_as_torch(ps.GatedFeedForward(12, 7, bias), lambda: modeling.LlamaMLP(config))


def test_fused_is_phi3s() -> None:
    """``gate_up_proj`` holds gate and up; the ledger still tells them apart."""
    modeling = imported("transformers.models.phi3.modeling_phi3")
    config = modeling.Phi3Config(hidden_size=12, intermediate_size=7, num_attention_heads=2, num_key_value_heads=2)
    assert_same_as_torch(ps.GatedFeedForward(12, 7, fused=True), lambda: modeling.Phi3MLP(config))
    assert [line.label for line in ps.GatedFeedForward(H, F, fused=True).ledger()] == ["gate", "up", ""]


def test_counts() -> None:
    """BERT's feed-forward network has 4,722,432 parameters (recorded claim S3-13); fused and separate storage count alike."""
    assert ps.FeedForward(768, 3072).count == 4_722_432
    assert ps.FeedForward(H, F).params == 2 * F * H + F + H
    assert ps.FeedForward(H, 4 * H, bias=False).params == 8 * H**2
    assert ps.GatedFeedForward(H, F, bias=True).params == ps.GatedFeedForward(H, F, bias=True, fused=True).params
    assert ps.GatedFeedForward(H, F, bias=True, down_bias=False).params == 3 * F * H + 2 * F


@pytest.mark.parametrize("layer", [ps.FeedForward(H, F), ps.GatedFeedForward(H, F, fused=True, down_bias=True)])
def test_values(layer: ps.Layer) -> None:
    """Reading the repr back gives an equal layer, pickling too, and putting sizes in gives what building with them gives."""
    scope = {"FeedForward": ps.FeedForward, "GatedFeedForward": ps.GatedFeedForward, "F": F, "H": H}
    assert eval(repr(layer), scope) == layer == pickle.loads(pickle.dumps(layer))
    assert layer.at(H=8, F=3).count == layer.params.subs({H: 8, F: 3})
    assert layer.params.diff(F).diff(H) == 2 + isinstance(layer, ps.GatedFeedForward)


def test_wrong_input() -> None:
    """One clear error when the layer is built."""
    with pytest.raises(SizeError, match="dim_feedforward is 0"):
        ps.FeedForward(8, 0)
    with pytest.raises(ArgumentError, match="fused is 'yes'"):
        ps.GatedFeedForward(8, 8, fused="yes")  # type: ignore[arg-type]
