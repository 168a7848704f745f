"""Multipliers of widths and depths: Python's product of floats, with the references' rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from amount import cases
from sympy import Rational

import paramsym as ps
from paramsym.errors import ShapeError
from paramsym.models.vision.widths import divisible, nearest_whole, scaled, scaled_down, up

WIDTHS = (8, 16, 24, 25, 32, 40, 50, 64, 72, 80, 96, 100, 112, 120, 160, 184, 192, 200, 240, 320, 480, 576, 672, 960, 1024, 1280, 1536)


def of_torchvision(v: float, divisor: int = 8) -> int:
    """Return the result of ``_make_divisible`` of torchvision and of Keras."""
    rounded = max(divisor, int(v + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * v else rounded


@cases(0)
@pytest.mark.parametrize("parts", [100, 1000])
def test_every_hundredth_of_every_width(parts: int) -> None:
    """200 * 0.58 is 115.99999999999999, and becomes 112 and not 120; 100 * 0.29 becomes 28."""
    for number in range(1, 2 * parts + 1, parts // 100 + parts // 200):
        fraction, written = Rational(number, parts), number / parts
        for width in WIDTHS:
            product = scaled(width, int(fraction) if fraction.is_Integer else fraction)
            assert divisible(product) == of_torchvision(width * written)
            assert up(product) == math.ceil(width * written)
            assert nearest_whole(product) == round(width * written)
            assert scaled_down(width, fraction, "a") == int(width * written)


def test_widths_in_which_a_float_decides() -> None:
    """MobileNet v3 expands to 200 channels; 0.58 of these is 112: ``width_mult=0.58`` in torchvision."""
    small = ps.models.MobileNetV3(width_mult=Rational(58, 100), num_classes=10)
    names = [shape[0] for shape in small.shapes().values() if len(shape) == 4]
    assert of_torchvision(200 * 0.58) == 112
    assert 112 in names
    assert 120 not in names
    assert ps.models.MobileNetV3(width_mult=Fraction(29, 50), num_classes=10) == small


@pytest.mark.parametrize("model", [ps.models.SwinTransformer, ps.models.MaxVit])
def test_a_letter_and_a_fraction(model: type[ps.Layer]) -> None:
    """The inner width of a block is ``int(mlp_ratio * width)``: there is no formula for 29/100 of a letter, and there is one for 12/5."""
    with pytest.raises(ShapeError, match=r"mlp_ratio is 0.29, and the reference rounds its products in floating point"):
        model(mlp_ratio=Rational(29, 100)).params  # noqa: B018 - built when it is read
    assert model(mlp_ratio=Rational(12, 5)).symbols == model().symbols


def test_multipliers_without_bound() -> None:
    """Multipliers beyond the range of floats are exact and do not overflow; the least width is 8."""
    large, small = Rational(10**400, 3), Rational(1, 10**400)
    assert divisible(scaled(32, large)) % 8 == 0 < abs(divisible(scaled(32, large)) - 32 * large) <= 4
    nets = [ps.models.MobileNetV2(width_mult=multiplier, num_classes=10) for multiplier in (small, Rational(1, 1000))]
    assert nets[0].count == nets[1].count


@pytest.mark.parametrize("ratio", [0.29, 0.57, 1.1, 1.15, 1.7, 2.3, 2.4, 2.9, 3.3, 3.7, 4.0, 4.6, 4.7])
def test_every_ratio_of_swin(ratio: float) -> None:
    """The inner width is ``int(mlp_ratio * width)``, as in ``transformers.models.swin.modeling_swin``; 2.4 at 80 gives 192."""
    for width in (*range(8, 104, 8), 30, 50, 100, 128, 192, 200, 250, 300):
        model = ps.models.Swin(embed_dim=width, mlp_ratio=ratio, depths=(1, 1), num_heads=(1, 1), window_size=2, patch_size=4)
        shapes = model.shapes()
        for stage in (0, 1):
            assert shapes[f"encoder.layers.{stage}.blocks.0.mlp.fc1.weight"][0] == int(ratio * 2**stage * width)
