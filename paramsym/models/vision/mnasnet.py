"""MNASNet-B1. Reference: ``torchvision.models.mnasnet``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.algebra.size import Dim, canonical
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.models.vision.blocks import RELU, Coloured, conv_norm, in_row, named, remembered
from paramsym.models.vision.inverted import inverted, residual
from paramsym.models.vision.widths import Ratio, divisible, scaled
from paramsym.program import Own, Value, reduce

_STACKS = ((24, 3, 2, 3, 3), (40, 5, 2, 3, 3), (80, 5, 2, 6, 3), (96, 3, 1, 6, 2), (192, 5, 2, 6, 4), (320, 3, 1, 6, 1))
"""Channels, kernel, stride, expansion, blocks."""


@named
@dataclass(frozen=True)
class MNASNet(Coloured):
    """Stacks of inverted residuals, found by a search; ``alpha``, an exact fraction, multiplies all widths except the last, 1280.

    Widths are rounded as MobileNetV2's.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, or an unknown name.

    Source: Tan et al. 2019, "MnasNet: Platform-Aware Neural Architecture Search for Mobile", figure 7 (b).

    >>> MNASNet("mnasnet0_5").params, MNASNet().params
    (2218512, 1281*N + 3102312)
    """

    ratios = ("alpha",)

    alpha: Ratio = 1
    num_classes: Dim = N
    dropout: float = 0.2

    published, claims = published_in("vision.mnasnet")

    def parts(self) -> Iterator[Part]:
        stem, near = (divisible(scaled(channels, self.alpha)) for channels in (32, 16))
        layers = [
            *in_row(conv_norm(self.in_channels, stem, 3, 2)),
            *in_row(conv_norm(stem, stem, 3, groups=stem)),
            *in_row(conv_norm(stem, near, 1, 1, None)),
        ]
        for channels, kernel, stride, expansion, blocks in _STACKS:
            far = divisible(scaled(channels, self.alpha))
            first = _block(near, far, kernel, stride, expansion)
            layers.append(Repeat(_block(far, far, kernel, 1, expansion), blocks, first=first))
            near = far
        yield Part("layers", Sequential(*layers, *in_row(conv_norm(near, 1280, 1))))
        yield Part("classifier", Sequential(Dropout(self.dropout), Dense(1280, self.num_classes)))

    def forward(self, own: Own, x: Value) -> Value:
        return own.classifier(reduce("mean", own.layers(self.seen(x)), 2, 3))


@remembered
def _block(near: Dim, far: Dim, kernel: int, stride: int, expansion: int) -> Layer:
    """An inverted residual; its convolutions, norms and activations are in one sequence."""
    parts = inverted(near, canonical(near * expansion), far, kernel, stride, RELU)
    return residual(Sequential(*(layer for part in parts for layer in in_row(part))), near, far, stride, "layers")
