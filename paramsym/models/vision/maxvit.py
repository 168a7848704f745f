"""MaxViT. Reference: ``torchvision.models.maxvit``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass

from sympy import Rational

from paramsym.algebra.convolution import differ, exactly
from paramsym.algebra.size import Dim, Shape, canonical, cat, divides, text
from paramsym.algebra.symbols import B, C, D, N, W, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ShapeError
from paramsym.layers.activation import SiLU, Tanh
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.pooling import AvgPool2d
from paramsym.layers.reshaping import Flatten
from paramsym.models.blocks import Holder
from paramsym.models.published import published_in
from paramsym.models.vision.blocks import EXACT_GELU, Pictures, SqueezeExcitation, check_stages, conv_norm, named, remembered
from paramsym.models.vision.widths import Ratio, scaled_down
from paramsym.program import Own, Value, attend, constant, heads as heads_of, lookup, rearrange, segments
from paramsym.program.attention import root_reciprocal

_EPS, _QUARTER = 0.001, Rational(1, 4)
_CHANNELS: tuple[Dim, ...] = dims("C_1 C_2 C_3 C_4")
_LAYERS: tuple[Dim, ...] = dims("L_1 L_2 L_3 L_4")
_PARTITION: Dim = dims("p")


@named
@dataclass(frozen=True)
class MaxVit(Pictures):
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

    ratios = ("squeeze_ratio", "expansion_ratio", "mlp_ratio")

    input_size: tuple[Dim, Dim] | None = None
    stem_channels: Dim = C
    partition_size: Dim = _PARTITION
    block_channels: tuple[Dim, ...] = _CHANNELS
    block_layers: tuple[Dim, ...] = _LAYERS
    head_dim: Dim = D
    squeeze_ratio: Ratio = _QUARTER
    expansion_ratio: Ratio = 4
    mlp_ratio: Ratio = 4
    num_classes: Dim = N
    _: KW_ONLY
    in_channels: Dim = 3

    published, claims = published_in("vision.maxvit")

    def conditions(self) -> None:
        """Every block has channels and layers."""
        check_stages(block_channels=self.block_channels, block_layers=self.block_layers)

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images of ``input_size``; without it, of sides that every block can divide."""
        side = canonical(2 ** (len(self.block_channels) + 1) * self.partition_size * W)
        return {"x": (B, self.in_channels, *(self.input_size or (side, side)))}

    def parts(self) -> Iterator[Part]:
        """The stem, the blocks, and the classifier."""
        near = self.stem_channels
        first = conv_norm(self.in_channels, near, 3, 2, EXACT_GELU, eps=_EPS)
        yield Part("stem", Sequential(first, Sequential(Conv2d(near, near, 3, padding=1))))
        blocks = []
        for width, depth in zip(self.block_channels, self.block_layers, strict=True):
            divides(self.head_dim, width, "head_dim", "block_channels")
            later = self._layer(width, width, 1)
            blocks.append(Sequential(layers=Repeat(later, depth, first=self._layer(near, width, 2))))
            near = width
        yield Part("blocks", Sequential(*blocks))
        matrices = (Dense(near, near), Tanh(), Dense(near, self.num_classes, bias=False))
        yield Part("classifier", Sequential(AdaptiveAvgPool2d(1), Flatten(), LayerNorm(near), *matrices))

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes)."""
        x = self.seen(x)
        if self.input_size is not None and any(map(differ, x.sizes[2:], self.input_size)):
            message = f"the images are {text(x.sizes[2:])}; this network takes {text(self.input_size)}, which is its input_size."
            raise ShapeError(message)
        return own.classifier(own.blocks(own.stem(x)))

    def _layer(self, near: Dim, far: Dim, stride: int) -> Sequential:
        inner, squeezed, wide = (scaled_down(far, getattr(self, name), name) for name in ("expansion_ratio", "squeeze_ratio", "mlp_ratio"))
        return _layer(near, far, stride, inner, squeezed, wide, self.partition_size, self.head_dim)


@remembered
def _layer(near: Dim, far: Dim, stride: int, inner: Dim, squeezed: Dim, wide: Dim, side: Dim, head: Dim) -> Sequential:
    """An inverted residual with a norm before it, and both kinds of attention."""
    body: dict[str, Layer] = {
        "pre_norm": BatchNorm2d(near, eps=_EPS),
        "conv_a": conv_norm(near, inner, 1, 1, EXACT_GELU, eps=_EPS),
        "conv_b": conv_norm(inner, inner, 3, stride, EXACT_GELU, groups=inner, eps=_EPS),
        "squeeze_excitation": SqueezeExcitation(inner, squeezed, activation=SiLU()),
        "conv_c": Conv2d(inner, far, 1),
    }
    projection = {"proj": Sequential(AvgPool2d(3, stride, 1), Conv2d(near, far, 1))} if stride != 1 else {}
    return Sequential(layers=Sequential({"MBconv": _MBConv({**projection, "layers": Sequential(body)}), **_parted(far, wide, side, head)}))


@remembered
def _parted(width: Dim, wide: Dim, side: Dim, head: Dim) -> dict[str, Layer]:
    """Both kinds of attention, each followed by two matrices."""
    attention = Sequential(LayerNorm(width), _Attention(width, head, side))
    matrices = Sequential(LayerNorm(width), Dense(width, wide), EXACT_GELU, Dense(wide, width))
    return {f"{name}_attention": _Parted(attention, matrices, side, name) for name in ("window", "grid")}


@dataclass(frozen=True)
class _MBConv(Holder):
    """A body added to the shortcut, which is pooled and projected if the extents change."""

    def forward(self, own: Own, x: Value) -> Value:
        """The sum."""
        return (own.proj(x) if "proj" in own else x) + own.layers(x)


@dataclass(frozen=True)
class _Parted(Layer):
    """Attention and two matrices in every window, or in every grid of positions, one of each window."""

    attention: Layer
    matrices: Layer
    side: Dim
    kind: str

    def parts(self) -> Iterator[Part]:
        yield Part("attn_layer", self.attention)
        yield Part("mlp_layer", self.matrices)

    def forward(self, own: Own, x: Value) -> Value:
        """A map of the same extents, divided into parts and joined again."""
        whole = "b c (y i) (x j)" if self.kind == "window" else "b c (i y) (j x)"
        down_, across = (exactly(length, self.side, "the extents of a map") for length in x.sizes[2:])
        x = rearrange(x, f"{whole} -> (b y x) (i j) c", i=self.side, j=self.side)
        x = x + own.attn_layer(x)
        x = x + own.mlp_layer(x)
        return rearrange(x, f"(b y x) (i j) c -> {whole}", y=down_, x=across, i=self.side, j=self.side)


@dataclass(frozen=True)
class _Attention(Layer):
    """Attention with a bias for every distance within the side of a window; scores are divided by the root of the whole width."""

    width: Dim
    head: Dim
    side: Dim

    def tensors(self) -> Iterator[Tensor]:
        heads, places = self._heads, canonical(self.side**2)
        yield Tensor("relative_position_bias_table", (canonical((2 * self.side - 1) ** 2), heads), role="table")
        yield Tensor("relative_position_index", (places, places), role="statistic", buffer=True)

    def parts(self) -> Iterator[Part]:
        sliced = (self._heads, self.head)
        yield Part("to_qkv", Dense(self.width, cat(query=sliced, key=sliced, value=sliced)))
        yield Part("merge", Dense(sliced, self.width))

    def forward(self, own: Own, x: Value) -> Value:
        """(windows, places, channels), unchanged."""
        places = canonical(self.side**2)
        index = constant("swin index", (places, places), self.side, self.side, kind="index")
        bias = rearrange(lookup(own.relative_position_bias_table, index), "q k a -> () a q k")
        q, k, v = map(heads_of, segments(own.to_qkv(x)))
        return own.merge(attend(q, k, v, scale=root_reciprocal(self.width), bias=bias))

    @property
    def _heads(self) -> Dim:
        return divides(self.head, self.width, "head_dim", "block_channels")
