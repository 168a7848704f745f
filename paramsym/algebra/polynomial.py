"""Exact sparse polynomials: the canonical form after every count.

A polynomial maps monomials to rational coefficients. A monomial is a frozen set of ``(generator, exponent)`` pairs; exponents may be
negative, because quotients such as H/A are first-class. Generators are SymPy symbols and the few *atoms* that sizes are made of:
``floor``, ``ceiling``, ``2**D``, ``Max``, ``Min``, ``Mod`` and the reciprocal of a sum. Python integers and fractions keep it exact, and
adding, multiplying and comparing is about a hundred times faster than SymPy's ``expand``.

Every generator is a whole number by construction: the denominators inside ``Max``, ``Min`` and ``Mod`` are moved outside, and a power has
an exponent that is never negative (``2**(L - A)`` is ``2**L`` over ``2**A``). So a term is whole if its coefficient is an int and its
exponents are positive, and only such a term can be moved out of a ``floor``. Rounding functions are simplified here and not by SymPy: SymPy
relies on positive symbols, but a number of copies and the index of a repeat may be 0.

The file is long because polynomials and their atoms need each other: an atom contains polynomials and is a generator of others.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key, lru_cache
from math import comb, gcd, lcm, prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import sympy
from sympy import Add, Basic, Expr, Integer, Max, Min, Mod, Mul, Pow, Rational, Symbol, ceiling, default_sort_key, floor

from paramsym.errors import SizeError
from paramsym.naming import described, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Monomial: TypeAlias = "frozenset[tuple[Expr, int]]"
Number: TypeAlias = "int | Fraction"

ONE: Monomial = frozenset()
_ORDER = cmp_to_key(Basic.compare)
ROUNDED = (floor, ceiling, Max, Min, Mod)
"""The functions of sizes that are simplified here."""
_Terms: TypeAlias = "dict[Monomial, Number]"
_MAX_POWER = 64  # no architecture has a higher power, and (a + b)**1000 would fill the memory
_LONGEST_POWER = 1 << 16  # bits of a power of whole numbers
_DEEPEST = 32  # nesting depth of atoms
_FACTORED = 32  # bits of a base that is split into primes, and terms of a sum that is split into factors


def _tidy(number: Number) -> Number:
    return number.numerator if isinstance(number, Fraction) and number.denominator == 1 else number


@lru_cache(maxsize=1 << 14)
def symbols_of(generator: Expr) -> frozenset[Symbol]:
    """Return the symbols of a generator; SymPy goes through floors inside floors, as convolutions make them, each time that it is asked."""
    return frozenset(cast("set[Symbol]", generator.free_symbols))


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
            SizeError: for floats, functions that sizes cannot contain, and powers above 64.
        """
        if isinstance(value, int):
            return cls({ONE: value})
        if not isinstance(value, Expr):
            raise SizeError(f"{described(value)} is not a size; wanted a whole number or an expression in symbols from dims().")
        try:
            return _of_expr(value)
        except RecursionError:
            raise _too_deep() from None

    @classmethod
    def total(cls, polynomials: Iterable[Polynomial]) -> Polynomial:
        """Add many at once."""
        terms: _Terms = {}
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
        terms = {**self.terms}
        for monomial, c in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) - c
        return _settled(Polynomial(terms))

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: _Terms = {}  # plain loops here and in ``total``: nearly all the time of a closed form is spent in them
        for left, c in self.terms.items():
            for right, d in other.terms.items():
                monomial = _times(left, right)
                terms[monomial] = terms.get(monomial, 0) + c * d
        return _settled(Polynomial(terms))

    def __pow__(self, exponent: int) -> Polynomial:
        if exponent < 0:
            return self.inverse() ** -exponent
        if exponent > _MAX_POWER and len(self.terms) > 1:
            raise SizeError(f"the power {exponent} of a sum is too large for a size ({_MAX_POWER} is the limit).")
        result, base = _UNIT, self
        while exponent:
            if exponent & 1:
                result = result * base
            base, exponent = (base * base if exponent > 1 else base), exponent >> 1
        return result

    def inverse(self) -> Polynomial:
        """Return the reciprocal: exact for a single term, an atom ``1/(a + b)`` for a sum."""
        if not self.terms:
            raise SizeError("a quotient by zero is not a size.")
        if len(self.terms) == 1:
            ((monomial, c),) = self.terms.items()
            return Polynomial({frozenset((g, -e) for g, e in monomial): Fraction(1) / c})
        content, primitive = self._content()
        unit, factors = _factors(primitive)
        return Polynomial({frozenset((factor, -times) for factor, times in factors): 1 / unit}) * content.inverse()

    def _content(self) -> tuple[Polynomial, Polynomial]:
        """Split off the common single term, so that 1/(2*A + 2*G) and 1/(A + G) share their atom."""
        divisor, common = _common((self,))
        if sympy.Integer(-1) in cast("Expr", self.as_expr().as_ordered_terms()[0]).as_ordered_factors():
            divisor = -divisor
        content = Polynomial({frozenset((g, e) for g, e in common.items() if e): divisor})
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
        """The value if there are no generators, otherwise None."""
        if not self.terms:
            return 0
        return self.terms.get(ONE) if len(self.terms) == 1 else None

    @property
    def alone(self) -> Expr | None:
        """The generator if the polynomial is a single generator, otherwise None."""
        monomial = next(iter(self.terms)) if len(self.terms) == 1 else ONE
        generator, exponent = next(iter(monomial)) if len(monomial) == 1 else (None, 0)
        return generator if exponent == 1 and self.terms[monomial] == 1 else None

    @property
    def free_symbols(self) -> frozenset[Symbol]:
        """The symbols of all generators."""
        return frozenset().union(*(symbols_of(generator) for monomial in self.terms for generator, _ in monomial))

    def as_expr(self) -> Expr:
        """Return the expanded SymPy expression; equal polynomials give structurally equal expressions."""
        if self._expr is None:
            terms = [Mul(_number(c), *(Pow(generator, exponent) for generator, exponent in monomial)) for monomial, c in self.terms.items()]
            # The terms differ, so there is nothing to collect; SymPy would import its tensors before it looks for them.
            terms.sort(key=lambda term: (not term.is_Number, _ORDER(term)))
            self._expr = Add(*terms, evaluate=False)
        return self._expr

    def steps(self, symbol: Symbol) -> list[Expr]:
        """Return the atoms without a derivative that contain a symbol, including those inside reciprocals of sums.

        >>> from paramsym import A, H, L
        >>> Polynomial.of(floor(H / 2) * 2**L + H / A).steps(H)
        [floor(H/2)]
        """
        found: dict[Expr, None] = {}
        for generator in dict.fromkeys(generator for monomial in self.terms for generator, _ in monomial):
            if generator != symbol and symbol in symbols_of(generator):
                found.update(dict.fromkeys(_of_expr(generator).steps(symbol) if isinstance(generator, Add) else (generator,)))
        return sorted(found, key=default_sort_key)

    def diff(self, symbol: Symbol) -> Polynomial:
        """Return the derivative.

        Raises:
            SizeError: a symbol inside a floor, a ceiling or an exponent, which have no derivative.
        """
        parts = []
        for monomial, c in self.terms.items():
            for generator, exponent in monomial:
                if symbol not in symbols_of(generator):
                    continue
                if generator != symbol and not isinstance(generator, Add):  # an Add is the atom 1/(a + b)
                    raise SizeError(f"{symbol} is inside {generator}, which has no derivative; use finite differences.")
                inner = _UNIT if generator == symbol else Polynomial.of(generator).diff(symbol)
                parts.append(inner * Polynomial({_times(monomial, frozenset({(generator, -1)})): c * exponent}))
        return Polynomial.total(parts)

    def sum_over(self, index: Symbol, start: Polynomial, count: Polynomial, step: int = 1) -> Polynomial:
        """Sum over ``index = start, start + step, ...`` (``count`` values), in closed form: Faulhaber's sums.

        The cost does not depend on ``count``, unless the index is inside a floor or a denominator; then ``count`` must be a number.

        Raises:
            SizeError: a symbolic count for such a sum.
        """
        closed = self._closed_sum(index, start, count, step)
        if closed is not None:
            return closed
        number, first = count.constant, start.constant
        if not isinstance(number, int) or not isinstance(first, int):
            raise SizeError(
                f"the sum of {self.as_expr()} over {index} has no closed form for {count.as_expr()} copies; give the alternating blocks"
                " as a tuple instead of a floor of the index."
            )
        period = _period(self, index)
        if period < number:  # from one period to the next, every floor of the index grows by a whole number
            position = sympy.Dummy("position")
            rounds = [-(-(number - offset) // period) for offset in range(period)]
            every = Polynomial.of(step * period) * Polynomial.of(position)
            if _is_polynomial_in(self.put(index, Polynomial.of(first) + every), position):
                starts = [Polynomial.of(first + step * offset) for offset in range(period)]
                return Polynomial.total(
                    self.put(index, begin + every).sum_over(position, _NOTHING, Polynomial.of(n))
                    for begin, n in zip(starts, rounds, strict=True)
                )
        return Polynomial.total(self.put(index, Polynomial.of(first + step * i)) for i in range(number))

    def put(self, symbol: Symbol, value: Polynomial) -> Polynomial:
        """Replace every occurrence of a symbol by a polynomial.

        >>> from paramsym import H, L
        >>> Polynomial.of(L * floor(H / 2)).put(H, Polynomial.of(7)).as_expr()
        3*L
        """
        parts: list[Polynomial] = []
        for monomial, c in self.terms.items():
            kept = frozenset((g, e) for g, e in monomial if symbol not in symbols_of(g))
            parts.append(
                prod((_put(generator, symbol, value) ** exponent for generator, exponent in monomial - kept), start=Polynomial({kept: c}))
            )
        return Polynomial.total(parts)

    def _closed_sum(self, index: Symbol, start: Polynomial, count: Polynomial, step: int) -> Polynomial | None:
        """Sum terms ``index**p * base**(r*index + s)``, with no base or a whole one, as for widths that double; None for other terms."""
        position = sympy.Dummy("position")
        shifted = start + Polynomial.of(position) * Polynomial.of(step)
        parts = []
        for monomial, c in self.terms.items():
            power = dict(monomial).get(index, 0)
            moving = [(g, e) for g, e in monomial if index in symbols_of(g) and g != index]
            bases = {g.args[0] for g, _ in moving if isinstance(g, Pow)}
            if power < 0 or len(bases) > 1 or not all(isinstance(g, Pow) and isinstance(g.args[0], Integer) for g, _ in moving):
                return None
            exponent = Polynomial.total(Polynomial.of(cast("Expr", g.args[1])) * Polynomial.of(e) for g, e in moving)
            if not all(g != index or e == 1 for m in exponent.terms for g, e in m):
                return None
            moved = exponent.put(index, shifted)
            rate = moved.terms.get(frozenset({(position, 1)}), 0)
            if not isinstance(rate, int) or [m for m in moved.terms if position in dict(m)] != [frozenset({(position, 1)})] * len(bases):
                return None
            still = Polynomial({m: d for m, d in moved.terms.items() if position not in dict(m)})
            rest = Polynomial({frozenset((g, e) for g, e in monomial if index not in symbols_of(g)): c})
            base = bases.pop() if bases else Integer(1)
            for m, d in (Polynomial.of(index) ** power).put(index, shifted).terms.items():
                inner = dict(m)
                closing = _telescoped(inner.pop(position, 0), Fraction(int(base)) ** rate)
                end = _of_power(base, (still + count * Polynomial.of(rate)).as_expr()) * _at(closing, count)
                begin = _of_power(base, still.as_expr()) * Polynomial({ONE: closing[0]})
                parts.append(rest * Polynomial({frozenset(inner.items()): d}) * (end - begin))
        return Polynomial.total(parts)


_UNIT = Polynomial({ONE: 1})


def _number(value: Number) -> Expr:
    return Integer(value) if isinstance(value, int) else Rational(value.numerator, value.denominator)


def _settled(polynomial: Polynomial) -> Polynomial:
    """Cancel sums against their own reciprocals, if any: A*H/(A + G) + G*H/(A + G) is H.

    Terms over the same sums are collected, and each numerator is divided by those sums if they divide it. Over one sum alone,
    its leading term is divided out as well: A/(A + 1) is 1 - 1/(A + 1). Quotients over different sums are not joined, so the time is linear
    in their number; a product of reciprocals is not split into partial fractions.
    """
    if not any(isinstance(g, Add) for monomial in polynomial.terms for g, _ in monomial):
        return polynomial
    over: dict[Monomial, _Terms] = {}
    for monomial, c in polynomial.terms.items():
        sums = frozenset((g, e) for g, e in monomial if isinstance(g, Add))
        over.setdefault(sums, {})[monomial - sums] = c
    found: _Terms = {}
    while over:
        sums = max(over, key=_degree)  # after the division, a term is over fewer sums
        numerator = over.pop(sums)
        for divisor in sorted((g for g, _ in sums), key=default_sort_key):
            quotient, rest = _divided(numerator, divisor, exact=True)
            if rest and len(sums) == 1:
                quotient, rest = _divided(numerator, divisor, exact=False)
            if quotient and (len(sums) == 1 or not rest):
                fewer = over.setdefault(_times(sums, frozenset({(divisor, 1)})), {})
                for monomial, c in quotient.items():
                    fewer[monomial] = fewer.get(monomial, 0) + c
                numerator = rest
                break
        found.update((_times(monomial, sums), c) for monomial, c in numerator.items() if c)
    return Polynomial(found)


def _degree(monomial: Monomial) -> int:
    return sum(abs(exponent) for _, exponent in monomial)


def _divided(numerator: _Terms, divisor: Expr, *, exact: bool) -> tuple[_Terms, _Terms]:
    """Divide by a sum: quotient and rest, no term of which is a multiple of the sum's leading term.

    ``exact`` asks for no rest and allows negative exponents: G/A + 1 is (A + G)/A.
    """
    whole, lead = _leading(divisor)
    least: dict[Expr, int] = {}
    if exact:
        for monomial in numerator:
            for generator, exponent in monomial:
                least[generator] = min(least.get(generator, 0), exponent)
    coefficient = whole.terms[lead]
    others = [(monomial, c) for monomial, c in whole.terms.items() if monomial != lead]
    inverse = frozenset((g, -e) for g, e in lead)
    quotient: _Terms = {}
    rest: _Terms = {}
    left = {monomial: c for monomial, c in numerator.items() if c}
    while left:
        monomial, c = left.popitem()
        exponents = dict(monomial)
        if any(exponents.get(g, 0) - least.get(g, 0) < e for g, e in lead):
            rest[monomial] = c
            continue
        if not c:
            continue
        times = _times(monomial, inverse)
        ratio = _tidy(Fraction(c) / coefficient)
        quotient[times] = quotient.get(times, 0) + ratio
        for other, d in others:
            product = _times(times, other)
            left[product] = left.pop(product, 0) + rest.pop(product, 0) - ratio * d
    return quotient, {monomial: c for monomial, c in rest.items() if c}


@lru_cache(maxsize=1 << 10)
def _leading(divisor: Expr) -> tuple[Polynomial, Monomial]:
    """Return a sum and its leading monomial: that of the highest degree, then by the names of the letters."""
    whole = _of_expr(divisor)
    letters = sorted({g for monomial in whole.terms for g, _ in monomial}, key=default_sort_key)

    def rank(monomial: Monomial) -> tuple[int, ...]:
        exponents = dict(monomial)
        return sum(exponents.values()), *(exponents.get(letter, 0) for letter in letters)

    return whole, max(whole.terms, key=rank)


def _common(polynomials: Sequence[Polynomial]) -> tuple[Fraction, dict[Expr, int]]:
    """Return the largest single term, a coefficient and exponents, that divides every term of all of them."""
    monomials = [dict(monomial) for polynomial in polynomials for monomial in polynomial.terms]
    letters = {g for exponents in monomials for g in exponents}
    coefficients = [Fraction(c) for polynomial in polynomials for c in polynomial.terms.values()]
    denominator = lcm(*(c.denominator for c in coefficients))
    divisor = Fraction(gcd(*(int(c * denominator) for c in coefficients)), denominator)
    return divisor, {g: min(exponents.get(g, 0) for exponents in monomials) for g in letters}


@lru_cache(maxsize=1 << 10)
def _factors(primitive: Polynomial) -> tuple[Fraction, tuple[tuple[Expr, int], ...]]:
    """Split a sum into a number and factors that are sums themselves; a long sum is not factored, because that takes too long."""
    letters = sorted({g for monomial in primitive.terms for g, _ in monomial}, key=default_sort_key)
    if len(primitive.terms) > _FACTORED:
        return Fraction(1), ((primitive.as_expr(), 1),)
    powers = {tuple(dict(monomial).get(letter, 0) for letter in letters): _number(c) for monomial, c in primitive.terms.items()}
    number, found = sympy.Poly.from_dict(powers, *(sympy.Dummy() for _ in letters)).factor_list()
    unit = _fraction(cast("Rational", number))
    factors = []
    for factor, times in found:
        terms = {frozenset((g, e) for g, e in zip(letters, exponents, strict=True) if e): int(c) for exponents, c in factor.terms()}
        content, sum_alone = Polynomial(terms)._content()
        unit *= Fraction(content.constant or 1) ** times
        factors.append((sum_alone.as_expr(), times))
    return unit, tuple(factors)


def _fraction(number: Rational) -> Fraction:
    return Fraction(int(number.p), int(number.q))


@lru_cache(maxsize=1 << 14)
def _product(values: tuple[Expr | int, ...]) -> Polynomial:
    # Nearly every factor is one term: these are collected in one monomial, and only sums are multiplied out.
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
    return prod(sums, start=Polynomial({frozenset((g, e) for g, e in exponents.items() if e): coefficient}))


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
    if isinstance(value, ROUNDED):
        return _made(value.func, [_of_expr(argument) for argument in value.args])
    quotient = getattr(value, "as_quotient", None)
    if quotient is not None:
        numerator, denominator = quotient()
        return _of_expr(numerator) * _of_expr(denominator).inverse()
    raise SizeError(
        f"{short(value)} ({type(value).__name__}) is not made of whole-number sizes: + - * / ** floor, ceiling, Max, Min, Mod and per()."
    )


def _of_power(base: Expr, exponent: Expr) -> Polynomial:
    """Return a power; one of a symbolic exponent as a product of powers whose exponents are single terms and never negative."""
    if isinstance(exponent, Integer):
        return _of_expr(base) ** int(exponent)
    power = _of_expr(exponent)
    if not isinstance(base, Rational | Symbol) or not base.is_positive or not all(_is_integral(m, c) for m, c in power.terms.items()):
        message = f"{short(base)}**({short(exponent)}) is not a size; a symbolic exponent needs a positive whole base and a whole exponent."
        raise SizeError(message)
    return prod(
        (_one_power(one, monomial, int(c) * times) for one, times in _bases(base) for monomial, c in power.terms.items()), start=_UNIT
    )


def _bases(base: Expr) -> Iterator[tuple[Expr, int]]:
    """Split a base into primes, so that 4**L is 2**(2*L), and a fraction into powers and reciprocals."""
    if isinstance(base, Symbol):
        yield base, 1
        return
    fraction = _fraction(cast("Rational", base))
    for number, sign in ((fraction.numerator, 1), (fraction.denominator, -1)):
        factors = sympy.factorint(number) if number.bit_length() <= _FACTORED else {number: 1}
        yield from ((Integer(prime), sign * times) for prime, times in factors.items())


def _one_power(base: Expr, monomial: Monomial, times: int) -> Polynomial:
    """Return ``base**(times * monomial)``."""
    if monomial == ONE:
        if isinstance(base, Integer) and int(base).bit_length() * abs(times) > _LONGEST_POWER:
            raise SizeError(f"a power of {short(base)} with {int(base).bit_length() * abs(times):,} bits is too large for a size.")
        return _of_expr(base) ** times
    exponent = Polynomial({monomial: 1})
    if is_nonnegative(exponent):
        return _generator(Pow(base, exponent.as_expr())) ** times
    up, down = (_extreme(Max, [side, _NOTHING]).as_expr() for side in (exponent, -exponent))
    return _generator(Pow(base, up)) ** times * _generator(Pow(base, down)) ** -times


_NOTHING = Polynomial({})


def _made(kind: Any, arguments: Sequence[Polynomial]) -> Polynomial:
    if kind in {floor, ceiling}:
        return _step(kind, arguments[0])
    return _remainder(*arguments) if kind is Mod else _extreme(kind, arguments)


def _generator(atom: Expr) -> Polynomial:
    if _depth(atom) > _DEEPEST:
        raise _too_deep()
    return Polynomial({frozenset({(atom, 1)}): 1})


@lru_cache(maxsize=1 << 12)
def _depth(value: Expr) -> int:
    return isinstance(value, (*ROUNDED, Pow)) + max((_depth(cast("Expr", argument)) for argument in value.args), default=0)


def _too_deep() -> SizeError:
    return SizeError(f"an expression with more than {_DEEPEST} nested functions is not a size.")


def _step(kind: Any, inside: Polynomial) -> Polynomial:
    """Move whole terms out of a floor or ceiling, for any assumptions of the symbols.

    For a constant such as -3/2 the whole part is moved out and -1/2 stays, so that floor((W - 3)/2) + 1 is floor((W - 1)/2). A whole number
    over another is rounded down, or up if no constant is left then: floor((W - 1)/2) + 1 is ceiling(W/2).
    """
    constant = inside.terms.get(ONE, 0)
    terms = {m: c for m, c in inside.terms.items() if m != ONE and _is_integral(m, c)}
    divided = Polynomial({m: c for m, c in inside.terms.items() if m != ONE and m not in terms})
    if not divided:
        return Polynomial({**terms, ONE: constant.__floor__() if kind is floor else constant.__ceil__()})
    if all(exponent > 0 for monomial in divided.terms for _, exponent in monomial):  # a whole number over another
        below = lcm(*(Fraction(c).denominator for c in divided.terms.values()))
        above = (constant * below).__floor__() if kind is floor else (constant * below).__ceil__() + below - 1
        kind, above = (floor, above) if (above + 1) % below else (ceiling, above + 1 - below)
        constant = Fraction(above, below)
    terms[ONE] = (constant + Fraction(1, 2)).__floor__()
    rest = divided + Polynomial({ONE: constant - terms[ONE]})
    return Polynomial(terms) + _generator(kind(rest.as_expr(), evaluate=False))


def _extreme(kind: Any, arguments: Sequence[Polynomial]) -> Polynomial:
    """Return the largest or smallest of polynomials; denominators that cannot be negative are moved outside."""
    divisor, common = _common(arguments)
    exponents = frozenset((g, e if _is_natural(g) else e - e % 2) for g, e in common.items() if e < 0)
    outside = Polynomial({exponents: Fraction(1, divisor.denominator)})
    inside = [argument * outside.inverse() for argument in arguments] if outside != _UNIT else list(arguments)
    kept: list[Polynomial] = []
    for one in (each for argument in inside for each in _of_kind(kind, argument)):
        if not any(is_nonnegative(other - one if kind is Max else one - other) for other in kept):
            kept = [other for other in kept if not is_nonnegative(one - other if kind is Max else other - one)]
            kept.append(one)
    result = kept[0] if len(kept) == 1 else _generator(kind(*(one.as_expr() for one in kept), evaluate=False))
    return outside * result


def _of_kind(kind: Any, argument: Polynomial) -> Iterator[Polynomial]:
    """Yield the arguments of a Max inside a Max; anything else as it is."""
    alone = argument.alone
    if alone is not None and isinstance(alone, kind):
        yield from (_of_expr(inner) for inner in alone.args)
    else:
        yield argument


def _remainder(above: Polynomial, below: Polynomial) -> Polynomial:
    """Return the remainder of a division; common factors are moved outside."""
    if not below:
        raise SizeError("the remainder of a division by zero is not a size.")
    divisor, common = _common((above, below))
    outside = Polynomial({frozenset((g, e) for g, e in common.items() if e): divisor})
    above, below = (side * outside.inverse() for side in (above, below))
    if len(below.terms) == 1:
        ((monomial, c),) = below.terms.items()
        inverse = frozenset((g, -e) for g, e in monomial)
        above = Polynomial({m: _left_over(int(d), int(c)) if _is_integral(_times(m, inverse), 1) else d for m, d in above.terms.items()})
    elif all(_is_integral(m, c) for m, c in (above * below.inverse()).terms.items()):
        return _NOTHING
    if above.constant is not None and below.constant is not None:
        return outside * Polynomial({ONE: above.constant % below.constant})
    return outside * _generator(Mod(above.as_expr(), below.as_expr(), evaluate=False))


def _left_over(number: int, divisor: int) -> int:
    """Return the remainder of a number, with the number's sign: -W stays -W."""
    return abs(number) % abs(divisor) * (1 if number > 0 else -1)


def _is_integral(monomial: Monomial, coefficient: Number) -> bool:
    return isinstance(coefficient, int) and all(e > 0 for _, e in monomial)


def is_nonnegative(polynomial: Polynomial) -> bool:
    """Whether a polynomial is known to be zero or more, as every symbol is; numbers of copies may be zero."""
    return all(c > 0 and all(e % 2 == 0 or _is_natural(g) for g, e in monomial) for monomial, c in polynomial.terms.items())


@lru_cache(maxsize=1 << 12)
def _is_natural(generator: Expr) -> bool:
    """Whether a generator is known to be zero or more."""
    if isinstance(generator, Symbol | Pow):
        return True
    if isinstance(generator, Add):
        return is_nonnegative(_of_expr(generator))
    known = [is_nonnegative(_of_expr(cast("Expr", argument))) for argument in generator.args]
    return any(known) if isinstance(generator, Max) else known[-1] if isinstance(generator, Mod) else all(known)


@lru_cache(maxsize=1 << 14)
def _put(generator: Expr, symbol: Symbol, value: Polynomial) -> Polynomial:
    if generator == symbol:
        return value
    if isinstance(generator, Add):
        return _of_expr(generator).put(symbol, value)
    arguments = [_of_expr(cast("Expr", argument)).put(symbol, value) for argument in generator.args]
    return _of_power(*(one.as_expr() for one in arguments)) if isinstance(generator, Pow) else _made(generator.func, arguments)


def _is_polynomial_in(polynomial: Polynomial, symbol: Symbol) -> bool:
    return all((g == symbol and e >= 0) or symbol not in symbols_of(g) for monomial in polynomial.terms for g, e in monomial)


def _period(polynomial: Polynomial, index: Symbol) -> int:
    """Return the period of an index: the number by which floors, ceilings and remainders divide it."""
    found = 1
    for monomial in polynomial.terms:
        for generator, _ in monomial:
            if generator != index and index in symbols_of(generator):
                inside = _of_expr(cast("Expr", generator.args[0]))
                found = lcm(found, *(Fraction(c).denominator for c in inside.terms.values()))
                if isinstance(generator, Mod) and isinstance(generator.args[1], Integer):
                    found = lcm(found, int(generator.args[1]))
    return found


@lru_cache(maxsize=256)
def _telescoped(power: int, ratio: Fraction) -> tuple[Fraction, ...]:
    """Return the coefficients of Q with ratio*Q(t + 1) - Q(t) = t**power, with which the sum of t**power*ratio**t telescopes.

    With a ratio of 1 the highest powers cancel, and Q is Faulhaber's polynomial of one degree more.
    """
    more = int(ratio == 1)
    found = [Fraction(0)] * (power + 1 + more)
    for order in reversed(range(power + 1)):
        above = sum((ratio * comb(k, order) * found[k] for k in range(order + 1 + more, len(found))), Fraction(0))
        found[order + more] = (Fraction(int(order == power)) - above) / (order + 1 if more else ratio - 1)
    return tuple(found)


@lru_cache(maxsize=1 << 10)
def _at(coefficients: tuple[Fraction, ...], value: Polynomial) -> Polynomial:
    return Polynomial.total(value**order * Polynomial({ONE: c}) for order, c in enumerate(coefficients))
