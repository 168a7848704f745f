"""Losses and distances of two arrays; each is one kernel of the reference, which keeps what it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, pi
from typing import Literal, TypeAlias

from paramsym.program.activations import apply
from paramsym.program.arithmetic import Combine
from paramsym.program.conditions import compare, where
from paramsym.program.constants import constant
from paramsym.program.conversions import cast
from paramsym.program.graph import Kept
from paramsym.program.lookups import lookup, pick
from paramsym.program.named_axes import rearrange
from paramsym.program.reductions import cumulate, reduce
from paramsym.program.slices import take
from paramsym.program.tracing import Value, record, region

Reduction: TypeAlias = Literal["none", "mean", "sum"]


def reduced(x: Value, reduction: Reduction) -> Value:
    """Return the mean or the sum of all entries, or the entries."""
    return x if reduction == "none" or not x.rank else reduce(reduction, x, *range(x.rank))


def between(kernel: Callable[..., Value], x: Value, y: Value, *more: Value, reduction: Reduction = "mean") -> Value:
    """Return a loss that is computed entry by entry; one kernel, which keeps all the arrays that it takes."""
    keeps = tuple(Kept("taken", n) for n in range(2 + len(more)))
    return region("loss", lambda *taken: reduced(kernel(*taken), reduction), x, y, *more, keeps=keeps)


def squared(x: Value, y: Value) -> Value:
    """Return (x - y)**2."""
    return apply("square", x - y)


def huber(x: Value, y: Value, delta: float = 1.0) -> Value:
    """Return half the square of x - y up to delta, and delta*(abs(x - y) - delta/2) beyond."""
    apart = apply("abs", x - y)
    return where(compare(apart, "less_equal", delta), apply("square", apart) * 0.5, (apart - 0.5 * delta) * delta)


def smooth(x: Value, y: Value, beta: float = 1.0) -> Value:
    """Return the square of x - y, over 2*beta, up to beta, and abs(x - y) - beta/2 beyond."""
    apart = apply("abs", x - y)
    return apart if beta == 0 else where(compare(apart, "less", beta), apply("square", apart) * (0.5 / beta), apart - 0.5 * beta)


def entropy(x: Value, y: Value, weight: Value | None = None) -> Value:
    """Return -(y*log(x) + (1 - y)*log(1 - x)); torch bounds logarithms by -100."""
    found = (y * _bounded_log(x) + (1 - y) * _bounded_log(1 - x)) * -1
    return found if weight is None else found * weight


def _bounded_log(x: Value) -> Value:
    return apply("clip", apply("log", x), -100.0, inf)


def entropy_of_logits(x: Value, y: Value, weight: Value | None = None, pos_weight: Value | None = None) -> Value:
    """Return the binary entropy of sigmoid(x): -log(sigmoid(x)) is softplus(-x), and 1 - y of the negative class costs x more."""
    positive = 1.0 if pos_weight is None else 1 + (pos_weight - 1) * y
    found = (1 - y) * x + apply("softplus", x * -1) * positive
    return found if weight is None else found * weight


def soft_margin(x: Value, y: Value) -> Value:
    """Return log(1 + exp(-x*y))."""
    return apply("softplus", x * y * -1)


def x_log_y(x: Value, y: Value) -> Value:
    """Return x*log(y), 0 where x is 0."""

    def kernel(x: Value, y: Value) -> Value:
        return where(compare(x, "equal", 0.0), constant("full", (), 0.0), x * apply("log", y))

    return region("xlogy", kernel, x, y, keeps=(Kept("taken"), Kept("taken", 1)))


def negative_likelihood(
    x: Value, target: Value, weight: Value | None = None, *, reduction: Reduction = "mean", ignore_index: int = -100
) -> tuple[Value, Value]:
    """Return the negative logarithm of the right class, and the weights in all; classes are the second axis, or the only one."""

    def body(x: Value, target: Value, *weights: Value) -> tuple[Value, Value]:
        classes_axis = 0 if x.rank == 1 else 1
        order = [*(n for n in range(x.rank) if n != classes_axis), classes_axis]
        last = rearrange(x, f"{' '.join(f'a{n}' for n in range(x.rank))} -> {' '.join(f'a{n}' for n in order)}") if x.rank > 1 else x
        counted = compare(target, "not_equal", float(ignore_index))
        classes = where(counted, target, 0.0)
        each = cast(counted, "float") if not weights else where(counted, lookup(weights[0], classes), 0.0)
        found = take(pick(last, rearrange(classes, "... -> ... ()")), -1, 0) * each * -1
        total = reduced(each, "sum")
        if reduction == "none":
            return found, total
        summed = reduced(found, "sum")
        return (summed / total if reduction == "mean" else summed), total

    weights = () if weight is None else (weight,)
    keeps = (*(Kept("taken", n) for n in range(2 + len(weights))), Kept("given", 1))
    found: tuple[Value, Value] = region("loss", body, x, target, *weights, keeps=keeps)
    return found


def cosine(x: Value, y: Value, dim: int = 1, eps: float = 1e-8) -> Value:
    """Return the cosine of two arrays along an axis.

    Torch keeps for each array the array itself, its length before and after the bound, and the other one with length 1.
    """
    axis = x.type.axis(dim)

    def unit(x: Value) -> Value:
        return x / apply("clip", apply("sqrt", reduce("sum", apply("square", x), axis, keep=True)), eps, inf)

    lengths = (Kept("own", factors=x.type.with_axis(axis, 1).sizes, kind="statistic"),) * 2
    keeps = tuple(
        replace(one, wanted=(n,)) for n, other in ((0, y), (1, x)) for one in (Kept("taken", n), *lengths, Kept("own", factors=other.sizes))
    )
    return region("cosine", lambda x, y: reduce("sum", unit(x) * unit(y), axis), x, y, keeps=keeps)


def norm(x: Value, order: float, axes: Sequence[int], *, keep: bool = False) -> Value:
    """Return the norm of an order over axes, as one kernel, which keeps what it takes and what it gives."""
    return region("norm", lambda x: length(x, order, axes, keep=keep), x, keeps=(Kept("taken"), Kept("given")))


def length(x: Value, order: float, axes: Sequence[int], *, keep: bool) -> Value:
    """Return the norm of an order over axes."""
    if order == 2.0:
        return apply("sqrt", reduce("sum", apply("square", x), *axes, keep=keep))
    if order == 0.0:
        return reduce("sum", cast(compare(x, "not_equal", 0.0), "float"), *axes, keep=keep)
    x = apply("abs", x)
    if order in {inf, -inf}:
        return reduce("amax" if order > 0 else "amin", x, *axes, keep=keep)
    return reduce("sum", x, *axes, keep=keep) if order == 1.0 else reduce("sum", x**order, *axes, keep=keep) ** (1 / order)


def counted(x: Value, target: Value, ignore_index: int) -> Value:
    """Return the entries of positions that count, and 0 elsewhere."""
    return where(compare(target, "not_equal", float(ignore_index)), x, 0.0)


def mean_of_counted(x: Value, target: Value, ignore_index: int) -> Value:
    """Return the sum of all entries over the number of positions that count."""
    return reduced(x, "sum") / reduced(cast(compare(target, "not_equal", float(ignore_index)), "index"), "sum")


def stirling(y: Value) -> Value:
    """Return Stirling's approximation of log(y!), and 0 up to 1."""
    found = y * apply("log", y) - y + apply("log", y * (2 * pi)) * 0.5
    return where(compare(y, "less_equal", 1.0), constant("full", (), 0.0), found)


def smaller(x: Value, y: Value) -> Value:
    """Return the smaller one of two arrays, entry by entry."""
    return record(Combine("minimum"), x, y)


def multi_label_margin(x: Value, target: Value, *, reduction: Reduction = "mean") -> tuple[Value, Value]:
    """Return the sum of max(0, 1 - x[y] + x[i]) over all right classes y and wrong classes i, over the classes, the last axis.

    The right classes are the numbers of ``target`` before its first negative one. The second result marks them.
    """

    def body(x: Value, target: Value) -> tuple[Value, Value]:
        classes = x.sizes[-1]
        listed = cumulate(cast(compare(target, "greater_equal", 0.0), "float"), -1, "multiply")
        right = pick(x, cast(apply("clip", target, 0, inf), "index"))
        numbers = constant("positions", (classes,), kind="index")
        same = cast(compare(rearrange(target, "... -> ... ()") - numbers, "equal", 0.0), "float")
        is_right = reduce("amax", same * rearrange(listed, "... -> ... ()"), -2)
        over = apply("clip", 1 - rearrange(right, "... -> ... ()") + rearrange(x, "... c -> ... () c"), 0.0, inf)
        counted = over * rearrange(listed, "... -> ... ()") * rearrange(1 - is_right, "... c -> ... () c")
        return reduced(reduce("sum", counted, -2, -1) / classes, reduction), is_right

    found: tuple[Value, Value] = region("loss", body, x, target, keeps=(Kept("taken"), Kept("taken", 1), Kept("given", 1)))
    return found


def multi_margin(
    x: Value, target: Value, weight: Value | None = None, *, power: int = 1, margin: float = 1.0, reduction: Reduction = "mean"
) -> Value:
    """Return the mean over the classes, the last axis, of max(0, margin - x[y] + x[i])**power, without the right class y."""

    def body(x: Value, target: Value, *weights: Value) -> Value:
        right = pick(x, rearrange(target, "... -> ... ()"))
        over = apply("clip", x - right + margin, 0.0, inf)
        over = over if power == 1 else apply("square", over)
        over = over if not weights else over * lookup(rearrange(weights[0], "c -> c ()"), target)
        own = margin**power if not weights else lookup(weights[0], target) * margin**power
        return reduced((reduce("sum", over) - own) / x.sizes[-1], reduction)

    weights = () if weight is None else (weight,)
    found: Value = region("loss", body, x, target, *weights, keeps=tuple(Kept("taken", n) for n in range(2 + len(weights))))
    return found
