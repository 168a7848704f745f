"""Wrappers against live Keras and Flax."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import entries, flax_parameters, imported, keras_weights
from strategies import assert_value

import paramsym as ps
from paramsym import H
from paramsym.errors import ArgumentError, StructureError
from paramsym.layers.wrappers import keras_name

i = ps.dims("i")


@pytest.mark.parametrize(("ours", "theirs"), [("RNN", "SimpleRNN"), ("LSTM", "LSTM"), ("GRU", "GRU")])
def test_keras_both_directions(ours: str, theirs: str) -> None:
    """Two copies under two names, each with weights of its own."""
    layers = imported("keras").layers
    imported("keras").backend.clear_session()
    wrapped = layers.Bidirectional(getattr(layers, theirs)(4))
    assert entries(ps.Bidirectional(getattr(ps, ours)(7, 4, dialect="keras"))) == keras_weights(wrapped, (None, 5, 7))


def test_keras_another_backward_direction() -> None:
    """The backward direction keeps its own name."""
    layers = imported("keras").layers
    imported("keras").backend.clear_session()
    wrapped = layers.Bidirectional(layers.LSTM(4), backward_layer=layers.GRU(3, go_backwards=True))
    ours = ps.Bidirectional(ps.LSTM(7, 4, dialect="keras"), backward_layer=ps.GRU(7, 3, dialect="keras"))
    assert entries(ours) == keras_weights(wrapped, (None, 5, 7))


def test_flax_both_directions() -> None:
    """``forward_rnn`` and ``backward_rnn``; ``linen.RNN`` sorts the names."""
    linen = imported("flax.linen")
    theirs = linen.Bidirectional(linen.RNN(linen.GRUCell(4)), linen.RNN(linen.GRUCell(4)))
    ours = ps.Bidirectional(ps.GRU(7, 4, dialect="flax"))
    assert sorted(ours.shapes().items()) == sorted(flax_parameters(theirs, (1, 5, 7)))


def test_keras_time_distributed() -> None:
    """Stored once, however many steps there are."""
    layers = imported("keras").layers
    imported("keras").backend.clear_session()
    ours = ps.TimeDistributed(ps.Dense(7, 4, dialect="keras"))
    assert entries(ours) == keras_weights(layers.TimeDistributed(layers.Dense(4)), (None, 5, 7))


@pytest.mark.parametrize(
    "name", ["LSTM", "GRU", "SimpleRNN", "Conv2D", "Conv1DTranspose", "ConvLSTM2D", "DepthwiseConv1D", "EinsumDense", "PReLU", "ReLU"]
)
def test_keras_names(name: str) -> None:
    """The name is the one Keras makes from its class."""
    imported("keras")
    from keras.src.utils.naming import to_snake_case  # Keras' own rule, which has no public door

    assert keras_name(name) == to_snake_case(name)


def test_names_of_frozen_layers() -> None:
    """Freezing a layer does not rename it."""
    frozen = ps.LSTM(7, 4, dialect="keras").freeze()
    assert list(ps.Bidirectional(frozen).shapes()) == list(ps.Bidirectional(ps.LSTM(7, 4, dialect="keras")).shapes())


def test_both_directions_of_what_has_one() -> None:
    """Keras also takes convolutional cells, which know nothing of directions."""
    one = ps.ConvLSTM2d(3, 4, 3)
    assert ps.Bidirectional(one).count == 2 * one.count


def test_both_directions_are_twice_one() -> None:
    """Whatever the layer is, and as torch counts a bidirectional layer."""
    one = ps.LSTM(i, H)
    assert ps.Bidirectional(one).params == 2 * one.params.expand() == ps.LSTM(i, H, bidirectional=True).params
    assert ps.TimeDistributed(one).params == one.params


def test_values() -> None:
    """``at``, repr and pickle give equal layers."""
    for layer in (ps.Bidirectional(ps.GRU(i, H), "sum", name="enc"), ps.TimeDistributed(ps.GRU(i, H), "enc")):
        assert_value(layer)
        assert layer.at(i=3, H=4).count == (2 if isinstance(layer, ps.Bidirectional) else 1) * ps.GRU(3, 4).count


def test_errors() -> None:
    """Three directions, an unknown way to merge, no layer."""
    with pytest.raises(StructureError, match="already has both directions"):
        ps.Bidirectional(ps.LSTM(3, 4, bidirectional=True))
    with pytest.raises(ArgumentError, match="merge_mode"):
        ps.Bidirectional(ps.LSTM(3, 4), "max")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="layer"):
        ps.TimeDistributed(4)  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", ["flax", "nnx"])
def test_the_directions_of_flax(dialect: Any) -> None:
    """Both of Flax' classes call them ``forward_rnn`` and ``backward_rnn``; Keras puts the layer's name in."""
    assert [part.name for part in ps.Bidirectional(ps.LSTM(3, 4, dialect=dialect)).parts()] == ["forward_rnn", "backward_rnn"]
    assert [part.name for part in ps.Bidirectional(ps.LSTM(3, 4, dialect="keras")).parts()] == ["forward_lstm", "backward_lstm"]
