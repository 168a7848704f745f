"""Networks of ``paramsym/models/vision`` in Keras' layout: what ``keras.applications`` recorded, and what it computes when it is there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from frameworks import entries, imported
from recorded import rows

import paramsym as ps
from paramsym.models import VGG, MobileNet
from paramsym.testing.running import largest_difference

ROWS = [row for row in rows("keras_apps") if f"keras.applications.{row['model']}" in VGG.published]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["model"])
def test_recorded(row: dict[str, Any]) -> None:
    """Names, shapes and order of every weight, and the total."""
    model = ps.load(f"keras.applications.{row['model']}")
    assert entries(model) == [(path.replace("/", "."), tuple(shape), trainable) for path, shape, trainable in row["weights"]]
    assert model.count == row["n_params"]


def compared(model: ps.Layer, theirs: Any, side: int) -> None:
    """Fail unless a network of Keras has these weights, in this order, and computes the same from random ones."""
    xp, keras = imported("numpy"), imported("keras")
    assert entries(model) == [(weight.path.replace("/", "."), tuple(weight.shape), weight.trainable) for weight in theirs.weights]
    generator = xp.random.default_rng(0)
    arrays = [generator.random(weight.shape) - (0 if "var" in weight.path else 0.5) for weight in theirs.weights]
    arrays = [array * (3 / array.size**0.5 if array.ndim > 1 else 1) for array in arrays]
    theirs.set_weights(arrays)
    x = generator.standard_normal((1, side, side, 3))
    wanted = keras.ops.convert_to_numpy(theirs(x, training=False))
    tensors = {weight.path.replace("/", "."): array for weight, array in zip(theirs.weights, arrays, strict=True)}
    largest_difference(xp, model, ps.run(model, tensors, x), wanted, 1e-4)


@pytest.mark.parametrize(("alpha", "multiplier"), [(1, 1), (Fraction(1, 2), 1), (Fraction(1, 3), 2)])
def test_mobilenet(alpha: Any, multiplier: int) -> None:
    """MobileNet with multipliers of width and depth."""
    applications = imported("keras").applications
    theirs = applications.MobileNet(weights=None, alpha=float(alpha), depth_multiplier=multiplier, input_shape=(64, 64, 3), classes=5)
    compared(MobileNet(alpha=alpha, depth_multiplier=multiplier, num_classes=5), theirs, 64)


def test_vgg() -> None:
    """VGG-16, whose matrices see the places before the channels."""
    theirs = imported("keras").applications.VGG16(weights=None, classes=5)
    compared(VGG("keras.applications.VGG16", num_classes=5), theirs, 224)
