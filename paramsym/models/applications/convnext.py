"""ConvNeXt as Keras stores it; torchvision's is ``paramsym.models.ConvNeXt``. Reference: ``keras.applications.ConvNeXtTiny``."""

from __future__ import annotations

from paramsym.algebra.size import Dim, canonical
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer
from paramsym.layers.convolution import Conv2d
from paramsym.layers.normalization import LayerNorm
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import LayerScale, Map, standardised
from paramsym.models.vision.blocks import named


@named
class KerasConvNeXt(Application):
    """Blocks of a depthwise 7x7 convolution and two matrices, with one norm and one activation each.

    ``depths`` has the blocks of every stage, ``projection_dims`` their widths, ``prefix`` the beginning of every name. For three input
    channels, ``include_preprocessing`` standardises the pixels, 0 to 255. Without the classifier the network ends with a norm.

    Raises:
        ArgumentError: different numbers of widths and depths.

    Source: Liu et al. 2022, "A ConvNet for the 2020s", figure 4 and section 2.

    >>> KerasConvNeXt("ConvNeXtTiny").params
    28589128
    """

    depths: tuple[int, ...] = (3, 3, 9, 3)
    projection_dims: tuple[Dim, ...] = (96, 192, 384, 768)
    prefix: str = "convnext_tiny"
    include_preprocessing: bool = True

    published, claims = published_in("applications.convnext")
    staged = ("projection_dims", "depths")

    def drawn(self, x: Map) -> Map:
        if self.include_preprocessing and x.width == 3:
            x = x.to(standardised(255), f"{self.prefix}_prestem_normalization", "")
        done = 0
        for stage, (depth, width) in enumerate(zip(self.depths, self.projection_dims, strict=True)):
            x = self._narrowed(x, stage, width)
            for block in range(depth):
                x = self._block(x, f"{self.prefix}_stage_{stage}_block_{block}", f"variable_{done}" if done else "variable")
                done += 1
        if self.include_top:
            x = x.pool_all("avg", f"{self.prefix}_head_gap").layer_norm(f"{self.prefix}_head_layernorm")
            return x.dense(self.classes, f"{self.prefix}_head_dense", self.classifier_activation or "")
        return self.ended(x).layer_norm()

    def _narrowed(self, x: Map, stage: int, width: Dim) -> Map:
        """Draw the stem's convolution of 4x4 and its norm, or a norm and a convolution of 2x2."""
        side = 2 if stage else 4
        convolution: Layer = Conv2d(x.width, width, side, side, "valid", dialect="keras")
        norm = LayerNorm(x.width if stage else width, 1e-6, dialect="keras")
        if stage == 0:
            layers = {"stem_conv": convolution, "stem_layernorm": norm}
        else:
            layers = {f"downsampling_layernorm_{stage - 1}": norm, f"downsampling_conv_{stage - 1}": convolution}
        whole = f"downsampling_block_{stage - 1}" if stage else "stem"
        inside = Sequential({f"{self.prefix}_{name}": one for name, one in layers.items()})
        return x.to(inside, f"{self.prefix}_{whole}", "", width)

    def _block(self, x: Map, name: str, gamma: str) -> Map:
        width = x.width
        y = x.conv(width, 7, f"{name}_depthwise_conv", bias=True, groups=width).layer_norm(f"{name}_layernorm")
        y = y.dense(canonical(4 * width), f"{name}_pointwise_conv_1").act("gelu", f"{name}_gelu").dense(width, f"{name}_pointwise_conv_2")
        y = y.to(LayerScale(width, gamma), f"{name}_layer_scale", "").act("linear", f"{name}_identity")
        return x.by(lambda one, other: one + other, y)
