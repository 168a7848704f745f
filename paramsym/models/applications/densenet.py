"""DenseNet as Keras stores it; torchvision's is ``paramsym.models.DenseNet``. Reference: ``keras.applications.DenseNet121``."""

from __future__ import annotations

from paramsym.algebra.size import Dim, canonical
from paramsym.atlas.published import published_in
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map
from paramsym.models.applications.resnet import EPS
from paramsym.models.vision.blocks import named
from paramsym.models.vision.widths import down


@named
class KerasDenseNet(Application):
    """Blocks whose layers each add ``growth_rate`` channels to all earlier ones; between blocks, the number of channels is halved.

    ``blocks`` has the layers of every block. Keras always grows by 32.

    Source: Huang et al. 2017, "Densely Connected Convolutional Networks", table 1.

    >>> KerasDenseNet("DenseNet121").params
    7978856
    >>> from paramsym import dims
    >>> KerasDenseNet((2,), 2 * dims("g"), classes=10).params
    304*g**2 + 1108*g + 10570
    """

    blocks: tuple[int, ...] = (6, 12, 24, 16)
    growth_rate: Dim = 32

    published, claims = published_in("applications.densenet")

    def drawn(self, x: Map) -> Map:
        x = x.pad(3, 3).conv(64, 7, "conv1_conv", 2, "valid").norm("conv1_bn", EPS).act(name="conv1_relu")
        x = x.pad(1, 1).max_pool(3, 2, "pool1")
        for block, depth in enumerate(self.blocks, 2):
            if block > 2:
                name = f"pool{block - 1}"
                x = x.norm(f"{name}_bn", EPS).act(name=f"{name}_relu").conv(down(x.width, 2), 1, f"{name}_conv", padding="valid")
                x = x.avg_pool(2, 2, f"{name}_pool")
            for number in range(1, depth + 1):
                name = f"conv{block}_block{number}"
                new = x.norm(f"{name}_0_bn", EPS).act(name=f"{name}_0_relu")
                new = new.conv(canonical(4 * self.growth_rate), 1, f"{name}_1_conv", padding="valid").norm(f"{name}_1_bn", EPS)
                x = x.beside(new.act(name=f"{name}_1_relu").conv(self.growth_rate, 3, f"{name}_2_conv"), name=f"{name}_concat")
        return self.ended(x.norm("bn", EPS).act(name="relu"), kept="pool")
