"""How a model is split over devices in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Integer, Rational, expand

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Dim, size
from paramsym.core.ledger import Line
from paramsym.errors import ArgumentError


@dataclass(frozen=True)
class Shares:
    """How a model is split over devices in training; each field is a number of devices.

    ``tensor`` splits matrices and the arrays between two of them (Shoeybi et al. 2019, section 3); with ``sequence`` the other arrays are
    split along the positions as well (Korthikanti et al. 2022, section 4.2.2). ``context`` splits all arrays along the positions.
    ``pipeline`` splits the repeated blocks into stages; the first stage, which is counted, has one example in progress for each stage;
    ``interleaved`` stages hold ``1 + (pipeline - 1)/(pipeline*interleaved)`` of that (section 4.2.3). Parts that are not repeated count
    fully. ``expert`` splits the experts of a mixture; a device computes for the positions that chose its own, a share of all on average.
    The devices of a group get the same inputs: those of other groups, in data parallelism, have inputs of their own.

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
        if self.tensor != 1 and (self.sequence or line.role.startswith("split ")):
            yield share(self.tensor)
        if self.context != 1:
            yield share(self.context)
        if self.expert != 1 and of_experts(line):
            yield share(self.expert)
        if self.interleaved != 1 and _is_repeated(line):
            stages, more = Integer(1) * self.pipeline, Integer(1) * self.interleaved
            yield expand(1 + 1 / more - 1 / (stages * more))

    def of_work(self, line: Line) -> Iterator[Dim]:
        """Yield the factors of a line of work on one device; what is not a product is split along the positions."""
        over = ((self.tensor, True), (self.context, True), (self.pipeline, _is_repeated(line)), (self.expert, of_experts(line)))
        yield from (share(devices) for devices, split in over if split and devices != 1)

    def of_weights(self, line: Line, *, matrix: bool) -> Iterator[Dim]:
        """Yield the factors of a stored tensor on one device; only a ``matrix`` is split by tensor parallelism."""
        over = ((self.tensor, matrix), (self.pipeline, _is_repeated(line)), (self.expert, of_experts(line)))
        yield from (share(devices) for devices, split in over if split and devices != 1)


def of_experts(line: Line) -> bool:
    """Return whether a line belongs to the experts of a mixture, which all mixtures call so."""
    return any(str(step).partition(".")[0] == "experts" for step in line.path)


def _is_repeated(line: Line) -> bool:
    return any(isinstance(step, Numbers) for step in line.path)


def share(devices: Dim) -> Dim:
    """Return one over the number of devices."""
    return Rational(1, devices) if isinstance(devices, int) else 1 / devices
