"""Tensors of a derived layer."""

from __future__ import annotations

from paramsym.derive.levels import Held


def test_roles_follow_from_names_and_kinds() -> None:
    """A bias has the name of one; what is no parameter is a statistic; everything else is a weight."""
    held = (Held("gate", (2,)), Held("up.bias", (2,)), Held("running_mean", (2,), kind="buffer"))
    assert [entry.tensor.role for layer in held for entry in layer.entries()] == ["weight", "bias", "statistic"]
