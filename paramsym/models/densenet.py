"""DenseNet-BC. Reference: ``torchvision.models.densenet``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paramsym.algebra.size import Count, Dim, Shape, canonical
from paramsym.algebra.symbols import B, N, W, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.pooling import AvgPool2d
from paramsym.models.blocks import Holder
from paramsym.models.vision.blocks import BLOCKS, Pictures, named, stem
from paramsym.models.vision.widths import down
from paramsym.program import Own, Value, apply, join, reduce

_GROWTH: Dim = dims("g")


@named
@dataclass(frozen=True)
class DenseNet(Pictures):
    """Blocks whose layers each add g channels to those of all layers before, with torchvision's arguments in torchvision's order.

    Sizes that are not given are letters: growth rate g (the paper's k), depths n1 to n4 (``block_config`` takes any number of blocks), N
    classes. ``num_init_features`` is by default twice the growth rate (section 3, "Implementation Details").

    The count is quadratic in the depths and in the growth rate. A transition halves the channels and rounds down: with letters for depths
    the formula has floors, unless the growth rate is a number such as 32 or 48 that can be halved exactly. ``drop_rate`` and
    ``memory_efficient`` do not change the count.

    Raises:
        ArgumentError: an unknown name.

    Source: Huang et al. 2017, "Densely Connected Convolutional Networks", section 3 and table 1.

    >>> DenseNet("densenet121").params, DenseNet().at("densenet201").params
    (7978856, 20013928)
    >>> DenseNet(block_config=(6, 12, 24, 16)).params
    32*N*g + N + 6700*g**2 + 2908*g
    """

    growth_rate: Dim = _GROWTH
    block_config: tuple[Count, ...] = BLOCKS
    num_init_features: Dim | None = None
    bn_size: Dim = 4
    drop_rate: float = 0
    num_classes: Dim = N
    memory_efficient: bool = False

    published, claims = published_in("densenet")

    def parts(self) -> Iterator[Part]:
        growth, blocks, taken = self.growth_rate, len(self.block_config), {symbol.name for symbol in self.symbols}
        index = dims(next(name for name in ("i" + number * "_" for number in range(len(taken) + 1)) if name not in taken))
        # Repeated halving with rounding down equals one division of the whole by a power of two, so floors are not nested.
        near = whole = canonical(2 * growth) if self.num_init_features is None else self.num_init_features
        layers: dict[str, Layer] = dict(zip(("conv0", "norm0", "relu0", "pool0"), stem(near), strict=True))
        for number, depth in enumerate(self.block_config, 1):
            wide, between = canonical(near + (index - 1) * growth), canonical(self.bn_size * growth)
            first = {"norm1": BatchNorm2d(wide), "conv1": Conv2d(wide, between, 1, bias=False)}
            second = {"norm2": BatchNorm2d(between), "conv2": Conv2d(between, growth, 3, padding=1, bias=False)}
            layer = _DenseLayer({**first, **second})
            layers[f"denseblock{number}"] = Repeat(layer, depth, index=index, start=1, name="denselayer{}")
            near, whole = canonical(near + depth * growth), canonical(whole + 2 ** (number - 1) * depth * growth)
            if number < blocks:
                wide, near = near, down(whole, 2**number)
                convolution = Conv2d(wide, near, 1, bias=False)
                layers[f"transition{number}"] = _Transition({"norm": BatchNorm2d(wide), "conv": convolution, "pool": AvgPool2d(2)})
        yield Part("features", Sequential({**layers, "norm5": BatchNorm2d(near)}))
        yield Part("classifier", Dense(near, self.num_classes))

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images (batch, 3, height, width); with a side that all blocks can halve, the formula has no floors."""
        side = canonical(2 ** (len(self.block_config) + 1) * W)
        return {"x": (B, 3, side, side)}

    def forward(self, own: Own, x: Value) -> Value:
        return own.classifier(reduce("mean", apply("relu", own.features(self.seen(x))), 2, 3))


class _DenseLayer(Holder):
    """A 1x1 convolution and one of 3x3, each after a norm and ReLU."""

    def forward(self, own: Own, x: Value) -> Value:
        """The input channels, then the new ones."""
        narrow = own.conv1(apply("relu", own.norm1(x)))
        return join(x, own.conv2(apply("relu", own.norm2(narrow))), axis=1)


class _Transition(Holder):
    """Norm, ReLU and a 1x1 convolution to half the channels, before a pooling."""

    def forward(self, own: Own, x: Value) -> Value:
        return own.pool(own.conv(apply("relu", own.norm(x))))
