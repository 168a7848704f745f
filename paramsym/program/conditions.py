"""Conditions: comparisons with a number, and the elementwise choice between two arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from sympy import Expr

from paramsym.program.arithmetic import Comparison, broadcast
from paramsym.program.graph import Kept, Operation
from paramsym.program.mistakes import check_word
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType


class Question(Operation):
    """A question about every entry; the answers are Booleans."""

    unit = "compare"

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType(taken[0].shape, "truth"),)


@dataclass(frozen=True, slots=True)
class Compare(Question):
    """Whether every entry is equal to a number, or less or greater than it."""

    name: Comparison
    number: float | Expr

    def run(self, xp: Any, *arrays: Any) -> Any:
        return getattr(xp, self.name)(arrays[0], float(self.number))

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


Property: TypeAlias = Literal["isnan", "isinf", "isfinite"]


@dataclass(frozen=True, slots=True)
class Check(Question):
    """Whether every entry is infinite, not a number, or neither."""

    name: Property

    def run(self, xp: Any, *arrays: Any) -> Any:
        return getattr(xp, self.name)(arrays[0])

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Where(Operation):
    """The entries of one array where a condition is true, and of another array, or a number, where it is false."""

    unit = "where"
    kept: ClassVar[tuple[Kept, ...]] = (Kept("taken"),)

    number: float | None = None

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        shape = taken[0].shape
        for other in taken[1:]:
            shape = broadcast(ArrayType(shape), other)
        kinds = {one.kind for one in taken[1:]}
        return (ArrayType(shape, "float" if "float" in kinds else "index" if "index" in kinds else taken[1].kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        condition, one, *other = arrays
        return xp.where(condition, one, xp.asarray(self.number, dtype=one.dtype) if self.number is not None else other[0])

    def __str__(self) -> str:
        return "where" if self.number is None else f"where, else {self.number}"


def compare(x: Value, name: Comparison, number: float | Expr) -> Value:
    """Return for every entry whether a comparison with a number, such as "less", is true."""
    check_word(name, get_args(Comparison), "comparison")
    return record(Compare(name, number), x)


def where(condition: Value, one: Value, other: Value | float) -> Value:
    """Return the entries of ``one`` where the condition is true, otherwise those of ``other``."""
    return record(Where(other), condition, one) if isinstance(other, int | float) else record(Where(), condition, one, other)
