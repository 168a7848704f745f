"""MaxViT. Reference: ``torchvision.models.maxvit``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sympy import Expr, Rational

from paramsym.algebra.size import Dim, Shape, canonical, divides
from paramsym.algebra.symbols import B, C, D, N, W, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import SiLU, Tanh
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.reshaping import Flatten
from paramsym.models.vision.blocks import CHANNELS, EXACT_GELU, LAYERS, Coloured, check_extents, conv_norm, named, remembered
from paramsym.models.vision.inverted import SqueezeExcitation, mbconv
from paramsym.models.vision.widths import Ratio, scaled_down
from paramsym.models.vision.windows import Parted, Windowed
from paramsym.program import Own, Value
from paramsym.program.attention import root_reciprocal

_EPS, _QUARTER, _PARTITION = 0.001, Rational(1, 4), dims("p")


@named
@dataclass(frozen=True)
class MaxVit(Coloured):
    """Inverted residuals, each followed by attention within windows of neighbours and by attention within a grid of distant positions.

    ``partition_size`` is the side of a window, and of the grid: a map of h*w positions has windows of p*p neighbours, and grids of p*p
    positions with distances h/p and w/p. The stem and every block halve the extents; p divides those of every block. ``head_dim`` is the
    width of a head. ``input_size`` is the only height and width that the network takes, as in torchvision; None takes all that fit. Sizes
    that are not given are letters.

    Raises:
        DivisibilityError: heads that do not divide the hidden size of their block.
        ArgumentError: another number of block_channels than of block_layers, a ratio that is not an exact fraction, or an unknown name.

    Source: Tu et al. 2022, "MaxViT: Multi-Axis Vision Transformer", section 3.

    >>> MaxVit("maxvit_t").params
    30919624
    >>> MaxVit().part("blocks.1.layers.1.layers.grid_attention").params
    12*C_2**2 + 13*C_2 + 4*C_2*p**2/D - 4*C_2*p/D + C_2/D
    """

    ratios, staged = ("squeeze_ratio", "expansion_ratio", "mlp_ratio"), ("block_channels", "block_layers")

    input_size: tuple[Dim, Dim] | None = None
    stem_channels: Dim = C
    partition_size: Dim = _PARTITION
    block_channels: tuple[Dim, ...] = CHANNELS
    block_layers: tuple[Dim, ...] = LAYERS
    head_dim: Dim = D
    squeeze_ratio: Ratio = _QUARTER
    expansion_ratio: Ratio = 4
    mlp_ratio: Ratio = 4
    num_classes: Dim = N

    published, claims = published_in("vision.maxvit")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images of ``input_size``; without it, of sides that every block can divide."""
        side = canonical(2 ** (len(self.block_channels) + 1) * self.partition_size * W)
        return {"x": (B, self.in_channels, *(self.input_size or (side, side)))}

    def parts(self) -> Iterator[Part]:
        near = self.stem_channels
        first = conv_norm(self.in_channels, near, 3, 2, EXACT_GELU, eps=_EPS)
        yield Part("stem", Sequential(first, Sequential(Conv2d(near, near, 3, padding=1))))
        blocks = []
        for width, depth in zip(self.block_channels, self.block_layers, strict=True):
            squeezed, inner, wide = (scaled_down(width, getattr(self, name), name) for name in self.ratios)
            sizes = (squeezed, inner, wide, self.partition_size, self.head_dim)
            blocks.append(Sequential(layers=Repeat(_layer(width, width, 1, *sizes), depth, first=_layer(near, width, 2, *sizes))))
            near = width
        yield Part("blocks", Sequential(*blocks))
        matrices = (Dense(near, near), Tanh(), Dense(near, self.num_classes, bias=False))
        yield Part("classifier", Sequential(AdaptiveAvgPool2d(1), Flatten(), LayerNorm(near), *matrices))

    def forward(self, own: Own, x: Value) -> Value:
        x = self.seen(x)
        if self.input_size is not None:
            check_extents(x.sizes[2:], self.input_size, "the images are {}; this network takes {}, which is its input_size.")
        return own.classifier(own.blocks(own.stem(x)))


@remembered
def _layer(near: Dim, far: Dim, stride: int, squeezed: Dim, inner: Dim, wide: Dim, side: Dim, head: Dim) -> Sequential:
    """An inverted residual with a norm before it, and both kinds of attention, each followed by two matrices."""
    squeeze = SqueezeExcitation(inner, squeezed, activation=SiLU())
    return Sequential(layers=Sequential({"MBconv": mbconv(near, inner, far, stride, squeeze, _EPS), **_attentions(far, wide, side, head)}))


@remembered
def _attentions(far: Dim, wide: Dim, side: Dim, head: Dim) -> dict[str, Layer]:
    attention = Sequential(LayerNorm(far), _Attention(far, (divides(head, far, "head_dim", "block_channels"), head), (side, side)))
    both = {"attn_layer": attention, "mlp_layer": Sequential(LayerNorm(far), Dense(far, wide), EXACT_GELU, Dense(wide, far))}
    return {f"{kind}_attention": Parted(both, branches=tuple(zip(both)), side=side, kind=kind) for kind in ("window", "grid")}


@dataclass(frozen=True)
class _Attention(Windowed):
    """Attention within a window, whose scores are divided by the root of the whole width."""

    names = ("to_qkv", "merge")

    def scale(self) -> float | Expr:
        return root_reciprocal(self.width)
