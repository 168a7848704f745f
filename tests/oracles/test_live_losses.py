"""The loss of each recorded class with scores of tokens, beside the source of transformers."""

from __future__ import annotations

import inspect
import re

import pytest

from paramsym.atlas.computing import classes_that_compute, computed_types
from paramsym.atlas.losses import usual_loss

transformers = pytest.importorskip("transformers")
loss_utils = pytest.importorskip("transformers.loss.loss_utils")
CLASSES = [
    name
    for model_type in computed_types()
    for name in classes_that_compute(model_type)
    if re.search(r"(For(CausalLM|MaskedLM|ConditionalGeneration)|(?<!With)LMHeadModel)$", name)
]


def test_losses() -> None:
    """``loss_function`` casts the scores to float32 first (loss/loss_utils.py); a cross entropy of the class itself does not."""
    for loss in (loss_utils.ForCausalLMLoss, loss_utils.ForMaskedLMLoss):
        assert "logits = logits.float()" in inspect.getsource(loss)
    assert len(CLASSES) > 90
    wrong = {}
    for name in CLASSES:
        source = inspect.getsource(getattr(transformers, name).forward)
        cast = "self.loss_function(" in source
        assert cast or "CrossEntropyLoss" in source, name
        wanted = "cross-entropy-float32" if cast else "cross-entropy"
        if usual_loss(name) != wanted:
            wrong[name] = wanted
    assert not wrong
