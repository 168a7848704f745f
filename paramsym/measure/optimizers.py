"""The states of optimizers, such as Adam's two averages: data with sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sympy import Rational

from paramsym.algebra.size import Dim, extent, product
from paramsym.core.ledger import Line
from paramsym.measure.formats import Which, chosen, rows_and_columns


@dataclass(frozen=True)
class State:
    """Numbers that an optimizer keeps: one for every entry, or one for every row and every column of a matrix (``factored``).

    For tensors that are known to have fewer than ``least`` entries, the numbers are in float32.
    """

    bytes: Dim = 4
    which: Which | Literal["others"] = "all"
    factored: bool = False
    least: int = 0


@dataclass(frozen=True)
class Optimizer:
    """The states of an optimizer for trained parameters: numbers per entry, each with its bytes."""

    name: str
    source: str
    kept: tuple[State, ...]
    wrong: str = "gradients and a float32 copy of the weights are counted separately"

    @property
    def states(self) -> int:
        """How many there are."""
        return len(self.kept)

    @property
    def bytes(self) -> Dim:
        """The bytes of a number."""
        return self.kept[0].bytes if self.kept else 4


_EIGHT = State(1 + Rational(4, 256), least=4096)
OPTIMIZERS: Mapping[str, Optimizer] = {
    one.name: one
    for one in (
        Optimizer("sgd", "torch.optim.SGD without momentum", ()),
        Optimizer("momentum", "torch.optim.SGD with momentum: one average", (State(),)),
        Optimizer("adam", "Kingma and Ba 2015, arXiv:1412.6980, algorithm 1: two averages", (State(), State())),
        Optimizer("adamw", "Loshchilov and Hutter 2019, arXiv:1711.05101: the averages of Adam", (State(), State())),
        Optimizer(
            "adam-8bit",
            "bitsandbytes, optim/optimizer.py (Dettmers et al. 2022, arXiv:2110.02861): two averages of one byte each, and a float32"
            " for each block of 256; float32 for tensors of fewer than 4096 entries",
            (_EIGHT, _EIGHT),
            "the paper, and bitsandbytes before 0.44, have blocks of 2048; a tensor whose size is a letter counts as a large one",
        ),
        Optimizer(
            "adafactor",
            "Shazeer and Stern 2018, arXiv:1804.04235, algorithm 4: sums over rows and columns",
            (State(factored=True),),
            "the first moment, optional in the paper, needs one more float32 for every entry",
        ),
        Optimizer(
            "muon",
            "Jordan et al. 2024, torch.optim.Muon: one average of the matrices of repeated blocks; AdamW for the others",
            (State(which="blocks"), State(which="others"), State(which="others")),
        ),
    )
}
"""Optimizers by name."""


def of_states(lines: Sequence[Line], optimizer: Optimizer) -> Iterator[Line]:
    """Yield the bytes of an optimizer's states for trained tensors; equal states are one line."""
    for state, times in Counter(optimizer.kept).items():
        seen: set[str] = set()
        for line in lines:
            if not chosen(line, state.which):
                continue
            if not state.factored or len(line.shape) < 2:
                entries = product(tuple(map(extent, line.shape))) if state.least else 0
                small = isinstance(entries, int) and entries < state.least
                yield line.but(factors=(times * (4 if small else state.bytes), *line.factors))
            elif line.name not in seen:
                seen.add(line.name)
                for name, numbers in zip(("rows", "columns"), rows_and_columns(line), strict=True):
                    yield line.but(path=(*line.path, name), factors=(times * state.bytes, numbers), label="")
