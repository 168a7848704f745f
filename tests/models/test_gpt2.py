"""GPT-2 as algebra: the closed form, the fused projection's labels, published sizes and claims, right and wrong ones."""

from __future__ import annotations

import pytest
from strategies import assert_value
from sympy import Expr

import paramsym as ps
from paramsym import A, F, H, L, LayerNorm, N, P, TransposedDense, V, cat, per  # noqa: F401 - repr is evaluated with these in scope
from paramsym.atlas.published import Claim
from paramsym.errors import ArgumentError, DivisibilityError
from paramsym.models import Gpt2, family_of
from paramsym.models.blocks import (
    FeedForward,  # noqa: F401 - likewise
    PreNorm,  # noqa: F401 - repr is evaluated with it in scope
)
from paramsym.models.gpt import FusedAttention  # noqa: F401 - repr is evaluated with these in scope

BASE = 12 * H**2 * L + 13 * H * L + H * P + H * V + 2 * H
ARCHITECTURES = family_of("gpt2").architectures


def test_closed_form() -> None:
    """The base model is the well-known sum; A cancels and is still one of its letters."""
    assert Gpt2().params == BASE
    assert Gpt2().symbols == {V, P, H, L, A}
    assert Gpt2().params.diff(A) == 0


def test_inner_width() -> None:
    """Left out, the inner width is 4*H; given, it is a separate letter, also where it is 4*H after all."""
    assert Gpt2(n_inner=F).params == (BASE - 8 * H**2 * L - 4 * H * L + 2 * F * H * L + F * L).expand()
    assert Gpt2(n_inner=F).at(F=4 * H).params == BASE
    assert Gpt2(n_inner=4 * H).params == BASE


def test_fused_projection() -> None:
    """Query, key and value are three labelled lines of one tensor, which is stored (in, out)."""
    block = Gpt2().part("h.{}")
    assert block.part("attn").shapes() == {
        "c_attn.weight": (H, 3 * H),
        "c_attn.bias": (3 * H,),
        "c_proj.weight": (H, H),
        "c_proj.bias": (H,),
    }
    labels = [line.label for line in block.ledger() if line.name == "attn.c_attn.bias"]
    assert labels == ["query", "key", "value"]
    assert {line.factors for line in block.ledger() if line.name == "attn.c_attn.weight"} == {(H, A, per(H, A))}


@pytest.mark.parametrize(
    ("architecture", "head"),
    [
        ("GPT2Model", 0),
        ("GPT2LMHeadModel", 0),
        ("GPT2DoubleHeadsModel", H + 1),
        ("GPT2ForSequenceClassification", H * N),
        ("GPT2ForTokenClassification", H * N + N),
        ("GPT2ForQuestionAnswering", 2 * H + 2),
    ],
)
def test_heads(architecture: str, head: Expr) -> None:
    """Each class adds its head to the base model; a tied output matrix adds nothing."""
    assert (Gpt2(architecture=architecture).params - BASE - head).expand() == 0
    assert architecture in ARCHITECTURES
    assert len(ARCHITECTURES) == 6


def test_untied() -> None:
    """Untied, the output matrix counts."""
    assert (Gpt2(architecture="GPT2LMHeadModel", tie_word_embeddings=False).params - BASE - H * V).expand() == 0
    assert Gpt2(architecture="GPT2LMHeadModel").tied == {"lm_head.weight": "transformer.wte.weight"}


def test_cross_attention() -> None:
    """A cross attention block has as many parameters as a self attention block, in other tensors, and a normalisation."""
    assert (Gpt2(add_cross_attention=True).params - BASE - L * (4 * H**2 + 4 * H + 2 * H)).expand() == 0


@pytest.mark.parametrize(
    ("flags", "head"),
    [
        ({}, H + 1),
        ({"summary_proj_to_labels": False}, H**2 + H),
        ({"summary_use_proj": False}, 0),
        ({"summary_activation": "prelu"}, H + 2),
        ({"summary_activation": "tanh"}, H + 1),
        ({"num_labels": 7}, H + 1),
    ],
)
def test_summary(flags: dict[str, object], head: Expr) -> None:
    """The multiple choice head follows its flags, and has one output whatever the number of labels is."""
    assert (Gpt2(architecture="GPT2DoubleHeadsModel", **flags).params - BASE - head).expand() == 0


def test_learned_activation() -> None:
    """A learned activation adds its tensors to every block."""
    assert (Gpt2(activation_function="prelu").params - BASE - L).expand() == 0
    xielu = Gpt2(activation_function="xielu", n_layer=1, n_embd=2, n_head=1, n_positions=1, vocab_size=1)
    assert list(xielu.shapes(buffers=True))[-6:-2] == ["h.0.mlp.act.alpha_p", "h.0.mlp.act.alpha_n", "h.0.mlp.act.beta", "h.0.mlp.act.eps"]


@pytest.mark.parametrize("claim", [claim for claim in Gpt2.claims if claim.counts in ARCHITECTURES], ids=lambda c: c.name)
def test_claim(claim: Claim) -> None:
    """Every published count that names a class is that class's count."""
    assert Gpt2(architecture=claim.counts).at(claim.name).count == claim.count


def test_masks_counted_as_parameters() -> None:
    """The model card's 137,022,720 are the parameters and a causal mask of P**2 entries in each of L layers."""
    claim = next(claim for claim in Gpt2.claims if claim.count == 137_022_720)
    gpt2 = Gpt2().at(claim.name)
    assert claim.count - gpt2.count == (L * P**2).xreplace(gpt2.sizes) == 12_582_912


def test_wrong_claims() -> None:
    """The paper's table 2 prints fewer than its models have; three of the four are off by the word table's excess over a smaller one."""
    for claim in Gpt2.claims:
        if claim.counts.startswith("wrong"):
            assert claim.count < Gpt2().at(claim.name).count


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_being_a_value(architecture: str) -> None:
    """It is equal to its copy and is written as it is built."""
    gpt2 = Gpt2(architecture=architecture)
    assert_value(gpt2)
    assert eval(repr(gpt2.part("h.{}" if architecture == "GPT2Model" else "transformer.h.{}"))).params == (12 * H**2 + 13 * H)


def test_wrong_input() -> None:
    """Heads that do not divide, a summary nobody built, an unknown activation."""
    with pytest.raises(DivisibilityError, match="n_embd 10 is not divisible by n_head 3"):
        Gpt2(n_embd=10, n_head=3)
    with pytest.raises(ArgumentError, match="summary_type is 'attn'"):
        Gpt2(architecture="GPT2DoubleHeadsModel", summary_type="attn")
    assert Gpt2(summary_type="attn").params == BASE
    with pytest.raises(ArgumentError, match="summary_activation is 'x'"):
        Gpt2(architecture="GPT2DoubleHeadsModel", summary_activation="x")
    with pytest.raises(ArgumentError, match="activation_function is 'x'"):
        Gpt2(activation_function="x")


def test_top_name() -> None:
    """The family is reached from the top."""
    assert ps.models.Gpt2 is Gpt2
