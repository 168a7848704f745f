"""Torch's operators that gather, scatter and look up: entries by indices, writing at indices, the places of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from paramsym.algebra.size import Count
from paramsym.errors import NotYetError
from paramsym.program import Kept, Value, choose, contract, cumulate, lookup, pick, rearrange, region, take, where
from paramsym.program.conversions import cast
from paramsym.program.lookups import Bags, Search
from paramsym.program.routing import How, at, counts, groups_of, put_at
from paramsym.program.slices import Compact
from paramsym.program.tracing import record
from paramsym.read.operators import expanded, flat, reshaped
from paramsym.read.torch_entries import TORCH, filled
from paramsym.read.values import Found

Given = Sequence[tuple[Count, ...]]


@TORCH("embedding", ignored="padding_idx scale_grad_by_freq sparse")
def _embedding(weight: Value, indices: Value) -> Value:
    return lookup(weight, indices)


@TORCH("_embedding_bag", "_embedding_bag_forward_only", ignored="scale_grad_by_freq sparse padding_idx")
def _embedding_bag(
    weight: Value, indices: Value, offsets: Value, mode: int = 0, per_sample_weights: Value | None = None, include_last_offset: bool = False
) -> Value:
    if per_sample_weights is not None or include_last_offset or indices.rank != 1:
        raise NotYetError("bags of rows with weights, or with an end after the last one, are not known.")
    return record(Bags(_BAGS[mode]), weight, indices, offsets)


_BAGS: tuple[Literal["sum", "mean", "max"], ...] = ("sum", "mean", "max")


@TORCH("index_select")
def _index_select(self: Value, dim: int, index: Value, *, given: Given) -> Value:
    return _chosen(self, (self.type.axis(dim),), (_listed_once(index),), given[0])


def _listed_once(index: Value) -> Value:
    """Return positions along one axis; torch takes one position without an axis, too."""
    return reshaped(index, (1,)) if index.rank == 0 else index


@TORCH("index", "_unsafe_index")
def _index(self: Value, indices: Sequence[Value | None], *, given: Given) -> Value:
    return _chosen(self, *_listed(indices), given[0])


def _chosen(x: Value, axes: Sequence[int], positions: Sequence[Value], shape: Sequence[Count]) -> Value:
    """Return entries at arrays of positions; those of the first axis of numbers are rows of a table."""
    rows = tuple(axes) == (0,) and x.type.kind == "float" and positions[0].type.kind == "index"
    return lookup(x, *positions) if rows else at(x, positions, axes, shape)


def _listed(indices: Sequence[Value | None]) -> tuple[list[int], list[Value]]:
    """Return the axes that are indexed, and their arrays."""
    listed = {axis: one for axis, one in enumerate(indices) if one is not None}
    return list(listed), list(listed.values())


@TORCH("take")
def _take(self: Value, index: Value) -> Value:
    keeps = (Kept("taken"), Kept("taken", 1))
    return region("take", lambda x, index: at(flat(x), (index,), (0,), index.sizes), self, index, keeps=keeps)


@TORCH("gather", ignored="sparse_grad")
def _gather(self: Value, dim: int, index: Value) -> Value:
    axis = self.type.axis(dim)
    return pick(_cut(self, index, axis), index, axis)


@TORCH("take_along_dim")
def _take_along(self: Value, indices: Value, dim: int | None = None) -> Value:
    x, axis = (flat(self), 0) if dim is None else (self, self.type.axis(dim))
    return pick(x, record(Compact(), indices), axis)


def _cut(x: Value, index: Value, *but: int) -> Value:
    """Cut an array to the lengths of an array of indices, along all axes except those in ``but``."""
    for axis, size in enumerate(index.sizes):
        if axis not in but and x.sizes[axis] != size:
            x = take(x, axis, 0, size)
    return x


_HOW: dict[str, How] = {"sum": "add", "add": "add", "prod": "multiply", "multiply": "multiply", "amax": "maximum", "amin": "minimum"}


@TORCH("scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_")
def _scatter(
    self: Value,
    dim: int,
    index: Value,
    src: Value | None = None,
    value: Any = None,
    reduce: str | None = None,
    include_self: bool = True,
    *,
    operator: str,
) -> Value:
    how: How | None = "add" if operator.startswith("scatter_add") else "set" if reduce is None else _HOW.get(reduce)
    if how is None or not include_self:
        raise NotYetError(f"a scatter that takes {reduce!r}{'' if include_self else ' without the array itself'} is not known.")
    part = filled(index.sizes, value, self.type.kind) if src is None else _cut(src, index)
    return put_at(self, part, (index,), (self.type.axis(dim),), how=how, along=True)


@TORCH("index_add", "index_add_", "index_copy", "index_copy_")
def _index_add(self: Value, dim: int, index: Value, source: Value, alpha: Any = 1, *, operator: str) -> Value:
    how: How = "add" if operator.startswith("index_add") else "set"

    def kernel(x: Value, part: Value, index: Value) -> Value:
        return put_at(x, part if alpha == 1 else part * alpha, (index,), (x.type.axis(dim),), how=how)

    # Torch reads only the number of axes of the source.
    return region(operator, kernel, self, source, _listed_once(index), keeps=(Kept("taken", 1, wanted=(1,)), Kept("taken", 2)))


@TORCH("index_fill", "index_fill_")
def _index_fill(self: Value, dim: int, index: Value, value: Any) -> Value:
    part = value if isinstance(value, Value) else filled((), value, self.type.kind)
    return put_at(self, part, (index,), (self.type.axis(dim),))


@TORCH("masked_scatter", "masked_scatter_")
def _masked_scatter(self: Value, mask: Value, source: Value) -> Value:
    def kernel(x: Value, mask: Value, source: Value) -> Value:
        mask = expanded(mask, x.sizes)
        place = cumulate(cast(flat(mask), "index")) - 1  # entry n of the source goes to the n-th place
        return where(mask, reshaped(at(flat(source), (place,), (0,), place.sizes), x.sizes), x)

    return region("masked_scatter", kernel, self, mask, source, keeps=(Kept("taken", 1),))


@TORCH("index_put", "index_put_", "_index_put_impl", "_index_put_impl_", "_unsafe_index_put", ignored="unsafe")
def _index_put(self: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False) -> Value:
    if len(indices) == 1 and (mask := indices[0]) is not None and mask.type.kind == "truth" and values.rank == 0 and not accumulate:
        return where(_tailed(mask, self.rank), values, self)
    axes, positions = _listed(indices)
    return put_at(self, values, positions, axes, how="add" if accumulate else "set")


def _tailed(mask: Value, rank: int) -> Value:
    """Return an array with more last axes, of size 1."""
    words = " ".join(f"a{n}" for n in range(mask.rank))
    return mask if mask.rank == rank else rearrange(mask, f"{words} -> {words}{' ()' * (rank - mask.rank)}")


@TORCH("bucketize", ignored="out_int32")
def _bucketize(self: Value, boundaries: Value, right: bool = False) -> Value:
    return record(Search(right), boundaries, self)


@TORCH("searchsorted", ignored="out_int32")
def _searchsorted(
    sorted_sequence: Value,
    self: Value,
    right: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    if sorter is not None or sorted_sequence.rank != 1:
        raise NotYetError("a search in several sequences, or in one with an order of its own, is not known.")
    return record(Search(right or side == "right"), sorted_sequence, self)


@TORCH("nonzero")
def _nonzero(self: Value, *, given: Given) -> Value:
    return record(Found(tuple(given[0])), self)


@TORCH("histc")
def _histc(self: Value, bins: Any = 100, min: Any = 0, max: Any = 0) -> Value:
    if min != 0 or max != bins - 1:
        raise NotYetError("a histogram of other bins than whole numbers is not known.")
    return counts(self, bins)


@TORCH("_grouped_mm", ignored="out_dtype")
def _grouped(self: Value, mat2: Value, offs: Value | None = None, bias: Value | None = None) -> Value:
    if offs is None or mat2.rank != 3 or self.rank != 2:
        raise NotYetError("a grouped product of other forms than rows with the matrix of their group is not known.")

    def kernel(rows: Value, matrices: Value, ends: Value) -> Value:
        return contract("r i, r i o -> r o", rows, choose(matrices, groups_of(ends, rows.sizes[0])))

    keeps = (Kept("taken", 1, wanted=(0,)), Kept("taken", wanted=(1,)), Kept("taken", 2, kind="ends"))
    y: Value = region("grouped product", kernel, self, mat2, offs, keeps=keeps)
    return y if bias is None else y + bias
