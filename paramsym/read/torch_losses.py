"""Torch's losses by the names of their operators, whose reductions are numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paramsym.program import Value
from paramsym.program.losses import (
    Reduction,
    between,
    cosine,
    entropy,
    entropy_of_logits,
    huber,
    negative_likelihood,
    smooth,
    soft_margin,
    squared,
)
from paramsym.read.torch_entries import TORCH

_REDUCTIONS: tuple[Reduction, ...] = ("none", "mean", "sum")
"""Torch's numbers of the reductions."""


def _loss(name: str, kernel: Callable[..., Value]) -> None:
    """Register a loss of two arrays; ``kernel`` computes it entry by entry from the arrays and the settings."""

    @TORCH(name)
    def loss(self: Value, target: Value, reduction: int = 1, **rest: Any) -> Value:
        arrays = {key: one for key, one in rest.items() if isinstance(one, Value)}
        settings = {key: one for key, one in rest.items() if key not in arrays}

        def named(x: Value, y: Value, *more: Value) -> Value:
            return kernel(x, y, **settings, **dict(zip(arrays, more, strict=True)))

        return between(named, self, target, *arrays.values(), reduction=_REDUCTIONS[reduction])


_loss("mse_loss", squared)
_loss("huber_loss", huber)
_loss("smooth_l1_loss", smooth)
_loss("binary_cross_entropy", entropy)
_loss("binary_cross_entropy_with_logits", entropy_of_logits)
_loss("soft_margin_loss", soft_margin)


@TORCH("nll_loss_forward", "nll_loss2d_forward")
def _negative_likelihood(
    self: Value, target: Value, weight: Value | None = None, reduction: int = 1, ignore_index: int = -100
) -> tuple[Value, Value]:
    return negative_likelihood(self, target, weight, reduction=_REDUCTIONS[reduction], ignore_index=ignore_index)


@TORCH("cosine_similarity")
def _cosine(x1: Value, x2: Value, dim: int = 1, eps: float = 1e-8) -> Value:
    return cosine(x1, x2, dim, eps)
