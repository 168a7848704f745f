"""Xception. Reference: ``keras.applications.Xception``; torchvision has none."""

from __future__ import annotations

from paramsym.atlas.published import published_in
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.vision.blocks import named

_BLOCKS = ((128, 128), (256, 256), (728, 728), *((728, 728, 728),) * 8, (728, 1024))
"""Widths of the separable convolutions in every block; blocks with two end with a halving pooling."""


@named
class Xception(Application):
    """Separable convolutions instead of Inception's branches, with residual connections around two or three of them.

    Source: Chollet 2017, "Xception: Deep Learning with Depthwise Separable Convolutions", figure 5.

    >>> Xception("Xception").params
    22855952
    >>> Xception().params
    2049*N + 20806952
    """

    published, claims = published_in("applications.xception")
    least, usual = 71, 299

    def drawn(self, x: Map) -> Map:
        x = x.conv(32, 3, "block1_conv1", 2, "valid").norm("block1_conv1_bn").act(name="block1_conv1_act")
        x = x.conv(64, 3, "block1_conv2", padding="valid").norm("block1_conv2_bn").act(name="block1_conv2_act")
        for block, widths in enumerate(_BLOCKS, 2):
            narrows = len(widths) == 2
            passed = x.conv(widths[-1], 1, stride=2).norm() if narrows else x
            for number, width in enumerate(widths, 1):
                name = f"block{block}_sepconv{number}"
                x = (x if (block, number) == (2, 1) else x.act(name=f"{name}_act")).separable(width, 3, name).norm(f"{name}_bn")
            x = x.max_pool(3, 2, f"block{block}_pool", "same").plus(passed) if narrows else x.plus(passed)
        for number, width in enumerate((1536, 2048), 1):
            name = f"block14_sepconv{number}"
            x = x.separable(width, 3, name).norm(f"{name}_bn").act(name=f"{name}_act")
        return self.ended(x)
