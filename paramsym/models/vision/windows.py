"""Attention within windows of a map or a video, as in Swin and MaxViT: shifted windows, and windows beside grids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

from sympy import Expr

from paramsym.algebra.convolution import exactly, over
from paramsym.algebra.size import Count, Dim, canonical, cat, product, reaches
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.models.blocks import Residual
from paramsym.models.images import filled
from paramsym.program import Own, Value, attend, constant, copies, heads as heads_of, lookup, rearrange, roll, segments, take

_PATTERNS = {
    2: ((1, 2), "b (y j) (x k) c", "(b y x) (j k) c"),
    3: ((1, 2, 3), "b (z i) (y j) (x k) c", "(b z y x) (i j k) c"),
}
"""By the number of extents: their axes, a map of whole windows, and its windows."""


@dataclass(frozen=True)
class Windowed(Layer):
    """Attention within windows, with a learned bias for every distance between two positions of a window.

    ``sliced`` are the heads and their width. ``relative_position_bias_table`` is (product of 2*side - 1, heads); the buffer
    ``relative_position_index`` has its row for every pair of positions, in one axis if it is ``flat`` and the window has two sides.

    Source: Liu et al. 2021, "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", equation 4.

    >>> from paramsym import A, D, H
    >>> Windowed(H, (A, D), (7, 7)).params
    4*A*D*H + 3*A*D + 169*A + H
    """

    width: Dim
    sliced: tuple[Dim, Dim]
    window: tuple[Dim, ...]

    names: ClassVar[tuple[str, str]] = ("qkv", "proj")
    flat: ClassVar[bool] = False

    def tensors(self) -> Iterator[Tensor]:
        yield from self.of_distances(tuple(canonical(2 * side - 1) for side in self.window))
        places = product(self.window)
        pairs = (canonical(places**2),) if self.flat and len(self.window) == 2 else (places, places)
        yield Tensor("relative_position_index", pairs, role="statistic", buffer=True)

    def of_distances(self, spans: tuple[Dim, ...]) -> Iterator[Tensor]:
        """Yield what gives the bias of a distance; ``spans`` are the numbers of distances along each axis."""
        yield Tensor("relative_position_bias_table", (product(spans), self.sliced[0]), role="table")

    def parts(self) -> Iterator[Part]:
        inward, outward = self.names
        yield Part(inward, Dense(self.width, cat(query=self.sliced, key=self.sliced, value=self.sliced)))
        yield Part(outward, Dense(self.sliced, self.width))

    def forward(self, own: Own, x: Value) -> Value:
        """(windows, positions, channels), unchanged."""
        return self.attended(own, x, self.bias(own, self.window))

    def attended(self, own: Own, x: Value, bias: Value) -> Value:
        """Attend within windows, (windows, positions, channels)."""
        return own[self.names[1]](attend(*self.projected(own, x), scale=self.scale(), bias=bias))

    def projected(self, own: Own, x: Value) -> tuple[Value, ...]:
        return tuple(map(heads_of, segments(own[self.names[0]](x))))

    def scale(self) -> float | Expr | None:
        """Return the factor of the scores; None is that of a head's width."""
        return None

    def bias(self, own: Own, window: tuple[Dim, ...]) -> Value:
        """Return the bias of the scores, (1, heads, positions, positions), for the whole window or a smaller one."""
        places, all_places = product(window), product(self.window)
        index = constant("swin index", (all_places, all_places), *self.window, kind="index")
        if window != self.window:  # the reference takes the first rows of the index, with the distances of the whole window
            index = take(take(index, 0, 0, places), 1, 0, places)
        return rearrange(lookup(self.by_distance(own), index), "q k a -> () a q k")

    def by_distance(self, own: Own) -> Value:
        """Return the bias of every distance, (distances, heads)."""
        table: Value = own.relative_position_bias_table
        return table


@dataclass(frozen=True)
class Attention(Windowed):
    """Attention within the windows of a map, or of a video, that is shifted along the axes that are longer than a window.

    Along the other axes a video's window shrinks to its extent, and a map is padded.
    """

    shift: tuple[Count, ...]

    flat = True

    def forward(self, own: Own, x: Value) -> Value:
        """Pad the map to whole windows, shift it, attend within each, and undo both."""
        batch, *extents, _ = x.sizes
        window, shifts = self._fitted(extents)
        x = filled(x, window)
        axes, whole, parted = _PATTERNS[len(window)]
        counts = tuple(over(length, side) for length, side in zip(x.sizes[1:-1], window, strict=True))
        bias, shifted = self.bias(own, window), any(shift != 0 for shift in shifts)
        if shifted:
            x = roll(x, tuple(-shift for shift in shifts), axes)
            shape = (product(counts), 1, *bias.sizes[2:])
            apart = constant("swin regions", shape, x.sizes[1:-1], window, *shifts)
            bias = bias + copies(apart, batch, axis=0, tiled=True)
        sides = dict(zip("kji", reversed(window), strict=False))
        y = self.attended(own, rearrange(x, f"{whole} -> {parted}", **sides), bias)
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


class Parted(Residual):
    """Branches within windows of neighbours, or within grids of distant positions, one of each window: the "kind" of parts of a map.

    Source: Tu et al. 2022, "MaxViT: Multi-Axis Vision Transformer", section 3.2.
    """

    _: KW_ONLY
    side: Dim
    kind: Literal["window", "grid"]

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        """A map (batch, channels, height, width), divided into parts of side times side positions and joined again."""
        whole = "b c (y i) (x j)" if self.kind == "window" else "b c (i y) (j x)"
        down, across = (exactly(length, self.side, "the extents of a map") for length in x.sizes[2:])
        x = super().forward(own, rearrange(x, f"{whole} -> (b y x) (i j) c", i=self.side, j=self.side), *along)
        return rearrange(x, f"(b y x) (i j) c -> {whole}", y=down, x=across, i=self.side, j=self.side)
