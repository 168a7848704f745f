"""The conditions of models."""

from __future__ import annotations

import paramsym as ps
from paramsym.core.conditions import conditions_of
from paramsym.core.layer import Layer


def not_zero(model: Layer) -> set[str]:
    """Return the sizes that must not be zero in a formula, although the layer can be built with zero."""
    return {str(one.small) for one in conditions_of(model) if one.kind == "differ" and one.large == 0}


def test_sizes_at_which_a_model_is_another_one() -> None:
    """Qwen-MoE may have no shared expert, Llama always has its feed-forward: its width is at least 1."""
    assert not_zero(ps.models.QwenMoe()) == {"F_s"}
    assert not_zero(ps.models.Llama()) == set()
