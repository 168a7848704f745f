"""Reasons: public questions, claims made by everyday edits of random models, and claims made by nobody.

Every claim is computed here without the edits: from another configuration, from shapes, or by hand.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest
from amount import cases, tries

import paramsym as ps
from paramsym.analysis.reconcile.habits import HABITS

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "why-is-my-number-different.md"
Made = tuple[Any, int | str, str]
"""A layer or a cost, the claim, and a pattern of the words that name the edit."""


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


# Claims made by known edits of random models ------------------------------------------------------------------------------------


def decoder(chosen: random.Random, **more: Any) -> dict[str, Any]:
    """Return a random configuration of a decoder."""
    heads = chosen.choice((6, 8, 12, 16, 20, 32))
    return {
        "model_type": chosen.choice(("llama", "mistral", "qwen2")),
        "vocab_size": chosen.choice((32_000, 32_003, 50_257, 100_277, 128_256, 151_643)),
        "hidden_size": heads * chosen.choice((64, 80, 96, 128)),
        "num_hidden_layers": chosen.randint(6, 40),
        "num_attention_heads": heads,
        "num_key_value_heads": heads // 2,
        "intermediate_size": 64 * chosen.randint(20, 200),
        "tie_word_embeddings": False,
        **more,
    }


def built(config: dict[str, Any], **changed: Any) -> ps.Layer:
    """Return the language model of a configuration, with some keys changed."""
    name = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "gpt_oss": "GptOss", "gpt2": "GPT2LMHeadModel"}[config["model_type"]]
    return ps.from_config({**config, **changed}, name if name.endswith("Model") else f"{name}ForCausalLM")


def matrices(model: ps.Layer) -> int:
    """Return the numbers in the matrices of the blocks."""
    return sum(prod(shape) for name, shape in model.shapes().items() if ".layers." in name and len(shape) == 2)


def _layers_left_out(chosen: random.Random) -> Made:
    config = decoder(chosen)
    depth = config["num_hidden_layers"]
    some = chosen.randint(1, depth // 2)
    return built(config), built(config, num_hidden_layers=depth - some).count, rf"of the {depth} layers left out"


def _layers_alone(chosen: random.Random) -> Made:
    config = decoder(chosen)
    depth, model = config["num_hidden_layers"], built(config)
    some = chosen.randint(1, depth // 2)
    return model, model.count - built(config, num_hidden_layers=depth - some).count, rf"only .* of the {depth} layers counted"


def _share(chosen: random.Random) -> Made:
    model, number = built(decoder(chosen)), chosen.choice((2, 4, 8, 16))
    return model, -(-model.count // number), rf"one of {number} equal shares"


def _padded(chosen: random.Random) -> Made:
    config, multiple = decoder(chosen, vocab_size=chosen.choice((50_257, 100_277, 151_643))), chosen.choice((64, 128, 256))
    return built(config), built(config, vocab_size=-(-config["vocab_size"] // multiple) * multiple).count, "padded"


def _packed(chosen: random.Random) -> Made:
    model, each = built(decoder(chosen)), chosen.choice((2, 8))
    return model, model.count - matrices(model) + matrices(model) // each, "two numbers" if each == 2 else "eight numbers"


def _adapters(chosen: random.Random) -> Made:
    model, rank, add = built(decoder(chosen)), chosen.choice((4, 8, 16, 32, 64)), chosen.random() < 0.5
    shapes = model.shapes().items()
    more = rank * sum(sum(shape) for name, shape in shapes if name.endswith(("q_proj.weight", "v_proj.weight")))
    return model, more + add * model.count, f"adapters of rank {rank} for queries and values {'added' if add else 'counted'}"


def _bytes(chosen: random.Random) -> Made:
    model, width = built(decoder(chosen)), chosen.choice((2, 4))
    return model, width * model.count, "the bytes of the numbers"


def _heads_for_groups(chosen: random.Random) -> Made:
    config = decoder(chosen)
    return built(config), built(config, num_key_value_heads=config["num_attention_heads"]).count, "A in place of G"


def _embedding(chosen: random.Random) -> Made:
    config = decoder(chosen)
    return built(config), built(config).count - config["vocab_size"] * config["hidden_size"], "left out|tied"


def _norms(chosen: random.Random) -> Made:
    model = built(decoder(chosen))
    norms = sum(prod(shape) for name, shape in model.shapes().items() if "norm" in name)
    return model, model.count - norms, "norms left out"


def _tied_twice(chosen: random.Random) -> Made:
    config = {"model_type": "gpt2", "n_layer": chosen.randint(4, 30), "n_embd": 64 * chosen.randint(4, 20), "n_head": 4}
    model = built(config)
    return model, model.count + 50_257 * config["n_embd"], "tied|wte counted twice"


def _folded(chosen: random.Random) -> Made:
    model = ps.load(chosen.choice(("resnet18", "resnet34", "resnet50", "resnet101", "wide_resnet50_2", "resnext50_32x4d")))
    norms = sum(prod(shape) for name, shape in model.shapes().items() if re.search(r"bn\d|downsample\.1", name) and "weight" in name)
    return model, model.count - norms, "batch norms folded"


def _tokens(chosen: random.Random) -> tuple[int, int]:
    return chosen.choice((2, 3, 4, 8)), chosen.choice((256, 512, 1000, 2048))


def _multiply_adds(chosen: random.Random) -> Made:
    cost = ps.flops(built(decoder(chosen)), _tokens(chosen))
    return cost, cost.count // 2, "multiply-adds"


def _forward_and_backward(chosen: random.Random) -> Made:
    model, tokens = built(decoder(chosen)), _tokens(chosen)
    return ps.flops(model, tokens, way="both"), ps.flops(model, tokens).count, "the forward pass alone"


def _half_of_the_pairs(chosen: random.Random) -> Made:
    config, (batch, length) = decoder(chosen), _tokens(chosen)
    pairs = 4 * batch * length**2 * config["hidden_size"] * config["num_hidden_layers"]
    cost = ps.flops(built(config), (batch, length))
    return cost, cost.count - pairs // 2, "half of the pairs"


def _one_token(chosen: random.Random) -> Made:
    batch, length = _tokens(chosen)
    cost = ps.flops(built(decoder(chosen)), (batch, length))
    return cost, cost.count // (batch * length), "one token"


def _no_windows(chosen: random.Random) -> Made:
    config = {"model_type": "gpt_oss", "num_hidden_layers": chosen.randint(4, 30), "num_key_value_heads": chosen.choice((2, 4, 8))}
    batch, length = _tokens(chosen)
    kept = 2 * config["num_hidden_layers"] * batch * length * config["num_key_value_heads"] * 64
    return ps.kv_cache(built(config), (batch, length)), kept, "windows ignored"


def _keys_alone(chosen: random.Random) -> Made:
    cost = ps.kv_cache(built(decoder(chosen)), _tokens(chosen))
    return cost, cost.count // 2, "keys without values"


def _wide_cache(chosen: random.Random) -> Made:
    cost = ps.kv_cache(built(decoder(chosen)), _tokens(chosen), dtype="bfloat16")
    return cost, 2 * cost.count, "float32|A in place of G|counted for 2"


def _all_heads(chosen: random.Random) -> Made:
    config, (batch, length) = decoder(chosen, num_key_value_heads=2, num_attention_heads=16, hidden_size=1280), _tokens(chosen)
    kept = 2 * config["num_hidden_layers"] * batch * length * config["hidden_size"]
    return ps.kv_cache(built(config), (batch, length)), kept, "A in place of G"


def _latent(chosen: random.Random) -> Made:
    model = ps.load(chosen.choice(("deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V2")))
    batch, length = _tokens(chosen)
    depth = int(model.sizes[ps.L])
    return ps.kv_cache(model, (batch, length)), depth * batch * length * 128 * (128 + 64 + 128), "latent cache expanded"


def _logits(chosen: random.Random) -> Made:
    config, (batch, length) = decoder(chosen), _tokens(chosen)
    cost = ps.memory(built(config), (batch, length), dtype="bfloat16", loss=False)
    return cost, cost.count + 2 * batch * length * config["vocab_size"], "the logits counted as well"


def _without_the_optimizer(chosen: random.Random) -> Made:
    model = built(decoder(chosen))
    cost = ps.memory(model, _tokens(chosen))
    return cost, cost.count - 2 * 4 * model.count, "without the optimizer|sgd"


def _wide_gradients(chosen: random.Random) -> Made:
    model = built(decoder(chosen))
    cost = ps.memory(model, _tokens(chosen), dtype="bfloat16")
    return cost, cost.count + 2 * model.count, "gradients in float32"


MAKERS: tuple[Callable[[random.Random], Made], ...] = (
    *(_layers_left_out, _layers_alone, _share, _padded, _packed, _adapters, _bytes, _heads_for_groups, _embedding, _norms, _tied_twice),
    *(_folded, _multiply_adds, _forward_and_backward, _half_of_the_pairs, _one_token, _no_windows, _keys_alone, _wide_cache, _all_heads),
    *(_latent, _logits, _without_the_optimizer, _wide_gradients),
)


@cases(0)
def test_claims_of_known_edits() -> None:
    """Of claims made by everyday edits of random models, 95 % get the edit that made them, and 85 % get it first.

    A claim takes half a second, because each has a model of its own: each edit is made once, or 13 times with TESTS=all.
    """
    chosen = random.Random(41)
    number = tries(13) * len(MAKERS)
    missed, later = [], []
    for one in range(number):
        maker = MAKERS[one % len(MAKERS)]
        subject, claim, words = maker(chosen)
        answers = [str(answer) for answer in ps.reconcile(subject, claim)]
        if not any(re.search(words, answer) for answer in answers):
            missed.append((maker.__name__, answers))
        elif not re.search(words, answers[0]):
            later.append((maker.__name__, answers))
    assert len(missed) <= 0.05 * number, missed
    assert len(missed) + len(later) <= 0.15 * number, [*missed, *later]


# Claims that nobody made --------------------------------------------------------------------------------------------------------


def subjects() -> Iterator[Any]:
    """Yield layers and costs to make wrong claims about."""
    names = "gpt2 bert-base-uncased meta-llama/Llama-2-7b-hf resnet50 t5-small openai/gpt-oss-20b openai/whisper-tiny"
    yield from map(ps.load, names.split())
    yield ps.LSTM(ps.dims("d"), ps.dims("h")).at(d=128, h=256)
    yield ps.flops(ps.load("gpt2"), (8, 1024))
    yield ps.flops(ps.load("meta-llama/Llama-2-7b-hf"), (1, 2048), way="both")
    yield ps.kv_cache(ps.load("openai/gpt-oss-20b"), (32, 8192), dtype="bfloat16")
    yield ps.memory(ps.load("gpt2"), (8, 1024), dtype="bfloat16")


@cases(0)
def test_claims_of_nobody() -> None:
    """Of 1,000 wrong claims drawn at random, half of them multiples of a width, at most 1 % get a reason."""
    chosen, told = random.Random(7), []
    asked = list(subjects())
    number = tries(1000)
    for one in range(number):
        subject = asked[one % len(asked)]
        near = 0.05 if one // len(asked) % 2 else 0.5
        claim = chosen.randint(int(subject.count * (1 - near)), int(subject.count * (1 + near)))
        if one // len(asked) % 4 > 1:
            claim -= claim % int(subject.sizes.get(ps.H, 64))
        answers = ps.reconcile(subject, claim)
        if claim != subject.count and answers and answers[0].known:
            told.append((claim, str(answers[0])))
    assert len(told) <= number // 100, told


@pytest.mark.parametrize("claim", [124_439_809, "131.7M"])
def test_an_odd_size_is_no_reason(claim: int | str) -> None:
    """What only another size gives is said as that, or not at all."""
    answers = ps.reconcile(ps.load("gpt2"), claim)
    assert all(answer.known or "no known habit" in str(answer) for answer in answers)


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
