"""The search for the laws of one stratum: points, laws, counterexamples, proof.

The file is long because the search is one loop over one state.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, combinations_with_replacement, islice, product
from math import comb
from typing import Any

from paramsym.derive.arguments import Call
from paramsym.derive.constants import constants_in
from paramsym.derive.deadline import OutOfTime
from paramsym.derive.domain import Demand, Domain, Either, learnt, with_demands
from paramsym.derive.fit import Fitter, misfit
from paramsym.derive.law import Law
from paramsym.derive.names import Node, tree
from paramsym.derive.observe import Builder, Seen
from paramsym.derive.points import Numbers
from paramsym.derive.probes import adversaries, deep, outside, special, suspects, turning
from paramsym.derive.structure import LevelLaw
from paramsym.derive.tree import Explainer
from paramsym.errors import ArgumentError, NoLawError, ParamsymError

_ROUNDS = 10  # the most rounds of refuted laws
_DENSE = 44  # consecutive values of a coordinate in the search for steps
_LARGE = (97, 1021, 16411, 65539)
_MOST_LATTICE = 420
_FEWEST_TESTS, _FEWEST_SLOW_TESTS = 40, 8
_PLENTY = 250  # builds
_MOST_COPIES = 24
_MOST_SUSPECTS = 400
_MOST_TENSORS, _MOST_SLOW_TENSORS = 8192, 1024  # of a build with many copies
_PER_COPY = 0.25  # lines of Python for one more of a number that counts copies
_LINES = 40  # of Python for a tensor, of which a count shows nothing
_STARTS = 60  # start values that are tried for sizes without a default
_STARTING = (1, 2, 4, 16, 32, 64, 12, 3)
_LESSONS = 6  # the most rounds of learning conditions from refusals
_LESSON = 16  # points of one
_VIOLATING = 6  # points that violate one condition only
_FARTHEST = 26  # the farthest step from a start value of which no multiple is accepted
_OUTSIDE = 3  # points outside each pair of conditions
_TRIAL = 3.0  # seconds of processor time for trying limits of the sizes
_CHOICE = 6  # an argument that starts at most here may be a choice
_MULTIPLE = 24
_ROUNDED = (8, 16, 32, 64)  # to whose multiples builds round sizes
_SHORT, _LONG = 0.5, 2.5  # seconds of processor time for one law that is not a polynomial
_SLOW = 0.006  # median seconds of processor time of a slow build
_SHARE = 0.8  # of the time, after which no more fresh points are built


@dataclass(eq=False)
class Sample:
    """The result of a build at a point."""

    numbers: Numbers
    seen: tuple[Seen, ...]
    _node: Node | None = None

    @property
    def node(self) -> Node:
        """The names as a tree."""
        if self._node is None:
            self._node = tree(self.seen)
        return self._node


@dataclass
class Search:
    """One stratum: a build with chosen flags, and all its results."""

    call: Call
    stratum: Mapping[str, Any]
    domain: Domain
    until: float
    tests: int
    say: Callable[[str], None]
    builder: Builder
    seed: int = 0
    like: Search | None = None
    """The search of another stratum, whose points and domain are the start of this one."""
    spent: list[float] = field(default_factory=list)
    """The processor time of each build, in seconds."""
    took: list[float] = field(default_factory=list)
    """The time of each build, in seconds."""
    samples: dict[tuple[int, ...], Sample] = field(default_factory=dict)
    refused: list[Numbers] = field(default_factory=list)
    reason: str = ""
    chance: random.Random = field(init=False)
    time: float = field(init=False)
    constants: tuple[int, ...] = ()
    laws: LevelLaw = field(default_factory=LevelLaw)
    tested: list[Sample] = field(default_factory=list)
    lattice: int = 0
    degree: int | None = None
    whole: bool = False
    count: bool = False
    _lines: dict[str, float] = field(default_factory=dict)
    """For a count, the lines of Python that the build executes for one more of each coordinate that counts copies."""
    _told: list[Either] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Seed the random numbers, so that two runs are equal."""
        self.time = self.until - time.monotonic()
        self.chance = random.Random(self.seed)  # noqa: S311 - no secret
        self.constants = constants_in(self.call.build)

    # Building -----------------------------------------------------------------------------------------------------------------

    def see(self, numbers: Numbers | None) -> Sample | None:
        """Return the result at a point; None for an impossible or refused point."""
        if numbers is None:
            return None
        key = tuple(numbers[variable.name] for variable in self.domain.variables)
        if key in self.samples:
            return self.samples[key]
        if time.monotonic() > self.until:
            raise OutOfTime
        began = time.thread_time()
        try:
            seen = self._built(numbers)
            self.spent.append(time.thread_time() - began)
        except (ArgumentError, OutOfTime):
            raise
        except (MemoryError, RecursionError) as error:  # not of the sizes, but of the machine
            self.reason = f"{type(error).__name__}: {error}".removesuffix(": ")
            return None
        except Exception as error:  # noqa: BLE001 - somebody else's build may refuse sizes in any way
            self.reason = f"{type(error).__name__}: {error}".removesuffix(": ")
            self.refused.append(numbers)
            return None
        self.samples[key] = Sample(numbers, seen)
        return self.samples[key]

    def _built(self, numbers: Numbers) -> tuple[Seen, ...]:
        began = time.monotonic()
        made = self.builder(self.call.arguments(numbers, self.stratum))
        self.took.append(time.monotonic() - began)
        if isinstance(made, int):
            self.count = True
            return (Seen("", (made,)),)
        return made

    # The search ---------------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Find the laws, test them at fresh points until none refutes them, and prove what can be proved.

        Raises:
            ParamsymError: no law explains a tensor.
            OutOfTime: the time ended before that.
        """
        self._begin()
        self.say("points")
        if self.like is None or not self._taken_from(self.like):
            self._learn_domain()
            self._collect()
        self._explain()
        self._try_fresh()
        self._limit_to_accepted()

    def _begin(self) -> None:
        start = self.domain.numbers(self.domain.start())
        first = self.see(start) or self._other_start()
        if first is None:
            where = ", ".join(f"{name}={value}" for name, value in (start or self.domain.start()).items())
            why = self.reason or "the formulas give no size"
            raise ArgumentError(f"build fails at the start values ({where}): {why.rstrip('.')}. Give other start values.")
        if not first.seen:
            raise ArgumentError("build returned no tensor; wanted a module, a mapping of names to shapes, or a count (an int).")
        self._same_again(first)
        for _ in range(self._number(2, 0)):
            self._same_again(first)

    def _other_start(self) -> Sample | None:
        """Return the result at other start values of the sizes without a default, if there are such values, and begin there."""
        free = [variable.name for variable in self.domain.variables if not variable.start and variable.among is None]
        for attempt in range(_STARTS if free else 0):
            chosen = {name: self.chance.choice(_STARTING) if attempt >= len(_STARTING) else _STARTING[attempt] for name in free}
            others = tuple(replace(one, start=chosen.get(one.name, one.start)) for one in self.domain.variables)
            domain = replace(self.domain, variables=others)
            found = self.see(domain.numbers(domain.start()))
            if found is not None:
                self.domain = domain
                return found
        return None

    def _taken_from(self, like: Search) -> bool:
        """Take the domain and the points of another stratum; return whether the sizes are the same and most of the points accepted."""
        if [one.name for one in like.domain.variables] != [one.name for one in self.domain.variables]:
            return False
        said, self.domain = self.domain, _copy(like.domain)
        self._lines = like._lines
        self.samples.clear()  # the start values without the coordinates of the other domain
        for sample in list(like.samples.values()):
            self.see(sample.numbers)
        if len(self.refused) * 2 <= len(like.samples):
            return True
        self.domain = said
        return False

    def _same_again(self, sample: Sample) -> None:
        if self._built(sample.numbers) != sample.seen:
            where = ", ".join(f"{name}={value}" for name, value in sample.numbers.items())
            raise misfit(f"build returned two different results at {where}; derive needs a build without randomness.")

    def _learn_domain(self) -> None:
        """Find the build's conditions on its sizes from the refused sizes."""
        said = self.domain
        start = said.numbers(said.start()) or {}
        for name in said.coordinates:
            about = (start[name] + 1, 2 * start[name], 3 * start[name], max(1, start[name] // 2), max(1, start[name] - 1))
            near = about[: self._number(5, 2)]
            accepted = [self.see(said.moved(start, **{name: value})) for value in near]
            for step in range(2, _FARTHEST) if accepted.count(None) == len(near) else ():  # a size with a remainder: 6*n + 4
                self.see(said.moved(start, **{name: start[name] + step}))
        if self.count:
            self._lines = {name: lines for name in said.coordinates for lines in self._lines_of(name, start)}
            said.counters = {*self._lines}
        self._find_counters()
        for _ in range(0 if self.refused else self._number(_LESSON, 4)):
            self.see(said.random(self.chance, 40))
        if not self.refused:
            return
        demands: Sequence[Demand] = ()
        for _ in range(_LESSONS):
            for _ in range(self._number(24, 8)):
                self.see(self._around(said, start))
            taken = [sample.numbers for sample in self.samples.values()]
            demands = learnt(said, taken, self.refused, self.constants) if len(self.refused) > len(taken) // 12 else []
            self.domain = with_demands(_copy(said), demands)
            before = len(self.refused)
            tried = [self.see(self.domain.random(self.chance, 40)) for _ in range(self._number(_LESSON, 4))]
            explained = len(self.refused) - before <= len(tried) // 8
            if not self._accepted_outside(said, demands) and explained:
                break
        else:  # what the build refuses is not of a kind that is learnt
            self.domain = with_demands(_copy(said), self._uncontradicted(demands))
        self._complete_all()
        formulas = self.domain.formulas
        counters = {other for name in self.domain.counters for other in (formulas[name].law.names() if name in formulas else [name])}
        self.domain.counters = counters & set(self.domain.coordinates)

    def _limit_to_accepted(self) -> None:
        """Limit the sizes by the conditions that explain what the build refused among fresh points, such as large sizes."""
        demands: Sequence[Demand] = ()
        for _ in range(_LESSONS):
            inside = [numbers for numbers in self.refused if self._located(numbers) is not None]
            taken = [sample.numbers for sample in (*self.samples.values(), *self.tested)]
            demands = learnt(self.domain, taken, inside, self.constants)
            try:
                accepted = self._accepted_outside(self.domain, demands)
            except OutOfTime:
                break
            wrong = [sample for sample in accepted if not self.agrees(sample)]
            if wrong:
                self._explain(wrong)
                self._try_fresh()
            if not accepted:
                break
        self.domain.demands.extend(self._uncontradicted(demands))

    def _uncontradicted(self, demands: Sequence[Demand]) -> list[Demand]:
        return [demand for demand in demands if all(demand.holds(sample.numbers) for sample in self.samples.values())]

    def _accepted_outside(self, said: Domain, demands: Sequence[Demand]) -> list[Sample]:
        """Build sizes that violate only one condition, or meet a weaker one; return the results of those that the build accepts."""
        found: list[Sample | None] = []
        for demand in demands:
            others = [other for other in demands if other is not demand]
            for weaker in demand.weaker():
                domain = with_demands(_copy(said), [*others, *weaker])
                found += [self.see(outside(demand, domain, self.chance)) for _ in range(self._number(_VIOLATING, 2))]
        return [sample for sample in found if sample is not None]

    def _around(self, domain: Domain, start: Numbers) -> Numbers | None:
        point = {}
        for name in domain.coordinates:
            value, kind = start[name], self.chance.random()
            if name in domain.counters:
                point[name] = self.chance.randint(1, 4) if kind > 0.3 else min(value, 4)
            elif kind < 0.35:
                point[name] = value
            elif kind < 0.6:
                point[name] = value * self.chance.randint(2, 4)
            elif kind < 0.75:
                point[name] = self.chance.choice([d for d in range(1, min(value, 200) + 1) if value % d == 0])
            else:
                point[name] = self.chance.randint(1, 48)
        return domain.numbers(point)

    def _complete_all(self) -> None:
        """Add coordinates to the results from before the domain was known, and drop those outside."""
        kept: dict[tuple[int, ...], Sample] = {}
        for key, sample in self.samples.items():
            numbers = self._located(sample.numbers)
            if numbers is not None:
                kept[key] = Sample(numbers, sample.seen, sample._node)
        self.samples = kept

    def _located(self, numbers: Numbers) -> Numbers | None:
        point = {variable.name: numbers[variable.name] for variable in self.domain.variables}
        for name, formula in sorted(self.domain.formulas.items(), key=lambda item: len(item[1].law.terms[0][1])):
            if not formula.fresh:
                continue
            times, added = formula.sides()
            try:
                quotient = (point[name] - added.value(point)) / _fraction(times.value(point))
            except KeyError:
                return None
            if quotient.denominator != 1 or quotient < 1:
                return None
            point[formula.fresh] = int(quotient)
        found = self.domain.numbers({name: point[name] for name in self.domain.coordinates})
        return None if found is None or any(found[variable.name] != numbers[variable.name] for variable in self.domain.variables) else found

    def _lines_of(self, name: str, start: Numbers) -> Iterator[float]:
        """Yield how many more lines of Python the build executes for one more of a coordinate, if it counts copies."""
        line = [one.numbers for one in self.samples.values() if all(one.numbers[other] == start[other] for other in start if other != name)]
        if len(line) < 2:
            return
        low, high = (pick(line, key=lambda numbers: numbers[name]) for pick in (min, max))
        less, more = (self.builder.lines(self.call.arguments(numbers, self.stratum)) for numbers in (low, high))
        each = (more - less) / (high[name] - low[name])
        if each >= _PER_COPY:
            yield each

    def _find_counters(self, fewest: int = 2) -> None:
        """Find the coordinates that change the number of tensors; one point may differ because two sizes are equal by chance.

        A build that returns a count shows no tensors; the lines of Python that it executes have shown them once.
        """
        if self.count:
            return
        found: set[str] = set()
        for name in self.domain.coordinates:
            groups: dict[tuple[int, ...], dict[int, int]] = {}
            others = [other for other in self.domain.coordinates if other != name]
            for sample in self.samples.values():
                groups.setdefault(tuple(sample.numbers[other] for other in others), {})[sample.numbers[name]] = len(sample.seen)
            for group in groups.values():
                numbers = [group[value] for value in sorted(group)]
                if len(numbers) >= fewest and numbers[-1] != numbers[0] and (fewest < 3 or numbers[-2] != numbers[0]):
                    found.add(name)
        self.domain.counters = found

    def _collect(self) -> None:
        """Build lines through two points, the principal lattice of order two, and small and large random points."""
        bases = list(islice(self._bases(), self._number(2, 1)))
        if not bases:
            name = self.domain.variables[0].name
            raise ArgumentError(
                f"too few sizes were found that build accepts; the last refusal was: {self.reason or 'none'}. State which sizes it takes,"
                f" as in derive(build, {name}=range(8, 513, 8)) or {name}='8*k', or hold an argument, as in held={{{name!r}: ...}}."
            )
        for number, base in enumerate(bases):
            for name in self.domain.coordinates:
                counter = name in self.domain.counters
                near = range(1, 8) if counter and not self.thrifty else range(base[name], base[name] + self._number(6, 4))
                far = () if counter else _LARGE[1:2] if self.thrifty else _LARGE[:2] if self.slow else _LARGE
                for value in [*near, *far] if number == 0 else [*list(near)[:4], *far[:1]]:
                    self.see(self.domain.moved(base, **{name: value}))
        before = self.domain.counters
        self._find_counters(3)
        for name in before - self.domain.counters:
            for value in (*range(bases[0][name], bases[0][name] + 7), *_LARGE):
                self.see(self.domain.moved(bases[0], **{name: value}))
        for one, other in combinations_with_replacement(self.domain.coordinates, 2):
            base = bases[-1]
            changes = {one: base[one] + 1, other: base[other] + (2 if one == other else 1)}
            self.see(self.domain.moved(base, **changes))
        width = len(self.domain.coordinates)
        wanted = 2 * width if self.thrifty else (24 + 3 * width) if self.slow else (50 + 8 * width)
        for number in range(wanted):
            self.see(self.domain.random(self.chance, (64, 256, 64, 4096)[number % 4], count=4 if self.slow else 6))

    @property
    def slow(self) -> bool:
        """Whether most builds are slow; a few may be, because the machine paused, and must not change the points."""
        return bool(self.spent) and statistics.median(self.spent) > _SLOW

    @property
    def thrifty(self) -> bool:
        """Whether the time is enough for few builds, which then decide something each."""
        return len(self.took) > 1 and statistics.median_low(self.took) * _PLENTY > self.time

    def _number(self, usual: int, thrifty: int) -> int:
        return thrifty if self.thrifty else usual

    def _bases(self) -> Iterator[Numbers]:
        """Yield points that the build accepts, with all sizes different; a thrifty search begins with the start values, if they are so."""
        start = self._located(self.domain.start_values()) if self.thrifty else None
        found: list[Numbers] = [] if start is None or len({*start.values()}) < len(start) else [start]
        yield from found
        for attempt in range(300):
            point = self.domain.random(self.chance, 24 + attempt // 10, count=5)
            if point is None:
                continue
            values = [point[variable.name] for variable in self.domain.variables]
            enough = all(point[name] >= (3 if name in self.domain.counters else 4) for name in self.domain.coordinates)
            strict = attempt < 200
            if strict and (not enough or len(set(values)) < len(values) - attempt // 60):
                continue
            if self.see(point) is not None and point not in found:
                found.append(point)
                yield point

    # Laws ---------------------------------------------------------------------------------------------------------------------

    def _cases(self) -> list[Sample]:
        return [sample for sample in self.samples.values() if all(demand.holds(sample.numbers) for demand in self.domain.demands)]

    def _laws_of(self, cases: Sequence[Sample], seconds: float = float("inf"), patience: float = _LONG) -> LevelLaw:
        left = min(self.until - time.monotonic(), seconds)
        fitter = Fitter(time.thread_time() + left, self.constants, patience, self.until, hopeful=self._hopeful)
        explainer = Explainer(fitter, frozenset(self.domain.coordinates) | {v.name for v in self.domain.variables})
        laws = explainer.level([(case.numbers, case.node) for case in cases], self.domain.coordinates)
        self._hopeful = fitter.hopeful
        return laws

    _hopeful: list[Any] = field(default_factory=list)

    def _explain(self, wrong: Sequence[Sample] = ()) -> None:
        """Find laws for all results; if there are none, build more points or limit the sizes.

        ``wrong`` are the points that refuted the earlier laws.
        """
        asked: set[str] = set()
        patience = _SHORT  # until there are consecutive values, which show steps
        for _ in range(24):
            self.say("laws")
            if time.monotonic() > self.until:
                raise OutOfTime
            cases = self._cases()
            try:
                self.laws = self._laws_of(cases, patience=patience)
            except NoLawError as refused:
                more = [name for name in refused.movers if name in self.domain.coordinates and name not in asked]
                if refused.odd and self._limited(refused.odd, cases):
                    continue
                if more or patience != _LONG:
                    asked.update(more)
                    self._dense(more)
                    patience = _LONG
                    continue
                if not refused.odd and (self._limited_by(wrong) if wrong else self._limited_by_trial(cases)):
                    continue
                raise self._refusal(refused) from None
            else:
                return
        message = "the laws change with every limit of the sizes."
        raise self._refusal(misfit(message))

    def _refusal(self, refused: NoLawError) -> NoLawError:
        hint = self._start_hint(refused.odd) if refused.odd else ""
        starts = {variable.name: variable.start or _CHOICE + 1 for variable in self.domain.variables}
        small = [name for name in starts if name in refused.movers and (name in self.domain.counters or starts[name] <= _CHOICE)]
        if small and not hint:
            hint = f" If {' or '.join(small)} is a choice and not a size, hold it, as in derive(build, held={{{small[-1]!r}: ...}})."
        if not hint and refused.movers and any(number in self.constants for number in _ROUNDED):
            fresh = {formula.fresh: name for name, formula in self.domain.formulas.items()}
            name = next(fresh.get(name, name) for name in refused.movers)
            hint = f" If the build rounds {name} to a multiple, state this, as in derive(build, {name}='8*k'), or a larger multiple."
        return misfit(f"{str(refused).rstrip('.')}. No formula is guessed.{hint}", refused.movers, refused.odd)

    def _start_hint(self, odd: Sequence[Numbers]) -> str:
        """Say under which condition the build stores other tensors, if the start values do not meet it."""
        keys = {self._key(numbers) for numbers in odd}
        for limit in self._limits():
            sides = {(limit.holds(case.numbers), self._key(case.numbers) in keys) for case in self._cases()}
            if len(sides) == 2 and len({held for held, _ in sides}) == 2 and len({strange for _, strange in sides}) == 2:
                names = {*limit.small.names(), *limit.large.names()} if isinstance(limit, Demand) else set()
                alone = [variable for variable in self.domain.variables if {variable.name} == names]
                held = "".join(f", or hold it, as in derive(build, held={{{one.name!r}: {one.start}}})" for one in alone)
                return f" The build stores other tensors where {limit}: give start values for which this holds{held}."
        return ""

    def _dense(self, names: Sequence[str]) -> None:
        """Build consecutive values of coordinates, which show steps."""
        if not names:
            return
        bases = list(islice(self._bases(), 2))
        for base in bases:
            for name in names:
                top = 14 if name in self.domain.counters else _DENSE
                low = 1 if base is bases[0] else base[name]
                for value in range(low, low + (top if base is bases[0] else top // 2)):
                    self.see(self.domain.moved(base, **{name: value}))
        for number in range(60):
            point = self.domain.random(self.chance, 256, count=8)
            if point is not None and number % 2:  # nothing is rounded where all sizes are multiples
                wide = [name for name in self.domain.coordinates if name not in self.domain.counters]
                point = self.domain.moved(point, **{name: _MULTIPLE * point[name] for name in wide})
            self.see(point)

    def _demands(self) -> Iterator[Demand | Either]:
        """Yield the limits of sizes under which a model may be of one kind; the start values must be inside."""
        start = {variable.name: variable.start or 8 for variable in self.domain.variables}
        yield from (demand for demand in self._limits() if demand.holds(start))

    def _limits(self) -> Iterator[Demand | Either]:
        names = [variable.name for variable in self.domain.variables]
        differing = [Demand("differ", Law.of(one), Law.of(other)) for one, other in combinations(names, 2)]
        yield from differing
        for name in names:
            yield from (Demand("at most", Law.constant(number), Law.of(name)) for number in (2, 3, 4, 5))
        for one in names:
            for other in names:
                if one != other:
                    yield Demand("at most", Law.of(one), Law.of(other))
                    yield Demand("at most", Law.of(one).plus(1), Law.of(other))
        for name, number in product(names, (1, 2)):
            own = Demand("differ", Law.of(name), Law.constant(number))
            yield from (Either((own, pair)) for pair in differing if name not in {*pair.small.names(), *pair.large.names()})

    def _limited(self, odd: Sequence[Numbers], cases: Sequence[Sample]) -> bool:
        """Limit the sizes so that odd points are left out and nearly all others are kept."""
        strange = {id(numbers) for numbers in odd}
        # A point of an index counts for its original point.
        keys = {self._key(numbers) for numbers in odd}
        odd_ones = [case.numbers for case in cases if id(case.numbers) in strange or self._key(case.numbers) in keys]
        others = [case.numbers for case in cases if self._key(case.numbers) not in keys]
        possible: list[tuple[int, int, Demand | Either]] = []
        for demand in self._demands():
            hits = sum(not demand.holds(numbers) for numbers in odd_ones)
            lost = sum(not demand.holds(numbers) for numbers in others)
            if hits == len(odd_ones) and lost <= hits:
                possible.append((lost, -hits, demand))
        if not possible:
            return False
        if self._tell_apart([demand for *_, demand in possible if isinstance(demand, Either) and demand not in self._told]):
            return True
        self.domain.demands.append(min(possible, key=lambda one: one[:2])[2])
        return True

    def _tell_apart(self, demands: Sequence[Either]) -> bool:
        """Build points outside each of several pairs of conditions that explain the same odd points; return whether there were any."""
        self._told.extend(demands)
        if len(demands) < 2:
            return False
        for demand in demands:
            for _ in range(_OUTSIDE):
                self.see(outside(demand, self.domain, self.chance))
        return True

    def _key(self, numbers: Numbers) -> tuple[int, ...]:
        return tuple(numbers[name] for name in self.domain.coordinates)

    def _limited_by(self, wrong: Sequence[Sample]) -> bool:
        """Limit the sizes so that the earlier laws hold: every refuting point is left out, and few others."""
        for demand in self._demands():
            if any(demand.holds(sample.numbers) for sample in wrong):
                continue
            outside = [sample for sample in self.samples.values() if not demand.holds(sample.numbers)]
            if sum(not self.agrees(sample) for sample in outside) * 4 >= len(outside) * 3:
                self.domain.demands.append(demand)
                return True
        return False

    def _limited_by_trial(self, cases: Sequence[Sample]) -> bool:
        """Limit the sizes by the first condition under which laws are found, if points of an unknown kind prevent them."""
        ends = time.thread_time() + min(self.until - time.monotonic(), _TRIAL)
        for demand in self._demands():
            left = [case for case in cases if demand.holds(case.numbers)]
            if not len(cases) * 0.6 <= len(left) < len(cases) or time.thread_time() > ends:
                continue
            try:
                laws = self._laws_of(left, 0.5)
            except NoLawError:
                continue
            # If most excluded points would agree, the limit is no explanation, and would hide an exception of another kind.
            outside = [case for case in cases if not demand.holds(case.numbers)]
            if sum(not _agrees(laws, case, count=self.count) for case in outside) * 4 >= len(outside) * 3:
                self.domain.demands.append(demand)
                return True
        return False

    # Trying -------------------------------------------------------------------------------------------------------------------

    def agrees(self, sample: Sample) -> bool:
        """Whether the laws give the built result."""
        return _agrees(self.laws, sample, count=self.count)

    def _try_fresh(self) -> None:
        """Build fresh and adversarial points, and find new laws if one disagrees, until enough of them agree in a row."""
        wrong: list[Sample] = []
        for number in range(_ROUNDS):
            self._prove()
            wrong = [sample for sample in self._cases() if not self.agrees(sample)] or self._fresh_round()
            if not wrong:
                return
            self.say(f"counterexample {number + 1}")
            self._explain(wrong)
        message = "fresh points refuted the laws too often; the last: " + self._where(wrong[0]) + "."
        raise self._refusal(misfit(message, (), [wrong[0].numbers]))

    def _fresh_round(self) -> list[Sample]:
        self.tested = []
        wrong: list[Sample] = []
        most = 8 if self.slow else _MOST_COPIES
        self.domain.most_placed = 4 * most
        ends = self.until - (1 - _SHARE) * self.time
        most_known = 60 if self.slow else _MOST_SUSPECTS
        first = special(self.domain, self.chance, self.constants)[:most_known]
        known = [*first, *suspects(self.domain, self.chance, self.constants)][:most_known]
        fewest = self._number(_FEWEST_TESTS, _FEWEST_SLOW_TESTS)
        wanted = max(self.tests, min(len(known), self.tests) + self.tests // 2, self._number(len(first), 0))
        points = chain(self._deep(), known, adversaries(self.domain, self.chance, most_count=most))
        for number, numbers in enumerate(islice(points, wanted * 6)):
            if self._key_of_arguments(numbers) in self.samples:
                continue
            if time.monotonic() > ends and not wrong and len(self.tested) >= fewest:
                break
            sample = self.see(numbers)
            if sample is None:
                continue
            if number % 25 == 0:
                self._same_again(sample)
            if self.agrees(sample):
                self.samples.pop(self._key_of_arguments(numbers))  # a point that agrees is not used to find laws
                self.tested.append(sample)
            else:
                wrong.append(sample)
                if len(wrong) == 1:
                    self._near(sample.numbers)
            if (not wrong and len(self.tested) >= wanted) or len(wrong) >= 12:
                break
            if wrong and len(self.tested) + len(wrong) > 60:
                break
        return wrong

    def _deep(self) -> Iterator[Numbers]:
        """Yield points with many copies, if the build has not too many tensors there."""
        most = _MOST_SLOW_TENSORS if self.slow else _MOST_TENSORS
        if self.thrifty:
            most = min(most, 4 * max(len(sample.seen) for sample in self.samples.values()))
        constants = [constant for constant in self.constants if constant <= most]
        names = {variable.name for variable in self.domain.variables}
        turns = [(set(law.count.names()) & names, set(law.step.names()) & names) for law in self.laws.copies() if law.step is not None]
        pairs = sorted({pair for counts, steps in turns for pair in product(counts, steps) if pair[0] != pair[1]})
        points = chain(deep(self.domain, self.chance, constants), turning(self.domain, self.chance, constants, pairs))
        yield from (numbers for numbers in points if self._tensors(numbers, most) < most)

    def _tensors(self, numbers: Numbers, most: int) -> int:
        """Return the number of tensors at a point by the laws so far, or ``most`` if there are more or a size is too long to compute."""
        if self.count:
            return min(most, int(sum(lines * numbers[name] for name, lines in self._lines.items()) / _LINES))
        try:
            return sum(1 for _ in islice(self.laws.written(numbers), most))
        except ParamsymError:
            return most

    def _near(self, numbers: Numbers) -> None:
        """Build the neighbours of a counterexample, which show what changes there."""
        for name in self.domain.coordinates:
            for value in (numbers[name] - 1, numbers[name] + 1, numbers[name] + 2):
                if value >= 1:
                    self.see(self.domain.moved(numbers, **{name: value}))

    def _key_of_arguments(self, numbers: Numbers) -> tuple[int, ...]:
        return tuple(numbers[variable.name] for variable in self.domain.variables)

    def _where(self, sample: Sample) -> str:
        return ", ".join(f"{name}={value}" for name, value in sample.numbers.items())

    # Proving ------------------------------------------------------------------------------------------------------------------

    def _prove(self) -> None:
        """Build the principal lattice whose order bounds the degree of every law that is a polynomial."""
        self.say("proof")
        self.degree, self.lattice = None, 0
        degrees = [law.degree({}) for _, law in self.laws.laws()]
        order = max([2, *(degree for degree in degrees if degree is not None)])
        width = len(self.domain.coordinates)
        if comb(width + order, order) > _MOST_LATTICE:
            return
        for attempt in range(12):
            number = self._lattice(order, attempt)
            if number:
                self.degree, self.lattice = order, number
                return

    def _lattice(self, order: int, attempt: int) -> int:
        base = next(self._bases(), None)
        if base is None:
            return 0
        names = self.domain.coordinates
        steps = {name: 1 if name in self.domain.counters or attempt < 4 else self.chance.choice((1, 2, 3, 5, 7)) for name in names}
        number = 0
        for chosen in combinations_with_replacement((*names, ""), order):
            changes = {name: base[name] + chosen.count(name) * steps[name] for name in names if name in chosen}
            sample = self.see(self.domain.moved(base, **changes))
            if sample is None:
                return 0
            if not self.agrees(sample):
                return 0  # the laws must change for it, so it is now one of the points
            number += 1
        return number


def _agrees(laws: LevelLaw, sample: Sample, *, count: bool) -> bool:
    """Whether laws give the built result at a point."""
    try:
        written = tuple(laws.written(sample.numbers))
    except ParamsymError:
        return False
    if any(extent < 0 for seen in written for extent in seen.shape) and not count:
        return False
    return {seen.name: seen for seen in written} == {seen.name: seen for seen in sample.seen} and len(written) == len(sample.seen)


def _copy(domain: Domain) -> Domain:
    return Domain(domain.variables, dict(domain.formulas), list(domain.demands), set(domain.counters), domain.largest_count, domain.largest)


def _fraction(value: Any) -> Any:
    from fractions import Fraction

    return Fraction(value)
