"""Networks of Keras: arguments that are refused, networks without their classifier, and what a graph's order is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from amount import cases, sample

import paramsym as ps
from paramsym import B, C, W, dims
from paramsym.errors import ArgumentError, DivisibilityError, ParamsymError, ShapeError
from paramsym.models.applications.drawing import HalvingPad, LayerScale, Map, Merge, ScaledSum, in_keras_order

models: Any = ps.models
w = dims("w")


@cases(6)
@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: models.KerasResNet("ResNet51"), "ResNet50"),
        (lambda: models.KerasResNet("ResNet50", 10), "by keyword"),
        (lambda: models.KerasResNet("ResNet50", input_shape=(224, 224)), r"wanted \(height, width, channels\)"),
        (lambda: models.KerasResNet("ResNet50", input_shape=(224, 224, None)), "None"),
        (lambda: models.KerasResNet("ResNet50", input_shape=(31, 224, 3)), "KerasResNet takes images from 32 by 32 on"),
        (lambda: models.Xception("Xception", input_shape=(None, 70, 3)), "from 71 by 71 on"),
        (lambda: models.KerasResNet("ResNet50", pooling="mean"), "pooling"),
        (lambda: models.MobileNet(alpha=0.5), r"wanted an exact fraction, as in Rational\(1, 2\)"),
        (lambda: models.KerasMobileNetV2(alpha=0), "wanted more than zero"),
        (lambda: models.KerasEfficientNet(drop_connect_rate=10**75), "a probability is between 0 and 1"),
        (lambda: models.KerasEfficientNet(depth_coefficient=w), "depth_coefficient is w; wanted a number"),
        (lambda: models.KerasConvNeXt((1, 2)), "4 projection_dims and 2 depths"),
        (lambda: models.MobileNet(alpha=None), "alpha is None"),
        (lambda: models.MobileNet(alpha=float("nan")), "alpha is nan"),
        (lambda: models.KerasDenseNet((10**30,)), "more than 20,000 layers"),
    ],
)
def test_refused(build: Any, said: str) -> None:
    """What cannot be is one error that says what was wanted."""
    with pytest.raises(ArgumentError, match=said):
        build()


def test_refused_sizes() -> None:
    """Widths that do not divide, and images with other channels."""
    with pytest.raises(DivisibilityError, match="penultimate_filters"):
        models.NASNet(100)
    with pytest.raises(ShapeError, match="channels"):
        ps.output_shape(ps.load("ResNet50"), (1, 224, 224, 4))
    with pytest.raises(ShapeError):
        ps.output_shape(ps.load("VGG16"), (1, 192, 192, 3))  # its first matrix is made for sides of 224


def test_names() -> None:
    """Keras' spelling means Keras' network, torchvision's torchvision's; the whole name is the same as the short one."""
    for keras, torchvision in (
        ("ResNet50", "resnet50"),
        ("VGG16", "vgg16"),
        ("DenseNet121", "densenet121"),
        ("MobileNetV2", "mobilenet_v2"),
    ):
        theirs, others = ps.load(keras), ps.load(torchvision)
        assert theirs == ps.load(f"keras.applications.{keras}")
        assert "predictions.kernel" in theirs.shapes()
        assert "predictions.kernel" not in others.shapes()
    assert ps.load("MobileNet").count == ps.load("mobilenet").count == 4_231_976
    for unknown in ("ResNet51", "keras.applications.ResNet51"):
        with pytest.raises(ParamsymError, match="did you mean"):
            ps.load(unknown)


LAST = {
    "VGG16": 512,
    "Xception": 2048,
    "ResNet50": 2048,
    "ResNet50V2": 2048,
    "DenseNet121": 1024,
    "InceptionV3": 2048,
    "InceptionResNetV2": 1536,
    "NASNetMobile": 1056,
    "MobileNet": 1024,
    "MobileNetV2": 1280,
    "MobileNetV3Small": 576,
    "MobileNetV3Large": 960,
    "EfficientNetB0": 1280,
    "EfficientNetV2S": 1280,
    "ConvNeXtTiny": 768,
}
"""The width of the last map, as keras.io documents it for networks without the classifier."""


@cases(4)
@pytest.mark.parametrize("name", LAST)
def test_without_the_classifier(name: str) -> None:
    """The last map, or one number for each of its channels; the weights before the classifier stay."""
    cls, width = type(ps.load(name)), LAST[name]
    places, *pooled = (cls(name, include_top=False, pooling=pooling, input_shape=(128, 96, 3)) for pooling in (None, "avg", "max"))
    batch, height, across, channels = ps.output_shape(places, (B, 128, 96, 3))
    assert (batch, channels) == (B, width)
    assert (height, across) in {(4, 3), (2, 1)}  # Inception and its relatives leave the edges out
    for network in pooled:
        assert ps.output_shape(network, (B, 128, 96, 3)) == (B, width)
        assert network.count == places.count
    assert set(places.shapes()) - {"layer_normalization.gamma", "layer_normalization.beta"} < set(ps.load(name).shapes())


def test_pieces_that_may_be_left_out() -> None:
    """Preprocessing and dropout store nothing; scores come out without the last activation; ``minimalistic`` has no squeezing."""
    whole = models.KerasMobileNetV3("MobileNetV3Small")
    bare = models.KerasMobileNetV3("MobileNetV3Small", include_preprocessing=False, dropout_rate=0, classifier_activation=None)
    assert whole.shapes() == bare.shapes()
    assert {part.name for part in whole.own_parts} - {part.name for part in bare.own_parts} == {"rescaling", "dropout"}
    assert type(bare.part("predictions")).__name__ == "Identity"
    minimal = models.KerasMobileNetV3("MobileNetV3Small", minimalistic=True)
    assert not any("squeeze" in name for name in minimal.shapes())
    assert {shape[:2] for name, shape in minimal.shapes().items() if "depthwise.kernel" in name} == {(3, 3)}
    assert type(models.KerasResNet("ResNet50", classifier_activation=None).part("predictions")).__name__ == "Dense"
    grey = models.KerasEfficientNetV2("EfficientNetV2B0", input_shape=(64, 64, 1))
    assert "normalization" not in {part.name for part in grey.own_parts}
    for cls, name in ((models.KerasEfficientNetV2, "EfficientNetV2S"), (models.KerasConvNeXt, "ConvNeXtTiny")):
        plain = cls(name, include_preprocessing=False)
        assert plain.count == ps.load(name).count
        assert len(plain.own_parts) == len(ps.load(name).own_parts) - 1


def test_multipliers_in_letters() -> None:
    """A multiplier with a letter gives what its value gives."""
    for cls, multiplier in (
        (models.MobileNet, "alpha"),
        (models.KerasMobileNetV2, "alpha"),
        (models.KerasMobileNetV3, "alpha"),
        (models.KerasEfficientNet, "width_coefficient"),
        (models.KerasEfficientNetV2, "width_coefficient"),
    ):
        lettered = cls(**{multiplier: w / 8}, classes=10)
        for eighths in sample(1, (3, 8, 11)):
            assert lettered.at(w=eighths).count == cls(**{multiplier: Fraction(eighths, 8)}, classes=10).count
    assert models.KerasResNet((1, 1), C).params.diff(C).subs({C: 1, dims("N"): 1}) > 0
    assert models.KerasVGG(((C,), (2 * C,)), classes=10, input_shape=(32, 32, 3)).part("block2_conv1").params == 18 * C**2 + 2 * C


def test_two_ways_to_round() -> None:
    """16 channels times 14/25 are 8.96: Keras takes the whole part first, 8; torchvision goes up, because 8 is less than nine tenths."""
    alpha = Fraction(14, 25)
    assert models.KerasMobileNetV2(alpha=alpha).shapes()["expanded_conv_project.kernel"][-1] == 8
    assert models.MobileNetV2(width_mult=alpha).shapes()["features.1.conv.1.weight"][0] == 16


def test_inputs() -> None:
    """Open sides are letters, or those of the weights where letters leave floors."""
    assert models.KerasResNet().inputs == {"x": (B, 32 * W, 32 * W, 3)}
    assert models.KerasResNet(input_shape=(None, 64, C)).inputs == {"x": (B, 32 * W, 64, C)}
    assert models.Xception().inputs == {"x": (B, 299, 299, 3)}
    assert models.KerasEfficientNet("EfficientNetB3").inputs == {"x": (B, 300, 300, 3)}


@pytest.mark.parametrize(("side", "kernel", "left"), [(7, 3, 9), (8, 3, 9), (7, 5, 11), (8, 5, 11), (2 * W, 3, 2 * W + 1)])
def test_padding_for_windows_that_move_by_two(side: Any, kernel: int, left: Any) -> None:
    """Odd sides get half of the window on both sides, even ones one less in front; half of the places are left, rounded up."""
    padded = ps.output_shape(HalvingPad(kernel), (1, side, side, 3))
    assert padded == (1, left, left, 3)
    window = ps.Conv2d(3, 3, kernel, 2, "valid", dialect="keras")
    assert ps.output_shape(window, padded)[1] == (-(-side // 2) if isinstance(side, int) else W)


def test_pieces_compute() -> None:
    """What sums, products, scaled sums and scales give, by hand."""
    xp = pytest.importorskip("numpy")
    one, other = xp.full((1, 2, 2, 3), 2.0), xp.full((1, 2, 2, 3), 5.0)
    assert (ps.run(Merge("add"), {}, one, other, one) == 9).all()
    assert (ps.run(Merge("multiply"), {}, one, other) == 10).all()
    assert ps.run(Merge("concatenate"), {}, one, other).shape == (1, 2, 2, 6)
    assert (ps.run(ScaledSum(0.5), {}, one, other) == 4.5).all()
    assert (ps.run(LayerScale(3, "variable"), {"variable": xp.array([1.0, 2.0, 3.0])}, one)[0, 0, 0] == [2, 4, 6]).all()


def test_order() -> None:
    """Layers that are farther from the end come first; of those equally far, the one that the walk back meets first."""
    x = Map(3)
    long = x.conv(4, 1, "a").norm("b").act(name="c")
    short = x.conv(4, 1, "d")
    end = long.plus(short, name="e")
    assert [one.name for one in in_keras_order(end)] == ["", "a", "b", "c", "d", "e"]
    assert [one.name for one in in_keras_order(short.plus(long, name="e"))] == ["", "a", "b", "d", "c", "e"]
    assert [x.act().name, x.act().name, x.act(name="given").name, x.act().name] == ["activation", "activation_1", "given", "activation_2"]
