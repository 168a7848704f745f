"""ONNX's operators with windows: convolutions, pooling, interpolation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sympy import floor

from paramsym.algebra.convolution import transposed_length
from paramsym.algebra.size import canonical
from paramsym.errors import NotYetError
from paramsym.program import Value, convolve, convolve_transposed, pool, rearrange, reduce, resample, sample
from paramsym.program.resampling import Interpolation
from paramsym.read.onnx_entries import ONNX, array, axis_in, exact
from paramsym.read.onnx_from_sizes import is_known, sizes


def _margins(pads: Sequence[int], rank: int, auto_pad: str) -> Any:
    """Return the margins (before, after) of every spatial axis; ONNX lists all beginnings first."""
    if auto_pad == "SAME_UPPER":
        return "same"
    if auto_pad == "SAME_LOWER":
        raise NotYetError("a padding with the odd entry in front is not known.")
    given = tuple(pads) if pads and auto_pad == "NOTSET" else (0,) * 2 * rank
    return tuple(zip(given[:rank], given[rank:], strict=True))


def _with_bias(y: Value, B: Any, rank: int) -> Value:
    return y if B is None else y + rearrange(array(B), "c -> c" + " ()" * rank)


@ONNX("Conv", ignored="kernel_shape")
def _conv(
    X: Any,
    W: Any,
    B: Any = None,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] = (),
    group: int = 1,
    pads: Sequence[int] = (),
    strides: Sequence[int] = (),
) -> Value:
    weight = array(W)
    rank = weight.rank - 2
    ones = (1,) * rank
    return _with_bias(convolve(array(X), weight, strides or ones, _margins(pads, rank, auto_pad), dilations or ones, group), B, rank)


@ONNX("ConvTranspose", ignored="kernel_shape")
def _conv_transpose(
    X: Any,
    W: Any,
    B: Any = None,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] = (),
    group: int = 1,
    output_padding: Sequence[int] = (),
    output_shape: Sequence[int] = (),
    pads: Sequence[int] = (),
    strides: Sequence[int] = (),
) -> Value:
    if auto_pad not in {"NOTSET", "VALID"} or output_shape:
        raise NotYetError("a transposed convolution whose padding follows from its lengths is not known.")
    x, weight = array(X), array(W)
    rank = weight.rank - 2
    ones = (1,) * rank
    strides, dilations, more, margins = strides or ones, dilations or ones, output_padding or (0,) * rank, _margins(pads, rank, auto_pad)
    lengths = [
        transposed_length(length, kernel, step, before + after, gap, extra)
        for length, kernel, step, (before, after), gap, extra in zip(
            x.sizes[2:], weight.sizes[2:], strides, margins, dilations, more, strict=True
        )
    ]
    before = [side for side, _ in margins]
    return _with_bias(convolve_transposed(x, weight, strides, before, dilations, lengths, group), B, rank)


@ONNX("MaxPool", ignored="storage_order")
def _max_pool(
    X: Any,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] = (),
    pads: Sequence[int] = (),
    strides: Sequence[int] = (),
    *,
    results: int,
) -> Any:
    if results > 1:
        raise NotYetError("the positions of maxima, counted over the batch, are not known.")
    rank = len(kernel_shape)
    ones = (1,) * rank
    margins = _margins(pads, rank, auto_pad)
    return pool("max", array(X), kernel_shape, strides or ones, margins, dilation=dilations or ones, ceil=bool(ceil_mode))


@ONNX("AveragePool")
def _average_pool(
    X: Any,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Sequence[int] = (),
    pads: Sequence[int] = (),
    strides: Sequence[int] = (),
) -> Any:
    rank = len(kernel_shape)
    ones = (1,) * rank
    margins = _margins(pads, rank, auto_pad)
    more = {"dilation": dilations or ones, "ceil": bool(ceil_mode), "whole": bool(count_include_pad)}
    return pool("mean", array(X), kernel_shape, strides or ones, margins, **more)


@ONNX("GlobalAveragePool")
def _global_mean(X: Any) -> Value:
    x = array(X)
    return reduce("mean", x, *range(2, x.rank), keep=True)


@ONNX("GlobalMaxPool")
def _global_max(X: Any) -> Value:
    x = array(X)
    return reduce("amax", x, *range(2, x.rank), keep=True)


_PLACES: Mapping[tuple[str, str], tuple[Interpolation, bool]] = {
    ("nearest", "asymmetric"): ("nearest", False),
    ("linear", "half_pixel"): ("linear", False),
    ("linear", "pytorch_half_pixel"): ("linear", False),
    ("linear", "align_corners"): ("linear", True),
    ("cubic", "half_pixel"): ("cubic", False),
    ("cubic", "pytorch_half_pixel"): ("cubic", False),
    ("cubic", "align_corners"): ("cubic", True),
}
"""The interpolations that are known, by the mode and the places of the entries."""


@ONNX("Resize", ignored="extrapolation_value keep_aspect_ratio_policy")
def _resize(
    X: Any,
    roi: Any = None,
    scales: Any = None,
    sizes: Any = None,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    antialias: int = 0,
    exclude_outside: int = 0,
    axes: Sequence[int] = (),
) -> Value:
    x = array(X)
    places = [axis_in(x, one) for one in axes] or list(range(x.rank))
    stated = _entries(scales) or (None,) * len(places)
    given = _entries(sizes)
    lengths = list(x.sizes)
    factors: list[Any] = [None] * x.rank
    for n, axis in enumerate(places):
        lengths[axis] = given[n] if given else canonical(floor(exact(stated[n]) * x.sizes[axis]))
        factors[axis] = None if given else stated[n]
    changed = [axis for axis in range(x.rank) if lengths[axis] != x.sizes[axis]]
    if not changed:
        return x
    found = _PLACES.get((mode, coordinate_transformation_mode))
    exactly = nearest_mode == "floor" or mode != "nearest"
    if found is None or not exactly or antialias or exclude_outside or abs(cubic_coeff_a + 0.75) > 1e-6:
        raise NotYetError(f"an interpolation {mode} with entries at {coordinate_transformation_mode} ({nearest_mode}) is not known.")
    first = min(changed)
    return resample(found[0], x, lengths[first:], factors[first:], aligned=found[1])


@ONNX("Upsample")
def _upsample(X: Any, scales: Any, mode: str = "nearest") -> Value:
    return _resize(X, None, scales, mode=mode, coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def _entries(x: Any) -> tuple[Any, ...]:
    return () if x is None or (is_known(x) and not x.size) else x if isinstance(x, tuple) else sizes(x)


@ONNX("GridSample")
def _grid_sample(X: Any, grid: Any, align_corners: int = 0, mode: str = "linear", padding_mode: str = "zeros") -> Value:
    words: Mapping[str, Any] = {"linear": "linear", "bilinear": "linear", "nearest": "nearest"}
    if mode not in words:
        raise NotYetError(f"a sampling by {mode} is not known.")
    beyond: Any = padding_mode
    return sample(array(X), array(grid), words[mode], beyond, aligned=bool(align_corners))
