"""What training keeps for the loss of a classifier: the scores of all classes at every position, and what the loss makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from paramsym.algebra.size import Dim
from paramsym.arguments import known_word
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line
from paramsym.errors import ShapeError
from paramsym.measure.shares import Shares, share
from paramsym.program.graph import Program


@dataclass(frozen=True)
class Held:
    """An array that is held until the backward pass: one entry for each score, for each position, or only one.

    ``width`` is the bytes of an entry; None takes the bytes of a number. If the classes are ``split``, a device has its share of them.
    """

    name: str
    entries: Literal["scores", "positions", "one"]
    width: int | None = None
    split: bool = False


@dataclass(frozen=True)
class LossMemory:
    """A way to compute the loss, by the arrays that it holds until the backward pass, with its source."""

    name: str
    counts: str
    source: str
    held: tuple[Held, ...]
    wrong: str = "the gradient of the scores, and copies that live only while the loss is computed, are left out"


_LOGITS = Held("logits.output", "scores")
_CHUNKED = "scores are computed for a few positions at once; the gradient of the head's input is held in place of the input"
_LIGER = "Liger-Kernel v0.8.2, LigerFusedLinearCrossEntropyFunction; torch 2.13, linear_cross_entropy with LinearCrossEntropyOptions"
_CUT = "Wijmans et al. 2024, arXiv:2411.09009; ml-cross-entropy at d42911f, LinearCrossEntropyFunction"
LOSSES: Mapping[str, LossMemory] = {
    one.name: one
    for one in (
        LossMemory(
            "cross-entropy",
            "the logits, and the logarithms of their probabilities in the same format",
            "torch.nn.CrossEntropyLoss, as saved_tensors_hooks shows it; a caller has the logits, the model's output",
            (_LOGITS, Held("loss.logarithms", "scores"), Held("loss.weights in all", "one")),
        ),
        LossMemory(
            "cross-entropy-float32",
            "the logits, the logarithms of their probabilities in float32, and the shifted targets",
            "transformers 5.23, ForCausalLMLoss, as saved_tensors_hooks shows it; a caller has the logits, the model's output",
            (
                _LOGITS,
                Held("loss.logarithms", "scores", 4),
                Held("loss.targets", "positions", 8),
                Held("loss.weights in all", "one", 4),
            ),
        ),
        LossMemory(
            "vocab-parallel",
            "probabilities in float32, split over the devices of tensor parallelism; a mask and the targets",
            "Megatron-LM at d98e8a6, VocabParallelCrossEntropy: 4*s*b*v/t bytes of Korthikanti et al. 2022, arXiv:2205.05198, section 4.3",
            (
                Held("loss.probabilities", "scores", 4, split=True),
                Held("loss.mask", "positions", 1),
                Held("loss.targets", "positions", 8),
            ),
        ),
        LossMemory("chunked", _CHUNKED, _LIGER, (), "the scores of one chunk are left out, and the matrix's gradient"),
        LossMemory(
            "cut",
            "scores are computed again in the backward pass; one logarithm of a sum in float32 for each position",
            _CUT,
            (Held("loss.logarithms of sums", "positions", 4),),
        ),
    )
}
"""Ways to compute the cross entropy of a model's scores, by name."""


def loss_named(loss: bool | str, layer: Layer, usual: str = "") -> str:
    """Return the name of a loss: if ``loss`` is True, the ``usual`` one or that of the model, and "none" for a layer without scores.

    Raises:
        ArgumentError: an unknown name.
    """
    if loss is False:
        return "none"
    if loss is not True:
        named: str = known_word("loss", loss, (*LOSSES, "none"), ", True for the model's own, or False")
        return named
    own: str = getattr(layer.computed_as, "usual_loss", "none")
    return own if own == "none" else usual or own


def loss_in_words(loss: str, layer: Layer, shares: Shares) -> list[str]:
    """Return the name of the loss that is counted on a device, or that a model's logits and loss are not; nothing for other layers."""
    if loss != "none" and shares.holds("after"):
        return [loss]
    return [] if loss_named(True, layer) == "none" else ["without logits and loss"]


def of_loss(loss: str, program: Program, width: Dim, shares: Shares) -> Iterator[Line]:
    """Yield the bytes that a loss holds on one device; the scores are a program's first output, with the classes on the last axis.

    The first stage of a pipeline has no loss.

    Raises:
        ShapeError: an output without an axis of classes.
    """
    if loss == "none" or not shares.holds("after"):
        return
    scores = program.output_types[0]
    if not scores.shape or scores.kind != "float":
        raise ShapeError(f"a loss needs scores of shape (..., classes), but the output is {scores}; leave the loss out with loss=False.")
    entries: dict[str, tuple[Dim, ...]] = {"scores": scores.sizes, "positions": scores.sizes[:-1], "one": ()}
    for one in LOSSES[loss].held:
        over = (*((shares.tensor,) if one.split else ()), *((shares.context,) if one.entries != "one" else ()))
        factors = (*(share(devices) for devices in over), width if one.width is None else one.width, *entries[one.entries])
        yield Line(tuple(one.name.split(".")), tuple(factor for factor in factors if factor != 1), role=one.entries)
