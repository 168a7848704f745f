"""RegNet X and Y. Reference: ``torchvision.models.regnet``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paramsym.algebra.size import Dim, divides, per
from paramsym.algebra.symbols import N, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.models.vision.blocks import BLOCKS, CHANNELS, RELU, Averaged, Coloured, Projected, conv_norm, named, remembered
from paramsym.models.vision.inverted import SqueezeExcitation
from paramsym.models.vision.widths import Ratio, nearest_whole, scaled

_GROUPS: tuple[Dim, ...] = dims("g_1 g_2 g_3 g_4")


@named
@dataclass(frozen=True)
class RegNet(Averaged, Coloured):
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

    ratios, staged = ("se_ratio",), ("depths", "widths", "group_widths")

    depths: tuple[Dim, ...] = BLOCKS
    widths: tuple[Dim, ...] = CHANNELS
    group_widths: tuple[Dim, ...] = _GROUPS
    se_ratio: Ratio | None = None
    num_classes: Dim = N
    stem_width: Dim = 32

    published, claims = published_in("vision.regnet")

    def conditions(self) -> None:
        super().conditions()
        for width, group in zip(self.widths, self.group_widths, strict=True):
            divides(group, width, "group_widths", "widths")

    def parts(self) -> Iterator[Part]:
        yield Part("stem", conv_norm(self.in_channels, self.stem_width, 3, 2))
        near, stages = self.stem_width, {}
        for number, (depth, width, group) in enumerate(zip(self.depths, self.widths, self.group_widths, strict=True), 1):
            stages[f"block{number}"] = _stage(near, width, depth, group, self.se_ratio, f"block{number}-{{}}")
            near = width
        yield Part("trunk_output", Sequential(stages))
        yield from self.ended(near)


@remembered
def _stage(near: Dim, far: Dim, depth: Dim, group: Dim, se_ratio: Any, name: str) -> Repeat:
    return Repeat(_block(far, far, 1, group, se_ratio), depth, first=_block(near, far, 2, group, se_ratio), name=name)


def _block(near: Dim, far: Dim, stride: int, group: Dim, se_ratio: Any) -> Layer:
    """1x1, 3x3 in groups, squeeze-and-excitation if given, 1x1; with a projection of the shortcut if the extents change."""
    layers: dict[str, Layer] = {"a": conv_norm(near, far, 1), "b": conv_norm(far, far, 3, stride, groups=per(far, group))}
    if se_ratio is not None:
        layers["se"] = SqueezeExcitation(far, nearest_whole(scaled(near, se_ratio)))
    projection = {"proj": conv_norm(near, far, 1, stride, None)} if stride != 1 else {}
    return _Bottleneck({**projection, "f": Sequential({**layers, "c": conv_norm(far, far, 1, 1, None)}), "activation": RELU}, "f")


class _Bottleneck(Projected):
    """A grouped convolution between two of 1x1; a summary names it."""
