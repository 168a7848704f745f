"""SqueezeNet 1.0 and 1.1. Reference: ``torchvision.models.squeezenet``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dropout import Dropout
from paramsym.layers.pooling import MaxPool2d
from paramsym.models.blocks import Holder
from paramsym.models.vision.blocks import RELU, Coloured, named
from paramsym.program import Own, Value, join, rearrange

_FIRES = (16, 16, 32, 32, 48, 48, 64, 64)
_POOLS = {"1_0": (0, 3, 7), "1_1": (0, 2, 4)}
"""The width of each fire module's squeeze, a quarter of each of its two expansions; and the modules before which there is a pooling."""


@named
@dataclass(frozen=True)
class SqueezeNet(Coloured):
    """Fire modules: a 1x1 convolution that squeezes the channels, then parallel 1x1 and 3x3 convolutions.

    Version "1_1" has a narrower and smaller first convolution, and pools earlier.

    Source: Iandola et al. 2016, "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters", table 1.

    >>> SqueezeNet("squeezenet1_0").params, SqueezeNet(version="1_1").params
    (1248424, 513*N + 722496)
    """

    version: Literal["1_0", "1_1"] = "1_0"
    num_classes: Dim = N
    dropout: float = 0.5

    published, claims = published_in("vision.squeezenet")

    def parts(self) -> Iterator[Part]:
        first = (96, 7) if self.version == "1_0" else (64, 3)
        layers: list[Layer] = [Conv2d(self.in_channels, *first, stride=2), RELU]
        near = first[0]
        for number, squeezed in enumerate(_FIRES):
            if number in _POOLS[self.version]:
                layers.append(MaxPool2d(3, 2, ceil_mode=True))
            wide = {"expand1x1": Conv2d(squeezed, 4 * squeezed, 1), "expand3x3": Conv2d(squeezed, 4 * squeezed, 3, padding=1)}
            layers.append(_Fire({"squeeze": Conv2d(near, squeezed, 1), **wide, "relu": RELU}))
            near = 8 * squeezed
        yield Part("features", Sequential(*layers))
        yield Part("classifier", Sequential(Dropout(self.dropout), Conv2d(near, self.num_classes, 1), RELU, AdaptiveAvgPool2d(1)))

    def forward(self, own: Own, x: Value) -> Value:
        return rearrange(own.classifier(own.features(self.seen(x))), "b n () () -> b n")


class _Fire(Holder):
    """The squeeze, then two parallel expansions."""

    def forward(self, own: Own, x: Value) -> Value:
        x = own.relu(own.squeeze(x))
        return join(own.relu(own.expand1x1(x)), own.relu(own.expand3x3(x)), axis=1)
