"""One stored tensor: a name and a symbolic shape whose axes keep their factors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Symbol

from paramsym.algebra.line import Line
from paramsym.algebra.size import Axis, Dim, axis, cat, extent, factors_of, stack
from paramsym.errors import StructureError
from paramsym.naming import one_line


@dataclass(frozen=True)
class Tensor:
    """One stored tensor: a name, a symbolic shape, and the facts that change how it is counted.

    An axis is a size or a tuple of factors; a factor may be a ``cat`` of labelled segments or a ``stack`` of slices. ``role`` is a word for
    readers and filters: weight, bias, scale, table, statistic. A ``buffer`` is never a parameter; a buffer that is not ``persistent`` is
    not in the state dict.

    >>> from paramsym import A, H, per
    >>> Tensor("query", ((A, per(H, A)), H)).sizes
    (H, H)
    """

    name: str
    shape: tuple[Axis, ...]
    role: str = "weight"
    trainable: bool = True
    buffer: bool = False
    persistent: bool = True

    def __post_init__(self) -> None:
        if not self.name:
            raise StructureError(f"a tensor needs a name, got {self.name!r}.")
        check_name(self.name, "tensor")
        # Most axes come from fields that were checked already: a plain size is not checked again.
        if not isinstance(self.shape, tuple | list):
            found = f"{self.shape} ({type(self.shape).__name__})"  # type: ignore[unreachable]
            raise StructureError(f"tensor {self.name!r}: the shape is {found}; wanted a tuple of sizes, such as (H,).")
        if type(self.shape) is not tuple or not all(map(_plainly_a_size, self.shape)):
            checked = (axis(stated, f"tensor {self.name!r}, axis {position}") for position, stated in enumerate(self.shape))
            object.__setattr__(self, "shape", tuple(checked))

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """The size of each axis: ints, or canonical expressions."""
        return tuple(extent(stated) for stated in self.shape)

    def lines(self, above: tuple[str, ...] = ()) -> Iterable[Line]:
        """Return the ledger lines: one, or one per labelled segment; ``above`` are the names of the levels above the tensor."""
        return [line.under(above) for line in self._lines] if above else self._lines

    @cached_property
    def _lines(self) -> tuple[Line, ...]:
        """The lines without levels above; one tensor can be part of many equal layers."""
        return tuple(
            self._line(label, factors) for label, factors in _products([one for stated in self.shape for one in factors_of(stated)])
        )

    def _line(self, label: str, factors: tuple[Any, ...]) -> Line:
        stacks = [factor for factor in factors if isinstance(factor, stack)]
        return Line(
            path=(self.name,),
            factors=tuple([factor for factor in factors if not isinstance(factor, stack)]) if stacks else factors,
            stored=tuple([factor.stored for factor in stacks]),
            used=tuple([factor.used for factor in stacks]),
            label=label,
            role=self.role,
            trainable=self.trainable and not self.buffer,
            buffer=self.buffer,
            persistent=self.persistent,
            shape=self.shape,
        )


def check_name(name: object, what: str) -> None:
    """Raise ``StructureError`` for a name that is not a string, or has control characters."""
    if not isinstance(name, str):
        raise StructureError(f"a {what} needs a name, got {name!r}.")
    if not name.isprintable() and one_line(name) != name:
        raise StructureError(f"the {what} {name!r} has control characters in its name.")


def _plainly_a_size(stated: Axis) -> bool:
    if isinstance(stated, int):
        return stated >= 0 and not isinstance(stated, bool)  # an axis of size 0 makes an empty tensor
    return isinstance(stated, Symbol) and bool(stated.is_positive and stated.is_integer)


def _products(factors: list[Any]) -> list[tuple[str, tuple[Any, ...]]]:
    """Expand the concatenations of a shape into labelled products."""
    for position, factor in enumerate(factors):
        if isinstance(factor, cat):
            rest = _products(factors[position + 1 :])
            products = ((label, segment, inner, product) for label, segment in factor.segments for inner, product in rest)
            return [
                (f"{label}.{inner}" if inner else label, (*factors[:position], *segment, *product))
                for label, segment, inner, product in products
            ]
    return [("", tuple(factors))]
