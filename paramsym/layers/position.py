"""The position of a token: learned and sinusoidal tables, rotations, and biases by distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from paramsym import program as ops
from paramsym.algebra.size import Count, Dim, Shape, Width, canonical, divides, extent, text, within
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, RankError, ShapeError
from paramsym.layers.spatial import per_axis

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Counting: TypeAlias = Literal["once", "buffer", "each"]
"""How a reference creates position numbers: once for all examples, from a buffer, or for each example."""


class _Added(Layer):
    """The base of layers that add to the vectors of a sequence: (batch, positions, width)."""

    embedding_dim: Width

    def checked(self, x: Value) -> Value:
        """Return an input; raise ``ShapeError`` for another width, or no positions."""
        if x.rank < 2:
            raise RankError(f"wanted (batch, positions, {extent(self.embedding_dim)}); found {x.rank} axes, {text(x.sizes)}.")
        return ops.features(x, self.embedding_dim)


class _Positions(_Added):
    """The base of position tables, which need a row for every position."""

    num_positions: Dim
    offset: Count
    counted: Counting = "once"

    @property
    def _shape(self) -> tuple[Dim, Width]:
        return canonical(self.num_positions + self.offset), self.embedding_dim

    def index(self, x: Value) -> Value:
        """Return the row of every position, after those of a cache."""
        check_positions(self.checked(x).sizes[:-1], self.num_positions)
        return self.counted_from(canonical(self.offset + ops.past()), x)

    def counted_from(self, first: Count, x: Value) -> Value:
        """Return the numbers of the positions of an input, (positions,) or for each example."""
        index = ops.constant("positions", (x.sizes[-2],), first, kind="index", held=self.counted == "buffer")
        return (
            index
            if self.counted != "each" or x.rank != 3
            else ops.compact(ops.copies(ops.rearrange(index, "s -> () s"), x.sizes[0], axis=0))
        )


def check_positions(places: Shape, rows: Count) -> None:
    """Raise ``ShapeError`` if the last axis of (batch, positions) is longer than the table."""
    last = places[-1] if places else 1
    if last is not None and not within(last, rows):
        raise ShapeError(f"{last} positions, but the table has rows for {rows}; found {text(places)}.")


@dataclass(frozen=True)
class TokenTypes(_Added):
    """A table with one learned vector per token type, added to the input (Devlin et al. 2019, figure 2): ``weight`` (num_types, width).

    >>> from paramsym import H, T
    >>> TokenTypes(T, H).params
    H*T
    """

    num_types: Dim
    embedding_dim: Width
    counted: Counting = "once"

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.num_types, self.embedding_dim), role="table")

    def forward(self, own: Own, x: Value) -> Value:
        """The vector of the first type, which references use by default."""
        shape = self.checked(x).sizes[-2 if self.counted == "once" else 0 : -1]
        return x + ops.lookup(own.weight, ops.constant("index zeros", shape, kind="index"))


@dataclass(frozen=True)
class LearnedPositions(_Positions):
    """A table with one learned vector per position (Gehring et al. 2017, section 3.1; Devlin et al. 2019).

    ``weight`` is (num_positions + offset, embedding_dim); some references have ``offset`` rows in front that no position uses (2 in OPT and
    BART). ``counted`` says how references create position numbers, which training keeps: ``"once"``, for ``"each"`` example, or from a
    ``"buffer"``. Parameters: (positions + offset)*width. Reference: ``torch.nn.Embedding`` under the model's name.

    >>> from paramsym import H, P
    >>> LearnedPositions(P, H).params, LearnedPositions(P, H, offset=2).params
    (H*P, H*P + 2*H)
    """

    num_positions: Dim
    embedding_dim: Width
    offset: Count = 0
    counted: Counting = "once"

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", self._shape, role="table")

    def forward(self, own: Own, x: Value) -> Value:
        return x + ops.lookup(own.weight, self.index(x))


@dataclass(frozen=True)
class SinusoidalPositions(_Positions):
    """Fixed sines and cosines of the position (Vaswani et al. 2017, section 3.5).

    They follow from a formula, and references store them differently: ``stored="computed"`` stores nothing; ``"frozen"`` a table
    ``weight``, (num_positions + offset, embedding_dim), counted but not trained (Whisper's encoder); ``"buffer"`` the same
    table as a buffer, which is not a parameter, and with ``persistent=False`` not in the state dict (M2M-100). ``name`` renames the table.

    Raises:
        ArgumentError: an unknown storage.

    >>> from paramsym import H, P
    >>> [SinusoidalPositions(P, H, stored=way).params for way in ("computed", "frozen", "buffer")]
    [0, H*P, 0]
    """

    num_positions: Dim
    embedding_dim: Width
    stored: Literal["computed", "frozen", "buffer"] = "computed"
    offset: Count = 0
    persistent: bool = True
    name: str = "weight"

    def tensors(self) -> Iterator[Tensor]:
        if self.stored == "frozen":
            yield Tensor(self.name, self._shape, role="table", trainable=False)
        elif self.stored == "buffer":
            yield Tensor(self.name, self._shape, role="table", buffer=True, persistent=self.persistent)

    def forward(self, own: Own, x: Value) -> Value:
        """The stored row of every position; without a table sines on even features and cosines on odd ones."""
        index = self.index(x)
        if self.stored != "computed":
            return x + ops.lookup(own[self.name], index)
        return x + ops.constant("sinusoids", (x.sizes[-2], extent(self.embedding_dim)), canonical(self.offset + ops.past()))


@dataclass(frozen=True)
class RotaryPositions(Layer):
    """Rotations of pairs of features by the position (Su et al. 2021, section 3.2.2). It has no parameters.

    ``dim`` is the number of rotated features of a head, an even number. ``inv_freq``, (dim/2,), is a buffer that is not in the state dict
    (LLaMA in transformers); ``stored="persistent"`` puts it there, ``"computed"`` stores nothing.

    Raises:
        DivisibilityError: an odd ``dim``.

    >>> from paramsym import D
    >>> rotary = RotaryPositions(D)
    >>> rotary.params, rotary.shapes(buffers=True), RotaryPositions(D, stored="persistent").shapes(buffers=True)
    (0, {}, {'inv_freq': (D/2,)})
    """

    dim: Dim
    base: float = 10000.0
    stored: Literal["buffer", "persistent", "computed"] = "buffer"

    def tensors(self) -> Iterator[Tensor]:
        if self.stored != "computed":
            persistent = self.stored == "persistent"
            yield Tensor("inv_freq", (divides(2, self.dim, "2", "dim"),), role="table", buffer=True, persistent=persistent)

    def conditions(self) -> None:
        """Features are rotated in pairs, even if nothing is stored."""
        divides(2, self.dim, "2", "dim")

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - the frequencies follow from the base
        """The first ``dim`` features of every head, rotated by halves: (batch, positions, heads, width), or without heads."""
        if x.rank not in {3, 4}:
            raise RankError(f"wanted (batch, positions, heads, width), or (batch, positions, width); found {x.rank} axes, {text(x.sizes)}.")
        apart = x if x.rank == 4 else ops.rearrange(x, "b s d -> b s () d")
        rest = canonical(x.sizes[-1] - self.dim)
        turned, *still = ops.segments(apart, self.dim, rest) if rest != 0 else (apart,)
        turned = ops.rotate(turned, *ops.rotation(x.sizes[1], self.dim, self.base))
        whole = ops.join(turned, *still) if still else turned
        return whole if x.rank == 4 else ops.take(whole, 2)


@dataclass(frozen=True)
class RelativeBias(Layer):
    """A bias for each head's scores by the distance between two tokens.

    =========== ============================================================= ==========================================
    kind        stored                                                        source
    =========== ============================================================= ==========================================
    ``"t5"``    ``relative_attention_bias.weight``, (num_buckets, num_heads)  Raffel et al. 2020, section 2.1
    ``"swin"``  ``relative_position_bias_table``,                             Liu et al. 2021, section 3.2
                ((2*h - 1)*(2*w - 1), num_heads) for a window of h by w
    ``"alibi"`` nothing: the slopes are fixed                                 Press et al. 2022, section 3
    =========== ============================================================= ==========================================

    The number of heads does not cancel here: it is the width of the table. Swin's ``relative_position_index``, (h*w*h*w,), is a buffer
    outside the state dict. ``num_buckets``, ``max_distance`` and ``bidirectional`` are T5's, ``window_size`` is Swin's: one size or (h, w).
    Reference: T5 and Swin of transformers.

    Raises:
        ArgumentError: Swin without a window, or a window without Swin.

    >>> from paramsym import A, dims
    >>> w = dims("w")
    >>> RelativeBias(A).params, RelativeBias(A, "swin", window_size=w).params, RelativeBias(A, "alibi").params
    (32*A, 4*A*w**2 - 4*A*w + A, 0)
    """

    num_heads: Dim
    kind: Literal["t5", "swin", "alibi"] = "t5"
    _: KW_ONLY
    num_buckets: Dim = 32
    max_distance: Dim = 128
    bidirectional: bool = True
    window_size: Dim | tuple[Dim, Dim] | None = None

    def conditions(self) -> None:
        if (self.kind == "swin") != (self.window_size is not None):
            wanted = "a window_size, as in window_size=7" if self.kind == "swin" else "no window_size, which is Swin's"
            raise ArgumentError(f"window_size is {self.window_size}; kind={self.kind!r} wants {wanted}.")

    def tensors(self) -> Iterator[Tensor]:
        if self.kind == "swin":
            height, width = per_axis(self.window_size, 2, "window_size")
            distances = (canonical(2 * height - 1), canonical(2 * width - 1))
            yield Tensor("relative_position_bias_table", (distances, self.num_heads), role="table")
            yield Tensor("relative_position_index", ((height, width, height, width),), role="table", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        if self.kind == "t5":
            yield Part("relative_attention_bias", Distances(self.num_buckets, self.num_heads))

    def forward(self, own: Own, scores: Value) -> Value:
        """The scores, (batch, heads, queries, keys), plus the biases."""
        scores, _ = ops.axes(scores, "batch heads queries keys", heads=self.num_heads)
        queries, keys = scores.sizes[2:]
        if self.kind == "alibi":
            slopes = ops.rearrange(ops.constant("alibi slopes", (self.num_heads,)), "a -> a () ()")
            return scores + slopes * ops.constant("distances", (queries, keys))
        if self.kind == "t5":
            options = (self.num_buckets, self.max_distance, self.bidirectional)
            bias = own.relative_attention_bias(ops.constant("t5 buckets", (queries, keys), *options, kind="index"))
        else:
            window = per_axis(self.window_size, 2, "window_size")
            bias = ops.lookup(own.relative_position_bias_table, ops.constant("swin index", (queries, keys), *window, kind="index"))
        return scores + ops.rearrange(bias, "q k a -> a q k")


@dataclass(frozen=True)
class Distances(Layer):
    """A table with one learned number per head and bucket of distances, looked up for every pair of positions: ``weight`` (buckets, heads).

    >>> from paramsym import A
    >>> Distances(32, A).params
    32*A
    """

    num_embeddings: Dim
    embedding_dim: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.num_embeddings, self.embedding_dim), role="table")

    def forward(self, own: Own, index: Value) -> Value:
        return ops.lookup(own.weight, index)
