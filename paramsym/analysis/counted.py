"""The subjects of analysis: the parameters of a layer, or a cost. Both have lines, letters, sizes, a name and a unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sympy import Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, expressions, substitute
from paramsym.core.layer import Layer, check_layer
from paramsym.core.ledger import Kind, Line
from paramsym.measure.cost import Cost
from paramsym.program.statement import class_name

Counted: TypeAlias = Layer | Cost


@dataclass(frozen=True)
class Words:
    """The words for a subject in sentences: the ``unit``, the ``count`` as a whole, and ``one`` line of it."""

    unit: str = "parameters"
    count: str = "count"
    one: str = "tensor"
    having: str = "stored tensor has it in its shape"

    @property
    def column(self) -> str:
        """The name of the count among other columns."""
        return "params" if self.unit == "parameters" else self.unit


PARAMETERS = Words()


def check_counted(subject: object) -> None:
    """Raise ``ArgumentError`` for anything but a layer or a cost."""
    if not isinstance(subject, Cost):
        check_layer(subject)


def holder(subject: Counted) -> Layer:
    """Return the subject's layer."""
    return subject.layer if isinstance(subject, Cost) else subject


def title(subject: object) -> str:
    """Return the name in a sentence: the class, and for a cost also the inputs.

    >>> from paramsym import B, Dense, F, H, flops
    >>> title(Dense(H, F)), title(flops(Dense(H, F), (B, H)))
    ('Dense', 'Dense for (B, H)')
    """
    return subject.subject if isinstance(subject, Cost) else class_name(subject) if isinstance(subject, Layer) else "the expression"


def words(subject: object) -> Words:
    """Return the words for a subject."""
    if not isinstance(subject, Cost):
        return PARAMETERS
    one = "operation" if subject.unit in {"FLOPs", "MACs"} else "array"
    return Words(subject.unit, subject.unit, one, f"{one} has it among its sizes")


def counts(line: Line) -> bool:
    """Whether a line is part of the count."""
    return not line.buffer and not line.alias_of and not line.empty


def lines(subject: Counted) -> tuple[Line, ...]:
    """Return the lines of the count."""
    return tuple(line for line in subject.lines if counts(line))


def total(lines: Iterable[Line], kind: Kind = "stored") -> Polynomial:
    """Return the sum of some lines."""
    return Polynomial.total(line.polynomial(kind) for line in lines)


def sums(lines: Iterable[Line], name: Callable[[Line], str], kind: Kind = "stored") -> dict[str, Polynomial]:
    """Return the sums of the lines that have one name."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(name(line), []).append(line)
    return {called: total(members, kind) for called, members in found.items()}


def numbers(sizes: Mapping[Symbol, Dim]) -> dict[Symbol, int]:
    """Return the sizes that are numbers."""
    return {symbol: size for symbol, size in sizes.items() if isinstance(size, int)}


def put(polynomial: Polynomial, sizes: Mapping[Symbol, Dim]) -> Polynomial:
    """Put sizes into a polynomial, all at once."""
    return Polynomial.of(substitute(polynomial.as_expr(), expressions(sizes))) if sizes else polynomial


def with_layer(subject: Counted, layer: Layer) -> Counted:
    """Return the same subject for another layer."""
    return subject.of(layer) if isinstance(subject, Cost) else layer
