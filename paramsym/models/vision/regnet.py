"""RegNet X and Y. Reference: ``torchvision.models.regnet``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from sympy import Rational

from paramsym.algebra.size import Dim, divides, per
from paramsym.algebra.symbols import N, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.dense import Dense
from paramsym.models.published import Claim
from paramsym.models.vision.blocks import RELU, Pictures, Ratio, SqueezeExcitation, conv_norm, counted, named, nearest_whole, remembered
from paramsym.program import Own, Value, rearrange

_DEPTHS: tuple[Dim, ...] = dims("n1 n2 n3 n4")
_WIDTHS: tuple[Dim, ...] = dims("C_1 C_2 C_3 C_4")
_GROUPS: tuple[Dim, ...] = dims("g_1 g_2 g_3 g_4")
_SIZES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "y_400mf": ((1, 3, 6, 6), (48, 104, 208, 440), 8),
    "y_800mf": ((1, 3, 8, 2), (64, 144, 320, 784), 16),
    "y_1_6gf": ((2, 6, 17, 2), (48, 120, 336, 888), 24),
    "y_3_2gf": ((2, 5, 13, 1), (72, 216, 576, 1512), 24),
    "y_8gf": ((2, 4, 10, 1), (224, 448, 896, 2016), 56),
    "y_16gf": ((2, 4, 11, 1), (224, 448, 1232, 3024), 112),
    "y_32gf": ((2, 5, 12, 1), (232, 696, 1392, 3712), 232),
    "y_128gf": ((2, 7, 17, 1), (528, 1056, 2904, 7392), 264),
    "x_400mf": ((1, 2, 7, 12), (32, 64, 160, 400), 16),
    "x_800mf": ((1, 3, 7, 5), (64, 128, 288, 672), 16),
    "x_1_6gf": ((2, 4, 10, 2), (72, 168, 408, 912), 24),
    "x_3_2gf": ((2, 6, 15, 2), (96, 192, 432, 1008), 48),
    "x_8gf": ((2, 5, 15, 1), (80, 240, 720, 1920), 120),
    "x_16gf": ((2, 6, 13, 1), (256, 512, 896, 2048), 128),
    "x_32gf": ((2, 7, 13, 1), (336, 672, 1344, 2520), 168),
}
"""Depths, widths, and the width of a group, which is never more than the stage's width."""


@named
@dataclass(frozen=True)
class RegNet(Pictures):
    """Four stages of bottlenecks with groups of a fixed width, whose depths and widths follow from a rounded line.

    The arguments are those of torchvision's ``BlockParams``: ``depths``, ``widths`` and ``group_widths`` of the stages, and ``se_ratio``,
    an exact fraction of a block's input channels, or None for RegNet X. Sizes that are not given are letters.

    Raises:
        DivisibilityError: a group's width that does not divide the stage's.
        ArgumentError: lists of different lengths, a ratio that is not an exact fraction, or an unknown name.

    Source: Radosavovic et al. 2020, "Designing Network Design Spaces", sections 3.3 and 4.

    >>> RegNet("regnet_y_400mf").params, RegNet().at("regnet_x_32gf").params
    (4344144, 107811560)
    >>> RegNet().part("trunk_output.block2.block2-1").params
    2*C_2**2 + 9*C_2*g_2 + 6*C_2
    """

    ratios = ("se_ratio",)

    depths: tuple[Dim, ...] = _DEPTHS
    widths: tuple[Dim, ...] = _WIDTHS
    group_widths: tuple[Dim, ...] = _GROUPS
    se_ratio: Ratio | None = None
    num_classes: Dim = N
    stem_width: Dim = 32
    _: KW_ONLY
    in_channels: Dim = 3

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"regnet_{name}": {
            "depths": depths,
            "widths": widths,
            "group_widths": tuple(min(group, width) for width in widths),
            "se_ratio": Rational(1, 4) if name.startswith("y") else None,
            "num_classes": 1000,
        }
        for name, (depths, widths, group) in _SIZES.items()
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        *counted("RegNet", regnet_y_400mf=4_344_144, regnet_y_800mf=6_432_512, regnet_y_1_6gf=11_202_430, regnet_y_3_2gf=19_436_338),
        *counted("RegNet", regnet_y_8gf=39_381_472, regnet_y_16gf=83_590_140, regnet_y_32gf=145_046_770, regnet_y_128gf=644_812_894),
        *counted("RegNet", regnet_x_400mf=5_495_976, regnet_x_800mf=7_259_656, regnet_x_1_6gf=9_190_136, regnet_x_3_2gf=15_296_552),
        *counted("RegNet", regnet_x_8gf=39_572_648, regnet_x_16gf=54_278_536, regnet_x_32gf=107_811_560),
    )

    def conditions(self) -> None:
        """Every stage has a depth, a width, and groups that divide it."""
        if not len(self.depths) == len(self.widths) == len(self.group_widths) > 0:
            message = (
                f"there are {len(self.depths)} depths, {len(self.widths)} widths and {len(self.group_widths)} group_widths;"
                " wanted one of each for every stage."
            )
            raise ArgumentError(message)
        for width, group in zip(self.widths, self.group_widths, strict=True):
            divides(group, width, "group_widths", "widths")

    def parts(self) -> Iterator[Part]:
        """The stem, the stages, and the classifier."""
        yield Part("stem", conv_norm(self.in_channels, self.stem_width, 3, 2))
        near, stages = self.stem_width, {}
        for number, (depth, width, group) in enumerate(zip(self.depths, self.widths, self.group_widths, strict=True), 1):
            stages[f"block{number}"] = _stage(near, width, depth, group, self.se_ratio, f"block{number}-{{}}")
            near = width
        yield Part("trunk_output", Sequential(stages))
        yield Part("avgpool", AdaptiveAvgPool2d(1))
        yield Part("fc", Dense(near, self.num_classes))

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes)."""
        return own.fc(rearrange(own.avgpool(own.trunk_output(own.stem(self.seen(x)))), "b c () () -> b c"))


@remembered
def _stage(near: Dim, far: Dim, depth: Dim, group: Dim, se_ratio: Any, name: str) -> Repeat:
    return Repeat(_block(far, far, 1, group, se_ratio), depth, first=_block(near, far, 2, group, se_ratio), name=name)


def _block(near: Dim, far: Dim, stride: int, group: Dim, se_ratio: Any) -> Layer:
    """1x1, 3x3 in groups, squeeze-and-excitation if given, 1x1; with a projection of the shortcut if the extents change."""
    layers: dict[str, Layer] = {"a": conv_norm(near, far, 1), "b": conv_norm(far, far, 3, stride, groups=per(far, group))}
    if se_ratio is not None:
        layers["se"] = SqueezeExcitation(far, nearest_whole(se_ratio * near))
    projection = conv_norm(near, far, 1, stride, None) if stride != 1 else None
    return _Bottleneck(Sequential({**layers, "c": conv_norm(far, far, 1, 1, None)}), projection)


@dataclass(frozen=True)
class _Bottleneck(Layer):
    """A body added to the shortcut, which is projected if there is a projection."""

    body: Layer
    projection: Layer | None

    def parts(self) -> Iterator[Part]:
        if self.projection is not None:
            yield Part("proj", self.projection)
        yield Part("f", self.body)
        yield Part("activation", RELU)

    def forward(self, own: Own, x: Value) -> Value:
        """The sum, activated."""
        return own.activation((x if self.projection is None else own.proj(x)) + own.f(x))
