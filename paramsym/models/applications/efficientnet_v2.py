"""EfficientNetV2 as Keras stores it; torchvision's is ``paramsym.models.EfficientNet``.

Reference: ``keras.applications.EfficientNetV2B0`` to ``EfficientNetV2L``.
"""

from __future__ import annotations

from sympy import Max, Rational, floor

from paramsym.algebra.size import Dim, canonical
from paramsym.atlas.published import published_in
from paramsym.layers.preprocessing import Rescaling
from paramsym.models.applications.drawing import Map, standardised
from paramsym.models.applications.scaled import Scaled, Stage
from paramsym.models.vision.blocks import named
from paramsym.models.vision.widths import scaled

_SMALL: tuple[Stage, ...] = (
    (3, 2, 24, 24, 1, 1),
    (3, 4, 24, 48, 4, 2),
    (3, 4, 48, 64, 4, 2),
    (3, 6, 64, 128, 4, 2),
    (3, 9, 128, 160, 6, 1),
    (3, 15, 160, 256, 6, 2),
)
"""EfficientNetV2-S (Tan and Le 2021, table 4)."""


@named
class KerasEfficientNetV2(Scaled):
    """EfficientNet with plain convolutions instead of separable ones in the first three stages, which have no squeeze-and-excitation.

    The arguments are those of ``KerasEfficientNet``. ``include_preprocessing`` brings the pixels, 0 to 255, to -1 to 1; with
    ``standardised``, and three channels, to mean 0 and deviation 1 over ImageNet.

    Raises:
        ArgumentError: a multiplier that is not an exact fraction, letters in that of the depth, or an unknown name.

    Source: Tan and Le 2021, "EfficientNetV2: Smaller Models and Faster Training", table 4.

    >>> KerasEfficientNetV2("EfficientNetV2S").params
    21458488
    """

    stages: tuple[Stage, ...] = _SMALL
    standardised: bool = False
    include_preprocessing: bool = True

    published, claims = published_in("applications.efficientnet_v2")
    fused, depthwise = 3, ("dwconv2", "")

    def drawn(self, x: Map) -> Map:
        if self.include_preprocessing and self.standardised and x.width == 3:
            x = x.to(Rescaling(1 / 255), "", "rescaling").to(standardised(1), "", "normalization")
        elif self.include_preprocessing:
            x = x.to(Rescaling(1 / 128, -1.0), "", "rescaling")
        x = x.conv(self.rounded(self.stages[0][2]), 3, "stem_conv", 2).norm("stem_bn").act("swish", "stem_activation")
        return self.blocks(x, sum(row[1] for row in self.stages))

    def rounded(self, channels: Dim) -> Dim:
        """Return a scaled width as the nearest multiple of 8, with halves rounded up."""
        eighths = scaled(channels, self.width_coefficient) * Rational(1, 8)
        return canonical(8 * Max(1, floor(eighths + Rational(1, 2))))
