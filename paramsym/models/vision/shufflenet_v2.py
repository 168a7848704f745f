"""ShuffleNetV2. Reference: ``torchvision.models.shufflenetv2``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.algebra.size import Dim, divides, per
from paramsym.algebra.symbols import N, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Part
from paramsym.layers.dense import Dense
from paramsym.layers.pooling import MaxPool2d
from paramsym.models.blocks import Holder
from paramsym.models.vision.blocks import Coloured, conv_norm, in_row, named, remembered
from paramsym.program import Own, Value, join, rearrange, reduce, segments

_DEPTHS: tuple[Dim, Dim, Dim] = dims("n2 n3 n4")
_CHANNELS: tuple[Dim, Dim, Dim, Dim, Dim] = dims("C_1 C_2 C_3 C_4 C_5")


@named
@dataclass(frozen=True)
class ShuffleNetV2(Coloured):
    """Blocks that leave half of the channels unchanged, and shuffle the halves after every block.

    Sizes that are not given are letters: depths n2 to n4 of the stages 2 to 4, and the widths C_1 of the stem, C_2 to C_4 (even) of the
    stages, and C_5 of the last convolution.

    Raises:
        DivisibilityError: a stage of an odd width.
        ArgumentError: an unknown name.

    Source: Ma et al. 2018, "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design", table 5.

    >>> ShuffleNetV2("shufflenet_v2_x1_0").params, ShuffleNetV2().at("shufflenet_v2_x2_0").params
    (2278604, 7393996)
    >>> ShuffleNetV2().part("stage2.1").params
    C_2**2/2 + 15*C_2/2
    """

    stages_repeats: tuple[Dim, Dim, Dim] = _DEPTHS
    stages_out_channels: tuple[Dim, Dim, Dim, Dim, Dim] = _CHANNELS
    num_classes: Dim = N

    published, claims = published_in("vision.shufflenet_v2")

    def conditions(self) -> None:
        for width in self.stages_out_channels[1:-1]:
            divides(2, width, "2", "an entry of stages_out_channels")

    def parts(self) -> Iterator[Part]:
        near, *widths, last = self.stages_out_channels
        yield Part("conv1", conv_norm(self.in_channels, near, 3, 2))
        yield Part("maxpool", MaxPool2d(3, 2, 1))
        for stage, (depth, far) in enumerate(zip(self.stages_repeats, widths, strict=True), 2):
            yield Part(f"stage{stage}", _stage(near, far, depth))
            near = far
        yield Part("conv5", conv_norm(near, last, 1))
        yield Part("fc", Dense(last, self.num_classes))

    def forward(self, own: Own, x: Value) -> Value:
        x = own.maxpool(own.conv1(self.seen(x)))
        return own.fc(reduce("mean", own.conv5(own.stage4(own.stage3(own.stage2(x)))), 2, 3))


@remembered
def _stage(near: Dim, far: Dim, depth: Dim) -> Repeat:
    return Repeat(_block(far, far, 1), depth, first=_block(near, far, 2))


def _block(near: Dim, far: Dim, stride: int) -> _Block:
    half = per(far, 2)
    enters = half if stride == 1 else near
    branch2 = _row(conv_norm(enters, half, 1), _filtered(half, stride), conv_norm(half, half, 1))
    branch1 = {"branch1": _row(_filtered(near, stride), conv_norm(near, half, 1))} if stride > 1 else {}
    return _Block({**branch1, "branch2": branch2}, half)


class _Block(Holder):
    """Two parallel branches; without a ``branch1``, the first ``half`` of the channels passes unchanged."""

    half: Dim

    def forward(self, own: Own, x: Value) -> Value:
        near, far = (own.branch1(x), x) if "branch1" in own else segments(x, self.half, self.half, axis=1)
        return rearrange(join(near, own.branch2(far), axis=1), "b (branch c) h w -> b (c branch) h w", branch=2)


def _filtered(width: Dim, stride: int) -> Sequential:
    return conv_norm(width, width, 3, stride, None, groups=width)


def _row(*layers: Sequential) -> Sequential:
    return Sequential(*(one for layer in layers for one in in_row(layer)))
