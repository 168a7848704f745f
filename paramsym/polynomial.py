"""Exact sparse polynomials: the canonical form behind every count.

A polynomial maps monomials to rational coefficients. A monomial is a frozen set of ``(generator, exponent)`` pairs; exponents may be
negative, because quotients such as H/A are first-class. Generators are SymPy symbols and the few *atoms* that sizes are made of:
``floor``, ``ceiling``, ``2**D``, ``Max``, ``Min``, ``Mod`` and the reciprocal of a sum. Python integers and fractions keep it exact, and
adding, multiplying and comparing is some hundred times faster than SymPy's ``expand``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb, gcd, lcm
from typing import TYPE_CHECKING, TypeAlias, cast

import sympy
from sympy import Add, Expr, Integer, Max, Min, Mod, Mul, Pow, Rational, Symbol, ceiling, floor

from paramsym.errors import SizeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Monomial: TypeAlias = "frozenset[tuple[Expr, int]]"
Number: TypeAlias = "int | Fraction"

ONE: Monomial = frozenset()
_INTEGER_VALUED = (Symbol, floor, ceiling, Max, Min, Mod, Pow)
_MAX_POWER = 64  # no architecture has a higher power; (a + b)**1000 would only fill the memory


def _tidy(number: Number) -> Number:
    return number.numerator if isinstance(number, Fraction) and number.denominator == 1 else number


def _times(left: Monomial, right: Monomial) -> Monomial:
    if not left:
        return right
    if not right:
        return left
    exponents = dict(left)
    for generator, exponent in right:
        total = exponents.get(generator, 0) + exponent
        if total:
            exponents[generator] = total
        else:
            del exponents[generator]
    return frozenset(exponents.items())


class Polynomial:
    """An immutable sparse polynomial with rational coefficients and integer exponents.

    >>> from paramsym import A, H
    >>> (Polynomial.of(A) * Polynomial.of(H / A) + Polynomial.of(1)).as_expr()
    H + 1
    """

    __slots__ = ("_expr", "_hash", "terms")

    terms: dict[Monomial, Number]

    def __init__(self, terms: Mapping[Monomial, Number]) -> None:
        """Keep the terms whose coefficient is not zero."""
        self.terms = {monomial: c if isinstance(c, int) else _tidy(c) for monomial, c in terms.items() if c}
        self._expr: Expr | None = None
        self._hash: int | None = None

    @classmethod
    def of(cls, value: Expr | int) -> Polynomial:
        """Return the polynomial of an int or a SymPy expression.

        Raises:
            SizeError: for floats, for functions that no size is made of, and for powers above 64.
        """
        if isinstance(value, int):
            return cls({ONE: value})
        return _of_expr(value)

    @classmethod
    def total(cls, polynomials: Iterable[Polynomial]) -> Polynomial:
        """Add many at once."""
        terms: dict[Monomial, Number] = {}
        for polynomial in polynomials:
            for monomial, c in polynomial.terms.items():
                terms[monomial] = terms.get(monomial, 0) + c
        return _settled(cls(terms))

    @classmethod
    def product(cls, values: Iterable[Expr | int]) -> Polynomial:
        """Multiply sizes."""
        return _product(tuple(values))

    def __add__(self, other: Polynomial) -> Polynomial:
        return Polynomial.total((self, other))

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -c for monomial, c in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, Number] = {}
        for left, c in self.terms.items():
            for right, d in other.terms.items():
                monomial = _times(left, right)
                terms[monomial] = terms.get(monomial, 0) + c * d
        return _settled(Polynomial(terms))

    def __pow__(self, exponent: int) -> Polynomial:
        if exponent < 0:
            return self.inverse() ** -exponent
        if exponent > _MAX_POWER and len(self.terms) > 1:
            message = f"the power {exponent} of a sum is beyond any size ({_MAX_POWER} is the limit)."
            raise SizeError(message)
        result, base = _UNIT, self
        while exponent:
            if exponent & 1:
                result = result * base
            base, exponent = (base * base if exponent > 1 else base), exponent >> 1
        return result

    def inverse(self) -> Polynomial:
        """Return the reciprocal: exact for a single term, an atom ``1/(a + b)`` for a sum."""
        if not self.terms:
            message = "a quotient by zero is not a size."
            raise SizeError(message)
        if len(self.terms) == 1:
            ((monomial, c),) = self.terms.items()
            return Polynomial({frozenset((g, -e) for g, e in monomial): Fraction(1) / c})
        content, primitive = self._content()
        return Polynomial({frozenset({(primitive.as_expr(), -1)}): 1}) * content.inverse()

    def _content(self) -> tuple[Polynomial, Polynomial]:
        """Split off the common single term, so that 1/(2*A + 2*G) and 1/(A + G) share their atom."""
        common: dict[Expr, int] | None = None
        for monomial in self.terms:
            exponents = dict(monomial)
            if common is None:
                common = exponents
            else:
                common = {g: min(common.get(g, 0), exponents.get(g, 0)) for g in common.keys() | exponents.keys()}
        denominators = lcm(*(Fraction(c).denominator for c in self.terms.values()))
        divisor = Fraction(gcd(*(int(c * denominators) for c in self.terms.values())), denominators)
        if sympy.Integer(-1) in cast("Expr", self.as_expr().as_ordered_terms()[0]).as_ordered_factors():
            divisor = -divisor
        content = Polynomial({frozenset((g, e) for g, e in (common or {}).items() if e): divisor})
        return content, self * content.inverse()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __repr__(self) -> str:
        return f"Polynomial.of({self.as_expr()})"

    @property
    def constant(self) -> Number | None:
        """The value where no generator is left, else None."""
        if not self.terms:
            return 0
        return self.terms.get(ONE) if len(self.terms) == 1 else None

    @property
    def free_symbols(self) -> frozenset[Symbol]:
        """The symbols of all generators."""
        return frozenset(
            symbol for monomial in self.terms for generator, _ in monomial for symbol in cast("set[Symbol]", generator.free_symbols)
        )

    def as_expr(self) -> Expr:
        """Return the expanded SymPy expression; equal polynomials give structurally equal expressions."""
        if self._expr is None:
            self._expr = Add(
                *(Mul(_number(c), *(Pow(generator, exponent) for generator, exponent in monomial)) for monomial, c in self.terms.items())
            )
        return self._expr

    def diff(self, symbol: Symbol) -> Polynomial:
        """Return the derivative.

        Raises:
            SizeError: where the symbol stands inside a floor, a ceiling or an exponent: a step has no derivative.
        """
        terms: dict[Monomial, Number] = {}
        for monomial, c in self.terms.items():
            for generator, exponent in monomial:
                if generator == symbol:
                    lowered = _times(monomial, frozenset({(symbol, -1)}))
                    terms[lowered] = terms.get(lowered, 0) + c * exponent
                elif symbol in generator.free_symbols:
                    if isinstance(generator, Add):  # the atom 1/(a + b)
                        inner = Polynomial.of(generator).diff(symbol) * Polynomial({frozenset({(generator, -1)}): 1})
                        for extra, d in (inner * Polynomial({monomial: c * exponent})).terms.items():
                            terms[extra] = terms.get(extra, 0) + d
                        continue
                    message = f"{symbol} stands inside {generator}, which moves in steps and has no derivative; use finite differences."
                    raise SizeError(message)
        return _settled(Polynomial(terms))

    def replace(self, symbol: Symbol, value: Polynomial) -> Polynomial:
        """Put a polynomial in for a symbol that occurs as a generator only."""
        parts = []
        for monomial, c in self.terms.items():
            exponents = dict(monomial)
            exponent = exponents.pop(symbol, 0)
            rest = Polynomial({frozenset(exponents.items()): c})
            parts.append(rest * value**exponent if exponent else rest)
        return Polynomial.total(parts)

    def sum_over(self, index: Symbol, start: Polynomial, count: Polynomial, step: int = 1) -> Polynomial:
        """Sum over ``index = start, start + step, ...`` (``count`` values), in closed form: Faulhaber's sums.

        The cost does not depend on ``count``, unless the index stands inside a floor or a denominator; then ``count`` must be a number.

        Raises:
            SizeError: where such a sum has a symbolic count.
        """
        if all((g == index and e >= 0) or index not in g.free_symbols for monomial in self.terms for g, e in monomial):
            position = sympy.Dummy("position")
            shifted = self.replace(index, start + Polynomial.of(position) * Polynomial.of(step))
            parts = []
            for monomial, c in shifted.terms.items():
                exponents = dict(monomial)
                power = exponents.pop(position, 0)
                parts.append(Polynomial({frozenset(exponents.items()): c}) * _power_sum(power, count))
            return Polynomial.total(parts)
        geometric = self._sum_of_powers(index, start, count, step)
        if geometric is not None:
            return geometric
        number, first = count.constant, start.constant
        if not isinstance(number, int) or not isinstance(first, int):
            message = (
                f"the sum of {self.as_expr()} over {index} has no closed form for {count.as_expr()} copies; give the alternating blocks"
                " as a tuple instead of a floor of the index."
            )
            raise SizeError(message)
        expression = self.as_expr()
        return Polynomial.total(Polynomial.of(cast("Expr", expression.xreplace({index: Integer(first + step * i)}))) for i in range(number))

    def _sum_of_powers(self, index: Symbol, start: Polynomial, count: Polynomial, step: int) -> Polynomial | None:
        """Sum terms in which the index stands in the exponent of one whole base, as in widths that double; None for other ones."""
        position = sympy.Dummy("position")
        shifted = start + Polynomial.of(position) * Polynomial.of(step)
        parts = []
        for monomial, c in self.terms.items():
            moving = [(g, e) for g, e in monomial if index in g.free_symbols and g != index]
            bases = {g.args[0] for g, _ in moving if isinstance(g, Pow) and isinstance(g.args[0], Integer)}
            if not moving and dict(monomial).get(index, 0) >= 0:
                parts.append(Polynomial({monomial: c}).sum_over(index, start, count, step))
                continue
            if len(bases) != 1 or not all(isinstance(g, Pow) for g, _ in moving):
                return None
            power = dict(monomial).get(index, 0)
            exponent = Polynomial.total(Polynomial.of(cast("Expr", g.args[1])) * Polynomial.of(e) for g, e in moving)
            if power < 0 or not all(g != index or e == 1 for m in exponent.terms for g, e in m):
                return None
            moved = exponent.replace(index, shifted)
            rate = moved.terms.get(frozenset({(position, 1)}), 0)
            if not isinstance(rate, int) or rate == 0 or sum(position in dict(m) for m in moved.terms) != 1:
                return None
            still = Polynomial({m: d for m, d in moved.terms.items() if position not in dict(m)})
            rest = Polynomial({frozenset((g, e) for g, e in monomial if index not in g.free_symbols): c})
            base = bases.pop()
            before = Polynomial.of(index) ** power
            for m, d in before.replace(index, shifted).terms.items():
                inner = dict(m)
                degree = inner.pop(position, 0)
                closing = _telescoped(degree, Fraction(int(base)) ** rate)
                end = _of_power(base, (still + count * Polynomial.of(rate)).as_expr()) * _at(closing, count)
                begin = _of_power(base, still.as_expr()) * Polynomial({ONE: closing[0]})
                parts.append(rest * Polynomial({frozenset(inner.items()): d}) * (end - begin))
        return Polynomial.total(parts)


_UNIT = Polynomial({ONE: 1})


def _number(value: Number) -> Expr:
    return Integer(value) if isinstance(value, int) else Rational(value.numerator, value.denominator)


def _settled(polynomial: Polynomial) -> Polynomial:
    """Cancel sums against their own reciprocals, where there are any: A*H/(A + G) + G*H/(A + G) is H."""
    if not any(isinstance(g, Add) for monomial in polynomial.terms for g, _ in monomial):
        return polynomial
    numerator, denominator = sympy.fraction(sympy.cancel(polynomial.as_expr()))
    found = sympy.factor_list(denominator)
    divisor: Number = _fraction(cast("Rational", found[0]))
    terms = Polynomial.of(sympy.expand(numerator)).terms
    for base, exponent in found[1]:
        generator = base
        if isinstance(base, Add):
            content, primitive = Polynomial.of(base)._content()
            generator, divisor = primitive.as_expr(), divisor * (content.constant or 1) ** exponent
        terms = {_times(monomial, frozenset({(generator, -exponent)})): c for monomial, c in terms.items()}
    return Polynomial({monomial: Fraction(c) / divisor for monomial, c in terms.items()})


def _fraction(number: Rational) -> Fraction:
    return Fraction(int(number.p), int(number.q))


@lru_cache(maxsize=1 << 14)
def _product(values: tuple[Expr | int, ...]) -> Polynomial:
    """Multiply sizes."""
    # Nearly every factor is one term: those are gathered in one monomial, and only sums are multiplied out.
    coefficient: Number = 1
    exponents: dict[Expr, int] = {}
    sums: list[Polynomial] = []
    for value in values:
        if isinstance(value, int):
            coefficient *= value
            continue
        factor = _of_expr(value)
        if len(factor.terms) != 1:
            sums.append(factor)
            continue
        ((monomial, c),) = factor.terms.items()
        coefficient *= c
        for generator, exponent in monomial:
            exponents[generator] = exponents.get(generator, 0) + exponent
    result = Polynomial({frozenset((g, e) for g, e in exponents.items() if e): coefficient})
    for factor in sums:
        result = result * factor
    return result


@lru_cache(maxsize=1 << 14)
def _of_expr(value: Expr) -> Polynomial:
    if isinstance(value, Symbol):
        return Polynomial({frozenset({(value, 1)}): 1})
    if isinstance(value, Integer):
        return Polynomial({ONE: int(value)})
    if isinstance(value, Rational):
        return Polynomial({ONE: _fraction(value)})
    if isinstance(value, Add):
        return Polynomial.total(_of_expr(argument) for argument in value.args)
    if isinstance(value, Mul):
        return Polynomial.product(value.args)
    if isinstance(value, Pow):
        return _of_power(*value.args)
    if isinstance(value, floor | ceiling):
        return _of_step(value)
    if isinstance(value, Max | Min | Mod):
        return _atom(value.func(*(_of_expr(argument).as_expr() for argument in value.args)))
    quotient = getattr(value, "as_quotient", None)
    if quotient is not None:
        numerator, denominator = quotient()
        return _of_expr(numerator) * _of_expr(denominator).inverse()
    message = f"{value} ({type(value).__name__}) is not made of whole-number sizes: + - * / ** floor, ceiling, Max, Min, Mod and per()."
    raise SizeError(message)


def _of_power(base: Expr, exponent: Expr) -> Polynomial:
    if isinstance(exponent, Integer):
        return _of_expr(base) ** int(exponent)
    power = _of_expr(exponent)
    if not isinstance(base, Integer | Symbol) or not base.is_positive or not all(_is_integral(m, c) for m, c in power.terms.items()):
        message = f"{base}**({exponent}) is not a size; a symbolic exponent needs a positive whole base and a whole exponent."
        raise SizeError(message)
    fixed = power.terms.get(ONE, 0)
    moving = Polynomial({m: c for m, c in power.terms.items() if m != ONE})
    return _of_expr(base) ** int(fixed) * _atom(Pow(base, moving.as_expr()))


def _of_step(value: Expr) -> Polynomial:
    """Pull whole terms out of a floor or ceiling, whatever assumptions the symbols carry.

    Of a constant such as -3/2 the whole part goes out and -1/2 stays, so that floor((W - 3)/2) + 1 is floor((W - 1)/2).
    """
    inside = _of_expr(value.args[0])
    terms = {m: c for m, c in inside.terms.items() if _is_integral(m, c)}
    constant = inside.terms.get(ONE, 0)
    terms[ONE] = (constant + Fraction(1, 2)).__floor__()
    whole = Polynomial(terms)
    rest = inside - whole
    return whole + _atom(value.func(rest.as_expr())) if rest else whole


def _is_integral(monomial: Monomial, coefficient: Number) -> bool:
    return isinstance(coefficient, int) and all(e > 0 and isinstance(g, _INTEGER_VALUED) for g, e in monomial)


def _atom(value: Expr) -> Polynomial:
    if isinstance(value, floor | ceiling | Max | Min | Mod | Pow):
        return Polynomial({frozenset({(value, 1)}): 1})
    return _of_expr(value)


@lru_cache(maxsize=64)
def _bernoulli(n: int) -> Fraction:
    """Bernoulli numbers with B1 = -1/2, by their recurrence."""
    if n == 0:
        return Fraction(1)
    return -sum((comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


def _power_sum(power: int, count: Polynomial) -> Polynomial:
    """Return 0**p + 1**p + ... + (n-1)**p as a polynomial in n."""
    if power == 0:
        return count
    return Polynomial.total(
        count ** (power + 1 - k) * Polynomial({ONE: Fraction(comb(power + 1, k), power + 1) * _bernoulli(k)}) for k in range(power + 1)
    )


def _telescoped(power: int, ratio: Fraction) -> list[Fraction]:
    """Return the coefficients of Q with ratio*Q(t + 1) - Q(t) = t**power, so that a sum of t**power*ratio**t telescopes."""
    found = [Fraction(0)] * (power + 1)
    for order in reversed(range(power + 1)):
        above = sum((ratio * comb(k, order) * found[k] for k in range(order + 1, power + 1)), Fraction(0))
        found[order] = (Fraction(int(order == power)) - above) / (ratio - 1)
    return found


def _at(coefficients: list[Fraction], value: Polynomial) -> Polynomial:
    return Polynomial.total(value**order * Polynomial({ONE: c}) for order, c in enumerate(coefficients))
