"""A law: a sparse polynomial with rational coefficients in named numbers and the few steps that sizes move in.

Laws are fitted and tried a thousand times before one is kept, so they are plain numbers here and become a SymPy expression at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from sympy import Expr, Integer, Max, Min, Mul, Pow, Rational, ceiling, floor

from paramsym.errors import SizeError

_MOST_BITS = 2048  # of an exponent; large points have widths that no memory holds, but a mapping of shapes can still contain them

Kind: TypeAlias = Literal["floor", "ceiling", "power", "min", "max"]


@dataclass(frozen=True)
class Atom:
    """One step: a quotient rounded down or up, a power of a fixed base, the smaller or the larger of two laws."""

    kind: Kind
    one: Law
    other: Law

    def value(self, numbers: Mapping[str, int]) -> Fraction | int:
        """Return the number at a point.

        Raises:
            SizeError: a quotient by zero, or a power that no size has.
        """
        one, other = self.one.value(numbers), self.other.value(numbers)
        if self.kind == "min":
            return one if one - other <= 0 else other
        if self.kind == "max":
            return one if one - other >= 0 else other
        if self.kind == "power":
            if isinstance(one, int) and isinstance(other, int) and 0 <= other <= _MOST_BITS:
                return int(one**other)
            if other.denominator != 1 or not -_MOST_BITS <= other <= _MOST_BITS:
                raise SizeError(f"{self} has an exponent of {other}; no size is that large.")
            return Fraction(one) ** int(other)
        if isinstance(one, int) and isinstance(other, int) and other > 0:
            return one // other if self.kind == "floor" else -(-one // other)
        if other == 0:
            raise SizeError(f"{self} is a quotient by zero.")
        quotient = Fraction(one) / other
        return quotient.__floor__() if self.kind == "floor" else quotient.__ceil__()

    def expression(self, symbols: Mapping[str, Expr]) -> Expr:
        """Return the same in symbols."""
        one, other = self.one.expression(symbols), self.other.expression(symbols)
        made: dict[str, Callable[[], Expr]] = {
            "min": lambda: Min(one, other),
            "max": lambda: Max(one, other),
            "power": lambda: Pow(one, other),
            "floor": lambda: floor(one / other),
            "ceiling": lambda: ceiling(one / other),
        }
        return made[self.kind]()

    def __str__(self) -> str:
        if self.kind == "power":
            return f"{self.one}**({self.other})"
        return (
            f"{self.kind}(({self.one})/({self.other}))" if self.kind in {"floor", "ceiling"} else f"{self.kind}({self.one}, {self.other})"
        )


Generator: TypeAlias = "str | Atom"
Monomial: TypeAlias = "tuple[tuple[Generator, int], ...]"


@dataclass(frozen=True)
class Law:
    """The sum of ``terms``: coefficients with their monomials.

    >>> law = Law(((Fraction(4), (("H", 2),)), (Fraction(1), ())))
    >>> law.value({"H": 3}), str(law)
    (37, '4*H**2 + 1')
    """

    terms: tuple[tuple[Fraction, Monomial], ...]

    @classmethod
    def constant(cls, number: int | Fraction) -> Law:
        """Return the law of one number."""
        return cls(((Fraction(number), ()),) if number else ())

    @classmethod
    def of(cls, generator: Generator) -> Law:
        """Return the law of one named number or one step alone."""
        return cls(((Fraction(1), ((generator, 1),)),))

    def plus(self, other: Law | int, factor: int = 1) -> Law:
        """Add ``factor`` times another law or number."""
        other = Law.constant(other) if isinstance(other, int) else other
        terms = {monomial: coefficient for coefficient, monomial in self.terms}
        for coefficient, monomial in other.terms:
            terms[monomial] = terms.get(monomial, Fraction(0)) + factor * coefficient
        return Law(tuple((coefficient, monomial) for monomial, coefficient in terms.items() if coefficient))

    def value(self, numbers: Mapping[str, int]) -> Fraction | int:
        """Return the number at a point: an int if it is whole."""
        total: Fraction | int = 0
        for coefficient, monomial in self.terms:
            term: Fraction | int = coefficient.numerator
            for generator, exponent in monomial:
                term = term * (numbers[generator] if isinstance(generator, str) else generator.value(numbers)) ** exponent
            total += term if coefficient.denominator == 1 else Fraction(term) / coefficient.denominator
        return int(total) if total.denominator == 1 else total

    def expression(self, symbols: Mapping[str, Expr]) -> Expr:
        """Return the same in symbols."""
        total: Expr = Integer(0)
        for coefficient, monomial in self.terms:
            factors = [symbols[g] if isinstance(g, str) else g.expression(symbols) for g, _ in monomial]
            total += Mul(
                Rational(coefficient.numerator, coefficient.denominator),
                *(Pow(factor, exponent) for factor, (_, exponent) in zip(factors, monomial, strict=True)),
            )
        return total

    def degree(self, degrees: Mapping[str, int]) -> int | None:
        """Return the total degree, each name counting as ``degrees`` says (default 1); None if the law has steps."""
        found = 0
        for _, monomial in self.terms:
            if any(isinstance(generator, Atom) for generator, _ in monomial):
                return None
            found = max(found, sum(exponent * degrees.get(str(generator), 1) for generator, exponent in monomial))
        return found

    def names(self) -> Iterator[str]:
        """Yield the names in it, inside atoms too."""
        for _, monomial in self.terms:
            for generator, _ in monomial:
                if isinstance(generator, str):
                    yield generator
                else:
                    yield from generator.one.names()
                    yield from generator.other.names()

    def atoms(self) -> Iterator[Atom]:
        """Yield the outermost steps of the law."""
        for _, monomial in self.terms:
            yield from (generator for generator, _ in monomial if isinstance(generator, Atom))

    def __str__(self) -> str:
        def term(coefficient: Fraction, monomial: Monomial) -> str:
            powers = [f"{g}**{e}" if e > 1 else str(g) for g, e in monomial]
            return "*".join(powers if coefficient == 1 and powers else [str(coefficient), *powers])

        return " + ".join(term(*one) for one in self.terms) or "0"
