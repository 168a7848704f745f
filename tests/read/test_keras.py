"""Keras models of the running backend: outputs and FLOPs as Keras and torch's counter have them, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from amount import ALL
from frameworks import imported, only_with

import paramsym as ps
from paramsym import B
from paramsym.errors import ArgumentError

only_with("keras", "torch")
keras = imported("keras")
numpy, layers = pytest.importorskip("numpy"), keras.layers


def functional() -> Any:
    image = keras.Input((8, 8, 3))
    left = layers.Conv2D(4, 3, name="left")(image)
    normed = layers.BatchNormalization(name="norm")(left)
    return keras.Model(image, layers.Dense(3, name="head")(layers.Flatten()(layers.Add()([left, normed]))))


def of_two() -> Any:
    one, other = keras.Input((4,)), keras.Input((5,))
    return keras.Model([one, other], layers.Concatenate()([layers.Dense(3)(one), layers.Dense(3, activation="relu")(other)]))


def attending() -> Any:
    sequence = keras.Input((9, 8))
    return keras.Model(sequence, layers.LayerNormalization()(layers.MultiHeadAttention(2, 4)(sequence, sequence) + sequence))


def recurrent() -> Any:
    return keras.Sequential([layers.Input((5,)), layers.Embedding(20, 8), layers.Bidirectional(layers.GRU(3)), layers.Dense(2)])


class Own(keras.Model):  # type: ignore[misc,name-defined]
    """A subclassed model with dropout, which evaluation leaves out."""

    def __init__(self) -> None:
        """Contain two dense layers."""
        super().__init__()
        self.before, self.behind, self.drop = layers.Dense(8, activation="gelu"), layers.Dense(4), layers.Dropout(0.5)

    def call(self, x: Any, training: bool = False) -> Any:
        """Apply them around an addition."""
        return self.behind(self.drop(self.before(x), training=training)) + x


def own() -> Any:
    model = Own()
    model(numpy.zeros((1, 4), "float32"))
    return model


@pytest.mark.parametrize(
    ("build", "shapes", "vocabulary", "forward"),
    [
        (functional, [(2, 8, 8, 3)], 0, 2 * 2 * (36 * 4 * 27 + 144 * 3)),
        (of_two, [(2, 4), (2, 5)], 0, 2 * 2 * (12 + 15)),
        (attending, [(2, 9, 8)], 0, 2 * 2 * (4 * 9 * 64 + 2 * 2 * 9 * 9 * 4)),
        (recurrent, [(2, 5)], 20, 2 * 2 * (2 * 5 * 3 * (8 * 3 + 9) + 6 * 2)),
        (own, [(2, 4)], 0, 2 * 2 * (32 + 32)),
    ],
)
def test_models(build: Callable[[], Any], shapes: list[tuple[int, ...]], vocabulary: int, forward: int) -> None:
    """FLOPs counted by hand, in numbers and in the letter of the batch, and the model's own results from the same tensors."""
    model, chance = build(), numpy.random.default_rng(0)
    for weight in model.weights:
        weight.assign(numpy.abs(chance.normal(size=weight.shape)) * 0.3)
    layer = ps.from_module(model)
    assert ps.flops(layer, *shapes).total == forward
    assert ps.flops(layer, *((B, *shape[1:]) for shape in shapes)).at(B=2).total == forward
    assert ps.flops(layer, *shapes, way="both").total > forward
    given = [chance.integers(0, vocabulary, shape) if vocabulary else chance.normal(size=shape).astype("float32") for shape in shapes]
    tensors = {entry.name: keras.ops.convert_to_numpy(weight) for entry, weight in zip(layer.entries(), model.weights, strict=True)}
    wanted = keras.ops.convert_to_numpy(model(given if len(given) > 1 else given[0]))
    numpy.testing.assert_allclose(ps.run(layer, tensors, *given), wanted, rtol=1e-4, atol=1e-5)


def test_the_table_names_layers() -> None:
    """Operators are those of the layers whose variables they use; examples give the inputs; the model is not changed."""
    model, call = functional(), keras.Layer.__call__
    layer = ps.from_module(model, keras.ops.zeros((2, 8, 8, 3)))
    table = str(ps.flops(layer).table())
    assert "left" in table
    assert "head" in table
    assert keras.Layer.__call__ is call
    assert ps.receptive_field(ps.from_module(keras.Model(model.inputs, model.get_layer("norm").output)), (B, 8, 8, 3)) == (3, 3)


def test_wrong_inputs() -> None:
    layer = ps.from_module(functional())
    with pytest.raises(ArgumentError, match="failed"):
        ps.flops(layer, (2, 8, 8, 4))
    with pytest.raises(ArgumentError, match="give them in order"):
        ps.from_module(functional(), x=keras.ops.zeros((2, 8, 8, 3)))


ON_JAX = """
import keras, paramsym as ps
from keras import layers
image = keras.Input((8, 8, 3))
model = keras.Model(image, layers.Dense(3)(layers.Flatten()(layers.Conv2D(4, 3)(image))))
assert ps.flops(ps.from_module(model), (2, 8, 8, 3)).total == 2 * 2 * (36 * 4 * 27 + 144 * 3)
"""


@pytest.mark.skipif(not ALL, reason="imports Keras and JAX in another process")
def test_on_jax() -> None:
    """The same FLOPs by the other backend."""
    only_with("jax")
    given = {**os.environ, "KERAS_BACKEND": "jax", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", ON_JAX], check=True, env=given)


def test_variables_of_another_model_go_on_waiting() -> None:
    """A pass that fails leaves variables without values, which Keras makes after its next pass: not while another model is read."""
    with keras.StatelessScope(initialize_variables=False):
        waiting = keras.Variable("glorot_uniform", shape=(2, 3))
    assert ps.flops(ps.from_module(attending()), (2, 9, 8)).total == 14400
    assert waiting._value is None
    with keras.StatelessScope():
        pass
    assert waiting.value.shape == (2, 3)
