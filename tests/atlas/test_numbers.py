"""Numbers of keys in the arguments of a recording written out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym.atlas.numbers import arguments_of, other_numbers, with_numbers
from paramsym.errors import NotYetError
from paramsym.read.recording import Array, Called, Done, Recording, Ref

STATED = [["scale", 4.0, "inverse root", [[1, "other"]]], ["eps", 0.5, "", [[2, "other"]]]]


def recording() -> Recording:
    """Return a pass that multiplies an input by 0.5, inside of a module, and adds 0.5."""
    one, two, three = (Array(number, (3,), "float") for number in range(3))
    inner = Called("inner", "Inner", [Done("mul", {"self": Ref(0), "other": 0.5}, (two,))])
    top = Called("", "Model", [inner, Done("add", {"self": Ref(1), "other": 0.5, "alpha": 1}, (three,))])
    return Recording((one,), {}, {}, top, (2,), False)


@pytest.mark.parametrize(
    ("values", "found"), [({}, [0.5, 0.5]), ({"scale": 16}, [0.25, 0.5]), ({"eps": 2.0, "scale": 4.0, "other": 7}, [0.5, 2.0])]
)
def test_arguments(values: dict[str, Any], found: list[float]) -> None:
    """The scale is one over the root of its key, the epsilon is its key."""
    assert [step.arguments["other"] for step in with_numbers(recording(), arguments_of(STATED), values).top.steps()] == found


def test_what_is_not_known() -> None:
    """Words, numbers without a root, and other values of keys that change more than arguments."""
    arguments = arguments_of(STATED)
    assert other_numbers(arguments, {"flag": False}, {"scale": 2.0, "eps": 0, "flag": False}) == ""
    assert "scale is -1.0" in other_numbers(arguments, {}, {"scale": -1.0})
    assert "eps is null" in other_numbers(arguments, {}, {"eps": None})
    assert "flag is true" in other_numbers(arguments, {"flag": False}, {"flag": True})
    with pytest.raises(ValueError, match="another function"):
        arguments_of([["scale", 4.0, "sine", [[1, "other"]]]])


def test_a_run_that_is_not_known() -> None:
    """A key that changes an array was compared at one value: at others the tensors and costs answer, and a run refuses."""
    numpy = imported("numpy")
    name = "BlenderbotForConditionalGeneration"
    keys = {"vocab_size": 384, "encoder_layers": 1, "decoder_layers": 1, "d_model": 64, "encoder_attention_heads": 2}
    keys |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
    model = ps.from_config({"model_type": "blenderbot", **keys, "scale_embedding": True}, name)
    plain = ps.from_config({"model_type": "blenderbot", **keys}, name)
    assert ps.flops(model, (1, 3), (1, 3)).total == ps.flops(plain, (1, 3), (1, 3)).total
    tensors = {entry.name: numpy.zeros(tuple(map(int, entry.tensor.sizes))) for entry in plain.entries() if not entry.alias_of}
    text = numpy.zeros((1, 3), dtype=int)
    assert not ps.run(plain, tensors, text, text)[0].any()
    with pytest.raises(NotYetError, match="scale_embedding is true"):
        ps.run(model, tensors, text, text)
