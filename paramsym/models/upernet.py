"""Heads that label every pixel: UPerNet (Xiao et al. 2018, arXiv:1807.10221) and FCN (Long et al. 2015), as BEiT's reference has them."""

from __future__ import annotations

from dataclasses import KW_ONLY

from paramsym.algebra.size import Count, Dim
from paramsym.core.compose import Block, Repeat
from paramsym.core.layer import Layer
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d, ConvTranspose2d
from paramsym.models.blocks import Holder
from paramsym.models.images import convolved
from paramsym.program import Own, Value, apply, join, pool, pool_to, resample

LEVELS = 4
"""The input feature maps."""


def like(x: Value, other: Value) -> Value:
    """Return maps interpolated to the extents of others."""
    return resample("linear", x, other.sizes[2:], (None, None))


def pyramid_neck(width: Dim) -> PyramidNeck:
    """Return the layers that make a pyramid of maps of one width: two convolutions that double the first map, one for the second.

    >>> from paramsym.algebra.symbols import H
    >>> pyramid_neck(H).params
    12*H**2 + 5*H
    """
    doubles = ConvTranspose2d(width, width, 2, stride=2)
    fourfold = Fourfold({"conv_transpose1": doubles, "normalization": BatchNorm2d(width), "conv_transpose2": doubles})
    return PyramidNeck({"fpn1": fourfold, "fpn2": doubles})


class Fourfold(Holder):
    """Two transposed convolutions, with a normalisation and GELU between them."""

    def forward(self, own: Own, x: Value) -> Value:
        return own.conv_transpose2(apply("gelu", own.normalization(own.conv_transpose1(x))))


class PyramidNeck(Holder):
    """Four maps of one size become maps of four times, twice, once and half the extents."""

    def forward(self, own: Own, first: Value, second: Value, third: Value, fourth: Value) -> tuple[Value, ...]:
        """The first two are enlarged; the last one keeps the maximum of 2 by 2 entries."""
        return own.fpn1(first), own.fpn2(second), third, pool("max", fourth, (2, 2), (2, 2), ((0, 0), (0, 0)))


def uper_head(width: Dim, scales: tuple[int, ...], num_labels: Dim) -> UperHead:
    """Return UPerNet's head over four maps of one width; ``scales`` are the extents to which the last one is pooled.

    >>> from paramsym.algebra.symbols import H, N
    >>> uper_head(H, (1, 2, 3, 6), N).params
    115*H**2 + H*N + 24*H + N
    """
    near, wide = convolved(width, width, 1), convolved(width, width, 3)
    pooled = {str(position): Pooled({"conv": near}, scale=scale) for position, scale in enumerate(scales)}
    layers: dict[str, Layer] = {
        "classifier": Conv2d(width, num_labels, 1),
        "psp_modules": PyramidPooling({"blocks": Block(pooled)}),
        "psp_bottleneck": convolved((1 + len(scales)) * width, width, 3),
        "lateral_convs": Block({str(position): near for position in range(LEVELS - 1)}),
        "fpn_convs": Block({str(position): wide for position in range(LEVELS - 1)}),
        "fpn_bottleneck": convolved(LEVELS * width, width, 3),
    }
    return UperHead(layers)


class Pooled(Holder):
    """Means over ``scale`` by ``scale`` areas, then a convolution, then an interpolation back to the input's height and width."""

    _: KW_ONLY
    scale: int

    def forward(self, own: Own, x: Value) -> Value:
        return like(own.conv(pool_to("mean", x, (self.scale, self.scale))), x)


class PyramidPooling(Holder):
    """The map, and the output of each of the ``blocks`` for it (Zhao et al. 2017, arXiv:1612.01105, section 3.2)."""

    def forward(self, own: Own, x: Value) -> Value:
        blocks = (part.name for part in own.blocks.layer.own_parts)
        return join(x, *(own[f"blocks.{name}"](x) for name in blocks), axis=1)


class UperHead(Holder):
    """A pyramid from coarse to fine, whose maps are joined at the extents of the first (Xiao et al. 2018, figure 4)."""

    def forward(self, own: Own, *maps: Value) -> Value:
        """The scores of every label, (batch, labels, height, width), at the extents of the first of four maps."""
        coarse = own.psp_bottleneck(own.psp_modules(maps[-1]))
        found = [coarse]
        for position in reversed(range(LEVELS - 1)):
            lateral = own[f"lateral_convs.{position}"](maps[position])
            coarse = lateral + like(coarse, lateral)
            found = [own[f"fpn_convs.{position}"](coarse), *found]
        return own.classifier(own.fpn_bottleneck(join(found[0], *(like(one, found[0]) for one in found[1:]), axis=1)))


def fcn_head(width: Dim, channels: Dim, num_labels: Dim, convolutions: Count, *, concatenates: bool) -> FcnHead:
    """Return the auxiliary head: convolutions of 3 by 3, one more over their input and output with ``concatenates``, and labels.

    >>> from paramsym.algebra.symbols import C, H, N
    >>> fcn_head(H, C, N, 1, concatenates=False).params
    9*C*H + C*N + 2*C + N
    """
    first = None if convolutions == 0 else convolved(width, channels, 3)
    layers: dict[str, Layer] = {"convs": Repeat(convolved(channels, channels, 3), convolutions, first=first)}
    if concatenates:
        layers["conv_cat"] = convolved(width + channels, channels, 3)
    return FcnHead({**layers, "classifier": Conv2d(channels, num_labels, 1)})


class FcnHead(Holder):
    """The convolutions ``convs`` of the third map, with ``conv_cat`` over input and output if present, and the labels."""

    def forward(self, own: Own, *maps: Value) -> Value:
        """Four maps to (batch, labels, height, width) of the third."""
        x = own.convs(maps[2])
        return own.classifier(own.conv_cat(join(maps[2], x, axis=1)) if "conv_cat" in own else x)
