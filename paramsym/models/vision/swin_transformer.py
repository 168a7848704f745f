"""Swin Transformer, first and second version, as torchvision stores it. Reference: ``torchvision.models.swin_transformer``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log
from typing import Any, Literal

from paramsym.algebra.convolution import over
from paramsym.algebra.size import Dim, canonical, divides
from paramsym.algebra.symbols import H, N, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.reshaping import Permute
from paramsym.models.blocks import Ladder, Residual
from paramsym.models.images import Merging
from paramsym.models.vision.blocks import HEADS, LAYERS, RELU, Coloured, mlp, named, remembered
from paramsym.models.vision.widths import Ratio, scaled_down
from paramsym.models.vision.windows import Attention
from paramsym.program import Own, Value, apply, contract, heads as heads_of, rearrange, reduce, segments

BlockName = Literal["SwinTransformerBlock", "SwinTransformerBlockV2"]
_WINDOW: Dim = dims("w")


@dataclass(frozen=True)
class SwinStages(Coloured):
    """The common base for images and videos: stages with a halving of the sides between them, each twice as wide as the one before."""

    ratios, staged = ("mlp_ratio",), ("depths", "num_heads")

    patch_size: Any = 4
    embed_dim: Dim = H
    depths: tuple[Dim, ...] = LAYERS
    num_heads: tuple[Dim, ...] = HEADS
    window_size: Any = _WINDOW
    mlp_ratio: Ratio = 4
    num_classes: Dim = N

    def stages(self, window: tuple[Dim, ...], *first: Layer, second: bool = False) -> Iterator[Part]:
        """Yield the features, which begin with the layers ``first``, and the classifier."""
        layers, width = [*first], self.embed_dim
        for number, (depth, heads) in enumerate(zip(self.depths, self.num_heads, strict=True)):
            if number:
                layers.append(Merging(width, second))
                width = canonical(2 * width)
            layers.append(_stage(width, heads, window, scaled_down(width, self.mlp_ratio, "mlp_ratio"), depth, second=second))
        yield Part("features", Sequential(*layers))
        yield Part("norm", LayerNorm(width))
        yield Part("head", Dense(width, self.num_classes))


@named
@dataclass(frozen=True)
class SwinTransformer(SwinStages):
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

    patch_size: Dim = 4
    window_size: Dim = _WINDOW
    block: BlockName = "SwinTransformerBlock"

    published, claims = published_in("vision.swin_transformer")

    def parts(self) -> Iterator[Part]:
        width = self.embed_dim
        patches = Conv2d(self.in_channels, width, self.patch_size, stride=self.patch_size)
        embedded = Sequential(patches, Permute((2, 3, 1)), LayerNorm(width))
        yield from self.stages((self.window_size,) * 2, embedded, second=self.block == "SwinTransformerBlockV2")

    def forward(self, own: Own, x: Value) -> Value:
        return own.head(reduce("mean", own.norm(own.features(self.seen(x))), 1, 2))


@remembered
def _stage(width: Dim, heads: Dim, window: tuple[Dim, ...], inner: Dim, depth: Dim, *, second: bool = False) -> Ladder:
    """Return alternating blocks: the second one of two is shifted by half a window."""
    sliced = (heads, divides(heads, width, "num_heads", "the width of its stage"))
    attention, norm = _Attention if second else Attention, LayerNorm(width)
    branches = (("attn", "norm1"), ("mlp", "norm2")) if second else (("norm1", "attn"), ("norm2", "mlp"))
    blocks = []
    for shift in ((0,) * len(window), tuple(over(side, 2) for side in window)):
        layers = {"norm1": norm, "attn": attention(width, sliced, window, shift), "norm2": norm, "mlp": mlp(width, inner)}
        blocks.append(Residual(layers, branches=branches))
    return Ladder(tuple(blocks), depth)


@dataclass(frozen=True)
class _Attention(Attention):
    """The second version: directions of queries and keys are compared, and a small network gives the bias of a distance."""

    def of_distances(self, spans: tuple[Dim, ...]) -> Iterator[Tensor]:
        yield Tensor("logit_scale", (self.sliced[0], 1, 1), role="scale")
        yield Tensor("relative_coords_table", (1, *spans, 2), role="statistic", buffer=True)

    def parts(self) -> Iterator[Part]:
        yield from super().parts()
        layers: dict[str, Layer] = {"0": Dense(2, 512), "1": RELU, "2": Dense(512, self.sliced[0], bias=False)}
        yield Part("cpb_mlp", Sequential(layers))

    def scale(self) -> int:
        return 1

    def projected(self, own: Own, x: Value) -> tuple[Value, ...]:
        """Queries and keys of length one, without the stored bias of the keys; the queries are multiplied by the ``logit_scale``."""
        q, k, v = segments(contract("... i, o i -> ... o", x, own["qkv.weight"]))
        bias_q, _, bias_v = segments(own["qkv.bias"])
        q, k, v = map(heads_of, (q + bias_q, k, v + bias_v))
        steep = apply("exp", apply("clip", own.logit_scale, -inf, log(100)))
        return _unit(q) * rearrange(steep, "a () () -> a ()"), _unit(k), v

    def bias(self, own: Own, window: tuple[Dim, ...]) -> Value:
        return apply("sigmoid", super().bias(own, window)) * 16

    def by_distance(self, own: Own) -> Value:
        return rearrange(own.cpb_mlp(own.relative_coords_table), "one y x a -> (one y x) a")


def _unit(x: Value) -> Value:
    """Return vectors of length one, and zero for zero."""
    return x / apply("clip", apply("sqrt", reduce("sum", x * x, -1, keep=True)), 1e-12, inf)
