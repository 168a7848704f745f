"""Arrays that a recorded pass found in place: they depend on neither tensors nor inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paramsym.algebra.size import Count, shown
from paramsym.errors import ArgumentError
from paramsym.program.graph import Operation
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, Kind
from paramsym.read.made import Made


@dataclass(frozen=True, slots=True)
class Fixed(Operation):
    """An array with known sizes; its entries are known if the sizes are numbers and the model had values, or by a rule.

    ``held`` means a buffer of the model.
    """

    type: ArrayType
    entries: Entries | Made | None = None
    held: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - takes nothing
        return (self.type,)

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - takes nothing
        if self.entries is None:
            raise ArgumentError(
                "the entries of an array that the model computes from its sizes are not known for these; run ps.from_module(model) of the"
                " live model, whose pass has them."
            )
        if isinstance(self.entries, Made):
            made = self.entries.array(xp, tuple(map(int, self.type.sizes)))
            return made.astype(float) if self.type.kind == "float" and made.dtype == bool else made
        return xp.asarray(self.entries.array)

    def __str__(self) -> str:
        return f"values {shown(self.type.sizes)}"


@dataclass(frozen=True, slots=True)
class Found(Operation):
    """The positions of true entries; their number is that of the recorded pass."""

    shape: tuple[Count, ...]

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - stated
        return (ArrayType(self.shape, "index"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.stack(xp.nonzero(arrays[0]), -1)

    def __str__(self) -> str:
        return "positions"


class Entries:
    """The entries of an array; two are equal if all entries are."""

    __slots__ = ("_key", "array")

    def __init__(self, array: Any) -> None:
        self.array = array
        self._key = (str(array.dtype), array.shape, array.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entries) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Entries of {self._key[1]}"


def fixed(shape: tuple[Count, ...], kind: Kind, entries: Any, laws: Any = None, *, held: bool = False) -> Value:
    """Return an array that the model computes from its sizes alone, or holds as a buffer; ``laws`` have the sizes in a rule of entries."""
    if isinstance(entries, Made):
        known: Entries | Made | None = entries if laws is None else entries.at(laws.value)
    else:
        known = None if entries is None else Entries(entries)
    return record(Fixed(ArrayType(shape, kind), known, held))
