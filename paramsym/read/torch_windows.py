"""Torch's operators with windows: convolutions, pooling, interpolation, unfolding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramsym.algebra.convolution import effective_kernel, transposed_length
from paramsym.algebra.size import Count, canonical, product
from paramsym.errors import NotYetError
from paramsym.layers.spatial import both_sides
from paramsym.program import (
    Value,
    convolve,
    convolve_transposed,
    fold,
    pool,
    pool_to,
    put,
    rearrange,
    reduce,
    resample,
    sample,
    unfold,
)
from paramsym.program.resampling import Beyond
from paramsym.read.operators import reshaped
from paramsym.read.torch_entries import TORCH

Given = Sequence[tuple[Count, ...]]


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
        y = convolve(input, weight, stride, both_sides(padding), dilation, groups)
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
        both_sides(_each(padding, rank)),
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
        both_sides(_each(padding, rank)),
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


@TORCH("fractional_max_pool2d", "fractional_max_pool3d", ignored="random_samples")
def _fractional_max(self: Value, kernel_size: Sequence[Any], output_size: Sequence[Any]) -> Any:
    return pool_to("max", self, tuple(output_size), tuple(kernel_size), indices=True)


def _upsampling(name: str, mode: Any, rank: int) -> None:
    @TORCH(name, ignored="output_size")
    def upsampled(
        self: Value,
        align_corners: bool = False,
        scales: Any = None,
        scales_d: Any = None,
        scales_h: Any = None,
        scales_w: Any = None,
        *,
        given: Given,
    ) -> Value:
        stated = {1: (scales,), 2: (scales_h, scales_w), 3: (scales_d, scales_h, scales_w)}[rank]
        return resample(mode, self, given[0][2:], stated, aligned=align_corners)


for _rank, _places in ((1, "1d"), (2, "2d"), (3, "3d")):
    _upsampling(f"upsample_nearest{_places}", "nearest", _rank)
    _upsampling(f"_upsample_nearest_exact{_places}", "nearest-exact", _rank)
_upsampling("upsample_linear1d", "linear", 1)
_upsampling("upsample_bilinear2d", "linear", 2)
_upsampling("upsample_trilinear3d", "linear", 3)
_upsampling("upsample_bicubic2d", "cubic", 2)


@TORCH("im2col")
def _im2col(self: Value, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    seen = unfold(self, kernel_size, stride, both_sides(padding), dilation)
    return rearrange(seen, "b c h w p q -> b (c p q) (h w)")


@TORCH("col2im")
def _col2im(self: Value, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    places = [
        canonical((size + 2 * side - effective_kernel(kernel, gap)) // step + 1)
        for size, side, kernel, gap, step in zip(output_size, padding, kernel_size, dilation, stride, strict=True)
    ]
    apart = rearrange(self, "b (c p q) (h w) -> b c h w p q", p=kernel_size[0], q=kernel_size[1], h=places[0], w=places[1])
    return fold(apart, stride, padding, dilation, output_size)


def _unpooled(rank: int) -> None:
    @TORCH(f"max_unpool{rank}d", ignored="stride padding")
    def unpooled(self: Value, indices: Value, output_size: Sequence[Any]) -> Value:
        lead = self.sizes[: self.rank - rank]
        rows, places = (reshaped(one, (*lead, canonical(product(one.sizes[-rank:])))) for one in (self, indices))
        return reshaped(put(rows, places, canonical(product(output_size))), (*lead, *output_size))


_unpooled(2)
_unpooled(3)


@TORCH("grid_sampler_2d", "grid_sampler_3d", "grid_sampler")
def _grid_sample(input: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Value:
    if interpolation_mode > 1:
        raise NotYetError("bicubic sampling at points is not known.")
    beyond = _BEYOND[padding_mode]
    return sample(input, grid, "nearest" if interpolation_mode else "linear", beyond, aligned=align_corners)


_BEYOND: tuple[Beyond, ...] = ("zeros", "border", "reflection")
