"""The sizes of a build: free coordinates, formulas for dependent sizes, and conditions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, combinations, product
from math import lcm
from random import Random
from typing import Any, Literal

from sympy import Expr, Integer, Symbol

from paramsym.algebra.grammar import read
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Condition, canonical, per
from paramsym.derive.arguments import Variable
from paramsym.derive.law import Law
from paramsym.errors import ArgumentError

LARGEST = 1 << 17
_DIVISORS = (2, 3, 4, 6, 8, 16, 32)
_MULTIPLES = (2, 4, 8)  # of sizes in conditions: groups divide 8*width channels
_REMAINDERS = (2, 3, 4, 6, 8, 9, 12)  # divisors of sizes with a remainder: depth = 6*n + 2
_MOST_CONSTANTS = 32
_TRIES = 60


@dataclass(frozen=True)
class Demand:
    """A condition on sizes: ``small`` divides ``large``, is at most as large, is equal to it, or differs from it."""

    kind: Literal["divides", "at most", "equal", "differ"]
    small: Law
    large: Law

    def holds(self, numbers: Mapping[str, int]) -> bool:
        """Whether the condition holds at a point."""
        small, large = self.small.value(numbers), self.large.value(numbers)
        if self.kind == "divides":
            return small != 0 and (Fraction(large) / Fraction(small)).denominator == 1
        return small <= large if self.kind == "at most" else (small == large) == (self.kind == "equal")

    def weaker(self) -> Iterator[tuple[Demand, ...]]:
        """Yield what could be true instead: no condition, a divisor without one of its factors, or one of twice the number."""
        yield ()
        if self.kind == "divides":
            ((coefficient, generators),) = self.small.terms
            parts = {int(coefficient) // prime for prime in (2, 3) if coefficient % prime == 0}
            divisors = [Law(((Fraction(part), generators),)) for part in sorted(parts) if part > 1 or generators]
            divisors += [Law.of(name) for name, _ in generators if len(generators) > 1]
            yield from ((replace(self, small=divisor),) for divisor in divisors)
            yield (replace(self, large=self.large.plus(self.large)),)

    def conditions(self, symbols: Mapping[str, Expr]) -> tuple[Condition, ...]:
        """Return the condition in symbols, as layers state theirs."""
        return (Condition(self.kind, canonical(self.small.expression(symbols)), canonical(self.large.expression(symbols))),)

    def __str__(self) -> str:
        return f"{self.small} {({'divides': 'divides', 'at most': '<=', 'equal': '=', 'differ': '!='})[self.kind]} {self.large}"


@dataclass(frozen=True)
class Either:
    """A condition of which one part is enough: ``heads != 1 or dim_head != dim`` leaves out the builds with one head of the whole width."""

    demands: tuple[Demand, ...]

    def holds(self, numbers: Mapping[str, int]) -> bool:
        """Whether one of the conditions holds at a point."""
        return any(one.holds(numbers) for one in self.demands)

    def conditions(self, symbols: Mapping[str, Expr]) -> tuple[Condition, ...]:
        """Return the alternatives in symbols."""
        return tuple(condition for one in self.demands for condition in one.conditions(symbols))

    def __str__(self) -> str:
        return " or ".join(map(str, self.demands))


@dataclass(frozen=True)
class Dependent:
    """A size that follows from others and optionally one new coordinate: H = A*d."""

    name: str
    law: Law
    fresh: str = ""

    def sides(self) -> tuple[Law, Law]:
        """Return the factor of the new coordinate, and the added term."""
        times = tuple((c, tuple((g, e) for g, e in m if g != self.fresh)) for c, m in self.law.terms if (self.fresh, 1) in m)
        added = tuple((c, m) for c, m in self.law.terms if (self.fresh, 1) not in m)
        return Law(times), Law(added)

    def quotient(self, domain: Domain, symbols: Mapping[str, Expr]) -> tuple[Expr, Expr]:
        """Return the two numbers, in symbols, whose exact quotient is the new coordinate."""
        times, added = self.sides()
        scale = lcm(*(c.denominator for c, _ in times.terms))
        return scale * (symbols[self.name] - domain.restated(added, symbols)), scale * domain.restated(times, symbols)


@dataclass
class Domain:
    """The domain from which points are taken."""

    variables: tuple[Variable, ...]
    formulas: dict[str, Dependent] = field(default_factory=dict)
    demands: list[Demand | Either] = field(default_factory=list)
    counters: set[str] = field(default_factory=set)
    """Coordinates that change the number of tensors: large values take time."""
    largest_count: int = 8
    largest: int = LARGEST
    most_placed: int = 96
    """The largest number of copies that is tried deliberately."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The free numbers, in the order of the arguments."""
        free = [variable.name for variable in self.variables if variable.name not in self.formulas]
        return (*free, *(formula.fresh for formula in self.formulas.values() if formula.fresh))

    def numbers(self, point: Mapping[str, int]) -> dict[str, int] | None:
        """Return all numbers at a point given by its coordinates; None if a demand is not met."""
        found = dict(point)
        for name, formula in self.formulas.items():
            value = formula.law.value(found)
            if not isinstance(value, int) or value < 1:
                return None
            found[name] = value
        for variable in self.variables:
            if variable.among is not None and found[variable.name] not in variable.among:
                return None
        return found if all(demand.holds(found) for demand in self.demands) else None

    def start_values(self) -> dict[str, int]:
        """Return the start value of every argument."""
        return {variable.name: variable.start or 8 for variable in self.variables}

    def start(self) -> dict[str, int]:
        """Return the coordinates of the start values, as near as the formulas allow."""
        given = self.start_values()
        point = {name: given[name] for name in self.coordinates if name in given}
        for name, formula in self.formulas.items():
            if not formula.fresh:
                continue
            times, added = formula.sides()
            known = {**dict.fromkeys(self.coordinates, 4), **point}
            wanted = (Fraction(given[name]) - added.value(known)) / Fraction(times.value(known))
            point[formula.fresh] = int(wanted) if wanted.denominator == 1 and wanted > 0 else 4
        return point

    def formula(self, name: str, law: Law, fresh: str = "") -> Domain:
        """Return the domain with one more formula, in coordinates."""
        expanded = {known: replace(one, law=_substituted(one.law, name, law)) for known, one in self.formulas.items()}
        return replace(self, formulas={**expanded, name: Dependent(name, law, fresh)})

    def symbols(self) -> dict[str, Expr]:
        """Return each number in symbols of the arguments, with new coordinates as exact quotients."""
        made: dict[str, Expr] = {v.name: Symbol(v.name, integer=True, positive=True) for v in self.variables}
        for formula in self.formulas.values():
            if formula.fresh:
                made[formula.fresh] = per(*map(canonical, formula.quotient(self, made)))
        return {**made, **{name: self.restated(f.law, made) for name, f in self.formulas.items() if not f.fresh}}

    def restated(self, law: Law, symbols: Mapping[str, Expr]) -> Expr:
        """Return a law in symbols, with products of coordinates written as arguments: A*d as H."""
        total: Expr = Integer(0)
        products = sorted((f for f in self.formulas.values() if f.fresh and len(f.law.terms) == 1), key=lambda f: -len(f.law.terms[0][1]))
        for coefficient, monomial in law.terms:
            powers = dict(monomial)
            factor: Expr = Integer(1)
            for formula in products:
                if formula.name not in symbols:
                    continue
                scale, inside = formula.law.terms[0]
                times = min((powers.get(generator, 0) // exponent for generator, exponent in inside), default=0)
                if times:
                    factor *= symbols[formula.name] ** times
                    coefficient /= scale**times  # noqa: PLW2901 - what is left of the term
                    powers.update({generator: powers[generator] - times * exponent for generator, exponent in inside})
            rest = Law(((coefficient, tuple((generator, power) for generator, power in powers.items() if power)),))
            total += factor * rest.expression(symbols)
        return total

    # Points -------------------------------------------------------------------------------------------------------------------

    def random(self, chance: Random, largest: int, *, count: int | None = None) -> dict[str, int] | None:
        """Return the numbers at a random point, coordinates up to ``largest`` on a logarithmic scale."""
        for _ in range(_TRIES):
            point = {name: self._value(chance, name, largest, count) for name in self.coordinates}
            found = self.numbers(point)
            if found is not None:
                return found
        return None

    def _value(self, chance: Random, name: str, largest: int, count: int | None = None) -> int:
        variable = next((v for v in self.variables if v.name == name), None)
        if variable is not None and variable.among is not None:
            return chance.choice(variable.among[: bisect_right(variable.among, max(largest, variable.among[0]))])
        top = min(largest, count or self.largest_count) if name in self.counters else min(largest, self.largest)
        return max(1, min(top, int(2 ** chance.uniform(0, (top + 1).bit_length() - 1 + 0.2))))

    def moved(self, numbers: Mapping[str, int], **changes: int) -> dict[str, int] | None:
        """Return the sizes of a point after some coordinates are changed; None if the build's conditions refuse them."""
        return self.numbers({**{name: numbers[name] for name in self.coordinates}, **changes})


def said_domain(variables: Sequence[Variable]) -> Domain:
    """Return the domain with the user's formulas.

    Raises:
        ArgumentError: a formula that cannot be read, is not a polynomial, or needs itself.
    """
    domain = Domain(tuple(variables))
    names = {variable.name for variable in variables}
    laws = {variable.name: (_law(variable), variable.formula) for variable in variables if variable.formula}
    done: dict[str, Law] = {}

    def expanded(name: str, above: tuple[str, ...]) -> Law:
        if name in above:
            raise ArgumentError(f"the formulas of {' and '.join(dict.fromkeys(above))} depend on each other; one of them must be free.")
        if name not in done:
            law, _ = laws[name]
            for other in dict.fromkeys(law.names()):
                if other in laws:
                    law = _substituted(law, other, expanded(other, (*above, name)))
            done[name] = law
        return done[name]

    owned: set[str] = set()
    for name in laws:
        expanded(name, ())
    for name, law in done.items():
        own = set(laws[name][0].names())
        fresh = [other for other in law.names() if other not in names and other not in owned and other in own]
        linear = [other for other in fresh if all(dict(m).get(other, 0) <= 1 for _, m in law.terms)]
        if len(set(fresh)) > 1 or (fresh and not linear):
            message = f"{name}={laws[name][1]!r} contains {', '.join(sorted(set(fresh)))}; a formula may contain one new number, once."
            raise ArgumentError(message)
        owned.update(fresh)
        domain.formulas[name] = Dependent(name, law, fresh[0] if fresh else "")
    return domain


def _law(variable: Variable) -> Law:
    polynomial = Polynomial.of(read(variable.formula))
    terms = []
    for monomial, coefficient in polynomial.terms.items():
        if not all(isinstance(generator, Symbol) and power > 0 for generator, power in monomial):
            message = f"{variable.name}={variable.formula!r} is not a polynomial; write a sum of products, as in {variable.name}='A*d'."
            raise ArgumentError(message)
        terms.append((Fraction(coefficient), tuple(sorted((str(generator), power) for generator, power in monomial))))
    return Law(tuple(terms))


def _substituted(law: Law, name: str, value: Law) -> Law:
    """Replace a name that occurs as a generator by a law."""
    total = Law(())
    for coefficient, monomial in law.terms:
        powers = dict(monomial)
        exponent = powers.pop(name, 0)
        product: dict[Any, Fraction] = {tuple(powers.items()): coefficient}
        for _ in range(exponent):
            step: dict[Any, Fraction] = {}
            for left, c in product.items():
                for d, right in value.terms:
                    merged = dict(left)
                    for generator, power in right:
                        merged[generator] = merged.get(generator, 0) + power
                    key = tuple(sorted(merged.items()))
                    step[key] = step.get(key, Fraction(0)) + c * d
            product = step
        total = total.plus(Law(tuple((c, tuple(sorted(m))) for m, c in product.items())))
    return total


def learnt(
    domain: Domain, taken: Sequence[Mapping[str, int]], refused: Sequence[Mapping[str, int]], constants: Sequence[int] = ()
) -> list[Demand]:
    """Return the fewest conditions that all accepted points meet and that explain the refusals.

    Conditions are that one variable is a multiple of another or of the product of two, perhaps with a remainder, is equal to it, or at
    least as large; then, for what these leave, that it is at least, at most or not a constant of the code. A condition that explains no
    refusal is not added.
    """
    names = [variable.name for variable in domain.variables]
    left = list(refused)
    chosen: list[Demand] = []
    for family in (_relations(names, taken), _bounds(names, constants)):
        possible = [demand for demand in family if all(demand.holds(point) for point in taken)]
        while left and possible:
            best = max(possible, key=lambda demand: (sum(not demand.holds(p) for p in left), sum(not demand.holds(p) for p in refused)))
            if all(best.holds(point) for point in left):
                break
            chosen.append(best)
            left = [point for point in left if best.holds(point)]
    return chosen


def _relations(names: Sequence[str], taken: Sequence[Mapping[str, int]]) -> Iterator[Demand]:
    for place, name in enumerate(names):
        large, others = Law.of(name), [other for other in names if other != name]
        alone, doubled, *longer = ([_product(times, other) for other in others] for times in (1, *_MULTIPLES))
        products = [_product(1, *pair) for pair in combinations(others, 2)]
        yield from (Demand("divides", small, large) for small in (*alone, *doubled, *products))
        yield from (Demand("divides", small, _product(times, name)) for times in _MULTIPLES for small in alone)
        yield from (Demand("divides", small, large.plus(-1)) for small in alone)
        yield from (Demand("divides", Law.constant(number), large) for number in _DIVISORS)
        rests = ((number, taken[0][name] % number) for number in (_REMAINDERS if taken else ()))
        yield from (Demand("divides", Law.constant(number), large.plus(-rest)) for number, rest in rests if rest)
        yield from (Demand("equal", small, large) for small in (*alone[:place], *products))
        yield from (Demand("at most", small.plus(more), large) for more in (0, 1) for small in alone)
        yield from (Demand("at most", small, large) for small in (*doubled, *chain(*longer), *products))
        yield from (Demand("at most", Law.constant(number), large) for number in (2, 3, 4, 5, 8))


def _product(times: int, *names: str) -> Law:
    return Law(((Fraction(times), tuple((name, 1) for name in sorted(names))),))


def _bounds(names: Sequence[str], constants: Sequence[int]) -> Iterator[Demand]:
    for name, number in product(names, constants[:_MOST_CONSTANTS]):
        yield from (Demand("at most", Law.constant(number + more), Law.of(name)) for more in (0, 1))
        yield from (Demand("at most", Law.of(name), Law.constant(number - less)) for less in (0, 1))
        yield Demand("differ", Law.of(name), Law.constant(number))


def with_demands(domain: Domain, demands: Sequence[Demand]) -> Domain:
    """Return the domain with divisibility turned into formulas, and the other conditions kept."""
    found = domain
    for demand in demands:
        large = next(iter(demand.large.names()), "")
        below = set(demand.small.names())
        circular = any(large in set(found.formulas[name].law.names()) for name in below if name in found.formulas) or large in below
        if demand.kind not in {"divides", "equal"} or large in found.formulas or circular:
            found.demands.append(demand)
            continue
        small = demand.small
        for name in below:
            if name in found.formulas:
                small = _substituted(small, name, found.formulas[name].law)
        if demand.kind == "equal":
            found = found.formula(large, small)
            continue
        rest = -sum((coefficient for coefficient, monomial in demand.large.terms if not monomial), Fraction(0))
        scale = next(coefficient for coefficient, monomial in demand.large.terms if monomial)
        less = f"_less_{rest}" if rest else f"_times_{scale}" if scale != 1 else ""
        fresh = f"{large}{less}_per_{'_'.join([*map(str, (c for c, _ in demand.small.terms if c != 1)), *sorted(below)])}"
        law = Law(tuple((c / scale, tuple(sorted((*m, (fresh, 1))))) for c, m in small.terms))
        found = found.formula(large, law.plus(int(rest)), fresh)
    return found
