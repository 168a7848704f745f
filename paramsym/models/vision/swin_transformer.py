"""Swin Transformer, first and second version, as torchvision stores it. Reference: ``torchvision.models.swin_transformer``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from math import inf, log
from typing import Literal

from paramsym.algebra.convolution import over
from paramsym.algebra.size import Count, Dim, canonical, cat, divides, product, reaches
from paramsym.algebra.symbols import H, N, dims
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.activation import ReLU
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.reshaping import Permute
from paramsym.models.blocks import Ladder
from paramsym.models.published import published_in
from paramsym.models.swin import filled
from paramsym.models.vision.blocks import Pictures, check_stages, mlp, named, remembered
from paramsym.models.vision.widths import Ratio, scaled_down
from paramsym.program import (
    Own,
    Value,
    apply,
    attend,
    constant,
    contract,
    copies,
    heads as heads_of,
    lookup,
    rearrange,
    reduce,
    roll,
    segments,
    take,
)

BlockName = Literal["SwinTransformerBlock", "SwinTransformerBlockV2"]
_DEPTHS: tuple[Dim, ...] = dims("L_1 L_2 L_3 L_4")
_HEADS: tuple[Dim, ...] = dims("A_1 A_2 A_3 A_4")
_WINDOW: Dim = dims("w")
_PATTERNS = {
    2: ((1, 2), "b (y j) (x k) c", "(b y x) (j k) c"),
    3: ((1, 2, 3), "b (z i) (y j) (x k) c", "(b z y x) (i j k) c"),
}
"""By the number of extents: their axes, a map of whole windows, and its windows."""


@named
@dataclass(frozen=True)
class SwinTransformer(Pictures):
    """Attention within windows of a map, shifted in every second block; four neighbours become one position between the stages.

    The second version normalises after attention and matrices, compares only the directions of queries and keys, and computes the bias for
    a distance by a small network. ``window_size`` is the side of a window. Sizes that are not given are letters.

    Raises:
        DivisibilityError: heads that do not divide the hidden size of their stage.
        ArgumentError: another number of heads than of depths, or an unknown name.

    Source: Liu et al. 2021, "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", section 3; Liu et al. 2022,
    "Swin Transformer V2: Scaling Up Capacity and Resolution", section 3.

    >>> SwinTransformer("swin_t").params, SwinTransformer("swin_v2_s").params
    (28288354, 49737442)
    >>> SwinTransformer().part("features.1.0").params
    4*A_1*w**2 - 4*A_1*w + A_1 + 12*H**2 + 13*H
    """

    ratios = ("mlp_ratio",)

    patch_size: Dim = 4
    embed_dim: Dim = H
    depths: tuple[Dim, ...] = _DEPTHS
    num_heads: tuple[Dim, ...] = _HEADS
    window_size: Dim = _WINDOW
    mlp_ratio: Ratio = 4
    num_classes: Dim = N
    block: BlockName = "SwinTransformerBlock"
    _: KW_ONLY
    in_channels: Dim = 3

    published, claims = published_in("vision.swin_transformer")

    def conditions(self) -> None:
        """Every stage has heads."""
        check_stages(depths=self.depths, num_heads=self.num_heads)

    def parts(self) -> Iterator[Part]:
        """Patches, the stages with a halving between them, and the classifier."""
        width = self.embed_dim
        second = self.block == "SwinTransformerBlockV2"
        patches = Conv2d(self.in_channels, width, self.patch_size, stride=self.patch_size)
        embedded = Sequential(patches, Permute((2, 3, 1)), LayerNorm(width))
        layers, width = stages(width, self.depths, self.num_heads, (self.window_size,) * 2, self.mlp_ratio, second=second)
        yield Part("features", Sequential(embedded, *layers))
        yield Part("norm", LayerNorm(width))
        yield Part("head", Dense(width, self.num_classes))

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes)."""
        return own.head(reduce("mean", own.norm(own.features(self.seen(x))), 1, 2))


def stages(
    width: Dim, depths: Sequence[Dim], num_heads: Sequence[Dim], window: tuple[Dim, ...], mlp_ratio: Ratio, *, second: bool = False
) -> tuple[list[Layer], Dim]:
    """Return the stages with a halving of the sides between them, each stage twice as wide as the one before, and the last width."""
    layers: list[Layer] = []
    for number, (depth, heads) in enumerate(zip(depths, num_heads, strict=True)):
        if number:
            layers.append(Merging(width, second))
            width = canonical(2 * width)
        divides(heads, width, "num_heads", "the width of its stage")
        layers.append(_stage(width, heads, window, scaled_down(width, mlp_ratio, "mlp_ratio"), depth, second=second))
    return layers, width


@remembered
def _stage(width: Dim, heads: Dim, window: tuple[Dim, ...], inner: Dim, depth: Dim, *, second: bool = False) -> Ladder:
    """Return alternating blocks: the second one of two is shifted by half a window."""
    halves = tuple(over(side, 2) for side in window)
    return Ladder(tuple(_Block(width, heads, window, inner, second, shift) for shift in ((0,) * len(window), halves)), depth)


@dataclass(frozen=True)
class Merging(Layer):
    """Four neighbours joined and their width halved; the first version normalises before, the second after it."""

    width: Dim
    second: bool = False

    def parts(self) -> Iterator[Part]:
        """The matrix, then the norm."""
        yield Part("reduction", Dense(canonical(4 * self.width), canonical(2 * self.width), bias=False))
        yield Part("norm", LayerNorm(canonical((2 if self.second else 4) * self.width)))

    def forward(self, own: Own, x: Value) -> Value:
        """Half the height and the width, rounded up: the map is padded with zeros."""
        x = rearrange(filled(x, (2, 2)), "... (h y) (w x) c -> ... h w (x y c)", y=2, x=2)
        return own.norm(own.reduction(x)) if self.second else own.reduction(own.norm(x))


@dataclass(frozen=True)
class _Block(Layer):
    """Attention within windows and two matrices, each with a norm."""

    width: Dim
    heads: Dim
    window: tuple[Dim, ...]
    inner: Dim
    second: bool
    shift: tuple[Count, ...]

    def parts(self) -> Iterator[Part]:
        yield Part("norm1", LayerNorm(self.width))
        yield Part("attn", _Attention(self.width, self.heads, self.window, self.second, self.shift))
        yield Part("norm2", LayerNorm(self.width))
        yield Part("mlp", mlp(self.width, self.inner))

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, extents, channels), unchanged."""
        if self.second:
            x = x + own.norm1(own.attn(x))
            return x + own.norm2(own.mlp(x))
        x = x + own.attn(own.norm1(x))
        return x + own.mlp(own.norm2(x))


@dataclass(frozen=True)
class _Attention(Layer):
    """Attention within the windows of a map, or of a video, that is shifted along the axes that are longer than a window.

    Along the other axes a video's window shrinks to its extent, and a map is padded.
    """

    width: Dim
    heads: Dim
    window: tuple[Dim, ...]
    second: bool
    shift: tuple[Count, ...]

    def tensors(self) -> Iterator[Tensor]:
        sides, places = tuple(canonical(2 * side - 1) for side in self.window), product(self.window)
        if self.second:
            yield Tensor("logit_scale", (self.heads, 1, 1), role="scale")
            yield Tensor("relative_coords_table", (1, *sides, 2), role="statistic", buffer=True)
        else:
            yield Tensor("relative_position_bias_table", (product(sides), self.heads), role="table")
        pairs = (canonical(places**2),) if len(self.window) == 2 else (places, places)
        yield Tensor("relative_position_index", pairs, role="statistic", buffer=True)

    def parts(self) -> Iterator[Part]:
        sliced = (self.heads, divides(self.heads, self.width, "num_heads", "the width of its stage"))
        yield Part("qkv", Dense(self.width, cat(query=sliced, key=sliced, value=sliced)))
        yield Part("proj", Dense(sliced, self.width))
        if self.second:
            layers: dict[str, Layer] = {"0": Dense(2, 512), "1": ReLU(), "2": Dense(512, self.heads, bias=False)}
            yield Part("cpb_mlp", Sequential(layers))

    def forward(self, own: Own, x: Value) -> Value:
        """Pad the map to whole windows, shift it, attend within each, and undo both."""
        batch, *extents, _ = x.sizes
        window, shifts = self._fitted(extents)
        x = filled(x, window)
        axes, whole, parted = _PATTERNS[len(window)]
        counts = tuple(over(length, side) for length, side in zip(x.sizes[1:-1], window, strict=True))
        bias, shifted = self._bias(own, window), any(shift != 0 for shift in shifts)
        if shifted:
            x = roll(x, tuple(-shift for shift in shifts), axes)
            shape = (product(counts), 1, *bias.sizes[2:])
            apart = constant("swin regions", shape, x.sizes[1:-1], window, *shifts)
            bias = bias + copies(apart, batch, axis=0, tiled=True)
        sides = dict(zip("kji", reversed(window), strict=False))
        q, k, v = self._projected(own, rearrange(x, f"{whole} -> {parted}", **sides))
        y = own.proj(attend(q, k, v, scale=1 if self.second else None, bias=bias))
        y = rearrange(y, f"{parted} -> {whole}", **sides, **dict(zip("xyz", reversed(counts), strict=False)))
        y = roll(y, shifts, axes) if shifted else y
        for axis, length in zip(axes, extents, strict=True):
            y = take(y, axis, 0, length)
        return y

    def _fitted(self, extents: Sequence[Dim]) -> tuple[tuple[Dim, ...], tuple[Count, ...]]:
        """Return the window and the shifts for a map; a map with symbolic extents counts as larger than a window."""
        each = list(zip(extents, self.window, self.shift, strict=True))
        inside = [not reaches(length, side + 1) for length, side, _ in each]
        window = tuple(length if here and len(each) == 3 else side for here, (length, side, _) in zip(inside, each, strict=True))
        return window, tuple(0 if here else shift for here, (_, _, shift) in zip(inside, each, strict=True))

    def _projected(self, own: Own, x: Value) -> tuple[Value, ...]:
        """Queries, keys and values by heads; in the second version of length one, without the stored bias of the keys."""
        if not self.second:
            return tuple(map(heads_of, segments(own.qkv(x))))
        q, k, v = segments(contract("... i, o i -> ... o", x, own["qkv.weight"]))
        bias_q, _, bias_v = segments(own["qkv.bias"])
        q, k, v = map(heads_of, (q + bias_q, k, v + bias_v))
        steep = apply("exp", apply("clip", own.logit_scale, -inf, log(100)))
        return _unit(q) * rearrange(steep, "a () () -> a ()"), _unit(k), v

    def _bias(self, own: Own, window: tuple[Dim, ...]) -> Value:
        """The bias of the scores: (1, heads, positions, positions)."""
        places, all_places = product(window), product(self.window)
        index = constant("swin index", (all_places, all_places), *self.window, kind="index")
        if window != self.window:  # the reference takes the first rows of the index, with the distances of the whole window
            index = take(take(index, 0, 0, places), 1, 0, places)
        if not self.second:
            return rearrange(lookup(own.relative_position_bias_table, index), "q k a -> () a q k")
        table = rearrange(own.cpb_mlp(own.relative_coords_table), "one y x a -> (one y x) a")
        return apply("sigmoid", rearrange(lookup(table, index), "q k a -> () a q k")) * 16


def _unit(x: Value) -> Value:
    """Return vectors of length one, and zero for zero."""
    return x / apply("clip", apply("sqrt", reduce("sum", x * x, -1, keep=True)), 1e-12, inf)
