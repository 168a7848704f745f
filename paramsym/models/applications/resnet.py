"""ResNet of both versions as Keras stores it.

In the first version every convolution has a bias, and the first convolution of a bottleneck has the stride.

Reference: ``keras.applications.ResNet50`` to ``ResNet152V2``; torchvision's, without biases and with the stride in the middle, is
``paramsym.models.ResNet``.
"""

from __future__ import annotations

from paramsym.algebra.size import Dim, canonical
from paramsym.atlas.published import published_in
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.vision.blocks import named

EPS = 1.001e-5


class _Residual(Application):
    """The common base of both versions: ``depths`` has the blocks of every stage, ``filters`` the width of the first."""

    depths: tuple[int, ...] = (3, 4, 6, 3)
    filters: Dim = 64

    def _block(self, x: Map, width: Dim, name: str, stride: int, *, first: bool, last: bool) -> Map:
        raise NotImplementedError

    def stages(self, x: Map) -> Map:
        for stage, depth in enumerate(self.depths):
            for block in range(1, depth + 1):
                name, width = f"conv{stage + 2}_block{block}", canonical(self.filters * 2**stage)
                x = self._block(x, width, name, 2 if stage else 1, first=block == 1, last=block == depth)
        return x


@named
class KerasResNet(_Residual):
    """ResNet: a convolution of 7x7, a pooling, and stages of bottlenecks, each added to the shortcut.

    ``depths`` has the blocks of every stage; ``filters`` is the width inside the first, and every stage is twice as wide. The output of a
    bottleneck is four times as wide as its inside.

    Source: He et al. 2016, "Deep Residual Learning for Image Recognition", table 1.

    >>> KerasResNet("ResNet50").params
    25583592
    """

    published, claims = published_in("applications.resnet")

    def drawn(self, x: Map) -> Map:
        x = x.pad(3, 3, "conv1_pad").conv(self.filters, 7, "conv1_conv", 2, "valid", bias=True).norm("conv1_bn", EPS)
        x = x.act(name="conv1_relu").pad(1, 1, "pool1_pad").max_pool(3, 2, "pool1_pool")
        return self.ended(self.stages(x), kept="pool")

    def _block(self, x: Map, width: Dim, name: str, stride: int, *, first: bool, last: bool) -> Map:  # noqa: ARG002 - the other's
        wide, stride = canonical(4 * width), stride if first else 1
        passed = x.conv(wide, 1, f"{name}_0_conv", stride, "valid", bias=True).norm(f"{name}_0_bn", EPS) if first else x
        x = x.conv(width, 1, f"{name}_1_conv", stride, "valid", bias=True).norm(f"{name}_1_bn", EPS).act(name=f"{name}_1_relu")
        x = x.conv(width, 3, f"{name}_2_conv", bias=True).norm(f"{name}_2_bn", EPS).act(name=f"{name}_2_relu")
        x = x.conv(wide, 1, f"{name}_3_conv", padding="valid", bias=True).norm(f"{name}_3_bn", EPS)
        return passed.plus(x, name=f"{name}_add").act(name=f"{name}_out")


@named
class KerasResNetV2(_Residual):
    """ResNet with norms and activations before the convolutions, and the stride in the last block of a stage.

    The arguments are those of ``KerasResNet``.

    Source: He et al. 2016, "Identity Mappings in Deep Residual Networks", figure 4.

    >>> KerasResNetV2("ResNet50V2").params
    25568360
    """

    published, claims = published_in("applications.resnet_v2")

    def drawn(self, x: Map) -> Map:
        x = x.pad(3, 3, "conv1_pad").conv(self.filters, 7, "conv1_conv", 2, "valid", bias=True)
        x = self.stages(x.pad(1, 1, "pool1_pad").max_pool(3, 2, "pool1_pool"))
        return self.ended(x.norm("post_bn", EPS).act(name="post_relu"), kept="pool")

    def _block(self, x: Map, width: Dim, name: str, stride: int, *, first: bool, last: bool) -> Map:
        wide = canonical(4 * width)
        stride = 2 if last and int(name[4]) < len(self.depths) + 1 else 1
        ready = x.norm(f"{name}_preact_bn", EPS).act(name=f"{name}_preact_relu")
        passed = ready.conv(wide, 1, f"{name}_0_conv", stride, "valid", bias=True) if first else x.max_pool(1, stride) if stride > 1 else x
        x = ready.conv(width, 1, f"{name}_1_conv", padding="valid").norm(f"{name}_1_bn", EPS).act(name=f"{name}_1_relu")
        x = x.pad(1, 1, f"{name}_2_pad").conv(width, 3, f"{name}_2_conv", stride, "valid")
        x = x.norm(f"{name}_2_bn", EPS).act(name=f"{name}_2_relu").conv(wide, 1, f"{name}_3_conv", padding="valid", bias=True)
        return passed.plus(x, name=f"{name}_out")
