"""EfficientNet as Keras stores it; torchvision's is ``paramsym.models.EfficientNet``.

Reference: ``keras.applications.EfficientNetB0`` to ``EfficientNetB7``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sympy import Expr

from paramsym.algebra.size import Dim, canonical
from paramsym.errors import ArgumentError
from paramsym.layers.normalization import Normalization
from paramsym.layers.preprocessing import Rescaling
from paramsym.layers.reshaping import Reshape
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.published import published_in
from paramsym.models.vision.blocks import named
from paramsym.models.vision.widths import Ratio, divisible, down, scaled, up

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Statistics of ImageNet's red, green and blue, between 0 and 1."""
Stage: TypeAlias = tuple[int, int, Dim, Dim, int, int]
"""Kernel, blocks, channels in and out, expansion, stride of the first block."""
_B: tuple[Stage, ...] = (
    (3, 1, 32, 16, 1, 1),
    (3, 2, 16, 24, 6, 2),
    (5, 2, 24, 40, 6, 2),
    (3, 3, 40, 80, 6, 2),
    (5, 3, 80, 112, 6, 1),
    (5, 4, 112, 192, 6, 2),
    (3, 1, 192, 320, 6, 1),
)
"""EfficientNet-B0 (Tan and Le 2019, table 1)."""


@dataclass(frozen=True)
class Scaled(Application):
    """The common base of both versions: multipliers of width and depth, blocks in stages, squeeze-and-excitation, the end."""

    ratios = ("width_coefficient", "depth_coefficient")

    stages: tuple[Stage, ...]
    width_coefficient: Ratio = 1
    depth_coefficient: Ratio = 1
    dropout_rate: float = 0.2
    drop_connect_rate: float = 0.2

    def conditions(self) -> None:
        """The number of blocks is a number, because Keras names each block; the drop rate is a probability."""
        super().conditions()
        if not 0 <= self.drop_connect_rate <= 1:
            message = f"drop_connect_rate is {self.drop_connect_rate}; a probability is between 0 and 1."
            raise ArgumentError(message)
        if isinstance(self.depth_coefficient, Expr) and not self.depth_coefficient.is_number:
            message = f"depth_coefficient is {self.depth_coefficient}; wanted a number, because every block has its own name."
            raise ArgumentError(message)

    def rounded(self, channels: Dim) -> Dim:
        """Return a scaled width as a multiple of 8."""
        raise NotImplementedError

    def block(self, x: Map, name: str, stage: Stage, drop: float) -> Map:
        """Draw one block; if it has a shortcut, ``drop`` is the rate at which training drops it."""
        raise NotImplementedError

    @property
    def depths(self) -> list[int]:
        """The number of blocks of every stage."""
        return [int(up(scaled(row[1], self.depth_coefficient))) for row in self.stages]

    def blocks(self, x: Map, total: int) -> Map:
        """Draw the stages, the last convolution and the end; the drop rate grows with the number of earlier blocks."""
        done = 0
        for stage, ((kernel, _, near, far, expansion, stride), depth) in enumerate(zip(self.stages, self.depths, strict=True), 1):
            for number in range(depth):
                enters = self.rounded(far if number else near)
                row = (kernel, stage, enters, self.rounded(far), expansion, 1 if number else stride)
                x = self.block(x, f"block{stage}{chr(ord('a') + number)}_", row, self.drop_connect_rate * done / total)
                done += 1
        x = x.conv(self.rounded(1280), 1, "top_conv").norm("top_bn").act("swish", "top_activation")
        return self.ended(x, kept="pool", drop=self.dropout_rate, dropped="top_dropout")

    def squeezed(self, x: Map, near: Dim, name: str) -> Map:
        """Draw squeeze-and-excitation, with a quarter of the block's input channels inside."""
        scale = x.pool_all("avg", f"{name}se_squeeze").to(Reshape((1, 1, x.width)), f"{name}se_reshape", "reshape")
        scale = scale.conv(down(near, 4), 1, f"{name}se_reduce", bias=True, activation="swish")
        return x.times(scale.conv(x.width, 1, f"{name}se_expand", bias=True, activation="sigmoid"), f"{name}se_excite")

    def added(self, x: Map, passed: Map, name: str, drop: float) -> Map:
        """Draw the sum with the shortcut."""
        return (x.drop(drop, f"{name}drop") if drop else x).plus(passed, name=f"{name}add")


@named
@dataclass(frozen=True)
class KerasEfficientNet(Scaled):
    """Inverted residuals with squeeze-and-excitation, scaled in width, depth and resolution together.

    ``stages`` has for each stage the kernel, the blocks, the input and output channels, the expansion and the stride. ``width_coefficient``
    multiplies the channels, which become multiples of 8; ``depth_coefficient`` the blocks, rounded up. Both are exact fractions. The
    pixels, 0 to 255, are standardised inside, by statistics that are stored and not trained.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, letters in that of the depth, or an unknown name.

    Source: Tan and Le 2019, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", table 1 and section 4.

    >>> KerasEfficientNet("EfficientNetB0").params, KerasEfficientNet("EfficientNetB7").params
    (5288548, 66347960)
    """

    stages: tuple[Stage, ...] = _B

    published, claims = published_in("applications.efficientnet")

    def drawn(self, x: Map) -> Map:
        """Draw the standardisation, the stem and the stages."""
        x = x.to(Rescaling(1 / 255), "", "rescaling").to(Normalization((x.width,)), "", "normalization")
        x = x.pad_to_halve(3, "stem_conv_pad").conv(self.rounded(32), 3, "stem_conv", 2, "valid")
        return self.blocks(x.norm("stem_bn").act("swish", "stem_activation"), sum(self.depths))

    def rounded(self, channels: Dim) -> Dim:
        """Return a scaled width as a multiple of 8, which loses at most a tenth."""
        return divisible(scaled(channels, self.width_coefficient))

    def block(self, x: Map, name: str, stage: Stage, drop: float) -> Map:
        """Draw an inverted residual."""
        kernel, _, near, far, expansion, stride = stage
        passed = x
        if expansion != 1:
            x = (
                x.conv(canonical(near * expansion), 1, f"{name}expand_conv")
                .norm(f"{name}expand_bn")
                .act("swish", f"{name}expand_activation")
            )
        x = x.pad_to_halve(kernel, f"{name}dwconv_pad") if stride == 2 else x
        x = (
            x.depthwise(kernel, f"{name}dwconv", stride, "valid" if stride == 2 else "same")
            .norm(f"{name}bn")
            .act("swish", f"{name}activation")
        )
        x = self.squeezed(x, near, name).conv(far, 1, f"{name}project_conv").norm(f"{name}project_bn")
        return self.added(x, passed, name, drop) if stride == 1 and near == far else x
