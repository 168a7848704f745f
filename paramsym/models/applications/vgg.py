"""VGG as Keras stores it. Reference: ``keras.applications.VGG16``, ``VGG19``; torchvision's is ``paramsym.models.VGG``."""

from __future__ import annotations

from paramsym.algebra.size import canonical
from paramsym.atlas.published import published_in
from paramsym.layers.reshaping import Flatten
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.vision.blocks import named
from paramsym.models.vision.vgg import VGG16, Widths
from paramsym.models.vision.widths import down


@named
class KerasVGG(Application):
    """Stages of 3x3 convolutions, each followed by a halving pooling, and three matrices, the first of which fixes the image size.

    ``cfg`` has the widths of the convolutions of every stage, in letters or numbers.

    Source: Simonyan and Zisserman 2015, "Very Deep Convolutional Networks for Large-Scale Image Recognition", table 1.

    >>> KerasVGG("VGG16").params, KerasVGG("VGG16").part("fc1").params
    (138357544, 102764544)
    """

    cfg: Widths = VGG16

    published, claims = published_in("applications.vgg")
    usual = 224

    def drawn(self, x: Map) -> Map:
        for stage, widths in enumerate(self.cfg, 1):
            for number, width in enumerate(widths, 1):
                x = x.conv(width, 3, f"block{stage}_conv{number}", bias=True, activation="relu")
            x = x.max_pool(2, 2, f"block{stage}_pool")
        if not self.include_top:
            return self.ended(x)
        height, width, _ = self.image
        shrunk = 2 ** len(self.cfg)
        x = x.to(Flatten(), "flatten", "flatten", canonical(x.width * down(height, shrunk) * down(width, shrunk)))
        x = x.dense(4096, "fc1", "relu").dense(4096, "fc2", "relu")
        return x.dense(self.classes, "predictions", self.classifier_activation or "")
