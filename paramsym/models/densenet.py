"""DenseNet-BC as torchvision builds it, in closed form.

Reference: ``torchvision.models.densenet``; tensor names, shapes and order are those of its state dict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sympy import Symbol

from paramsym.algebra.size import Count, Dim, Shape, canonical
from paramsym.algebra.symbols import B, N, W, dims
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import ReLU
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.pooling import AvgPool2d, MaxPool2d
from paramsym.models.published import published_in
from paramsym.models.vision.blocks import Pictures, named
from paramsym.models.vision.widths import down
from paramsym.program import Own, Value, apply, join, reduce

Depths: TypeAlias = tuple[Count, ...]

_GROWTH: Symbol = dims("g")
_DEPTHS: Depths = dims("n1 n2 n3 n4")
_INDEX: Symbol = dims("i")


@named
@dataclass(frozen=True)
class DenseNet(Pictures):
    r"""A densely connected network for images (Huang et al. 2017), with torchvision's arguments in torchvision's order.

    If the first argument is a torchvision name, it means that model's sizes, 1,000 classes included; other arguments change them.
    Otherwise, sizes that are not given are letters: growth rate g (the paper's k), depths n1 to n4 (``block_config`` takes any number of
    blocks), N classes. ``num_init_features`` is by default twice the growth rate (section 3, "Implementation Details").

    Layer i of a block reads the block's input and the outputs of the i - 1 layers before it, g channels each; so the count is quadratic in
    the depths and in the growth rate. A transition halves the channels and rounds down: with letters for depths the formula has floors,
    unless the growth rate is a number such as 32 or 48 that can be halved exactly. ``drop_rate`` and ``memory_efficient`` do not change the
    count.

    Raises:
        ArgumentError: an unknown name.

    Source: Huang et al. 2017, "Densely Connected Convolutional Networks", section 3 and table 1.

    >>> DenseNet("densenet121").params, DenseNet("densenet121", num_classes=10).params
    (7978856, 6964106)
    >>> DenseNet(block_config=(6, 12, 24, 16)).params
    32*N*g + N + 6700*g**2 + 2908*g
    >>> DenseNet().at("densenet201").params
    20013928
    """

    growth_rate: Dim = _GROWTH
    block_config: Depths = _DEPTHS
    num_init_features: Dim | None = None
    bn_size: Dim = 4
    drop_rate: float = 0
    num_classes: Dim = N
    memory_efficient: bool = False

    published, claims = published_in("densenet")

    def parts(self) -> Iterator[Part]:
        """The features, then the classifier."""
        stem = canonical(2 * self.growth_rate) if self.num_init_features is None else self.num_init_features
        features = _Features(self.growth_rate, self.block_config, stem, self.bn_size)
        yield Part("features", features)
        yield Part("classifier", Dense(features.channels[-1], self.num_classes))

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images (batch, 3, height, width); with a side that all blocks can halve, the formula has no floors."""
        side = canonical(2 ** (len(self.block_config) + 1) * W)
        return {"x": (B, 3, side, side)}

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes), from the mean of every channel."""
        return own.classifier(reduce("mean", apply("relu", own.features(self.seen(x))), 2, 3))


@dataclass(frozen=True)
class _Features(Layer):
    """The stem, dense blocks with transitions between them, and the last norm."""

    in_order = True

    growth_rate: Dim
    block_config: Depths
    num_init_features: Dim
    bn_size: Dim

    @property
    def channels(self) -> tuple[Dim, ...]:
        """The input channels of each block, and last the output channels of the network.

        Repeated halving with rounding down equals one division by a power of two with one floor, so floors are not nested.
        """
        found, whole = [self.num_init_features], self.num_init_features
        for position, depth in enumerate(self.block_config):
            whole = canonical(whole + 2**position * depth * self.growth_rate)
            last = position == len(self.block_config) - 1
            found.append(canonical(found[-1] + depth * self.growth_rate) if last else down(whole, 2 ** (position + 1)))
        return tuple(found)

    def parts(self) -> Iterator[Part]:
        channels = self.channels
        yield Part("conv0", Conv2d(3, channels[0], 7, stride=2, padding=3, bias=False))
        yield Part("norm0", BatchNorm2d(channels[0]))
        yield Part("relu0", ReLU())
        yield Part("pool0", MaxPool2d(3, stride=2, padding=1))
        for position, depth in enumerate(self.block_config):
            index = _unused(_INDEX, self.symbols)
            seen = canonical(channels[position] + (index - 1) * self.growth_rate)
            block = _DenseLayer(seen, self.growth_rate, self.bn_size)
            yield Part(f"denseblock{position + 1}", Repeat(block, depth, index=index, start=1, name="denselayer{}"))
            if position < len(self.block_config) - 1:
                outgoing = canonical(channels[position] + depth * self.growth_rate)
                yield Part(f"transition{position + 1}", _Transition(outgoing, channels[position + 1]))
        yield Part("norm5", BatchNorm2d(channels[-1]))


def _unused(index: Symbol, taken: frozenset[Symbol]) -> Symbol:
    """Return an index whose name no size uses."""
    names = {symbol.name for symbol in taken}
    while index.name in names:
        index = dims(f"{index.name}_")
    return index


@dataclass(frozen=True)
class _DenseLayer(Layer):
    """Norm, 1x1 convolution to ``bn_size`` times the growth rate, norm, 3x3 convolution to the growth rate."""

    incoming: Dim
    growth_rate: Dim
    bn_size: Dim

    def parts(self) -> Iterator[Part]:
        narrow = canonical(self.bn_size * self.growth_rate)
        yield Part("norm1", BatchNorm2d(self.incoming))
        yield Part("conv1", Conv2d(self.incoming, narrow, 1, bias=False))
        yield Part("norm2", BatchNorm2d(narrow))
        yield Part("conv2", Conv2d(narrow, self.growth_rate, 3, padding=1, bias=False))

    def forward(self, own: Own, x: Value) -> Value:
        """The input channels, then the new ones."""
        narrow = own.conv1(apply("relu", own.norm1(x)))
        return join(x, own.conv2(apply("relu", own.norm2(narrow))), axis=1)


@dataclass(frozen=True)
class _Transition(Layer):
    """Norm and a 1x1 convolution to half the channels, before a pooling."""

    incoming: Dim
    outgoing: Dim

    def parts(self) -> Iterator[Part]:
        yield Part("norm", BatchNorm2d(self.incoming))
        yield Part("conv", Conv2d(self.incoming, self.outgoing, 1, bias=False))
        yield Part("pool", AvgPool2d(2))

    def forward(self, own: Own, x: Value) -> Value:
        """The convolution of the activated norm, and a halving pooling."""
        return own.pool(own.conv(apply("relu", own.norm(x))))
