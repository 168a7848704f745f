"""Wrappers through the Keras door against live Keras."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import pytest
from frameworks import entries, imported, keras_weights

import paramsym as ps
from paramsym.errors import ParamsymError

Weights = list[tuple[str, tuple[int, ...], bool]]


def numberless(weights: Weights) -> Weights:
    """Drop the running numbers of Keras' names."""
    return [(re.sub(r"_\d+(?=\.|$)", "", name), shape, trainable) for name, shape, trainable in weights]


BOTH: list[tuple[Any, tuple[int | None, ...]]] = [
    (lambda k: k.Bidirectional(k.LSTM(4)), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.LSTM(4, name="enc"), merge_mode=None), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.LSTM(4, name="forward_enc"), "ave"), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.GRU(4, reset_after=False), backward_layer=k.SimpleRNN(3, go_backwards=True)), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.LSTM(4, trainable=False)), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.ConvLSTM2D(4, 3, padding="same")), (None, 3, 8, 8, 2)),
    (lambda k: k.TimeDistributed(k.Dense(4)), (None, 5, 8)),
    (lambda k: k.TimeDistributed(k.LSTM(4)), (None, 5, 3, 8)),
    (lambda k: k.TimeDistributed(k.Conv2D(4, 3, name="look")), (None, 5, 8, 8, 3)),
    (lambda k: k.TimeDistributed(k.SeparableConv1D(4, 3)), (None, 5, 8, 3)),
    (lambda k: k.TimeDistributed(k.Bidirectional(k.LSTM(4))), (None, 5, 3, 8)),
    (lambda k: k.TimeDistributed(k.TimeDistributed(k.Dense(4))), (None, 5, 3, 8)),
    (lambda k: k.TimeDistributed(k.BatchNormalization()), (None, 5, 8)),
]


@pytest.mark.parametrize(("make", "shape"), BOTH, ids=count())
def test_live(make: Any, shape: tuple[int | None, ...]) -> None:
    """One expression builds Keras' wrapper and ours."""
    layers = imported("keras").layers
    assert entries(make(ps.keras).build(shape)) == numberless(keras_weights(make(layers), shape))


def test_by_name() -> None:
    """A layer may be named, with its arguments beside it, as a row of a table would."""
    shape = (None, 5, 3, 8)
    inner = {"layer": "LSTM", "layer_kwargs": {"units": 4}}
    named = ps.keras.TimeDistributed("Bidirectional", layer_kwargs=inner, input_shape=shape)
    assert named == ps.keras.TimeDistributed(ps.keras.Bidirectional(ps.keras.LSTM(4)), input_shape=shape)
    look = ps.keras.TimeDistributed("Conv1D", layer_kwargs={"filters": 4, "kernel_size": 1, "name": "look"}, input_shape=shape)
    assert list(look.shapes()) == ["look.kernel", "look.bias"]


def test_around_built_layers() -> None:
    """A layer that has its shape already needs none."""
    inner = ps.keras.LSTM(4, input_shape=(None, 3, 8))
    assert ps.keras.Bidirectional(inner).params == 2 * inner.params
    assert ps.keras.Bidirectional(inner, backward_layer=inner) == ps.keras.Bidirectional(
        ps.keras.Bidirectional(inner).layer, backward_layer=inner
    )
    assert ps.keras.TimeDistributed(inner).params == inner.params
    waiting = ps.keras.Bidirectional(ps.keras.LSTM(4))
    assert "waiting" in repr(waiting)


REFUSED: list[tuple[Any, tuple[int | None, ...]]] = [
    (lambda k: k.Bidirectional(k.LSTM(4, go_backwards=True)), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.LSTM(4), backward_layer=k.LSTM(4)), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.LSTM(4, stateful=True), backward_layer=k.LSTM(4, go_backwards=True)), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.LSTM(4), merge_mode="max"), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.LSTM(4), turns=2), (None, 3, 8)),
    (lambda k: k.Bidirectional(k.Dense(4)), (None, 3, 8)),
    (lambda k: k.Bidirectional(4), (None, 3, 8)),
    (lambda k: k.TimeDistributed(None), (None, 3, 8)),
    (lambda k: k.TimeDistributed(k.Dense(4)), (None, 8)),
]


@pytest.mark.parametrize(("make", "shape"), REFUSED, ids=count())
def test_what_keras_refuses(make: Any, shape: tuple[int | None, ...]) -> None:
    """Where Keras raises, we raise one error of our own."""
    layers = imported("keras").layers
    with pytest.raises((ValueError, TypeError)):
        make(layers).build(shape)
    with pytest.raises(ParamsymError):
        make(ps.keras).build(shape)


def test_own_errors() -> None:
    """What only this door takes can be wrong, too."""
    with pytest.raises(ParamsymError, match="there is no layer 'Lstm'"):
        ps.keras.Bidirectional("Lstm", layer_kwargs={"units": 4})
    with pytest.raises(ParamsymError, match=r"layer_kwargs for keras.LSTM: missing a required argument: 'units'"):
        ps.keras.Bidirectional("LSTM", layer_kwargs={})
    with pytest.raises(ParamsymError, match=r"layer_kwargs has the key 1 \(int\)"):
        ps.keras.Bidirectional("LSTM", layer_kwargs={1: 4})
    with pytest.raises(ParamsymError, match="shared_axes has a number of 16610 bits"):
        ps.keras.PReLU(shared_axes=10**5000, input_shape=(None, 6, 3))
    with pytest.raises(ParamsymError, match="layer_kwargs go with the name"):
        ps.keras.Bidirectional(ps.keras.LSTM(4), layer_kwargs={"units": 4})
