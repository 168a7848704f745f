"""LeNet-5: every printed layer of 1998, the network of today, O'Neill's, and wrong input."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported
from recorded import document

from paramsym import C, K, N, W
from paramsym.errors import ArgumentError, SizeError
from paramsym.models import LeNet5
from paramsym.models.lenet import C3_TABLE, CLAIMS


@pytest.mark.parametrize(
    ("layer", "printed"),
    [("C1", 156), ("S2", 12), ("C3", 1_516), ("S4", 32), ("C5", 48_120), ("F6", 10_164)],
)
def test_printed_layers(layer: str, printed: int) -> None:
    """LeCun et al. 1998, section II.B, print the trainable parameters of every layer."""
    assert LeNet5().part(layer).trainable == printed


def test_sixty_thousand() -> None:
    """60,000 trainable parameters and 840 fixed centres."""
    assert LeNet5().trainable == 60_000
    assert LeNet5().part("output").params == 840
    assert LeNet5().part("output").trainable == 0


def test_the_table_is_the_printed_one() -> None:
    """Table I of the paper, row by row: which maps of C3 see each map of S2."""
    printed = (
        "X...XXX..XXXX.XX",
        "XX...XXX..XXXX.X",
        "XXX...XXX..X.XXX",
        ".XXX..XXXX..X.XX",
        "..XXX..XXXX.XX.X",
        "...XXX..XXXX.XXX",
    )
    rows = tuple("".join("X" if source in maps else "." for maps in C3_TABLE) for source in range(6))
    assert rows == printed
    assert sum(map(len, C3_TABLE)) == 60


def test_table_against_full_connection() -> None:
    """Seen by all maps, C3 would hold 2,416: 36 kernels more."""
    full = LeNet5(connection_table=tuple(tuple(range(6)) for _ in range(16)))
    assert full.part("C3").params == 2_416
    assert LeNet5(connection_table=C3_TABLE).params == LeNet5().params


def test_kernels_by_fan_in() -> None:
    """The ledger tells kernels of maps that see three, four and six others apart."""
    lines = {line.label: line.amount for line in LeNet5().part("C3").ledger()}
    assert lines == {"seeing_3_maps": 450, "seeing_4_maps": 900, "seeing_6_maps": 150, "": 16}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.name}-{claim.counts}")
def test_published(claim: Any) -> None:
    """A published count is that of the network or the layer, apart from what the claim says it adds."""
    layer = LeNet5(claim.name).part(claim.counts.partition(".")[2])
    assert layer.count + claim.besides == claim.count


def test_modern_in_torch() -> None:
    """The tutorial's network: names, shapes and order of its state dict."""
    nn = imported("torch").nn
    network = nn.Module()
    network.conv1, network.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
    network.fc1, network.fc2, network.fc3 = nn.Linear(16 * 5 * 5, 120), nn.Linear(120, 84), nn.Linear(84, 10)
    expected = [(name, tuple(value.shape)) for name, value in network.state_dict().items()]
    assert list(LeNet5("modern").shapes(buffers=True).items()) == expected
    assert LeNet5("modern").count == 61_706


@pytest.mark.parametrize("image", range(12, 45))
@pytest.mark.parametrize("padding", [0, 2])
def test_what_reaches_the_first_matrix(image: int, padding: int) -> None:
    """The side of the last maps is what torch's layers leave."""
    torch = imported("torch")
    nn, functional = torch.nn, torch.nn.functional
    with torch.device("meta"):
        signal = torch.zeros(1, 1, image, image)
        if image + 2 * padding >= 16:
            first = functional.max_pool2d(nn.Conv2d(1, 6, 5, padding=padding)(signal), 2)
            modern = functional.max_pool2d(nn.Conv2d(6, 16, 5)(first), 2)
            assert LeNet5("modern", image_size=image, padding=padding).part("fc1").shapes()["weight"] == (120, modern.numel())
        if image + 2 * padding >= 13:
            strided = nn.Conv2d(6, 50, 5, stride=2)(nn.Conv2d(1, 6, 5, stride=2, padding=padding)(signal))
            assert LeNet5("oneill", image_size=image, padding=padding).part("fc1").shapes()["weight"] == (100, strided.numel())


def test_oneill() -> None:
    """The program's network with its second layer corrected, and the two printed counts of that layer."""
    items = {item["id"]: item for item in document("seeds_audit")}
    network = LeNet5("oneill")
    assert network.count == items["S4-39"]["correct_value"]
    assert network.part("conv2").count == items["S4-33"]["correct_value"]
    assert network.part("conv2").count == items["S4-35"]["claim_value"]
    assert items["S4-33"]["claim_value"] - network.part("conv2").count == 50 * (6 - 1)


def test_letters() -> None:
    """Sizes may be letters; the side of the maps is then a floor, and numbers put in give the network built with them."""
    lettered = LeNet5("modern", N, C, W, K)
    sized = lettered.at(N=10, C=1, W=32, K=5)
    assert sized.count == 61_706
    assert sized.formula == lettered.params
    assert lettered.at(N=10, C=1, W=28, K=5).count == 44_426
    assert LeNet5(kernel_size=K).trainable.subs(K, 5) == 60_000
    assert LeNet5("oneill", image_size=W).at(W=29).count == 133_816


def test_todays_digits() -> None:
    """Digits of 28x28: padded by two they are those of 1998."""
    assert LeNet5(image_size=28, padding=2).shapes() == LeNet5().shapes()
    assert LeNet5("modern", image_size=28, padding=2).shapes() == LeNet5("modern").shapes()


@pytest.mark.parametrize("layer", [LeNet5(), LeNet5("modern", N, image_size=W), LeNet5(connection_table=[[0, 1], [2]])], ids=str)
def test_repr_builds_the_same(layer: LeNet5) -> None:
    """What a network prints builds it again."""
    assert eval(repr(layer)) == layer


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"image_size": 28}, SizeError, "maps of 4x4 before C5"),
        ({"variant": "modern", "image_size": 15}, SizeError, "too small"),
        ({"variant": "oneill", "image_size": 12}, SizeError, "too small"),
        ({"variant": "lenet"}, ArgumentError, "wanted one of '1998', 'modern', 'oneill'"),
        ({"variant": "modern", "connection_table": C3_TABLE}, ArgumentError, "is of variant '1998'"),
        ({"connection_table": ((0, 0),)}, ArgumentError, r"connection_table\[0\] is \(0, 0\)"),
        ({"connection_table": ((0,), ())}, ArgumentError, r"connection_table\[1\]"),
        ({"connection_table": ((6,),)}, ArgumentError, "out of 0 to 5"),
        ({"connection_table": ()}, ArgumentError, "is empty"),
        ({"num_classes": 0}, SizeError, "num_classes is 0"),
        ({"kernel_size": 5.0}, SizeError, "kernel_size is 5.0"),
    ],
)
def test_wrong_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    """What cannot be such a network is one clear error."""
    with pytest.raises(error, match=words):
        LeNet5(**arguments)
