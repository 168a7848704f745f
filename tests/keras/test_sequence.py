"""Keras' Sequential and Input, against Keras itself."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import H, V
from paramsym.errors import ArgumentError, ParamsymError, StructureError

MODELS: dict[str, Any] = {
    "digits": lambda k, Input: [
        *(Input((28, 28, 1)), k.Conv2D(32, (3, 3), activation="relu"), k.MaxPooling2D((2, 2)), k.Conv2D(64, (3, 3), activation="relu")),
        *(k.MaxPooling2D((2, 2)), k.Flatten(), k.Dropout(0.5), k.Dense(10, activation="softmax")),
    ],
    "words": lambda k, Input: [
        *(Input((None,)), k.Embedding(20000, 128), k.Bidirectional(k.LSTM(64, return_sequences=True)), k.LSTM(64), k.Dense(1)),
    ],
    "named": lambda k, Input: [
        *(Input(batch_shape=(4, 6)), k.Dense(5, name="first"), k.Dense(5), k.BatchNormalization(), k.Dense(5), k.PReLU()),
    ],
}
"""A net for digits, one for words, one with names."""


@pytest.mark.parametrize("name", MODELS)
def test_as_keras_stores_it(name: str) -> None:
    """The same weights under the same names, in the same order."""
    keras = imported("keras")
    keras.utils.clear_session()
    theirs = keras.Sequential(MODELS[name](keras.layers, keras.Input))
    ours = ps.keras.Sequential(MODELS[name](ps.keras, ps.keras.Input))
    weights = {weight.path.partition("/")[2].replace("/", "."): tuple(weight.shape) for weight in theirs.weights}
    seeds = [path for path in weights if "seed_generator" in path]
    assert ours.shapes(buffers=True) == {path: shape for path, shape in weights.items() if path not in seeds}
    assert ps.output_shape(ours, theirs.input_shape) == theirs.output_shape


def test_published_counts() -> None:
    """Keras' examples "Simple MNIST convnet" and "Bidirectional LSTM on IMDB" print 34,826 and 2,757,761 parameters."""
    k = ps.keras
    assert k.Sequential(MODELS["digits"](k, k.Input)).count == 34_826
    both = [k.Bidirectional(k.LSTM(64, return_sequences=True)), k.Bidirectional(k.LSTM(64))]
    assert k.Sequential([k.Input((None,)), k.Embedding(20000, 128), *both, k.Dense(1, activation="sigmoid")]).count == 2_757_761


def test_without_an_input() -> None:
    """A sequence waits for its input shape, as Keras does, unless every layer is made."""
    waiting = ps.keras.Sequential([ps.keras.Dense(4), ps.keras.Dense(2)])
    assert repr(waiting) == "<keras.Sequential waiting for its input_shape>"
    assert waiting.build((None, 3)).params == 16 + 10
    assert ps.keras.Sequential([ps.keras.Dense(4)], input_shape=(None, 3)).params == 16
    assert list(ps.keras.Sequential([ps.Dense(3, 4), ps.Dense(4, 2)]).shapes()) == [
        "dense.weight",
        "dense.bias",
        "dense_1.weight",
        "dense_1.bias",
    ]


def test_inside_one_another_and_frozen() -> None:
    """A sequence is a layer; ``trainable=False`` freezes it."""
    inner = ps.keras.Sequential([ps.keras.Dense(4)], trainable=False, name="head")
    outer = ps.keras.Sequential([ps.keras.Input((3,)), inner, ps.keras.Dense(2)])
    assert next(iter(outer.shapes())) == "head.dense.kernel"
    assert (outer.count, outer.trainable) == (26, 10)


def test_symbols() -> None:
    """Sizes may be letters."""
    assert ps.keras.Sequential([ps.keras.Input((5,)), ps.keras.Embedding(V, H), ps.keras.Dense(H)]).params == H * V + H**2 + H


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda k: k.Sequential([]), r"layers is \[\]; wanted a list such as"),
        (lambda k: k.Sequential(k.Dense(3)), r"layers is <keras.Dense waiting .*; wanted a list"),
        (lambda k: k.Sequential([3]), r"layers\[0\] is 3 \(int\); wanted keras.Input\(shape\) or a layer"),
        (lambda k: k.Sequential([k.Dense(3), k.Input((3,))]), r"layers\[1\] is .*; wanted a layer such as"),
        (lambda k: k.Sequential([k.Input((3,))]), "layers has an input and no layer"),
        (lambda k: k.Input(), "takes shape or batch_shape, not neither"),
        (lambda k: k.Input((3,), batch_shape=(2, 3)), "takes shape or batch_shape, not both"),
        (lambda k: k.Input(3), "shape is 3; wanted a tuple"),
    ],
)
def test_refusals(call: Any, words: str) -> None:
    """What is no list of layers."""
    with pytest.raises(ArgumentError, match=words):
        call(ps.keras)


def test_two_of_one_name() -> None:
    """As Keras refuses it."""
    with pytest.raises(StructureError, match="two layers are called 'a'"):
        ps.keras.Sequential([ps.keras.Input((3,)), ps.keras.Dense(3, name="a"), ps.keras.Dense(3, name="a")])


def test_shapes_that_do_not_fit() -> None:
    """A layer that cannot take what the one before gives says so."""
    with pytest.raises(ParamsymError, match=r"keras\.Conv2D"):
        ps.keras.Sequential([ps.keras.Input((3,)), ps.keras.Dense(3), ps.keras.Conv2D(3, 3)])


def test_an_unknown_door_names_the_nearest() -> None:
    """Not ninety names."""
    with pytest.raises(AttributeError, match=r"no attribute 'MaxPool2d'; did you mean .*MaxPool2D.*\? dir\(ps.keras\) lists all"):
        ps.keras.MaxPool2d  # noqa: B018 - the lookup is what is tested
    with pytest.raises(AttributeError, match=r"no attribute 'zzzz'\. dir"):
        ps.keras.zzzz  # noqa: B018 - likewise
