"""MobileNet, the first version. Reference: ``keras.applications.MobileNet``; torchvision has none."""

from __future__ import annotations

from paramsym.algebra.size import Dim, canonical
from paramsym.atlas.published import published_in
from paramsym.layers.reshaping import Reshape
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.vision.blocks import named
from paramsym.models.vision.widths import Ratio, down, scaled

_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))
"""Channels and stride of each separable convolution (Howard et al. 2017, table 1)."""


@named
class MobileNet(Application):
    """Separable convolutions one after another, the first of the MobileNets.

    ``alpha``, an exact fraction, multiplies every width, which is then rounded down: floor(alpha*c); the paper's formula has no floor.
    ``depth_multiplier`` is the number of filters for each channel. The resolution multiplier of the paper is the side of the image: it
    changes the work, not the count.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, or an unknown name.

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

    published, claims = published_in("applications.mobilenet")

    def drawn(self, x: Map) -> Map:
        x = self._normed(x.conv(self._width(32), 3, "conv1", 2), "conv1")
        for number, (channels, stride) in enumerate(_BLOCKS, 1):
            x = x.pad(0, 1, f"conv_pad_{number}") if stride == 2 else x
            x = x.depthwise(3, f"conv_dw_{number}", stride, "valid" if stride == 2 else "same", self.depth_multiplier)
            x = self._normed(x, f"conv_dw_{number}")
            x = self._normed(x.conv(self._width(channels), 1, f"conv_pw_{number}"), f"conv_pw_{number}")
        if not self.include_top:
            return self.ended(x)
        x = x.pool_all("avg", keep=True).drop(self.dropout, "dropout").conv(self.classes, 1, "conv_preds", bias=True)
        return self.labelled(x.to(Reshape((self.classes,)), "reshape_2", "reshape"))

    def _normed(self, x: Map, name: str) -> Map:
        return x.norm(f"{name}_bn").relu(f"{name}_relu", "relu6")

    def _width(self, channels: int) -> Dim:
        return down(canonical(scaled(channels, self.alpha)), 1)
