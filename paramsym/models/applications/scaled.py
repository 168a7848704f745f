"""What both versions of EfficientNet share in Keras: scaled widths and depths, the blocks, the stages and the end."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from sympy import Expr

from paramsym.algebra.size import Dim, canonical
from paramsym.errors import ArgumentError
from paramsym.layers.reshaping import Reshape
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.vision.widths import Ratio, down, scaled, up

Stage: TypeAlias = tuple[int, int, Dim, Dim, int, int]
"""Kernel, blocks, channels in and out, expansion, stride of the first block."""


class Scaled(Application):
    """The common base of both versions: multipliers of width and depth, blocks in stages, squeeze-and-excitation, the end."""

    ratios = ("width_coefficient", "depth_coefficient")

    stages: tuple[Stage, ...]
    width_coefficient: Ratio = 1
    depth_coefficient: Ratio = 1
    dropout_rate: float = 0.2
    drop_connect_rate: float = 0.2

    fused: ClassVar[int] = 0
    """The number of stages, from the first, whose blocks have one full convolution instead of two and no squeeze-and-excitation."""
    depthwise: ClassVar[tuple[str, str]]
    """The names of the depthwise convolution and of the padding before it, if there is one."""

    def conditions(self) -> None:
        super().conditions()
        if not 0 <= self.drop_connect_rate <= 1:
            raise ArgumentError(f"drop_connect_rate is {self.drop_connect_rate}; a probability is between 0 and 1.")
        if isinstance(self.depth_coefficient, Expr) and not self.depth_coefficient.is_number:
            raise ArgumentError(f"depth_coefficient is {self.depth_coefficient}; wanted a number, because every block has its own name.")

    def rounded(self, channels: Dim) -> Dim:
        """Return a scaled width as a multiple of 8."""
        raise NotImplementedError

    @property
    def depths(self) -> list[int]:
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

    def block(self, x: Map, name: str, stage: Stage, drop: float) -> Map:
        """Draw an inverted residual, or a fused one; if it has a shortcut, ``drop`` is the rate at which training drops it."""
        kernel, number, near, far, expansion, stride = stage
        passed, fused, (depthwise, padding) = x, number <= self.fused, self.depthwise
        if expansion != 1:
            x = x.conv(canonical(near * expansion), kernel if fused else 1, f"{name}expand_conv", stride if fused else 1)
            x = x.norm(f"{name}expand_bn").act("swish", f"{name}expand_activation")
        if not fused:
            x = x.depthwise(kernel, f"{name}{depthwise}", stride, padded=padding and f"{name}{padding}")
            x = self.squeezed(x.norm(f"{name}bn").act("swish", f"{name}activation"), near, name)
        plain = fused and expansion == 1
        x = x.conv(far, kernel if plain else 1, f"{name}project_conv", stride if plain else 1).norm(f"{name}project_bn")
        x = x.act("swish", f"{name}project_activation") if plain else x
        if stride != 1 or near != far:
            return x
        return (x.drop(drop, f"{name}drop") if drop else x).plus(passed, name=f"{name}add")
