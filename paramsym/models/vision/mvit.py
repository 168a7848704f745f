"""Multiscale vision transformers, both versions. Reference: ``torchvision.models.video.mvit``; tensors as in its state dict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sympy import Max

from paramsym.algebra.convolution import differ, over, window_count
from paramsym.algebra.size import Count, Dim, Shape, canonical, cat, divides, product, same, text
from paramsym.algebra.symbols import A, B, H, N, W, dims
from paramsym.core.compose import Runs, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layers.convolution import Conv3d
from paramsym.layers.dense import Dense
from paramsym.layers.dropout import Dropout
from paramsym.layers.normalization import LayerNorm
from paramsym.models.blocks import Holder
from paramsym.models.images import behind
from paramsym.models.published import published_in
from paramsym.models.vision.blocks import Videos, mlp, named, remembered
from paramsym.program import (
    Own,
    Value,
    attend,
    constant,
    contract,
    heads as heads_of,
    join,
    lookup,
    pad,
    pool,
    rearrange,
    resample,
    segments,
    take,
)

_EPS = 1e-6
_DEPTHS: tuple[Dim, ...] = dims("L_1 L_2 L_3 L_4")
_STEPS = (2, 4, 4)  # of the patches
_FRAMES: Dim = 2 * dims("t")


@named
@dataclass(frozen=True)
class MViT(Videos):
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
    depths: tuple[Dim, ...] = _DEPTHS
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
    in_channels: Dim = 3

    published, claims = published_in("vision.mvit")

    def conditions(self) -> None:
        """There is a stage."""
        if not self.depths:
            message = "depths is empty; wanted the number of blocks of every stage."
            raise ArgumentError(message)

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Videos of the size for which positions are stored."""
        return {"x": (B, self.in_channels, self.temporal_size, *self.spatial_size)}

    def parts(self) -> Iterator[Part]:
        """Patches, the class token and positions, the blocks, and the classifier."""
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
                near, extents = far, _pooled(extents, step)
                room = (room[0], *(over(length, step) for length in room[1:]))
        yield Part("blocks", Runs(*(run for run in runs if run[1] != 0)))
        yield Part("norm", LayerNorm(near, _EPS))
        yield Part("head", Sequential(Dropout(self.dropout), Dense(near, self.num_classes)))

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes), from the class token."""
        x = own.conv_proj(self.seen(x))
        if any(map(differ, x.sizes[2:], self._room)):
            message = f"there are {text(x.sizes[2:])} patches; wanted {text(self._room)}, for which there are positions."
            raise ShapeError(message)
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
        tables = (canonical(2 * over(_longer(*room[1:]), min(step, wide)) - 1), canonical(2 * room[0] - 1)) if self.rel_pos_embed else None
        residual = self.residual_pool + (self.residual_pool and self.residual_with_cls_embed)
        heads, convolves = canonical(self.num_heads * 2**number), self.pool_every_query or step > 1
        return _block(heads, near, width if self.proj_after_attn else near, far, step, convolves, wide, extents, tables, residual)


@remembered
def _norm(width: Dim) -> LayerNorm:
    return LayerNorm(width, _EPS)


@remembered
def _block(heads: Dim, near: Dim, width: Dim, far: Dim, *settings: Any) -> Layer:
    first, attention = _norm(near), _Attention(heads, near, width, *settings)
    layers: dict[str, Layer] = {"norm1": first, "norm2": _norm(width), "attn": attention, "mlp": mlp(width, canonical(4 * width), far)}
    if near != far:
        layers["project"] = Dense(near, far)
    return _Block(layers, early=near != width)


@dataclass(frozen=True)
class _Block(Holder):
    """Attention and two matrices, each after a norm; the shortcut of attention is widened if ``early``, otherwise that of the matrices."""

    _: KW_ONLY
    early: bool

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, positions, channels); the class token is the first position."""
        attention: Any = own.attn.layer
        normed, step = own.norm1(x), attention.step
        x = own.project(normed) if self.early else x
        if step > 1:
            kept = _on_places(_largest(step), rearrange(x, "b s c -> b s () c"), attention.extents)
            x = rearrange(kept, "b s () c -> b s c")
        x = x + own.attn(normed)
        normed = own.norm2(x)
        return (own.project(normed) if "project" in own and not self.early else x) + own.mlp(normed)


@dataclass(frozen=True)
class _Attention(Layer):
    """Attention with a class token over a map of ``extents``; queries are pooled with stride ``step``, keys and values with ``wide``.

    ``tables`` are the lengths of the tables of distances, in space and in time; ``residual`` adds the queries to the output: 1 those of the
    positions, 2 also that of the class token.
    """

    heads: Dim
    incoming: Dim
    width: Dim
    step: int
    convolves: bool
    wide: int
    extents: tuple[Dim, ...]
    tables: tuple[Dim, Dim] | None
    residual: int

    def tensors(self) -> Iterator[Tensor]:
        in_space, in_time = self.tables or (0, 0)
        for axis, length in zip("hwt", (in_space, in_space, in_time), strict=True):
            if self.tables is not None:
                yield Tensor(f"rel_pos_{axis}", (length, self._each), role="table")

    def parts(self) -> Iterator[Part]:
        sliced = (self.heads, self._each)
        yield Part("qkv", Dense(self.incoming, cat(query=sliced, key=sliced, value=sliced)))
        yield Part("project", Sequential(Dense(sliced, self.width)))
        if self.convolves:
            yield Part("pool_q", _Pool(self._each, self.step, self.extents))
        pool_ = _Pool(self._each, self.wide, self.extents)
        yield Part("pool_k", pool_)
        yield Part("pool_v", pool_)

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, positions, channels), the class token first, with one position for each query."""
        q, k, v = map(heads_of, segments(own.qkv(x)))
        q, k, v = own.pool_q(q) if self.convolves else q, own.pool_k(k), own.pool_v(v)
        y = attend(q, k, v, bias=None if self.tables is None else self._bias(own, q))
        if self.residual:
            rows, first = rearrange(q, "b s a d -> b s (a d)"), 2 - self.residual
            later = take(y, 1, first, canonical(y.sizes[1] - first)) + take(rows, 1, first, canonical(y.sizes[1] - first))
            y = join(take(y, 1, 0, 1), later, axis=1) if first else later
        return own.project(y)

    @property
    def _each(self) -> Dim:
        return divides(self.heads, self.width, "num_heads", "the width of its stage")

    def _bias(self, own: Own, q: Value) -> Value:
        """The bias of the scores for distances along each axis: every row of the tables times the query."""
        queries, keys = _pooled(self.extents, self.step), _pooled(self.extents, self.wide)
        rows = take(q, 1, 1, product(queries))
        places = rearrange(rows, "b (t h w) a d -> b t h w a d", **dict(zip("thw", queries, strict=True)))
        found: Any = 0
        for axis, query, key, spread in zip("thw", queries, keys, ("k () ()", "() k ()", "() () k"), strict=True):
            table, length = own[f"rel_pos_{axis}"], canonical(2 * _longer(query, key) - 1)
            if differ(table.sizes[0], length):
                table = rearrange(resample("linear", rearrange(table, "n d -> d n"), (length,), (None,)), "d n -> n d")
            apart = lookup(table, constant("pooled distances", (query, key), kind="index"))
            near = contract(f"b t h w a d, {axis} k d -> b a t h w k", places, apart)
            found = rearrange(near, f"b a t h w k -> b a t h w {spread}") + found
        return pad(rearrange(found, "b a t h w x y z -> b a (t h w) (x y z)"), ((1, 0), (1, 0)))


@dataclass(frozen=True)
class _Pool(Layer):
    """A convolution of 3x3x3 for each channel of a head, not applied to the class token, and a norm. Reference: ``Pool``."""

    width: Dim
    step: int
    extents: tuple[Dim, ...]

    def parts(self) -> Iterator[Part]:
        steps = (1, self.step, self.step)
        yield Part("pool", Conv3d(self.width, self.width, 3, stride=steps, padding=1, groups=self.width, bias=False))
        yield Part("norm_act", Sequential(LayerNorm(self.width, _EPS)))

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, positions, heads, width) of fewer positions."""
        return own.norm_act(_on_places(own.pool, x, self.extents))


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
        """(batch, positions, channels), the class token first."""
        x = behind(rearrange(own.class_token, "c -> () () c"), x)
        if not self.absolute:
            return x
        each = rearrange(own.temporal_pos, "t c -> t () c") + rearrange(own.spatial_pos, "s c -> () s c")
        return x + behind(rearrange(own.class_pos, "c -> () () c"), rearrange(each, "t s c -> () (t s) c"))


def _pooled(extents: tuple[Dim, ...], step: int) -> tuple[Dim, ...]:
    """Return the extents after windows of three with a stride in height and width."""
    return (extents[0], *(window_count(length, 3, step, 2) for length in extents[1:]))


def _on_places(function: Callable[[Value], Value], x: Value, extents: tuple[Dim, ...]) -> Value:
    """Apply a function of volumes to the positions after the class token of (batch, positions, heads, width)."""
    places = take(x, 1, 1, product(extents))
    volume = rearrange(places, "b (t h w) a d -> (b a) d t h w", **dict(zip("thw", extents, strict=True)))
    rest = rearrange(function(volume), "(b a) d t h w -> b (t h w) a d", a=x.sizes[2])
    return join(take(x, 1, 0, 1), rest, axis=1)


def _largest(step: int) -> Callable[[Value], Value]:
    return lambda volume: pool("max", volume, (1, 3, 3), (1, step, step), ((0, 0), (1, 1), (1, 1)))


def _longer(one: Dim, other: Dim) -> Dim:
    if isinstance(one, int) and isinstance(other, int):
        return max(one, other)
    return canonical(Max(one, other))
