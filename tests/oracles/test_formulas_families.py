"""The published formulas of convolutional networks, each answered by one call on the family that it is about.

Formulas, sources and values are read from ``facts/formulas.json.gz``; where a formula has letters, it is compared in letters.
"""

from __future__ import annotations

from typing import Any

import pytest
from formulas import formula
from recorded import document
from sympy import Integer, Rational, expand

import paramsym as ps
from paramsym import N
from paramsym.algebra.size import product
from paramsym.measure.walk import applied
from paramsym.models import KerasResNet, LeNet5, ResNet

ENTRIES: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in document("formulas")}


def values(name: str) -> list[dict[str, Any]]:
    """Return the recorded values of a formula that are exact."""
    return [value for value in ENTRIES[name]["values"] if value["check"] == "exact"]


def read(name: str, config: dict[str, Any], **letters: Any) -> Any:
    """Return a recorded formula at one of its settings, some of its sizes left as letters."""
    known = {key: Integer(value) if isinstance(value, int) else value for key, value in config.items()}
    return expand(formula(ENTRIES[name]["formula"], {**known, **letters}))


def test_vgg16_multiply_adds() -> None:
    """All of the network, in the number of classes."""
    (value,) = values("vgg16-macs")
    assert ps.macs(ps.load("vgg16"), (1, 3, 224, 224)).total == value["published"]
    assert expand(ps.macs(ps.models.VGG(), (1, 3, 224, 224)).total - read("vgg16-macs", value["config"], K=N)) == 0


def test_vgg_activations() -> None:
    """The rows of the course's table are the input, and what convolutions, poolings and matrices give: 15.2 million, and not 24."""
    (value,) = ENTRIES["conv-net-activations-vgg"]["values"]
    network, image = ps.load("vgg16"), (1, 3, value["config"]["R"], value["config"]["R"])
    given = [one.left for one in applied(network.part("features"), image) if not isinstance(one.layer, ps.ReLU)]
    given += [one.left for one in applied(network.part("classifier"), (1, 512 * 49)) if isinstance(one.layer, ps.Dense)]
    entries = sum(int(product(shape)) for shape in (image, *given))
    disputed = ENTRIES["disputed-cs231n-vgg-memory"]
    assert [entries] == disputed["correct"] == [value["computed"]]
    assert round(entries / 10**6) not in disputed["claimed"]


@pytest.mark.parametrize("value", values("resnet50-macs"), ids=lambda value: f"{value['config']['n'][2]}-{value['config']['v15']}")
def test_resnet_multiply_adds(value: dict[str, Any]) -> None:
    """Torchvision's stride stands in the middle of a bottleneck, Keras' and the paper's in front."""
    config = value["config"]
    if config["v15"]:
        found = ps.macs(ResNet("Bottleneck", config["n"], config["K"]), (1, 3, 224, 224)).total
    else:
        found = ps.macs(KerasResNet(tuple(config["n"]), classes=config["K"]), (1, 224, 224, 3)).total
    assert found == value["published"]


def test_resnet_in_keras() -> None:
    """Biases and statistics included, as Keras counts."""
    (value,) = values("resnet50-keras")
    network = ps.load("ResNet50")
    biases = sum(shape[0] for name, shape in network.shapes().items() if name.endswith("_conv.bias"))
    assert network.count == value["config"]["P"] + value["config"]["cb"]
    assert biases == value["config"]["cb"]
    assert sum(network.ledger(buffers=True).polynomial().terms.values()) == value["published"]


@pytest.mark.parametrize(
    ("claimed", "right", "side"),
    [
        (claimed, right, 32 * round(7 * config["r"]))
        for entry in [ENTRIES["disputed-mobilenet-slim-075"]]
        for claimed, right, config in zip(entry["claimed"], entry["correct"], entry["config"], strict=True)
    ],
)
def test_disputed_mobilenet(claimed: int, right: int, side: int) -> None:
    """Three quarters of the width: what the page prints is not what the network computes, at any side."""
    found = ps.macs(ps.load("mobilenet_0.75"), (1, side, side, 3)).total
    assert round(Rational(found, 10**6)) == right != claimed


def test_lenet_connections() -> None:
    """LeCun et al. 1998: 340,908, from all layers of the network."""
    (value,) = values("lenet5-1998-connections")
    network = LeNet5(kernel_size=value["config"]["k"])
    assert network.part("C3").count == value["config"]["C3"]
    assert ps.connections(network, (1, 1, 32, 32)) == value["published"]


FIELDS = {
    "alexnet_v2 pool5": lambda: ps.load("alexnet").part("features"),
    "vgg_16 pool5": lambda: ps.load("vgg16").part("features"),
    "mobilenet_v1": lambda: ps.load("mobilenet"),
    "resnet_v1_50 (slim: stride in the last block of a stage)": lambda: ps.load("ResNet50V2"),
    "alexnet conv1": lambda: ps.load("alexnet").part("features.0"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_receptive_fields(name: str) -> None:
    """What Araujo, Norris and Sim 2019 give for a network, of the network."""
    (published,) = (value["published"] for value in ENTRIES["receptive-field"]["values"] if value.get("where") == name)
    assert ps.receptive_field(FIELDS[name]()) == (published, published)


def test_every_entry() -> None:
    """Every published formula about convolutional networks is answered by a family, here or where it is named."""
    layers_alone = {
        *("cs231n-conv1-neurons", "cs231n-conv1-unshared", "vgg-stack-vs-7x7", "conv-output-size", "transposed-conv-output-size"),
        *("pooling-output-size", "dilated-effective-kernel"),
    }
    elsewhere = {"lenet5-1998-c3", "lenet5-1998-params", "resnet-bottleneck", "densenet-imagenet"}  # test_formulas_models.py
    in_letters = {"mobilenet-v1-params", "mobilenet-v2", "convnext"}  # test_formulas.py
    composed = {"wide-resnet"}  # likewise; a network for small images that neither library has
    here = {"vgg16-macs", "resnet50-macs", "resnet50-keras", "lenet5-1998-connections", "receptive-field"}
    assert {
        entry["id"] for entry in ENTRIES.values() if entry["section"] == "b-cnn"
    } == layers_alone | elsewhere | in_letters | composed | here
