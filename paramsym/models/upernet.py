"""Heads that label every pixel: UPerNet (Xiao et al. 2018, arXiv:1807.10221) and FCN (Long et al. 2015), as BEiT's reference has them."""

from __future__ import annotations

from paramsym.compose import Block, Repeat
from paramsym.layer import Layer
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d, ConvTranspose2d
from paramsym.models.resnet_v1_5 import convolved
from paramsym.size import Count, Dim

LEVELS = 4
"""The feature maps that go in."""


def pyramid_neck(width: Dim) -> Block:
    """Return what makes a pyramid of the maps of one width: two convolutions that double the first, one for the second.

    >>> from paramsym.symbols import H
    >>> pyramid_neck(H).params
    12*H**2 + 5*H
    """
    doubles = ConvTranspose2d(width, width, 2, stride=2)
    return Block(fpn1=Block(conv_transpose1=doubles, normalization=BatchNorm2d(width), conv_transpose2=doubles), fpn2=doubles)


def uper_head(width: Dim, scales: int, num_labels: Dim) -> Block:
    """Return UPerNet's head over four maps of one width; ``scales`` is the number of sizes to which it pools the last.

    >>> from paramsym.symbols import H, N
    >>> uper_head(H, 4, N).params
    115*H**2 + H*N + 24*H + N
    """
    near, wide = convolved(width, width, 1), convolved(width, width, 3)
    layers: dict[str, Layer] = {
        "classifier": Conv2d(width, num_labels, 1),
        "psp_modules": Block(blocks=Block({str(position): Block(conv=near) for position in range(scales)})),
        "psp_bottleneck": convolved((1 + scales) * width, width, 3),
        "lateral_convs": Block({str(position): near for position in range(LEVELS - 1)}),
        "fpn_convs": Block({str(position): wide for position in range(LEVELS - 1)}),
        "fpn_bottleneck": convolved(LEVELS * width, width, 3),
    }
    return Block(layers)


def fcn_head(width: Dim, channels: Dim, num_labels: Dim, convolutions: Count, *, concatenates: bool) -> Block:
    """Return the auxiliary head: convolutions of 3 by 3, one more over their input and output where it ``concatenates``, and labels.

    >>> from paramsym.symbols import C, H, N
    >>> fcn_head(H, C, N, 1, concatenates=False).params
    9*C*H + C*N + 2*C + N
    """
    first = None if convolutions == 0 else convolved(width, channels, 3)
    layers: dict[str, Layer] = {"convs": Repeat(convolved(channels, channels, 3), convolutions, first=first)}
    if concatenates:
        layers["conv_cat"] = convolved(width + channels, channels, 3)
    return Block({**layers, "classifier": Conv2d(channels, num_labels, 1)})
