"""VGG with and without batch normalisation. Reference: ``torchvision.models.vgg``; names, shapes and order are those of its state dict.

Keras' is ``paramsym.models.KerasVGG``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.pooling import MaxPool2d
from paramsym.models.vision.blocks import RELU, Classifier, named

Widths: TypeAlias = tuple[tuple[Dim, ...], ...]
VGG16: Widths = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
"""Widths of the convolutions of every stage (Simonyan and Zisserman 2015, table 1, configuration D)."""


@named
@dataclass(frozen=True)
class VGG(Classifier):
    """Stages of 3x3 convolutions, each with a pooling at the end that halves the sides, and three matrices.

    ``cfg`` has the widths of the convolutions of every stage, in letters or numbers; by default those of configuration D, VGG-16, in
    table 1 of the paper. torchvision writes one list with an "M" at the end of every stage. ``batch_norm`` adds a norm after every
    convolution. A published name as first argument means its sizes.

    Raises:
        ArgumentError: no stage, a stage without a convolution, or an unknown name.

    Source: Simonyan and Zisserman 2015, "Very Deep Convolutional Networks for Large-Scale Image Recognition", table 1.

    >>> VGG().params
    4097*N + 134260544
    >>> VGG("vgg16").params, VGG("vgg16").part("classifier.0").params
    (138357544, 102764544)
    >>> from paramsym import C
    >>> VGG(cfg=((C,), (2*C,)), num_classes=10).part("features").params
    18*C**2 + 30*C
    """

    cfg: Widths = VGG16
    batch_norm: bool = False
    num_classes: Dim = N
    dropout: float = 0.5

    published, claims = published_in("vision.vgg")

    def conditions(self) -> None:
        if not self.cfg or not all(self.cfg):
            raise ArgumentError(f"cfg is {self.cfg}; wanted one stage or more, each with the widths of its convolutions.")

    def parts(self) -> Iterator[Part]:
        layers: list[Layer] = []
        near = self.in_channels
        for stage in self.cfg:
            for width in stage:
                layers += [Conv2d(near, width, 3, padding=1), *([BatchNorm2d(width)] if self.batch_norm else []), RELU]
                near = width
            layers.append(MaxPool2d(2, 2))
        yield Part("features", Sequential(*layers))
        yield Part("avgpool", AdaptiveAvgPool2d(7))
        drop = Dropout(self.dropout)
        matrices = (Dense(near * 49, 4096), RELU, drop, Dense(4096, 4096), RELU, drop, Dense(4096, self.num_classes))
        yield Part("classifier", Sequential(*matrices))
