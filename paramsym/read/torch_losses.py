"""Torch's losses; each is one kernel, which keeps what it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paramsym.program import Kept, Value, apply, compare, lookup, pick, reduce, region, where
from paramsym.program.conversions import cast
from paramsym.read.operators import moved, reshaped
from paramsym.read.torch_entries import TORCH, combined

_MEAN, _SUM = 1, 2
"""Torch's numbers of the reductions; 0 is none."""


def _reduced(x: Value, reduction: int) -> Value:
    return x if reduction not in {_MEAN, _SUM} else reduce("mean" if reduction == _MEAN else "sum", x, *range(x.rank))


def _loss(name: str, kernel: Callable[..., Value]) -> None:
    """Register a loss of two arrays; ``kernel`` computes it entry by entry from the arrays and the settings."""

    @TORCH(name)
    def loss(self: Value, target: Value, reduction: int = _MEAN, **rest: Any) -> Value:
        arrays = {key: one for key, one in rest.items() if isinstance(one, Value)}
        settings = {key: one for key, one in rest.items() if key not in arrays}

        def body(x: Value, y: Value, *more: Value) -> Value:
            return _reduced(kernel(x, y, **settings, **dict(zip(arrays, more, strict=True))), reduction)

        keeps = tuple(Kept("taken", n) for n in range(2 + len(arrays)))
        return region("loss", body, self, target, *arrays.values(), keeps=keeps)


def _squared(x: Value, y: Value) -> Value:
    return apply("square", x - y)


def _huber(x: Value, y: Value, delta: float = 1.0) -> Value:
    apart = apply("abs", x - y)
    return where(compare(apart, "less_equal", delta), apply("square", apart) * 0.5, (apart - 0.5 * delta) * delta)


def _smooth(x: Value, y: Value, beta: float = 1.0) -> Value:
    apart = apply("abs", x - y)
    return apart if beta == 0 else where(compare(apart, "less", beta), apply("square", apart) * (0.5 / beta), apart - 0.5 * beta)


def _entropy(x: Value, y: Value, weight: Value | None = None) -> Value:
    found = (y * _bounded_log(x) + (1 - y) * _bounded_log(1 - x)) * -1
    return found if weight is None else found * weight


def _bounded_log(x: Value) -> Value:
    return combined("maximum", apply("log", x), -100.0)


def _entropy_of_logits(x: Value, y: Value, weight: Value | None = None, pos_weight: Value | None = None) -> Value:
    # -log(sigmoid(x)) is softplus(-x); (1 - y) of the negative class costs x more.
    positive = 1.0 if pos_weight is None else 1 + (pos_weight - 1) * y
    found = (1 - y) * x + apply("softplus", x * -1) * positive
    return found if weight is None else found * weight


def _soft_margin(x: Value, y: Value) -> Value:
    return apply("softplus", x * y * -1)


_loss("mse_loss", _squared)
_loss("huber_loss", _huber)
_loss("smooth_l1_loss", _smooth)
_loss("binary_cross_entropy", _entropy)
_loss("binary_cross_entropy_with_logits", _entropy_of_logits)
_loss("soft_margin_loss", _soft_margin)


@TORCH("nll_loss_forward", "nll_loss2d_forward")
def _negative_likelihood(
    self: Value, target: Value, weight: Value | None = None, reduction: int = _MEAN, ignore_index: int = -100
) -> tuple[Value, Value]:
    """The negative logarithm of the right class, and the weights in all; classes are the second axis, or the only one."""

    def body(x: Value, target: Value, *weights: Value) -> tuple[Value, Value]:
        classes_axis = 0 if x.rank == 1 else 1
        last = moved(x, [*(n for n in range(x.rank) if n != classes_axis), classes_axis])
        counted = compare(target, "not_equal", float(ignore_index))
        classes = where(counted, target, 0.0)
        each = cast(counted, "float") if not weights else where(counted, lookup(weights[0], classes), 0.0)
        found = reshaped(pick(last, reshaped(classes, (*target.sizes, 1))), target.sizes) * each * -1
        total = reduce("sum", each, *range(each.rank)) if each.rank else each
        if reduction not in {_MEAN, _SUM}:
            return found, total
        summed = reduce("sum", found, *range(found.rank)) if found.rank else found
        return (summed / total if reduction == _MEAN else summed), total

    weights = () if weight is None else (weight,)
    keeps = (*(Kept("taken", n) for n in range(2 + len(weights))), Kept("given", 1))
    found: tuple[Value, Value] = region("loss", body, self, target, *weights, keeps=keeps)
    return found
