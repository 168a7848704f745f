"""A softmax over a large vocabulary with fewer parameters for rarer words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sympy import Expr, Integer, Rational, floor

from paramsym import program as ops
from paramsym.algebra.size import Dim, canonical, within
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError, SizeError
from paramsym.layers.axes import widened
from paramsym.layers.dense import Dense

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class AdaptiveLogSoftmaxWithLoss(Layer):
    """An adaptive softmax (Grave et al. 2017): the frequent classes in a head, the others in clusters after ever narrower projections.

    ``cutoffs`` c_1 < ... < c_k split the classes; the head scores the first c_1 and the k clusters. Cluster i projects to
    h_i = floor(in_features / div_value**i) and from there to its c_{i+1} - c_i classes, the last one to n_classes - c_k. ``head.weight`` is
    (c_1 + k, in_features), ``head.bias`` (c_1 + k,) with ``head_bias``; ``tail.{i}.0.weight`` (h_i, in_features) and ``tail.{i}.1.weight``
    (classes, h_i), none with a bias. Sizes may be symbols; h_i then stays a floor. ``div_value`` is a number, as in torch, or an exact
    expression.

    Raises:
        ArgumentError: no cutoffs, or a ``div_value`` that is not a positive number.
        SizeError: cutoffs that do not increase from 1 to n_classes - 1; a projection of no width.

    Reference: ``torch.nn.AdaptiveLogSoftmaxWithLoss``.

    >>> from paramsym import H, V
    >>> AdaptiveLogSoftmaxWithLoss(H, V, (2000,)).params
    H*floor(H/4) + 2001*H + V*floor(H/4) - 2000*floor(H/4)
    >>> AdaptiveLogSoftmaxWithLoss(512, 10_000, (2000, 5000), head_bias=True).params
    1652946
    """

    in_features: Dim
    n_classes: Dim
    cutoffs: tuple[Dim, ...]
    div_value: float | Expr = 4.0
    head_bias: bool = False

    def conditions(self) -> None:
        if not self.cutoffs:
            raise ArgumentError("cutoffs is empty; wanted at least one, as in (2000, 10000).")
        if any(self._divisor(power + 1).is_positive is False for power in range(len(self.cutoffs))):
            raise ArgumentError(f"div_value is {self.div_value}; wanted a positive number.")
        for lower, upper in self._clusters:
            if not within(lower + 1, upper):
                message = f"cutoffs {self.cutoffs} with n_classes {self.n_classes}: wanted increasing cutoffs between 1 and n_classes - 1."
                raise SizeError(message)
        for cluster, width in enumerate(self.widths):
            if not within(1, width):
                raise SizeError(
                    f"in_features {self.in_features} divided by div_value {self.div_value}**{cluster + 1} leaves no width for cluster"
                    f" {cluster}; give fewer cutoffs or a smaller div_value."
                )

    @property
    def widths(self) -> tuple[Dim, ...]:
        """The width of each cluster's projection."""
        return tuple(canonical(floor(self.in_features / self._divisor(cluster + 1))) for cluster in range(len(self.cutoffs)))

    @property
    def _clusters(self) -> list[tuple[Dim, Dim]]:
        """The first class of each cluster, and the first one after it."""
        return list(pairwise((*self.cutoffs, self.n_classes)))

    def _divisor(self, power: int) -> Expr:
        """Return ``div_value**power`` exactly; the power of a float is a float, as in torch, and a float is a fraction.

        Python divides floats as exact fractions when it rounds down, so a floor gives torch's widths for symbols as well.
        """
        if isinstance(self.div_value, Expr | int):
            return Integer(1) * self.div_value**power
        try:
            return Rational(*(self.div_value**power).as_integer_ratio())
        except (OverflowError, ValueError):  # a power that no float holds, infinity, not a number
            return Integer(-1)

    def forward(self, own: Own, x: Value, target: Value | None = None) -> Value:
        """The log-probability of every example's target; without targets, of the first class.

        Every cluster is computed for all examples, an upper bound: the reference computes it only for examples with targets in it.
        """
        target = ops.constant("index zeros", ops.features(x, self.in_features).sizes[:-1], kind="index") if target is None else target
        head = ops.softmax(own.head(x), log=True)
        found = _of_class(head, target, 0, self.cutoffs[0])
        for cluster, (lower, upper) in enumerate(self._clusters):
            inside = ops.softmax(own[f"tail.{cluster}"](x), log=True)
            both = ops.take(head, -1, canonical(self.cutoffs[0] + cluster)) + _of_class(inside, target, lower, upper)
            found = ops.where(ops.compare(target, "greater_equal", lower), both, found)
        return found

    def parts(self) -> Iterator[Part]:
        yield Part("head", Dense(self.in_features, self.cutoffs[0] + len(self.cutoffs), bias=self.head_bias))
        clusters = (
            Sequential(Dense(self.in_features, width, bias=False), Dense(width, canonical(upper - lower), bias=False))
            for width, (lower, upper) in zip(self.widths, self._clusters, strict=True)
        )
        yield Part("tail", Sequential(*clusters))


def _of_class(scores: Value, target: Value, lower: Dim, upper: Dim) -> Value:
    """Return the score of every target among the classes from ``lower`` on; for a target outside, the score is arbitrary."""
    inside = ops.where(ops.compare(target, "less", upper), target - lower, 0)
    inside = ops.where(ops.compare(inside, "greater_equal", 0), inside, 0)
    return ops.take(ops.pick(scores, widened(inside)), -1)
