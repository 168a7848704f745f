"""Another activation of a recorded class beside the reference: the bytes that autograd then keeps more, and torch's counter."""

from __future__ import annotations

import pytest
from amount import sample

pytest.importorskip("torch")
pytest.importorskip("transformers")

from oracles.variants import classes_of_texts, kept_by

CLASSES = [
    (model_type, name, key)
    for model_type, name, entry in classes_of_texts()
    for key in entry["forms"][0].get("activations", {})
    if "." not in key
]
_MOST = 200_000_000
_WORDS = ("gelu_new", "relu2")
"""The first one keeps x/2, the tangent, and 1 more than it; the second one the root of its result."""


@pytest.mark.parametrize(("model_type", "name", "key"), sample(6, CLASSES))
def test_words(model_type: str, name: str, key: str) -> None:
    """The difference of two activations, at a drawn configuration with small tables."""
    found, wanted, drew = kept_by(model_type, name, "word", [{key: word} for word in _WORDS], most=_MOST)
    assert found[0] - found[1] == wanted[0] - wanted[1] != 0, drew
