"""The operators of activations by their words, beside those that the reference's modules call."""

from __future__ import annotations

import pytest

from paramsym.atlas.activations import WORDS, Own
from paramsym.read.recording import Ref, with_refs
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
    kind, steps, _ = WORDS[word]
    assert kind == type(module).__name__
    found = recorded(torch.nn.Sequential(module), (torch.zeros(2, 3, device="meta"),), {})
    first = found.inputs[0].number
    own = {number: Own(paths[0].removeprefix("0.")) for number, paths in found.stored.items()}
    called = [(one.name, with_refs(one.arguments, lambda each: own.get(each, Ref(each - first)))) for one in found.top.steps()]
    called = [(name, {**arguments, "size": ()} if name == "view" else arguments) for name, arguments in called]  # as many axes as the input
    assert steps == tuple(called) or word == "linear"
    assert found.outputs == (first if word == "linear" else first + len(steps),)
