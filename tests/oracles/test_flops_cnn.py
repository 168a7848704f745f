"""Every recorded row of torch's counter for convolutional networks that have a model here: torchvision's, and timm's of the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from amount import cases, sample
from recorded import rows
from sympy import Integer, Rational

import paramsym as ps
from paramsym.core.layer import Layer
from paramsym.models import ConvNeXt, ConvNext, DenseNet, KerasEfficientNetV2, KerasMobileNetV3, RegNet, ResNet, ResNetV15

CONVNEXT = ("convnext_tiny", "convnext_small", "convnext_base", "convnext_large")
"""torchvision stores a convolutional ConvNeXt as transformers does, under other names."""
ROWS = [row for row in rows("costs/flops_cnn") if row["model"] in {*ResNet.published, *DenseNet.published, *CONVNEXT} and "flops" in row]


def model_of(name: str) -> Layer:
    """Return the model of a name."""
    if name in CONVNEXT:
        lettered = ConvNext(architecture="ConvNextForImageClassification")
        return lettered.at(f"facebook/{name.replace('_', '-')}-224").at(N=1000)
    return (ResNet if name in ResNet.published else DenseNet)(name)


@cases(6)
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


TIMM: dict[str, Callable[[], Layer]] = {
    "convnext_nano": lambda: ConvNeXt((80, 160, 320, 640), (2, 2, 8, 2), num_classes=1000),
    "deit_base_patch16_224": lambda: ps.load("vit_b_16"),
    "efficientnet_b6": lambda: ps.load("efficientnet_b6"),
    "inception_v3": lambda: ps.load("inception_v3"),
    "nasnetalarge": lambda: ps.load("NASNetLarge"),
    "regnetx_040": lambda: RegNet((2, 5, 14, 2), (80, 240, 560, 1360), (40,) * 4, num_classes=1000),
    "regnetx_120": lambda: RegNet((2, 5, 11, 1), (224, 448, 896, 2240), (112,) * 4, num_classes=1000),
    "regnety_080_tv": lambda: ps.load("regnet_y_8gf"),
    "regnety_120": lambda: RegNet((2, 5, 11, 1), (224, 448, 896, 2240), (112,) * 4, Rational(1, 4), num_classes=1000),
    "swin_small_patch4_window7_224": lambda: ps.load("swin_s"),
    "tf_efficientnetv2_b1": lambda: KerasEfficientNetV2("EfficientNetV2B1"),
    "tf_efficientnetv2_l": lambda: KerasEfficientNetV2("EfficientNetV2L"),
    "tf_mobilenetv3_small_minimal_100": lambda: KerasMobileNetV3("MobileNetV3Small", minimalistic=True),
    "vgg13": lambda: ps.load("vgg13"),
    "vgg13_bn": lambda: ps.load("vgg13_bn"),
    "vgg16": lambda: ps.load("vgg16"),
    "vit_base_patch16_224": lambda: ps.load("vit_b_16"),
}
"""Networks of timm that have torchvision's layout, or Keras', sizes that neither publishes among them."""


@pytest.mark.parametrize("name", TIMM)
def test_timm(name: str) -> None:
    """Torch's counter on timm's network; and timm's own figures, which are cut off after ten millions and count norms.

    The one fault among them: the files of pt2.1.0 lost the two products inside fused attention, 2*L*S^2*H.
    """
    (row,) = (row for row in rows("costs/flops_cnn") if row["model"] == name and row["library"].startswith("timm"))
    model = TIMM[name]()

    def image(side: int) -> tuple[int, ...]:
        return (1, side, side, 3) if type(model).__module__.startswith("paramsym.models.applications") else (1, 3, side, side)

    assert ps.flops(model, image(row["input"][-1])).total == row["flops"]
    auxiliary = model.part("AuxLogits").count if name == "inception_v3" else 0
    assert model.count - auxiliary == row["n_params"]
    assert row["published"]
    for one in row["published"]:
        lost = 2 * 12 * 197**2 * 768 if one["gmacs"] == 16.87 else 0
        counted = ps.flops(model, image(one["img"]), convention="timm").total
        assert abs(counted - lost - one["gmacs"] * 10**9) <= 5_200_000, one


def test_resnet_50_of_transformers() -> None:
    """Version 1.5 moves by two in the middle of a bottleneck; the classifier comes on top."""
    base = ps.load("microsoft/resnet-50", "ResNetModel")
    labelled = ResNetV15(architecture="ResNetForImageClassification").at("microsoft/resnet-50").at(N=1000)
    assert ps.flops(base, pixel_values=(1, 3, 224, 224)).total == 8_174_272_512
    assert ps.flops(labelled, pixel_values=(1, 3, 224, 224)).total == 8_174_272_512 + 2 * 2048 * 1000


@cases(0)
def test_densenet_in_letters() -> None:
    """The formula for letters, sums over layers of growing width included, gives the numbers of every published size."""
    whole = ps.flops(DenseNet(), *DenseNet().inputs.values(), way="both").total
    for name, sizes in sample(2, DenseNet.published.items()):
        depths = dict(zip(("n1", "n2", "n3", "n4"), sizes["block_config"], strict=True))
        numbers = {"g": sizes["growth_rate"], "N": sizes["num_classes"], "B": 1, "W": 7, **depths}
        found = whole.xreplace({letter: Integer(numbers[letter.name]) for letter in whole.free_symbols})
        assert found == ps.flops(DenseNet(name), (1, 3, 224, 224), way="both").total
