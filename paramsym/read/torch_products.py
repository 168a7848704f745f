"""Torch's products: matrices, Einstein sums, attention; and its reductions and norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramsym.algebra.size import Count, canonical, product
from paramsym.errors import NotYetError
from paramsym.program import (
    Kept,
    Mask,
    Value,
    apply,
    attend,
    best,
    contract,
    cumulate,
    normalise,
    rearrange,
    reduce,
    region,
    softmax,
)
from paramsym.program.conversions import cast
from paramsym.read.operators import moved, reshaped
from paramsym.read.torch_entries import TORCH, combined

Given = Sequence[tuple[Count, ...]]


@TORCH("linear")
def _linear(input: Value, weight: Value, bias: Value | None = None) -> Value:
    y = contract("... i, o i -> ... o", input, weight) if weight.rank == 2 else contract("... i, i -> ...", input, weight)
    return y if bias is None else y + bias


@TORCH("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul")
def _matmul(
    self: Value, other: Value | None = None, mat2: Value | None = None, vec: Value | None = None, tensor: Value | None = None
) -> Value:
    right = next(one for one in (other, mat2, vec, tensor) if one is not None)
    if right.rank == 1:
        return contract("... i, i -> ...", self, right)
    if self.rank == 1:
        return contract("i, ... i j -> ... j", self, right)
    return contract("... i k, ... k j -> ... i j", self, right)


@TORCH("addmm", "addmv", "baddbmm", "addbmm")
def _addmm(
    self: Value,
    mat1: Value | None = None,
    mat2: Value | None = None,
    mat: Value | None = None,
    vec: Value | None = None,
    batch1: Value | None = None,
    batch2: Value | None = None,
    beta: Any = 1,
    alpha: Any = 1,
) -> Value:
    left, right = next((a, b) for a, b in ((mat1, mat2), (mat, vec), (batch1, batch2)) if a is not None and b is not None)
    y = _matmul(left, right)
    y = y if alpha == 1 else y * alpha
    return y if beta == 0 else y + (self if beta == 1 else self * beta)


@TORCH("einsum")
def _einsum(equation: str, tensors: Sequence[Value], path: Any = None) -> Value:
    terms, _, result = equation.replace(" ", "").partition("->")
    listed = terms.split(",")
    if "->" not in equation:
        letters = sorted(letter for letter in set(terms) - set(",.") if terms.count(letter) == 1)
        result = ("..." if "..." in terms else "") + "".join(letters)
    if any(len(set(term.replace(".", ""))) != len(term.replace(".", "")) for term in listed):
        raise NotYetError(f"the Einstein sum {equation!r} with a letter twice in one term is not known.")
    values = list(tensors)
    if len(values) == 1:
        return _summed(values[0], listed[0], result)
    steps = list(path or ())
    while len(values) > 1:
        # Torch takes the pairs of a path from the list and puts their product at its end; without a path it goes from left to right.
        first, second = sorted((steps.pop(0), steps.pop(0))) if steps else (0, 1)
        others = [n for n in range(len(values)) if n not in {first, second}]
        after = result if not others else _kept(listed[first], listed[second], "".join(listed[n] for n in others) + result)
        joined = _pair(listed[first], listed[second], after, values[first], values[second])
        order = [*others, None] if path else [None, *others]
        values, listed = ([joined if n is None else values[n] for n in order], [after if n is None else listed[n] for n in order])
    return values[0]


def _pair(one: str, other: str, after: str, x: Value, y: Value) -> Value:
    """Return the product of two terms; without a sum it is taken entry by entry."""
    if set(one) | set(other) <= set(after) and "." not in one + other:
        x, y = (_aligned(value, term, after) for value, term in ((x, one), (y, other)))
        return x * y
    return contract(f"{_words(one)}, {_words(other)} -> {_words(after)}", x, y)


def _aligned(x: Value, term: str, after: str) -> Value:
    """Return an array with its axes in the order of a result, and axes of size 1 for the letters that it lacks."""
    return rearrange(x, f"{' '.join(term)} -> {' '.join(letter if letter in term else '()' for letter in after)}")


def _words(term: str) -> str:
    return " ".join(["...", *term.replace("...", "")] if term.startswith("...") else [*term.replace("...", "")] + ["..."] * ("..." in term))


def _kept(one: str, other: str, later: str) -> str:
    """Return the letters of a product of two terms that a later term or the result needs."""
    return "".join(letter for letter in dict.fromkeys((one + other).replace(".", "")) if letter in later)


def _summed(x: Value, term: str, result: str) -> Value:
    gone = [n for n, letter in enumerate(term) if letter not in result]
    y = reduce("sum", x, *gone) if gone else x
    left = [letter for letter in term if letter in result]
    return rearrange(y, f"{' '.join(left)} -> {' '.join(result)}")


@TORCH("scaled_dot_product_attention")
def _attention(
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    lead = query.sizes[:-3] if query.rank > 3 else ()
    if query.rank != 4:
        # Torch takes any number of leading axes; the vocabulary takes a batch and heads.
        flat = [_four(one) for one in (query, key, value)]
        mask = None if attn_mask is None else _four(attn_mask) if attn_mask.rank > 2 else attn_mask
        y = _attention(*flat, mask, dropout_p, is_causal, scale, enable_gqa)
        return reshaped(y, (*query.sizes[:-1], value.sizes[-1]))
    assert not lead or len(lead) == 1  # noqa: S101 - four axes
    q, k, v = (rearrange(one, "b a s d -> b s a d") for one in (query, key, value))
    mask_ = Mask(causal=True) if is_causal else Mask()
    bias = None
    if attn_mask is not None:
        words = " ".join(f"m{n}" for n in range(attn_mask.rank))
        bias = rearrange(attn_mask, f"{words} -> {'() ' * (4 - attn_mask.rank)}{words}") if attn_mask.rank < 4 else attn_mask
    y = attend(q, k, v, mask=mask_, scale=scale, bias=bias, dropout=dropout_p)
    return rearrange(y, "b s (a d) -> b a s d", a=query.sizes[1])


def _four(x: Value) -> Value:
    """Return an array with exactly four axes, the leading ones merged."""
    if x.rank == 4:
        return x
    if x.rank < 4:
        words = " ".join(f"a{n}" for n in range(x.rank))
        return rearrange(x, f"{words} -> {'() ' * (4 - x.rank)}{words}")
    return reshaped(x, (canonical(product(x.sizes[:-3])), *x.sizes[-3:]))


# Reductions ----------------------------------------------------------------------------------------------------------------------


def _axes(x: Value, dim: Any) -> tuple[int, ...]:
    if dim is None or (isinstance(dim, tuple) and not dim):
        return tuple(range(x.rank))
    return tuple(x.type.axis(one) for one in (dim if isinstance(dim, tuple) else (dim,)))


def _reduction(theirs: Sequence[str], ours: Any) -> None:
    @TORCH(*theirs)
    def reduction(self: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
        x = cast(self, "float") if dtype == "float" else self
        if x.rank == 0:
            return x
        return reduce(ours, x, *_axes(x, dim), keep=keepdim)


_reduction(("sum",), "sum")
_reduction(("mean",), "mean")
_reduction(("amax",), "amax")
_reduction(("amin",), "amin")
_reduction(("prod",), "prod")
_reduction(("any",), "any")
_reduction(("all",), "all")


def _extreme(name: Any, ours: Any) -> None:
    @TORCH(name)
    def extreme(self: Value, dim: Any = None, keepdim: bool = False, other: Value | None = None) -> Any:
        if other is not None:
            return combined(f"{name}imum", self, other)
        if dim is None:
            return reduce(ours, self, *_axes(self, None))
        entries, index = best(_last(self if name == "max" else -self, dim), 1)
        entries = reduce(ours, self, *_axes(self, dim), keep=keepdim)
        return entries, reshaped(index, entries.sizes)

    @TORCH(f"arg{name}", ignored="keepdim")
    def position(self: Value, dim: int | None = None, *, given: Given) -> Value:
        x = reshaped(self, (canonical(product(self.sizes)),)) if dim is None else self
        _, index = best(_last(x if name == "max" else -x, -1 if dim is None else dim), 1)
        return reshaped(index, given[0])


_extreme("max", "max")
_extreme("min", "min")


def _last(x: Value, dim: int) -> Value:
    """Return an array with an axis moved to the end."""
    axis = x.type.axis(dim)
    return moved(x, [*(n for n in range(x.rank) if n != axis), axis])


@TORCH("var")
def _var(self: Value, dim: Any = None, correction: Any = 1, unbiased: bool = True, keepdim: bool = False) -> Value:
    return _spread(self, dim, correction if unbiased else 0, keep=keepdim)


@TORCH("std")
def _std(self: Value, dim: Any = None, correction: Any = 1, unbiased: bool = True, keepdim: bool = False) -> Value:
    return _spread(self, dim, correction if unbiased else 0, keep=keepdim, root=True)


@TORCH("var_mean")
def _var_mean(self: Value, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    return _spread(self, dim, correction, keep=keepdim), reduce("mean", self, *_axes(self, dim), keep=keepdim)


def _spread(x: Value, dim: Any, correction: Any, *, keep: bool, root: bool = False) -> Value:
    """Return the variance or its root, by one kernel that keeps its input."""
    axes = _axes(x, dim)
    entries = canonical(product(x.sizes[axis] for axis in axes))

    def body(x: Value) -> Value:
        apart = x - reduce("mean", x, *axes, keep=True)
        y = reduce("sum", apart * apart, *axes, keep=keep) / canonical(entries - (1 if correction is None else correction))
        return apply("sqrt", y) if root else y

    return region("variance", body, x, keeps=(Kept("taken"), *(Kept("given"),) * root))


@TORCH("linalg_vector_norm", "norm", ignored="dtype")
def _norm(self: Value, ord: Any = 2, p: Any = None, dim: Any = None, keepdim: bool = False) -> Value:
    order = ord if p is None else p
    if order not in {1, 2, None}:
        raise NotYetError(f"a norm of order {order} is not known.")
    axes = _axes(self, dim)
    if order == 1:
        return reduce("sum", apply("abs", self), *axes, keep=keepdim)
    return region("length", lambda x: apply("sqrt", reduce("sum", x * x, *axes, keep=keepdim)), self, keeps=(Kept("taken"), Kept("given")))


@TORCH("_softmax", "softmax", ignored="half_to_float dtype")
def _softmax(self: Value, dim: int) -> Value:
    return softmax(self, self.type.axis(dim))


@TORCH("_log_softmax", "log_softmax", ignored="half_to_float dtype")
def _log_softmax(self: Value, dim: int) -> Value:
    return softmax(self, self.type.axis(dim), log=True)


@TORCH("cumsum", "cumsum_", ignored="dtype")
def _cumsum(self: Value, dim: int) -> Value:
    return cumulate(self, self.type.axis(dim))


@TORCH("topk", ignored="sorted")
def _topk(self: Value, k: Any, dim: int = -1, largest: bool = True) -> Any:
    if self.type.axis(dim) != self.rank - 1 or not largest:
        raise NotYetError("the smallest entries, or those along another axis than the last, are not known.")
    return best(self, k)


# Norms ---------------------------------------------------------------------------------------------------------------------------


@TORCH("native_layer_norm", "layer_norm", ignored="cudnn_enable")
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


@TORCH(
    "native_batch_norm",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training",
    "_native_batch_norm_legit_functional",
    "batch_norm",
    "cudnn_batch_norm",
    ignored="momentum cudnn_enabled",
)
def _batch_norm(
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None = None,
    running_var: Value | None = None,
    training: bool = False,
    eps: float = 1e-05,
) -> Value:
    ends = " ()" * (input.rank - 2)
    scale, shift, mean, variance = (
        None if one is None else rearrange(one, f"c -> c{ends}") for one in (weight, bias, running_mean, running_var)
    )
    if training or mean is None or variance is None:
        over = [axis for axis in range(input.rank) if axis != 1]
        return normalise(input, "layer", *over, eps=eps, scale=scale, shift=shift)
    return normalise(input, "given", eps=eps, scale=scale, shift=shift, given=(mean, variance), stored=True)


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
    ends = " ()" * (input.rank - 2)
    scale, shift = (None if one is None else rearrange(one, f"c -> c{ends}") for one in (weight, bias))
    if not use_input_stats and running_mean is not None and running_var is not None:
        given = tuple(rearrange(one, f"c -> c{ends}") for one in (running_mean, running_var))
        return normalise(input, "given", eps=eps, scale=scale, shift=shift, given=given)
    return normalise(input, "layer", *range(2, input.rank), eps=eps, scale=scale, shift=shift)


@TORCH("tril", "triu", ignored="self diagonal")
def _tril() -> Value:
    raise NotYetError("a triangle of an array that depends on the input is not known.")


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
