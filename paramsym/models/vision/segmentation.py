"""FCN, DeepLabV3 and LRASPP: a class for every pixel. Reference: ``torchvision.models.segmentation``; tensors as in its state dicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import Sigmoid
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dropout import Dropout
from paramsym.models.blocks import Holder
from paramsym.models.resnet import ResNet
from paramsym.models.upernet import like
from paramsym.models.vision.blocks import Pictures, conv_norm, in_row, named, numbered, remembered, tapped
from paramsym.models.vision.mobilenet_v3 import MobileNetV3
from paramsym.program import Own, Value, join

Backbone = Literal["resnet50", "resnet101", "mobilenet_v3_large"]
_TAPS = {"resnet50": ("layer3", "layer4"), "resnet101": ("layer3", "layer4"), "mobilenet_v3_large": ("4", "16")}
_WIDTHS = {"resnet50": (1024, 2048), "resnet101": (1024, 2048), "mobilenet_v3_large": (40, 960)}
"""The layers of a backbone that feed an auxiliary classifier and the classifier, and their channels."""


@dataclass(frozen=True)
class _Segmenter(Pictures):
    """A dilated backbone, and classifiers whose maps are interpolated to the extents of the image."""

    backbone: Backbone = "resnet50"
    num_classes: Dim = N
    aux_loss: bool = False

    def _head(self, width: int) -> Layer:
        raise NotImplementedError

    def parts(self) -> Iterator[Part]:
        early, late = _WIDTHS[self.backbone]
        yield Part("backbone", _backbone(self.backbone, aux=self.aux_loss))
        yield Part("classifier", self._head(late))
        if self.aux_loss:
            yield Part("aux_classifier", _fcn_head(early, self.num_classes))

    def forward(self, own: Own, x: Value) -> Any:
        """Scores (batch, classes, height, width), and with an auxiliary classifier also its scores."""
        x = self.seen(x)
        found = own.backbone(x)
        *early, late = found if isinstance(found, tuple) else (found,)
        scores = [like(own.classifier(late), x), *(like(own.aux_classifier(one), x) for one in early)]
        return tuple(scores) if self.aux_loss else scores[0]


@named
@dataclass(frozen=True)
class FCN(_Segmenter):
    """A fully convolutional network: a convolution of 3x3 and one of 1x1 after a ResNet whose last two stages are dilated.

    ``aux_loss`` adds a second classifier after the third stage. The published names have it, as torchvision's parameters and FLOPs do.

    Source: Long et al. 2015, "Fully Convolutional Networks for Semantic Segmentation".

    >>> FCN("fcn_resnet50").params, FCN("fcn_resnet50", aux_loss=False).params
    (35322218, 32957013)
    """

    published, claims = published_in("vision.segmentation", "FCN")

    def _head(self, width: int) -> Layer:
        return _fcn_head(width, self.num_classes)


@named
@dataclass(frozen=True)
class DeepLabV3(_Segmenter):
    """Atrous spatial pyramid pooling after a dilated backbone: convolutions with dilations of 12, 24 and 36, a 1x1 one, and the mean.

    ``aux_loss`` adds a second classifier. The published names have it, as torchvision's parameters and FLOPs do.

    Source: Chen et al. 2017, "Rethinking Atrous Convolution for Semantic Image Segmentation", section 3.3.

    >>> DeepLabV3("deeplabv3_resnet50", aux_loss=False).params, DeepLabV3("deeplabv3_mobilenet_v3_large").params
    (39638869, 11029328)
    """

    published, claims = published_in("vision.segmentation", "DeepLabV3")

    def _head(self, width: int) -> Layer:
        between = 256
        return Sequential(_pyramid(width, between), *in_row(conv_norm(between, between)), Conv2d(between, self.num_classes, 1))


@named
@dataclass(frozen=True)
class LRASPP(Pictures):
    """Lite reduced atrous spatial pyramid pooling: a map of coarse features, weighted by its mean, and one of finer features.

    Source: Howard et al. 2019, "Searching for MobileNetV3", section 6.4 and figure 10.

    >>> LRASPP("lraspp_mobilenet_v3_large").params
    3221538
    """

    num_classes: Dim = N
    inter_channels: Dim = 128

    published, claims = published_in("vision.segmentation", "LRASPP")

    def parts(self) -> Iterator[Part]:
        low, high = _WIDTHS["mobilenet_v3_large"]
        wide, classes = self.inter_channels, self.num_classes
        yield Part("backbone", _backbone("mobilenet_v3_large", aux=True))
        layers = {
            "cbr": conv_norm(high, wide, 1),
            "scale": Sequential(AdaptiveAvgPool2d(1), Conv2d(high, wide, 1, bias=False), Sigmoid()),
            "low_classifier": Conv2d(low, classes, 1),
            "high_classifier": Conv2d(wide, classes, 1),
        }
        yield Part("classifier", _LiteHead(layers))

    def forward(self, own: Own, x: Value) -> Value:
        """Scores (batch, classes, height, width)."""
        x = self.seen(x)
        return like(own.classifier(*own.backbone(x)), x)


class _LiteHead(Holder):
    """Reference: ``LRASPPHead``."""

    def forward(self, own: Own, low: Value, high: Value) -> Value:
        coarse = like(own.cbr(high) * own.scale(high), low)
        return own.low_classifier(low) + own.high_classifier(coarse)


@remembered
def _fcn_head(width: int, classes: Dim) -> Sequential:
    between = width // 4
    return Sequential(*in_row(conv_norm(width, between)), Dropout(0.1), Conv2d(between, classes, 1))


@remembered
def _backbone(name: str, *, aux: bool) -> Layer:
    """A classification network without its classifier, its last stages dilated, with one or two tapped layers."""
    taps = _TAPS[name] if aux else _TAPS[name][1:]
    if name == "mobilenet_v3_large":
        return tapped(MobileNetV3("mobilenet_v3_large", dilated=True), taps)
    return tapped(ResNet(name, replace_stride_with_dilation=(False, True, True)), taps)


@remembered
def _pyramid(width: int, between: int) -> Layer:
    """Reference: ``ASPP``."""
    branches = [conv_norm(width, between, 1), *(conv_norm(width, between, 3, dilation=step) for step in (12, 24, 36))]
    branches.append(Sequential(AdaptiveAvgPool2d(1), *in_row(conv_norm(width, between, 1))))
    return _Pyramid({"convs": numbered(branches), "project": Sequential(*in_row(conv_norm(5 * between, between, 1)), Dropout(0.5))})


class _Pyramid(Holder):
    """Parallel branches, the last of which reads the mean of the map; their channels are joined and projected."""

    def forward(self, own: Own, x: Value) -> Value:
        found = [own[f"convs.{number}"](x) for number in range(5)]
        return own.project(join(*found[:-1], like(found[-1], x), axis=1))
