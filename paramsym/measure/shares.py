"""How a model is split over devices in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Integer, Rational, ceiling, expand

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Dim, canonical, size
from paramsym.core.ledger import Line
from paramsym.errors import ArgumentError
from paramsym.measure.keeping import Stage, stage_of


@dataclass(frozen=True)
class Shares:
    """How a model is split over devices in training; each field is a number of devices.

    ``tensor`` splits matrices and the arrays between two of them (Shoeybi et al. 2019, section 3); with ``sequence`` the other arrays are
    split along the positions as well (Korthikanti et al. 2022, section 4.2.2). ``context`` splits all arrays along the positions.
    ``pipeline`` splits the repeated blocks into stages; the first stage, which is counted, has one input in progress for each stage: what
    is kept before the first block, such as the mask of the embedding's dropout, counts that often, and what follows the last block, with
    the loss, not at all (section 4.3; a letter means two stages or more). ``interleaved`` stages hold ``1 + (pipeline -
    1)/(pipeline*interleaved)`` of that (section 4.2.3). Of the stored parts that are not repeated, the first
    stage has those before the last block, such as the embedding; a final norm and a head are on the last stage, and a table that is tied to
    the head is on both. ``expert`` splits the experts of a
    mixture; a device computes for the positions that chose its own, a share of all on average. The devices of a group get the same inputs:
    those of other groups, in data parallelism, have inputs of their own.

    Raises:
        SizeError: an impossible number of devices.
        ArgumentError: interleaved stages without a pipeline.
    """

    tensor: Dim = 1
    sequence: bool = False
    context: Dim = 1
    pipeline: Dim = 1
    interleaved: Dim = 1
    expert: Dim = 1

    def __post_init__(self) -> None:
        for name in ("tensor", "context", "pipeline", "interleaved", "expert"):
            size(getattr(self, name), name)
        if self.interleaved != 1 and self.pipeline == 1:
            raise ArgumentError(f"interleaved is {self.interleaved}, but there is only one stage; give pipeline as well.")

    def factors(self, line: Line) -> Iterator[Dim]:
        """Yield the factors of a line of activations on one device."""
        stage, role = stage_of(line)
        if self.tensor != 1 and (self.sequence or role.startswith("split ")):
            yield share(self.tensor)
        if self.context != 1:
            yield share(self.context)
        if self.expert != 1 and of_experts(line):
            yield share(self.expert)
        if self.pipeline != 1 and stage == "before":
            yield self.pipeline
        if self.interleaved != 1 and (stage or _is_repeated(line)):
            stages, more = Integer(1) * self.pipeline, Integer(1) * self.interleaved
            yield expand(1 + 1 / more - 1 / (stages * more))

    def holds(self, stage: Stage) -> bool:
        """Return whether the first stage of a pipeline holds an array; what follows the last block is on the last stage."""
        return stage != "after" or self.pipeline == 1

    def words(self) -> list[str]:
        """Return what a cost says about the stage of a pipeline that it counts."""
        return [] if self.pipeline == 1 else [f"the first of {self.pipeline} stages"]

    def of_work(self, line: Line) -> Iterator[Dim]:
        """Yield the factors of a line of work on one device; what is not a product is split along the positions."""
        over = ((self.tensor, True), (self.context, True), (self.pipeline, _is_repeated(line)), (self.expert, of_experts(line)))
        yield from (share(devices) for devices, split in over if split and devices != 1)

    def of_weights(self, line: Line, *, matrix: bool) -> Iterator[Dim]:
        """Yield the factors of a stored tensor on one device; only a ``matrix`` is split by tensor parallelism."""
        over = ((self.tensor, matrix), (self.pipeline, _is_repeated(line)), (self.expert, of_experts(line)))
        yield from (share(devices) for devices, split in over if split and devices != 1)

    def of_cache(self, line: Line) -> Line:
        """Return the line of a cache on one device, which has whole heads of keys and values: ``ceiling(heads/tensor)``, so at least one.

        Latent vectors and states have no heads: every device of ``tensor`` has them all.
        """
        factors, axis = list(line.factors), _HEADS.get(str(line.path[-1]).removeprefix("cross "), 0)
        attends = axis != 0 and len(factors) > 3
        if attends and self.tensor != 1:
            factors[axis] = canonical(ceiling(factors[axis] * share(self.tensor)))
        over = ((self.context, attends), (self.pipeline, _is_repeated(line)))
        return line.but(factors=(*(share(devices) for devices, split in over if split and devices != 1), *factors))


_HEADS = {"key": -2, "value": -2, "keys": -3, "values": -3}
"""The axis of heads in caches: families have (batch, positions, heads, width), modules of transformers (batch, heads, positions, width)."""


def of_experts(line: Line) -> bool:
    """Return whether a line belongs to the experts of a mixture, which all mixtures call so."""
    return any(str(step).partition(".")[0] == "experts" for step in line.path)


def _is_repeated(line: Line) -> bool:
    return any(isinstance(step, Numbers) for step in line.path)


def share(devices: Dim) -> Dim:
    """Return one over the number of devices."""
    return Rational(1, devices) if isinstance(devices, int) else 1 / devices
