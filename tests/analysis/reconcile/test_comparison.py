"""Two layers, tensor by tensor: what is missing, what is new, what has another shape, and what only has another name."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import Block, Dense

BEFORE = Block(a=Dense(3, 4), b=Dense(4, 5))


@pytest.mark.parametrize(
    ("after", "words", "difference"),
    [
        (Block(a=Dense(3, 4), b=Dense(4, 5)), "the same tensors", 0),
        (Block(x=Dense(3, 4), y=Dense(4, 5)), "the same tensors", 0),
        (Block(a=Dense(3, 4), c=Dense(4, 5)), "without b.weight (5, 4) and b.bias (5); with c.weight (5, 4) and c.bias (5)", 0),
        (Block(x=Dense(3, 4), y=Dense(4, 6)), "without b.weight (5, 4) and b.bias (5); with y.weight (6, 4) and y.bias (6)", 5),
        (Block(a=Dense(3, 4), b=Dense(4, 6)), "b.weight (6, 4) in place of b.weight (5, 4); b.bias (6) in place of b.bias (5)", 5),
        (Block(a=Dense(3, 4)), "without b.weight (5, 4) and b.bias (5)", -25),
        (Block(a=Dense(3, 4), b=Dense(4, 5), c=Dense(1, 1)), "with c.weight (1, 1) and c.bias (1)", 2),
    ],
)
def test_what_is_said(after: ps.Layer, words: str, difference: int) -> None:
    """Names decide as long as one is shared; where none is, equal amounts are the same tensors."""
    (answer,) = ps.reconcile(BEFORE, after)
    assert str(answer).removeprefix(f"{difference:+d}: ") == words
    assert answer.difference == difference == after.count - BEFORE.count
