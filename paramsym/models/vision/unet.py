"""Two widely used U-Nets: ``milesial/Pytorch-UNet``, and that of PyTorch's hub, ``mateuszbuda/brain-segmentation-pytorch``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass

from paramsym.algebra.convolution import over
from paramsym.algebra.size import Count, Dim, Shape, canonical
from paramsym.algebra.symbols import B, C, N, W
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.convolution import Conv2d, ConvTranspose2d
from paramsym.layers.pooling import MaxPool2d
from paramsym.layers.resampling import Upsample
from paramsym.models.blocks import Holder
from paramsym.models.vision.blocks import Pictures, conv_norm, in_row, named, remembered
from paramsym.models.vision.widths import down
from paramsym.program import Own, Value, apply, axes, join, pad


@named
@dataclass(frozen=True)
class UNet(Pictures):
    """Four levels down and four up; each level up also reads the map of the same resolution from the way down.

    ``features`` is the width at the top, doubled at every halving. With ``bilinear`` the map is interpolated without parameters; then
    the lowest level and the outputs of all levels up, except the last, have half of the width. Input channels C and classes N are letters
    if they are not given. The paper crops and does not pad; here every convolution keeps the extents.

    Source: Ronneberger et al. 2015, "U-Net: Convolutional Networks for Biomedical Image Segmentation", figure 1. Reference:
    ``milesial/Pytorch-UNet``, whose convolutions have had no biases since 2021.

    >>> UNet("unet_carvana").params, UNet(3, 2, bilinear=True).params
    (31037698, 17263042)
    >>> UNet().params
    576*C + 65*N + 31035840
    """

    n_channels: Dim = C
    n_classes: Dim = N
    bilinear: bool = False
    _: KW_ONLY
    features: Dim = 64

    published, claims = published_in("vision.unet")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images (batch, channels, height, width); with sides that are multiples of 16, the formula has no floors."""
        return {"x": (B, self.n_channels, 16 * W, 16 * W)}

    def parts(self) -> Iterator[Part]:
        top = self.features
        widths = [canonical(top * 2**level) for level in range(4)]
        bottom = canonical(top * (8 if self.bilinear else 16))
        yield Part("inc", _double(self.n_channels, top, top))
        for level, (near, far) in enumerate(zip(widths, (*widths[1:], bottom), strict=True), 1):
            yield Part(f"down{level}", Sequential(maxpool_conv=Sequential(MaxPool2d(2), _double(near, far, far))))
        near = bottom
        for level, width in enumerate(reversed(widths), 1):
            far = down(width, 2) if self.bilinear and level < 4 else width
            yield Part(f"up{level}", _up(near, width, far, bilinear=self.bilinear))
            near = far
        yield Part("outc", Sequential(conv=Conv2d(near, self.n_classes, 1)))

    def forward(self, own: Own, x: Value) -> Value:
        """Scores (batch, classes, height, width)."""
        x, _ = axes(x, "batch channels height width", channels=self.n_channels)
        seen = [own.inc(x)]
        for level in range(1, 5):
            seen.append(own[f"down{level}"](seen[-1]))
        x = seen[-1]
        for level in range(1, 5):
            x = own[f"up{level}"](x, seen[4 - level])
        return own.outc(x)


@remembered
def _double(near: Dim, between: Dim, far: Dim) -> Sequential:
    """Two convolutions, each with a norm and ReLU. Reference: ``DoubleConv``."""
    return Sequential(double_conv=Sequential(*in_row(conv_norm(near, between)), *in_row(conv_norm(between, far))))


def _up(near: Dim, beside: Dim, far: Dim, *, bilinear: bool) -> _Up:
    enlarged: Layer = ConvTranspose2d(near, beside, 2, stride=2)
    if bilinear:
        enlarged = Upsample(scale_factor=2, mode="bilinear", align_corners=True)
    wide = canonical((near if bilinear else beside) + beside)
    return _Up({"up": enlarged, "conv": _double(wide, down(wide, 2) if bilinear else far, far)})


class _Up(Holder):
    """A map of twice the extents joined with the one of the way down, and two convolutions."""

    def forward(self, own: Own, x: Value, near: Value) -> Value:
        """The map of the way down comes first; rows and columns that a halving lost are padded with zeros."""
        x = own.up(x)
        margins = [_sides(wanted, found) for wanted, found in zip(near.sizes[2:], x.sizes[2:], strict=True)]
        return own.conv(join(near, pad(x, margins) if any(margin != (0, 0) for margin in margins) else x, axis=1))


def _sides(wanted: Count, found: Count) -> tuple[Count, Count]:
    missing = canonical(wanted - found)
    return over(missing, 2), canonical(missing - over(missing, 2))


@named
@dataclass(frozen=True)
class HubUNet(Pictures):
    """The U-Net of PyTorch's hub: as ``UNet``, half as wide, with a name for every convolution, and a sigmoid at the end.

    Sides are multiples of 16.

    Source: Buda et al. 2019, "Association of genomic subtypes of lower-grade gliomas with shape features automatically extracted by a
    deep learning algorithm". Reference: ``mateuszbuda/brain-segmentation-pytorch``.

    >>> HubUNet("brain_unet").params
    7763041
    """

    in_channels: Dim = C
    out_channels: Dim = N
    init_features: Dim = 32

    published, claims = published_in("vision.hub_unet")
    usual = 16 * W

    def parts(self) -> Iterator[Part]:
        widths = [canonical(self.init_features * 2**level) for level in range(5)]
        near = self.in_channels
        for level, width in enumerate(widths[:4], 1):
            yield Part(f"encoder{level}", _named_double(near, width, f"enc{level}"))
            yield Part(f"pool{level}", MaxPool2d(2, 2))
            near = width
        yield Part("bottleneck", _named_double(near, widths[4], "bottleneck"))
        for level in (4, 3, 2, 1):
            width = widths[level - 1]
            yield Part(f"upconv{level}", ConvTranspose2d(widths[level], width, 2, stride=2))
            yield Part(f"decoder{level}", _named_double(canonical(2 * width), width, f"dec{level}"))
        yield Part("conv", Conv2d(widths[0], self.out_channels, 1))

    def forward(self, own: Own, x: Value) -> Value:
        """Probabilities (batch, classes, height, width)."""
        x, seen = self.seen(x), []
        for level in range(1, 5):
            seen.append(own[f"encoder{level}"](x))
            x = own[f"pool{level}"](seen[-1])
        x = own.bottleneck(x)
        for level in (4, 3, 2, 1):
            x = own[f"decoder{level}"](join(own[f"upconv{level}"](x), seen[level - 1], axis=1))
        return apply("sigmoid", own.conv(x))


@remembered
def _named_double(near: Dim, far: Dim, name: str) -> Layer:
    layers: dict[str, Layer] = {}
    for number, incoming in ((1, near), (2, far)):
        names = (f"{name}{kind}{number}" for kind in ("conv", "norm", "relu"))
        layers |= zip(names, in_row(conv_norm(incoming, far)), strict=True)
    return Sequential(layers)
