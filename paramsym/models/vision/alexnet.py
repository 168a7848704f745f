"""AlexNet, the network in one column of Krizhevsky 2014. Reference: ``torchvision.models.alexnet``; tensors as in its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Part
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.pooling import MaxPool2d
from paramsym.models.vision.blocks import RELU, Classifier, named


@named
@dataclass(frozen=True)
class AlexNet(Classifier):
    """Five convolutions and three matrices, which hold 58.6 of the 61.1 million parameters.

    Source: Krizhevsky 2014, arXiv:1404.5997. The network of 2012 has two columns and 60,965,224 parameters.

    >>> AlexNet().params
    4097*N + 57003840
    >>> AlexNet("alexnet").part("classifier").params
    58631144
    """

    num_classes: Dim = N
    dropout: float = 0.5

    published, claims = published_in("vision.alexnet")

    def parts(self) -> Iterator[Part]:
        features = Sequential(
            *(Conv2d(self.in_channels, 64, 11, stride=4, padding=2), RELU, MaxPool2d(3, 2)),
            *(Conv2d(64, 192, 5, padding=2), RELU, MaxPool2d(3, 2)),
            *(Conv2d(192, 384, 3, padding=1), RELU),
            *(Conv2d(384, 256, 3, padding=1), RELU),
            *(Conv2d(256, 256, 3, padding=1), RELU, MaxPool2d(3, 2)),
        )
        yield Part("features", features)
        yield Part("avgpool", AdaptiveAvgPool2d(6))
        drop, narrow = Dropout(self.dropout), 4096
        yield Part(
            "classifier",
            Sequential(drop, Dense(256 * 6 * 6, narrow), RELU, drop, Dense(narrow, narrow), RELU, Dense(narrow, self.num_classes)),
        )
