"""Rounded polynomials: divided by a small number and rounded down, or rounded to a multiple as ``make_divisible`` does.

Where all large numbers are multiples of the divisor nothing is rounded, so these points show the polynomial.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm

from paramsym.derive.combination import NARROW, seen_enough, solved
from paramsym.derive.law import Atom, Law
from paramsym.derive.points import Points

_DIVISORS = (2, 3, 4, 8)
_LARGEST_MULTIPLE = 256
_FEWEST = 3  # points at which a rounded number was too small and grows by one step


def rounded(points: Points, values: Sequence[int], movers: Sequence[str], constants: Sequence[int]) -> Law | None:
    """Return a rounded polynomial of several numbers, perhaps times one of them, or None: half of the channels of a dense block."""
    for times in ("", *(movers if len(movers) > 1 else ())):
        parts = values if not times else _divided(values, [numbers[times] for numbers in points.at])
        if parts is None:
            continue
        law = _quotient(points, parts, points.movers(parts)) or _multiple(points, parts, points.movers(parts), constants)
        if law is not None:
            return _product(law, Law.of(times)) if times else law
    return None


def _divided(values: Sequence[int], by: Sequence[int]) -> list[int] | None:
    """Return the values divided one by one; None if a divisor is 0 or a division leaves a remainder."""
    if not all(by) or any(map(int.__mod__, values, by)):
        return None
    return [value // one for value, one in zip(values, by, strict=True)]


def _quotient(points: Points, values: Sequence[int], movers: Sequence[str]) -> Law | None:
    """Return a polynomial of several numbers divided by a small number and rounded down."""
    for below in _DIVISORS if len(movers) > 1 else ():
        law = _exact(points, values, movers, [below] * len(points))
        if law is None or any(below % coefficient.denominator for coefficient, _ in law.terms):
            continue
        for shift in range(below):
            atom = Atom("floor", _scaled(law, below).plus(shift), Law.constant(below))
            if points.values_of(atom) == list(values) and seen_enough(atom, points):
                return Law.of(atom)
    return None


def _multiple(points: Points, values: Sequence[int], movers: Sequence[str], constants: Sequence[int]) -> Law | None:
    """Return a polynomial rounded to the nearest multiple, at least one: ``make_divisible`` of convolutional networks.

    Most builds add one more multiple if less than 9/10 of the number is left.
    """
    fixed = [Law.constant(number) for number in constants if 2 < number <= _LARGEST_MULTIPLE]
    for divisor in (*(Law.of(name) for name in movers if len(movers) > 1), *fixed):
        steps = [int(divisor.value(numbers)) for numbers in points.at]
        if _divided(values, steps) is None:
            continue
        names = [name for name in movers if name not in set(divisor.names())]
        law = _exact(points, values, names, [4 * step for step in steps])
        if law is None:
            continue
        nearest = Atom("floor", _scaled(law, 2).plus(divisor), _scaled(divisor, 2))
        least = Atom("max", Law.of(nearest), Law.constant(1))
        number = _product(Law.of(least), divisor)
        for found in (number, *_enough(law, divisor, number)):
            grown = sum(after > before for after, before in zip(_values(points, found), _values(points, number), strict=True))
            if seen_enough(nearest, points) and _values(points, found) == list(values) and (found is number or grown >= _FEWEST):
                return found
    return None


def _enough(law: Law, divisor: Law, number: Law) -> Iterator[Law]:
    """Yield the rounded number with one more multiple where it is less than 9/10 of the number before."""
    denominator = lcm(*(coefficient.denominator for coefficient, _ in law.terms))
    for before in (law, Law.of(Atom("floor", _scaled(law, denominator), Law.constant(denominator)))):
        lost = _scaled(_scaled(before, 9).plus(number, -10), denominator)
        more = Atom("min", Law.of(Atom("max", lost, Law.constant(0))), Law.constant(1))
        yield number.plus(_product(Law.of(more), divisor))
        if denominator == 1:
            return


def _exact(points: Points, values: Sequence[int], names: Sequence[str], steps: Sequence[int]) -> Law | None:
    """Return the polynomial of the points at which all large numbers are multiples of the step."""
    wide = [name for name in names if max(numbers[name] for numbers in points.at) > NARROW]
    exact = [
        place for place, (numbers, step) in enumerate(zip(points.at, steps, strict=True)) if all(numbers[name] % step == 0 for name in wide)
    ]
    inside = Points(tuple(points.at[place] for place in exact), points.free)
    return solved(inside, [values[place] for place in exact], dict.fromkeys(names, (0, 1)), most=2)


def _values(points: Points, law: Law) -> list[Fraction | int]:
    return [law.value(numbers) for numbers in points.at]


def _scaled(law: Law, factor: int) -> Law:
    return Law(tuple((coefficient * factor, monomial) for coefficient, monomial in law.terms))


def _product(law: Law, other: Law) -> Law:
    """Multiply a law by one of a single term."""
    ((scale, factors),) = other.terms
    return Law(tuple((coefficient * scale, (*factors, *monomial)) for coefficient, monomial in law.terms))
