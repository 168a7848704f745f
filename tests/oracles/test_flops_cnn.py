"""Every recorded row of torch's counter for convolutional networks that have a model here: torchvision's, and timm's of the same names."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import rows
from sympy import Integer

import paramsym as ps
from paramsym.core.layer import Layer
from paramsym.models import ConvNext, DenseNet, ResNet, ResNetV15

CONVNEXT = ("convnext_tiny", "convnext_small", "convnext_base", "convnext_large")
"""torchvision stores a convolutional ConvNeXt as transformers does, under other names."""
ROWS = [row for row in rows("costs/flops_cnn") if row["model"] in {*ResNet.published, *DenseNet.published, *CONVNEXT} and "flops" in row]


def model_of(name: str) -> Layer:
    """Return the model of a name."""
    if name in CONVNEXT:
        lettered = ConvNext(architecture="ConvNextForImageClassification")
        return lettered.at(f"facebook/{name.replace('_', '-')}-224").at(N=1000)
    return (ResNet if name in ResNet.published else DenseNet)(name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['library']}-{row['model']}")
def test_forward(row: dict[str, Any]) -> None:
    """The total, in all recorded sizes of the image."""
    model = model_of(row["model"])
    assert ps.flops(model, tuple(row["input"])).total == row["flops"]
    for size, flops in row.get("flops_at_crop", {}).items():
        assert ps.flops(model, (1, 3, int(size), int(size))).total == flops


@pytest.mark.parametrize("name", ResNet.published)
def test_published_multiply_adds(name: str) -> None:
    """Torchvision's own figures, in thousands of millions, for the weights of every ResNet that it publishes."""
    entries = [row for row in rows("costs/flops_cnn") if row["model"] == name and row["library"].startswith("torchvision")]
    for one in (one for row in entries for one in row["published"]):
        size = one["crop_size"]
        assert abs(ps.macs(ResNet(name), (1, 3, size, size)).total - one["gops"] * 10**9) <= 10**6, one


def test_resnet_50_of_transformers() -> None:
    """Version 1.5 moves by two in the middle of a bottleneck; the classifier comes on top."""
    base = ResNetV15().at("microsoft/resnet-50")
    labelled = ResNetV15(architecture="ResNetForImageClassification").at("microsoft/resnet-50").at(N=1000)
    assert ps.flops(base, pixel_values=(1, 3, 224, 224)).total == 8_174_272_512
    assert ps.flops(labelled, pixel_values=(1, 3, 224, 224)).total == 8_174_272_512 + 2 * 2048 * 1000


def test_densenet_in_letters() -> None:
    """The formula for letters, sums over layers of growing width included, gives the numbers of every published size."""
    whole = ps.flops(DenseNet(), *DenseNet().inputs.values(), way="both").total
    for name, sizes in DenseNet.published.items():
        depths = dict(zip(("n1", "n2", "n3", "n4"), sizes["block_config"], strict=True))
        numbers = {"g": sizes["growth_rate"], "N": sizes["num_classes"], "B": 1, "W": 7, **depths}
        found = whole.xreplace({letter: Integer(numbers[letter.name]) for letter in whole.free_symbols})
        assert found == ps.flops(DenseNet(name), (1, 3, 224, 224), way="both").total
