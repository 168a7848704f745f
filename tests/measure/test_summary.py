"""The table of a network for an input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import paramsym as ps
from paramsym import B, Conv2d, Dense, Embedding, Flatten, H, L, MaxPool2d, ReLU, S, Sequential, V
from paramsym.errors import ShapeError, SizeError
from paramsym.measure.walk import checked_shape

NET = Sequential({"conv": Conv2d(1, 6, 5), "pool": MaxPool2d(2), "head": Sequential(Flatten(), Dense(864, 10))})


def test_rows() -> None:
    """One row for each layer that is applied, with what reaches and what leaves it; totals at the end."""
    table = ps.summary(NET, (B, 1, 28, 28))
    assert table.columns == ("part", "layer", "input", "output", "parameters", "neurons", "connections")
    assert table.rows == (
        ("conv", "Conv2d", (B, 1, 28, 28), (B, 6, 24, 24), 156, 3456, 156 * 24 * 24),
        ("pool", "MaxPool2d", (B, 6, 24, 24), (B, 6, 12, 12), 0, None, 0),
        ("head.0", "Flatten", (B, 6, 12, 12), (B, 864), 0, None, 0),
        ("head.1", "Dense", (B, 864), (B, 10), 8650, 10, 8650),
    )
    assert table.footer == ("total", "", (B, 1, 28, 28), (B, 10), 8806, 3466, 98506)


def test_depth() -> None:
    """To a depth parts stand for what is inside them; the totals stay."""
    table = ps.summary(NET, (B, 1, 28, 28), depth=1)
    assert [row[0] for row in table.rows] == ["conv", "pool", "head"]
    assert table.rows[2][4:] == (8650, 10, 8650)
    assert table.footer[4:] == (8806, 3466, 98506)
    assert ps.summary(NET, (B, 1, 28, 28), depth=0).rows[0][:2] == ("Sequential", "Sequential")


def test_formats() -> None:
    """Text, HTML, LaTeX, Markdown and CSV, with symbols."""
    table = ps.summary(Sequential(Embedding(V, H), Dense(H, V)), (B, S))
    for words in (str(table), table.to_markdown(), table.to_html(), table.to_csv()):
        assert "Embedding" in words
        assert "connections" in words
    assert r"\begin{tabular}" in table.to_latex()
    assert "(B, S, H)" in str(table)


def test_copies_and_shared_blocks() -> None:
    """Equal copies share a row; what is stored once and used often is counted so."""
    table = ps.summary(ps.Repeat(Dense(H, H), L), (B, S, H))
    assert table.rows == (("{0..L-1}", "Dense", (B, S, H), (B, S, H), H**2 * L + H * L, H * L * S, H**2 * L * S + H * L * S),)
    shared = ps.summary(ps.Shared(Dense(H, H), L), (B, H))
    assert (shared.rows[0][4], shared.footer[6]) == (H**2 + H, H**2 * L + H * L)
    shrinking = ps.summary(ps.Shared(Sequential(Conv2d(1, 1, 3)), 2), (1, 1, 9, 9))
    assert [row[4] for row in shrinking.rows] == [10, 0]
    assert shrinking.footer[4] == 10


def test_tied_weights() -> None:
    """What a tie would count twice is taken back in a separate row."""
    tied = ps.Tied(Sequential(Embedding(V, H), Dense(H, V, bias=False)), {"1.weight": "0.weight"})
    table = ps.summary(tied, (B, S))
    assert table.rows[-1][0] == "shared"
    assert table.rows[-1][4] == -H * V
    assert table.footer[4] == tied.params == H * V


def test_what_only_training_uses() -> None:
    """GoogLeNet's two auxiliary classifiers are stored and not applied: torchvision counts 13,004,888 with them, 6,624,904 without."""
    table = ps.summary(ps.models.GoogLeNet("googlenet", aux_logits=True), (1, 3, 224, 224), depth=1)
    assert (table.rows[-1][0], table.rows[-1][4], table.footer[4]) == ("not applied", 13_004_888 - 6_624_904, 13_004_888)


def stages(name: str, shape: tuple[Any, ...], depth: int | None = None) -> list[tuple[Any, Any]]:
    """Return size and layers of every stage of a network."""
    return [(row[0], row[1]) for row in ps.summary(ps.load(name), shape, depth=depth, stages=True).rows]


def test_stages_of_vgg() -> None:
    """Configuration D of Simonyan and Zisserman 2015, table 1; each pooling begins a size."""
    assert stages("vgg16", (1, 3, 224, 224)) == [
        ("224 x 224", "2 Conv2d"),
        ("112 x 112", "MaxPool2d, 2 Conv2d"),
        ("56 x 56", "MaxPool2d, 3 Conv2d"),
        ("28 x 28", "MaxPool2d, 3 Conv2d"),
        ("14 x 14", "MaxPool2d, 3 Conv2d"),
        ("7 x 7", "MaxPool2d, AdaptiveAvgPool2d"),
        ("1 x 1", "3 Dense"),
    ]
    table, whole = (ps.summary(ps.load("vgg16"), (1, 3, 224, 224), stages=one) for one in (True, False))
    assert table.columns == ("size", "layers", "output", "parameters", "neurons", "connections")
    assert table.footer == ("total", "", *whole.footer[3:])
    for column in (3, 4, 5):
        assert sum(int(str(row[column])) for row in table.rows) == table.footer[column]


def test_stages_of_resnet() -> None:
    """He et al. 2016, table 1: output sizes and blocks of the 50-layer network."""
    assert stages("resnet50", (1, 3, 224, 224), 2) == [
        ("112 x 112", "Conv2d, BatchNorm2d"),
        ("56 x 56", "MaxPool2d, 3 Bottleneck"),
        ("28 x 28", "4 Bottleneck"),
        ("14 x 14", "6 Bottleneck"),
        ("7 x 7", "3 Bottleneck"),
        ("1 x 1", "AdaptiveAvgPool2d, Dense"),
    ]
    lettered = ps.models.ResNet()
    assert ps.summary(lettered, lettered.inputs["x"], stages=True).rows[1][1] == "MaxPool2d, (3*n1 + 2) Conv2d, (3*n1 + 2) BatchNorm2d"


@pytest.mark.parametrize(("name", "shape"), [("efficientnet_b0", (1, 3, 224, 224)), ("EfficientNetB0", (1, 224, 224, 3))])
def test_stages_with_means_inside(name: str, shape: tuple[Any, ...]) -> None:
    """Tan and Le 2019, table 1: the stages' sizes; squeeze-and-excitation, padding and rescaling make none of their own."""
    assert [size for size, _ in stages(name, shape)] == ["112 x 112", "56 x 56", "28 x 28", "14 x 14", "7 x 7", "1 x 1"]


def test_stages_of_branches_and_ways_back() -> None:
    """Branches to a smaller map are one size with it; a map that is made wider again has a row again."""
    sizes = [size for size, _ in stages("inception_v3", (1, 3, 299, 299))]
    assert sizes == [*(f"{side} x {side}" for side in (149, 147, 73, 71, 35, 17, 8, 1)), "not applied"]  # Szegedy et al. 2016, table 1
    unet = ps.models.UNet(1, 2)
    rows = ps.summary(unet, (1, 1, 32, 32), stages=True).rows
    assert [row[0] for row in rows] == [f"{side} x {side}" for side in (32, 16, 8, 4, 2, 4, 8, 16, 32)]
    assert ps.summary(Dense(H, H), (B, S, H), stages=True).rows[0][1] == "Dense"
    with pytest.raises(ps.ParamsymError, match="stages"):
        ps.summary(NET, (B, 1, 28, 28), stages=1)  # type: ignore[arg-type]


def test_layers_that_do_not_say() -> None:
    """A layer that does not say how often its weights are used leaves its cell, and the sum, open."""

    @dataclass(frozen=True)
    class Silent(ps.Layer):
        """A weight and a gate that are used somehow."""

        def tensors(self) -> Iterator[ps.Tensor]:
            """The weight, then the gate."""
            yield ps.Tensor("weight", (9, 8))
            yield ps.Tensor("gate", (8,))

        def output_shape(self, input_shape: Any) -> Any:
            """The same."""
            return input_shape

    table = ps.summary(Sequential(Silent(), ReLU()), (B, S, 8))
    assert table.rows[0][6] is None
    assert table.footer[6] is None
    assert table.footer[4] == 80


def test_states_and_unknown_extents() -> None:
    """States stand beside their output; what is unknown stays open."""
    table = ps.summary(ps.LSTM(3, 4, dialect="keras", return_state=True), (None, 5, 3))
    assert table.footer[3] == "((None, 4), (None, 4), (None, 4))"
    open_ended = ps.summary(Dense(3, 4), (None, None, 3))
    assert open_ended.rows[0][5] is None
    assert "None" in str(open_ended)


def test_errors_name_the_part() -> None:
    """The error is that of the shapes."""
    with pytest.raises(ShapeError, match=r"head\.1, a Dense"):
        ps.summary(NET, (B, 1, 20, 20))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("convnext_tiny", ["56 x 56", "28 x 28", "14 x 14", "7 x 7", "1 x 1"]),
        ("swin_t", ["56 x 56", "28 x 28", "14 x 14", "7 x 7", "1 x 1"]),
        ("maxvit_t", ["112 x 112", "56 x 56", "28 x 28", "14 x 14", "7 x 7", "1 x 1"]),
        ("vit_b_16", ["14 x 14", "1 x 1"]),
        ("ConvNeXtTiny", ["56 x 56", "28 x 28", "14 x 14", "7 x 7", "1 x 1"]),
    ],
)
def test_stages_with_the_channels_last(name: str, sizes: list[str]) -> None:
    """Liu et al. 2022, table 9; Liu et al. 2021, table 7; Tu et al. 2022, table 1: sequences, windows, and class tokens."""
    shape = (1, 224, 224, 3) if name[0].isupper() else (1, 3, 224, 224)
    table = ps.summary(ps.load(name), shape, stages=True)
    assert [row[0] for row in table.rows] == sizes
    assert sum(row[3] for row in table.rows) == ps.load(name).count


def test_stages_of_a_detector() -> None:
    """RetinaNet on 800x800 (Lin et al. 2017, figure 3): each subnet has two rows for all levels, four convolutions and a fifth."""
    levels = "100 x 100 to 7 x 7"
    assert stages("retinanet_resnet50_fpn", (1, 3, 800, 800))[-4:] == [(levels, layers) for layers in ("4 Conv2d", "Conv2d") * 2]
    table, whole = (ps.summary(ps.load("retinanet_resnet50_fpn"), (1, 3, 800, 800), stages=one) for one in (True, False))
    assert table.footer[3:] == whole.footer[4:]
    assert [sum(int(str(row[column])) for row in table.rows) for column in (3, 4, 5)] == list(table.footer[3:])


def test_stages_of_pooled_attention() -> None:
    """Fan et al. 2021, table 2: keys and values are pooled inside; if there is one head, their map has a row of its own."""
    table = ps.summary(ps.load("mvit_v2_s"), stages=True)
    sizes = ["8 x 56 x 56", "8 x 7 x 7", "8 x 56 x 56", "8 x 28 x 28", "8 x 14 x 14", "8 x 7 x 7", "1 x 1 x 1"]
    assert [row[0] for row in table.rows] == sizes
    assert table.rows[-2][2][1:] == (393, 768)


def test_an_extent_that_is_no_size() -> None:
    """The argument is named with the place of the extent."""
    with pytest.raises(SizeError, match=r"^input_shape\[0\] is 0\.5"):
        checked_shape((0.5, 3))


def test_a_size_that_no_map_has_is_no_stage() -> None:
    """Only convolutions and poolings make maps: what a layer without weights makes of one is no map if its size is another one."""
    table = ps.summary(Sequential(Conv2d(1, 2, 3), ps.Upsample(2)), (1, 1, 8, 8), stages=True)
    assert [row[0] for row in table.rows] == ["6 x 6"]
