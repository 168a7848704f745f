"""Entries of another kind: whole numbers or Booleans as real numbers, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paramsym.program.graph import Operation
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, Kind

_NUMPY = {"float": "float32", "complex": "complex64", "index": "int64", "truth": "bool"}


@dataclass(frozen=True, slots=True)
class Cast(Operation):
    """The same entries as real numbers, as whole numbers, or as Booleans."""

    kind: Kind

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType(taken[0].shape, self.kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - a method of the array
        return arrays[0].astype(_NUMPY[self.kind])

    def __str__(self) -> str:
        return f"as {self.kind}"


def cast(x: Value, kind: Kind) -> Value:
    """Return the entries as another kind; an array of this kind is not changed."""
    return x if x.type.kind == kind else record(Cast(kind), x)
