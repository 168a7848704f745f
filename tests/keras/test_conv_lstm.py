"""Convolutional LSTMs through the Keras door; their comparison with live Keras stands in ``test_recurrent``."""

from __future__ import annotations

import paramsym as ps
from paramsym import C, F, K


def test_symbols() -> None:
    """The door and the layer give equal values."""
    layer = ps.keras.ConvLSTM2D(F, K, input_shape=(None, None, 8, 8, C))
    assert layer == ps.ConvLSTM2d(C, F, K, dialect="keras")
    assert layer.params == (4 * F * K**2 * (C + F) + 4 * F).expand()
