"""MobileNet, the first version, as Keras stores it. Reference: ``keras.applications.MobileNet``; torchvision has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from sympy import Rational

from paramsym.algebra.size import Dim, Shape, canonical
from paramsym.algebra.symbols import B, N, W
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import ReLU6
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dropout import Dropout
from paramsym.layers.padding import ZeroPad2d
from paramsym.layers.separable import DepthwiseConv2d
from paramsym.models.published import Claim
from paramsym.models.vision.blocks import Pictures, Ratio, down, named
from paramsym.program import Own, Value, axes, rearrange, reduce, softmax

_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))
"""Channels and stride of each separable convolution (Howard et al. 2017, table 1)."""
_ALPHAS = {"": 1, "_0.75": Rational(3, 4), "_0.50": Rational(1, 2), "_0.25": Rational(1, 4)}
_SUMMARY = "keras.applications.MobileNet, Total params"
_TOTALS = {"": (4_253_864, 21_888), "_0.75": (2_601_976, 16_416), "_0.50": (1_342_536, 10_944), "_0.25": (475_544, 5_472)}
"""What Keras counts, and how many of these are the norms' statistics."""


@named
@dataclass(frozen=True)
class MobileNet(Pictures):
    """Thirteen separable convolutions: every channel filtered by itself in 3x3, then all mixed in 1x1.

    ``alpha``, an exact fraction, multiplies every width, which is then rounded down: floor(alpha*c); the paper's smooth formula leaves out
    the floor. ``depth_multiplier`` is the number of filters for each channel. Images hold their channels last, and what comes out are
    probabilities. The resolution multiplier of the paper is the side of the image: it changes the work and no count.

    Raises:
        ArgumentError: a multiplier that is no exact fraction, or an unknown name.

    Source: Howard et al. 2017, "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications", table 1.

    >>> MobileNet("mobilenet").params, MobileNet("mobilenet_0.50").params
    (4231976, 1331592)
    >>> from paramsym import dims
    >>> MobileNet(alpha=dims("w") / 32, num_classes=1000).params
    3066*w**2 + 34106*w + 1000
    """

    ratios = ("alpha",)

    alpha: Ratio = 1
    depth_multiplier: Dim = 1
    dropout: float = 0.001
    num_classes: Dim = N
    _: KW_ONLY
    in_channels: Dim = 3

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"mobilenet{suffix}": {"alpha": alpha, "num_classes": 1000} for suffix, alpha in _ALPHAS.items()
    }
    claims: ClassVar[tuple[Claim, ...]] = tuple(
        Claim(
            f"mobilenet{suffix}", count, "keras.applications.MobileNet, Total params", "MobileNet", statistics, "with the norms' statistics"
        )
        for suffix, (count, statistics) in _TOTALS.items()
    )

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images (batch, height, width, channels)."""
        return {"x": (B, 32 * W, 32 * W, self.in_channels)}

    def parts(self) -> Iterator[Part]:
        """The stem, the separable convolutions, and a convolution to the classes, under Keras' names."""
        near = self._width(32)
        yield from self._normed("conv1", Conv2d(self.in_channels, near, 3, 2, "same", bias=False, dialect="keras"), near)
        for number, (channels, stride) in enumerate(_BLOCKS, 1):
            wide, far = canonical(near * self.depth_multiplier), self._width(channels)
            if stride > 1:
                yield Part(f"conv_pad_{number}", ZeroPad2d((0, 1, 0, 1), data_format="channels_last"))
            margin = "same" if stride == 1 else "valid"
            alone = DepthwiseConv2d(near, 3, self.depth_multiplier, stride, margin, bias=False, dialect="keras")
            yield from self._normed(f"conv_dw_{number}", alone, wide)
            yield from self._normed(f"conv_pw_{number}", Conv2d(wide, far, 1, bias=False, dialect="keras"), far)
            near = far
        yield Part("dropout", Dropout(self.dropout))
        yield Part("conv_preds", Conv2d(near, self.num_classes, 1, dialect="keras"))

    def forward(self, own: Own, x: Value) -> Value:
        """Probabilities of classes, (batch, classes)."""
        x, _ = axes(x, "batch height width channels", channels=self.in_channels)
        for part in self.own_parts:
            x = reduce("mean", x, 1, 2, keep=True) if part.name == "dropout" else x
            x = own[part.name](x)
        return softmax(rearrange(x, "b () () n -> b n"))

    def _normed(self, name: str, convolution: Layer, width: Dim) -> Iterator[Part]:
        yield Part(name, convolution)
        yield Part(f"{name}_bn", BatchNorm2d(width, 0.001, dialect="keras"))
        yield Part(f"{name}_relu", ReLU6())

    def _width(self, channels: int) -> Dim:
        return down(canonical(channels * self.alpha), 1)
