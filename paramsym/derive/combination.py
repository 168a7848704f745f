"""Laws that are polynomials in given numbers and steps, found by exact linear equations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from math import lcm, prod

from paramsym.derive.law import Atom, Generator, Law, Monomial
from paramsym.derive.points import Points
from paramsym.derive.solve import coefficients
from paramsym.errors import ParamsymError

NARROW = 64
"""The largest number of copies, or another small number, at the points."""
_MOST_COLUMNS, _MOST_APART = 90, 160
_SPARE = 3
_DISTINCT = 6  # values of a rounded quotient
_TOTAL = 6  # the highest total degree of a monomial


def solved(
    points: Points,
    values: Sequence[int],
    generators: dict[Generator, Sequence[int]],
    most: int = _TOTAL,
    apart: Collection[frozenset[Generator]] = (),
) -> Law | None:
    """Return the law in the given powers of the generators, without products of those that are apart, or None."""
    chosen = list(generators)
    alone = [{other for other, name in enumerate(chosen[:place]) if {name, chosen[place]} in apart} for place in range(len(chosen))]
    exponents = _exponents(list(generators.values()), alone, most, _MOST_APART if apart else _MOST_COLUMNS)
    if not exponents or len(exponents) > len(points) * 2:
        return None
    exponents.sort(key=lambda powers: (sum(powers), powers))
    steps = [generator for generator in chosen if isinstance(generator, Atom)]
    try:
        spare = max(_SPARE, min(8, len(exponents) // 2))
        found = coefficients(_equations(points, values, chosen, exponents), len(exponents), spare)
    except ParamsymError:
        return None
    if found is None or not all(seen_enough(step, points) for step in steps):
        return None
    terms: list[tuple[Fraction, Monomial]] = [
        (coefficient, tuple((generator, power) for generator, power in zip(chosen, powers, strict=True) if power))
        for coefficient, powers in zip(found, exponents, strict=True)
        if coefficient
    ]
    return Law(tuple(reversed(terms)))


def _exponents(choices: Sequence[Sequence[int]], alone: Sequence[Collection[int]], most: int, columns: int) -> list[tuple[int, ...]]:
    """Return the powers of all products up to a total degree, which is lowered if there are too many products."""
    found: list[tuple[int, ...]] = [()]
    for powers, never in zip(choices, alone, strict=True):
        together = [(one, any(one[place] for place in never)) for one in found]
        found = [(*one, power) for one, apart in together for power in powers if sum(one) + power <= most and not (apart and power)]
        if len(found) > columns:
            return _exponents(choices, alone, most - 1, columns) if most > 1 else []
    return found


def seen_enough(atom: Atom, points: Points) -> bool:
    """Whether a step took enough values: a quotient with two values cannot be told from a threshold."""
    values = points.values_of(atom)
    if atom.kind in {"min", "max"}:
        ones = [atom.one.value(numbers) == value for numbers, value in zip(points.at, values, strict=True)]
        return min(sum(ones), len(ones) - sum(ones)) >= _SPARE
    return len(set(values)) >= (_DISTINCT if atom.kind in {"floor", "ceiling"} else _SPARE)


def _equations(
    points: Points, values: Sequence[int], generators: Sequence[Generator], exponents: Sequence[tuple[int, ...]]
) -> Iterator[tuple[list[int], int]]:
    """Yield an equation per point, multiplied by its denominators, in an order in which the rank grows fast."""
    kept = [[(place, power) for place, power in enumerate(powers) if power] for powers in exponents]
    for position in points.mixed:
        numbers = points.at[position]
        base = [numbers[generator] if isinstance(generator, str) else generator.value(numbers) for generator in generators]
        row = [prod(base[place] ** power for place, power in powers) for powers in kept]
        scale = lcm(*(entry.denominator for entry in row if not isinstance(entry, int)))
        yield ([int(entry * scale) for entry in row] if scale > 1 else row), values[position] * scale  # type: ignore[misc]
