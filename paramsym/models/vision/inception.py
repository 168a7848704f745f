"""GoogLeNet and Inception v3, auxiliary classifiers included. Reference: ``torchvision.models.googlenet`` and ``inception``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.pooling import AvgPool2d, MaxPool2d
from paramsym.layers.reshaping import Flatten
from paramsym.models.images import pair
from paramsym.models.vision.blocks import DEVIATION, MEAN, RELU, Averaged, Coloured, named, remembered
from paramsym.models.vision.branches import GOOGLENET, INCEPTION_V3, Branches, Kernel, Route, inception_v1
from paramsym.program import Value, join, take


@remembered
def _conv(incoming: Dim, outgoing: Dim, kernel: Kernel = 1, stride: int = 1, *, padding: Any = 0) -> Sequential:
    """A convolution, a norm and ReLU. Reference: ``BasicConv2d``."""
    convolution = Conv2d(incoming, outgoing, kernel, stride=stride, padding=padding, bias=False)
    return Sequential(conv=convolution, bn=BatchNorm2d(outgoing, eps=0.001), relu=RELU)


def _same(incoming: Dim, outgoing: Dim, kernel: Kernel) -> Sequential:
    """A convolution that keeps the extents."""
    height, width = pair(kernel)
    return _conv(incoming, outgoing) if kernel == 1 else _conv(incoming, outgoing, (height, width), padding=(height // 2, width // 2))


class _Inception(Averaged, Coloured):
    """Modules of parallel branches; ``transform_input`` changes the images' statistics."""

    transform_input: bool
    aside = ("aux1", "aux2", "AuxLogits")

    def seen(self, x: Value) -> Value:
        """Return the images, changed from ImageNet's statistics to a mean and a deviation of 0.5, with which the weights were trained."""
        x = super().seen(x)
        if not self.transform_input:
            return x
        each = enumerate(zip(MEAN, DEVIATION, strict=True))
        return join(*(take(x, 1, n, 1) * (std / 0.5) + (mean - 0.5) / 0.5 for n, (mean, std) in each), axis=1)


@named
@dataclass(frozen=True)
class GoogLeNet(_Inception):
    """Inception v1: nine modules of four parallel branches each.

    ``aux_logits`` stores two auxiliary classifiers, which are used only in training: the output is the scores of the last classifier. The
    published weights are without them.
    The branch with a 5x5 convolution in the paper has one of 3x3 here, as in the reference and its weights.

    Raises:
        ArgumentError: an unknown name.

    Source: Szegedy et al. 2015, "Going Deeper with Convolutions", table 1.

    >>> GoogLeNet("googlenet").params, GoogLeNet("googlenet", aux_logits=True).params
    (6624904, 13004888)
    >>> GoogLeNet().params
    3075*N + 9929888
    """

    num_classes: Dim = N
    aux_logits: bool = True
    transform_input: bool = False
    dropout: float = 0.2
    dropout_aux: float = 0.7

    published, claims = published_in("vision.inception", "GoogLeNet")

    def parts(self) -> Iterator[Part]:
        yield Part("conv1", _conv(self.in_channels, 64, 7, 2, padding=3))
        yield Part("maxpool1", MaxPool2d(3, 2, ceil_mode=True))
        yield Part("conv2", _conv(64, 64))
        yield Part("conv3", _same(64, 192, 3))
        yield Part("maxpool2", MaxPool2d(3, 2, ceil_mode=True))
        pools = {"inception4a": ("maxpool3", MaxPool2d(3, 2, ceil_mode=True)), "inception5a": ("maxpool4", MaxPool2d(2, 2, ceil_mode=True))}
        for name, sizes in GOOGLENET.items():
            if name in pools:
                yield Part(*pools[name])
            yield Part(name, _inception(sizes))
        for name, width in (("aux1", 512), ("aux2", 528)) if self.aux_logits else ():
            matrices = {"fc1": Dense(2048, 1024), "relu": RELU, "dropout": Dropout(self.dropout_aux), "fc2": Dense(1024, self.num_classes)}
            yield Part(name, Sequential({"pool": AdaptiveAvgPool2d(4), "conv": _conv(width, 128), "flatten": Flatten(), **matrices}))
        yield from self.ended(1024, self.dropout)


@named
@dataclass(frozen=True)
class Inception3(_Inception):
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

    published, claims = published_in("vision.inception", "Inception3")
    usual = 299

    def parts(self) -> Iterator[Part]:
        for name, layer in {**self._stem(), **_modules()}.items():
            if name == "Mixed_7a" and self.aux_logits:
                layers = {"conv0": _conv(768, 128), "conv1": _conv(128, 768, 5), "mean": AdaptiveAvgPool2d(1), "flatten": Flatten()}
                yield Part("AuxLogits", Sequential({"pool": AvgPool2d(5, 3), **layers, "fc": Dense(768, self.num_classes)}))
            yield Part(name, layer)
        yield from self.ended(2048, self.dropout)

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


@remembered
def _inception(widths: tuple[int, ...]) -> Branches:
    """Reference: ``torchvision.models.googlenet.Inception``."""
    return Branches(inception_v1(widths, 1, _conv, _same, MaxPool2d(3, 1, 1, ceil_mode=True)))


@remembered
def _modules() -> dict[str, Layer]:
    found: dict[str, Layer] = {}
    near = 192
    for letters, (branches, pooled) in zip(["5b", "5c", "5d", "6a", "6b", "6c", "6d", "6e", "7a", "7b", "7c"], INCEPTION_V3, strict=True):
        each = [_along(branch, near, route, halves=not pooled) for branch, route in branches.items()]
        layers: dict[str, Layer] = {name: layer for steps in each for step in steps for name, layer in step.items()}
        pool = {"pool": AvgPool2d(3, 1, 1), "branch_pool": _conv(near, pooled)} if pooled else {"pool": MaxPool2d(3, 2)}
        routes = (*(tuple(map(tuple, steps)) for steps in each), tuple((name,) for name in pool))
        found[f"Mixed_{letters}"] = Branches({**layers, **pool}, routes)
        near = sum((len(kernels) * width for *_, (width, *kernels) in branches.values()), pooled or near)
    return found


def _along(branch: str, near: int, route: Route, *, halves: bool) -> list[dict[str, Layer]]:
    """Return the convolutions of a branch under their names, one step after another: numbered, and lettered if they are parallel."""
    steps: list[dict[str, Layer]] = []
    for number, (width, *kernels) in enumerate(route, 1):
        name, last = branch if len(route) == 1 else f"{branch}_{number}", halves and number == len(route)
        each = (_conv(near, width, kernel, 2) if last else _same(near, width, kernel) for kernel in kernels)
        steps.append({f"{name}{end}": one for end, one in zip("ab" if len(kernels) > 1 else ("",), each, strict=True)})
        near = width
    return steps
