"""Claims in the words of papers: N, D and C, long names, letters; the answer says which N fits."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym.errors import ParamsymError

GPT2 = ps.load("gpt2")
LENGTH = (1, 1024)


def per_token(convention: str, way: Any = "both") -> Any:
    """Return the FLOPs of one token of GPT-2 in a text of 1,024."""
    return ps.flops(GPT2, LENGTH, way=way, convention=convention, per="token")


@pytest.mark.parametrize(
    ("cost", "claim", "which"),
    [
        (per_token("palm"), "6*N + 12*L*H*Q*T", "the parameters, every distinct tensor once"),  # Chowdhery et al. 2022, appendix B
        (per_token("nanogpt"), "6N + 12LHQT", "the non-embedding (nanoGPT) parameters"),  # nanoGPT, model.py, estimate_mfu
        (per_token("kaplan", "forward"), "2*N + 2*n_layer*n_ctx*d_model", "the non-embedding (Kaplan) parameters"),  # Kaplan 2020, table 1
    ],
)
def test_which_parameters(cost: Any, claim: str, which: str) -> None:
    """The formulas of three sources, each with its own N."""
    answer = str(ps.reconcile(cost, claim)[0])
    assert answer.endswith(f"{cost.count:,} is right")
    assert f"N {which}" in answer


@cases(0)
def test_half_of_the_pairs() -> None:
    """12LHQT counts all pairs of queries and keys, 6LHQT half of them."""
    answer = ps.reconcile(per_token("palm"), "6*N + 6*L*H*Q*T")[0]
    assert answer.known
    assert "half of the pairs" in str(answer)
    assert answer.difference == -6 * 12 * 768 * 1024


def test_in_letters_alone() -> None:
    """Without sizes a formula is compared with a formula."""
    model = ps.models.Gpt2(architecture="GPT2LMHeadModel")
    cost = ps.flops(model, way="both", convention="palm", per="token")
    assert "is right, letter by letter" in str(ps.reconcile(cost, "6*N + 12*L*H*Q*T"))
    assert ps.reconcile(model, "12*n_layer*d_model**2")[0].term == ps.reconcile(model, "12*L*H**2")[0].term


def test_a_whole_run() -> None:
    """C = 6ND leaves out the products of queries and keys; Brown et al. 2020, table D.1, computes so: 3.14e23 for GPT-3."""
    run = ps.training(GPT2, LENGTH, tokens=300 * 10**9)
    for claim in ("C = 6*N*D", "6ND"):
        answer = ps.reconcile(run, claim)[0]
        assert run.count + answer.difference == 6 * 124_439_808 * 300 * 10**9
        assert "without the pairs of queries and keys" in str(answer)


@pytest.mark.parametrize(
    ("claim", "how"),
    [
        ("12*n_layer*d_model**2", {}),
        ("12 n_layer d_model^2", {}),
        ("N = 12 * num_hidden_layers * hidden_size**2", {}),
        ("12*l*h^2", {"letters": "megatron"}),
        ("12*n*w**2", {"letters": {"L": "n", ps.H: "w"}}),
    ],
)
def test_names_of_a_size(claim: str, how: dict[str, Any]) -> None:
    """One formula in five spellings: 84,934,656, the matrices of GPT-2's blocks."""
    answer = ps.reconcile(GPT2, claim, **how)[0]
    assert GPT2.count + answer.difference == 84_934_656
    assert "the matrices of the blocks alone" in str(answer)


@cases(0)
def test_the_model_has_the_letter() -> None:
    """A size of the model is meant first: N labels of a classifier, D the width of a head."""
    labelled = ps.models.Bert(architecture="BertForSequenceClassification").at("bert-base-uncased").at(N=3)
    assert "N the" not in str(ps.reconcile(labelled, "N*H + N"))
    qwen = ps.load("Qwen/Qwen3-0.6B")
    assert "D the" not in str(ps.reconcile(qwen, "A*D*H"))


@pytest.mark.parametrize("claim", ["3*foo", "3*N*bar", "6*N*", "C = ", "N ="])
def test_refused(claim: str) -> None:
    """An unknown name is an error of ours, which names it or shows what can be written."""
    with pytest.raises(ParamsymError):
        ps.reconcile(GPT2, claim)
