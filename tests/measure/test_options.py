"""A misspelt option is said to be none, with those that there are; a device's name is read in upper and lower case."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import pytest

import paramsym as ps
from paramsym.errors import ArgumentError, UnknownInputError

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


def test_devices_are_named_in_either_case() -> None:
    """As their makers write them."""
    intensity = ps.intensity(ps.Dense(4, 4), (2, 4))
    assert intensity.on("A100") == intensity.on("a100")
    with pytest.raises(ArgumentError, match="machine is 'A10' \\(str\\); wanted one of v100, a100"):
        intensity.on("A10")
