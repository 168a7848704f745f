"""MobileNetV2. Reference: ``torchvision.models.mobilenetv2``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.algebra.size import Dim, canonical
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import ReLU6
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.models.vision.blocks import Classifier, conv_norm, in_row, named, remembered
from paramsym.models.vision.inverted import inverted, residual
from paramsym.models.vision.widths import Ratio, divisible, last_width, scaled

TABLE_2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Expansion, channels, blocks and stride of every stage (Sandler et al. 2018, table 2)."""


@named
@dataclass(frozen=True)
class MobileNetV2(Classifier):
    """Inverted residuals: many channels inside, with a depthwise convolution, and few between the blocks.

    ``inverted_residual_setting`` has a row (expansion t, channels c, blocks n, stride s) for every stage. ``width_mult`` is an exact
    fraction; every width is rounded to a multiple of ``round_nearest``, and rounded up if it would lose more than a tenth: with q =
    c*width/8 it is 8*max(1, floor(q + 1/2), ceil(9*q/10)). The last width is never less than 1280. A letter is written as
    ``width_mult=w/4``.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, or an unknown name.

    Source: Sandler et al. 2018, "MobileNetV2: Inverted Residuals and Linear Bottlenecks", table 2.

    >>> MobileNetV2().params
    1281*N + 2223872
    >>> from paramsym import dims
    >>> half = MobileNetV2(width_mult=dims("w") / 4, num_classes=1000).at(w=2)
    >>> half.width_mult, half.count
    (1/2, 1968680)
    """

    ratios = ("width_mult",)

    num_classes: Dim = N
    width_mult: Ratio = 1
    inverted_residual_setting: tuple[tuple[Dim, Dim, int, int], ...] = TABLE_2
    round_nearest: int = 8
    dropout: float = 0.2

    published, claims = published_in("vision.mobilenet_v2")

    def parts(self) -> Iterator[Part]:
        near = self._rounded(32)
        layers: list[Layer] = [conv_norm(self.in_channels, near, 3, 2, ReLU6())]
        for expansion, channels, blocks, first_stride in self.inverted_residual_setting:
            far = self._rounded(channels)
            for number in range(blocks):
                layers.append(_block(near, far, 1 if number else first_stride, expansion))
                near = far
        last = last_width(1280, self.width_mult, self.round_nearest)
        yield Part("features", Sequential(*layers, conv_norm(near, last, 1, 1, ReLU6())))
        yield Part("classifier", Sequential(Dropout(self.dropout), Dense(last, self.num_classes)))

    def _rounded(self, channels: Dim) -> Dim:
        return divisible(scaled(channels, self.width_mult), self.round_nearest)


@remembered
def _block(near: Dim, far: Dim, stride: int, expansion: Dim) -> Layer:
    *first, last = inverted(near, canonical(near * expansion), far, 3, stride, ReLU6())
    return residual(Sequential(*first, *in_row(last)), near, far, stride, "conv")
