"""The notation for networks of Keras: layers are applied to outputs of others, and the order of the layers follows.

Keras sorts the layers of such a graph by their distance from the output, and those at equal distance by a depth-first walk from the output.
Layers without a given name are numbered by kind: ``conv2d``, ``conv2d_1``, ... Reference: ``keras.Model`` of Keras 3.15.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from sympy import Mod

from paramsym.algebra.size import Dim, canonical
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.activation import GELU, Hardswish, ReLU, ReLU6, Sigmoid, SiLU, Softmax
from paramsym.layers.adaptive_pooling import GlobalAvgPool, GlobalMaxPool
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.padding import Cropping, ZeroPad2d
from paramsym.layers.pooling import AvgPool2d, MaxPool2d
from paramsym.layers.preprocessing import Rescaling
from paramsym.layers.reshaping import Identity
from paramsym.layers.separable import DepthwiseConv2d, SeparableConv2d
from paramsym.layers.spatial import Extents
from paramsym.models.vision.blocks import DEVIATION, MEAN, remembered
from paramsym.program import Own, Value, axes, join, pad

ACTIVATIONS: dict[str, Layer] = {
    "gelu": GELU(),
    "hard_swish": Hardswish(),
    "linear": Identity(),
    "relu": ReLU(),
    "relu6": ReLU6(),
    "sigmoid": Sigmoid(),
    "softmax": Softmax(-1),
    "swish": SiLU(),
}
MOST = 20_000
"""The most layers of a network."""
Word: TypeAlias = Literal["valid", "same"]


class Map:
    """The output of a layer while a network is built, with ``width`` channels; each method applies a layer to it and returns the next map.

    ``numbers`` counts the layers without a given name, by kind, for the whole network. An operation of Keras that is not a layer has no
    name.
    """

    __slots__ = ("layer", "name", "numbers", "place", "takes", "width")

    def __init__(
        self, width: Dim, name: str = "", layer: Any = None, takes: tuple[Map, ...] = (), numbers: Counter[str] | None = None
    ) -> None:
        self.width, self.name, self.layer, self.takes = width, name, layer, takes
        self.numbers: Counter[str] = Counter() if numbers is None else numbers
        self.numbers[""] += 1
        self.place = self.numbers[""]
        if self.place > MOST:
            raise ArgumentError(f"the network has more than {MOST:,} layers, each with its own name; wanted fewer blocks.")

    def to(self, layer: Layer, name: str, kind: str, width: Dim | None = None, others: tuple[Map, ...] = ()) -> Map:
        """Apply a layer to this map and ``others``; without a name it takes the next number of its kind."""
        if not name:
            number = self.numbers[kind]
            name, self.numbers[kind] = f"{kind}_{number}" if number else kind, number + 1
        return Map(self.width if width is None else width, name, layer, (self, *others), self.numbers)

    def by(self, function: Callable[..., Value], *others: Map) -> Map:
        """Apply an operation of Keras that is not a layer."""
        return Map(self.width, "", function, (self, *others), self.numbers)

    # Layers, under Keras' names for them --------------------------------------------------------------------------------------

    def conv(
        self,
        width: Dim,
        kernel: Extents,
        name: str = "",
        stride: int = 1,
        padding: Word = "same",
        *,
        bias: bool = False,
        groups: Dim = 1,
        activation: str = "",
    ) -> Map:
        plain = layer(Conv2d, self.width, width, kernel, stride, padding, groups=groups, bias=bias, dialect="keras")
        return self.to(activated(plain, activation), name, "conv2d", width)

    def depthwise(self, kernel: int, name: str, stride: int = 1, padding: Word = "same", multiplier: Dim = 1, *, padded: str = "") -> Map:
        """A depthwise convolution; ``padded`` names the padding that Keras draws before a stride of 2."""
        x, padding = self._ready(kernel, stride, padding, padded)
        alone = layer(DepthwiseConv2d, x.width, kernel, multiplier, stride, padding, bias=False, dialect="keras")
        return x.to(alone, name, "depthwise_conv2d", canonical(x.width * multiplier))

    def separable(self, width: Dim, kernel: int, name: str, stride: int = 1, *, padded: str = "") -> Map:
        """A depthwise convolution, ``padded`` as above, then one of 1x1 that mixes the channels."""
        x, padding = self._ready(kernel, stride, "same", padded)
        plain = layer(SeparableConv2d, x.width, width, kernel, stride, padding, bias=False, dialect="keras")
        return x.to(plain, name, "separable_conv2d", width)

    def _ready(self, kernel: int, stride: int, padding: Word, padded: str) -> tuple[Map, Word]:
        return (self.pad_to_halve(kernel, padded), "valid") if padded and stride == 2 else (self, padding)

    def dense(self, width: Dim, name: str, activation: str = "") -> Map:
        return self.to(activated(layer(Dense, self.width, width, dialect="keras"), activation), name, "dense", width)

    def norm(self, name: str = "", eps: float = 0.001, *, scale: bool = True) -> Map:
        """Batch normalisation."""
        return self.to(layer(BatchNorm2d, self.width, eps, scale=scale, dialect="keras"), name, "batch_normalization")

    def layer_norm(self, name: str = "") -> Map:
        """Normalisation over the channels at every position, as in ConvNeXt."""
        return self.to(layer(LayerNorm, self.width, 1e-6, dialect="keras"), name, "layer_normalization")

    def act(self, which: str = "relu", name: str = "") -> Map:
        return self.to(ACTIVATIONS[which], name, "activation")

    def relu(self, name: str = "", which: str = "relu") -> Map:
        """ReLU or ReLU6 as Keras' class ``ReLU``, which is numbered separately from ``Activation``."""
        return self.to(ACTIVATIONS[which], name, "re_lu")

    def pad(self, before: int, after: int, name: str = "") -> Map:
        """Zeros before and after the entries of both spatial axes."""
        return self.to(layer(ZeroPad2d, (before, after) * 2, data_format="channels_last"), name, "zero_padding2d")

    def crop(self, before: int, after: int) -> Map:
        """Without entries at both ends of both spatial axes."""
        return self.to(layer(Cropping, ((before, after),) * 2, "channels_last"), "", "cropping2d")

    def pad_to_halve(self, kernel: int, name: str) -> Map:
        """Zeros before a window with stride 2, as ``HalvingPad`` adds them."""
        return self.to(layer(HalvingPad, kernel), name, "zero_padding2d")

    def max_pool(self, kernel: int, stride: int, name: str = "", padding: Word = "valid") -> Map:
        """The largest entry of every window."""
        return self.to(layer(MaxPool2d, kernel, stride, padding, data_format="channels_last"), name, "max_pooling2d")

    def avg_pool(self, kernel: int, stride: int, name: str = "", padding: Word = "valid") -> Map:
        """The mean of every window."""
        return self.to(layer(AvgPool2d, kernel, stride, padding, data_format="channels_last"), name, "average_pooling2d")

    def pool_all(self, statistic: str, name: str = "", *, keep: bool = False) -> Map:
        """One number for every channel: its mean, "avg", or its maximum, "max"."""
        kind = GlobalAvgPool if statistic == "avg" else GlobalMaxPool
        word = "average" if statistic == "avg" else "max"
        return self.to(layer(kind, 2, keep, "channels_last"), name, f"global_{word}_pooling2d")

    def drop(self, rate: float, name: str = "") -> Map:
        return self.to(layer(Dropout, rate), name, "dropout")

    def plus(self, *others: Map, name: str = "") -> Map:
        """The sum with other maps."""
        return self.to(layer(Merge, "add"), name, "add", others=others)

    def times(self, other: Map, name: str = "") -> Map:
        """The product with another map, which may have a single position."""
        return self.to(layer(Merge, "multiply"), name, "multiply", others=(other,))

    def beside(self, *others: Map, name: str = "") -> Map:
        """The channels of all maps, one after the other."""
        return self.to(layer(Merge, "concatenate"), name, "concatenate", canonical(sum((one.width for one in others), self.width)), others)


def in_keras_order(end: Map) -> Iterator[Map]:
    """Yield every map that the output needs, the input first, in the order of Keras' ``model.layers``."""
    walk: dict[Map, int] = {}
    ahead = [end]
    while ahead:
        one = ahead.pop()
        if one not in walk:
            walk[one] = len(walk)
            ahead += reversed(one.takes)
    far = dict.fromkeys(walk, 0)
    for one in sorted(walk, key=lambda one: one.place, reverse=True):
        for before in one.takes:
            far[before] = max(far[before], far[one] + 1)
    yield from sorted(walk, key=lambda one: (-far[one], walk[one]))


def standardised(largest: int) -> Rescaling:
    """Return the layer that brings pixels between 0 and ``largest`` to mean 0 and deviation 1 over ImageNet."""
    return Rescaling(tuple(1 / (largest * one) for one in DEVIATION), tuple(-mean / one for mean, one in zip(MEAN, DEVIATION, strict=True)))


# Layers that only networks of Keras have --------------------------------------------------------------------------------------


class Merge(Declared):
    """Several maps in one. Reference: Keras ``Add``, ``Multiply``, ``Concatenate``."""

    kind: Literal["add", "multiply", "concatenate"]

    def forward(self, own: Own, *values: Value) -> Value:  # noqa: ARG002 - it stores nothing
        first, *others = values
        if self.kind == "concatenate":
            return join(*values, axis=-1)
        for other in others:
            first = first + other if self.kind == "add" else first * other
        return first


class HalvingPad(Declared):
    """Zeros around a map before a window with stride 2, which then leaves half of the positions, rounded up.

    After each axis half of the window, rounded down; before it the same number if its length is odd, and one fewer if it is even.
    Reference: ``keras.src.applications.imagenet_utils.correct_pad``.
    """

    kernel: int

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        x, _ = axes(x, "batch height width channels")
        half = self.kernel // 2
        return pad(x, (*((canonical(half - 1 + Mod(side, 2)), half) for side in x.sizes[1:3]), (0, 0)))


class Activated(Declared):
    """A layer and the activation that Keras computes in it."""

    layer: Layer
    activation: Layer

    def parts(self) -> Iterator[Part]:
        yield Part("", self.layer)

    def forward(self, own: Own, x: Value) -> Any:
        return self.activation.forward(own, own[""](x))


class LayerScale(Declared):
    """Every channel times a learned number (Touvron et al. 2021, section 2). Reference: ``keras.src.applications.convnext.LayerScale``."""

    width: Dim
    name: str

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor(self.name, (self.width,), role="scale")

    def forward(self, own: Own, x: Value) -> Value:
        product: Value = x * own[self.name]
        return product


class ScaledSum(Declared):
    """A map plus a constant times another one. Reference: ``keras.src.applications.inception_resnet_v2.CustomScaleLayer``."""

    scale: float

    def forward(self, own: Own, x: Value, y: Value) -> Value:  # noqa: ARG002 - it stores nothing
        return x + y * self.scale


# Equal layers are one value ---------------------------------------------------------------------------------------------------


@remembered
def layer(kind: Callable[..., Layer], *arguments: Any, **named: Any) -> Layer:
    """Return a layer of a kind; equal layers are shared between networks."""
    return kind(*arguments, **named)


def activated(plain: Layer, activation: str) -> Layer:
    """Return a layer with the activation of this name in it; without a name the layer itself."""
    return layer(Activated, plain, ACTIVATIONS[activation]) if activation else plain
