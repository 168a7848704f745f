"""ConvNeXt as torchvision stores it. Reference: ``torchvision.models.convnext``; transformers' names are ``paramsym.models.ConvNext``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.algebra.size import Dim, canonical
from paramsym.algebra.symbols import N, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.reshaping import Flatten, Permute
from paramsym.models.images import ChannelsFirst
from paramsym.models.vision.blocks import EXACT_GELU, LAYERS, Coloured, named, remembered
from paramsym.program import Own, Value

_WIDTHS: tuple[Dim, ...] = dims("H_1 H_2 H_3 H_4")
_EPS = 1e-6


@named
@dataclass(frozen=True)
class ConvNeXt(Coloured):
    """Stages of blocks with a depthwise 7x7 convolution and two matrices, as Swin's without attention.

    ``widths`` and ``depths`` are those of the stages, which are rows of ``block_setting`` in torchvision; sizes that are not given are
    letters. A block of width H stores 8*H**2 + 58*H numbers: 49*H + H, a norm, two matrices of 4*H**2 with biases, and a scale.

    Raises:
        ArgumentError: another number of widths than of depths, or an unknown name.

    Source: Liu et al. 2022, "A ConvNet for the 2020s", section 3.

    >>> ConvNeXt("convnext_tiny").params, ConvNeXt().at("convnext_large").params
    (28589128, 197767336)
    >>> ConvNeXt().part("features.1.0").params
    8*H_1**2 + 58*H_1
    """

    widths: tuple[Dim, ...] = _WIDTHS
    depths: tuple[Dim, ...] = LAYERS
    num_classes: Dim = N

    staged = ("widths", "depths")
    published, claims = published_in("vision.convnext")

    def parts(self) -> Iterator[Part]:
        near, last = self.widths[0], self.widths[-1]
        layers: list[Layer] = [Sequential(Conv2d(self.in_channels, near, 4, stride=4), ChannelsFirst(near, _EPS))]
        for number, (width, depth) in enumerate(zip(self.widths, self.depths, strict=True)):
            if number:
                layers.append(Sequential(ChannelsFirst(near, _EPS), Conv2d(near, width, 2, stride=2)))
            layers.append(_stage(width, depth))
            near = width
        yield Part("features", Sequential(*layers))
        yield Part("avgpool", AdaptiveAvgPool2d(1))
        yield Part("classifier", Sequential(ChannelsFirst(last, _EPS), Flatten(), Dense(last, self.num_classes)))

    def forward(self, own: Own, x: Value) -> Value:
        return own.classifier(own.avgpool(own.features(self.seen(x))))


@remembered
def _stage(width: Dim, depth: Dim) -> Repeat:
    return Repeat(_Block(width), depth)


@dataclass(frozen=True)
class _Block(Layer):
    """The input plus the body's output, scaled channel by channel."""

    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("layer_scale", (self.width, 1, 1), role="scale")

    def parts(self) -> Iterator[Part]:
        width, wide = self.width, canonical(4 * self.width)
        filtered = (Conv2d(width, width, 7, padding=3, groups=width), Permute((2, 3, 1)), LayerNorm(width, _EPS))
        yield Part("block", Sequential(*filtered, Dense(width, wide), EXACT_GELU, Dense(wide, width), Permute((3, 1, 2))))

    def forward(self, own: Own, x: Value) -> Value:
        return own.layer_scale * own.block(x) + x
