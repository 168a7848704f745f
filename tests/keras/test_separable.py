"""Depthwise and separable convolutions through the Keras door; their comparison with live Keras stands in ``test_convolution``."""

from __future__ import annotations

import paramsym as ps
from paramsym import C, F, K


def test_symbols() -> None:
    """Keras' one bias stands behind both steps."""
    layer = ps.keras.SeparableConv2D(F, K, depth_multiplier=2, input_shape=(None, None, None, C))
    assert layer.params == 2 * C * K**2 + 2 * C * F + F
    assert ps.keras.DepthwiseConv1D(K, input_shape=(None, None, C)).params == C * K + C
