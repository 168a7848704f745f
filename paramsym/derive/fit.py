"""The law of numbers at points: a polynomial if the lines are polynomials, otherwise a law with the steps that the lines show."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from paramsym.derive.combination import NARROW, solved
from paramsym.derive.deadline import OutOfTime
from paramsym.derive.law import Atom, Generator, Law
from paramsym.derive.points import Numbers, Points
from paramsym.derive.rounding import rounded
from paramsym.derive.steps import candidates
from paramsym.errors import NoLawError


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
    ends: float = float("inf")
    """The time at which the search itself ends."""
    known: dict[tuple[int, tuple[int, ...]], Law | NoLawError] = field(default_factory=dict)
    hopeful: list[Atom] = field(default_factory=list)
    """The steps of earlier laws, which are tried first."""

    def fit(self, points: Points, values: Sequence[int]) -> Law:
        """Return the law of one value per point.

        Raises:
            NoLawError: none was found.
            OutOfTime: the search must end.
        """
        self._go_on()
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

    def _go_on(self) -> None:
        if time.monotonic() > self.ends:
            raise OutOfTime

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
        law = None if stepping else solved(points, values, tried[1], apart=points.apart(values))
        if law is not None:
            return law
        if not stepping:  # a sum of many numbers of copies, some of which move no line
            narrow = [name for name in points.free if max(numbers[name] for numbers in points.at) <= NARROW]
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
        law = rounded(points, values, movers, self.constants) if stepping else None
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
                self._go_on()
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


def sample(points: Points, values: Sequence[int], names: Sequence[str], most: int = 4) -> str:
    """Write some of the values with the numbers that change them: the first ones, and the last one, which may have refuted a law."""
    names = names or points.free
    shown: dict[tuple[int, ...], int] = {}
    for numbers, value in zip(points.at, values, strict=True):
        if value not in shown.values():
            shown.setdefault(tuple(numbers[name] for name in names[:most]), value)
    cases = list(shown.items())
    cases = [*cases[:most], *cases[most:][-1:]]
    return "; ".join(
        f"{value} at {', '.join(f'{name}={number}' for name, number in zip(names, place, strict=False))}" for place, value in cases
    )
