"""The type of an array in a program: its axes, with their factors, and the kind of its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sympy import Symbol

from paramsym.algebra.size import Axis, Dim, cat, extent, factors_of, shown, stack

Kind: TypeAlias = Literal["float", "complex", "index", "truth"]
"""Entries are real numbers, complex numbers, indices, or Booleans. Only the first two have gradients."""

_SIMPLE = (int, Symbol)


class Open(Symbol):
    """The symbol of an open size, which a shape writes as None."""

    def _sympystr(self, _: object) -> str:
        return "None"


def opened(name: str) -> Open:
    """Return the symbol of an open size."""
    return Open(name, integer=True, positive=True)


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The axes of an array and the kind of its entries; ``sizes`` are the sizes of the axes.

    >>> from paramsym import A, B, H, per
    >>> ArrayType((B, (A, per(H, A)))).sizes
    (B, H)
    """

    shape: tuple[Axis, ...]
    kind: Kind = "float"
    sizes: tuple[Dim, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        sizes: tuple[Any, ...] = self.shape
        for axis in sizes:
            if not isinstance(axis, _SIMPLE):
                sizes = tuple([extent(axis) for axis in sizes])
                break
        object.__setattr__(self, "sizes", sizes)

    def __str__(self) -> str:
        """Write the sizes, and the kind if it is not float."""
        return shown(self.sizes) if self.kind == "float" else f"{shown(self.sizes)} {self.kind}"

    def axis(self, position: int) -> int:
        """Return the position of an axis counted from the front."""
        return position % len(self.shape)

    def moved(self, order: Sequence[int | None]) -> ArrayType:
        """Return the type with its axes in another order; None is a new axis of size 1. The sizes are not computed again."""
        found = object.__new__(ArrayType)
        shape = tuple([1 if axis is None else self.shape[axis] for axis in order])
        object.__setattr__(found, "shape", shape)
        object.__setattr__(found, "kind", self.kind)
        alike = self.sizes is self.shape
        object.__setattr__(found, "sizes", shape if alike else tuple([1 if axis is None else self.sizes[axis] for axis in order]))
        return found

    def with_axis(self, position: int, *axes: Axis) -> ArrayType:
        """Return the type with one axis replaced by others, or removed if no others are given."""
        position = self.axis(position)
        return ArrayType((*self.shape[:position], *axes, *self.shape[position + 1 :]), self.kind)


def flat(axes: tuple[Axis, ...]) -> tuple[Dim, ...]:
    """Return the factors of all axes in one list, so that a product shows where each letter went.

    >>> from paramsym import A, B, H, per
    >>> flat((B, (A, per(H, A))))
    (B, A, per(H, A))
    """
    return tuple(factor.size if isinstance(factor, cat | stack) else factor for axis in axes for factor in factors_of(axis))
