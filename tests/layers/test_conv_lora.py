"""A low-rank update around a convolution against live Keras."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from frameworks import entries, imported, keras_weights

import paramsym as ps
from paramsym import C, F, K, R
from paramsym.errors import ArgumentError, StructureError


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("bias", [True, False])
def test_keras(*, bias: bool, groups: int) -> None:
    """The kernel is frozen, the bias is not, the two factors come last."""
    keras = imported("keras")
    theirs = keras.layers.Conv2D(6, (3, 2), groups=groups, use_bias=bias, lora_rank=3)
    ours = ps.ConvLoRA(ps.Conv2d(4, 6, (3, 2), groups=groups, bias=bias, dialect="keras"), 3)
    assert entries(ours) == keras_weights(theirs, (None, 8, 8, 4))


def test_counts() -> None:
    """The update costs r*(k*k*c + f), and nothing else is trained but the bias."""
    conv = ps.Conv2d(C, F, K, dialect="keras")
    assert ps.ConvLoRA(conv, R).params - conv.params == R * C * K**2 + F * R
    assert ps.ConvLoRA(conv, R).trainable == R * C * K**2 + F * R + F


@pytest.mark.parametrize(
    ("inner", "error"),
    [(ps.Conv2d(3, 4, 3), StructureError), (ps.Dense(3, 4), ArgumentError), ("conv", ArgumentError)],
    ids=count(),
)
def test_errors(inner: Any, error: type[Exception]) -> None:
    """Only Keras' convolutions have one."""
    with pytest.raises(error):
        ps.ConvLoRA(inner, 2)
