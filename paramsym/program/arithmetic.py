"""Sums, differences, products and quotients, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from sympy import Expr

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Axis, shown
from paramsym.errors import ShapeError
from paramsym.program.graph import Kept, Named, other_factors
from paramsym.program.types import ArrayType, Kind

Comparison: TypeAlias = Literal["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
Relation: TypeAlias = Literal[Comparison, "logical_and", "logical_or", "logical_xor"]
"""Names whose result is true or false."""
Name: TypeAlias = Literal[
    Relation,
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "maximum",
    "minimum",
    "power",
    "arctan2",
    "fmod",
    "fmax",
    "fmin",
    "hypot",
    "logaddexp",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
]
_TRUTHS = frozenset(get_args(Relation))
_KEEPS_NOTHING = _TRUTHS | {"add", "subtract", "floor_divide"}
_KEEPS_BOTH = frozenset({"arctan2", "fmax", "fmin", "hypot", "logaddexp", "maximum", "minimum", "power"})
"""The derivative for each of the two arrays needs both."""
_KEEPS_RESULT = frozenset({"hypot", "power"})
_OF_FLOATS = frozenset({"divide", "arctan2", "hypot", "logaddexp"})


@dataclass(frozen=True, slots=True)
class Combine(Named):
    """Two arrays combined entry by entry; axes of size 1 are stretched and missing leading axes added, as in NumPy."""

    name: Name

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        one, other = taken
        kind = self.kind(one, other)
        if one.sizes == other.sizes and one.kind == kind:
            return (one,)
        return (ArrayType(one.shape if one.sizes == other.sizes else broadcast(one, other), kind),)

    def kind(self, one: ArrayType, other: ArrayType) -> Kind:
        """Return the kind of the result: a comparison gives Booleans, real numbers with others give real numbers."""
        if self.name in _TRUTHS:
            return "truth"
        if "complex" in {one.kind, other.kind}:
            return "complex"
        if self.name in _OF_FLOATS or "float" in {one.kind, other.kind}:
            return "float"
        return "truth" if one.kind == other.kind == "truth" else "index"

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        if self.name in _KEEPS_NOTHING:
            return ()
        if self.name in _KEEPS_BOTH:
            return (Kept("taken"), Kept("taken", 1), *(Kept("given"),) * (self.name in _KEEPS_RESULT))
        if self.name in {"fmod", "remainder"}:
            return (Kept("taken"), Kept("taken", 1)) if needs[1] else ()
        return other_factors((needs[0] or (self.name == "divide" and any(needs)), needs[1]))

    def run(self, xp: Any, *arrays: Any) -> Any:
        return getattr(xp, self.name)(*arrays)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class WithNumber(Named):
    """An array combined with one number; ``reflected`` puts the number first, as in ``1 - x``."""

    name: Name
    number: complex | Expr
    reflected: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        if self.name in _TRUTHS:
            return (ArrayType(x.shape, "truth"),)
        if isinstance(self.number, complex):
            return (ArrayType(x.shape, "complex"),)
        if x.kind not in {"float", "complex"} and (isinstance(self.number, float) or self.name in _OF_FLOATS):
            return (ArrayType(x.shape),)
        return (ArrayType(x.shape, "index") if x.kind == "truth" else x,)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all shapes
        if self.reflected and self.name == "power":
            return Kept("taken"), Kept("given")
        if self.reflected and self.name == "divide":
            return (Kept("given"),)
        return (Kept("given" if self.reflected else "taken"),) if self.name in {"power", "maximum"} else ()

    def run(self, xp: Any, *arrays: Any) -> Any:
        number = self.number if isinstance(self.number, int | complex) else float(self.number)
        return getattr(xp, self.name)(number, *arrays) if self.reflected else getattr(xp, self.name)(*arrays, number)

    def __str__(self) -> str:
        return f"{self.name} {'number first ' if self.reflected else ''}{self.number}"


def broadcast(one: ArrayType, other: ArrayType) -> tuple[Axis, ...]:
    """Return the axes of two arrays combined entry by entry.

    Raises:
        ShapeError: axes that differ and are not 1.
    """
    long, short = (one, other) if len(one.shape) >= len(other.shape) else (other, one)
    lead = len(long.shape) - len(short.shape)
    shape = list(long.shape[:lead])
    for axis, shorter, size, small in zip(long.shape[lead:], short.shape, long.sizes[lead:], short.sizes, strict=True):
        if size is not small and size != 1 and small != 1 and differ(size, small):
            raise ShapeError(f"{shown(one.sizes)} and {shown(other.sizes)} cannot be combined; wanted equal axes, or axes of size 1.")
        shape.append(shorter if size == 1 else axis)
    return tuple(shape)
