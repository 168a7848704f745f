"""The video ResNets R3D, MC3 and R(2+1)D, and S3D. Reference: ``torchvision.models.video``; tensors as in its state dicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.batch_norm import BatchNorm3d
from paramsym.layers.convolution import Conv3d
from paramsym.layers.dropout import Dropout
from paramsym.layers.pooling import AvgPool3d, MaxPool3d
from paramsym.models.blocks import Holder
from paramsym.models.vision.blocks import BLOCKS, RELU, Averaged, Videos, conv_norm, in_row, named, remembered
from paramsym.models.vision.branches import GOOGLENET, Branches, inception_v1
from paramsym.program import Own, Value, apply, reduce

Maker = Literal["Conv3DSimple", "Conv3DNoTemporal", "Conv2Plus1D"]


@named
@dataclass(frozen=True)
class VideoResNet(Averaged, Videos):
    """A ResNet of basic blocks for videos, whose convolutions read three frames, or one frame, or space first and then time.

    ``conv_makers`` names the convolutions of every stage: "Conv3DSimple" has kernels of 3x3x3, "Conv3DNoTemporal" of 1x3x3 and
    "Conv2Plus1D" of 1x3x3 and 3x1x1, whose number of channels between them is chosen to give the count of 3x3x3, rounded down:
    floor(27*i*o/(9*i + 3*o)) for i and o channels. ``stem`` is "BasicStem" or "R2Plus1dStem". Depths n1 to n4 and N classes are letters
    if they are not given.

    Source: Tran et al. 2018, "A Closer Look at Spatiotemporal Convolutions for Action Recognition", section 3 and table 1.

    >>> VideoResNet("r3d_18").params, VideoResNet("mc3_18").params, VideoResNet("r2plus1d_18").params
    (33371472, 11695440, 31505325)
    """

    conv_makers: tuple[Maker, Maker, Maker, Maker] = ("Conv3DSimple", "Conv3DSimple", "Conv3DSimple", "Conv3DSimple")
    layers: tuple[Dim, Dim, Dim, Dim] = BLOCKS
    stem: Literal["BasicStem", "R2Plus1dStem"] = "BasicStem"
    num_classes: Dim = N

    published, claims = published_in("vision.video_resnet", "VideoResNet")

    def parts(self) -> Iterator[Part]:
        if self.stem == "BasicStem":
            yield Part("stem", conv_norm(3, 64, (3, 7, 7), (1, 2, 2), rank=3))
        else:
            flat, along = conv_norm(3, 45, (1, 7, 7), (1, 2, 2), rank=3), conv_norm(45, 64, (3, 1, 1), rank=3)
            yield Part("stem", Sequential(*in_row(flat), *in_row(along)))
        near = 64
        for number, (maker, depth) in enumerate(zip(self.conv_makers, self.layers, strict=True), 1):
            far = 32 * 2**number
            yield Part(f"layer{number}", _stage(maker, near, far, depth))
            near = far
        yield from self.ended(near)


@remembered
def _stage(maker: Maker, near: int, far: int, depth: Dim) -> Repeat:
    return Repeat(_block(maker, far, far), depth, first=_block(maker, near, far))


def _block(maker: Maker, near: int, far: int) -> _Block:
    """Two convolutions; if the channels change, both they and the shortcut halve the extents."""
    between, stride = (27 * near * far) // (9 * near + 3 * far), 1 if near == far else 2
    layers = {
        "conv1": Sequential(_convolution(maker, near, far, between, stride), BatchNorm3d(far), RELU),
        "conv2": Sequential(_convolution(maker, far, far, between, 1), BatchNorm3d(far)),
    }
    if near != far:
        steps = (1 if maker == "Conv3DNoTemporal" else stride, stride, stride)
        layers["downsample"] = conv_norm(near, far, 1, steps, None, rank=3)
    return _Block(layers)


class _Block(Holder):
    """Two convolutions added to the shortcut."""

    def forward(self, own: Own, x: Value) -> Value:
        return apply("relu", own.conv2(own.conv1(x)) + (own.downsample(x) if "downsample" in own else x))


def _convolution(maker: Maker, near: Dim, far: Dim, between: Dim, stride: int) -> Layer:
    if maker == "Conv3DSimple":
        return Conv3d(near, far, 3, stride=stride, padding=1, bias=False)
    flat = Conv3d(near, between if maker == "Conv2Plus1D" else far, (1, 3, 3), stride=(1, stride, stride), padding=(0, 1, 1), bias=False)
    if maker == "Conv3DNoTemporal":
        return flat
    along = Conv3d(between, far, (3, 1, 1), stride=(stride, 1, 1), padding=(1, 0, 0), bias=False)
    return Sequential(flat, BatchNorm3d(between), RELU, along)


_EPS = 0.001


@named
@dataclass(frozen=True)
class S3D(Videos):
    """Inception v1 for videos, with separable convolutions: first in space, then in time.

    Videos have 14 frames or more, of 224x224 or more.

    Source: Xie et al. 2018, "Rethinking Spatiotemporal Feature Learning: Speed-Accuracy Trade-offs in Video Classification", section 4.3.

    >>> S3D("s3d").params
    8320048
    """

    num_classes: Dim = N
    dropout: float = 0.2

    published, claims = published_in("vision.video_resnet", "S3D")

    def parts(self) -> Iterator[Part]:
        flat = MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1))
        modules = [_mixed(widths) for widths in GOOGLENET.values()]
        stem = (_separable(3, 64, 7, 2), flat, _conv(64, 64), _separable(64, 192, 3), flat)
        layers = (*stem, *modules[:2], MaxPool3d(3, 2, 1), *modules[2:7], MaxPool3d(2, 2), *modules[7:])
        yield Part("features", Sequential(*layers))
        yield Part("avgpool", AvgPool3d((2, 7, 7), 1))
        yield Part("classifier", Sequential(Dropout(self.dropout), Conv3d(1024, self.num_classes, 1)))

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes): the mean over all windows."""
        return reduce("mean", own.classifier(own.avgpool(own.features(self.seen(x)))), 2, 3, 4)


def _conv(near: int, far: int) -> Sequential:
    return conv_norm(near, far, 1, eps=_EPS, rank=3)


@remembered
def _separable(near: int, far: int, kernel: int, stride: int = 1) -> Sequential:
    in_space = conv_norm(near, far, (1, kernel, kernel), (1, stride, stride), eps=_EPS, rank=3)
    return Sequential(in_space, conv_norm(far, far, (kernel, 1, 1), (stride, 1, 1), eps=_EPS, rank=3))


@remembered
def _mixed(widths: tuple[int, ...]) -> Layer:
    return Branches(inception_v1(widths, 0, _conv, _separable, MaxPool3d(3, 1, 1)))
