"""Positions sent to their chosen experts, and the results collected: one row per pair of position and expert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paramsym.program.graph import Kept, Operation, Work
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, flat


@dataclass(frozen=True, slots=True)
class Places(Operation):
    """The source of every row: the number of the position, and the rank of the expert among those chosen for it."""

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType((*taken[0].shape, 2), "index"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        shape = arrays[0].shape
        rows = xp.arange(xp.prod(shape[:-1], dtype=int)).reshape(*shape[:-1], 1)
        return xp.stack([xp.broadcast_to(rows, shape), xp.broadcast_to(xp.arange(shape[-1]), shape)], -1)


@dataclass(frozen=True, slots=True)
class Weights(Operation):
    """The weights (..., k) of some rows."""

    kept = (Kept("taken", 1),)

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return taken[:1]

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - a selection
        weights, places = arrays
        return weights.reshape(-1, weights.shape[-1])[places[..., 0], places[..., 1]]

    def __str__(self) -> str:
        return "gather"


@dataclass(frozen=True, slots=True)
class Rows(Weights):
    """The positions (..., features) of some rows: (..., k, features)."""

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        x, places = taken
        return (ArrayType((*places.shape[:-1], x.shape[-1])),)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - a selection
        x, places = arrays
        return x.reshape(-1, x.shape[-1])[places[..., 0]]


@dataclass(frozen=True, slots=True)
class Collect(Operation):
    """The sum of the rows of every position."""

    kept = (Kept("taken"),)  # torch.Tensor.index_add_ keeps its addends

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        shape = taken[0].shape
        return (ArrayType((*shape[:-2], shape[-1])),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        return (Work("sum", flat(taken[0].shape)),)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - a method of the array
        return arrays[0].sum(-2)


def dispatch(x: Value, weights: Value, chosen: Value) -> tuple[Value, Value]:
    """Return one row of (..., features) for each chosen expert (..., k), together (..., k, features), and their weights.

    Both are copies in the order of the experts, for a loop that takes the rows of one expert after another.
    """
    places = record(Places(), chosen)
    return record(Rows(), x, places), record(Weights(), weights, places)


def collect(y: Value) -> Value:
    """Return the sum of the rows (..., k, features) of every position. Work: one addition per entry."""
    return record(Collect(), y)
