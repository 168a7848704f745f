"""One line of a ledger: a product of sizes at a path, with the numbers of copies stored and used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from sympy import Expr, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Axis, Count, Dim, cat, extent, factors_of, stack, symbols_in

if TYPE_CHECKING:
    from paramsym.algebra.numbering import Numbers

Kind: TypeAlias = Literal["stored", "used"]


@dataclass(frozen=True)
class Line:
    """One product: the contribution of one tensor, or of one labelled segment of a tensor.

    The product of ``factors`` is one copy; the products of ``stored`` and ``used`` are the numbers of copies stored and used per token.
    ``spans`` are the bound indices to sum over, innermost first.
    """

    path: tuple[str | Numbers, ...]
    factors: tuple[Dim, ...]
    stored: tuple[Count, ...] = ()
    used: tuple[Count, ...] = ()
    spans: tuple[Numbers, ...] = ()
    label: str = ""
    role: str = "weight"
    trainable: bool = True
    buffer: bool = False
    persistent: bool = True
    shape: tuple[Axis, ...] = ()
    alias_of: str = ""

    @property
    def name(self) -> str:
        """The dotted path of the tensor, numbered copies as a template."""
        return ".".join(map(str, self.path))

    @property
    def empty(self) -> bool:
        """Whether nothing is stored: no copies, or an axis of size 0."""
        return 0 in [number for number in (*self.factors, *self.stored) if isinstance(number, int)]

    @property
    def of_no_copies(self) -> bool:
        """Whether the numbers of copies are known, and one of them is 0."""
        return 0 in [step.count for step in self.path if not isinstance(step, str)]

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """The sizes of the tensor's axes, or of the labelled segment's if there is a label."""
        return tuple(map(extent, self.axes if self.label else self.shape))

    @property
    def axes(self) -> tuple[tuple[Dim, ...], ...]:
        """The factors of each axis, with a concatenation narrowed to the labelled segment; ``a.d`` names one segment of each of two.

        >>> from paramsym import A, F, H
        >>> Line(("w",), (H, A, F), label="a.d", shape=(cat(a=H, b=3), cat(c=5, d=(A, F)))).axes
        ((H,), (A, F))
        """
        labels = iter(self.label.split("."))
        return tuple(tuple(_narrowed(axis, labels)) for axis in self.shape)

    def polynomial(self, kind: Kind = "stored") -> Polynomial:
        """Return what the line adds to a count: the product of its factors and its copies, stored or used."""
        total = Polynomial.product((*self.factors, *(self.stored if kind == "stored" else self.used)))
        for span in self.spans:
            total = span.total(total)
        return total

    @property
    def amount(self) -> Expr:
        """The stored number, as an expanded expression."""
        return self.polynomial().as_expr()

    def within(self, step: str | Numbers, used: Count | None = None, *, frozen: bool = False) -> Line:
        """Return the parent's line: the path is one step longer, and the number is multiplied by the copies."""
        if isinstance(step, str) and used is None and not frozen:
            return self.under((step,) if step else ())
        changes: dict[str, object] = {"path": _joined(step, self.path)}
        if not isinstance(step, str):
            if step.index is not None and step.index in self._free_symbols():
                changes["spans"] = (*self.spans, step)
            else:
                changes["stored"] = (*self.stored, step.count)
                changes["used"] = (*self.used, step.count if used is None else used)
        elif used is not None:
            changes["used"] = (*self.used, used)
        if frozen:
            changes["trainable"] = False
        if self.alias_of and step:
            changes["alias_of"] = f"{step}.{self.alias_of}" if isinstance(step, str) else step.inside(self.alias_of)
        return self.but(**changes)

    def under(self, above: tuple[str, ...]) -> Line:
        """Return the line with the names of the outer levels in front of its path; they change nothing else."""
        if not above:
            return self
        changes: dict[str, object] = {"path": (*above, *self.path)}
        if self.alias_of:
            changes["alias_of"] = ".".join((*above, self.alias_of))
        return self.but(**changes)

    def but(self, **changes: object) -> Line:
        """Return the line with other fields."""
        # A model with many layers makes many lines; copying the fields is five times faster than the constructor.
        line = object.__new__(Line)
        object.__setattr__(line, "__dict__", self.__dict__ | changes)
        return line

    def _free_symbols(self) -> set[Symbol]:
        """The symbols that the contribution depends on, without those that a span binds."""
        free = set(symbols_in((self.factors, self.stored, self.used)))
        for span in self.spans:
            free.discard(span.index)
            free.update(symbols_in((span.start, span.count)))
        return free


def _joined(step: str | Numbers, path: tuple[str | Numbers, ...]) -> tuple[str | Numbers, ...]:
    if not isinstance(step, str) and not step.pattern:
        return (replace(step, pattern=str(path[0])), *path[1:])
    return (step, *path) if step else path


def _narrowed(axis: Axis, labels: Iterator[str]) -> Iterator[Dim]:
    for factor in factors_of(axis):
        if isinstance(factor, cat):
            yield from dict(factor.segments).get(next(labels, ""), (factor.size,))
        else:
            yield factor.size if isinstance(factor, stack) else factor
