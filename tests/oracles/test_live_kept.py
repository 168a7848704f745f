"""The bytes that a recorded class keeps for the backward pass, beside those that autograd holds."""

from __future__ import annotations

import pytest
from amount import sample

from paramsym.atlas import computing
from paramsym.atlas.computing import computed_types

pytest.importorskip("torch")
pytest.importorskip("transformers")

from oracles.two_variants import kept_by_two

CLASSES = [
    (model_type, name)
    for model_type in computed_types()
    for name, entry in computing._classes_of(model_type).items()
    if [*entry["inputs"]] == ["input_ids"] and any(form["recording"].get("held") for form in entry["forms"])
]
_MOST = 40_000_000
_NOT_EQUAL = pytest.mark.xfail(reason="YOSO is said to keep 29,952 bytes more than autograd holds; not explained", strict=True)


@pytest.mark.parametrize(
    ("model_type", "name"), [pytest.param(*one, marks=[_NOT_EQUAL] if one[0] == "yoso" else []) for one in sample(6, CLASSES)]
)
def test_bytes(model_type: str, name: str) -> None:
    """The kept bytes of a pass in training at a drawn configuration: what the model holds as buffers is left out."""
    found, wanted, drew = kept_by_two(model_type, name, "kept", [{}], _MOST, training=True)
    assert found == wanted, drew
