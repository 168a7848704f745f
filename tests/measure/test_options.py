"""A misspelt option is said to be none, with those that there are; words are read as people write them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import pytest

import paramsym as ps
from paramsym.errors import ArgumentError, SizeError, UnknownInputError

QUESTIONS = (ps.flops, ps.macs, ps.activations, ps.kv_cache, ps.memory, ps.traffic, ps.intensity, ps.training, ps.communication)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.__name__)
def test_an_unknown_option_is_answered_with_the_known_ones(question: Callable[..., Any]) -> None:
    """Of the question that was asked, though it asks others."""
    options = [name for name, one in signature(question).parameters.items() if one.kind is Parameter.KEYWORD_ONLY]
    needed = {name: 8 for name in ("tokens", "devices") if name in options}
    with pytest.raises(UnknownInputError) as said:
        question(ps.Dense(4, 4), (2, 4), **{options[0][::-1]: 1}, **needed)
    assert f"The options of {question.__name__} are {', '.join(options)}" in str(said.value)
    assert str(pickle.loads(pickle.dumps(said.value))) == str(said.value)


def test_a_near_option_is_offered() -> None:
    """One letter apart."""
    with pytest.raises(ArgumentError, match="did you mean optimizer"):
        ps.memory(ps.Dense(4, 4), (2, 4), optimiser="adam")


def test_a_letter_of_a_shape_is_no_input() -> None:
    """The shape is shown, in which its number is written."""
    with pytest.raises(UnknownInputError, match=r"no input 'S'; it takes input_ids of shape \(B, S\)\."):
        ps.kv_cache(ps.load("gpt2"), S=8192)
    with pytest.raises(SizeError, match=r"input_shape\[0\] is 'B' \(str\); .* A letter is a symbol, dims\('B'\)\."):
        ps.flops(ps.load("gpt2"), ("B", 8))


def test_words_are_read_as_people_write_them() -> None:
    """Names of optimizers and conventions in any case, and the short names of formats."""
    layer, shape = ps.Dense(4, 4), (2, 4)
    assert ps.memory(layer, shape, optimizer="AdamW", dtype="BF16") == ps.memory(layer, shape, optimizer="adamw", dtype="bfloat16")
    assert ps.kv_cache(ps.load("gpt2"), (1, 8), dtype="fp16") == ps.kv_cache(ps.load("gpt2"), (1, 8), dtype="float16")
    assert ps.flops(layer, shape, convention="6nd") == ps.flops(layer, shape, convention="6ND")
    assert ps.traffic(layer, shape, dtype="half") == ps.traffic(layer, shape)


def test_the_nearest_word_is_offered() -> None:
    """The list of formats is long."""
    with pytest.raises(ArgumentError, match=r"wanted one of float64, .*\. Did you mean gguf-q4_0"):
        ps.memory(ps.Dense(4, 4), (2, 4), use="inference", weights="Q4_0")
    with pytest.raises(ps.ParamsymError, match=r"Its hidden_size is 4096: write at\(H=\.\.\.\)\."):
        ps.load("meta-llama/Meta-Llama-3-8B").at(hidden_size=512)


def test_a_run_says_its_devices() -> None:
    """Tokens may have a unit, as in the shell."""
    run = ps.training(ps.load("gpt2"), (1, 8), tokens="300B")
    assert run == ps.training(ps.load("gpt2"), (1, 8), tokens=300 * 10**9)
    assert "1 h100 at 40 % of their speed" in str(run.table())
    with pytest.raises(SizeError, match="tokens is 'many'"):
        ps.training(ps.load("gpt2"), (1, 8), tokens="many")


def test_devices_are_named_in_either_case() -> None:
    """As their makers write them."""
    intensity = ps.intensity(ps.Dense(4, 4), (2, 4))
    assert intensity.on("A100") == intensity.on("a100")
    with pytest.raises(ArgumentError, match="machine is 'A10' \\(str\\); wanted one of v100, a100"):
        intensity.on("A10")
