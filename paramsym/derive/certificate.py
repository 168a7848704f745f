"""The certificate of a derived form: what was proved under a degree bound, what was only tested, and where it does not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from paramsym.render.table import Cell, Table
from paramsym.render.tabular import Tabular


@dataclass(frozen=True)
class Computation:
    """What is known about the computation of a derived form: ``operators``, and the ``laws`` of those numbers that were fitted.

    All other numbers follow from the sizes of the inputs and tensors. ``traces`` is the number of recorded passes, ``fresh`` of those that
    no law was found from, ``magnitudes`` the least and largest value of each size among these; ``demands`` are the conditions under which
    the operators are the same; ``refused`` is the number of points at which the module fails.
    """

    operators: int
    laws: tuple[str, ...]
    traces: int
    fresh: int
    magnitudes: Mapping[str, tuple[int, int]] = field(hash=False)
    demands: tuple[str, ...] = ()
    refused: int = 0

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rows of the certificate: what a statement is about, such as "proved" or "tested", and the statement."""
        limits = f"; for {' and '.join(self.demands)}, elsewhere the module itself is recorded" if self.demands else ""
        yield "computation", f"{self.operators} operators, each of equal blocks once{limits}"
        yield (
            "proved",
            "every size that follows from the inputs and tensors by the rules of the operators, as far as the tensors are proved",
        )
        yield "assumed", "the module calls the same operators at all sizes, and equal blocks stay equal"
        yield "tested only", f"which operators there are, and the numbers that were fitted: {', '.join(self.laws) or 'none'}"
        sizes = ", ".join(f"{name} from {low:,} to {high:,}" for name, (low, high) in self.magnitudes.items())
        yield "tested", f"every operator and every number at {self.fresh:,} fresh points: {sizes}"
        if self.refused:
            yield "refused", f"{self.refused:,} points at which the module itself fails"
        yield "recorded", f"{self.traces:,} passes"


@dataclass(frozen=True)
class Derivation(Tabular):
    """What was proved about a derived form, under which assumption, and what was only tested.

    ``degree`` is the bound on the total degree in the ``coordinates`` that the proof rests on, None if nothing was proved; ``lattice``
    is the number of built instances of the principal lattice. ``stepping`` names the tensors whose laws have floors, powers or bounds: they
    have no degree, so they are only tested. ``fresh`` is the number of points built after the last change of a law, which were not used to
    find it; ``magnitudes`` are the least and largest value of each size among these. ``demands`` are the conditions to which the form is
    limited; ``start`` are the build's own values of the sizes. Prints all of it, with versions.
    """

    subject: str
    stratum: Mapping[str, Any] = field(hash=False)
    held: Mapping[str, Any] = field(hash=False)
    coordinates: tuple[str, ...]
    formulas: tuple[str, ...]
    tensors: int
    degree: int | None
    lattice: int
    stepping: tuple[str, ...]
    fresh: int
    magnitudes: Mapping[str, tuple[int, int]] = field(hash=False)
    demands: tuple[str, ...]
    refused: int
    built: int
    ordered: bool
    versions: Mapping[str, str] = field(hash=False)
    left_out: tuple[str, ...] = ()
    computation: Computation | None = None
    others: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    start: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @property
    def assumption(self) -> str:
        """The assumption of the proof, which cannot be seen from outside the build."""
        if self.degree is None:
            return "nothing was proved; every statement is a test."
        return (
            f"in the build, each axis and each number of copies is a polynomial of total degree at most {self.degree} in "
            f"{', '.join(self.coordinates)}, and further numbered copies are named as the first ones are."
        )

    @property
    def proved(self) -> str:
        """The statement that the instances prove under the assumption."""
        if self.degree is None:
            return "nothing"
        which = "all tensors" if not self.stepping else f"all tensors but {len(self.stepping)}"
        return f"{which}, for every size in the domain, from the {self.lattice:,} instances of the principal lattice of order {self.degree}"

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rows of the certificate: what a statement is about, such as "proved" or "tested", and the statement."""
        fixed = ", ".join(f"{name}={value!r}" for name, value in {**self.stratum, **self.held}.items())
        yield "holds with", fixed or "nothing held"
        limits = [*self.formulas, *self.demands]
        yield "domain", "; ".join(limits) if limits else "all sizes from 1 on"
        yield "tensors", f"{self.tensors} laws" + ("" if self.ordered else "; their order is not that of the build")
        yield "proved", self.proved
        yield "assumed", self.assumption
        if self.stepping:
            yield "tested only", ", ".join(self.stepping)
        sizes = ", ".join(f"{name} from {low:,} to {high:,}" for name, (low, high) in self.magnitudes.items())
        yield "tested", f"{self.fresh:,} fresh points, none of them used to find a law: {sizes}"
        yield "beyond", "larger sizes, and single exceptions between the tested ones, are neither proved nor tested"
        if self.refused:
            yield "refused", f"{self.refused:,} points that the build itself refused"
        yield "built", f"{self.built:,} instances"
        if self.computation is not None:
            yield from self.computation.rows()
        if self.left_out:
            yield "left out", "; ".join(self.left_out)
        yield "versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())

    def __str__(self) -> str:
        return "\n".join([f"Derivation of {self.subject}", *(f"  {name:<11}  {words}" for name, words in self.rows())])

    def table(self) -> Table:
        """Return the certificate as a table of two columns."""
        rows: tuple[tuple[Cell, ...], ...] = tuple((name, words) for name, words in self.rows())
        return Table(("", "derivation"), rows, caption=f"Derivation of {self.subject}")
