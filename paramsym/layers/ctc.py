"""Connectionist temporal classification: the loss of a sequence of labels whose places are not known."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.core.layer import Layer
from paramsym.errors import ShapeError
from paramsym.layers.losses import Reduction

if TYPE_CHECKING:
    from paramsym.program import Own, Value

_NEVER = -1e30
"""The logarithm of the probability of what cannot happen."""


@dataclass(frozen=True)
class CTCLoss(Layer):
    """The negative logarithm of the probability of a sequence of labels, in all its alignments. Reference: ``torch.nn.CTCLoss``.

    The inputs are the logarithms of probabilities (positions, batch, classes), the labels (batch, longest), the positions of every example
    (batch,) and its labels (batch,). ``blank`` is the class between labels. With ``zero_infinity`` an impossible sequence costs nothing.
    The backward pass needs the probability of every prefix of the labels and blanks, 2*longest + 1, at every position.

    Source: Graves et al. 2006, "Connectionist temporal classification", section 4.

    >>> from paramsym import B, S, V, activations, dims
    >>> n = dims("n")
    >>> activations(CTCLoss(reduction="sum"), (S, B, V), (B, n), (B,), (B,), input_gradients=True).total
    8*B*S*n + 4*B*S + 4*B
    """

    blank: int = 0
    reduction: Reduction = "mean"
    zero_infinity: bool = False

    def forward(self, own: Own, log_probs: Value, targets: Value, input_lengths: Value, target_lengths: Value) -> Value:  # noqa: ARG002 - nothing is stored
        if log_probs.rank != 3 or targets.rank != 2:
            message = f"the inputs are {log_probs.type} and {targets.type}; wanted (positions, batch, classes) and (batch, labels)."
            raise ShapeError(message)
        positions, batch, _ = log_probs.sizes
        prefixes = ops.Kept("own", factors=(batch, positions, 2 * targets.sizes[1] + 1), wanted=(0,))
        keeps = (ops.Kept("taken"), ops.Kept("taken", 1), ops.Kept("given", wanted=(0,)), prefixes)
        found = ops.region("loss", self._likelihood, log_probs, targets, input_lengths, target_lengths, keeps=keeps)
        if self.zero_infinity:
            found = ops.where(ops.compare(found, "not_equal", inf), found, 0.0)
        if self.reduction == "mean":
            found = found / ops.apply("clip", ops.conversions.cast(ops.still(target_lengths), "float"), 1.0, inf)
        return ops.losses.reduced(found, self.reduction)

    def _likelihood(self, log_probs: Value, targets: Value, input_lengths: Value, target_lengths: Value) -> Value:
        """There is a blank before, between and after the labels; different labels may also follow each other without a blank."""
        places = 2 * targets.sizes[1] + 1
        labels = ops.rearrange(ops.pad(ops.rearrange(targets, "b n -> b n ()"), ((1, 0),), value=float(self.blank)), "b n two -> b (n two)")
        labels = ops.pad(labels, ((0, 1),), value=float(self.blank))
        differs = ops.compare(labels - _later(labels, 2, float(self.blank)), "not_equal", 0.0)
        at_every_place = ops.pick(log_probs, ops.copies(ops.rearrange(labels, "b n -> () b n"), log_probs.sizes[0], axis=0))
        # Before the first position, the path is at the first blank.
        at_first = ops.compare(ops.constant("positions", (places,)), "less", 1.0)
        start = ops.conversions.cast(labels * 0, "float") + ops.where(at_first, ops.constant("zeros", (places,)), _NEVER)

        def step(before: Value, here: Value, time: Value) -> tuple[Value]:
            one, two = _later(before, 1, _NEVER), ops.where(differs, _later(before, 2, _NEVER), _NEVER)
            ways = ops.join(*(ops.rearrange(way, "b n -> b n ()") for way in (before, one, two)))
            goes_on = ops.compare(ops.rearrange(input_lengths, "b -> b ()") - time, "greater", 0.0)
            return (ops.where(goes_on, _log_sum(ways) + here, before),)

        (last,) = ops.scan(step, (start,), at_every_place, ops.constant("positions", (log_probs.sizes[0],)), axis=0)
        label = ops.rearrange(target_lengths * 2 - 1, "b -> b ()")
        on_label = ops.where(
            ops.compare(label, "greater", 0.0), ops.pick(last, ops.conversions.cast(ops.apply("clip", label, 0, inf), "index")), _NEVER
        )
        found = _log_sum(ops.join(on_label, ops.pick(last, label + 1))) * -1
        return ops.where(ops.compare(found, "less", -_NEVER / 2), found, inf)


def _later(x: Value, by: int, fill: float) -> Value:
    """Move the entries of the last axis to later places."""
    return ops.pad(x, ((by, -by),), value=fill)


def _log_sum(x: Value) -> Value:
    """Return the logarithm of the sum of exponentials over the last axis."""
    most = ops.reduce("amax", x, keep=True)
    return ops.apply("log", ops.reduce("sum", ops.apply("exp", x - most))) + ops.rearrange(most, "... () -> ...")
