"""``from_module`` on live Keras layers and models: the layer that the door gives, weights in Keras' order."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported
from oracles.instances import placed
from oracles.test_live_keras import ROWS, label

import paramsym as ps
from paramsym.errors import ArgumentError

keras = imported("keras")
SIZES = {"C": 4, "F": 6, "H": 8, "K": 3, "V": 10, "W": 5, "D": 2}


def assert_same(layer: ps.Layer, model: Any) -> None:
    """Shapes in order, what is trained, and the total."""
    assert [entry.tensor.sizes for entry in layer.entries()] == [tuple(weight.shape) for weight in model.weights]
    trained = {id(weight) for weight in model.trainable_weights}
    assert [e.tensor.trainable and not e.tensor.buffer for e in layer.entries()] == [id(weight) in trained for weight in model.weights]
    statistics = sum(int(e.tensor.sizes[0]) for e in layer.entries() if e.tensor.buffer)
    assert layer.count == model.count_params() - statistics


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_every_layer_is_its_door(row: tuple[str, dict[str, Any], Any]) -> None:
    """With Keras' own arguments, read from its configuration."""
    name, arguments, shape = row
    found = placed({"arguments": tuple(arguments.values()), "shape": shape}, SIZES)
    made = getattr(keras.layers, name)(**dict(zip(arguments, found["arguments"], strict=True)))
    made.build(found["shape"])
    layer = ps.from_module(made)
    wanted = getattr(ps.keras, name)(**dict(zip(arguments, found["arguments"], strict=True)), input_shape=found["shape"])
    assert type(layer) is type(wanted)
    assert list(layer.entries()) == list(wanted.entries())


def test_models() -> None:
    """A sequence has a forward pass; a functional model is a block; a frozen layer stays frozen."""
    sequence = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4), keras.layers.ReLU(), keras.layers.Dense(2)])
    layer = ps.from_module(sequence)
    assert isinstance(layer, ps.Sequential)
    assert ps.output_shape(layer, (None, 8)) == (None, 2)
    assert_same(layer, sequence)
    inputs = keras.Input((16, 16, 3))
    left = keras.layers.Conv2D(4, 3, name="left")(inputs)
    normed = keras.layers.BatchNormalization(name="norm")(left)
    outputs = keras.layers.Dense(3, name="head")(keras.layers.Flatten()(keras.layers.Add()([left, normed])))
    model = keras.Model(inputs, outputs)
    model.get_layer("left").trainable = False
    read = ps.from_module(model)
    assert_same(read, model)
    assert list(read.shapes()) == ["left.kernel", "left.bias", "norm.gamma", "norm.beta", "head.kernel", "head.bias"]
    assert isinstance(read.part("head"), ps.Dense)


def test_what_is_not_built_is_refused() -> None:
    """A layer that has no weights yet."""
    with pytest.raises(ArgumentError, match="not built"):
        ps.from_module(keras.layers.Dense(3))


def test_derive_a_keras_model() -> None:
    """A factory of Keras models: widths, copies and statistics."""

    def mlp(inputs: int = 6, units: int = 5, depth: int = 2) -> Any:
        layers = [keras.Input((inputs,))]
        for i in range(depth):
            layers += [keras.layers.Dense(units, name=f"h_{i}"), keras.layers.BatchNormalization(name=f"bn_{i}")]
        return keras.Sequential([*layers, keras.layers.Dense(3, name="out")])

    with pytest.raises(ps.ParamsymError, match=r"stated in a mapping: derive\(build, \{'inputs'"):
        ps.derive(mlp, inputs=range(1, 40))
    form = ps.derive(mlp, {"inputs": range(1, 40)}, units=range(1, 40), depth=range(1, 7), tests=40, seconds=60)
    assert str(form.params) == "depth*units**2 + 3*depth*units + inputs*units - units**2 + 3*units + 3"
    assert form.certificate.magnitudes["units"][1] < 40


def test_no_memory_is_taken_to_derive_a_keras_model() -> None:
    """Widths of 65,539 would take 17 GB a layer, and a twentieth of the time is enough."""

    def mlp(width: int = 4, depth: int = 2) -> Any:
        return keras.Sequential([keras.Input((4,)), *(keras.layers.Dense(width) for _ in range(depth))])

    form = ps.derive(mlp, tests=60)
    assert form.certificate.magnitudes["width"][1] > 2**16
    assert form.at(width=7, depth=5).count == mlp(7, 5).count_params()
