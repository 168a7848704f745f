"""VGG with and without batch normalisation. Reference: ``torchvision.models.vgg``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from paramsym.algebra.size import Dim, Shape
from paramsym.algebra.symbols import B, N
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.pooling import MaxPool2d
from paramsym.models.published import Claim
from paramsym.models.vision.blocks import RELU, Classifier, counted, named
from paramsym.program import Own, Value, apply, axes, rearrange, softmax

Widths: TypeAlias = tuple[tuple[Dim, ...], ...]


def _widths(*depths: int) -> Widths:
    return tuple((width,) * depth for width, depth in zip((64, 128, 256, 512, 512), depths, strict=True))


_CFGS = {11: _widths(1, 1, 2, 2, 2), 13: _widths(2, 2, 2, 2, 2), 16: _widths(2, 2, 3, 3, 3), 19: _widths(2, 2, 4, 4, 4)}


@named
@dataclass(frozen=True)
class VGG(Classifier):
    """Stages of 3x3 convolutions, each ended by a pooling that halves, and three matrices.

    ``cfg`` has the widths of the convolutions of every stage, in letters or numbers; by default those of configuration D, VGG-16, in
    table 1 of the paper. torchvision writes one list with an "M" at the end of every stage. ``batch_norm`` puts a norm behind every
    convolution. A published name as first argument means its sizes. With ``dialect="keras"`` the names, the shapes and the order of the
    axes are those of ``keras.applications.VGG16``: images hold their channels last, have sides of 7*2**stages, and what comes out are
    probabilities.

    Raises:
        ArgumentError: no stage, a stage without a convolution, Keras' dialect with norms, or an unknown name.

    Source: Simonyan and Zisserman 2015, "Very Deep Convolutional Networks for Large-Scale Image Recognition", table 1.

    >>> VGG().params
    4097*N + 134260544
    >>> VGG("vgg16").params, VGG("vgg16").part("classifier.0").params
    (138357544, 102764544)
    >>> from paramsym import C
    >>> VGG(cfg=((C,), (2*C,)), num_classes=10).part("features").params
    18*C**2 + 30*C
    """

    cfg: tuple[tuple[Dim, ...], ...] = _CFGS[16]
    batch_norm: bool = False
    num_classes: Dim = N
    dropout: float = 0.5
    _: KW_ONLY
    in_channels: Dim = 3
    dialect: Literal["torch", "keras"] = "torch"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **{
            f"vgg{depth}{suffix}": {"cfg": cfg, "batch_norm": bool(suffix), "num_classes": 1000}
            for suffix in ("", "_bn")
            for depth, cfg in _CFGS.items()
        },
        **{f"keras.applications.VGG{depth}": {"cfg": _CFGS[depth], "num_classes": 1000, "dialect": "keras"} for depth in (16, 19)},
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        *counted("VGG", vgg11=132_863_336, vgg13=133_047_848, vgg16=138_357_544, vgg19=143_667_240),
        *counted("VGG", vgg11_bn=132_868_840, vgg13_bn=133_053_736, vgg16_bn=138_365_992, vgg19_bn=143_678_248),
        Claim("keras.applications.VGG16", 138_357_544, "keras.applications", "VGG"),
        Claim("keras.applications.VGG19", 143_667_240, "keras.applications", "VGG"),
    )

    def conditions(self) -> None:
        """Every stage has a convolution."""
        if not self.cfg or not all(self.cfg):
            message = f"cfg is {self.cfg}; wanted a stage or more, each with the widths of its convolutions."
            raise ArgumentError(message)
        if self.dialect == "keras" and self.batch_norm:
            message = "batch_norm is True; Keras' VGG has no norms, so that dialect is 'torch' with them."
            raise ArgumentError(message)

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images: of any extents in torch, (batch, channels, height, width); in Keras of one, (batch, height, width, channels)."""
        side = 7 * 2 ** len(self.cfg)
        return {"x": (B, side, side, self.in_channels)} if self.dialect == "keras" else super().inputs

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes); in Keras their probabilities."""
        if self.dialect == "torch":
            return super().forward(own, x)
        x, _ = axes(x, "batch height width channels", channels=self.in_channels)
        for part in self.own_parts:
            x = own[part.name](rearrange(x, "b h w c -> b (h w c)") if part.name == "fc1" else x)
            x = apply("relu", x) if isinstance(part.layer, Conv2d) or part.name in {"fc1", "fc2"} else x
        return softmax(x)

    def _keras_parts(self) -> Iterator[Part]:
        near = self.in_channels
        for number, stage in enumerate(self.cfg, 1):
            for position, width in enumerate(stage, 1):
                yield Part(f"block{number}_conv{position}", Conv2d(near, width, 3, padding="same", dialect="keras"))
                near = width
            yield Part(f"block{number}_pool", MaxPool2d(2, 2, data_format="channels_last"))
        for name, wide, far in (("fc1", near * 49, 4096), ("fc2", 4096, 4096), ("predictions", 4096, self.num_classes)):
            yield Part(name, Dense(wide, far, dialect="keras"))

    def parts(self) -> Iterator[Part]:
        """The stages, windows down to 7x7, the matrices."""
        if self.dialect == "keras":
            yield from self._keras_parts()
            return
        layers: list[Layer] = []
        near = self.in_channels
        for stage in self.cfg:
            for width in stage:
                layers += [Conv2d(near, width, 3, padding=1), *([BatchNorm2d(width)] if self.batch_norm else []), RELU]
                near = width
            layers.append(MaxPool2d(2, 2))
        yield Part("features", Sequential(*layers))
        yield Part("avgpool", AdaptiveAvgPool2d(7))
        drop = Dropout(self.dropout)
        matrices = (Dense(near * 49, 4096), RELU, drop, Dense(4096, 4096), RELU, drop, Dense(4096, self.num_classes))
        yield Part("classifier", Sequential(*matrices))
