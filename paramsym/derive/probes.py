"""Points at which a wrong law is likely to fail: large, small and equal sizes, those next to constants of the code, many copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice, permutations
from random import Random

from paramsym.derive.domain import LARGEST, Demand, Domain, Either

_LARGEST_FACTOR = 16
_MOST_CORNERS = 40
_DEEP = (257, 1025)
"""Numbers of copies of which each build tries only one or two, because large ones take time."""
_BASES = 6  # the most points from which many copies are tried
_TRIES = 8  # points from which one outside of a demand is looked for
_DISTANCES = (9, 33, 100)
"""Distances of copies of one kind that each build tries."""


def special(domain: Domain, chance: Random, constants: Sequence[int]) -> list[dict[str, int]]:
    """Return the points at which a law has an exception most often: each size at each constant of the code, two equal, a third one 1."""
    arguments = [variable.name for variable in domain.variables]
    found = [_placed(domain, chance, name, constant) for constant in constants for name in arguments]
    found.extend(_equal(domain, chance, one, other) for one, other in combinations(arguments, 2))
    for names in islice(combinations(arguments, 3), _MOST_CORNERS):
        for alone in names:
            pair = _equal(domain, chance, *(name for name in names if name != alone))
            found.append(None if pair is None else _placed(domain, chance, alone, 1, pair))
    points = [point for point in found if point is not None]
    chance.shuffle(points)
    return points


def suspects(domain: Domain, chance: Random, constants: Sequence[int]) -> list[dict[str, int]]:
    """Return points at which a law may have an exception: several sizes equal, every size next to each constant of the code."""
    arguments = [variable.name for variable in domain.variables]
    found: list[dict[str, int] | None] = []
    found.extend(_alike(domain, chance, names) for names in islice(combinations(arguments, 3), _MOST_CORNERS))
    found.append(_alike(domain, chance, arguments))
    factors = sorted({2, 3, 4, *(constant for constant in constants if constant <= _LARGEST_FACTOR)})
    for one, other in permutations(arguments, 2):
        found.extend(_times(domain, chance, one, other, factor) for factor in factors)
    for constant in constants:
        near = {constant - 1, constant + 1} if constant > 2 else set()
        parts = {constant // part + shift for part in (2, 3, 4) for shift in (0, 1)} if constant > 16 else set()
        values = sorted(value for value in near | parts if value >= 1)
        found.extend(_placed(domain, chance, name, value) for name in arguments for value in values)
    points = [point for point in found if point is not None]
    chance.shuffle(points)
    wide = [name for name in domain.coordinates if name not in domain.counters]
    far = [{name: _huge(chance) for name in chosen} for chosen in (wide, *combinations(wide, 2))]
    corners = [_with(domain, chance, changes) for changes in far[:_MOST_CORNERS] if changes]
    return [*(point for point in corners if point is not None), *points]


def _huge(chance: Random) -> int:
    return chance.randint(LARGEST - LARGEST // 16, LARGEST)


def deep(domain: Domain, chance: Random, constants: Sequence[int]) -> Iterator[dict[str, int]]:
    """Yield points with many copies: ``_DEEP``, at first with large widths, and the numbers next to each large constant of the code."""
    far = [constant + shift for constant in constants if constant > domain.most_placed for shift in (-1, 0, 1, 2)]
    for name in domain.coordinates:
        for depth in sorted({*_DEEP, *far}) if name in domain.counters else ():
            large = {wide: _huge(chance) for wide in domain.coordinates if wide not in domain.counters and depth == _DEEP[0]}
            yield from _first(_deepened(domain, chance, {**large, name: depth}) for _ in range(_BASES))


def turning(domain: Domain, chance: Random, constants: Sequence[int], pairs: Iterable[tuple[str, str]]) -> Iterator[dict[str, int]]:
    """Yield points with the second of two numbers at and next to each constant of the code, and the first one more than twice as large.

    The first is a number of copies, and the second the distance of copies of one kind: with fewer copies there is only one of the kind.
    """
    near = sorted({constant + shift for constant in (*_DISTANCES, *constants) for shift in (-1, 0, 1) if 4 < constant <= _DEEP[-1] // 2})
    for copies, distance in pairs:
        for value in near:
            changes = {distance: value, copies: 2 * value + chance.randint(1, value)}
            yield from _first(_deepened(domain, chance, changes) for _ in range(_BASES))


def _deepened(domain: Domain, chance: Random, changes: Mapping[str, int]) -> dict[str, int] | None:
    """Return a point with arguments changed; its widths are smaller or larger than a large number of copies."""
    point = domain.random(chance, chance.choice((64, 1 << 14)), count=3)
    for name, value in changes.items():
        if point is not None:
            point = domain.moved(point, **{name: value}) if name in domain.coordinates else _placed(domain, chance, name, value, point)
    return point


def _first(points: Iterable[dict[str, int] | None]) -> Iterator[dict[str, int]]:
    yield from islice((point for point in points if point is not None), 1)


def adversaries(domain: Domain, chance: Random, *, most_count: int) -> Iterator[dict[str, int]]:
    """Yield endless points at which a wrong law is likely to fail: large, small, equal, multiples of each other, near powers of two."""
    names = domain.coordinates
    arguments = [variable.name for variable in domain.variables]
    wide = [name for name in names if name not in domain.counters] or list(names)
    makers: list[Callable[[], dict[str, int] | None]] = [
        lambda: domain.random(chance, 8),
        lambda: domain.random(chance, 512, count=most_count),
        lambda: _with(domain, chance, {chance.choice(wide): chance.randint(1 << 14, LARGEST)}),
        lambda: domain.random(chance, LARGEST),
        lambda: _with(domain, chance, {name: int(2 ** chance.uniform(11, 17)) for name in wide}),
        lambda: _equal(domain, chance, *chance.sample(arguments, 2)) if len(arguments) > 1 else None,
        lambda: _with(domain, chance, {chance.choice(names): max(1, (1 << chance.randint(0, 16)) + chance.randint(-1, 1))}),
        lambda: _with(domain, chance, {name: chance.randint(1, 3) for name in chance.sample(names, max(1, len(names) // 2))}),
        lambda: _multiple(domain, chance, arguments),
        lambda: domain.random(chance, 4096),
        lambda: domain.random(chance, 64, count=2 * most_count),
    ]
    while names:  # without a size there is one point
        for make in makers:
            found = make()
            if found is not None:
                yield found


def outside(demand: Demand | Either, domain: Domain, chance: Random) -> dict[str, int] | None:
    """Return a point that does not meet a demand; None if none was found."""
    for _ in range(_TRIES):
        point = domain.random(chance, 64)
        for one in demand.demands if isinstance(demand, Either) else (demand,):
            if point is None:
                return None
            if one.holds(point):
                point = _placed(domain, chance, *_violating(one, point, chance), point)
        if point is not None and not demand.holds(point):
            return point
    return None


def _violating(demand: Demand, point: Mapping[str, int], chance: Random) -> tuple[str, int]:
    """Return a size and its value with which a demand that holds at a point does not."""
    small, large = int(demand.small.value(point)), int(demand.large.value(point))
    name = next(demand.large.names(), "")
    if demand.kind == "differ":
        return next(demand.small.names()), large
    if demand.kind == "at most":
        return (name, chance.randint(1, max(1, small - 1))) if name else (next(demand.small.names()), large + chance.randint(1, large))
    return name, chance.randint(1, 64)


def _with(domain: Domain, chance: Random, changes: Mapping[str, int]) -> dict[str, int] | None:
    point = domain.random(chance, 64)
    if point is None:
        return None
    limited = {name: min(value, domain.largest_count if name in domain.counters else domain.largest) for name, value in changes.items()}
    return domain.moved(point, **limited)


def _equal(domain: Domain, chance: Random, one: str, other: str) -> dict[str, int] | None:
    """Return a point at which two arguments are equal; None if formulas or demands forbid that."""
    for _ in range(4):
        point = domain.random(chance, 256)
        if point is None:
            continue
        for name, value in ((other, point[one]), (one, point[other])):
            found = _placed(domain, chance, name, value, point)
            if found is not None and found[one] == found[other]:
                return found
    return None


def _alike(domain: Domain, chance: Random, names: Sequence[str]) -> dict[str, int] | None:
    """Return a point at which several arguments are equal; None if formulas or demands forbid that."""
    point = domain.random(chance, 256)
    for name in names[1:]:
        point = None if point is None else _placed(domain, chance, name, point[names[0]], point)
    return point if point is not None and len({point[name] for name in names}) == 1 else None


def _times(domain: Domain, chance: Random, one: str, other: str, factor: int) -> dict[str, int] | None:
    """Return a point at which an argument is a multiple of another one."""
    point = domain.random(chance, 256)
    if point is None:
        return None
    found = _placed(domain, chance, other, factor * point[one], point)
    return found if found is not None and found[other] == factor * found[one] else None


def _placed(domain: Domain, chance: Random, name: str, value: int, point: Mapping[str, int] | None = None) -> dict[str, int] | None:
    """Return a point at which an argument has a value; for an argument with a formula, its own coordinate is changed."""
    point = domain.random(chance, 64) if point is None else point
    if point is None:
        return None
    formula = domain.formulas.get(name)
    if formula is None:
        if name in domain.counters and value > domain.most_placed:
            return None
        return domain.moved(point, **{name: value})
    if not formula.fresh:
        return None
    times, added = formula.sides()
    ones = dict.fromkeys(times.names(), 1)
    for base in (point, {**point, **ones}):
        wanted = (value - Fraction(added.value(base))) / Fraction(times.value(base))
        if wanted.denominator == 1 and wanted >= 1:
            return domain.moved(base, **{**{k: base[k] for k in ones}, formula.fresh: int(wanted)})
    return None


def _multiple(domain: Domain, chance: Random, arguments: Sequence[str]) -> dict[str, int] | None:
    """Return a point at which one argument is a small multiple of another one, or nearly."""
    if len(arguments) < 2:
        return None
    one, other = chance.sample(list(arguments), 2)
    point = domain.random(chance, 64)
    if point is None or other not in domain.coordinates:
        return None
    value = max(1, point[one] * chance.choice((2, 3, 4, 8)) + chance.choice((-1, 0, 0, 1)))
    return domain.moved(point, **{other: min(value, domain.largest_count if other in domain.counters else domain.largest)})
