"""Claims as people make them, for measures of their reasons: by known edits of random models, and by nobody, exact and rounded.

Every claim is computed without the edits: from another configuration, from shapes, or by hand.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import paramsym as ps
from paramsym.measure.cost import Cost

Made = tuple[Any, int | str, str]
"""A layer or a cost, the claim, and a pattern of the words that name the edit."""


# Claims of known edits ----------------------------------------------------------------------------------------------------------


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


def wrong(chosen: random.Random, subject: Any, near: float, *, width: int = 1) -> int:
    """Return a number near the count of a subject, as far as a share of it; a multiple of a width."""
    claim = chosen.randint(int(subject.count * (1 - near)), int(subject.count * (1 + near)))
    return claim - claim % width


# Rounding -----------------------------------------------------------------------------------------------------------------------

_SCALES = ("", "K", "M", "G", "T", "P")


def unit_of(subject: Any) -> str:
    """Return the unit of a claim about a cost; nothing for a number of parameters."""
    return subject.unit if isinstance(subject, Cost) and subject.unit != "elements" else ""


def rounded(number: int, digits: int, unit: str = "", *, binary: bool = False) -> str:
    """Return a number as people write it, with so many digits: 110M, 15.5 GFLOPs, 4.93 GB, 12.55 GiB."""
    base, power = 1024 if binary else 1000, 0
    while number >= base ** (power + 1) and power < len(_SCALES) - 1:
        power += 1
    scaled = number / base**power
    written, scale = f"{scaled:.{max(digits - len(str(int(scaled))), 0)}f}", _SCALES[power]
    if unit == "bytes":
        return f"{written} {scale}{'i' * (binary and power > 0)}B"
    if unit:
        return f"{written} {scale}{unit}"
    return f"{written}e15" if scale == "P" else f"{written}{scale.replace('G', 'B')}"
