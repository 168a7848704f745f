"""The subject of a claim: its formula, its sizes, and its lines in letters and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, wraps
from math import prod
from typing import Any, TypeAlias, TypeVar

from sympy import Expr, Integer, Symbol

from paramsym.algebra.polynomial import Monomial, Number, Polynomial
from paramsym.algebra.size import Dim, per, substitute, symbols_in
from paramsym.analysis.counted import Counted, lines, numbers, title, words
from paramsym.core.ledger import Line
from paramsym.errors import SizeError

T = TypeVar("T")
Sizes: TypeAlias = Mapping[Symbol, "int | Expr"]
_NEARBY = 20  # wrong claims are assumed to be within a twentieth of the count, or as far as the given claim
_WIDEST = 16  # smaller sizes divide too many numbers to distinguish claims


@dataclass(frozen=True)
class Subject:
    """A layer or a cost with a number: ``root`` before sizes, ``layer`` after; ``others`` are the further sizes to try, as given."""

    layer: Counted
    others: Any = None

    @cached_property
    def root(self) -> Counted:
        """The layer before sizes were put in."""
        return self.layer.origin[0]

    @cached_property
    def sizes(self) -> dict[Symbol, Dim]:
        """The sizes."""
        return dict(self.layer.origin[1])

    @cached_property
    def whole(self) -> dict[Symbol, int]:
        """The sizes that are numbers."""
        return numbers(self.sizes)

    @cached_property
    def used(self) -> dict[Symbol, int]:
        """The sizes that are numbers and do not cancel."""
        return {symbol: size for symbol, size in self.whole.items() if symbol in self.formula.free_symbols}

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The sizes as numbers; for a layer that was built with numbers, the factors of its tensors."""
        known = self.whole.values() or [factor for line in self.lines for factor in line.factors if isinstance(factor, int)]
        return tuple(dict.fromkeys(known))

    @property
    def name(self) -> str:
        """The class of the layer, and the inputs of a cost."""
        return title(self.layer)

    @property
    def unit(self) -> str:
        """What is counted."""
        return words(self.layer).unit

    @cached_property
    def count(self) -> int:
        """The number that claims are compared with."""
        return self.layer.count

    @cached_property
    def formula(self) -> Polynomial:
        """The closed form."""
        return self.root.polynomial

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The counted lines, in letters, without lines of 0 copies."""
        return tuple(line for line in lines(self.root) if self.ratio(line.polynomial()) != 0)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """The contribution of each of ``lines``."""
        return tuple(self.value(polynomial) for polynomial in self.polynomials)

    @cached_property
    def polynomials(self) -> tuple[Polynomial, ...]:
        """The contribution of each of ``lines``, in letters."""
        return tuple(line.polynomial() for line in self.lines)

    def total(self, lines: Iterable[int]) -> Polynomial:
        """The sum of some of ``lines``, in letters."""
        return Polynomial.total(self.polynomials[i] for i in lines)

    def expected(self, differences: Iterable[int], difference: int) -> float:
        """Return how many of ``differences`` would fit a random claim by chance.

        The random claim is as far from the count as ``difference``, and its difference is a multiple of the same width.
        """
        window = max(abs(difference), self.count // _NEARBY)
        width = max((size for size in self.numbers if size >= _WIDEST and difference % size == 0), default=1)
        reached = sum(abs(value) <= window and value % width == 0 for value in differences)
        return reached / max(1, 2 * (window // width))

    def value(self, value: Polynomial | Expr | int, sizes: Sizes | None = None) -> int:
        """Put the sizes into a polynomial; the result must be a whole number."""
        number = self.ratio(value, sizes)
        return int(number) if number.denominator == 1 else 0

    def ratio(self, value: Polynomial | Expr | int, sizes: Sizes | None = None) -> Fraction:
        """Put the sizes into a polynomial and return the exact fraction."""
        if isinstance(value, int):
            return Fraction(value)
        polynomial = value if isinstance(value, Polynomial) else Polynomial.of(value)
        return evaluated(polynomial, self.sizes, self._known) if sizes is None else evaluated(polynomial, sizes)

    @cached_property
    def _known(self) -> dict[Monomial, Number]:
        """The values of monomials at the sizes: hundreds of edits have the same few."""
        return {}


def cached(most: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return a decorator that keeps the last results of a function; those for a user's layer without a hash are found each time."""

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        kept = lru_cache(most)(function)

        @wraps(function)
        def found(*asked: Any) -> T:
            try:
                hash(asked)
            except TypeError:
                return function(*asked)
            return kept(*asked)

        return found

    return decorate


def evaluated(polynomial: Polynomial, sizes: Sizes, known: dict[Monomial, Number] | None = None) -> Fraction:
    """Return a polynomial's value, exactly; ``known`` are values of monomials at these sizes, to which those of this polynomial are added.

    Raises:
        SizeError: a symbol without a size, which the count does not contain because it cancels.
    """
    values = {} if known is None else known
    for monomial in polynomial.terms.keys() - values.keys():
        above = prod(_number(generator, sizes) ** exponent for generator, exponent in monomial if exponent > 0)
        below = prod(_number(generator, sizes) ** -exponent for generator, exponent in monomial if exponent < 0)
        values[monomial] = above if below == 1 else Fraction(above, below)
    return Fraction(sum(coefficient * values[monomial] for monomial, coefficient in polynomial.terms.items()))


def _number(generator: Expr, sizes: Sizes) -> int:
    for symbol in (generator,) if isinstance(generator, Symbol) else symbols_in(generator):
        if symbols_in(sizes.get(symbol, symbol)):
            raise SizeError(f"there is no number for {symbol}; put sizes in with .at(...).")
    if isinstance(generator, Symbol):
        return int(sizes[generator])
    return int(substitute(generator, {symbol: Integer(sizes[symbol]) for symbol in symbols_in(generator)}))


def heads(line: Line) -> frozenset[Dim]:
    """The numbers of slices that a tensor's axes are made of: the first factor of an axis with several, the divisor of a lone quotient."""
    found: set[Dim] = set()
    for first, *others in line.axes:
        found.update([first] if others else (divisor for _, divisor in _quotients(first)))
    return frozenset(slices for slices in found if not isinstance(slices, int) or slices > 1)


def widths(line: Line) -> frozenset[Dim]:
    """The full widths of slices: H if an axis is A slices of H/A, or one such slice."""
    return frozenset(full for axis in line.axes for factor in axis for full, _ in _quotients(factor))


def _quotients(size: Dim) -> list[tuple[Dim, Dim]]:
    """Return the dividend and the divisor of every exact quotient in a size."""
    return [quotient.as_quotient() for quotient in size.atoms(per) if isinstance(quotient, per)] if isinstance(size, Expr) else []
