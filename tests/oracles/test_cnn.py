"""torchvision's ResNets and DenseNets, tensor by tensor: names, shapes, order and buffers as torchvision itself recorded them."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import assert_reproduces, parameters, persistent_buffers, rows

from paramsym.models import DenseNet, ResNet

RESNETS = ("ResNet", "QuantizableResNet")
TORCHVISION = [row for row in rows("cnn") if row["library"].startswith("torchvision")]
TIMM = [row for row in rows("cnn") if row["library"].startswith("timm")]
BODIES = ("resnet50", "resnet101")
HOLDERS = ("DeepLabV3", "FCN", "FasterRCNN", "MaskRCNN", "RetinaNet")


def keywords(row: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that reach the model's constructor."""
    return {name: value for name, value in row["kwargs"].items() if name != "weights"}


def rows_of(*classes: str) -> list[Any]:
    """Return the rows of some model classes, by their name and arguments."""
    return [pytest.param(row, id=f"{row['model']}-{keywords(row)}") for row in TORCHVISION if row["model_class"] in classes]


@pytest.mark.parametrize("row", rows_of(*RESNETS))
def test_resnet(row: dict[str, Any]) -> None:
    """A ResNet has torchvision's tensors; one to be quantized has the same."""
    assert_reproduces(ResNet(row["model"], **keywords(row)), row)


@pytest.mark.parametrize("row", rows_of("DenseNet"))
def test_densenet(row: dict[str, Any]) -> None:
    """A DenseNet has torchvision's tensors."""
    assert_reproduces(DenseNet(row["model"], **keywords(row)), row)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row['model']}-{i}")
        for i, row in enumerate(TORCHVISION)
        if row["model_class"] in HOLDERS and "resnet" in row["model"]
    ],
)
def test_resnet_inside_another_model(row: dict[str, Any]) -> None:
    """Detection and segmentation models carry a ResNet without its classifier, some of them with frozen norms."""
    prefix = "backbone.body." if any(name.startswith("backbone.body.") for name, _ in row["params"]) else "backbone."
    frozen = f"{prefix}bn1.weight" in persistent_buffers(row)
    ours = ResNet(next(body for body in BODIES if body in row["model"]), norm_layer="FrozenBatchNorm2d" if frozen else "BatchNorm2d")
    counted, everything = ours.shapes(), ours.shapes(buffers=True)
    expected = [(name.removeprefix(prefix), shape) for name, shape in parameters(row) if name.startswith(prefix)]
    assert [(name, shape) for name, shape in counted.items() if not name.startswith("fc.")] == expected
    buffers = {name.removeprefix(prefix): shape for name, shape in persistent_buffers(row).items() if name.startswith(prefix)}
    assert {name: shape for name, shape in everything.items() if name not in counted} == buffers


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row["model"]) for row in TIMM if row["model"] in {*ResNet.published, *DenseNet.published}]
)
def test_same_network_in_timm(row: dict[str, Any]) -> None:
    """A second library builds the networks of these names with the same tensors; it holds sizes torchvision's rows lack."""
    model = ResNet if row["model"] in ResNet.published else DenseNet
    assert_reproduces(model(row["model"], **row["kwargs"]), row)
