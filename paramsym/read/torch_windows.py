"""Torch's operators with windows: convolutions, pooling, interpolation, unfolding; and rows of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramsym.algebra.convolution import effective_kernel, transposed_length
from paramsym.algebra.size import Count, canonical
from paramsym.errors import NotYetError
from paramsym.program import (
    Value,
    choose,
    contract,
    convolve,
    convolve_transposed,
    fold,
    lookup,
    pick,
    pool,
    pool_to,
    rearrange,
    reduce,
    resample,
    unfold,
)
from paramsym.program.lookups import sort
from paramsym.program.routing import at, counts, groups_of, put_at
from paramsym.program.tracing import record
from paramsym.read.torch_entries import TORCH
from paramsym.read.values import Found

Given = Sequence[tuple[Count, ...]]


def _both(padding: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    return tuple((one, one) for one in padding)


def _each(value: Any, rank: int) -> tuple[Any, ...]:
    listed = tuple(value) if isinstance(value, tuple | list) else (value,)
    return listed * rank if len(listed) == 1 else listed


@TORCH("convolution", "_convolution", "convolution_overrideable")
def _convolution(
    input: Value,
    weight: Value,
    bias: Value | None,
    stride: Sequence[Any],
    padding: Sequence[Any],
    dilation: Sequence[Any],
    transposed: bool,
    output_padding: Sequence[Any],
    groups: Any,
) -> Value:
    rank = weight.rank - 2
    stride, padding, dilation, output_padding = (_each(one, rank) for one in (stride, padding, dilation, output_padding))
    if transposed:
        lengths = [
            transposed_length(length, kernel, step, 2 * side, gap, more)
            for length, kernel, step, side, gap, more in zip(
                input.sizes[2:], weight.sizes[2:], stride, padding, dilation, output_padding, strict=True
            )
        ]
        y = convolve_transposed(input, weight, stride, padding, dilation, lengths, groups)
    else:
        y = convolve(input, weight, stride, _both(padding), dilation, groups)
    return y if bias is None else y + rearrange(bias, "c -> c" + " ()" * rank)


@TORCH("max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices")
def _max_pool(self: Value, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False) -> Any:
    rank = len(kernel_size)
    step = stride or kernel_size
    return pool(
        "max",
        self,
        kernel_size,
        _each(step, rank),
        _both(_each(padding, rank)),
        dilation=_each(dilation, rank),
        ceil=ceil_mode,
        indices=True,
    )


@TORCH("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(
    self: Value,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Value:
    rank = len(kernel_size)
    step = stride or kernel_size
    return pool(
        "mean",
        self,
        kernel_size,
        _each(step, rank),
        _both(_each(padding, rank)),
        ceil=ceil_mode,
        whole=count_include_pad,
        divisor=divisor_override,
    )


@TORCH("adaptive_avg_pool1d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def _adaptive_mean(self: Value, output_size: Sequence[Any]) -> Value:
    rank = len(output_size)
    if all(size == 1 for size in output_size):
        return reduce("mean", self, *range(self.rank - rank, self.rank), keep=True)
    return pool_to("mean", self, tuple(output_size))


@TORCH("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def _adaptive_max(self: Value, output_size: Sequence[Any]) -> Any:
    return pool_to("max", self, tuple(output_size), indices=True)


def _upsampling(name: str, mode: Any, rank: int) -> None:
    @TORCH(name, ignored="output_size")
    def upsampled(
        self: Value | None = None,
        align_corners: bool = False,
        scales: Any = None,
        scales_d: Any = None,
        scales_h: Any = None,
        scales_w: Any = None,
        input: Any = None,
        scale_factors: Any = None,
        *,
        given: Given,
    ) -> Value:
        x = input if self is None else self
        stated = {1: (scales,), 2: (scales_h, scales_w), 3: (scales_d, scales_h, scales_w)}[rank]
        if scale_factors is not None:
            stated = tuple(scale_factors)
        return resample(mode, x, given[0][2:], stated, aligned=align_corners)


for _rank, _places in ((1, "1d"), (2, "2d"), (3, "3d")):
    _upsampling(f"upsample_nearest{_places}", "nearest", _rank)
    _upsampling(f"_upsample_nearest_exact{_places}", "nearest-exact", _rank)
_upsampling("upsample_linear1d", "linear", 1)
_upsampling("upsample_bilinear2d", "linear", 2)
_upsampling("upsample_trilinear3d", "linear", 3)
_upsampling("upsample_bicubic2d", "cubic", 2)


@TORCH("im2col")
def _im2col(self: Value, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    seen = unfold(self, kernel_size, stride, _both(padding), dilation)
    return rearrange(seen, "b c h w p q -> b (c p q) (h w)")


@TORCH("col2im")
def _col2im(self: Value, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    places = [
        canonical((size + 2 * side - effective_kernel(kernel, gap)) // step + 1)
        for size, side, kernel, gap, step in zip(output_size, padding, kernel_size, dilation, stride, strict=True)
    ]
    apart = rearrange(self, "b (c p q) (h w) -> b c h w p q", p=kernel_size[0], q=kernel_size[1], h=places[0], w=places[1])
    return fold(apart, stride, padding, dilation, output_size)


@TORCH("embedding", ignored="padding_idx scale_grad_by_freq sparse")
def _embedding(weight: Value, indices: Value) -> Value:
    return lookup(weight, indices)


@TORCH("index_select")
def _index_select(self: Value, dim: int, index: Value) -> Value:
    return _indexed(self, self.type.axis(dim), index)


@TORCH("index", "_unsafe_index")
def _index(self: Value, indices: Sequence[Value | None], *, given: Given) -> Value:
    listed = [(axis, one) for axis, one in enumerate(indices) if one is not None]
    if len(listed) == 1 and listed[0][1].type.kind == "index":
        return _indexed(self, *listed[0])
    return at(self, [one for _, one in listed], [axis for axis, _ in listed], given[0])


@TORCH("index_put", "index_put_", "_index_put_impl", "_index_put_impl_", ignored="unsafe")
def _index_put(self: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False) -> Value:
    listed = [(axis, one) for axis, one in enumerate(indices) if one is not None]
    return put_at(self, values, [one for _, one in listed], [axis for axis, _ in listed], add=accumulate)


@TORCH("index_add", "index_add_", "index_copy", "index_copy_", ignored="inplace")
def _index_add(self: Value, dim: int, index: Value, source: Value, alpha: Any = 1) -> Value:
    return put_at(self, source if alpha == 1 else source * alpha, [index], [self.type.axis(dim)], add=True)


@TORCH("nonzero")
def _nonzero(self: Value, *, given: Given) -> Value:
    return record(Found(tuple(given[0])), self)


@TORCH("sort", "argsort", ignored="stable")
def _sort(self: Value, dim: int = -1, descending: bool = False) -> Any:
    return sort(self, self.type.axis(dim), descending=descending)


@TORCH("histc")
def _histc(self: Value, bins: Any = 100, min: Any = 0, max: Any = 0) -> Value:
    if min != 0 or max != bins - 1:
        raise NotYetError("a histogram of other bins than whole numbers is not known.")
    return counts(self, bins)


@TORCH("_grouped_mm", ignored="out_dtype")
def _grouped(self: Value, mat2: Value, offs: Value | None = None, bias: Value | None = None) -> Value:
    if offs is None or mat2.rank != 3 or self.rank != 2:
        raise NotYetError("a grouped product of other forms than rows with the matrix of their group is not known.")
    y = contract("r i, r i o -> r o", self, choose(mat2, groups_of(offs, self.sizes[0])))
    return y if bias is None else y + bias


def _indexed(x: Value, axis: int, index: Value) -> Value:
    """Return the entries along an axis that an array of indices chooses."""
    if axis == 0:
        return lookup(x, index)
    words = [f"a{n}" for n in range(x.rank)]
    first = rearrange(x, f"{' '.join(words)} -> {' '.join([words[axis], *words[:axis], *words[axis + 1 :]])}")
    rows = lookup(first, index)
    more = [f"i{n}" for n in range(index.rank)]
    rest = [*words[:axis], *words[axis + 1 :]]
    return rearrange(rows, f"{' '.join([*more, *rest])} -> {' '.join([*rest[:axis], *more, *rest[axis:]])}")


@TORCH("gather", ignored="sparse_grad")
def _gather(self: Value, dim: int, index: Value) -> Value:
    axis = self.type.axis(dim)
    if axis == self.rank - 1:
        return pick(self, index)
    words = [f"a{n}" for n in range(self.rank)]
    swapped = list(words)
    swapped[axis], swapped[-1] = swapped[-1], swapped[axis]
    pattern = f"{' '.join(words)} -> {' '.join(swapped)}"
    return rearrange(pick(rearrange(self, pattern), rearrange(index, pattern)), pattern)
