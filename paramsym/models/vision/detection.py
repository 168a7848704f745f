"""The common base of torchvision's detectors: a backbone with a pyramid of features, and heads for every position of every level.

Reference: ``torchvision.models.detection.backbone_utils`` and ``torchvision.ops.feature_pyramid_network``.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from paramsym.algebra.size import Dim, canonical
from paramsym.core.compose import Block, Sequential
from paramsym.core.layer import Layer
from paramsym.layers.convolution import Conv2d
from paramsym.models.blocks import Holder
from paramsym.models.resnet import ResNet
from paramsym.models.vision.blocks import RELU, Norm, Pictures, conv_norm, numbered, remembered, tapped
from paramsym.models.vision.mobilenet_v3 import MobileNetV3
from paramsym.program import Own, Value, apply, join, pool, rearrange, resample

Backbone: TypeAlias = Literal[
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "resnext101_64x4d",
    "wide_resnet50_2",
    "wide_resnet101_2",
    "mobilenet_v3_large",
]


@remembered
def pyramid(backbone: Backbone, width: Dim, stages: tuple[int, ...], norm: Norm, more: str = "pool", *, normed: bool = False) -> Sequential:
    """Return a backbone and the pyramid over its ``stages``: one map of ``width`` channels for each, and the ``more`` that follow.

    "pool" adds a map of every second position of the last one; "p5" and "c5" add two convolutions after the last map of the pyramid or of
    the backbone. ``normed`` adds a norm after every convolution of the pyramid. For a MobileNet always the last two stages are used.
    """
    if backbone == "mobilenet_v3_large":
        body, widths = tapped(MobileNetV3(backbone, norm_layer=norm), ("13", "16")), [160, 960]
    else:
        network = ResNet(backbone, norm_layer=norm)
        body, first = tapped(network, tuple(f"layer{stage}" for stage in stages)), 256 if network.block == "Bottleneck" else 64
        widths = [first * 2 ** (stage - 1) for stage in stages]
    inner = [_convolution(near, width, 1, normed=normed) for near in widths]
    outer = [_convolution(width, width, 3, normed=normed)] * len(widths)
    parts: dict[str, Layer] = {"inner_blocks": numbered(inner), "layer_blocks": numbered(outer)}
    if more != "pool":
        near = width if more == "p5" else widths[-1]
        parts["extra_blocks"] = Block(p6=Conv2d(near, width, 3, stride=2, padding=1), p7=Conv2d(width, width, 3, stride=2, padding=1))
    return Sequential(body=body, fpn=_Pyramid(parts, more))


def _convolution(near: Dim, far: Dim, kernel: int, *, normed: bool) -> Sequential:
    return conv_norm(near, far, kernel, 1, None) if normed else Sequential(Conv2d(near, far, kernel, padding=kernel // 2))


class _Pyramid(Holder):
    """Maps of one width: to each the next coarser one is added, enlarged (Lin et al. 2017, section 3)."""

    more: str

    def forward(self, own: Own, *maps: Value) -> tuple[Value, ...]:
        coarse: Any = None
        found: list[Value] = []
        for number in reversed(range(len(maps))):
            side = own[f"inner_blocks.{number}"](maps[number])
            coarse = side if coarse is None else side + resample("nearest", coarse, side.sizes[2:], (None, None))
            found.insert(0, own[f"layer_blocks.{number}"](coarse))
        if self.more == "pool":
            return (*found, pool("max", found[-1], (1, 1), (2, 2), ((0, 0), (0, 0))))
        sixth = own["extra_blocks.p6"](found[-1] if self.more == "p5" else maps[-1])
        return (*found, sixth, own["extra_blocks.p7"](apply("relu", sixth)))


class Head(Holder):
    """Convolutions ``conv`` of every map, and after them the ``predictors`` by name, each with its number of outputs per anchor."""

    predictors: tuple[tuple[str, Dim], ...]

    def forward(self, own: Own, *maps: Value) -> Any:
        """(batch, anchors of all positions of all maps, numbers) of each predictor."""
        read = [own.conv(one) for one in maps]
        found = [in_rows([own[name](one) for one in read], numbers) for name, numbers in self.predictors]
        return tuple(found) if len(found) > 1 else found[0]


class OneStage(Pictures):
    """A detector whose two heads read the maps of the backbone at once."""

    def forward(self, own: Own, x: Value) -> tuple[Value, ...]:
        """Scores (batch, boxes, classes), and the moves of the boxes, (batch, boxes, 4)."""
        maps = own.backbone(self.seen(x))
        return own["head.classification_head"](*maps), own["head.regression_head"](*maps)


def head(conv: Layer, width: Dim, anchors: Dim, kernel: int, **predictors: Dim) -> Head:
    """Return a head whose predictors have these numbers of outputs for each of a position's anchors."""
    layers = {name: Conv2d(width, canonical(anchors * numbers), kernel, padding=kernel // 2) for name, numbers in predictors.items()}
    return Head({"conv": conv, **layers}, tuple(predictors.items()))


def plain(width: Dim, depth: int) -> Sequential:
    """Return convolutions of 3x3 with a bias, each with an activation."""
    return Sequential(*[Sequential(Conv2d(width, width, 3, padding=1), RELU)] * depth)


def in_rows(maps: list[Value], numbers: Dim) -> Value:
    """Return predictions at every position of every map, (batch, anchors, numbers): position by position, then anchor by anchor."""
    return join(*(rearrange(one, "b (a k) h w -> b (h w a) k", k=numbers) for one in maps), axis=1)
