"""Recurrent layers, convolutional LSTMs and wrappers through the Keras door against live Keras."""

from __future__ import annotations

from inspect import signature
from itertools import count
from typing import Any

import pytest
from frameworks import entries, imported, keras_weights
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym.errors import ParamsymError

LAYERS = ["SimpleRNN", "LSTM", "GRU"]
CELLS = ["SimpleRNNCell", "LSTMCell", "GRUCell"]
CONV = ["ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"]


@st.composite
def keras_arguments(draw: st.DrawFn, name: str) -> tuple[dict[str, Any], tuple[int | None, ...]]:
    """Draw arguments and an input shape that Keras takes."""
    named: dict[str, Any] = {"use_bias": draw(st.booleans()), "dropout": draw(st.sampled_from([0.0, 0.2, 3.0]))}
    flags = ["return_sequences", "return_state", "stateful"] if name not in CELLS else []
    named |= {flag: draw(st.booleans()) for flag in flags if draw(st.booleans())}
    if name.startswith("GRU"):
        named["reset_after"] = draw(st.booleans())
    if "LSTM" in name:
        named["unit_forget_bias"] = draw(st.booleans())
    if name in CONV:
        rank = int(name[-2])
        first = draw(st.booleans())
        named |= {
            "filters": draw(st.integers(1, 4)),
            "kernel_size": draw(st.integers(1, 3)),
            "padding": draw(st.sampled_from(["same", "valid"])),
        }
        named |= {"data_format": "channels_first"} if first else {}
        spatial = [draw(st.integers(3, 6)) for _ in range(rank)]
        channels = draw(st.integers(1, 4))
        return named, (2, 3, channels, *spatial) if first else (2, 3, *spatial, channels)
    named["units"] = draw(st.integers(1, 6))
    width = draw(st.integers(1, 6))
    return named, (2, width) if name in CELLS else (2, draw(st.sampled_from([None, 5])), width)


@pytest.mark.parametrize("name", LAYERS + CELLS + CONV)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_live(name: str, data: st.DataObject) -> None:
    """Names, shapes, order, trainable or not, for the same arguments and the same input shape."""
    layers = imported("keras").layers
    named, shape = data.draw(keras_arguments(name))
    if named.get("stateful") and None in shape:
        named.pop("stateful")
    theirs = keras_weights(getattr(layers, name)(**named), shape)
    assert entries(getattr(ps.keras, name)(**named, input_shape=shape)) == theirs
    assert entries(getattr(ps.keras, name)(**named).build(list(shape))) == theirs


@pytest.mark.parametrize("name", LAYERS + CELLS + CONV)
def test_kerass_signature(name: str) -> None:
    """Same arguments in the same order with the same defaults."""
    layers = imported("keras").layers
    theirs = [(p.name, p.default) for p in signature(getattr(layers, name).__init__).parameters.values()][1:-1]
    ours = [(p.name, p.default) for p in signature(getattr(ps.keras, name)).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert ours == theirs


@pytest.mark.parametrize(
    ("name", "named", "shape"),
    [
        ("LSTM", {"units": 0}, (None, 5, 8)),
        ("LSTM", {"units": -1}, (None, 5, 8)),
        ("LSTM", {"units": 4.0}, (None, 5, 8)),
        ("LSTM", {"units": 4}, (None, 5, None)),
        ("LSTM", {"units": 4, "use_cudnn": "never"}, (None, 5, 8)),
        ("LSTM", {"units": 4, "recurrent_activation": "bent"}, (None, 5, 8)),
        ("LSTM", {"units": 4, "layers": 2}, (None, 5, 8)),
        ("SimpleRNN", {"units": 4, "implementation": 2}, (None, 5, 8)),
        ("SimpleRNNCell", {"units": 4, "implementation": 2}, (None, 8)),
        ("GRUCell", {"units": 4, "stateful": True}, (None, 8)),
        ("ConvLSTM2D", {"filters": 4, "kernel_size": (3, 3, 3)}, (None, 5, 8, 8, 3)),
        ("ConvLSTM2D", {"filters": 4, "kernel_size": 3, "strides": 2, "dilation_rate": 2}, (None, 5, 8, 8, 3)),
        ("ConvLSTM2D", {"filters": 4, "kernel_size": 3, "padding": "causal"}, (None, 5, 8, 8, 3)),
        ("ConvLSTM2D", {"filters": 4, "kernel_size": 3}, (None, 5, None, 8, 3)),
        ("ConvLSTM2D", {"filters": 4, "kernel_size": 3}, (None, 5, 8, 8, None)),
    ],
    ids=count(),
)
def test_what_keras_refuses(name: str, named: dict[str, Any], shape: tuple[int | None, ...]) -> None:
    """Where Keras raises, we raise one error of our own."""
    layers = imported("keras").layers
    with pytest.raises((ValueError, TypeError)):
        getattr(layers, name)(**named).build(shape)
    with pytest.raises(ParamsymError):
        getattr(ps.keras, name)(**named, input_shape=shape)


def test_frozen() -> None:
    """``trainable=False`` reaches the cell."""
    layers = imported("keras").layers
    theirs = keras_weights(layers.GRU(4, trainable=False), (None, 5, 8))
    assert entries(ps.keras.GRU(4, trainable=False, input_shape=(None, 5, 8))) == theirs


def test_same_value_as_the_layer() -> None:
    """The door and the layer give equal values; sizes may be symbols."""
    i, H = ps.dims("i"), ps.H
    assert ps.keras.LSTM(32, input_shape=(None, 10, 16)) == ps.LSTM(16, 32, dialect="keras")
    assert ps.keras.GRU(H, reset_after=False, input_shape=(None, None, i)).params == 3 * H**2 + 3 * H * i + 3 * H
