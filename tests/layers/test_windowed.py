"""Kernels over axes: what the random calls of the frameworks do not reach, in symbols above all."""

from __future__ import annotations

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import B, C, F, K, W
from paramsym.errors import ShapeError


def test_words_and_symbols() -> None:
    """Padding by a word needs no numbers; mirroring is checked once they are there."""
    assert ps.output_shape(ps.Conv1d(C, F, K, padding="same", padding_mode="reflect"), (B, C, W)) == (B, F, W)
    spread = ps.ConvTranspose1d(C, F, K, stride=2, padding="same", output_padding=None, dialect="keras")
    assert ps.output_shape(spread, (B, W, C)) == (B, 2 * W, F)
    assert ps.output_shape(ps.Conv1d(C, F, K, stride=2, padding="causal", dialect="keras"), (B, 2 * W, C)) == (B, W, F)
    with pytest.raises(ShapeError, match="reflect padding must be smaller than the input, which has 2"):
        ps.output_shape(ps.Conv1d(1, 1, 5, padding="same", padding_mode="reflect"), (1, 1, 2))


def test_an_empty_output() -> None:
    """The oneDNN kernels of torch return one, its native kernels refuse it; both refuse a length below zero, and so do we."""
    assert ps.output_shape(ps.ConvTranspose1d(1, 1, 3, padding=2), (2, 1, 2)) == (2, 1, 0)
    assert ps.output_shape(ps.ConvTranspose2d(1, 1, 5, padding=3), (1, 1, 2, 12)) == (1, 1, 0, 10)
    assert ps.output_shape(ps.ConvTranspose1d(1, 1, 3, padding=2), (B, 1, 2)) == (B, 1, 0)
    with pytest.raises(ShapeError, match="cuts away more"):
        ps.output_shape(ps.ConvTranspose1d(1, 1, 3, padding=3), (2, 1, 2))


def test_flax_pads_before_it_convolves() -> None:
    """``linen.ConvTranspose`` with numbers for padding: an input spread by the stride, padded, under a dilated kernel."""
    for length, stride, kernel, dilation, padding, left in ((5, 2, 3, 2, 1, 7), (4, 1, 3, 3, 2, 2), (5, 3, 2, 2, 0, 11)):
        layer = ps.ConvTranspose1d(3, 7, kernel, stride, padding, dilation=dilation, dialect="flax")
        assert ps.output_shape(layer, (2, length, 3)) == (2, left, 7)


def test_output_padding() -> None:
    """It is smaller than the stride or the dilation, or it is refused."""
    assert ps.output_shape(ps.ConvTranspose1d(C, F, 3, stride=2, output_padding=1, padding=1), (B, C, W)) == (B, F, 2 * W)
    with pytest.raises(ShapeError, match="output_padding 2 must be smaller than the stride 2 or the dilation 1"):
        ps.output_shape(ps.ConvTranspose1d(1, 1, 3, stride=2, output_padding=2), (1, 1, 4))


def test_a_causal_convolution_sees_no_later_entry() -> None:
    """10 times the entry before and the entry itself, of 1, 2, 3: 1, 12, 23."""
    xp = imported("numpy")
    tensors = {"kernel": xp.array([[[10.0]], [[1.0]]]), "bias": xp.zeros(1)}
    layer = ps.Conv1d(1, 1, 2, padding="causal", dialect="keras")
    assert ps.run(layer, tensors, xp.array([[[1.0], [2.0], [3.0]]])).tolist() == [[[1], [12], [23]]]
