"""Multiscale vision transformers, both versions. Reference: ``torchvision.models.video.mvit``; tensors as in its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from paramsym.algebra.convolution import over
from paramsym.algebra.size import Count, Dim, Shape, canonical, product, same
from paramsym.algebra.symbols import A, B, H, N, W, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Runs, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.convolution import Conv3d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.normalization import LayerNorm
from paramsym.models.blocks import Holder
from paramsym.models.images import behind
from paramsym.models.vision.blocks import LAYERS, Coloured, Videos, check_extents, mlp, named, remembered
from paramsym.models.vision.multiscale import EPS, Attention, distances, largest, pooled
from paramsym.program import Own, Value, rearrange, take

_STEPS = (2, 4, 4)  # of the patches
_FRAMES: Dim = 2 * dims("t")


@named
@dataclass(frozen=True)
class MViT(Coloured, Videos):
    """A transformer whose attention pools: keys and values everywhere, queries at the start of every stage but the first.

    A stage has blocks of one width; the width and the ``num_heads`` of the first stage are doubled from stage to stage. The first block
    of a stage pools the queries, and with them the shortcut, by two in height and width. Keys and values are pooled by ``stride_kv``
    in the first stage, and by half as much in each later one. The first version widens at the end of the last block of a stage, in its
    matrices; with ``proj_after_attn`` the first block of the next one does it, in its attention. ``rel_pos_embed`` takes tables of
    distances instead of positions, ``residual_pool`` adds the pooled queries to the output of the attention, also for the class token with
    ``residual_with_cls_embed``, and ``pool_every_query`` convolves the queries of the other blocks too. torchvision has one entry of
    ``block_setting`` for every block; here ``depths`` has one for every stage, two blocks or more after the first.

    Positions and tables are made for videos of ``temporal_size`` frames and of ``spatial_size``. Sizes that are not given are letters.

    Raises:
        DivisibilityError: heads that do not divide the hidden size of their stage.
        ArgumentError: no depth, or an unknown name.

    Source: Fan et al. 2021, "Multiscale Vision Transformers", section 3 and table 2; Li et al. 2022, "MViTv2: Improved Multiscale Vision
    Transformers for Classification and Detection", section 4.

    >>> MViT("mvit_v1_b").params, MViT("mvit_v2_s").params
    (36610672, 34537744)
    >>> MViT().part("blocks.0.attn").params
    4*H**2 + 4*H + 58*H/A
    """

    spatial_size: tuple[Dim, Dim] = (32 * W, 32 * W)
    temporal_size: Dim = _FRAMES
    embed_dim: Dim = H
    depths: tuple[Dim, ...] = LAYERS
    num_heads: Dim = A
    stride_kv: int = 8
    residual_pool: bool = False
    residual_with_cls_embed: bool = False
    rel_pos_embed: bool = False
    proj_after_attn: bool = False
    dropout: float = 0.5
    num_classes: Dim = N
    _: KW_ONLY
    pool_every_query: bool = False

    published, claims = published_in("vision.mvit")

    def conditions(self) -> None:
        if not self.depths:
            raise ArgumentError("depths is empty; wanted the number of blocks of every stage.")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"x": (B, self.in_channels, self.temporal_size, *self.spatial_size)}

    def parts(self) -> Iterator[Part]:
        near, room = self.embed_dim, self._room
        yield Part("conv_proj", Conv3d(self.in_channels, near, (3, 7, 7), stride=_STEPS, padding=(1, 3, 3)))
        yield Part("pos_encoding", _Positions(near, room, not self.rel_pos_embed))
        runs: list[tuple[Layer, Count]] = []
        extents = room
        for number, depth in enumerate(self.depths):
            width = canonical(self.embed_dim * 2**number)
            for pools, widens, count in self._kinds(number, depth):
                far, step = canonical(2 * width) if widens else width, 2 if pools else 1
                runs.append((self._block(number, near, width, far, step, room, extents), count))
                near, extents = far, pooled(extents, step)
                room = (room[0], *(over(length, step) for length in room[1:]))
        yield Part("blocks", Runs(*(run for run in runs if run[1] != 0)))
        yield Part("norm", LayerNorm(near, EPS))
        yield Part("head", Sequential(Dropout(self.dropout), Dense(near, self.num_classes)))

    def forward(self, own: Own, x: Value) -> Value:
        x = own.conv_proj(self.seen(x))
        check_extents(x.sizes[2:], self._room, "there are {} patches; wanted {}, for which there are positions.")
        x = own.blocks(own.pos_encoding(rearrange(x, "b c t h w -> b (t h w) c")))
        return own.head(take(own.norm(x), 1, 0))

    @property
    def _room(self) -> tuple[Dim, ...]:
        """The patches along each axis."""
        return tuple(over(length, step) for length, step in zip((self.temporal_size, *self.spatial_size), _STEPS, strict=True))

    def _kinds(self, number: int, depth: Dim) -> list[tuple[bool, bool, Count]]:
        """Return the blocks of a stage in runs: whether they pool the queries, whether they widen at their end, their number."""
        first, last = number > 0, not self.proj_after_attn and number < len(self.depths) - 1
        if first and last and same(depth, 1):  # one block pools and widens
            return [(first, last, 1)]
        between = (False, False, canonical(depth - (first + last)))
        return [*[(True, False, 1)] * first, between, *[(False, True, 1)] * last]

    def _block(self, number: int, near: Dim, width: Dim, far: Dim, step: int, room: tuple[Dim, ...], extents: tuple[Dim, ...]) -> Layer:
        wide = self.stride_kv >> number or 1
        tables = distances(room, min(step, wide)) if self.rel_pos_embed else None
        residual = self.residual_pool + (self.residual_pool and self.residual_with_cls_embed)
        heads, convolves = canonical(self.num_heads * 2**number), self.pool_every_query or step > 1
        return _block(heads, near, width if self.proj_after_attn else near, far, step, convolves, wide, extents, tables, residual)


@remembered
def _block(heads: Dim, near: Dim, width: Dim, far: Dim, *settings: Any) -> Layer:
    attention, matrices = Attention(heads, near, width, *settings), mlp(width, canonical(4 * width), far)
    layers: dict[str, Layer] = {"norm1": LayerNorm(near, EPS), "norm2": LayerNorm(width, EPS), "attn": attention, "mlp": matrices}
    if near != far:
        layers["project"] = Dense(near, far)
    return _Block(layers, early=near != width)


class _Block(Holder):
    """Attention and two matrices, each after a norm; the shortcut of attention is widened if ``early``, otherwise that of the matrices."""

    _: KW_ONLY
    early: bool

    def forward(self, own: Own, x: Value) -> Value:
        attention: Any = own.attn.layer
        normed, step = own.norm1(x), attention.step
        x = own.project(normed) if self.early else x
        if step > 1:
            x = largest(x, step, attention.extents)
        x = x + own.attn(normed)
        normed = own.norm2(x)
        return (own.project(normed) if "project" in own and not self.early else x) + own.mlp(normed)


@dataclass(frozen=True)
class _Positions(Layer):
    """A class token in front, and positions if there are any: of every place in a frame, of every frame, and of the token."""

    width: Dim
    room: tuple[Dim, ...]
    absolute: bool

    def tensors(self) -> Iterator[Tensor]:
        frames, *sides = self.room
        yield Tensor("class_token", (self.width,), role="table")
        if self.absolute:
            yield Tensor("spatial_pos", (product(sides), self.width), role="table")
            yield Tensor("temporal_pos", (frames, self.width), role="table")
            yield Tensor("class_pos", (self.width,), role="table")

    def forward(self, own: Own, x: Value) -> Value:
        x = behind(rearrange(own.class_token, "c -> () () c"), x)
        if not self.absolute:
            return x
        each = rearrange(own.temporal_pos, "t c -> t () c") + rearrange(own.spatial_pos, "s c -> () s c")
        return x + behind(rearrange(own.class_pos, "c -> () () c"), rearrange(each, "t s c -> () (t s) c"))
