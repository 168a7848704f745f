"""Networks for images: names and multipliers that are refused, and rounded widths as formulas."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from sympy import Integer, Rational, Symbol

import paramsym as ps
from paramsym import C, dims
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError
from paramsym.models.vision.blocks import divisible, nearest_whole

w = dims("w")
models: Any = ps.models


def rounded(width: Fraction, divisor: int) -> int:
    """Round as the references write it, in exact fractions."""
    found = max(divisor, (width + Fraction(divisor, 2)) // divisor * divisor)
    return int(found + divisor if found < Fraction(9, 10) * width else found)


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


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: models.VGG("vgg15"), "vgg16"),
        (lambda: models.AlexNet("vgg16", 10), "there is no size 'vgg16'"),
        (lambda: models.AlexNet("alexnet", 10), "by keyword"),
        (lambda: models.VGG(cfg=((64,), ())), "wanted a stage or more"),
        (lambda: models.VGG(batch_norm=True, dialect="keras"), "no norms"),
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
