"""GoogLeNet and Inception v3, auxiliary classifiers included. Reference: ``torchvision.models.googlenet`` and ``inception``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from paramsym.algebra.size import Dim, Shape
from paramsym.algebra.symbols import B, N
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.pooling import AvgPool2d, MaxPool2d
from paramsym.layers.reshaping import Flatten
from paramsym.layers.spatial import Extents
from paramsym.models.blocks import Holder
from paramsym.models.published import published_in
from paramsym.models.vision.blocks import RELU, Pictures, named, remembered
from paramsym.program import Own, Value, join, rearrange, take

GOOGLENET: Mapping[str, tuple[int, ...]] = {
    "inception3a": (192, 64, 96, 128, 16, 32, 32),
    "inception3b": (256, 128, 128, 192, 32, 96, 64),
    "inception4a": (480, 192, 96, 208, 16, 48, 64),
    "inception4b": (512, 160, 112, 224, 24, 64, 64),
    "inception4c": (512, 128, 128, 256, 24, 64, 64),
    "inception4d": (512, 112, 144, 288, 32, 64, 64),
    "inception4e": (528, 256, 160, 320, 32, 128, 128),
    "inception5a": (832, 256, 160, 320, 32, 128, 128),
    "inception5b": (832, 384, 192, 384, 48, 128, 128),
}
"""The modules of Inception v1: input channels; of the first branch; inside and at the end of the next two; of the pooled one."""
_MEANS = ((0.485, 0.229), (0.456, 0.224), (0.406, 0.225))


@remembered
def _conv(incoming: Dim, outgoing: Dim, kernel: Extents = 1, stride: int = 1, *, padding: Any = 0) -> Sequential:
    """A convolution, a norm and ReLU. Reference: ``BasicConv2d``."""
    convolution = Conv2d(incoming, outgoing, kernel, stride=stride, padding=padding, bias=False)
    return Sequential(conv=convolution, bn=BatchNorm2d(outgoing, eps=0.001), relu=RELU)


def _same(incoming: Dim, outgoing: Dim, *kernel: int) -> Sequential:
    """A convolution that keeps the extents; one number is both."""
    height, width = kernel if len(kernel) == 2 else kernel * 2
    return _conv(incoming, outgoing, (height, width), padding=(height // 2, width // 2))


class _Network(Pictures):
    """The common base of both networks: the change of the input, and the classifier."""

    num_classes: Dim
    aux_logits: bool
    transform_input: bool
    dropout: float
    in_channels: Dim

    def transformed(self, x: Value) -> Value:
        """Return the images, normalised differently with ``transform_input``."""
        x = self.seen(x)
        if not self.transform_input:
            return x
        return join(*(take(x, 1, n, 1) * (std / 0.5) + (mean - 0.5) / 0.5 for n, (mean, std) in enumerate(_MEANS)), axis=1)

    def _head(self, width: Dim) -> Iterator[Part]:
        yield Part("avgpool", AdaptiveAvgPool2d(1))
        yield Part("dropout", Dropout(self.dropout))
        yield Part("fc", Dense(width, self.num_classes))

    def scores(self, own: Own, x: Value) -> Value:
        """Return scores of classes for the last map."""
        return own.fc(own.dropout(rearrange(own.avgpool(x), "b c () () -> b c")))


@named
@dataclass(frozen=True)
class GoogLeNet(_Network):
    """Inception v1: nine modules of four parallel branches each.

    ``aux_logits`` stores two auxiliary classifiers, which are used only in training: the output is the scores of the last classifier.
    The branch with a 5x5 convolution in the paper has one of 3x3 here, as in the reference and its weights.

    Raises:
        ArgumentError: an unknown name.

    Source: Szegedy et al. 2015, "Going Deeper with Convolutions", table 1.

    >>> GoogLeNet("googlenet").params, GoogLeNet("googlenet", aux_logits=False).params
    (13004888, 6624904)
    >>> GoogLeNet().params
    3075*N + 9929888
    """

    num_classes: Dim = N
    aux_logits: bool = True
    transform_input: bool = False
    dropout: float = 0.2
    dropout_aux: float = 0.7
    _: KW_ONLY
    in_channels: Dim = 3

    published, claims = published_in("vision.inception", "GoogLeNet")

    _before: ClassVar[Mapping[str, tuple[str, Layer]]] = {
        "inception4a": ("maxpool3", MaxPool2d(3, 2, ceil_mode=True)),
        "inception5a": ("maxpool4", MaxPool2d(2, 2, ceil_mode=True)),
    }

    def parts(self) -> Iterator[Part]:
        """The stem, the modules with poolings between them, the auxiliary classifiers, the classifier."""
        yield Part("conv1", _conv(self.in_channels, 64, 7, 2, padding=3))
        yield Part("maxpool1", MaxPool2d(3, 2, ceil_mode=True))
        yield Part("conv2", _conv(64, 64))
        yield Part("conv3", _same(64, 192, 3))
        yield Part("maxpool2", MaxPool2d(3, 2, ceil_mode=True))
        for name, sizes in GOOGLENET.items():
            if name in self._before:
                yield Part(*self._before[name])
            yield Part(name, _inception(*sizes))
        for name, width in (("aux1", 512), ("aux2", 528)) if self.aux_logits else ():
            matrices = {"fc1": Dense(2048, 1024), "relu": RELU, "dropout": Dropout(self.dropout_aux), "fc2": Dense(1024, self.num_classes)}
            yield Part(name, Sequential({"pool": AdaptiveAvgPool2d(4), "conv": _conv(width, 128), "flatten": Flatten(), **matrices}))
        yield from self._head(1024)

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes)."""
        x = own.maxpool1(own.conv1(self.transformed(x)))
        x = own.maxpool2(own.conv3(own.conv2(x)))
        for name in GOOGLENET:
            x = own[name](own[self._before[name][0]](x) if name in self._before else x)
        return self.scores(own, x)


@named
@dataclass(frozen=True)
class Inception3(_Network):
    """Inception v3: convolutions of 5x5 become two of 3x3, those of 7x7 a row and a column.

    ``aux_logits`` stores an auxiliary classifier, which is used only in training: the output is the scores of the last classifier.

    Raises:
        ArgumentError: an unknown name.

    Source: Szegedy et al. 2016, "Rethinking the Inception Architecture for Computer Vision", table 1.

    >>> Inception3("inception_v3").params, Inception3("inception_v3", aux_logits=False).params
    (27161264, 23834568)
    """

    num_classes: Dim = N
    aux_logits: bool = True
    transform_input: bool = False
    dropout: float = 0.5
    _: KW_ONLY
    in_channels: Dim = 3

    published, claims = published_in("vision.inception", "Inception3")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images of 299 by 299, or of any sides from 75 on."""
        return {"x": (B, self.in_channels, 299, 299)}

    def parts(self) -> Iterator[Part]:
        """The stem, the modules, the auxiliary classifier before the last stage, the classifier."""
        yield from (Part(name, layer) for name, layer in self._stem().items())
        yield from (Part(name, layer) for name, layer in _first_modules().items())
        if self.aux_logits:
            named_layers = {"conv0": _conv(768, 128), "conv1": _conv(128, 768, 5), "mean": AdaptiveAvgPool2d(1), "flatten": Flatten()}
            yield Part("AuxLogits", Sequential({"pool": AvgPool2d(5, 3), **named_layers, "fc": Dense(768, self.num_classes)}))
        yield from (Part(name, layer) for name, layer in _last_modules().items())
        yield from self._head(2048)

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes)."""
        x = self.transformed(x)
        for name in (*self._stem(), *_first_modules(), *_last_modules()):
            x = own[name](x)
        return self.scores(own, x)

    def _stem(self) -> dict[str, Layer]:
        return {
            "Conv2d_1a_3x3": _conv(self.in_channels, 32, 3, 2),
            "Conv2d_2a_3x3": _conv(32, 32, 3),
            "Conv2d_2b_3x3": _same(32, 64, 3),
            "maxpool1": MaxPool2d(3, 2),
            "Conv2d_3b_1x1": _conv(64, 80),
            "Conv2d_4a_3x3": _conv(80, 192, 3),
            "maxpool2": MaxPool2d(3, 2),
        }


@dataclass(frozen=True)
class _Branches(Holder):
    """Parallel routes, whose channels are joined. A route names its layers; a pair at its end divides it in two."""

    routes: tuple[tuple[str | tuple[str, ...], ...], ...]

    def forward(self, own: Own, x: Value) -> Value:
        """The joined outputs of all routes."""
        found = []
        for route in self.routes:
            y = x
            for name in route:
                y = own[name](y) if isinstance(name, str) else join(*(own[one](y) for one in name), axis=1)
            found.append(y)
        return join(*found, axis=1)


@remembered
def _inception(incoming: int, plain: int, near3: int, far3: int, near5: int, far5: int, pooled: int) -> _Branches:
    """Reference: ``torchvision.models.googlenet.Inception``."""
    branches = {
        "branch1": _conv(incoming, plain),
        "branch2": Sequential(_conv(incoming, near3), _same(near3, far3, 3)),
        "branch3": Sequential(_conv(incoming, near5), _same(near5, far5, 3)),
        "branch4": Sequential(MaxPool2d(3, 1, 1, ceil_mode=True), _conv(incoming, pooled)),
    }
    return _Branches(branches, tuple((name,) for name in branches))


def _numbered(name: str, *layers: Layer) -> dict[str, Layer]:
    return {f"{name}_{number}": layer for number, layer in enumerate(layers, 1)}


@remembered
def _first_modules() -> dict[str, Layer]:
    """Return the modules before the auxiliary classifier: those at 35x35 positions, and at 17x17."""
    found: dict[str, Layer] = {}
    for name, incoming, pooled in (("Mixed_5b", 192, 32), ("Mixed_5c", 256, 64), ("Mixed_5d", 288, 64)):
        layers = {
            "branch1x1": _conv(incoming, 64),
            **_numbered("branch5x5", _conv(incoming, 48), _same(48, 64, 5)),
            **_numbered("branch3x3dbl", _conv(incoming, 64), _same(64, 96, 3), _same(96, 96, 3)),
            "pool": AvgPool2d(3, 1, 1),
            "branch_pool": _conv(incoming, pooled),
        }
        found[name] = _routed(layers, "branch1x1", "branch5x5", "branch3x3dbl")
    shrinking = {"branch3x3": _conv(288, 384, 3, 2), **_numbered("branch3x3dbl", _conv(288, 64), _same(64, 96, 3), _conv(96, 96, 3, 2))}
    found["Mixed_6a"] = _routed({**shrinking, "pool": MaxPool2d(3, 2)}, "branch3x3", "branch3x3dbl")
    for name, c in (("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192)):
        layers = {
            "branch1x1": _conv(768, 192),
            **_numbered("branch7x7", _conv(768, c), _same(c, c, 1, 7), _same(c, 192, 7, 1)),
            **_numbered("branch7x7dbl", _conv(768, c), _same(c, c, 7, 1), _same(c, c, 1, 7), _same(c, c, 7, 1), _same(c, 192, 1, 7)),
            "pool": AvgPool2d(3, 1, 1),
            "branch_pool": _conv(768, 192),
        }
        found[name] = _routed(layers, "branch1x1", "branch7x7", "branch7x7dbl")
    return found


@remembered
def _last_modules() -> dict[str, Layer]:
    """Return the modules after the auxiliary classifier, at 8x8 places."""
    narrowing = _numbered("branch7x7x3", _conv(768, 192), _same(192, 192, 1, 7), _same(192, 192, 7, 1), _conv(192, 192, 3, 2))
    shrinking = {**_numbered("branch3x3", _conv(768, 192), _conv(192, 320, 3, 2)), **narrowing, "pool": MaxPool2d(3, 2)}
    found: dict[str, Layer] = {"Mixed_7a": _routed(shrinking, "branch3x3", "branch7x7x3")}
    for name, incoming in (("Mixed_7b", 1280), ("Mixed_7c", 2048)):
        layers = {
            "branch1x1": _conv(incoming, 320),
            "branch3x3_1": _conv(incoming, 384),
            "branch3x3_2a": _same(384, 384, 1, 3),
            "branch3x3_2b": _same(384, 384, 3, 1),
            **_numbered("branch3x3dbl", _conv(incoming, 448), _same(448, 384, 3)),
            "branch3x3dbl_3a": _same(384, 384, 1, 3),
            "branch3x3dbl_3b": _same(384, 384, 3, 1),
            "pool": AvgPool2d(3, 1, 1),
            "branch_pool": _conv(incoming, 192),
        }
        found[name] = _routed(layers, "branch1x1", "branch3x3", "branch3x3dbl")
    return found


def _routed(layers: dict[str, Layer], *branches: str) -> _Branches:
    """Give every branch the layers that begin with its name; those that end with a letter are parallel; the last branch pools."""
    routes: list[tuple[Any, ...]] = []
    for branch in branches:
        here = [name for name in layers if name == branch or name.rpartition("_")[0] == branch]
        apart = tuple(name for name in here if name[-1] in "ab")
        routes.append((*(name for name in here if name not in apart), *((apart,) if apart else ())))
    return _Branches(layers, (*routes, tuple(name for name in ("pool", "branch_pool") if name in layers)))
