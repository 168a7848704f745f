"""The bytes that a recorded class keeps for the backward pass, beside those that autograd holds."""

from __future__ import annotations

import pytest
from amount import sample

pytest.importorskip("torch")
pytest.importorskip("transformers")

from oracles.variants import classes_of_texts, kept_by

import paramsym as ps
from paramsym.errors import NotYetError

_MOST = 150_000_000
_UNKNOWN = {
    "a function with a backward pass of its own keeps what it says": "PhimoeForCausalLM YosoModel YosoForMaskedLM YosoForQuestionAnswering"
    " YosoForSequenceClassification YosoForTokenClassification",
    "numbers are rounded by ranges that training measures": "IBertModel IBertForMaskedLM IBertForQuestionAnswering"
    " IBertForSequenceClassification IBertForTokenClassification",
    "training computes a mixer by other operators": "NemotronHForCausalLM",
}
"""Classes of which only evaluation was read, by the reason; what they keep in training is refused."""
_REFUSED = {name for names in _UNKNOWN.values() for name in names.split()}
CLASSES = [(model_type, name) for model_type, name, _ in classes_of_texts()]


@pytest.mark.parametrize(("model_type", "name"), [one for one in sample(6, CLASSES) if one[1] not in _REFUSED])
def test_bytes(model_type: str, name: str) -> None:
    """The kept bytes of a pass in training at a drawn configuration: what the model holds as buffers is left out."""
    found, wanted, drew = kept_by(model_type, name, "kept", [{}], most=_MOST, training=True)
    assert found == wanted, drew


@pytest.mark.parametrize(("model_type", "name"), [one for one in CLASSES if one[1] in _REFUSED])
def test_refused(model_type: str, name: str) -> None:
    """A class whose pass in training is not known has FLOPs, and no kept bytes."""
    layer = ps.from_config({"model_type": model_type}, architecture=name)
    assert ps.flops(layer, (2, 16)).total > 0
    with pytest.raises(NotYetError, match=f"what {name} keeps in training is not known"):
        ps.activations(layer, (2, 16))
