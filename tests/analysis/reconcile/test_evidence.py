"""What a rounded claim tells: published numbers that many edits fit, and the rivals of a reason."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases

import paramsym as ps

LLAMA, LLAMA_3 = "meta-llama/Llama-2-7b-hf", "meta-llama/Meta-Llama-3-8B"


def test_many_edits_fit_two_digits() -> None:
    """Table 4 of Sandler et al. 2018 has 3.4M for MobileNetV2, of 3,504,872: edits of three sizes fit, and none of them is a reason."""
    found = ps.reconcile(ps.load("mobilenet_v2"), "3.4M")
    assert not found
    assert len({answer.value for answer in found.undecided}) >= 3
    assert str(found).startswith(
        "no one reason found for 3.4M against 3,504,872 of MobileNetV2: rounded so, a claim fits about 2 such edits"
    )


@cases(0)
def test_another_size_beside_a_reason() -> None:
    """12 GiB are the cache of gpt-oss-20b without windows: that 63 texts have it, too, is a coincidence. So are 28 layers for 6ND."""
    cache = ps.kv_cache(ps.load("openai/gpt-oss-20b"), (32, 8192), dtype="bfloat16")
    run = ps.training(ps.load(LLAMA), (1, 4096), tokens=2 * 10**12, devices=1024, machine="a100")
    for subject, claim, reason in ((cache, "12.00 GiB", "windows ignored"), (run, "7.32 days", "counted as 6ND")):
        answers = ps.reconcile(subject, claim)
        assert [reason in str(answer) for answer in answers] == [True]


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (lambda: ps.memory(ps.load(LLAMA_3), (1, 2048), dtype="bfloat16", use="inference"), "only the weights"),
        (lambda: ps.load(LLAMA_3), "the bytes of the numbers in bfloat16 or float16, 2 each"),
    ],
)
def test_a_reason_without_its_variants(subject: Any, reason: str) -> None:
    """16.1 GB are two bytes for each of 8,030,261,248 parameters; a token's cache, or biases that Llama has not, change no digit of it."""
    answers = ps.reconcile(subject(), "16.1 GB")
    assert [reason in str(answer) for answer in answers] == [True]


def test_near_numbers_of_two_reasons_stay() -> None:
    """85M are BERT's encoder, 85,054,464, and the matrices of its blocks, 84,934,656: both are usual."""
    answers = ps.reconcile(ps.load("bert-base-uncased"), "85M")
    assert {answer.value + 109_482_240 for answer in answers if answer.value is not None} >= {85_054_464, 84_934_656}


def test_a_product_is_no_rounded_number() -> None:
    """8x7B is eight times a number of one digit, so that chance does not fit it as it fits 56B."""
    assert "by chance" not in str(ps.reconcile(ps.load("mistralai/Mixtral-8x7B-v0.1"), "8x7B"))


@pytest.mark.parametrize(("name", "claim"), [("xlm-roberta-base", "270M"), ("meta-llama/Llama-2-7b-hf", "6.2B")])
def test_what_nearly_every_claim_has_is_no_reason(name: str, claim: str) -> None:
    """A query left out is one of a dozen edits as simple; and nobody counts 278 million parameters as 270 in units of 1024."""
    answers = ps.reconcile(ps.load(name), claim)
    assert "1024" not in str(answers)
    assert all(answer.chance < 6 for answer in answers)


@pytest.mark.parametrize(("name", "claim"), [("resnet50", "25.5M"), ("google/vit-base-patch16-224", "86M"), ("albert-base-v2", "11M")])
def test_a_number_cut_off_needs_no_other_reason(name: str, claim: str) -> None:
    """25,557,032, 86,567,656 and 11,683,584 are cut off; what one expects by chance is left out."""
    answers = ps.reconcile(ps.load(name), claim)
    assert ["cut off" in str(answer) for answer in answers] == [True]
