"""The number of labels of a model with a classifier, before anyone has said how many."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from paramsym.symbols import N


def give_labels(model: Any, labelled: Container[str]) -> None:
    """Set ``num_labels`` to N where the model's architecture has labels and no number was given; for ``__post_init__``."""
    if model.num_labels is None and isinstance(model.architecture, str) and model.architecture in labelled:
        object.__setattr__(model, "num_labels", N)
