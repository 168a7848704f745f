"""Losses with a margin: what is better than it costs nothing. They store nothing but weights of classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from paramsym import program as ops
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.losses import PairwiseDistance, Reduction, Shaped, weights_of

if TYPE_CHECKING:
    from paramsym.program import Own, Value

_TINY = 1e-12  # torch's bound of a squared length in CosineEmbeddingLoss


@dataclass(frozen=True)
class HingeEmbeddingLoss(Layer):
    """x for targets of 1, max(0, margin - x) for targets of -1. Reference: ``torch.nn.HingeEmbeddingLoss``."""

    margin: float = 1.0
    reduction: Reduction = "mean"

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002, ARG002 - torch's name; nothing is stored
        apart = ops.where(ops.compare(target, "not_equal", 1.0), _positive(self.margin - input), 0.0)
        near = ops.where(ops.compare(target, "not_equal", -1.0), input, 0.0)
        return ops.losses.reduced(apart + near, self.reduction)


@dataclass(frozen=True)
class MarginRankingLoss(Layer):
    """max(0, -y*(x1 - x2) + margin) for targets of 1 and -1. Reference: ``torch.nn.MarginRankingLoss``.

    >>> from paramsym import B, activations
    >>> activations(MarginRankingLoss(), (B,), (B,), (B,), input_gradients=True).total
    12*B
    """

    margin: float = 0.0
    reduction: Reduction = "mean"

    def forward(self, own: Own, input1: Value, input2: Value, target: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.losses.reduced(_positive(target * -1 * (input1 - input2) + self.margin), self.reduction)


@dataclass(frozen=True)
class CosineEmbeddingLoss(Layer):
    """1 - cos for targets of 1, max(0, cos - margin) for targets of -1. Reference: ``torch.nn.CosineEmbeddingLoss``.

    The inputs are (batch, width), the targets (batch,).
    """

    margin: float = 0.0
    reduction: Reduction = "mean"

    def forward(self, own: Own, input1: Value, input2: Value, target: Value) -> Value:  # noqa: ARG002 - nothing is stored
        lengths = (ops.reduce("sum", one * one) + _TINY for one in (input1, input2))
        first, second = lengths
        cosine = ops.reduce("sum", input1 * input2) / ops.apply("sqrt", first * second)
        near = ops.where(ops.compare(target, "equal", 1.0), 1 - cosine, 0.0)
        return ops.losses.reduced(
            near + ops.where(ops.compare(target, "equal", -1.0), _positive(cosine - self.margin), 0.0), self.reduction
        )


@dataclass(frozen=True)
class TripletMarginLoss(Layer):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin). Reference: ``torch.nn.TripletMarginLoss``.

    d is the norm of order ``p``; with ``swap``, the negative is compared with the nearer one of anchor and positive.

    Source: Balntas et al. 2016, "Learning shallow convolutional feature descriptors with triplet losses".
    """

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    reduction: Reduction = "mean"

    def forward(self, own: Own, anchor: Value, positive: Value, negative: Value) -> Value:  # noqa: ARG002 - nothing is stored
        near, far = self._distance(anchor, positive), self._distance(anchor, negative)
        if self.swap:
            far = ops.losses.smaller(far, self._distance(positive, negative))
        return ops.losses.reduced(_positive(near - far + self.margin), self.reduction)

    def _distance(self, x: Value, y: Value) -> Value:
        return ops.losses.norm(x - y + self.eps, float(self.p), (-1,))


@dataclass(frozen=True)
class TripletMarginWithDistanceLoss(Layer):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin). Reference: ``torch.nn.TripletMarginWithDistanceLoss``.

    ``distance_function`` is a layer of two arrays; None is ``PairwiseDistance()``. With ``swap``, the negative is compared with the nearer
    one of anchor and positive.

    >>> from paramsym import B, Bilinear, H
    >>> TripletMarginWithDistanceLoss(distance_function=Bilinear(H, H, 1)).params
    H**2 + 1
    """

    _: KW_ONLY
    distance_function: Layer | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: Reduction = "mean"

    def parts(self) -> Iterator[Part]:
        if self.distance_function is not None:
            yield Part("distance_function", self.distance_function)

    def forward(self, own: Own, anchor: Value, positive: Value, negative: Value) -> Value:
        def apart(x: Value, y: Value) -> Value:
            found: Value = PairwiseDistance().forward(own, x, y) if self.distance_function is None else own.distance_function(x, y)
            return found

        near, far = apart(anchor, positive), apart(anchor, negative)
        if self.swap:
            far = ops.losses.smaller(far, apart(positive, negative))
        return ops.losses.reduced(_positive(near + self.margin - far), self.reduction)


@dataclass(frozen=True)
class MultiLabelMarginLoss(Layer):
    """The sum over right classes y and wrong classes i of max(0, 1 - x[y] + x[i]), over the classes.

    The input is (batch, classes) or (classes,), the target the same shape: the numbers of the right classes, then a negative number, after
    which nothing is read. The backward pass needs one number for each class: whether it is right. Reference:
    ``torch.nn.MultiLabelMarginLoss``.

    >>> from paramsym import B, F, activations
    >>> activations(MultiLabelMarginLoss(), (B, F), (B, F), input_gradients=True).total
    4*B*F
    """

    reduction: Reduction = "mean"

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002, ARG002 - torch's name; nothing is stored
        return ops.losses.multi_label_margin(input, target, reduction=self.reduction)[0]


@dataclass(frozen=True)
class MultiMarginLoss(Layer):
    """The mean over the other classes of max(0, margin - x[y] + x[i])**p. Reference: ``torch.nn.MultiMarginLoss``.

    The input is (batch, classes), the target the number of the right class. ``p`` is 1 or 2, ``weight`` None, or the number of
    classes: then each class has a weight, stored in a buffer.

    Raises:
        ArgumentError: another ``p``.
    """

    p: Literal[1, 2] = 1
    margin: float = 1.0
    weight: Shaped = None
    reduction: Reduction = "mean"

    def conditions(self) -> None:
        if self.p not in {1, 2}:
            raise ArgumentError(f"p is {self.p!r}; wanted 1 or 2.")

    def tensors(self) -> Iterator[Tensor]:
        yield from weights_of(weight=self.weight)

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002 - torch's name
        weights = [own.weight] if self.weight is not None else []
        return ops.losses.multi_margin(input, target, *weights, power=self.p, margin=self.margin, reduction=self.reduction)


def _positive(x: Value) -> Value:
    return ops.apply("clip", x, 0.0, inf)
