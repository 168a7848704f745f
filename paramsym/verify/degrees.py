"""The degree of a count in one coordinate, and the number of residue classes that floors and ceilings need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import cast

from sympy import Expr, Integer, Mod, Symbol, ceiling, floor

from paramsym.algebra.polynomial import Polynomial
from paramsym.errors import NotYetError


@dataclass(frozen=True)
class Movement:
    """A polynomial of at most ``degree`` on each residue class modulo ``modulus``."""

    degree: int = 0
    modulus: int = 1

    @property
    def values(self) -> int:
        """The number of consecutive values that determine such a function."""
        return (self.degree + 1) * self.modulus


def movement(polynomials: Iterable[Polynomial], coordinate: Symbol) -> Movement:
    """Return the least degree and modulus that hold for all of them.

    Raises:
        NotYetError: a function that is not a polynomial on any residue class, such as a power or a quotient by the coordinate.

    >>> from paramsym import F, H
    >>> movement([Polynomial.of(H**2 * F + H)], H)
    Movement(degree=2, modulus=1)
    >>> movement([Polynomial.of(F * ceiling(H / 16))], H)
    Movement(degree=1, modulus=16)
    """
    degree, modulus = 0, 1
    for polynomial in polynomials:
        for monomial in polynomial.terms:
            inner = [_of_power(generator, exponent, coordinate) for generator, exponent in monomial]
            degree = max(degree, sum(found.degree for found in inner))
            modulus = lcm(modulus, *(found.modulus for found in inner))
    return Movement(degree, modulus)


def _of_power(generator: Expr, exponent: int, coordinate: Symbol) -> Movement:
    if coordinate not in generator.free_symbols:
        return Movement()
    if exponent > 0:
        if generator == coordinate:
            return Movement(exponent)
        number: object = generator.args[-1] if isinstance(generator, Mod) else None
        if isinstance(number, Integer) or isinstance(generator, floor | ceiling):
            inside = Polynomial.of(cast("Expr", generator.args[0]))
            found = movement([inside], coordinate)
            modulus = found.modulus * lcm(*(Fraction(c).denominator for c in inside.terms.values()))
            return Movement(0, modulus * int(number)) if isinstance(number, Integer) else Movement(found.degree * exponent, modulus)
    shown = generator if exponent > 0 else 1 / generator
    raise NotYetError(
        f"{shown} is not a polynomial in {coordinate}, so finitely many instances prove nothing about it;"
        f" put a number in first: layer.at({coordinate}=...)."
    )
