"""MobileNetV2 as Keras stores it; torchvision's is ``paramsym.models.MobileNetV2``. Reference: ``keras.applications.MobileNetV2``."""

from __future__ import annotations

from paramsym.algebra.size import canonical
from paramsym.atlas.published import published_in
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.vision.blocks import named
from paramsym.models.vision.mobilenet_v2 import TABLE_2
from paramsym.models.vision.widths import Ratio, divisible, down, last_width, scaled


@named
class KerasMobileNetV2(Application):
    """Inverted residuals: many channels inside the blocks, with depthwise filters, and few between them.

    ``alpha``, an exact fraction, multiplies the widths; Keras rounds them down, and then to a multiple of 8 that loses at most a tenth.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, or an unknown name.

    Source: Sandler et al. 2018, "MobileNetV2: Inverted Residuals and Linear Bottlenecks", table 2.

    >>> KerasMobileNetV2("MobileNetV2").params
    3504872
    """

    ratios = ("alpha",)

    alpha: Ratio = 1

    published, claims = published_in("applications.mobilenet_v2")

    def drawn(self, x: Map) -> Map:
        x = x.conv(divisible(scaled(32, self.alpha)), 3, "Conv1", 2).norm("bn_Conv1").relu("Conv1_relu", "relu6")
        number = 0
        for expansion, channels, blocks, first_stride in TABLE_2:
            for block in range(blocks):
                x = self._block(x, number, expansion, channels, 1 if block else first_stride)
                number += 1
        x = x.conv(last_width(1280, self.alpha), 1, "Conv_1", padding="valid").norm("Conv_1_bn").relu("out_relu", "relu6")
        return self.ended(x, mean="")

    def _block(self, x: Map, number: int, expansion: int, channels: int, stride: int) -> Map:
        name, passed = f"block_{number}_" if number else "expanded_conv_", x
        far = divisible(down(canonical(scaled(channels, self.alpha)), 1))
        if number:
            wide = canonical(expansion * x.width)
            x = x.conv(wide, 1, f"{name}expand").norm(f"{name}expand_BN").relu(f"{name}expand_relu", "relu6")
        x = x.depthwise(3, f"{name}depthwise", stride, padded=f"{name}pad").norm(f"{name}depthwise_BN")
        x = x.relu(f"{name}depthwise_relu", "relu6").conv(far, 1, f"{name}project").norm(f"{name}project_BN")
        return passed.plus(x, name=f"{name}add") if stride == 1 and passed.width == far else x
