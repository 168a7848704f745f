"""The order in which a paper writes terms and factors: highest degree first, letters in a given order."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sympy import Add, Expr, Integer, Mul, Rational, Symbol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paramsym.render.table import Letters


@lru_cache(maxsize=256)
def places(letters: Letters) -> Mapping[str, int]:
    """Return the place of every listed letter; the others come after them, by name."""
    return {name: place for place, (name, _) in enumerate(letters.latex)}


def ordered(value: Expr | int, letters: Letters) -> list[Expr]:
    """Return the terms in the order in which a paper writes them."""
    value = Integer(value) if isinstance(value, int) else value
    order = places(letters)
    found = sorted(Add.make_args(value), key=lambda term: _term_key(term, order))
    if found and sign_of(found[0]) < 0:
        found.sort(key=lambda term: sign_of(term) < 0)
    return found


def sign_of(term: Expr) -> int:
    """Return the sign of a term: 1 or -1."""
    return -1 if term.as_coeff_Mul()[0].is_negative else 1


def powers_of(term: Expr) -> list[tuple[Expr, Expr]]:
    """Return the factors of a term, each with its exponent."""
    return [factor.as_base_exp() for factor in Mul.make_args(term)]


def fraction_of(term: Expr, order: Mapping[str, int]) -> tuple[Expr, Expr, list[tuple[Expr, Expr]], list[tuple[Expr, Expr]]]:
    """Return the numbers above and below a term's fraction bar, then the powers above and below in order, with positive exponents."""
    coefficient, rest = term.as_coeff_Mul()
    numerator, denominator = coefficient.as_numer_denom() if isinstance(coefficient, Rational) else (coefficient, Integer(1))
    above: list[tuple[Expr, Expr]] = []
    below: list[tuple[Expr, Expr]] = []
    for base, exponent in sorted(powers_of(rest), key=lambda power: place_of(power[0], order)):
        if exponent.could_extract_minus_sign():
            below.append((base, -exponent))
        elif base != 1:
            above.append((base, exponent))
    return numerator, denominator, above, below


def _degree(base: Expr, exponent: Expr) -> int:
    return int(exponent) if isinstance(exponent, Integer) and not base.is_Number else 0


def _term_key(term: Expr, order: Mapping[str, int]) -> tuple[object, ...]:
    powers = powers_of(term.as_coeff_Mul()[1])
    degree = sum(_degree(base, exponent) for base, exponent in powers)
    highest = max((_degree(base, exponent) for base, exponent in powers), default=0)
    names = sorted((place_of(base, order), -_degree(base, exponent)) for base, exponent in powers)
    return (-degree, -highest, names)


def place_of(base: Expr, order: Mapping[str, int]) -> tuple[int, str]:
    """Return the sorting key of a factor: listed letters first, then other letters, then everything else."""
    name = base.name if isinstance(base, Symbol) else _name(base)
    return (order.get(name, len(order)), name)


@lru_cache(maxsize=4096)
def _name(base: Expr) -> str:
    """Return the text of a factor that is not a letter, such as a floor; kept, because SymPy prints slowly and most terms share them."""
    return f"~{base}"
