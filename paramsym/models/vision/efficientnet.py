"""EfficientNet, first and second version. Reference: ``torchvision.models.efficientnet``; tensors as in its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, TypeAlias

from paramsym.algebra.size import Dim, canonical, same
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import SiLU
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.models.vision.blocks import Classifier, conv_norm, named, remembered
from paramsym.models.vision.inverted import SqueezeExcitation, inverted, residual
from paramsym.models.vision.widths import Ratio, divisible, down, scaled, up

Stage: TypeAlias = tuple[Literal["MBConv", "FusedMBConv"], int, int, int, Dim, Dim, Dim]
"""Block, expansion, kernel, stride, channels in, channels out, blocks."""
B0 = (
    (1, 3, 1, 32, 16, 1),
    (6, 3, 2, 16, 24, 2),
    (6, 5, 2, 24, 40, 2),
    (6, 3, 2, 40, 80, 3),
    (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4),
    (6, 3, 1, 192, 320, 1),
)
"""EfficientNet-B0 (Tan and Le 2019, table 1): expansion, kernel, stride, channels in and out, blocks."""
_B: tuple[Stage, ...] = tuple(("MBConv", *row) for row in B0)


@named
@dataclass(frozen=True)
class EfficientNet(Classifier):
    """Inverted residuals with squeeze-and-excitation, whose width and depth are scaled together; version 2 fuses the first stages.

    ``inverted_residual_setting`` has a row (block, expansion, kernel, stride, channels in, channels out, blocks) for every stage, by
    default those of B0. ``width_mult`` and ``depth_mult`` are exact fractions, also with letters: widths are rounded as MobileNetV2's, a
    stage has ceil(blocks*depth_mult) blocks. They scale MBConv stages; fused ones are never scaled in torchvision. ``last_channel`` is the
    width after the stages, four times the last one if it is None. Compound scaling (the paper's section 3) uses the depth 6/5**phi, the
    width 11/10**phi and the side 23/20**phi, rounded, for the model's phi.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, or an unknown name.

    Source: Tan and Le 2019, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", table 1; Tan and Le 2021,
    "EfficientNetV2: Smaller Models and Faster Training", table 4.

    >>> EfficientNet().params
    1281*N + 4007548
    >>> EfficientNet("efficientnet_b4").params, EfficientNet("efficientnet_v2_s", num_classes=10).params
    (19341616, 20190298)
    """

    ratios = ("width_mult", "depth_mult")

    inverted_residual_setting: tuple[tuple[Literal["MBConv", "FusedMBConv"], int, int, int, Dim, Dim, Dim], ...] = _B
    dropout: float = 0.2
    num_classes: Dim = N
    last_channel: Dim | None = None
    _: KW_ONLY
    width_mult: Ratio = 1
    depth_mult: Ratio = 1
    norm_eps: float = 1e-5

    published, claims = published_in("vision.efficientnet")

    def parts(self) -> Iterator[Part]:
        stages = [self._scaled(*stage) for stage in self.inverted_residual_setting]
        stem, last = stages[0][4], stages[-1][5]
        layers: list[Layer] = [conv_norm(self.in_channels, stem, 3, 2, SiLU(), eps=self.norm_eps)]
        layers += [_stage(*stage, self.norm_eps) for stage in stages]
        wide = canonical(4 * last) if self.last_channel is None else self.last_channel
        yield Part("features", Sequential(*layers, conv_norm(last, wide, 1, 1, SiLU(), eps=self.norm_eps)))
        yield Part("avgpool", AdaptiveAvgPool2d(1))
        yield Part("classifier", Sequential(Dropout(self.dropout), Dense(wide, self.num_classes)))

    def _scaled(self, kind: Any, expansion: int, kernel: int, stride: int, near: Dim, far: Dim, depth: Dim) -> Stage:
        if kind == "FusedMBConv":
            return kind, expansion, kernel, stride, near, far, depth
        narrow, wide = (divisible(scaled(width, self.width_mult)) for width in (near, far))
        return kind, expansion, kernel, stride, narrow, wide, up(scaled(depth, self.depth_mult))


@remembered
def _stage(kind: str, expansion: int, kernel: int, stride: int, near: Dim, far: Dim, depth: Dim, eps: float) -> Repeat:
    block = _fused if kind == "FusedMBConv" else _block
    return Repeat(block(expansion, kernel, 1, far, far, eps), depth, first=block(expansion, kernel, stride, near, far, eps))


def _block(expansion: int, kernel: int, stride: int, near: Dim, far: Dim, eps: float) -> Layer:
    """Expansion, depthwise convolution, squeeze-and-excitation, projection."""
    inside = divisible(near * expansion)
    squeezed = max(1, near // 4) if isinstance(near, int) else down(near, 4)
    layers = inverted(near, inside, far, kernel, stride, SiLU(), SqueezeExcitation(inside, squeezed, SiLU()), eps=eps)
    return residual(Sequential(*layers), near, far, stride, "block")


def _fused(expansion: int, kernel: int, stride: int, near: Dim, far: Dim, eps: float) -> Layer:
    """Expansion in one full convolution, without squeeze-and-excitation."""
    inside = divisible(near * expansion)
    first = conv_norm(near, far if same(inside, near) else inside, kernel, stride, SiLU(), eps=eps)
    layers = [first] if inside == near else [first, conv_norm(inside, far, 1, 1, None, eps=eps)]
    return residual(Sequential(*layers), near, far, stride, "block")
