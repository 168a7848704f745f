"""The law of numbers at points: a polynomial if the lines are polynomials, otherwise a law with the steps that the lines show."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm, prod

from paramsym.derive.law import Atom, Generator, Law, Monomial
from paramsym.derive.points import Numbers, Points
from paramsym.derive.solve import coefficients
from paramsym.derive.steps import candidates
from paramsym.errors import NoLawError, ParamsymError

_MOST_COLUMNS = 90
_SPARE = 3
_DISTINCT = 6  # values of a rounded quotient
_NARROW = 64  # a number of copies or another small number is at most so large
_DIVISORS = (2, 3, 4, 8)
_TOTAL = 6  # the highest total degree of a monomial


def misfit(message: str, movers: Sequence[str] = (), odd: Sequence[Numbers] = ()) -> NoLawError:
    """Return the error for values without a law: more points along ``movers`` would help, and the points ``odd`` are of another kind."""
    error = NoLawError(message)
    error.movers, error.odd = tuple(movers), tuple(odd)
    return error


@dataclass
class Fitter:
    """Fits laws and caches them, because many axes of a model have the same law."""

    until: float = float("inf")
    """The processor time of the thread at which no further law is tried: a busy machine must not change what is found."""
    constants: tuple[int, ...] = ()
    patience: float = 2.5
    """The seconds of processor time for one law that is not a polynomial."""
    known: dict[tuple[int, tuple[int, ...]], Law | NoLawError] = field(default_factory=dict)
    hopeful: list[Atom] = field(default_factory=list)
    """The steps of earlier laws, which are tried first."""

    def fit(self, points: Points, values: Sequence[int]) -> Law:
        """Return the law of one value per point.

        Raises:
            NoLawError: none was found.
        """
        key = (id(points), tuple(values))
        if key not in self.known:
            try:
                self.known[key] = self._fit(points, values)
            except NoLawError as error:
                self.known[key] = error
        found = self.known[key]
        if isinstance(found, NoLawError):
            raise misfit(str(found), found.movers)
        return found

    def _fit(self, points: Points, values: Sequence[int]) -> Law:
        if len(set(values)) == 1:
            return Law.constant(values[0])
        movers = points.movers(values)
        shown = {name: points.exponents(name, values) for name in movers}
        smooth = {name: sorted(powers or {0, 1}) for name, powers in shown.items() if powers is not None}
        stepping = [name for name in movers if name not in smooth]
        tried: list[dict[Generator, Sequence[int]]] = []
        if not stepping:
            tried.append({name: powers for name, powers in smooth.items()})  # noqa: C416 - a dictionary of wider keys
            full: dict[Generator, Sequence[int]] = {name: range(max(powers, default=1) + 1) for name, powers in smooth.items()}
            tried.append(full)
            tried.extend({**full, other: (0, 1)} for other in points.free if other not in full)
        for generators in tried:
            law = solved(points, values, generators)
            if law is not None:
                return law
        if not stepping:  # a sum of many numbers of copies, some of which move no line
            narrow = [name for name in points.free if max(numbers[name] for numbers in points.at) <= _NARROW]
            law = solved(points, values, dict.fromkeys((*smooth, *narrow), (0, 1)), most=1)
            if law is not None:
                return law
        law = self._stepped(points, values, movers, smooth)
        if law is None:
            raise misfit(f"no law explains {sample(points, values, movers)}.", stepping or movers)
        self.hopeful = list(dict.fromkeys([*law.atoms(), *self.hopeful]))[:12]
        return law

    def _stepped(self, points: Points, values: Sequence[int], movers: Sequence[str], smooth: dict[str, list[int]]) -> Law | None:
        """Return a law with steps, or None."""
        stepping = [name for name in movers if name not in smooth]
        law = rounded(points, values, movers) if stepping else None
        if law is not None:
            return law
        deadline = min(self.until, time.thread_time() + self.patience)
        known_steps = [[atom] for atom in self.hopeful if set(atom.one.names()) | set(atom.other.names()) <= set(points.at[0])]
        moving = list(dict.fromkeys([*stepping, *movers]))
        tried_steps = [*known_steps, *candidates(points, values, moving, self.constants)]
        for wide in (False, True):
            for atoms in tried_steps:
                if time.thread_time() > deadline:
                    break
                law = self._with(points, values, atoms, smooth, stepping, wide=wide)
                if law is not None:
                    return law
        return None

    def _with(
        self,
        points: Points,
        values: Sequence[int],
        atoms: Sequence[Atom],
        smooth: dict[str, list[int]],
        stepping: Sequence[str],
        *,
        wide: bool,
    ) -> Law | None:
        """Try a polynomial in some steps and the smooth coordinates; with ``wide``, in all that change the values."""
        steps: dict[Generator, Sequence[int]] = {atom: (0, 1, 2) if len(atoms) == 1 else (0, 1) for atom in atoms}
        rest: dict[Generator, Sequence[int]] = {name: range(max(powers) + 1) for name, powers in smooth.items()}
        if not wide:
            return solved(points, values, {**steps, **rest}, most=4)
        inside = {name for atom in atoms for name in (*atom.one.names(), *atom.other.names())}
        moving: dict[Generator, Sequence[int]] = dict.fromkeys((*stepping, *sorted(inside & set(points.free))), (0, 1))
        return solved(points, values, {**steps, **moving, **rest}, most=3)


def solved(points: Points, values: Sequence[int], generators: dict[Generator, Sequence[int]], most: int = _TOTAL) -> Law | None:
    """Return the law in the given powers of the generators, or None."""
    chosen = list(generators)
    exponents = _exponents(list(generators.values()), most)
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


def _exponents(choices: Sequence[Sequence[int]], most: int) -> list[tuple[int, ...]]:
    """Return the powers of all products up to a total degree, which is lowered if there are too many products."""
    found: list[tuple[int, ...]] = [()]
    for powers in choices:
        found = [(*one, power) for one in found for power in powers if sum(one) + power <= most]
        if len(found) > _MOST_COLUMNS:
            return _exponents(choices, most - 1) if most > 1 else []
    return found


def rounded(points: Points, values: Sequence[int], movers: Sequence[str]) -> Law | None:
    """Return a polynomial of several numbers divided by a small number and rounded down: half of the channels of a dense block.

    Where all large numbers are multiples of the divisor nothing is rounded, so these points show the polynomial.
    """
    wide = [name for name in movers if max(numbers[name] for numbers in points.at) > _NARROW]
    for below in _DIVISORS if len(movers) > 1 else ():
        exact = [place for place, numbers in enumerate(points.at) if all(numbers[name] % below == 0 for name in wide)]
        inside = Points(tuple(points.at[place] for place in exact), points.free)
        law = solved(inside, [values[place] for place in exact], dict.fromkeys(movers, (0, 1)), most=2)
        if law is None or any(below % coefficient.denominator for coefficient, _ in law.terms):
            continue
        whole = Law(tuple((coefficient * below, monomial) for coefficient, monomial in law.terms))
        for shift in range(below):
            atom = Atom("floor", whole.plus(shift), Law.constant(below))
            if points.values_of(atom) == list(values):
                return Law(((Fraction(1), ((atom, 1),)),))
    return None


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


def sample(points: Points, values: Sequence[int], names: Sequence[str], most: int = 4) -> str:
    """Write some of the values with the numbers that change them."""
    shown: dict[tuple[int, ...], int] = {}
    for numbers, value in zip(points.at, values, strict=True):
        if value not in shown.values():
            shown.setdefault(tuple(numbers[name] for name in names[:most]), value)
    cases = list(shown.items())[: most + 1]
    return "; ".join(
        f"{value} at {', '.join(f'{name}={number}' for name, number in zip(names, place, strict=False))}" for place, value in cases
    )
