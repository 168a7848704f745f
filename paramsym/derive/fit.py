"""The law behind numbers seen at points: a polynomial where the lines are, else one with the steps that the lines show."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import prod

from paramsym.derive.law import Atom, Generator, Law, Monomial
from paramsym.derive.points import Numbers, Points
from paramsym.derive.solve import coefficients
from paramsym.derive.steps import candidates
from paramsym.errors import ParamsymError

_MOST_COLUMNS = 90
_SPARE = 3
_TOTAL = 6  # the highest total degree of a monomial
_SECONDS = 4.0  # for one law that is no polynomial


class NoLaw(ParamsymError):
    """No law explains the numbers; ``movers`` are the coordinates along which more of them would help."""

    def __init__(self, message: str, movers: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.movers = tuple(movers)


@dataclass
class Fitter:
    """Fits laws and remembers them: many axes of a model move alike."""

    until: float = float("inf")
    constants: tuple[int, ...] = ()
    known: dict[tuple[int, tuple[int, ...]], Law | NoLaw] = field(default_factory=dict)
    hopeful: list[Atom] = field(default_factory=list)
    """The steps of laws found before, which are tried first."""

    def fit(self, points: Points, values: Sequence[int]) -> Law:
        """Return the law of one value per point.

        Raises:
            NoLaw: none was found.
        """
        key = (id(points), tuple(values))
        if key not in self.known:
            try:
                self.known[key] = self._fit(points, values)
            except NoLaw as error:
                self.known[key] = error
        found = self.known[key]
        if isinstance(found, NoLaw):
            raise NoLaw(str(found), found.movers)
        return found

    def _fit(self, points: Points, values: Sequence[int]) -> Law:
        if len(set(values)) == 1:
            return Law.constant(values[0])
        movers = points.movers(values)
        shown = {name: points.exponents(name, values) for name in movers}
        smooth = {name: sorted(powers | {0} if len(powers) < 1 else powers) for name, powers in shown.items() if powers is not None}
        stepping = [name for name in movers if name not in smooth]
        tried: list[dict[Generator, Sequence[int]]] = []
        if not stepping:
            tried.append(dict(smooth))
            full: dict[Generator, Sequence[int]] = {name: range(max(powers, default=1) + 1) for name, powers in smooth.items()}
            tried.append(full)
            tried.extend({**full, other: (0, 1)} for other in points.free if other not in full)
        for generators in tried:
            law = solved(points, values, generators)
            if law is not None:
                return law
        deadline = min(self.until, time.monotonic() + _SECONDS)
        known_steps = [[atom] for atom in self.hopeful if set(atom.one.names()) | set(atom.other.names()) <= set(points.at[0])]
        for atoms in (*known_steps, *candidates(points, values, stepping or movers, self.constants)):
            if time.monotonic() > deadline:
                break
            law = self._with(points, values, atoms, smooth, stepping)
            if law is not None:
                self.hopeful = list(dict.fromkeys([*law.atoms(), *self.hopeful]))[:12]
                return law
        message = f"no law explains {sample(points, values, movers)}"
        raise NoLaw(message, stepping or movers)

    def _with(
        self, points: Points, values: Sequence[int], atoms: Sequence[Atom], smooth: dict[str, list[int]], stepping: Sequence[str]
    ) -> Law | None:
        """Try a polynomial in some steps and the coordinates that move smoothly, then in all that move."""
        inside = {name for atom in atoms for name in (*atom.one.names(), *atom.other.names())}
        steps: dict[Generator, Sequence[int]] = {atom: (0, 1, 2) if len(atoms) == 1 else (0, 1) for atom in atoms}
        rest: dict[Generator, Sequence[int]] = {name: range(max(powers) + 1) for name, powers in smooth.items()}
        law = solved(points, values, {**steps, **rest}, most=4)
        if law is None:
            moving: dict[Generator, Sequence[int]] = {name: (0, 1) for name in (*stepping, *sorted(inside & set(points.free)))}
            law = solved(points, values, {**steps, **moving, **rest}, most=3)
        return law


def solved(points: Points, values: Sequence[int], generators: dict[Generator, Sequence[int]], most: int = _TOTAL) -> Law | None:
    """Return the law in the given powers of the generators, or None."""
    chosen = list(generators)
    exponents = [powers for powers in product(*generators.values()) if sum(powers) <= most]
    if not exponents or len(exponents) > _MOST_COLUMNS or len(exponents) > len(points) * 2:
        return None
    exponents.sort(key=lambda powers: (sum(powers), powers))
    try:
        columns = [[_value(generator, numbers) for generator in chosen] for numbers in points.at]
    except ParamsymError:
        return None
    rows = [[prod(value**power for value, power in zip(row, powers, strict=True) if power) for powers in exponents] for row in columns]
    if any(isinstance(entry, Fraction) for row in rows for entry in row):
        rows, values = _whole(rows, values)
    spare = max(_SPARE, min(8, len(exponents) // 2))
    found = coefficients(rows, values, spare)
    if found is None:
        return None
    terms: list[tuple[Fraction, Monomial]] = [
        (coefficient, tuple((generator, power) for generator, power in zip(chosen, powers, strict=True) if power))
        for coefficient, powers in zip(found, exponents, strict=True)
        if coefficient
    ]
    return Law(tuple(reversed(terms)))


def _whole(rows: list[list[int]], values: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Multiply each equation by its denominators."""
    scaled, results = [], []
    for row, value in zip(rows, values, strict=True):
        scale = 1
        for entry in row:
            scale = max(scale, Fraction(entry).denominator)
        scaled.append([int(entry * scale) for entry in row])
        results.append(value * scale)
    return scaled, results


def _value(generator: Generator, numbers: Numbers) -> int:
    value = numbers[generator] if isinstance(generator, str) else generator.value(numbers)
    return value  # type: ignore[return-value]


def sample(points: Points, values: Sequence[int], names: Sequence[str], most: int = 4) -> str:
    """Write some of the values down with the numbers that move them."""
    shown: dict[tuple[int, ...], int] = {}
    for numbers, value in zip(points.at, values, strict=True):
        if value not in shown.values():
            shown.setdefault(tuple(numbers[name] for name in names[:most]), value)
    cases = list(shown.items())[: most + 1]
    return "; ".join(
        f"{value} at {', '.join(f'{name}={number}' for name, number in zip(names, place, strict=False))}" for place, value in cases
    )
