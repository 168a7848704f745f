"""Convolutional LSTMs against live Keras and Flax."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from frameworks import entries, flax_parameters, imported, keras_weights

import paramsym as ps
from paramsym import C, F, K
from paramsym.errors import ArgumentError

RANKS = [1, 2, 3]


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("bias", [True, False])
def test_keras(rank: int, *, bias: bool) -> None:
    """The cell's tensors under the cell's name."""
    layers = imported("keras").layers
    theirs = getattr(layers, f"ConvLSTM{rank}D")(4, (2, 3, 1)[:rank], padding="same", use_bias=bias)
    ours = getattr(ps, f"ConvLSTM{rank}d")(5, 4, (2, 3, 1)[:rank], padding="same", bias=bias)
    assert entries(ours) == keras_weights(theirs, (None, 3, *(6, 7, 8)[:rank], 5))


@pytest.mark.parametrize("rank", RANKS)
def test_flax(rank: int) -> None:
    """Two convolutions with a bias each; ``linen.RNN`` sorts the names."""
    linen = imported("flax.linen")
    kernel = (2, 3, 1)[:rank]
    theirs = flax_parameters(linen.RNN(linen.ConvLSTMCell(4, kernel)), (1, 3, *(6, 7, 8)[:rank], 5))
    assert sorted(getattr(ps, f"ConvLSTM{rank}d")(5, 4, kernel, padding="same", dialect="flax").shapes().items()) == sorted(theirs)


@pytest.mark.parametrize("rank", RANKS)
def test_symbols(rank: int) -> None:
    """An LSTM whose products are convolutions: with kernel size 1 it is an LSTM."""
    layer = getattr(ps, f"ConvLSTM{rank}d")(C, F, K)
    assert layer.at(K=1).params == ps.LSTM(C, F, dialect="keras").params
    assert layer.params.diff(C) == 4 * F * K**rank
    assert eval(repr(layer), {type(layer).__name__: type(layer), "C": C, "F": F, "K": K}) == layer
    assert [line.label for line in layer.ledger()][:4] == ["input", "forget", "cell", "output"]


@pytest.mark.parametrize(
    "build",
    [
        lambda: ps.ConvLSTM2d(3, 4, 3, stride=2, dilation=2),
        lambda: ps.ConvLSTM2d(3, 4, (3, 3, 3)),
        lambda: ps.ConvLSTM2d(3, 4, 3, padding="causal"),
        lambda: ps.ConvLSTM2d(3, 4, 3, padding="same", dilation=2, dialect="flax"),
        lambda: ps.ConvLSTM2d(3, 4, 1, stride=2, dialect="flax"),
        lambda: ps.ConvLSTM2d(3, 4, 3, dialect="torch"),
    ],
    ids=count(),
)
def test_errors(build: Any) -> None:
    """What the frameworks do not have is refused."""
    with pytest.raises(ArgumentError):
        build()


def test_every_weight_is_used_at_every_place() -> None:
    """Connections: with a kernel of one, an LSTM's at each of 6*7 places and 3 steps."""
    layer = ps.ConvLSTM2d(5, 4, 1)
    assert ps.connections(layer, (1, 3, 6, 7, 5)) == 3 * 6 * 7 * ps.LSTM(5, 4, dialect="keras").params


def test_names_of_flax() -> None:
    """``linen.RNN(linen.ConvLSTMCell)`` stores the convolution of the input as ``ih``, and that of the state as ``hh``."""
    layer = ps.ConvLSTM1d(2, 3, 3, padding="same", dialect="flax")
    assert list(layer.shapes()) == ["cell.ih.kernel", "cell.ih.bias", "cell.hh.kernel", "cell.hh.bias"]


@pytest.mark.parametrize("kernel", [3, (1, 2), C])
def test_the_state_of_flax_keeps_its_size(kernel: Any) -> None:
    """The cell convolves its state with the padding of the input: Flax itself fails to add maps of two sizes."""
    with pytest.raises(ArgumentError, match=r"Write padding='same'"):
        ps.ConvLSTM2d(5, 4, kernel, dialect="flax")


def test_both_convolutions_of_flax_are_computed() -> None:
    """With a kernel of one, at each of 6*7 places and 3 steps: the gates of the input and of the state, each with a bias."""
    layer = ps.ConvLSTM2d(5, 4, 1, dialect="flax")
    assert ps.output_shape(layer, (1, 3, 6, 7, 5)) == (1, 3, 6, 7, 4)
    assert ps.macs(layer, (1, 3, 6, 7, 5)).count == 3 * 6 * 7 * 4 * 4 * (5 + 4)
