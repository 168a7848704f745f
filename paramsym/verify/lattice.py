"""The valid sizes of a layer as a lattice: every symbol is a formula in free coordinates, so that all conditions hold.

If A must divide H, the valid pairs are ``(A, A*h)`` with A and h free. The conditions come from the layer itself: every ``per``,
``divides`` and ``at_most`` that it or a layer inside calls when it states its tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, permutations

from sympy import Expr, Integer, Symbol, divisors

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Condition, Dim, canonical, substitute, symbols_in, text
from paramsym.core.conditions import conditions_of
from paramsym.core.layer import Layer

_ORDERS_TRIED = 120  # orders of conditions; the one that leaves the fewest unsolved is used
_MOST_CHOICES = 1000


@dataclass(frozen=True)
class Coordinate:
    """A free number, at least one; with ``choices`` one of them."""

    symbol: Symbol
    choices: tuple[int, ...] = ()


@dataclass(frozen=True)
class Lattice:
    """Formulas for a layer's symbols in free coordinates.

    ``whole`` means that every valid size is a point of the lattice; ``left`` are conditions that the formulas do not guarantee.
    """

    coordinates: tuple[Coordinate, ...]
    formulas: Mapping[Symbol, Expr]
    whole: bool = True
    left: tuple[Condition, ...] = ()

    def sizes(self, point: Mapping[Symbol, int]) -> dict[str, int]:
        """Return the sizes, by name, at a point given by its coordinates."""
        placed = {symbol: Integer(value) for symbol, value in point.items()}
        return {symbol.name: int(canonical(substitute(formula, placed))) for symbol, formula in self.formulas.items()}

    def __str__(self) -> str:
        composite = [f"{symbol} = {text(formula)}" for symbol, formula in self.formulas.items() if formula != symbol]
        chosen = [f"{c.symbol} among {', '.join(map(str, c.choices))}" for c in self.coordinates if c.choices]
        free = ", ".join(c.symbol.name for c in self.coordinates if not c.choices)
        return "; ".join([*composite, *chosen, *([f"{free} free"] if free else [])])


def lattice(layer: Layer) -> Lattice:
    """Return the lattice of a layer's valid sizes.

    >>> from paramsym import A, G, H, MultiHeadAttention
    >>> print(lattice(MultiHeadAttention(H, A)))
    H = A*h; A, h free
    >>> print(lattice(MultiHeadAttention(H, A, kv_heads=G)))
    A = G*a; H = G*a*h; a, G, h free
    """
    symbols = sorted(layer.symbols, key=lambda symbol: symbol.name)
    asked = (replace(one, small=canonical(one.small), large=canonical(one.large)) for one in conditions_of(layer))
    # Sizes are at least one because the coordinates are.
    conditions = [
        one
        for one in dict.fromkeys(asked)
        if set() < symbols_in((one.small, one.large)) <= layer.symbols and not (one.kind == "at most" and one.small in {0, 1})
    ]
    exact = [condition for condition in conditions if condition.kind == "divides"]
    start = Lattice(tuple(Coordinate(symbol) for symbol in symbols), {symbol: symbol for symbol in symbols})
    solved = [_divided(start, order) for order in islice(permutations(exact), _ORDERS_TRIED)]
    best = min(solved, key=lambda found: (len(found.left), not found.whole, _weight(found)))
    return _ordered(best, [condition for condition in conditions if condition.kind == "at most"])


def _weight(found: Lattice) -> int:
    return sum(len(text(formula)) for formula in found.formulas.values())


def _divided(start: Lattice, conditions: tuple[Condition, ...]) -> Lattice:
    """Put formulas in until every quotient is whole, one condition after another."""
    found = start
    for condition in conditions:
        small, large = (Polynomial.of(substitute(side, found.formulas)) for side in (condition.small, condition.large))
        for monomial, coefficient in (large * small.inverse()).terms.items():
            found = _made_whole(found, dict(monomial), Fraction(coefficient), condition)
        if len((large * small.inverse()).terms) > 1 and found.formulas != start.formulas:
            found = replace(found, whole=False)
    return found


def _made_whole(found: Lattice, exponents: Mapping[Expr, int], coefficient: Fraction, condition: Condition) -> Lattice:
    """Make one term whole: the symbol in the numerator becomes a multiple of the denominator."""
    below = Polynomial({frozenset((g, -e) for g, e in exponents.items() if e < 0): coefficient.denominator})
    if below == Polynomial.of(1):
        return found
    above = {g: e for g, e in exponents.items() if e > 0}
    free = [g for g in above if isinstance(g, Symbol) and not _coordinate(found, g).choices]
    if not above and coefficient.denominator == 1:
        return _chosen(found, exponents, coefficient.numerator, condition)
    if not free or not below.free_symbols <= {c.symbol for c in found.coordinates}:
        return replace(found, left=(*found.left, condition))
    symbol = min(free, key=lambda g: (g in found.formulas, g.name))  # prefer an earlier quotient to a symbol of the layer
    fresh = _fresh(symbol, found)
    alone = above == {symbol: 1} and (coefficient.numerator == 1 or not below.free_symbols)
    return _put(found, symbol, (below * Polynomial.of(fresh)).as_expr(), fresh, whole=found.whole and alone)


def _chosen(found: Lattice, exponents: Mapping[Expr, int], number: int, condition: Condition) -> Lattice:
    """Make the symbol in the denominator one of the divisors of a number."""
    if len(exponents) == 1:
        ((symbol, exponent),) = exponents.items()
        if exponent == -1 and isinstance(symbol, Symbol):
            options = tuple(int(d) for d in divisors(number))
            kept = _coordinate(found, symbol).choices
            return _limited(found, symbol, tuple(d for d in options if not kept or d in kept))
    return replace(found, left=(*found.left, condition))


def _ordered(found: Lattice, conditions: list[Condition]) -> Lattice:
    """Make the larger of two symbols the sum of the smaller one and a number."""
    for condition in conditions:
        small, large = (canonical(substitute(side, found.formulas)) for side in (condition.small, condition.large))
        if _is_at_most(small, large):
            continue
        by_symbol = {c.symbol: c for c in found.coordinates}
        if isinstance(large, Symbol) and large in by_symbol and not by_symbol[large].choices and large not in symbols_in(small):
            fresh = _fresh(large, found)
            found = _put(found, large, Polynomial.of(small + fresh - 1).as_expr(), fresh, whole=found.whole)
        elif isinstance(small, Symbol) and small in by_symbol and isinstance(large, int) and large <= _MOST_CHOICES:
            options = by_symbol[small].choices or tuple(range(1, large + 1))
            found = _limited(found, small, tuple(option for option in options if option <= large))
        else:
            found = replace(found, left=(*found.left, condition))
    return found


def _is_at_most(small: Dim, large: Dim) -> bool:
    """Whether the larger side is a multiple of the smaller one."""
    ratio = (Polynomial.of(large) * Polynomial.of(small).inverse()).terms
    return all(isinstance(c, int) and c > 0 and all(e > 0 for _, e in monomial) for monomial, c in ratio.items())


def _coordinate(found: Lattice, symbol: Symbol) -> Coordinate:
    return next(c for c in found.coordinates if c.symbol == symbol)


def _put(found: Lattice, symbol: Symbol, formula: Expr, fresh: Symbol, *, whole: bool) -> Lattice:
    """Replace a coordinate by a formula with a new one."""
    coordinates = tuple(Coordinate(fresh) if c.symbol == symbol else c for c in found.coordinates)
    formulas = {known: Polynomial.of(substitute(value, {symbol: formula})).as_expr() for known, value in found.formulas.items()}
    return replace(found, coordinates=coordinates, formulas=formulas, whole=whole)


def _limited(found: Lattice, symbol: Symbol, choices: tuple[int, ...]) -> Lattice:
    return replace(found, coordinates=tuple(Coordinate(symbol, choices) if c.symbol == symbol else c for c in found.coordinates))


def _fresh(symbol: Symbol, found: Lattice) -> Symbol:
    """Return a new coordinate, named after the symbol that it replaces in lower case: h for H, or h_ if h is taken."""
    taken = {known.name for known in found.formulas} | {c.symbol.name for c in found.coordinates if c.symbol != symbol}
    name = symbol.name.lower()
    while name in taken:
        name += "_"
    return Symbol(name, integer=True, positive=True)
