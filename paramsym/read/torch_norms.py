"""Torch's softmaxes and norms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from paramsym.program import Kept, Value, apply, normalise, rearrange, reduce, region, softmax
from paramsym.program.conversions import cast
from paramsym.program.types import Kind
from paramsym.read.torch_entries import TORCH


@TORCH("_softmax", "softmax")
def _softmax(self: Value, dim: int, half_to_float: bool = False, dtype: Kind | None = None) -> Value:
    return softmax(self if dtype is None else cast(self, dtype), self.type.axis(dim), wide=half_to_float)


@TORCH("_log_softmax", "log_softmax")
def _log_softmax(self: Value, dim: int, half_to_float: bool = False, dtype: Kind | None = None) -> Value:
    return softmax(self if dtype is None else cast(self, dtype), self.type.axis(dim), log=True, wide=half_to_float)


@TORCH("native_layer_norm")
def _layer_norm(input: Value, normalized_shape: Sequence[Any], weight: Value | None, bias: Value | None, eps: float) -> Value:
    return normalise(input, "layer", *range(-len(normalized_shape), 0), eps=eps, scale=weight, shift=bias)


@TORCH("_fused_rms_norm", "rms_norm")
def _rms_norm(input: Value, normalized_shape: Sequence[Any], weight: Value | None = None, eps: float | None = None) -> Value:
    return normalise(input, "rms", *range(-len(normalized_shape), 0), eps=eps, scale=weight)


@TORCH("native_group_norm", ignored="N C HxW")
def _group_norm(input: Value, weight: Value | None, bias: Value | None, group: int, eps: float) -> Value:
    apart = rearrange(input, "b (g c) ... -> b g c ...", g=group)
    ends = " ()" * (input.rank - 2)
    scale, shift = (None if one is None else rearrange(one, f"(g c) -> g c{ends}", g=group) for one in (weight, bias))
    y = normalise(apart, "layer", *range(2, apart.rank), eps=eps, scale=scale, shift=shift)
    return rearrange(y, "b g c ... -> b (g c) ...")


@TORCH("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", ignored="momentum")
def _batch_norm(
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None = None,
    running_var: Value | None = None,
    training: bool = False,
    eps: float = 1e-5,
    trained: bool = False,
) -> Value:
    """Return a batch normalisation; one in evaluation is ``trained`` if a record says that training takes the statistics of the batch."""
    scale, shift, mean, variance = (None if one is None else _per_channel(one, input) for one in (weight, bias, running_mean, running_var))
    if training or mean is None or variance is None:
        over = [axis for axis in range(input.rank) if axis != 1]
        return normalise(input, "layer", *over, eps=eps, scale=scale, shift=shift)
    return normalise(input, "given", eps=eps, scale=scale, shift=shift, given=(mean, variance), stored=not trained)


@TORCH("instance_norm", ignored="momentum cudnn_enabled")
def _instance_norm(
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    use_input_stats: bool,
    eps: float,
) -> Value:
    scale, shift, *stored = (None if one is None else _per_channel(one, input) for one in (weight, bias, running_mean, running_var))
    given = [one for one in stored if one is not None and not use_input_stats]
    over = () if given else range(2, input.rank)

    def kernel(x: Value) -> Value:
        return normalise(x, "given" if given else "layer", *over, eps=eps, scale=scale, shift=shift, given=given)

    # Torch normalises one example with batch*channels channels; it repeats the scale and the stored statistics for every example.
    repeated = Kept("own", factors=input.sizes[:2], kind="statistic")
    scales = () if scale is None else (replace(repeated, kind="float"),)
    statistics = 2 * use_input_stats + 2 * (running_mean is not None)
    return region("instance norm", kernel, input, keeps=(Kept("taken", merged=((0, 1),)), *scales, *(repeated,) * statistics))


def _per_channel(x: Value, like: Value) -> Value:
    """Return an array of one number for each channel with the axes of (batch, channels, ...)."""
    return rearrange(x, "c -> c" + " ()" * (like.rank - 2))


@TORCH("_weight_norm_interface")
def _weight_norm(v: Value, g: Value, dim: int = 0) -> Value:
    over = [axis for axis in range(v.rank) if axis != v.type.axis(dim)]
    lengths = Kept("own", factors=g.sizes, kind="statistic")
    return region(
        "weight norm",
        lambda v, g: v * (g / apply("sqrt", reduce("sum", v * v, *over, keep=True))),
        v,
        g,
        keeps=(Kept("taken"), Kept("taken", 1), lengths),
    )
