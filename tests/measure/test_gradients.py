"""Which values get a gradient: what leads to whole numbers alone has no backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import paramsym as ps
from paramsym import B, F, H
from paramsym.core.layer import Part
from paramsym.program.conversions import cast


@dataclass(frozen=True)
class Code(ps.Layer):
    """The row of a table for a rounded score; ``inner`` puts the score into a layer of its own."""

    inner: bool = False

    def parts(self) -> Iterator[Part]:
        """A matrix for the score, a table, and a matrix behind it."""
        score: ps.Layer = ps.Dense(H, 1, bias=False)
        yield Part("score", ps.Sequential(score) if self.inner else score)
        yield Part("table", ps.Embedding(F, H))
        yield Part("out", ps.Dense(H, H, bias=False))

    def forward(self, own: Any, x: Any) -> Any:
        """A row for every score."""
        return own.out(own.table(cast(own.score(x), "index")))


@pytest.mark.parametrize("inner", [False, True])
def test_no_gradient_through_whole_numbers(inner: bool) -> None:
    """Two products for every weight in the backward pass where a gradient arrives: the weight's, and the input's if it is a result."""
    layer = Code(inner)
    forward, both = (ps.flops(layer, (B, H), way=way).total for way in ("forward", "both"))
    assert forward == 2 * B * H + 2 * B * H * H
    assert both - forward == 2 * 2 * B * H * H  # of the output's weight, and of the table's rows
