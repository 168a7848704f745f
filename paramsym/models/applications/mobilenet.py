"""MobileNet of all three versions as Keras stores it.

Reference: ``keras.applications.MobileNet``, ``MobileNetV2``, ``MobileNetV3Small``, ``MobileNetV3Large``; torchvision, which has no first
version, gives ``paramsym.models.MobileNetV2`` and ``MobileNetV3``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sympy import Max, Rational

from paramsym.algebra.size import Dim, canonical
from paramsym.layers.preprocessing import Rescaling
from paramsym.layers.reshaping import Flatten, Reshape
from paramsym.models.applications.application import Application, networks, totals
from paramsym.models.applications.drawing import ACTIVATIONS, Map
from paramsym.models.published import Claim
from paramsym.models.vision.blocks import Ratio, divisible, down, named

_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))
"""Channels and stride of each separable convolution (Howard et al. 2017, table 1)."""
_ALPHAS = {"": 1, "_0.75": Rational(3, 4), "_0.50": Rational(1, 2), "_0.25": Rational(1, 4)}
_TOTALS = {"": (4_253_864, 21_888), "_0.75": (2_601_976, 16_416), "_0.50": (1_342_536, 10_944), "_0.25": (475_544, 5_472)}


@named
@dataclass(frozen=True)
class MobileNet(Application):
    """Separable convolutions one after another, the first of the MobileNets.

    ``alpha``, an exact fraction, multiplies every width, which is then rounded down: floor(alpha*c); the paper's smooth formula leaves out
    the floor. ``depth_multiplier`` is the number of filters for each channel. The resolution multiplier of the paper is the side of the
    image: it changes the work and no count.

    Raises:
        ArgumentError: a multiplier that is no exact fraction, or an unknown name.

    Source: Howard et al. 2017, "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications", table 1.

    >>> MobileNet("MobileNet").params, MobileNet("mobilenet_0.50").params
    (4231976, 1331592)
    >>> from paramsym import dims
    >>> MobileNet(alpha=dims("w") / 32, classes=1000).params
    3066*w**2 + 34106*w + 1000
    """

    ratios = ("alpha",)

    alpha: Ratio = 1
    depth_multiplier: Dim = 1
    dropout: float = 0.001

    published = {
        **networks(MobileNet={"alpha": 1}),
        **{f"mobilenet{suffix}": {"alpha": alpha, "classes": 1000} for suffix, alpha in _ALPHAS.items()},
    }
    claims = (
        *totals(MobileNet=_TOTALS[""]),
        *(
            Claim(
                f"mobilenet{suffix}",
                count,
                "keras 3.15.1, Model.summary: Total params",
                "MobileNet",
                statistics,
                "with the statistics of the norms",
            )
            for suffix, (count, statistics) in _TOTALS.items()
        ),
    )

    def drawn(self, x: Map) -> Map:
        """Draw the stem, the separable convolutions, and a convolution to the classes."""
        x = self._normed(x.conv(self._width(32), 3, "conv1", 2), "conv1")
        for number, (channels, stride) in enumerate(_BLOCKS, 1):
            x = x.pad(0, 1, f"conv_pad_{number}") if stride == 2 else x
            x = x.depthwise(3, f"conv_dw_{number}", stride, "valid" if stride == 2 else "same", self.depth_multiplier)
            x = self._normed(x, f"conv_dw_{number}")
            x = self._normed(x.conv(self._width(channels), 1, f"conv_pw_{number}"), f"conv_pw_{number}")
        if not self.include_top:
            return self.ended(x)
        x = x.over_places("avg", keep=True).drop(self.dropout, "dropout").conv(self.classes, 1, "conv_preds", bias=True)
        return _labelled(x.to(Reshape((self.classes,)), "reshape_2", "reshape"), self.classifier_activation)

    def _normed(self, x: Map, name: str) -> Map:
        return x.norm(f"{name}_bn").relu(f"{name}_relu", "relu6")

    def _width(self, channels: int) -> Dim:
        return down(canonical(channels * self.alpha), 1)


def _labelled(x: Map, activation: str | None) -> Map:
    """Draw the last activation, a layer of its own, which is there without a function, too."""
    return x.to(ACTIVATIONS[activation or "linear"], "predictions", "activation")


_TABLE_2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Expansion, channels, blocks and stride of each stage (Sandler et al. 2018, table 2)."""


@named
@dataclass(frozen=True)
class KerasMobileNetV2(Application):
    """Inverted residuals: many channels inside, filtered one by one, and few between the blocks.

    ``alpha``, an exact fraction, multiplies the widths; Keras rounds them down, and then to a multiple of 8 that loses at most a tenth.

    Raises:
        ArgumentError: a multiplier that is no exact fraction, or an unknown name.

    Source: Sandler et al. 2018, "MobileNetV2: Inverted Residuals and Linear Bottlenecks", table 2.

    >>> KerasMobileNetV2("MobileNetV2").params
    3504872
    """

    ratios = ("alpha",)

    alpha: Ratio = 1

    published = networks(MobileNetV2={"alpha": 1})
    claims = totals(MobileNetV2=(3_538_984, 34_112))

    def drawn(self, x: Map) -> Map:
        """Draw the stem, the blocks, and a last 1x1 convolution, which is never narrower than 1280."""
        x = x.conv(divisible(32 * self.alpha), 3, "Conv1", 2).norm("bn_Conv1").relu("Conv1_relu", "relu6")
        number = 0
        for expansion, channels, blocks, first_stride in _TABLE_2:
            for block in range(blocks):
                x = self._block(x, number, expansion, channels, 1 if block else first_stride)
                number += 1
        x = x.conv(_last(1280, self.alpha), 1, "Conv_1", padding="valid").norm("Conv_1_bn").relu("out_relu", "relu6")
        return self.ended(x, mean="")

    def _block(self, x: Map, number: int, expansion: int, channels: int, stride: int) -> Map:
        name, passed = f"block_{number}_" if number else "expanded_conv_", x
        far = divisible(down(canonical(channels * self.alpha), 1))
        if number:
            wide = canonical(expansion * x.width)
            x = x.conv(wide, 1, f"{name}expand").norm(f"{name}expand_BN").relu(f"{name}expand_relu", "relu6")
        x = x.pad_to_halve(3, f"{name}pad") if stride == 2 else x
        x = x.depthwise(3, f"{name}depthwise", stride, "valid" if stride == 2 else "same").norm(f"{name}depthwise_BN")
        x = x.relu(f"{name}depthwise_relu", "relu6").conv(far, 1, f"{name}project").norm(f"{name}project_BN")
        return passed.plus(x, name=f"{name}add") if stride == 1 and passed.width == far else x


def _last(width: int, alpha: Ratio) -> Dim:
    """Return the last width, which grows with a multiplier above 1 and does not shrink with one below."""
    return divisible(width * (alpha if isinstance(alpha, int) and alpha > 1 else Max(1, alpha)))


Row: TypeAlias = tuple[Ratio, int, int, int, bool, bool]
"""Expansion, channels, kernel, stride, squeeze-and-excitation, hard swish (Howard et al. 2019, tables 1 and 2)."""
_SMALL: tuple[Row, ...] = (
    (1, 16, 3, 2, True, False),
    (Rational(72, 16), 24, 3, 2, False, False),
    (Rational(88, 24), 24, 3, 1, False, False),
    (4, 40, 5, 2, True, True),
    *((6, 40, 5, 1, True, True),) * 2,
    *((3, 48, 5, 1, True, True),) * 2,
    (6, 96, 5, 2, True, True),
    *((6, 96, 5, 1, True, True),) * 2,
)
_LARGE: tuple[Row, ...] = (
    (1, 16, 3, 1, False, False),
    (4, 24, 3, 2, False, False),
    (3, 24, 3, 1, False, False),
    (3, 40, 5, 2, True, False),
    *((3, 40, 5, 1, True, False),) * 2,
    (6, 80, 3, 2, False, True),
    (Rational(5, 2), 80, 3, 1, False, True),
    *((Rational(23, 10), 80, 3, 1, False, True),) * 2,
    *((6, 112, 3, 1, True, True),) * 2,
    (6, 160, 5, 2, True, True),
    *((6, 160, 5, 1, True, True),) * 2,
)


@named
@dataclass(frozen=True)
class KerasMobileNetV3(Application):
    """Inverted residuals with squeeze-and-excitation and hard swish, found by a search.

    ``rows`` has for every block the expansion, the channels, the kernel, the stride, and whether it has squeeze-and-excitation and hard
    swish; ``last`` is the width before the classifier. ``alpha``, an exact fraction, multiplies the widths, which are rounded to multiples
    of 8. ``minimalistic=True`` has kernels of 3, ReLU and no squeeze-and-excitation throughout. ``include_preprocessing`` brings pixels
    from 0 to 255 to -1 to 1.

    Raises:
        ArgumentError: a multiplier that is no exact fraction, or an unknown name.

    Source: Howard et al. 2019, "Searching for MobileNetV3", tables 1 and 2.

    >>> KerasMobileNetV3("MobileNetV3Large").params, KerasMobileNetV3("MobileNetV3Large", minimalistic=True).params
    (5483032, 3924792)
    """

    ratios = ("alpha",)

    rows: tuple[Row, ...] = _LARGE
    last: int = 1280
    alpha: Ratio = 1
    minimalistic: bool = False
    dropout_rate: float = 0.2
    include_preprocessing: bool = True

    published = networks(
        MobileNetV3Small={"rows": _SMALL, "last": 1024, "alpha": 1}, MobileNetV3Large={"rows": _LARGE, "last": 1280, "alpha": 1}
    )
    claims = totals(MobileNetV3Small=(2_554_968, 12_112), MobileNetV3Large=(5_507_432, 24_400))

    def drawn(self, x: Map) -> Map:
        """Draw the stem, the blocks, and what is left of the last stage behind the means."""
        x = x.to(Rescaling(1 / 127.5, -1.0), "", "rescaling") if self.include_preprocessing else x
        x = self._bent(x.conv(16, 3, "conv", 2).norm("conv_bn"), hard=True)
        for number, row in enumerate(self.rows):
            x = self._block(x, number, row)
        x = self._bent(x.conv(divisible(canonical(6 * x.width)), 1, "conv_1").norm("conv_1_bn"), hard=True)
        if not self.include_top:
            return self.ended(x, kept="pool")
        x = self._bent(x.over_places("avg", keep=True).conv(_last(self.last, self.alpha), 1, "conv_2", bias=True), hard=True)
        x = (x.drop(self.dropout_rate) if self.dropout_rate else x).conv(self.classes, 1, "logits", bias=True)
        return _labelled(x.to(Flatten(), "", "flatten"), self.classifier_activation)

    def _bent(self, x: Map, *, hard: bool) -> Map:
        return x.act("hard_swish") if hard and not self.minimalistic else x.relu()

    def _block(self, x: Map, number: int, row: Row) -> Map:
        expansion, channels, kernel, stride, squeezes, hard = row
        name, passed = f"expanded_conv_{number}_" if number else "expanded_conv_", x
        wide, far, kernel = divisible(x.width * expansion), divisible(channels * self.alpha), 3 if self.minimalistic else kernel
        if number:
            x = self._bent(x.conv(wide, 1, f"{name}expand").norm(f"{name}expand_bn"), hard=hard)
        x = x.pad_to_halve(kernel, f"{name}depthwise_pad") if stride == 2 else x
        x = x.depthwise(kernel, f"{name}depthwise", stride, "valid" if stride == 2 else "same").norm(f"{name}depthwise_bn")
        x = self._bent(x, hard=hard)
        if squeezes and not self.minimalistic:
            name_ = f"{name}squeeze_excite"
            scale = x.over_places("avg", f"{name_}_avg_pool", keep=True).conv(
                divisible(canonical(wide * Rational(1, 4))), 1, f"{name_}_conv", bias=True
            )
            scale = scale.relu(f"{name_}_relu").conv(wide, 1, f"{name_}_conv_1", bias=True)
            scale = scale.by(lambda y: y + 3.0).relu(which="relu6").by(lambda y: y * (1 / 6))
            x = x.times(scale, f"{name_}_mul")
        x = x.conv(far, 1, f"{name}project").norm(f"{name}project_bn")
        return passed.plus(x, name=f"{name}add") if stride == 1 and passed.width == far else x
