"""A line of a ledger under its parents: path and copies grow, the tensor stays what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

import paramsym as ps
from paramsym import F, H


@pytest.mark.parametrize("trainable", [False, True])
def test_a_parent_neither_freezes_nor_thaws(trainable: bool) -> None:
    """Unless it says so: a parent that is frozen freezes all lines below it."""
    for line in ps.Dense(H, F).lines:
        inner = replace(line, trainable=trainable)
        assert inner.within("part").trainable is trainable
        assert inner.within("part", 2).trainable is trainable
        assert not inner.within("part", frozen=True).trainable
        assert inner.within("part").path == ("part", *line.path)
        assert inner.within("part").polynomial() == line.polynomial()
        assert inner.within("part", 2).used == (*line.used, 2)


def test_costs_of_a_trained_layer_are_not_frozen() -> None:
    """No line of a cost is frozen if no layer is."""
    model = ps.load("gpt2")
    assert all(line.trainable for line in (*model.lines, *ps.flops(model, way="both").lines))
    assert not any(line.trainable for line in model.freeze().lines)
