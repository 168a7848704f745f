"""Dropout of a recorded class in training beside the reference: the bytes that autograd then keeps more."""

from __future__ import annotations

import pytest
from amount import sample

pytest.importorskip("torch")
pytest.importorskip("transformers")

from oracles.variants import classes_of_texts, kept_by

CLASSES = [
    (model_type, name, tuple(sorted(keys)))
    for model_type, name, entry in classes_of_texts()
    if (keys := {key for place in entry["forms"][0].get("dropout", ()) for key in place[3] if "." not in key})
]
_RATES = (0.0, 0.25)


@pytest.mark.parametrize(("model_type", "name", "keys"), sample(6, CLASSES))
def test_masks(model_type: str, name: str, keys: tuple[str, ...]) -> None:
    """The difference between no dropout and dropout everywhere, at a drawn configuration with small tables."""
    found, wanted, drew = kept_by(model_type, name, "dropout", [dict.fromkeys(keys, rate) for rate in _RATES], training=True)
    assert found[1] - found[0] == wanted[1] - wanted[0], drew
