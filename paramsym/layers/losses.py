"""Losses, distances and similarities: functions of two arrays, such as a prediction and its target; only weights of classes are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from math import inf, log, pi
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from paramsym import program as ops
from paramsym.algebra.size import Dim
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Reduction: TypeAlias = Literal["mean", "sum", "none"]
Shaped: TypeAlias = Dim | tuple[Dim, ...] | None
"""The shape of weights: a number of classes, a shape, or None for no weights."""


def weights_of(**shapes: Shaped) -> Iterator[Tensor]:
    """Yield the weights of a loss, which are buffers."""
    for name, shape in shapes.items():
        if shape is not None:
            yield Tensor(name, shape if isinstance(shape, tuple) else (shape,), role="statistic", buffer=True)


@dataclass(frozen=True)
class _Elementwise(Layer):
    """A loss of two arrays of one shape, entry by entry; ``kernel`` computes it with the settings that ``set_by`` names."""

    kernel: ClassVar[str]
    set_by: ClassVar[tuple[str, ...]] = ()

    reduction: Reduction = "mean"

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002, ARG002 - torch's name; nothing is stored
        settings = [getattr(self, name) for name in self.set_by]
        kernel = getattr(ops.losses, self.kernel)
        return ops.losses.between(lambda x, y: kernel(x, y, *settings), input, target, reduction=self.reduction)


@dataclass(frozen=True)
class MSELoss(_Elementwise):
    """The mean of (x - y)**2. Reference: ``torch.nn.MSELoss``.

    ``reduction`` is "mean", "sum" or "none". The backward pass needs both arrays, which others own.

    >>> from paramsym import B, H, output_shape
    >>> output_shape(MSELoss(), ((B, H), (B, H))), output_shape(MSELoss("none"), ((B, H), (B, H)))
    ((), (B, H))
    """

    kernel = "squared"


@dataclass(frozen=True)
class L1Loss(_Elementwise):
    """The mean of abs(x - y). Reference: ``torch.nn.L1Loss``.

    The backward pass needs the difference.

    >>> from paramsym import B, H, activations
    >>> activations(L1Loss(), (B, H), (B, H), input_gradients=True).total
    4*B*H
    """

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002, ARG002 - torch's name; nothing is stored
        return ops.losses.reduced(ops.apply("abs", input - target), self.reduction)


@dataclass(frozen=True)
class SmoothL1Loss(_Elementwise):
    """(x - y)**2/(2*beta) where x and y are nearer than ``beta``, abs(x - y) - beta/2 elsewhere. Reference: ``torch.nn.SmoothL1Loss``.

    Source: Girshick 2015, "Fast R-CNN", section 2.3, with beta 1.
    """

    beta: float = 1.0

    kernel = "smooth"
    set_by = ("beta",)


@dataclass(frozen=True)
class HuberLoss(_Elementwise):
    """(x - y)**2/2 up to a difference of ``delta``, delta*(abs(x - y) - delta/2) beyond. Reference: ``torch.nn.HuberLoss``."""

    delta: float = 1.0

    kernel = "huber"
    set_by = ("delta",)


@dataclass(frozen=True)
class SoftMarginLoss(_Elementwise):
    """log(1 + exp(-x*y)) for targets of 1 and -1. Reference: ``torch.nn.SoftMarginLoss``."""

    kernel = "soft_margin"


@dataclass(frozen=True)
class BCELoss(Layer):
    """The binary cross entropy of probabilities: -(y*log(x) + (1 - y)*log(1 - x)). Reference: ``torch.nn.BCELoss``.

    ``weight`` is the shape of the weights of the entries, a buffer, or None.
    """

    weight: Shaped = None
    reduction: Reduction = "mean"

    def tensors(self) -> Iterator[Tensor]:
        yield from weights_of(weight=self.weight)

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002 - torch's name
        weights = [own.weight] if self.weight is not None else []
        return ops.losses.between(ops.losses.entropy, input, target, *weights, reduction=self.reduction)


@dataclass(frozen=True)
class BCEWithLogitsLoss(Layer):
    """The binary cross entropy of sigmoid(x). Reference: ``torch.nn.BCEWithLogitsLoss``.

    ``weight`` and ``pos_weight`` are the shapes of the weights of the entries and of the positive classes, buffers, or None.
    """

    weight: Shaped = None
    reduction: Reduction = "mean"
    pos_weight: Shaped = None

    def tensors(self) -> Iterator[Tensor]:
        yield from weights_of(weight=self.weight, pos_weight=self.pos_weight)

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002 - torch's name
        names = [name for name in ("weight", "pos_weight") if getattr(self, name) is not None]

        def kernel(x: Value, y: Value, *more: Value) -> Value:
            return ops.losses.entropy_of_logits(x, y, **dict(zip(names, more, strict=True)))

        return ops.losses.between(kernel, input, target, *(own[name] for name in names), reduction=self.reduction)


@dataclass(frozen=True)
class MultiLabelSoftMarginLoss(Layer):
    """The mean over the classes of the binary cross entropy of sigmoid(x). Reference: ``torch.nn.MultiLabelSoftMarginLoss``.

    ``weight`` is None, or the number of classes: then each class has a weight, stored in a buffer.
    """

    weight: Shaped = None
    reduction: Reduction = "mean"

    def tensors(self) -> Iterator[Tensor]:
        yield from weights_of(weight=self.weight)

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002 - torch's name
        found = (target * ops.apply("logsigmoid", input) + (1 - target) * ops.apply("logsigmoid", input * -1)) * -1
        found = found if self.weight is None else found * own.weight
        return ops.losses.reduced(ops.reduce("sum", found) / input.sizes[-1], self.reduction)


@dataclass(frozen=True)
class PoissonNLLLoss(Layer):
    """exp(x) - y*x, or x - y*log(x + eps) without ``log_input``. Reference: ``torch.nn.PoissonNLLLoss``.

    ``full`` adds Stirling's approximation of log(y!) for targets above 1.
    """

    log_input: bool = True
    full: bool = False
    eps: float = 1e-8
    reduction: Reduction = "mean"

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002, ARG002 - torch's name; nothing is stored
        found = ops.apply("exp", input) - target * input if self.log_input else input - target * ops.apply("log", input + self.eps)
        return ops.losses.reduced(found + ops.losses.stirling(target) if self.full else found, self.reduction)


@dataclass(frozen=True)
class GaussianNLLLoss(Layer):
    """(log(v) + (x - y)**2/v)/2 for variances v of at least ``eps``. Reference: ``torch.nn.GaussianNLLLoss``.

    ``full`` adds log(2*pi)/2. Source: Nix and Weigend 1994, "Estimating the mean and variance of the target probability distribution".
    """

    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6
    reduction: Reduction = "mean"

    def forward(self, own: Own, input: Value, target: Value, var: Value) -> Value:  # noqa: A002, ARG002 - torch's name; nothing is stored
        bounded = ops.apply("clip", var, self.eps, inf)
        found = (ops.apply("log", bounded) + ops.apply("square", input - target) / bounded) * 0.5
        return ops.losses.reduced(found + log(2 * pi) / 2 if self.full else found, self.reduction)


@dataclass(frozen=True)
class KLDivLoss(Layer):
    """The divergence of Kullback and Leibler: y*(log(y) - x) for logarithms x of probabilities. Reference: ``torch.nn.KLDivLoss``.

    With ``log_target`` the targets are logarithms, too. The ``reduction`` "batchmean" divides the sum by the first extent.
    """

    reduction: Literal["mean", "sum", "none", "batchmean"] = "mean"
    log_target: bool = False

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002, ARG002 - torch's name; nothing is stored
        found = ops.apply("exp", target) * (target - input) if self.log_target else ops.losses.x_log_y(target, target) - target * input
        if self.reduction == "batchmean":
            return ops.losses.reduced(found, "sum") / input.sizes[0]
        return ops.losses.reduced(found, self.reduction)


@dataclass(frozen=True)
class _OfClasses(Layer):
    """A loss of scores or logarithms (batch, classes, ...), or (classes,), and the number of the right class at every position."""

    weight: Shaped = None
    ignore_index: int = -100
    reduction: Reduction = "mean"

    def tensors(self) -> Iterator[Tensor]:
        yield from weights_of(weight=self.weight)

    def _likelihood(self, own: Own, x: Value, target: Value) -> Value:
        weight = own.weight if self.weight is not None else None
        return ops.losses.negative_likelihood(x, target, weight, reduction=self.reduction, ignore_index=self.ignore_index)[0]


@dataclass(frozen=True)
class NLLLoss(_OfClasses):
    """-x[y], the negative logarithm of the probability of the right class. Reference: ``torch.nn.NLLLoss``.

    The input is (batch, classes, ...) or (classes,), the target the number of the right class at every position; positions with
    the number ``ignore_index`` are left out. ``weight`` is None, or the number of classes: then each class has a weight, stored in a
    buffer.

    >>> from paramsym import V
    >>> NLLLoss(V).params, NLLLoss(V).shapes(buffers=True)
    (0, {'weight': (V,)})
    """

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002 - torch's name
        return self._likelihood(own, input, target)


@dataclass(frozen=True)
class CrossEntropyLoss(_OfClasses):
    """The negative logarithm of the softmax of the right class. Reference: ``torch.nn.CrossEntropyLoss``.

    The input is (batch, classes, ...), or (classes,), the target the number of the right class at every position. ``weight`` is
    None, or the number of classes: then each class has a weight, stored in a buffer. The backward pass needs the logarithms of all
    probabilities: as many numbers as the input has. ``label_smoothing`` is a share of the target that all classes get (Szegedy et al.
    2016, section 7).

    Raises:
        ArgumentError: a ``label_smoothing`` outside 0 to 1, or one with weights of classes, which is not known yet.

    >>> from paramsym import B, V, activations
    >>> activations(CrossEntropyLoss(), (B, V), (B,), input_gradients=True).total
    4*B*V + 4
    >>> CrossEntropyLoss(V).params, CrossEntropyLoss(V).shapes(buffers=True)
    (0, {'weight': (V,)})
    """

    label_smoothing: float = 0.0

    def conditions(self) -> None:
        if not 0 <= self.label_smoothing <= 1:
            raise ArgumentError(f"label_smoothing is {self.label_smoothing}; a share is between 0 and 1.")
        if self.label_smoothing and self.weight is not None:
            raise ArgumentError("label_smoothing with weights of classes is not known yet; leave one of them out.")

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002 - torch's name
        axis = 0 if input.rank == 1 else 1
        x = ops.softmax(input, axis, log=True)
        found = self._likelihood(own, x, target)
        if not self.label_smoothing:
            return found
        return found * (1 - self.label_smoothing) + self._smoothed(x, target, axis)

    def _smoothed(self, x: Value, target: Value, axis: int) -> Value:
        """The mean over all classes of every position that counts."""
        every = ops.losses.counted(ops.reduce("sum", x, axis) * -1, target, self.ignore_index)
        share = self.label_smoothing / x.sizes[axis]
        if self.reduction == "mean":
            return ops.losses.mean_of_counted(every, target, self.ignore_index) * share
        return ops.losses.reduced(every, self.reduction) * share


@dataclass(frozen=True)
class LinearCrossEntropyLoss(Layer):
    """The cross entropy of scores, which the layer computes with its own matrix. Reference: ``torch.nn.LinearCrossEntropyLoss``.

    The input is (batch, ``in_features``) or (``in_features``,), the target the number of the right class, one of ``num_classes``. The other
    arguments are those of ``CrossEntropyLoss``. It computes all scores at once, as torch does without ``options``; a loss in chunks is
    ``memory(..., loss="chunked")``. torch's ``out_features``, for several losses at once, is not known yet.

    Raises:
        ArgumentError: a ``label_smoothing`` outside 0 to 1, or one with weights of classes, which is not known yet.

    >>> from paramsym import B, H, V, flops
    >>> LinearCrossEntropyLoss(H, V).shapes(), flops(LinearCrossEntropyLoss(H, V), (B, H), (B,)).total
    ({'linear.weight': (V, H)}, 2*B*H*V)
    """

    in_features: Dim
    num_classes: Dim
    _: KW_ONLY
    bias: bool = False
    reduction: Reduction = "mean"
    weight: Shaped = None
    ignore_index: int = -100
    label_smoothing: float = 0.0

    def conditions(self) -> None:
        self._loss.conditions()

    def tensors(self) -> Iterator[Tensor]:
        yield from weights_of(weight=self.weight)

    def parts(self) -> Iterator[Part]:
        yield Part("linear", Dense(self.in_features, self.num_classes, bias=self.bias))

    def forward(self, own: Own, input: Value, target: Value) -> Value:  # noqa: A002 - torch's name
        return self._loss.forward(own, own.linear(input), target)

    @property
    def _loss(self) -> CrossEntropyLoss:
        return CrossEntropyLoss(self.weight, self.ignore_index, self.reduction, self.label_smoothing)


@dataclass(frozen=True)
class CosineSimilarity(Layer):
    """The cosine along the axis ``dim``: x*y over both lengths, each at least ``eps``. Reference: ``torch.nn.CosineSimilarity``."""

    dim: int = 1
    eps: float = 1e-8

    def forward(self, own: Own, x1: Value, x2: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.losses.cosine(x1, x2, self.dim, self.eps)


@dataclass(frozen=True)
class PairwiseDistance(Layer):
    """The norm of order ``p`` of x - y + eps along the last axis. Reference: ``torch.nn.PairwiseDistance``."""

    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False

    def forward(self, own: Own, x1: Value, x2: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.losses.norm(x1 - x2 + self.eps, float(self.p), (-1,), keep=self.keepdim)
