"""MobileNetV3, large and small. Reference: ``torchvision.models.mobilenetv3``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from paramsym.algebra.size import Dim, canonical
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import Hardsigmoid, Hardswish
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.models.vision.blocks import RELU, Classifier, Norm, conv_norm, named, remembered
from paramsym.models.vision.inverted import SqueezeExcitation, inverted, residual
from paramsym.models.vision.widths import Ratio, divisible, down, scaled

TABLES: Mapping[str, tuple[tuple[int, int, int, str, int], ...]] = {
    "mobilenet_v3_large": (
        (3, 16, 16, "", 1),
        (3, 64, 24, "", 2),
        (3, 72, 24, "", 1),
        (5, 72, 40, "SE", 2),
        *((5, 120, 40, "SE", 1),) * 2,
        (3, 240, 80, "HS", 2),
        (3, 200, 80, "HS", 1),
        *((3, 184, 80, "HS", 1),) * 2,
        (3, 480, 112, "SE HS", 1),
        (3, 672, 112, "SE HS", 1),
        (5, 672, 160, "SE HS", 2),
        *((5, 960, 160, "SE HS", 1),) * 2,
    ),
    "mobilenet_v3_small": (
        (3, 16, 16, "SE", 2),
        (3, 72, 24, "", 2),
        (3, 88, 24, "", 1),
        (5, 96, 40, "SE HS", 2),
        *((5, 240, 40, "SE HS", 1),) * 2,
        (5, 120, 48, "SE HS", 1),
        (5, 144, 48, "SE HS", 1),
        (5, 288, 96, "SE HS", 2),
        *((5, 576, 96, "SE HS", 1),) * 2,
    ),
}
"""Kernel, channels inside, channels out, the block's options (squeeze-and-excitation, hard swish), stride."""
_LAST = {"mobilenet_v3_large": 1280, "mobilenet_v3_small": 1024}


@named
@dataclass(frozen=True)
class MobileNetV3(Classifier):
    """Inverted residuals of several kernels, some with squeeze-and-excitation, the later ones with hard swish.

    ``width_mult`` is an exact fraction; widths are rounded as MobileNetV2's. ``reduced_tail`` halves the last three blocks, ``dilated``
    dilates them instead of their stride; both are for segmentation and detection. ``norm_layer`` "BatchNorm2d" or
    "FrozenBatchNorm2d" adds 1e-5 to a variance, as in torchvision's detectors, and None 1e-3.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, or an unknown name.

    Source: Howard et al. 2019, "Searching for MobileNetV3", tables 1 and 2.

    >>> MobileNetV3("mobilenet_v3_small").params, MobileNetV3("mobilenet_v3_large", num_classes=10).params
    (2542856, 4214842)
    >>> MobileNetV3().params
    1281*N + 4202032
    """

    ratios = ("width_mult",)

    arch: Literal["mobilenet_v3_large", "mobilenet_v3_small"] = "mobilenet_v3_large"
    width_mult: Ratio = 1
    reduced_tail: bool = False
    dilated: bool = False
    num_classes: Dim = N
    dropout: float = 0.2
    _: KW_ONLY
    norm_layer: Norm | None = None

    published, claims = published_in("vision.mobilenet_v3")

    def parts(self) -> Iterator[Part]:
        rows = TABLES[self.arch]
        near = self._rounded(16)
        norm = _settings(self.norm_layer)
        layers: list[Layer] = [conv_norm(self.in_channels, near, 3, 2, Hardswish(), **norm)]
        for number, (kernel, inside, outgoing, has, stride) in enumerate(rows):
            tail = len(rows) - number  # the last three blocks; in the first of them only the output is narrower
            expanded, far = self._rounded(inside, halved=tail < 3), self._rounded(outgoing, halved=tail <= 3)
            dilation = 2 if self.dilated and tail <= 3 else 1
            layers.append(_block(near, expanded, far, kernel, stride, has, dilation, self.norm_layer))
            near = far
        wide = canonical(6 * near)
        yield Part("features", Sequential(*layers, conv_norm(near, wide, 1, 1, Hardswish(), **norm)))
        yield Part("avgpool", AdaptiveAvgPool2d(1))
        last = self._rounded(_LAST[self.arch], halved=True)
        matrices = (Dense(wide, last), Hardswish(), Dropout(self.dropout), Dense(last, self.num_classes))
        yield Part("classifier", Sequential(*matrices))

    def _rounded(self, channels: int, *, halved: bool = False) -> Dim:
        return divisible(scaled(channels // 2 if halved and self.reduced_tail else channels, self.width_mult))


@remembered
def _block(near: Dim, inside: Dim, far: Dim, kernel: int, stride: int, has: str, dilation: int, kind: Norm | None) -> Layer:
    squeeze = SqueezeExcitation(inside, divisible(down(inside, 4)), scale_activation=Hardsigmoid()) if "SE" in has else None
    activation: Layer = Hardswish() if "HS" in has else RELU
    layers = inverted(near, inside, far, kernel, stride, activation, squeeze, dilation=dilation, **_settings(kind))
    return residual(Sequential(*layers), near, far, stride, "block")


def _settings(kind: Norm | None) -> dict[str, Any]:
    return {"eps": 0.001} if kind is None else {"norm": kind}
