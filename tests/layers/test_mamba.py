"""Mamba blocks against transformers' live mixers, published counts, and as algebra."""

from __future__ import annotations

from math import ceil
from typing import Any

import pytest
from frameworks import assert_same_as_torch, imported
from hypothesis import given, settings, strategies as st
from strategies import assert_value
from sympy import ceiling

import paramsym as ps
from paramsym import A, G, H, K, L, N, R, V
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError, SizeError
from paramsym.layers.mamba import GatedGroupNorm

few = settings(max_examples=20, deadline=None)
small = st.integers(1, 6)
flags = {"use_bias": st.booleans(), "use_conv_bias": st.booleans(), "state_size": small, "conv_kernel": small, "expand": small}


@few
@given(width=st.integers(1, 50), options=st.fixed_dictionaries({}, optional={**flags, "time_step_rank": st.just("auto") | small}))
def test_mamba(width: int, options: dict[str, Any]) -> None:
    """Names, shapes, order and state dict are those of ``MambaMixer``."""
    modeling = imported("transformers.models.mamba.modeling_mamba")
    config = modeling.MambaConfig(hidden_size=width, **options)
    assert_same_as_torch(ps.Mamba(width, **options), lambda: modeling.MambaMixer(config, 0))


@few
@given(heads=small, head=small, groups=small, give_width=st.booleans(), options=st.fixed_dictionaries({}, optional=flags))
def test_mamba2(*, heads: int, head: int, groups: int, give_width: bool, options: dict[str, Any]) -> None:
    """Names, shapes, order and state dict are those of ``Mamba2Mixer``."""
    modeling = imported("transformers.models.mamba2.modeling_mamba2")
    expand = options.get("expand", 2)
    width = heads * head
    config = modeling.Mamba2Config(hidden_size=width, num_heads=heads, head_dim=expand * head, n_groups=groups, **options)
    layer = ps.Mamba2(width, heads, expand * head if give_width else None, n_groups=groups, **options)
    assert_same_as_torch(layer, lambda: modeling.Mamba2Mixer(config, 0))


def test_mamba_130m() -> None:
    """The published state-spaces/mamba-130m has 129,135,360 parameters: 24 blocks with a norm each, a table of 50,280, a last norm."""
    block = ps.Block(norm=ps.RMSNorm(H), mixer=ps.Mamba(H))
    model = ps.Block(embeddings=ps.Embedding(V, H), layers=ps.Repeat(block, L), norm_f=ps.RMSNorm(H))
    assert model.at(H=768, L=24, V=50_280).count == 129_135_360


def test_the_rank_is_an_exact_ceiling() -> None:
    """ceil(H/16) stays a ceiling while H is a symbol, is simplified where 16 divides, and is exact in numbers."""
    assert ps.Mamba(H).params.has(ceiling(H / 16))
    assert ps.Mamba(16 * H).params == ps.Mamba(16 * H, time_step_rank=H).params
    for width in (1, 15, 16, 17, 768, 2560):
        assert ps.Mamba(H).at(H=width).shapes()["dt_proj.weight"] == (2 * width, ceil(width / 16))
        assert ps.Mamba(H).params.subs(H, width) == ps.Mamba(width).params


def test_closed_forms() -> None:
    """The counts in letters, derived by hand from the shapes; in Mamba-2 the heads count three numbers and one column each."""
    assert (
        ps.Mamba(H, N, K, time_step_rank=R).params
        == (2 * H * N + 2 * H + 2 * H * K + 2 * H + 4 * H**2 + 2 * H * (R + 2 * N) + 2 * H * R + 2 * H + 2 * H**2).expand()
    )
    channels = 2 * H + 2 * G * N
    mamba2 = ps.Mamba2(H, A, state_size=N, conv_kernel=K, n_groups=G)
    assert mamba2.params == (3 * A + channels * K + channels + H * (2 * H + channels + A) + 2 * H + 2 * H**2).expand()
    assert mamba2.params.diff(A) == H + 3
    labels = [line.label for line in mamba2.ledger() if line.name == "in_proj.weight"]
    assert labels == ["gate", "x", "B", "C", "dt"]


def test_a_width_of_its_own() -> None:
    """``intermediate_size`` stands in for expand * H."""
    assert ps.Mamba(H, N, intermediate_size=2 * H).params == ps.Mamba(H, N).params
    assert ps.Mamba(8, intermediate_size=5).shapes()["A_log"] == (5, 16)


@pytest.mark.parametrize("layer", [ps.Mamba(H, N, K, use_bias=True, time_step_rank=R), ps.Mamba2(H, A, G, n_groups=3, use_bias=True)])
def test_values(layer: ps.Layer) -> None:
    """Reading the repr back gives an equal layer, and so does pickling."""
    assert_value(layer)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: ps.Mamba(0), SizeError, "hidden_size is 0"),
        (lambda: ps.Mamba(8, time_step_rank="none"), ArgumentError, "time_step_rank is 'none'"),
        (lambda: ps.Mamba(8, time_step_rank=0), SizeError, "time_step_rank is 0"),
        (lambda: ps.Mamba2(8, 3), DivisibilityError, r"expand \* hidden_size 16 is not divisible by num_heads 3"),
        (lambda: ps.Mamba2(8, 2, 4), SizeError, r"num_heads \* head_dim is 2\*4 = 8, but expand \* hidden_size is 16"),
        (lambda: ps.Mamba2(H, 2, 4).at(H=8), SizeError, "is 2"),
    ],
)
def test_wrong_input(build: Any, error: type[Exception], words: str) -> None:
    """One clear error when the layer is built, or when sizes are put in."""
    with pytest.raises(error, match=words):
        build()


def test_the_width_of_a_gated_norm_is_checked() -> None:
    """One entry could be repeated to the width of the weight, which is another layer."""
    with pytest.raises(ShapeError, match="the last axis has 1 entries; wanted 4"):
        ps.output_shape(GatedGroupNorm(4, 1), (1, 2, 1))
