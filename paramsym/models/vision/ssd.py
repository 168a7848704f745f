"""SSD and SSDLite. Reference: ``torchvision.models.detection.ssd`` and ``ssdlite``; tensors as in their state dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf

from paramsym.algebra.size import Dim, canonical
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Block, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.activation import ReLU6
from paramsym.layers.convolution import Conv2d
from paramsym.layers.pooling import MaxPool2d
from paramsym.models.blocks import Holder
from paramsym.models.vision.blocks import RELU, conv_norm, in_row, named, numbered, remembered
from paramsym.models.vision.detection import OneStage, in_rows
from paramsym.models.vision.mobilenet_v3 import MobileNetV3
from paramsym.models.vision.vgg import VGG
from paramsym.program import Own, Value, apply, rearrange, reduce

_WIDTHS = (512, 1024, 512, 256, 256, 256)
_BOXES = (4, 6, 6, 6, 4, 4)
_EPS = 0.001


class _SSD(OneStage):
    """Maps of six extents, each with a convolution that scores its boxes and one that moves them."""

    num_anchors: tuple[Dim, ...]

    def conditions(self) -> None:
        if len(self.num_anchors) != 6:
            raise ArgumentError(f"num_anchors has {len(self.num_anchors)} entries; wanted six, the boxes of a position of each map.")


@named
@dataclass(frozen=True)
class SSD(_SSD):
    """VGG-16 without its classifier, more convolutions after it, and boxes of six maps, with fewer and larger boxes from map to map.

    ``num_anchors`` are the boxes of a position of each map. Which of them are objects depends on the data: those whose scores are above a
    threshold, without those that overlap a better one; this choice is not counted here. torchvision resizes every image to 300x300.

    Raises:
        ArgumentError: not six entries of ``num_anchors``, or an unknown name.

    Source: Liu et al. 2016, "SSD: Single Shot MultiBox Detector", section 2 and figure 2.

    >>> SSD("ssd300_vgg16").params
    35641826
    >>> SSD().part("head.classification_head").params
    133662*N
    """

    num_classes: Dim = N
    num_anchors: tuple[Dim, ...] = _BOXES

    published, claims = published_in("vision.ssd", "SSD")
    usual = 300

    def parts(self) -> Iterator[Part]:
        yield Part("backbone", _vgg())
        yield Part("head", _heads(_WIDTHS, self.num_anchors, self.num_classes, partial(Conv2d, kernel_size=3, padding=1)))


@named
@dataclass(frozen=True)
class SSDLite(_SSD):
    """SSD of separable convolutions on a MobileNetV3, for images of 320x320.

    ``reduced_tail`` halves the last blocks of the backbone, as in the published network. The rest is as in ``SSD``.

    Raises:
        ArgumentError: not six entries of ``num_anchors``, or an unknown name.

    Source: Sandler et al. 2018, "MobileNetV2: Inverted Residuals and Linear Bottlenecks", section 6.2; Howard et al. 2019, "Searching for
    MobileNetV3", section 6.3.

    >>> SSDLite("ssdlite320_mobilenet_v3_large").params
    3440060
    """

    num_classes: Dim = N
    num_anchors: tuple[Dim, ...] = (6,) * 6
    reduced_tail: bool = True

    published, claims = published_in("vision.ssd", "SSDLite")
    usual = 320

    def parts(self) -> Iterator[Part]:
        last = 480 if self.reduced_tail else 960
        yield Part("backbone", _mobilenet(self.reduced_tail, last))
        yield Part("head", _heads((672, last, 512, 256, 256, 128), self.num_anchors, self.num_classes, _separable))


@remembered
def _vgg() -> Layer:
    """VGG-16 up to the last convolution before its fourth pooling, and the layers after it. Reference: ``SSDFeatureExtractorVGG``."""
    (features, *_) = VGG().own_parts
    layers = list(in_row(features.layer))
    _, _, third, fourth, _ = (number for number, layer in enumerate(layers) if isinstance(layer, MaxPool2d))
    layers[third] = MaxPool2d(2, 2, ceil_mode=True)
    atrous = Conv2d(512, 1024, 3, padding=6, dilation=6)
    later: list[Layer] = [Sequential(*layers[fourth:-1], Sequential(MaxPool2d(3, 1, 1), atrous, RELU, Conv2d(1024, 1024, 1), RELU))]
    for near, between, far, stride, padding in (
        (1024, 256, 512, 2, 1),
        (512, 128, 256, 2, 1),
        (256, 128, 256, 1, 0),
        (256, 128, 256, 1, 0),
    ):
        later.append(Sequential(Conv2d(near, between, 1), RELU, Conv2d(between, far, 3, stride=stride, padding=padding), RELU))
    return _Scaled({"features": Sequential(*layers[:fourth]), "extra": numbered(later)})


class _Scaled(Holder):
    """Layers that return all their outputs; in the first, the channels at every position are scaled to a learned length."""

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("scale_weight", (512,), role="scale")

    def forward(self, own: Own, x: Value) -> tuple[Value, ...]:
        x = own.features(x)
        length = apply("clip", apply("sqrt", reduce("sum", x * x, 1, keep=True)), 1e-12, inf)
        found = [rearrange(own.scale_weight, "c -> () c () ()") * (x / length)]
        for number in range(5):
            x = own[f"extra.{number}"](x)
            found.append(x)
        return tuple(found)


@remembered
def _mobilenet(reduced: bool, last: int) -> Layer:
    """MobileNetV3 in two parts, divided inside the last block that halves the extents. Reference: ``SSDLiteFeatureExtractorMobileNet``."""
    (features, *_) = MobileNetV3("mobilenet_v3_large", reduced_tail=reduced).own_parts
    layers = list(in_row(features.layer))
    block = layers[13].part("block")
    expanded, *rest = in_row(block)
    halves = (Sequential(*layers[:13], expanded), Sequential(Sequential({str(n): one for n, one in enumerate(rest, 1)}), *layers[14:]))
    widths = (last, 512, 256, 256, 128)
    more = [_extra(near, far) for near, far in pairwise(widths)]
    return _Shown({"features": Sequential(*halves), "extra": numbered(more)})


class _Shown(Holder):
    """Layers that also return each output."""

    def forward(self, own: Own, x: Value) -> tuple[Value, ...]:
        found = []
        for name in ("features.0", "features.1", *(f"extra.{number}" for number in range(4))):
            x = own[name](x)
            found.append(x)
        return tuple(found)


def _extra(near: int, far: int) -> Sequential:
    between, act = far // 2, ReLU6()
    return Sequential(
        conv_norm(near, between, 1, 1, act, eps=_EPS),
        conv_norm(between, between, 3, 2, act, groups=between, eps=_EPS),
        conv_norm(between, far, 1, 1, act, eps=_EPS),
    )


def _separable(near: int, far: Dim) -> Layer:
    return Sequential(conv_norm(near, near, 3, 1, ReLU6(), groups=near, eps=_EPS), Conv2d(near, far, 1))


def _heads(widths: Sequence[int], anchors: tuple[Dim, ...], classes: Dim, make: Callable[[int, Dim], Layer]) -> Block:
    found = {}
    for name, numbers in (("classification_head", classes), ("regression_head", 4)):
        layers = [make(near, canonical(boxes * numbers)) for near, boxes in zip(widths, anchors, strict=True)]
        found[name] = _Head({"module_list": numbered(layers)}, numbers)
    return Block(found)


class _Head(Holder):
    """Predictors, one for each map, and the number of outputs per box. Reference: ``SSDScoringHead``."""

    numbers: Dim

    def forward(self, own: Own, *maps: Value) -> Value:
        """(batch, boxes of all positions of all maps, numbers)."""
        return in_rows([own[f"module_list.{number}"](one) for number, one in enumerate(maps)], self.numbers)
