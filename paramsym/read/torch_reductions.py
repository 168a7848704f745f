"""Torch's reductions, searches for the largest entries, running sums, softmaxes and norms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from paramsym.algebra.size import Count, canonical, product
from paramsym.program import Kept, Value, apply, best, cumulate, normalise, rearrange, reduce, region, softmax, take
from paramsym.program.conversions import cast
from paramsym.program.losses import length, norm
from paramsym.program.reductions import Reduction
from paramsym.program.types import Kind
from paramsym.read.operators import flat, reshaped
from paramsym.read.torch_entries import TORCH, combined

Given = Sequence[tuple[Count, ...]]


def _axes(x: Value, dim: Any) -> tuple[int, ...]:
    """Return the axes of a reduction; all of them if none is stated."""
    if dim is None or (isinstance(dim, tuple) and not dim):
        return tuple(range(x.rank))
    return tuple(x.type.axis(one) for one in (dim if isinstance(dim, tuple) else (dim,)))


def _reduced(name: Reduction, x: Value, dim: Any, keepdim: bool) -> Value:
    return reduce(name, x, *_axes(x, dim), keep=keepdim) if x.rank else x


def _reduction(name: Reduction) -> None:
    @TORCH(name)
    def reduction(self: Value, dim: Any = None, keepdim: bool = False, dtype: Kind | None = None) -> Value:
        return _reduced(name, self if dtype is None else cast(self, dtype), dim, keepdim)


_OF_NUMBERS: tuple[Reduction, ...] = ("sum", "mean", "amax", "amin", "prod")
for _name in _OF_NUMBERS:
    _reduction(_name)


def _truth(name: Reduction) -> None:
    @TORCH(name)
    def truth(self: Value, dim: Any = None, keepdim: bool = False) -> Value:
        return _reduced(name, self, dim, keepdim)


_OF_TRUTHS: tuple[Reduction, ...] = ("any", "all")
for _name in _OF_TRUTHS:
    _truth(_name)


def _extreme(theirs: str, of_two: Any, of_all: Reduction) -> None:
    @TORCH(theirs)
    def extreme(self: Value, dim: int | None = None, keepdim: bool = False, other: Value | None = None) -> Any:
        if other is not None:
            return combined(of_two, self, other)
        if dim is None:
            return _reduced(of_all, self, None, False)
        return _ranked(self, dim, 1, keepdim, least=theirs == "min")


_extreme("max", "maximum", "amax")
_extreme("min", "minimum", "amin")


def _ranked(x: Value, dim: int, rank: Count, keepdim: bool, *, least: bool) -> tuple[Value, Value]:
    """Return the entry of a rank along an axis, counted from 1, and its position."""
    axis = x.type.axis(dim)
    found = best(x, rank, axis, least=least)
    start = canonical(rank - 1)
    entries, positions = (take(one, axis, start, 1 if keepdim else None) for one in found)
    return entries, positions


@TORCH("aminmax")
def _aminmax(self: Value, dim: int | None = None, keepdim: bool = False) -> tuple[Value, Value]:
    return _reduced("amin", self, dim, keepdim), _reduced("amax", self, dim, keepdim)


@TORCH("median", "nanmedian")
def _median(self: Value, dim: int, keepdim: bool = False) -> Any:
    return _one_of(self, dim, canonical((self.sizes[dim] + 1) // 2), keepdim)


@TORCH("kthvalue")
def _kthvalue(self: Value, k: Any, dim: int = -1, keepdim: bool = False) -> Any:
    return _one_of(self, dim, k, keepdim)


def _one_of(x: Value, dim: int, rank: Count, keepdim: bool) -> Any:
    """Return the entry of a rank; torch keeps its position alone."""
    shape = x.type.with_axis(dim).sizes
    keeps = (Kept("own", factors=shape, kind="index"),)
    return region("ranked", lambda x: _ranked(x, dim, rank, keepdim, least=True), x, keeps=keeps)


def _place(name: str, *, least: bool) -> None:
    @TORCH(name)
    def place(self: Value, dim: int | None = None, keepdim: bool = False, *, given: Given) -> Value:
        x, axis = (flat(self), 0) if dim is None else (self, dim)
        return reshaped(_ranked(x, axis, 1, keepdim, least=least)[1], given[0])


_place("argmax", least=False)
_place("argmin", least=True)


@TORCH("topk", ignored="sorted")
def _topk(self: Value, k: Any, dim: int = -1, largest: bool = True) -> Any:
    return best(self, k, self.type.axis(dim), least=not largest)


@TORCH("sort", ignored="stable")
def _sort(self: Value, dim: int = -1, descending: bool = False) -> Any:
    axis = self.type.axis(dim)
    return best(self, self.sizes[axis], axis, least=not descending)


@TORCH("cumsum", "cumsum_")
def _cumsum(self: Value, dim: int, dtype: Kind | None = None) -> Value:
    return cumulate(self if dtype is None else cast(self, dtype), self.type.axis(dim))


@TORCH("cumprod", "cumprod_")
def _cumprod(self: Value, dim: int, dtype: Kind | None = None) -> Value:
    return cumulate(self if dtype is None else cast(self, dtype), self.type.axis(dim), "multiply")


# Statistics and lengths ----------------------------------------------------------------------------------------------------------


def _variance(x: Value, axes: Sequence[int], correction: Any, keepdim: bool) -> Value:
    apart = x - reduce("mean", x, *axes, keep=True)
    total = reduce("sum", apart * apart, *axes, keep=keepdim)
    number = canonical(product(x.sizes[axis] for axis in axes))
    return total / (number - int(1 if correction is None else correction))


def _spread(name: str, *, root: bool, mean: bool) -> None:
    @TORCH(name)
    def spread(self: Value, dim: Any = None, correction: Any = 1, unbiased: bool = True, keepdim: bool = False) -> Any:
        axes = _axes(self, dim)

        def kernel(x: Value) -> Value:
            found = _variance(x, axes, correction if unbiased else 0, keepdim)
            return apply("sqrt", found) if root else found

        y: Value = region("deviation", kernel, self, keeps=(Kept("taken"), *(Kept("given"),) * root))
        return (y, reduce("mean", self, *axes, keep=keepdim)) if mean else y


_spread("var", root=False, mean=False)
_spread("std", root=True, mean=False)
_spread("var_mean", root=False, mean=True)
_spread("std_mean", root=True, mean=True)


@TORCH("linalg_vector_norm", "norm")
def _norm(self: Value, ord: Any = None, p: Any = None, dim: Any = None, keepdim: bool = False, dtype: Kind | None = None) -> Value:
    order = next((float(one) for one in (ord, p) if one is not None), 2.0)
    x = self if dtype is None else cast(self, dtype)
    return norm(x, order, _axes(x, dim), keep=keepdim)


@TORCH("logsumexp")
def _logsumexp(self: Value, dim: Any, keepdim: bool = False) -> Value:
    axes = _axes(self, dim)

    def kernel(x: Value) -> Value:
        most = reduce("amax", x, *axes, keep=True)
        total = apply("log", reduce("sum", apply("exp", x - most), *axes, keep=True)) + most
        return total if keepdim else reduce("sum", total, *axes)

    return region("logsumexp", kernel, self, keeps=(Kept("taken"), Kept("given")))


@TORCH("_cdist_forward", ignored="compute_mode")
def _cdist(x1: Value, x2: Value, p: float) -> Value:
    def kernel(x: Value, y: Value) -> Value:
        lead = " ".join(f"a{n}" for n in range(x.rank - 2))
        left, right = rearrange(x, f"{lead} i d -> {lead} i () d"), rearrange(y, f"{lead} j d -> {lead} () j d")
        return length(left - right, p, (-1,), keep=False)

    return region("distances", kernel, x1, x2, keeps=(Kept("taken"), Kept("taken", 1), Kept("given")))


@TORCH("_softmax", "softmax")
def _softmax(self: Value, dim: int, half_to_float: bool = False, dtype: Kind | None = None) -> Value:
    return softmax(self if dtype is None else cast(self, dtype), self.type.axis(dim), wide=half_to_float)


@TORCH("_log_softmax", "log_softmax")
def _log_softmax(self: Value, dim: int, half_to_float: bool = False, dtype: Kind | None = None) -> Value:
    return softmax(self if dtype is None else cast(self, dtype), self.type.axis(dim), log=True, wide=half_to_float)


# Norms ---------------------------------------------------------------------------------------------------------------------------


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
