"""Reasons: public questions, edits that look alike, and the page that tells the everyday edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym.analysis.reconcile.habits import HABITS

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "why-is-my-number-different.md"


# Public questions ---------------------------------------------------------------------------------------------------------------


def first(subject: Any, claim: int | str) -> str:
    """Return the first answer."""
    return str(ps.reconcile(subject, claim)[0])


@cases(0)
def test_windows_of_torchtitan() -> None:
    """The count of gpt-oss-20b at 4096 positions: 26,481,681,792 without windows, 24,141,260,160 with them."""
    cost = ps.flops(ps.load("openai/gpt-oss-20b"), (1, 4096), way="both", convention="torchtitan", per="token")
    assert cost.count == 26_481_681_792
    assert "window" in first(cost, 24_141_260_160)


def test_a_cache_without_windows() -> None:
    """The cache of gpt-oss-20b for 32 texts of 8192 tokens: 12 GiB without windows, 6.09 with them."""
    cost = ps.kv_cache(ps.load("openai/gpt-oss-20b"), (32, 8192), dtype="bfloat16")
    answers = ps.reconcile(cost, "12.00 GiB")
    assert "windows ignored" in str(answers[0])
    assert all(answer.known for answer in answers[:-1])
    assert cost.count + ps.reconcile(cost, 2 * 24 * 32 * 8192 * 8 * 64 * 2)[0].difference == 12 * 2**30


@pytest.mark.parametrize("texts", [2, 3])
def test_one_text_in_place_of_several(texts: int) -> None:
    """The cache of GPT-2 for one text of 128 tokens: 2 * 12 layers * 128 * 768 numbers of four bytes."""
    cost = ps.kv_cache(ps.load("gpt2"), (texts, 128), dtype="float32")
    assert f"one text in place of {texts}" in str(ps.reconcile(cost, 2 * 12 * 128 * 768 * 4))


def test_a_classifier_of_other_data() -> None:
    """ViT-B/16 for the ten classes of CIFAR: its head has 768*10 products in place of 768*1000."""
    cost = ps.flops(ps.load("google/vit-base-patch16-224"), (1, 3, 224, 224))
    assert "10 classes in place of 1,000: CIFAR-10" in first(cost, cost.count - 2 * 768 * 990)


@cases(0)
def test_where_the_logits_are() -> None:
    """Training Llama-2-7B on 256 texts of 2048 tokens: the logits in bfloat16 alone take 33.5 GB."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    cost = ps.memory(llama, (256, 2048), dtype="bfloat16", loss=False)
    logits = 256 * 2048 * 32_000 * 2
    assert round(logits / 10**9, 1) == 33.6
    assert "without logits and loss" in cost.convention
    assert "the logits counted as well" in first(cost, cost.count + logits)
    usual = ps.memory(llama, (256, 2048), dtype="bfloat16")
    assert usual.ledger.where(lambda line: line.path[0] == "logits").used == logits
    assert "without the logits and the loss" in first(usual, cost.count)
    assert "the loss cross-entropy counted" in first(usual, cost.count + 2 * logits + 2)


def test_a_packed_checkpoint() -> None:
    """A 4-bit checkpoint of Llama-2-7B has 3,500,412,928 numbers: two to a byte in the blocks, the embedding and the head as they are."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    for claim in (3_500_412_928, "3.5B"):
        assert "two numbers of 4 bits to a byte" in first(llama, claim)


def test_two_layers() -> None:
    """Two layers of GPT-2 medium have 25,192,448 parameters: alone, or left out."""
    medium = ps.load("gpt2-medium")
    for claim in (25_192_448, "25.19 million"):
        assert "only two of the 24 layers counted" in first(medium, claim)
    assert "two of the 24 layers left out" in first(medium, medium.count - 25_192_448)


def test_half_of_a_cache_in_numbers() -> None:
    """A cache in numbers has no format: half of it is the keys without the values."""
    cost = ps.kv_cache(ps.load("gpt2"), (1, 1024))
    answer = first(cost, cost.count // 2)
    assert "keys without values" in answer
    assert "int4" not in answer


def test_adapters_of_llama() -> None:
    """LoRA of rank 8 on queries and values of Llama-2-7B: peft prints 4,194,304 trainable parameters."""
    assert "only adapters of rank 8 for queries and values counted" in first(ps.load("meta-llama/Llama-2-7b-hf"), 4_194_304)


@cases(0)
def test_palm_without_biases() -> None:
    """875,062,886,400 for GPT-2 is PaLM's count of nanoGPT with bias=False: the weights of norms count as matrices, biases do not."""
    gpt2 = ps.load("gpt2", architecture="GPT2LMHeadModel")
    answer = first(ps.flops(gpt2, (1, 1024), way="both"), 875_062_886_400)
    assert "counted as nanogpt, without the biases" in answer


@cases(0)
def test_the_stride_of_a_bottleneck() -> None:
    """ResNet-50 of He et al. 2016 has strides in the first convolutions of blocks, and 3,857,973,248 MACs; torchvision's 4,089,184,256."""
    late = ps.macs(ps.load("resnet50"), (1, 3, 224, 224))
    assert late.count == 4_089_184_256
    assert "strides in the first convolution" in first(late, 3_857_973_248)
    config = {"model_type": "resnet", "downsample_in_bottleneck": True}
    early = ps.macs(ps.from_config(config, "ResNetForImageClassification"), (1, 3, 224, 224))
    assert early.count + 998 * 2048 == 3_857_973_248  # the default has two classes


@cases(0)
def test_flops_of_the_first_resnet() -> None:
    """Table 1 of He et al. 2016 has 3.8e9 FLOPs: multiply-adds, with the stride in the first convolution."""
    answer = first(ps.flops(ps.load("resnet50"), (1, 3, 224, 224)), "3.8 GFLOPs")
    assert "strides in the first convolution" in answer
    assert "multiply-adds counted once" in answer


@cases(0)
def test_a_cache_without_groups() -> None:
    """The cache of Llama-2-70B for 4096 positions is 1.25 GiB; 10 GiB would be one with a key for each head."""
    cost = ps.kv_cache(ps.load("meta-llama/Llama-2-70b-hf"), (1, 4096), dtype="float16")
    assert cost.count == 5 * 2**30 // 4
    assert "a key and a value for each of the 64 heads, without groups" in first(cost, "10 GiB")


@cases(0)
def test_sixteen_bytes_for_each_parameter() -> None:
    """Weights and gradients in 16 bits, two averages and a copy in float32: 2 + 2 + 8 + 4 bytes (Rajbhandari et al. 2020, section 3.1)."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    for claim in ("107.8 GB", "16*N"):
        assert "without activations and loss" in first(ps.memory(llama, (1, 2048), dtype="bfloat16"), claim)


def test_a_file_in_four_bits() -> None:
    """Llama-2-7B in GPTQ with groups of 128 takes 3.89 GB: 4.16 bits for the matrices of the blocks, and 16 for the rest."""
    assert "gptq-g128" in first(ps.load("meta-llama/Llama-2-7b-hf"), "3.89 GB")


def test_shares_of_a_count() -> None:
    """Percentages as papers write them: peft prints 0.0622 % for adapters of rank 8; windows save half of a cache."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    assert "only adapters of rank 8 for queries and values counted" in first(llama, "0.0622 %")
    cache = ps.kv_cache(ps.load("gpt2"), (1, 1024))
    assert "keys without values" in first(cache, "50 % fewer")
    assert "is right" in first(cache, "100 %")


def test_days_of_training() -> None:
    """6ND of Llama-2-7B on 2e12 tokens, at 40 % of the 312e12 FLOPs of 1024 A100s."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    run = ps.training(llama, (1, 4096), tokens=2 * 10**12, devices=1024, machine="a100")
    seconds = 6 * 6_738_415_616 * 2 * 10**12 / (0.4 * 312e12 * 1024)
    assert "counted as 6ND" in first(run, f"{seconds / 86_400:.2f} days")
    assert "counted as 6ND" in first(run, f"{seconds / 3600 * 1024:.0f} GPU hours")


def test_the_share_of_the_speed() -> None:
    """A percentage of a training run is the use of its devices (MFU): 9.217e22 FLOPs at 45 % of 312e12 in each of 1024 A100s."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    run = ps.training(llama, (1, 4096), tokens=2 * 10**12, devices=1024, machine="a100")
    days = 92_169_830_400 * 10**12 / (0.45 * 312e12 * 1024) / 86_400
    answer = first(run, "45 %")
    assert "of the stated speed (MFU), in place of 40 %" in answer
    assert f"{days:.4g} days" in answer
    assert "(MFU) is right" in first(run, "40 % MFU")
    assert "counted as 6ND" in first(run, "12 % fewer")
    # Table 2 of Touvron et al. 2023 (arXiv:2307.09288): 184,320 GPU hours.
    used = 92_169_830_400 * 10**12 / (184_320 * 3600 * 312e12)
    assert f"right at {100 * used:.1f} % of the stated speed (MFU)" in first(run, "184320 GPU hours")


# The page, and edits that look alike ---------------------------------------------------------------------------------------------


def test_a_norm_folds_into_the_convolution_before_it() -> None:
    """torch.nn.utils.fuse_conv_bn_eval leaves a bias for each channel: biases elsewhere, as of a detector's head, take no shift."""
    for model, norms in ((ps.load("fasterrcnn_resnet50_fpn"), 26_560), (ps.load("vgg16_bn"), 2 * 4_224)):
        assert "batch norms folded" in str(ps.reconcile(model, model.count - norms))
    assert "folded" not in str(ps.reconcile(ps.load("fasterrcnn_resnet50_fpn"), 41_755_286))


def test_the_page_has_every_habit() -> None:
    """The page "Why is my count different?" has a section for each habit, in the habit's own words, with an example."""
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    told = {title: text for title, _, text in (section.partition("\n") for section in sections)}
    for habit in HABITS:
        text = " ".join(told[habit.name.capitalize()].split())
        assert text.lower().startswith(habit.why.lower())
        assert ">>> reason(" in text
