"""EfficientNet as Keras stores it; torchvision's is ``paramsym.models.EfficientNet``.

Reference: ``keras.applications.EfficientNetB0`` to ``EfficientNetB7``.
"""

from __future__ import annotations

from paramsym.algebra.size import Dim
from paramsym.atlas.published import published_in
from paramsym.layers.normalization import Normalization
from paramsym.layers.preprocessing import Rescaling
from paramsym.models.applications.drawing import Map
from paramsym.models.applications.scaled import Scaled, Stage
from paramsym.models.vision.blocks import named
from paramsym.models.vision.efficientnet import B0
from paramsym.models.vision.widths import divisible, scaled

_B: tuple[Stage, ...] = tuple((kernel, depth, near, far, expansion, stride) for expansion, kernel, stride, near, far, depth in B0)


@named
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
    depthwise = ("dwconv", "dwconv_pad")

    def drawn(self, x: Map) -> Map:
        x = x.to(Rescaling(1 / 255), "", "rescaling").to(Normalization((x.width,)), "", "normalization")
        x = x.pad_to_halve(3, "stem_conv_pad").conv(self.rounded(32), 3, "stem_conv", 2, "valid")
        return self.blocks(x.norm("stem_bn").act("swish", "stem_activation"), sum(self.depths))

    def rounded(self, channels: Dim) -> Dim:
        """Return a scaled width as a multiple of 8, which loses at most a tenth."""
        return divisible(scaled(channels, self.width_coefficient))
