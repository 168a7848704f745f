"""Published closed forms and counts of image networks: every configuration and number is read from the recorded facts."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import document

from paramsym import dims
from paramsym.models import DenseNet, LeNet5, ResNet

ENTRIES = {entry["id"]: entry for entry in document("formulas")}


def values_of(entry: str) -> list[Any]:
    """Return an entry's configurations, each with its published count."""
    return [pytest.param(value, id=value.get("where", str(value["published"]))) for value in ENTRIES[entry]["values"]]


@pytest.mark.parametrize("value", values_of("lenet5-1998-params"))
def test_lenet(value: dict[str, Any]) -> None:
    """LeNet-5 of 1998: 60,000 trainable parameters."""
    network = LeNet5(kernel_size=value["config"]["k"])
    assert network.part("C3").count == value["config"]["C3"]
    assert network.trainable == value["published"]


@pytest.mark.parametrize("value", values_of("lenet5-1998-c3"))
def test_lenet_connection_table(value: dict[str, Any]) -> None:
    """C3 with any table of as many maps that see three, four and six others."""
    config = value["config"]
    table = [range(fan) for fan, maps in ((3, config["n3"]), (4, config["n4"]), (6, config["n6"])) for _ in range(maps)]
    network = LeNet5(kernel_size=config["k"], connection_table=[list(maps) for maps in table])
    assert network.part("C3").count == value["published"]
    assert LeNet5(kernel_size=config["k"]).part("C3").count == value["published"]


@pytest.mark.parametrize("value", values_of("resnet-bottleneck"))
def test_resnet(value: dict[str, Any]) -> None:
    """ResNet, ResNeXt and wide ResNet with bottlenecks, built from numbers and from letters."""
    config = value["config"]
    sizes = {"groups": config["g"], "width_per_group": config["bw"], "inplanes": config["w"]}
    assert ResNet("Bottleneck", config["n"], config["K"], **sizes).count == value["published"]
    letters = dims("g bw w")
    lettered = ResNet(groups=letters[0], width_per_group=letters[1], inplanes=letters[2])
    depths = dict(zip(("n1", "n2", "n3", "n4"), config["n"], strict=True))
    assert lettered.at(**depths, N=config["K"], g=config["g"], bw=config["bw"], w=config["w"]).count == value["published"]


@pytest.mark.parametrize("value", values_of("resnet50-keras"))
def test_resnet_in_keras(value: dict[str, Any]) -> None:
    """Keras adds a bias to each convolution channel and counts two statistics of it."""
    network = ResNet("resnet50")
    channels = sum(shape[0] for name, shape in network.shapes(buffers=True).items() if name.endswith("running_mean"))
    assert (network.count, channels) == (value["config"]["P"], value["config"]["cb"])
    assert network.count + 3 * channels == value["published"]


@pytest.mark.parametrize("value", values_of("densenet-imagenet"))
def test_densenet(value: dict[str, Any]) -> None:
    """DenseNet-BC, whose channels before each block are the recorded ones."""
    config = value["config"]
    network = DenseNet(config["k"], config["n"], num_classes=config["K"])
    entering = [network.shapes()[f"features.denseblock{number}.denselayer1.norm1.weight"][0] for number in (1, 2, 3, 4)]
    assert entering == config["c"]
    assert network.count == value["published"]
    depths = dict(zip(("n1", "n2", "n3", "n4"), config["n"], strict=True))
    assert DenseNet().at(**depths, g=config["k"], N=config["K"]).count == value["published"]
