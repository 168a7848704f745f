"""MobileNetV3 as Keras stores it; torchvision's is ``paramsym.models.MobileNetV3``. Reference: ``keras.applications.MobileNetV3Large``."""

from __future__ import annotations

from typing import TypeAlias

from sympy import Rational

from paramsym.algebra.size import canonical
from paramsym.atlas.published import published_in
from paramsym.layers.preprocessing import Rescaling
from paramsym.layers.reshaping import Flatten
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.vision.blocks import named
from paramsym.models.vision.mobilenet_v3 import TABLES
from paramsym.models.vision.widths import Ratio, divisible, last_width, ratio, scaled

Row: TypeAlias = tuple[Ratio, int, int, int, bool, bool]
"""Expansion, channels, kernel, stride, squeeze-and-excitation, hard swish (Howard et al. 2019, tables 1 and 2)."""
_ROWS = TABLES["mobilenet_v3_large"]
_LARGE: tuple[Row, ...] = tuple(
    (ratio(Rational(inside, near), "expansion"), far, kernel, stride, "SE" in has, "HS" in has)
    for near, (kernel, inside, far, has, stride) in zip((16, *(row[2] for row in _ROWS)), _ROWS, strict=False)
)


@named
class KerasMobileNetV3(Application):
    """Inverted residuals with squeeze-and-excitation and hard swish, found by a search.

    ``rows`` has for every block the expansion, the channels, the kernel, the stride, and whether it has squeeze-and-excitation and hard
    swish; ``last`` is the width before the classifier. ``alpha``, an exact fraction, multiplies the widths, which are rounded to multiples
    of 8. ``minimalistic=True`` has only kernels of 3, ReLU and no squeeze-and-excitation. ``include_preprocessing`` scales pixels from 0 to
    255 to -1 to 1.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, or an unknown name.

    Source: Howard et al. 2019, "Searching for MobileNetV3", tables 1 and 2.

    >>> KerasMobileNetV3("MobileNetV3Large").params, KerasMobileNetV3("MobileNetV3Large", minimalistic=True).params
    (5483032, 3924288)
    """

    ratios = ("alpha",)

    rows: tuple[Row, ...] = _LARGE
    last: int = 1280
    alpha: Ratio = 1
    minimalistic: bool = False
    dropout_rate: float = 0.2
    include_preprocessing: bool = True

    published, claims = published_in("applications.mobilenet_v3")

    def drawn(self, x: Map) -> Map:
        x = x.to(Rescaling(1 / 127.5, -1.0), "", "rescaling") if self.include_preprocessing else x
        x = self._bent(x.conv(16, 3, "conv", 2).norm("conv_bn"), hard=True)
        for number, row in enumerate(self.rows):
            x = self._block(x, number, row)
        x = self._bent(x.conv(divisible(canonical(6 * x.width)), 1, "conv_1").norm("conv_1_bn"), hard=True)
        if not self.include_top:
            return self.ended(x, kept="pool")
        x = self._bent(x.pool_all("avg", keep=True).conv(last_width(self.last, self.alpha), 1, "conv_2", bias=True), hard=True)
        x = (x.drop(self.dropout_rate) if self.dropout_rate else x).conv(self.classes, 1, "logits", bias=True)
        return self.labelled(x.to(Flatten(), "", "flatten"))

    def _bent(self, x: Map, *, hard: bool) -> Map:
        return x.act("hard_swish") if hard and not self.minimalistic else x.relu()

    def _block(self, x: Map, number: int, row: Row) -> Map:
        expansion, channels, kernel, stride, squeezes, hard = row
        name, passed = f"expanded_conv_{number}_" if number else "expanded_conv_", x
        wide, far, kernel = divisible(x.width * expansion), divisible(scaled(channels, self.alpha)), 3 if self.minimalistic else kernel
        if number:
            x = self._bent(x.conv(wide, 1, f"{name}expand").norm(f"{name}expand_bn"), hard=hard)
        x = x.depthwise(kernel, f"{name}depthwise", stride, padded=f"{name}depthwise_pad").norm(f"{name}depthwise_bn")
        x = self._bent(x, hard=hard)
        x = self._squeezed(x, f"{name}squeeze_excite") if squeezes and not self.minimalistic else x
        x = x.conv(far, 1, f"{name}project").norm(f"{name}project_bn")
        return passed.plus(x, name=f"{name}add") if stride == 1 and passed.width == far else x

    def _squeezed(self, x: Map, name: str) -> Map:
        inside = divisible(canonical(x.width * Rational(1, 4)))
        scale = x.pool_all("avg", f"{name}_avg_pool", keep=True).conv(inside, 1, f"{name}_conv", bias=True).relu(f"{name}_relu")
        scale = scale.conv(x.width, 1, f"{name}_conv_1", bias=True).by(lambda y: y + 3.0).relu(which="relu6").by(lambda y: y * (1 / 6))
        return x.times(scale, f"{name}_mul")
