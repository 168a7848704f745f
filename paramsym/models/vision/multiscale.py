"""Attention whose queries, keys and values are pooled, which both versions of MViT share. Reference: ``torchvision.models.video.mvit``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sympy import Max

from paramsym.algebra.convolution import differ, over, window_count
from paramsym.algebra.size import Dim, canonical, cat, divides, product
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv3d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
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

EPS = 1e-6


@dataclass(frozen=True)
class Attention(Layer):
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
        """The tables for rows, columns and frames, (distances, width of a head)."""
        if self.tables is not None:
            in_space, in_time = self.tables
            for axis, length in (("h", in_space), ("w", in_space), ("t", in_time)):
                yield Tensor(f"rel_pos_{axis}", (length, self._each), role="table")

    def parts(self) -> Iterator[Part]:
        sliced = (self.heads, self._each)
        yield Part("qkv", Dense(self.incoming, cat(query=sliced, key=sliced, value=sliced)))
        yield Part("project", Sequential(Dense(sliced, self.width)))
        if self.convolves:
            yield Part("pool_q", Pool(self._each, self.step, self.extents))
        pool_ = Pool(self._each, self.wide, self.extents)
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
        queries, keys = pooled(self.extents, self.step), pooled(self.extents, self.wide)
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
class Pool(Layer):
    """A convolution of 3x3x3 for each channel of a head, not applied to the class token, and a norm."""

    width: Dim
    step: int
    extents: tuple[Dim, ...]

    def parts(self) -> Iterator[Part]:
        steps = (1, self.step, self.step)
        yield Part("pool", Conv3d(self.width, self.width, 3, stride=steps, padding=1, groups=self.width, bias=False))
        yield Part("norm_act", Sequential(LayerNorm(self.width, EPS)))

    def forward(self, own: Own, x: Value) -> Value:
        """From (batch, positions, heads, width) to the same axes with fewer positions."""
        return own.norm_act(_on_places(own.pool, x, self.extents))


def pooled(extents: tuple[Dim, ...], step: int) -> tuple[Dim, ...]:
    """Return the extents after windows of three with a stride in height and width."""
    return (extents[0], *(window_count(length, 3, step, 2) for length in extents[1:]))


def largest(x: Value, step: int, extents: tuple[Dim, ...]) -> Value:
    """Return the maxima of 3x3 neighbours in (batch, positions, channels), with a stride; the class token stays."""
    kept = _on_places(
        lambda volume: pool("max", volume, (1, 3, 3), (1, step, step), ((0, 0), (1, 1), (1, 1))), rearrange(x, "b s c -> b s () c"), extents
    )
    return rearrange(kept, "b s () c -> b s c")


def distances(extents: tuple[Dim, ...], step: int) -> tuple[Dim, Dim]:
    """Return the numbers of distances in space and in time, between the positions of a video that is pooled with a stride."""
    return canonical(2 * over(_longer(*extents[1:]), step) - 1), canonical(2 * extents[0] - 1)


def _on_places(function: Callable[[Value], Value], x: Value, extents: tuple[Dim, ...]) -> Value:
    """Apply a function of volumes to the positions after the class token of (batch, positions, heads, width)."""
    places = take(x, 1, 1, product(extents))
    volume = rearrange(places, "b (t h w) a d -> (b a) d t h w", **dict(zip("thw", extents, strict=True)))
    rest = rearrange(function(volume), "(b a) d t h w -> b (t h w) a d", a=x.sizes[2])
    return join(take(x, 1, 0, 1), rest, axis=1)


def _longer(one: Dim, other: Dim) -> Dim:
    return max(one, other) if isinstance(one, int) and isinstance(other, int) else canonical(Max(one, other))
