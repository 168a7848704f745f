"""Layers whose input width is a question until something arrives: what comes out, and what cannot arrive."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import B, F, H, S
from paramsym.errors import ShapeError


def test_every_axis_but_the_last_is_kept() -> None:
    """As torch.nn.LazyLinear: (batch, positions, width) to (batch, positions, out), however many axes there are."""
    assert ps.LazyLinear(F).output_shape((B, S, H)) == (B, S, F)
    assert ps.LazyLinear(5).output_shape((2, 3, 4, 7)) == (2, 3, 4, 5)
    assert ps.LazyLinear(5).output_shape((7,)) == (5,)


@pytest.mark.parametrize("shape", [(), (3, None), (3, 0)])
def test_a_width_must_arrive(shape: tuple[int | None, ...]) -> None:
    """No axis, an unknown one and an empty one give the weights no shape."""
    with pytest.raises(ShapeError, match="the width of the weights follows from the last axis"):
        ps.infer(ps.LazyLinear(5), shape)


def test_a_bias_is_kept_or_left_out() -> None:
    """A ``LazyLinear(out_features, bias=True)`` of torch becomes ``Linear`` with the same bias."""
    for bias in (True, False):
        assert ps.LazyLinear(4, bias=bias).built(3) == ps.Linear(3, 4, bias=bias)
