"""Makes the straight-line program of a closed form, or of a layer with its conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial, reduce
from itertools import chain, product
from math import gcd, lcm
from typing import Any, TypeAlias, cast

from sympy import Add, Expr, Integer, Max, Mod, Pow, Symbol, ceiling, floor

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Condition, symbols_in
from paramsym.analysis.counted import Counted
from paramsym.analysis.evaluate.differing import conditions_of_costs
from paramsym.analysis.evaluate.straight_line import CHECKS, LIMIT, ON_INTS, QUOTIENTS, SURE, Bounds, Kind, Op, StraightLine, always, bound
from paramsym.core.conditions import conditions_of, of_quotients
from paramsym.errors import ArgumentError, SizeError
from paramsym.measure.cost import Cost
from paramsym.naming import described

_ALWAYS_KNOWN = frozenset({"add", "sub", "mul", "max", "min"})
_Terms: TypeAlias = Mapping[frozenset[tuple[int, int]], int]
_FACTORED = 256  # the most terms of a sum that is factored as a whole
_CHECKED: Mapping[str, Kind] = {"divides": "divides", "at most": "most", "equal": "equal", "differ": "differ"}


@dataclass(frozen=True)
class Statement:
    """The statement of a layer, a cost or an expression, or of several: their values, their symbols, and the conditions between them.

    ``polynomials`` is empty if there is no closed form in symbols.
    """

    polynomials: tuple[Polynomial, ...]
    symbols: tuple[Symbol, ...]
    conditions: tuple[Condition, ...]

    @cached_property
    def needed(self) -> tuple[Symbol, ...]:
        """The symbols that the values depend on; the others cancel, and may be left out."""
        free = {symbol for one in self.polynomials for symbol in one.free_symbols}
        return tuple(symbol for symbol in self.symbols if symbol in free)

    def program(self, inputs: Sequence[Symbol], value: Polynomial | None = None, held: Iterable[Symbol] | None = None) -> StraightLine:
        """Return the program that reads these symbols in this order.

        ``value`` replaces the statement's values. Conditions on symbols that are not in ``held`` are left out; by default ``held`` is all
        inputs.
        """
        known = frozenset(inputs if held is None else held)
        compiler = _Compiler(inputs, [one for one in self.conditions if symbols_in((one.small, one.large)) <= known])
        values = self.polynomials if value is None else (value,)
        if not values:
            compiler.step("differ", compiler.one, compiler.one)  # refuses all sizes, so that every count comes from at()
        return compiler.finished(*(map(compiler.polynomial, values) if values else [compiler.one]))


def stated(*subjects: Counted | Expr | int) -> Statement:
    """Return the statement of a layer, a cost or an expression, or of several.

    Raises:
        ArgumentError: neither a layer, a cost nor an expression.
        SizeError: an expression that cannot be a size.
    """
    known = tuple(map(_checked, subjects))
    try:
        symbols = (one.symbols if isinstance(one, Counted) else cast("set[Symbol]", one.free_symbols) for one in known)
        return _stated(known, frozenset(chain.from_iterable(symbols)))  # equal costs may have been asked with other letters
    except RecursionError:
        raise SizeError("the expression is nested too deeply.") from None


def _checked(subject: Counted | Expr | int) -> Counted | Expr:
    if isinstance(subject, int) and not isinstance(subject, bool):
        return Integer(subject)
    if not isinstance(subject, Counted | Expr):
        raise ArgumentError(f"wanted a layer, a cost or an expression in symbols from dims(), not {described(subject)}.")
    return subject


@lru_cache(maxsize=1024)
def _stated(subjects: tuple[Counted | Expr, ...], symbols: frozenset[Symbol]) -> Statement:
    of_costs = iter(conditions_of_costs(*(one for one in subjects if isinstance(one, Cost))))
    polynomials: list[Polynomial] = []
    conditions: dict[Condition, None] = {}
    for one in subjects:
        asked = next(of_costs) if isinstance(one, Cost) else tuple(of_quotients(one)) if isinstance(one, Expr) else conditions_of(one)
        conditions |= dict.fromkeys(asked)
        try:
            polynomials.append(Polynomial.of(one) if isinstance(one, Expr) else one.polynomial)
        except SizeError:
            if isinstance(one, Expr):
                raise
    return Statement(tuple(polynomials), _ordered(symbols), tuple(conditions))


def compiled(*subjects: Counted | Expr | int, inputs: tuple[Symbol, ...] | None = None) -> StraightLine:
    """Return the program of a layer's count, or of an expression, with its conditions as steps.

    It reads ``inputs`` in this order; by default all symbols, by name. Several subjects share their steps, and all their conditions
    are checked once.

    Raises:
        ArgumentError: neither a layer, a cost nor an expression.
        SizeError: an expression that cannot be a size; without ``inputs``, a layer without a closed form.

    >>> from paramsym import A, Dense, H, MultiHeadAttention
    >>> compiled(MultiHeadAttention(H, A)).run([12, 768])
    2362368
    >>> len(compiled(MultiHeadAttention(H, A), Dense(H, H)).results)
    2
    """
    statement = stated(*subjects)
    for one in subjects if inputs is None else ():
        if isinstance(one, Counted):
            one.polynomial  # noqa: B018 - raises if there is no closed form, and says why
    return _compiled(subjects, statement.symbols if inputs is None else inputs)


@lru_cache(maxsize=1024)
def _compiled(subjects: tuple[Counted | Expr | int, ...], inputs: tuple[Symbol, ...]) -> StraightLine:
    return stated(*subjects).program(inputs)


def _ordered(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    return tuple(sorted(symbols, key=lambda symbol: symbol.name))


def numerator_and_denominator(polynomial: Polynomial, inputs: Sequence[Symbol]) -> tuple[StraightLine, StraightLine]:
    """Return programs of two whole numbers whose quotient is the value, whole or not; nothing is checked.

    >>> from paramsym import A, H
    >>> above, below = numerator_and_denominator(Polynomial.of(H / A + 1), [A, H])
    >>> above.run([2, 3]), below.run([2, 3])
    (5, 2)
    """
    compiler = _Compiler(inputs, ())
    above, below = compiler.fraction(polynomial)
    return compiler.finished(above), compiler.finished(below)


class _Compiler:
    """Collects nodes, each distinct one once: the inputs, constants, and steps with the two nodes that they read."""

    def __init__(self, inputs: Iterable[Symbol], asked: Sequence[Condition]) -> None:
        self.inputs = tuple(inputs)
        self.nodes: list[tuple[Any, int, int]] = []
        self.bounds: list[Bounds] = []
        self.known: dict[object, Any] = {}
        self.asked: dict[int, Condition] = {}
        self.quotients = {(one.large, one.small) for one in asked if one.kind == "divides"}
        least = dict.fromkeys(self.inputs, 0)
        absent = {one.small for one in asked if one.large == 0 and one.kind == "differ"}  # a size of zero gives another layer
        for one in asked:
            if one.kind == "at most" and isinstance(one.large, Symbol) and isinstance(one.small, int) and one.large not in absent:
                if one.small > least[one.large]:
                    self.asked[self.inputs.index(one.large)] = one
                least[one.large] = max(least[one.large], one.small)
        self.least = tuple(least.values())
        for place, low in enumerate(self.least):
            self.node("input", place, 0, (low, LIMIT - 1))
        self.one = self.constant(1)
        for one in sorted(asked, key=lambda one: _CHECKED[one.kind] in SURE):  # refusals that are not final come first
            small, large = self.whole(one.small), self.whole(one.large)
            if one.kind == "divides":
                self.asked.setdefault(self.step("divides", large, small), one)
            elif not always(_CHECKED[one.kind], self.bounds[small], self.bounds[large]):
                self.asked.setdefault(self.step(_CHECKED[one.kind], small, large), one)

    def finished(self, *results: int) -> StraightLine:
        """Return a program with its answers in registers, without unused steps."""
        kept = {*results, *(place for place, (kind, *_) in enumerate(self.nodes) if kind in QUOTIENTS or kind in CHECKS)}
        for place, (kind, *sides) in reversed([*enumerate(self.nodes)]):
            if place in kept and kind not in {"constant", "input"}:
                kept.update(sides)
        constants = [place for place in sorted(kept) if self.nodes[place][0] == "constant"]
        steps = [place for place in sorted(kept) if self.nodes[place][0] not in {"constant", "input"}]
        register = {place: number for number, place in enumerate([*range(len(self.inputs)), *constants, *steps])}
        return StraightLine(
            self.inputs,
            self.least,
            tuple(self.nodes[place][1] for place in constants),
            tuple(Op(kind, register[left], register[right]) for kind, left, right in (self.nodes[place] for place in steps)),
            tuple(register[result] for result in results),
            {register[place]: one for place, one in self.asked.items() if place in register},
        )

    def node(self, kind: Any, left: int, right: int, bounds: Bounds) -> int:
        if (kind, left, right) not in self.known:
            self.known[kind, left, right] = len(self.nodes)
            self.nodes.append((kind, left, right))
            self.bounds.append(bounds)
        return cast("int", self.known[kind, left, right])

    def constant(self, value: int) -> int:
        return self.node("constant", value, 0, (value, value))

    def step(self, kind: Kind, left: int, right: int) -> int:
        """Return the register of a step; a value that is known at compile time needs no step."""
        if kind == "mul" and self.one in {left, right}:
            return left if right == self.one else right
        if right == self.one and (kind == "floordiv" or kind in QUOTIENTS):
            return left
        if kind in QUOTIENTS and left == right and (bounds := self.bounds[right]) is not None and bounds[0] > 0:
            return self.one
        if kind == "pow" and (left == self.one or self.bounds[right] == (0, 0)):
            return self.one
        one, other = (self.nodes[side] for side in (left, right))
        if one[0] == other[0] == "constant" and kind in _ALWAYS_KNOWN:
            return self.constant(ON_INTS[kind](one[1], other[1]))
        return self.node(kind, left, right, bound(kind, self.bounds[left], self.bounds[right]))

    def whole(self, value: Expr | int) -> int:
        return self.constant(value) if isinstance(value, int) else self.polynomial(Polynomial.of(value))

    def polynomial(self, polynomial: Polynomial) -> int:
        above, below = self.fraction(polynomial)
        return above if below == self.one else self.step("exact", above, below)

    def generator(self, generator: Expr) -> tuple[int, int]:
        """Return numerator and denominator of a symbol or an atom."""
        if isinstance(generator, Symbol):
            return self.inputs.index(generator), self.one
        if generator not in self.known:
            self.known[generator] = self._atom(generator, [*map(Polynomial.of, cast("tuple[Expr, ...]", generator.args))])
        return cast("tuple[int, int]", self.known[generator])

    def _atom(self, atom: Expr, arguments: list[Polynomial]) -> tuple[int, int]:
        if isinstance(atom, Add):
            return self.fraction(Polynomial.total(arguments))
        if isinstance(atom, Pow):
            return self._exponential(*arguments)
        sides = [self.fraction(argument) for argument in arguments]
        above, below = sides[0]
        if isinstance(atom, floor):
            return self.step("floordiv", above, below), self.one
        if isinstance(atom, ceiling):
            return self.negative(self.step("floordiv", self.negative(above), below)), self.one
        kind: Kind = "mod" if isinstance(atom, Mod) else "max" if isinstance(atom, Max) else "min"
        above, below = self._positive(above, below)
        for other in sides[1:]:  # compared over one denominator
            top, bottom = self._positive(*other)
            above = self.step(kind, self.step("mul", above, bottom), self.step("mul", top, below))
            below = self.step("mul", below, bottom)
        return above, below

    def _positive(self, above: int, below: int) -> tuple[int, int]:
        """Write a quotient with a denominator that is not negative."""
        bounds = self.bounds[below]
        if bounds is not None and bounds[0] >= 0:
            return above, below
        return self.step("mul", above, below), self.step("mul", below, below)

    def _exponential(self, base: Polynomial, exponent: Polynomial) -> tuple[int, int]:
        """A power with symbols in its exponent: a positive exponent goes to the numerator, a negative one to the denominator."""
        (above, below), power, zero = self.fraction(base), self.polynomial(exponent), self.constant(0)
        bounds = self.bounds[power]
        signed = bounds is None or bounds[0] < 0
        up = self.step("max", power, zero) if signed else power
        down = self.step("max", self.negative(power), zero) if signed else zero
        return (
            self.step("mul", self.step("pow", above, up), self.step("pow", below, down)),
            self.step("mul", self.step("pow", below, up), self.step("pow", above, down)),
        )

    def negative(self, register: int) -> int:
        return self.step("sub", self.constant(0), register)

    def fraction(self, polynomial: Polynomial) -> tuple[int, int]:
        """Return the registers of a whole numerator and a whole denominator."""
        # A monomial is a set: its factors are sorted, so that a program does not depend on the hashes of an interpreter.
        terms = [(self._powers(dict(sorted(monomial, key=_place))), Fraction(c)) for monomial, c in polynomial.terms.items()]
        scale = lcm(*(c.denominator for _, c in terms))
        lifted: Counter[int] = Counter()
        for powers, _ in terms:
            lifted |= Counter({register: -exponent for register, exponent in powers.items()})
        whole: Counter[frozenset[tuple[int, int]]] = Counter()
        for powers, c in terms:
            powers.update(lifted)
            whole[frozenset((register, exponent) for register, exponent in powers.items() if exponent)] += int(c * scale)
        whole = Counter({key: c for key, c in whole.items() if c})  # floor(b/a) is b/a if a divides b, and may cancel only here
        return self.horner(whole), self.horner({frozenset(lifted.items()): scale})

    def _powers(self, exponents: dict[Expr, int]) -> Counter[int]:
        """Return the registers of a product with their exponents; a quotient that is known to be whole is one of them."""
        found: Counter[int] = Counter()
        below = [generator for generator, exponent in exponents.items() if exponent < 0]
        for small, large in product(below, [generator for generator, exponent in exponents.items() if exponent > 0]):
            times = min(exponents[large], -exponents[small])
            if times > 0 and (large, small) in self.quotients:
                exponents[large] -= times
                exponents[small] += times
                found[self.step("divides", self.whole(large), self.whole(small))] += times
        for generator, exponent in exponents.items():
            if exponent:
                above, below_it = self.generator(generator)
                found[above] += exponent
                found[below_it] -= exponent
        del found[self.one]
        return found

    def horner(self, terms: _Terms) -> int:
        """Write a sum of products by Horner's rule, the most common factor first; return the register or the number that holds it."""
        if not terms:
            return self.constant(0)
        content = gcd(*terms.values())
        if content > 1:
            return self.step("mul", self.horner({monomial: c // content for monomial, c in terms.items()}), self.constant(content))
        if len(terms) == 1:
            ((monomial, c),) = terms.items()
            power = reduce(partial(self.step, "mul"), (self.power(*pair) for pair in sorted(monomial)), self.one)
            return power if c > 0 else self.negative(power)
        if len(terms) > _FACTORED:  # each term without a common factor would be compared with all others
            ordered = sorted(terms, key=sorted)
            halves = (ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :])
            one, other = (self.horner({monomial: terms[monomial] for monomial in half}) for half in halves)
            return self.step("add", one, other)
        shares = Counter(register for monomial in terms for register, _ in monomial)
        shared = max(shares, key=lambda register: (shares[register], -register))
        numbers = Counter(abs(c) for c in terms.values() if abs(c) > 1)
        number, times = max(numbers.items(), key=lambda pair: pair[::-1], default=(1, 1))
        if shares[shared] > 1:
            inside = {_lowered(monomial, shared): c for monomial, c in terms.items() if shared in dict(monomial)}
            head = self.step("mul", self.horner(inside), shared)
            rest = {monomial: c for monomial, c in terms.items() if shared not in dict(monomial)}
        elif times > 1:
            head = self.horner({monomial: c for monomial, c in terms.items() if abs(c) == number})
            rest = {monomial: c for monomial, c in terms.items() if abs(c) != number}
        else:
            first = min(terms, key=lambda monomial: (terms[monomial] < 0, not monomial, sorted(monomial)))
            head, rest = self.horner({first: terms[first]}), {monomial: c for monomial, c in terms.items() if monomial != first}
        if not rest:
            return head
        if all(c < 0 for c in rest.values()):
            return self.step("sub", head, self.horner({monomial: -c for monomial, c in rest.items()}))
        return self.step("add", head, self.horner(rest))

    def power(self, register: int, exponent: int) -> int:
        if exponent == 1:
            return register
        half = self.power(register, exponent // 2)
        square = self.step("mul", half, half)
        return self.step("mul", square, register) if exponent % 2 else square


@lru_cache(maxsize=1 << 12)
def _place(power: tuple[Expr, int]) -> tuple[bool, str]:
    generator = power[0]
    return (False, generator.name) if isinstance(generator, Symbol) else (True, str(generator))


def _lowered(monomial: frozenset[tuple[int, int]], register: int) -> frozenset[tuple[int, int]]:
    return frozenset((r, e - 1 if r == register else e) for r, e in monomial if r != register or e > 1)
