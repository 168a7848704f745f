"""What goes in and what comes out on the last axes, against torch where it runs the layer."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import A, B, D, E, F, H, K, S, T
from paramsym.errors import ShapeError

U = ps.dims("U")


@pytest.mark.parametrize(
    ("layer", "given", "expected"),
    [
        (ps.MultiHeadAttention(H, A), (B, S, H), (B, S, H)),
        (ps.MultiHeadAttention(H, A, output_dim=F), (B, S, H), (B, S, F)),
        (ps.MultiHeadAttention(H, A, output_dim=(E, F), dialect="keras"), (B, S, H), (B, S, E, F)),
        (ps.DotProductAttention(), (B, S, H), (B, S, H)),
        (ps.HeadProjection((H,), (A, D)), (B, S, H), (B, S, A, D)),
        (ps.HeadNorm((D,)), (B, S, A, D), (B, S, A, D)),
        (ps.AdditiveAttention(H, K, U), ((B, S, H), (B, T, K)), (B, S, K)),
        (ps.LatentAttention(H, A, 3, 4, 2, 5), (B, S, H), (B, S, H)),
        (ps.FeedForward(H, F), (B, S, H), (B, S, H)),
        (ps.GatedFeedForward(H, F), (B, S, H), (B, S, H)),
        (ps.MixtureOfExperts(H, F, E, K), (B, S, H), (B, S, H)),
        (ps.StackedExperts(H, F, E, K), (B, S, H), (B, S, H)),
        (ps.PlainExpert(H, F), (B, S, H), (B, S, H)),
        (ps.Router(H, E), (B, S, H), (B, S, E)),
        (ps.FastFeedForward(H, F, D), (B, S, H), (B, S, F)),
        (ps.Mamba(H), (B, S, H), (B, S, H)),
        (ps.Mamba2(H, A), (B, S, H), (B, S, H)),
        (ps.CausalConv1d(H, K), (B, H, S), (B, H, S)),
    ],
    ids=str,
)
def test_symbols_in_symbols_out(layer: ps.Layer, given: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """Each layer says what comes out for a batch of sequences of vectors."""
    assert layer.output_shape(given) == expected


def test_torch_agrees() -> None:
    """What torch's modules return for real tensors has the shape stated here."""
    torch = imported("torch")
    taken = torch.zeros(2, 5, 8)
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    assert ps.MultiHeadAttention(8, 2).output_shape((2, 5, 8)) == tuple(attention(taken, taken, taken)[0].shape)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 3, batch_first=True)
    assert ps.TransformerEncoderLayer(8, 2, 3).output_shape((2, 5, 8)) == tuple(layer(taken).shape)


def test_too_few_axes_are_counted() -> None:
    """How many axes are wanted, which extents stand last, and how many there are."""
    with pytest.raises(ShapeError, match="wanted at least 2 axes, the last of 4; found 1"):
        ps.LayerNorm((3, 4)).output_shape((4,))
