"""The operators of activations by their words, beside those that the reference's modules call."""

from __future__ import annotations

import pytest

from paramsym.atlas.activations import WORDS
from paramsym.read.torch_recorder import recorded

torch = pytest.importorskip("torch")
activations = pytest.importorskip("transformers.activations")


def test_which_words() -> None:
    """Every word that the reference knows."""
    assert {*activations.ACT2CLS} == {*WORDS}


@pytest.mark.parametrize("word", sorted(WORDS))
def test_operators(word: str) -> None:
    """Names, arguments and order; a linear activation calls none, for which stands a view."""
    module = activations.ACT2FN[word]
    kind, steps = WORDS[word]
    assert kind == type(module).__name__
    found = recorded(torch.nn.Sequential(module), (torch.zeros(2, 3, device="meta"),), {})
    assert found.inputs[0].number == 0
    assert steps == tuple((one.name, one.arguments) for one in found.top.steps()) or word == "linear"
    assert found.outputs == (0 if word == "linear" else len(steps),)
