"""Networks for images: names and multipliers that are refused, and rounded widths as formulas."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from amount import cases
from sympy import Integer, Rational, Symbol

import paramsym as ps
from paramsym import C, dims
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError
from paramsym.models.vision.widths import divisible, nearest_whole

w = dims("w")
models: Any = ps.models


def rounded(width: Fraction, divisor: int) -> int:
    """Round as the references write it, in exact fractions."""
    found = max(divisor, (width + Fraction(divisor, 2)) // divisor * divisor)
    return int(found + divisor if found < Fraction(9, 10) * width else found)


@cases(1)
@pytest.mark.parametrize("divisor", [1, 4, 8])
def test_rounded_widths(divisor: int) -> None:
    """The closed form is the reference's rule, in numbers and in letters."""
    for channels in (1, 3, 16, 24, 32, 40, 1280):
        formula = divisible(channels * w * Rational(1, 24), divisor)
        for numerator in range(1, 80):
            wanted = rounded(Fraction(channels * numerator, 24), divisor)
            assert divisible(Rational(channels * numerator, 24), divisor) == wanted
            assert ps.Dense(1, formula, bias=False).at(w=numerator).count == wanted


def test_nearest_whole() -> None:
    """Halves go to the even number, as Python's ``round`` does; in letters too."""
    formula = ps.Dense(1, nearest_whole(w * Rational(1, 4)) + 1, bias=False)
    for numerator in range(1, 40):
        assert nearest_whole(Rational(numerator, 4)) == round(Fraction(numerator, 4)) == formula.at(w=numerator).count - 1


def test_a_word_of_the_first_argument() -> None:
    """The first argument of torchvision's class may be a word that is not a published name."""
    assert models.SqueezeNet("1_1", num_classes=5) == models.SqueezeNet(version="1_1", num_classes=5)
    assert models.FasterRCNN("resnet18").backbone == "resnet18"


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: models.VGG("vgg15"), "vgg16"),
        (lambda: models.AlexNet("vgg16", 10), "there is no size 'vgg16'"),
        (lambda: models.AlexNet("alexnet", 10), "by keyword"),
        (lambda: models.VGG(cfg=((64,), ())), "wanted one stage or more"),
        (lambda: models.MobileNetV2(width_mult=1.4), r"wanted an exact fraction, as in Rational\(7, 5\)"),
        (lambda: models.MobileNetV2(width_mult=0), "wanted more than zero"),
        (lambda: models.MobileNetV2(width_mult=True), "wanted an exact fraction"),
        (lambda: models.MobileNetV2(width_mult=Symbol("c", commutative=False)), "width_mult is c .*wanted an exact fraction"),
        (lambda: models.MobileNetV2(width_mult=float("-inf")), r"width_mult is -inf \(float\); wanted an exact fraction\."),
        (lambda: models.EfficientNet(depth_mult="2"), "depth_mult"),
        (lambda: models.RegNet(depths=(1, 2)), "one of each for every stage"),
        (lambda: models.ConvNeXt(depths=(1, 2)), "4 widths and 2 depths"),
        (lambda: models.SwinTransformer(depths=(1, 2)), "2 depths and 4 num_heads"),
    ],
)
def test_refused(build: Any, said: str) -> None:
    """What cannot be is one error that says what was wanted."""
    with pytest.raises(ArgumentError, match=said):
        build()


def test_refused_sizes() -> None:
    """Groups, halves and positions that do not fit."""
    with pytest.raises(DivisibilityError, match="group_widths"):
        models.RegNet((1,), (24,), (7,))
    with pytest.raises(DivisibilityError, match="stages_out_channels"):
        models.ShuffleNetV2((1, 1, 1), (8, 9, 10, 12, 16))
    with pytest.raises(ShapeError, match="for which there are positions"):
        ps.output_shape(ps.load("vit_b_16"), (1, 3, 256, 256))


def test_names() -> None:
    """A class's name is the class in letters; torchvision's name the network, of which other arguments change one thing."""
    assert ps.load("AlexNet") == models.AlexNet()
    assert ps.load("alexnet") == models.AlexNet("alexnet")
    assert models.AlexNet("alexnet", num_classes=10).count == 61_100_840 - 990 * 4097
    assert models.AlexNet("alexnet", in_channels=C).params.diff(C) == 64 * 11**2
    assert models.MobileNetV2("mobilenet_v2", width_mult=w / 2, num_classes=7).at(w=2).count == Integer(2_223_872 + 7 * 1281)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: models.MaxVit(block_layers=(1, 2)), "4 block_channels and 2 block_layers"),
        (lambda: models.SwinTransformer3d(depths=(1, 2)), "2 depths and 4 num_heads"),
        (lambda: models.MViT(depths=()), "depths is empty"),
        (lambda: models.SSD(num_anchors=(4, 6)), "wanted six"),
        (lambda: models.SSDLite(num_anchors=(6,) * 7), "num_anchors has 7 entries"),
        (lambda: models.FasterRCNN("fasterrcnn_resnet50"), "fasterrcnn_resnet50_fpn"),
    ],
)
def test_refused_layouts(build: Any, said: str) -> None:
    """Stages, maps and names that are not there."""
    with pytest.raises(ArgumentError, match=said):
        build()


@pytest.mark.parametrize(
    ("name", "shapes", "said"),
    [
        ("maxvit_t", ((1, 3, 256, 256),), r"wanted|takes \(224, 224\)"),
        ("mvit_v2_s", ((1, 3, 16, 256, 224),), "for which there are positions"),
        ("maskrcnn_resnet50_fpn", ((1, 3, 64, 64), (5, 128, 7, 7)), "wanted 256"),
        ("maskrcnn_resnet50_fpn", ((1, 3, 64, 64), (5, 256, 7, 7), (2, 256, 7, 7)), "wanted 14"),
    ],
)
def test_refused_inputs(name: str, shapes: tuple[tuple[int, ...], ...], said: str) -> None:
    """Images of another size than there are positions for, and regions of another one than the heads look at."""
    with pytest.raises(ShapeError, match=said):
        ps.flops(ps.load(name), *shapes)


def test_stages_without_regions() -> None:
    """A detector answers as far as it is given what to look at."""
    mask = ps.load("maskrcnn_resnet50_fpn", None)
    counts = [
        len(ps.output_shape(mask, shapes))
        for shapes in (((1, 3, 64, 64), (5, 256, 7, 7)), ((1, 3, 64, 64), (5, 256, 7, 7), (2, 256, 14, 14)))
    ]
    assert counts == [4, 5]
    assert ps.output_shape(mask, (1, 3, 64, 64)) == ((1, 3 * 341, 1), (1, 3 * 341, 4))


def test_blocks_of_one() -> None:
    """A stage of one block both pools and widens; a depth in letters has two or more, and counts the same."""
    depths = dims("L_1 L_2 L_3")
    for flags in ({}, {"proj_after_attn": True, "rel_pos_embed": True}):
        network = models.MViT(depths=depths, **flags)
        assert (
            network.at(L_1=1, L_2=1, L_3=1).formula.xreplace(dict.fromkeys(depths, Integer(1))).expand()
            == models.MViT(depths=(1, 1, 1), **flags).params
        )


@pytest.mark.parametrize(
    ("name", "size", "flops"),
    [
        ("swin3d_t", (1, 3, 8, 64, 100), 6_000_336_384),
        ("swin3d_t", (2, 3, 17, 61, 30), 12_840_483_840),
        ("swin3d_t", (1, 3, 19, 240, 30), 25_281_240_576),
        ("mvit_v1_b", (1, 3, 4, 72, 72), 3_620_770_944),
        ("mvit_v1_b", (1, 3, 6, 64, 44), 2_714_236_800),
        ("mvit_v2_s", (1, 3, 4, 72, 72), 3_253_044_096),
        ("mvit_v2_s", (1, 3, 6, 64, 44), 2_417_076_096),
    ],
)
def test_videos_of_odd_extents(name: str, size: tuple[int, ...], flops: int) -> None:
    """Windows that shrink, and tables of another length than there are distances: torch 2.13's counter on torchvision 0.28, 5 classes."""
    frames, *sides = size[2:]
    if name.startswith("swin"):
        network = models.SwinTransformer3d(name, num_classes=5)
    else:
        network = models.MViT(name, num_classes=5, spatial_size=tuple(sides), temporal_size=frames, residual_with_cls_embed=frames == 6)
    assert ps.flops(network, size).total == flops


def test_the_sides_that_a_maxvit_divides() -> None:
    """The stem and each of two blocks halve a side, and the last block divides what is left into windows of 7: 8*7*W."""
    net = models.MaxVit(block_channels=(8, 16), block_layers=(1, 1), partition_size=7)
    assert net.inputs["x"][2:] == (56 * ps.W, 56 * ps.W)


def test_the_names_of_an_inverted_residual_of_maxvit() -> None:
    """Names and shapes as torchvision 0.28 prints them for MaxVit((32, 32), 8, 4, [8], [1], 4, 0.0), in the order of its state dict."""
    net = models.MaxVit(input_size=(32, 32), stem_channels=8, partition_size=4, block_channels=(8,), block_layers=(1,), head_dim=4)
    home = "blocks.0.layers.0.layers.MBconv."
    found = {name.removeprefix(home): shape for name, shape in net.shapes().items() if name.startswith(home)}
    assert list(found.items()) == [
        ("proj.1.weight", (8, 8, 1, 1)),
        ("proj.1.bias", (8,)),
        ("layers.pre_norm.weight", (8,)),
        ("layers.pre_norm.bias", (8,)),
        ("layers.conv_a.0.weight", (32, 8, 1, 1)),
        ("layers.conv_a.1.weight", (32,)),
        ("layers.conv_a.1.bias", (32,)),
        ("layers.conv_b.0.weight", (32, 1, 3, 3)),
        ("layers.conv_b.1.weight", (32,)),
        ("layers.conv_b.1.bias", (32,)),
        ("layers.squeeze_excitation.fc1.weight", (2, 32, 1, 1)),
        ("layers.squeeze_excitation.fc1.bias", (2,)),
        ("layers.squeeze_excitation.fc2.weight", (32, 2, 1, 1)),
        ("layers.squeeze_excitation.fc2.bias", (32,)),
        ("layers.conv_c.weight", (8, 32, 1, 1)),
        ("layers.conv_c.bias", (8,)),
    ]
