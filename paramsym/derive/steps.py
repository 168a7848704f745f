"""The steps that a line of sizes shows: quotients rounded down or up, powers of a base, minima and maxima."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import gcd, isqrt

from paramsym.derive.law import Atom, Law
from paramsym.derive.points import Points

_LONGEST_PERIOD = 64
_BASES = (2, 3, 4, 10)
_NARROW = 64  # numbers of copies are at most so large
_LARGEST_DIVISOR = 1 << 10
_LARGEST_BOUND = 1 << 16


def candidates(points: Points, values: Sequence[int], moving: Sequence[str], constants: Sequence[int]) -> Iterator[list[Atom]]:
    """Yield steps to try together, the likeliest first: those that lines of points show, then quotients and bounds of several numbers."""
    found: list[Atom] = []
    for name in moving:
        shown = [*_powers(points, values, name), *_rounded(points, values, name), *_kinks(points, values, name)]
        found.extend(shown)
        yield from ([atom] for atom in shown)
    yield from ([one, other] for one, other in combinations(dict.fromkeys(found), 2))
    names = _related(points, moving)
    for below in names:
        for kind in ("floor", "ceiling"):
            yield from ([_quotient(kind, name, below)] for name in names if name != below)
    yield from ([bound] for bound in _bounds(names))
    # A size that moves no line may bound a few of the values.
    wide = [name for name in dict.fromkeys((*moving, *points.free)) if max(numbers[name] for numbers in points.at) > _NARROW]
    pairs = permutations(wide[:4], 2) if moving and moving[0] in wide else ()
    yield from ([bound] for one, other in pairs for bound in _multiples(one, other))
    for below in names:
        yield from _over(points, values, [name for name in names if name != below], below)
    yield from ([atom] for name in moving for atom in _at_constants(name, constants))


def _over(points: Points, values: Sequence[int], above: Sequence[str], below: str) -> Iterator[list[Atom]]:
    """Yield quotients by one number: with a bound of one, of a multiple, several at once, of differences and of products."""
    yield from ([Atom("max", Law.of(_quotient("floor", name, below)), Law.constant(1))] for name in above)
    for name in above:
        yield from ([atom] for atom in _scaled(points, values, name, below))
    if len(above) > 1:
        yield [_quotient("floor", name, below) for name in above[:3]]
    for minus in above:
        ranges = [Law.of(name).plus(Law.of(minus), -1) for name in above if name != minus]
        lengths = [Atom("floor", length, Law.of(below)) for length in ranges]
        yield from ([Atom("floor", length.plus(-1), Law.of(below))] for length in ranges)
        yield from ([length] for length in lengths)
        yield from ([*pair] for pair in combinations(lengths, 2))
    for shift in (1, 2, -1):
        yield from ([Atom("floor", Law.of(name).plus(-shift), Law.of(below))] for name in above)
    for one, other in combinations(above, 2):
        product = Law(((Fraction(1), ((one, 1), (other, 1))),))
        yield from ([Atom("floor", Law.of(third), product)] for third in above if third not in {one, other})
        yield [Atom("floor", product, Law.of(below))]


def _at_constants(name: str, constants: Sequence[int]) -> Iterator[Atom]:
    """Yield quotients by powers of two, and quotients and bounds of a number at the constants of the code."""
    for power in range(1, 7):
        yield from (_fixed("floor", name, 2**power), _fixed("ceiling", name, 2**power))
    small = [number for number in constants if number <= _LARGEST_DIVISOR][:12]
    for number in (1, *small):
        yield from (Atom("max", Law.of(_fixed("floor", name, below)), Law.constant(number)) for below in small)
    for number in constants:
        if number <= _LARGEST_BOUND:
            yield from (_fixed("floor", name, number), _fixed("ceiling", name, number))
            yield from (Atom("min", Law.of(name), Law.constant(number)), Atom("max", Law.of(name), Law.constant(number)))


def _bounds(names: Sequence[str]) -> Iterator[Atom]:
    """Yield the smaller and the larger of two numbers, and of three, and what one number is larger than another one."""
    for one, other in combinations(sorted(names), 2):
        yield from (Atom("min", Law.of(one), Law.of(other)), Atom("max", Law.of(one), Law.of(other)))
    for one, other in permutations(names, 2):
        yield from (Atom("max", Law.of(one).plus(Law.of(other), -1), Law.constant(least)) for least in (0, 1))
    for one, other, third in combinations(sorted(names), 3):
        yield Atom("min", Law.of(Atom("min", Law.of(one), Law.of(other))), Law.of(third))
        yield Atom("max", Law.of(Atom("max", Law.of(one), Law.of(other))), Law.of(third))


def _multiples(one: str, other: str) -> Iterator[Atom]:
    """Yield bounds of a multiple or a part of one number by another one: ``min(8*base, most)``."""
    for power in range(1, 7):
        multiple, part = Law(((Fraction(2**power), ((one, 1),)),)), Law.of(_fixed("floor", one, 2**power))
        for kind in ("min", "max"):
            yield from (Atom(kind, inner, Law.of(other)) for inner in (multiple, part))


def _scaled(points: Points, values: Sequence[int], above: str, below: str) -> Iterator[Atom]:
    """Yield quotients of a multiple of a number: 8/3 of it, rounded down and then up to a multiple; large values show the factor."""
    number, value = max(
        ((numbers[above], value) for numbers, value in zip(points.at, values, strict=True) if numbers[above] > 0), default=(1, 0)
    )
    for most in (1, 4, 12):
        factor = Fraction(value, number).limit_denominator(most)
        if factor <= 0 or factor == 1:
            continue
        multiple = Law(((factor, ((above, 1),)),))
        whole = multiple if factor.denominator == 1 else Law.of(Atom("floor", multiple, Law.constant(1)))
        yield Atom("ceiling", whole, Law.of(below))
        yield Atom("floor", whole, Law.of(below))


def _related(points: Points, moving: Sequence[str]) -> list[str]:
    """Return the numbers that change and those that follow from them."""
    following = [
        name
        for name in points.derived
        if any(len({points.at[position][name] for position in line}) > 1 for free in moving for line in points.lines.get(free, [])[:2])
    ]
    return list(dict.fromkeys([*following, *moving]))[:6]


def _quotient(kind: str, above: str, below: str) -> Atom:
    return Atom(kind, Law.of(above), Law.of(below))  # type: ignore[arg-type]


def _fixed(kind: str, above: str, below: int) -> Atom:
    return Atom(kind, Law.of(above), Law.constant(below))  # type: ignore[arg-type]


def _powers(points: Points, values: Sequence[int], name: str) -> Iterator[Atom]:
    """Yield ``b**x`` if the differences along a line grow by a factor ``b``; ``x`` may also be a number computed from the coordinate."""
    for places, seen in points.dense(name, values)[:3]:
        steps = [after - before for before, after in pairwise(seen)]
        if len(steps) < 2 or not all(steps):
            continue
        ratios = {Fraction(after, before) for before, after in pairwise(steps)}
        if len(ratios) != 1:
            continue
        ratio = ratios.pop()
        if ratio.denominator == 1 and 1 < ratio <= max(places[-1], *_BASES):
            yield Atom("power", Law.constant(ratio), Law.of(name))
    rising = [other for other in points.derived if other.startswith("~")]
    for base in (2, 3):
        for other in (*rising, name):
            if max(abs(numbers[other]) for numbers in points.at) <= 48:
                yield Atom("power", Law.constant(base), Law.of(other))


def _rounded(points: Points, values: Sequence[int], name: str) -> Iterator[Atom]:
    """Yield ``floor((p*x + a)/q)`` if a line, or the square root of its values, repeats itself, up to a constant, after q values."""
    lines = [(places, seen) for places, seen in points.dense(name, values)[:2] if len(places) >= 8]
    lines.extend((places, roots) for places, seen in list(lines) for roots in _roots(seen))
    for places, seen in lines:
        for period in range(2, min(_LONGEST_PERIOD, len(places) * 2 // 3) + 1):
            rises = {after - before for before, after in zip(seen, seen[period:], strict=False)}
            if len(rises) != 1:
                continue
            yield from _within(places, seen, period, rises.pop(), name)
            break


def _roots(seen: Sequence[int]) -> Iterator[list[int]]:
    """Yield the square roots of values without their common factor: the pixels of an image that shrank to a part of its length."""
    common = gcd(*seen)
    roots = [isqrt(value // common) for value in seen] if common and min(seen) >= 0 else []
    if roots and all(root**2 * common == value for root, value in zip(roots, seen, strict=True)):
        yield roots


def _within(places: Sequence[int], seen: Sequence[int], period: int, rise: int, name: str) -> Iterator[Atom]:
    """Yield the rounded quotients of a period with the jumps of the line."""
    steps = [after - before for before, after in pairwise(seen)]
    slopes = sorted(set(steps), key=lambda step: (steps.count(step), abs(step)), reverse=True)
    for slope in slopes[:2]:
        for times in range(1, period):
            if (rise - slope * period) % times:
                continue
            jump = (rise - slope * period) // times
            if not jump or any((step - slope) % jump for step in steps):
                continue
            for shift in range(period):
                ok = all(
                    step - slope == jump * ((times * (place + 1) + shift) // period - (times * place + shift) // period)
                    for step, place in zip(steps, places, strict=False)
                )
                if ok:
                    numerator = Law(((Fraction(times), ((name, 1),)),)).plus(shift)
                    yield Atom("floor", numerator, Law.constant(period))
                    return


def _kinks(points: Points, values: Sequence[int], name: str) -> Iterator[Atom]:
    """Yield the bounds of a line with one kink: a constant piece and a changing one."""
    for places, seen in points.dense(name, values)[:2]:
        steps = [after - before for before, after in pairwise(seen)]
        runs = [position for position in range(1, len(steps)) if steps[position] != steps[position - 1]]
        if len(runs) == 1 and len(steps) > 3:
            where = places[runs[0]]
            yield Atom("max" if steps[-1] > steps[0] else "min", Law.of(name), Law.constant(where))
