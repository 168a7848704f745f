"""Inception v3 and Inception-ResNet v2 as Keras stores them: norms without a scale, no auxiliary classifier.

Reference: ``keras.applications.InceptionV3``, ``InceptionResNetV2``; torchvision's v3 is ``paramsym.models.Inception3``.
"""

from __future__ import annotations

from paramsym.atlas.published import published_in
from paramsym.models.applications.application import Application
from paramsym.models.applications.drawing import Map, ScaledSum, layer
from paramsym.models.vision.blocks import named
from paramsym.models.vision.branches import INCEPTION_V3, Kernel, Route


def _normed(x: Map, width: int, kernel: Kernel, stride: int = 1, name: str = "") -> Map:
    """Draw a convolution, a norm and ReLU; a halving convolution has no padding."""
    after = (f"{name}_bn", f"{name}_ac") if name else ("", "")
    return x.conv(width, kernel, name, stride, "same" if stride == 1 else "valid").norm(after[0], scale=False).act(name=after[1])


def _along(x: Map, route: Route, paired: str = "", *, narrows: bool = False) -> Map:
    """Draw a branch; if it ``narrows``, its last convolution halves the sides. ``paired`` names the joint of parallel convolutions."""
    for position, (width, *kernels) in enumerate(route, 1):
        first, *others = (_normed(x, width, kernel, 2 if narrows and position == len(route) else 1) for kernel in kernels)
        x = first.beside(*others, name=paired) if others else first
    return x


def _mixed(x: Map, name: str, *routes: Route, pooled: int = 0, paired: str = "") -> Map:
    """Draw parallel branches, and a pooling with a convolution to ``pooled`` channels; with 0 the pooling halves, like the branches.

    ``paired`` names the joint of parallel convolutions in the second branch.
    """
    ends = [_along(x, route, paired if number == 1 else "", narrows=not pooled) for number, route in enumerate(routes)]
    last = _normed(x.avg_pool(3, 1, padding="same"), pooled, 1) if pooled else x.max_pool(3, 2)
    first, *others = (*ends, last)
    return first.beside(*others, name=name)


def _stem(x: Map) -> Map:
    """Draw the common beginning of both networks, down to 35x35 positions."""
    x = _normed(x, 32, 3, 2)
    x = x.conv(32, 3, padding="valid").norm(scale=False).act()
    x = _normed(x, 64, 3).max_pool(3, 2)
    x = _normed(x, 80, 1).conv(192, 3, padding="valid").norm(scale=False).act()
    return x.max_pool(3, 2)


@named
class KerasInceptionV3(Application):
    """Inception v3: 5x5 convolutions become two 3x3 ones, and 7x7 convolutions a 1x7 and a 7x1 one.

    Source: Szegedy et al. 2016, "Rethinking the Inception Architecture for Computer Vision", table 1.

    >>> KerasInceptionV3("InceptionV3").params
    23817352
    """

    published, claims = published_in("applications.inception", "InceptionV3")
    least, usual = 75, 299

    def drawn(self, x: Map) -> Map:
        x = _stem(x)
        for number, (branches, pooled) in enumerate(INCEPTION_V3):
            x = _mixed(x, f"mixed{number}", *branches.values(), pooled=pooled, paired=f"mixed9_{number - 9}")
        return self.ended(x)


_BLOCKS: tuple[tuple[str, int, float, tuple[Route, ...]], ...] = (
    ("block35", 10, 0.17, (((32, 1),), ((32, 1), (32, 3)), ((32, 1), (48, 3), (64, 3)))),
    ("block17", 20, 0.1, (((192, 1),), ((128, 1), (160, (1, 7)), (192, (7, 1))))),
    ("block8", 10, 0.2, (((192, 1),), ((192, 1), (224, (1, 3)), (256, (3, 1))))),
)


@named
class InceptionResNetV2(Application):
    """Modules of Inception whose results are scaled down and added to the shortcut.

    Source: Szegedy et al. 2017, "Inception-v4, Inception-ResNet and the Impact of Residual Connections on Learning", figure 15.

    >>> InceptionResNetV2("InceptionResNetV2").params
    55813192
    """

    published, claims = published_in("applications.inception", "InceptionResNetV2")
    least, usual = 75, 299

    def drawn(self, x: Map) -> Map:
        """Draw the stem, three kinds of blocks with a reduction before the second and the third, and a last convolution."""
        x = _mixed(_stem(x), "mixed_5b", ((96, 1),), ((48, 1), (64, 5)), ((64, 1), (96, 3), (96, 3)), pooled=64)
        for kind, depth, scale, routes in _BLOCKS:
            if kind == "block17":
                x = _mixed(x, "mixed_6a", ((384, 3),), ((256, 1), (256, 3), (384, 3)))
            elif kind == "block8":
                x = _mixed(x, "mixed_7a", ((256, 1), (384, 3)), ((256, 1), (288, 3)), ((256, 1), (288, 3), (320, 3)))
            for number in range(1, depth + 1):
                last = (kind, number) == ("block8", 10)
                x = self._block(x, f"{kind}_{number}", routes, 1.0 if last else scale, activated=not last)
        return self.ended(_normed(x, 1536, 1, name="conv_7b"))

    def _block(self, x: Map, name: str, routes: tuple[Route, ...], scale: float, *, activated: bool) -> Map:
        first, *others = (_along(x, route) for route in routes)
        up = first.beside(*others, name=f"{name}_mixed").conv(x.width, 1, f"{name}_conv", bias=True)
        x = x.to(layer(ScaledSum, scale), "", "custom_scale_layer", others=(up,))
        return x.act(name=f"{name}_ac") if activated else x
