"""The shapes inside Keras' recorded networks: of every layer that has a door here, and of architectures that torchvision has, too."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from frameworks import imported
from recorded import rows

import paramsym as ps
from paramsym.core.layer import Layer

STAGES = {
    "ResNet50": [("conv1_conv", "conv1"), ("pool1_pool", "maxpool"), *((f"conv{i + 1}_block1_out", f"layer{i}") for i in range(1, 5))],
    "DenseNet121": [
        ("conv1_conv", "features.conv0"),
        ("pool1", "features.pool0"),
        *((f"pool{i + 1}_pool", f"features.transition{i}") for i in range(1, 4)),
    ],
}
NETWORKS = {
    "ResNet50": "resnet50",
    "ResNet101": "resnet101",
    "ResNet152": "resnet152",
    "DenseNet121": "densenet121",
    "DenseNet169": "densenet169",
    "DenseNet201": "densenet201",
}
ROWS = [row for row in rows("keras_apps") if row["model"] in NETWORKS]


def channels_last(shape: Any) -> list[Any]:
    """Return one of our shapes as Keras writes it, the batch unknown."""
    return [None, *shape[2:], shape[1]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['model']}-{row['kwargs']}"[:60])
def test_stages(row: dict[str, Any]) -> None:
    """Stem, stages and classifier leave what Keras' layers of these places leave."""
    given = {name: shape for name, _, shape in row["layer_output_shapes"]}
    name = NETWORKS[row["model"]]
    classes = row["kwargs"].get("classes", 1000)
    build = ps.models.ResNet if name.startswith("resnet") else ps.models.DenseNet
    network: Layer = build(name, num_classes=classes)
    _, height, width, _ = next(shape for _, kind, shape in row["layer_output_shapes"] if kind == "InputLayer")
    if None in {height, width} or next(iter(given.values()))[-1] != 3:
        pytest.skip("the recorded network has no size, or other channels")
    table = ps.summary(network, (1, 3, height, width), depth=2 if name.startswith("dense") else 1)
    ours = {str(entry[0]): entry[3] for entry in table.rows}
    for theirs, place in STAGES["ResNet50" if name.startswith("resnet") else "DenseNet121"]:
        assert channels_last(ours[place]) == given[theirs], place
    if "predictions" in given:
        assert given["predictions"] == [None, classes] == [None, ps.output_shape(network, (1, 3, height, width))[1]]


MERGES = {"Add", "Multiply", "Concatenate", "LayerScale", "InputLayer", "Sequential"}
"""Kinds that have no door of their own: what adds or joins several inputs, an inner class of Keras' ConvNeXt, and containers."""
LARGE = {"ConvNeXtLarge", "ConvNeXtXLarge", "EfficientNetB4", "EfficientNetB5", "EfficientNetB6", "EfficientNetV2L", "ResNet152V2"}
"""Networks of the same layers as their smaller relatives, which take long to build."""


@pytest.mark.parametrize("row", [row for row in rows("keras_apps") if row["model"] not in LARGE], ids=lambda row: row["model"])
def test_every_layer(row: dict[str, Any]) -> None:
    """With the arguments and the input shape that Keras' layer has, the door gives the recorded output shape."""
    network = getattr(imported("keras").applications, row["model"])(**row["kwargs"])
    assert [type(layer).__name__ for layer in network.layers] == [kind for _, kind, _ in row["layer_output_shapes"]]
    tried = 0
    for layer, (name, kind, expected) in zip(network.layers, row["layer_output_shapes"], strict=True):
        if kind in MERGES:
            continue
        door = getattr(ps.keras, kind)
        taken = set(inspect.signature(door).parameters) - {"name", "dtype", "trainable"}
        arguments = {key: value for key, value in layer.get_config().items() if key in taken and not isinstance(value, dict)}
        shape = list(layer.input.shape)
        assert list(ps.output_shape(door(**arguments, input_shape=shape), shape)) == expected, (name, arguments, shape)
        tried += 1
    assert tried > len(network.layers) / 2
