"""Arguments that Keras refuses, too: one error of this library, which names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from paramsym import keras
from paramsym.errors import ParamsymError

SHAPE = (None, 8, 8, 3)
STEPS = (None, 6, 4)
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a kernel of three axes": (lambda: keras.Conv2D(4, (3, 3, 3), input_shape=SHAPE), "kernel_size"),
    "an axis that is a word": (lambda: keras.LayerNormalization(axis="last", input_shape=STEPS), "axis"),
    "two layers that read the same way": (
        lambda: keras.Bidirectional(keras.LSTM(3), backward_layer=keras.LSTM(3), input_shape=STEPS),
        "both directions would read in the same direction",
    ),
    "directions that return differently": (
        lambda: keras.Bidirectional(
            keras.LSTM(3, return_sequences=True), backward_layer=keras.LSTM(3, go_backwards=True), input_shape=STEPS
        ),
        "return_sequences is True forwards and False backwards",
    ),
    "a layer that is not recurrent": (lambda: keras.Bidirectional(keras.Dense(3), input_shape=STEPS), "not a recurrent layer"),
    "a number as layer": (lambda: keras.TimeDistributed(3, input_shape=STEPS), "wanted a layer"),
    "an unknown activation": (lambda: keras.LSTM(3, activation="gulu", input_shape=STEPS), "gulu"),
    "an unknown argument": (lambda: keras.Dense(3, unit=3, input_shape=STEPS), "unit"),
    "a slope below zero": (lambda: keras.LeakyReLU(negative_slope=-1, input_shape=STEPS), "negative_slope"),
    "cuDNN that is a list": (lambda: keras.LSTM(3, use_cudnn=[1], input_shape=STEPS), "use_cudnn"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    """Each is refused when the layer is made."""
    make, words = WRONG[name]
    with pytest.raises(ParamsymError, match=words):
        make()
