"""Laws of whole numbers over the values of configurations: the simplest that all samples follow, cases apart where one does not."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any, TypeAlias

from atlas_builder.solving import coefficients
from atlas_builder.told import Told

from paramsym.atlas.expression import OutsideError, Values, answer, atom, evaluated

Numbers: TypeAlias = dict[int, int]
"""A number for some of the samples, by their position."""
Atom: TypeAlias = Any

_ROUNDINGS = (2, 3, 4, 8, 16, 32, 64, 128, 256)
_MOST_POINTS = 90
_SECONDS = 1.5
_MOST_ANSWERS = 40
_TELLING = 4  # the least number of distinct results for which a law of another tensor is reused
_MOST_MOVERS = 8
_NOTHING = Told()
_MOST_TESTS = 5


class Clock:
    """The processor time, read only at every hundredth call, because reading it costs more than solving a small system."""

    def __init__(self) -> None:
        """Start now."""
        self.asked, self.now = 0, time.process_time()

    def past(self, ends: float) -> bool:
        """Whether the time ``ends`` is over."""
        self.asked += 1
        if self.asked % 100 == 0:
            self.now = time.process_time()
        return self.now > ends


class NoFitError(Exception):
    """No law was found."""


def compares(test: Sequence[Any]) -> bool:
    """Whether a test compares sizes that are not entries of one list. It may say whether a tensor is stored, never how large it is."""
    kind, *operands = test
    return kind == "over" or (kind == "equal" and len({str(one).rstrip("0123456789") for one in operands}) > 1)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, and no flag."""
    return isinstance(value, int) and not isinstance(value, bool)


class Fitter:
    """Finds laws over samples; ``active`` are the keys that change something, ``lines`` pairs of samples that differ in one key."""

    def __init__(
        self, samples: Sequence[Values], active: Sequence[str], lines: Sequence[tuple[int, int, str]], told: Told = _NOTHING
    ) -> None:
        """Lay out columns of numbers, and tests with few answers."""
        self.samples, self.lines, self.active, self.told = samples, lines, list(active), told
        self.columns: dict[Atom, list[Any]] = {}
        self.floats: set[Atom] = set()
        self.tests: list[tuple[Any, ...]] = []
        self.answers: dict[tuple[Any, ...], list[Any]] = {}
        self.lists: list[str] = []
        self.found: dict[tuple[tuple[int, int], ...], Any] = {}
        self.known: list[tuple[Any, list[int | None]]] = []
        self.ends = math.inf
        self.clock = Clock()
        self.laid: dict[str, list[Any]] = {}
        self.apart: dict[Any, list[Any] | NoFitError] = {}
        self.sets: dict[Any, Any] = {}
        for size in told.sizes:
            column = self._column(size)
            if len(set(column)) > 1:
                self.columns[_hashable(size)] = column
        for law in sorted(told.laws, key=lambda one: one[0] == "?"):  # plain ones first
            self._know(law)
        self.told_known = [*self.known]
        for test in told.tests:
            self._test(*test)
        for key in active:
            self._lay_out(key)
        self._lay_out_pairs()
        self.moved = [(i, j, key, {name for name, column in self.columns.items() if column[i] != column[j]}) for i, j, key in lines]

    def _lay_out(self, key: str) -> None:
        values = [sample.get(key) for sample in self.samples]
        present = [value for value in values if value is not None]
        distinct = set(values)
        if len(distinct) < 2:
            return
        if len(present) < len(values):
            self._test("none", key)
        if all(is_whole(value) for value in present):
            self.columns[key] = values
            if any(value <= 0 for value in present):
                self._test("positive", key)
            if len(distinct) <= 4 and max(present, default=9) <= 4:
                self._test("is", key)
            for least in range(1, 9):
                if _typical(present) <= 12:
                    self._test("beyond", key, least)
        elif all(isinstance(value, bool) for value in present):
            self._test("is", key)
        elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
            self.columns[key] = values
            self.floats.add(key)
            self._test("positive", key)
        elif all(isinstance(value, str | bool) for value in present):
            self._test("is", key)
        elif present and all(isinstance(value, tuple) for value in present):
            self._lay_out_list(key, values)

    def _lay_out_list(self, key: str, values: Sequence[Any]) -> None:
        if any(value is not None and value[:1] == ("{}",) for value in values):
            return
        self.lists.append(key)
        lengths = [None if value is None else len(value) for value in values]
        if len(set(lengths)) > 1:
            self.columns["len", key] = lengths
            for least in range(9):
                self._test("beyond", key, least)
        shortest = min((length for length in lengths if length is not None), default=0)
        longest = max((length for length in lengths if length is not None), default=0)
        for place in [*range(min(longest, 8)), *([-1] if longest != shortest else [])]:
            entries = [None if value is None or place >= len(value) or not value else value[place] for value in values]
            held = [one for one in entries if one is not None]
            if len(set(entries)) < 2:
                continue
            if all(is_whole(one) for one in held):
                self.columns["at", key, place] = entries
                for least in range(4) if place >= 0 and min(held) <= 4 else ():
                    self._test("over", key, place, least)
            elif all(isinstance(one, str | bool) for one in held) and place >= 0 and len(held) == len(entries):
                self._test("entry", key, place)
            elif all(isinstance(one, tuple) for one in held) and place >= 0:
                for inner in range(min((len(one) for one in held), default=0)):
                    column = [None if one is None else one[inner] for one in entries]
                    if all(is_whole(one) or one is None for one in column):
                        self.columns["at", key, place, inner] = column

    def _lay_out_pairs(self) -> None:
        scalars = [key for key in self.columns if isinstance(key, str) and key not in self.floats]
        for one, other in combinations(scalars, 2):
            self._test("equal", one, other)

    def _test(self, *test: Any) -> None:
        if test in self.answers:
            return
        try:
            answers = [answer(sample, test) for sample in self.samples]
        except (OutsideError, TypeError):
            return
        if 1 < len(set(answers)) <= _MOST_ANSWERS:
            self.tests.append(test)
            self.answers[test] = answers

    # Laws of one number -------------------------------------------------------------------------------------------------------

    def fit(self, numbers: Numbers, depth: int = 2) -> Any:
        """Return the expression that gives these numbers.

        Raises:
            NoFitError: none was found.
        """
        if len(set(numbers.values())) == 1:
            return next(iter(numbers.values()))
        key = (*sorted(numbers.items()), (-1, depth))
        if key not in self.found:
            self.found[key] = self._known(numbers) if depth else None
            if self.found[key] is None:
                if time.process_time() > self.ends:
                    message = "out of time"
                    raise NoFitError(message)
                self.found[key] = self._fit(numbers, depth, time.process_time() + _SECONDS)
                if self.found[key] is not None:
                    self._know(self.found[key])
        if self.found[key] is None:
            shown = [(number, self.samples[i]) for i, number in list(numbers.items())[:2]]
            causes = sorted({cause for i, j, cause, _ in self.moved if numbers.get(i) != numbers.get(j) and i in numbers and j in numbers})
            message = f"no law over {causes[:8]} for {len(numbers)} samples, such as {[number for number, _ in shown]}"
            raise NoFitError(message)
        return self.found[key]

    def forget(self) -> None:
        """Forget all results except those of told laws, because columns or tests have changed."""
        for found in (self.found, self.apart, self.sets):
            found.clear()
        self.known = [one for one in self.told_known if one[0] in self.told.laws]

    def _gives(self, law: Any, numbers: Numbers) -> bool:
        """Whether a law gives all these numbers."""
        try:
            return all(evaluated(self.samples[i], law) == number for i, number in numbers.items())
        except (OutsideError, TypeError):
            return False

    def _know(self, law: Any) -> None:
        """Keep a law and its result for each sample, because many tensors have the same sizes."""
        answers: list[int | None] = []
        for sample in self.samples:
            try:
                answers.append(evaluated(sample, law))
            except (OutsideError, TypeError):
                answers.append(None)
        self.known.append((law, answers))

    def _known(self, numbers: Numbers) -> Any:
        """Return a law of another tensor that also gives these numbers; None without such a law, or if the numbers differ too little."""
        if len(set(numbers.values())) < _TELLING:
            return None
        return next((law for law, answers in self.known if all(answers[i] == number for i, number in numbers.items())), None)

    def _fit(self, numbers: Numbers, depth: int, ends: float) -> Any:
        moving = self.movers(numbers)
        found = self._law(numbers, moving, ends) or self._wide(numbers, moving, ends)
        if found is None and depth and len(moving) < len(self.columns):  # a plain law over other keys, before cases that agree by chance
            every = [*moving, *(name for name in self.columns if name not in moving)]
            found = self._law(numbers, every, time.process_time() + _SECONDS / 2, most=2)
        if found is None and depth:
            ends = max(ends, time.process_time() + _SECONDS / 2)
            found = self._cases(numbers, moving, depth, ends)
        if found is None and len(moving) < len(self.columns) and (depth == 2 or not self.lines):
            rest = [name for name in self.columns if name not in moving]
            ends = max(ends, time.process_time() + _SECONDS / 2)
            found = self._law(numbers, [*moving, *rest], ends, most=2)
            for name in rest if found is None and 0 < len(moving) <= 4 else ():
                found = self._law(numbers, [name, *moving], ends)
                if found is not None:
                    break
        return found

    def movers(self, numbers: Numbers) -> list[Atom]:
        """Return the columns that move where the numbers do, those of single keys first."""
        direct: dict[Atom, None] = {}
        along: dict[Atom, None] = {}
        for i, j, key, moved in self.moved:
            if i in numbers and j in numbers and numbers[i] != numbers[j]:
                if key in self.columns:
                    direct[key] = None
                along |= dict.fromkeys(sorted(moved, key=str))
        return [*direct, *(name for name in along if name not in direct)]

    def _cases(self, numbers: Numbers, moving: Sequence[Atom], depth: int, ends: float) -> Any:
        causes = {key for i, j, key, _ in self.moved if i in numbers and j in numbers and numbers[i] != numbers[j]}
        named = {name if isinstance(name, str) else name[1] for name in moving}

        def rank(test: tuple[Any, ...]) -> tuple[bool, bool, bool]:
            keys = {word for word in test[1:] if isinstance(word, str)}
            return not keys & causes, not keys & named, test[0] == "beyond"

        tests = [test for test in self.tests if test in self.answers and 1 < len({self.answers[test][i] for i in numbers}) <= 8]
        tests = [test for test in tests if not compares(test) and (test[0] != "beyond" or rank(test)[0] is False)]
        tests.sort(key=rank)
        for inner in range(depth):  # first plain laws in every case, then cases inside cases
            for test in tests[: 40 if inner == 0 else 5]:
                if self.clock.past(ends):
                    return None
                groups: dict[Any, Numbers] = defaultdict(dict)
                for i, number in numbers.items():
                    groups[self.answers[test][i]][i] = number
                if min(map(len, groups.values())) < 2:
                    continue
                cases = []
                for seen, group in groups.items():
                    law: Any = next(iter(group.values())) if len(set(group.values())) == 1 else None
                    if law is None:
                        law = self._law(group, list(moving)[:6], min(ends, time.process_time() + 0.4))
                    if law is None and rank(test)[0] is False and inner == 0:
                        own = [name for name in self.movers(group) if name not in moving] or [n for n in self.columns if n not in moving]
                        law = self._law(group, [*moving, *own], min(ends, time.process_time() + 0.3), most=2)
                        for name in own if law is None and len(moving) <= 4 else ():
                            law = law or self._law(group, [name, *moving], min(ends, time.process_time() + 0.1))
                    if law is None and inner:
                        law = self._cases(group, moving, inner, ends)
                    if law is None:
                        break
                    cases.append([[seen], law])
                else:
                    return next((law for _, law in cases if self._gives(law, numbers)), ["?", [list(test)], cases])
        return None

    def _law(self, numbers: Numbers, candidates: Sequence[Atom], ends: float, most: int = 4) -> Any:
        places = list(numbers)
        usable = [
            name
            for name in candidates
            if all(self.columns[name][i] is not None for i in places) and len({self.columns[name][i] for i in places}) > 1
        ]
        if most > 2 and not self._depends(numbers, usable[:8]):
            return None
        for size in range(1, most + 1):
            for names in combinations(usable[:8] if size > 2 else usable, size):
                if self.clock.past(ends):
                    return None
                distinct = self._depends(numbers, names)
                if distinct < 3:
                    continue
                found = self._over(names, numbers, ends)
                if found is not None:
                    return found
        return None

    def _wide(self, numbers: Numbers, moving: Sequence[Atom], ends: float) -> Any:
        """Return a polynomial in more keys than the forms of ``_law`` have; each of these keys alone changes the numbers."""
        causes = {key for i, j, key, _ in self.moved if i in numbers and j in numbers and numbers[i] != numbers[j]}
        names = [name for name in moving if name in causes and name not in self.floats][:_MOST_MOVERS]
        if len(names) < 5 or time.process_time() > ends or any(self.columns[name][i] is None for name in names for i in numbers):
            return None
        if len(names) == 5:  # patches of two axes, of one size and with a stride for each axis
            for a, b, size, c, d in permutations(names):
                found = self._polynomial([["//", ["-", a, size], b], ["//", ["-", c, size], d]], 2, numbers) if str(a) < str(c) else None
                if found is not None:
                    return found
        return self._polynomial([listed(name) for name in names], 2, numbers)

    def _depends(self, numbers: Numbers, names: Sequence[Atom]) -> int:
        """Return at how many different points the numbers are a function of some columns; 0 where they are none."""
        seen: dict[tuple[Any, ...], int] = {}
        columns = [self.columns[name] for name in names]
        for i, number in numbers.items():
            if seen.setdefault(tuple([column[i] for column in columns]), number) != number:
                return 0
        return len(seen)

    def _over(self, names: Sequence[Atom], numbers: Numbers, ends: float) -> Any:
        """Return a law in exactly these columns."""
        for atoms, degree in self._forms(names):
            if self.clock.past(ends):
                return None
            found = self._polynomial(atoms, degree, numbers)
            if found is not None:
                return found
        return None

    def _forms(self, names: Sequence[Atom]) -> Iterator[tuple[list[Atom], int]]:
        whole = [listed(name) for name in names if name not in self.floats]
        rates = [listed(name) for name in names if name in self.floats]
        if rates:
            if len(rates) == 1 and len(whole) == 1:
                for times in (1, 2, 3, 4, 8, 16, 32):
                    yield [["int*", ["*", times, whole[0]] if times > 1 else whole[0], rates[0]]], 1
                for step in _ROUNDINGS:
                    yield [["up", ["int*", whole[0], rates[0]], step]], 1
            if len(rates) == 1 and len(whole) == 2:
                for one, other in permutations(whole):
                    yield [["int*", one, rates[0]], other], 2
            return
        yield whole, 1
        yield whole, 2
        if len(whole) == 2:
            for a, b in permutations(whole):
                for kind in ("//", "^/"):
                    yield [[kind, a, b]], 1
                    yield [[kind, a, b], b], 2
                    yield [[kind, a, b], a], 2
                yield [["up", a, b]], 1
                yield [["up", ["//", ["*", 2, a], 3], b]], 1
            yield [["min", *whole]], 1
            yield [["max", *whole]], 1
            yield whole, 3  # channels of a patch
            for step in (8, 16, 32, 64, 128, 256):  # two thirds of a product, as gated feed-forward layers have
                yield [["up", ["//", ["*", 2, ["*", *whole]], 3], step]], 1
        if len(whole) == 3:
            yield whole, 3
            for a, b in permutations(whole, 2):
                (c,) = [one for one in whole if one not in (a, b)]
                for kind in ("//", "^/"):
                    yield [[kind, a, b], c], 2
                    yield [[kind, a, b], b, c], 3
            for a, b, c in permutations(whole):
                yield [["//", ["-", a, b], c]], 2
                yield [["//", a, c], ["//", b, c]], 2
                yield [["//", ["//", a, b], c]], 1
                yield [["//", ["*", a, b], c]], 1
        if len(whole) == 4:
            for a, b, c, d in permutations(whole):
                if str(a) < str(b):
                    yield [["//", a, c], ["//", b, d]], 2
            for a, b in permutations(whole, 2):
                yield [["//", a, b], *(one for one in whole if one not in (a, b))], 3
            yield whole, 3
        if len(whole) <= 2:
            for a in whole:
                rest = [one for one in whole if one is not a]
                for step in _ROUNDINGS:
                    yield [["//", a, step], *rest], 1 + len(rest)
                    yield [["^/", a, step], *rest], 1 + len(rest)
                yield [["2^", a], *rest], 1 + len(rest)

    def _column(self, what: Atom) -> list[Any]:
        """Return the value of an atom for each sample, or None if it has no value there."""
        key = repr(what)
        if key not in self.laid:
            column: list[Any] = []
            for sample in self.samples:
                try:
                    column.append(atom(sample, what))
                except (OutsideError, TypeError, IndexError, OverflowError):
                    column.append(None)
            self.laid[key] = column
        return self.laid[key]

    def _polynomial(self, atoms: Sequence[Atom], degree: int, numbers: Numbers) -> Any:
        columns = [self._column(one) for one in atoms]
        points = [tuple([column[i] for column in columns]) for i in numbers]
        results = list(numbers.values())
        if any(value is None for point in points for value in point):
            return None
        if any(len({point[k] for point in points}) < 2 for k in range(len(atoms))) or any(isinstance(v, float) for p in points for v in p):
            return None
        powers = [one for one in product(range(min(degree, 2) + 1), repeat=len(atoms)) if sum(one) <= degree]
        powers.sort(key=lambda one: (sum(one), one))
        by_point: dict[tuple[int, ...], int] = {}
        for point, result in zip(points, results, strict=True):
            if by_point.setdefault(point, result) != result:
                return None
        few = list(by_point.items())[:_MOST_POINTS]
        rows = [[_monomial(point, power) for power in powers] for point, _ in few]
        found = coefficients(rows, [result for _, result in few])
        if found is None:
            return None
        terms = [(a, b, power) for (a, b), power in zip(found, powers, strict=True) if a]
        common = math.lcm(*(b for _, b, _ in terms))
        for point, result in by_point.items():
            if sum(a * (common // b) * _monomial(point, power) for a, b, power in terms) != result * common:
                return None
        return ["+", [[a, b, [[one, n] for one, n in zip(atoms, power, strict=True) if n]] for a, b, power in terms]]


def _monomial(point: Sequence[int], power: Sequence[int]) -> int:
    result = 1
    for value, exponent in zip(point, power, strict=True):
        result *= value**exponent
    return result


def listed(name: Atom) -> Atom:
    return [listed(one) for one in name] if isinstance(name, tuple) else name


def _hashable(name: Atom) -> Atom:
    return tuple(_hashable(one) for one in name) if isinstance(name, list) else name


def _typical(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2] if values else 0


def decided(fitter: Fitter, present: Mapping[int, bool]) -> Any:
    """Return tests and cases that say where something is there; None if it is everywhere.

    Raises:
        NoFitError: no few tests decide it.
    """
    return None if all(present.values()) else told_apart(fitter, present)


def told_apart(fitter: Fitter, results: Mapping[int, Any], without: str = "") -> list[Any]:
    """Return tests and cases that tell results apart, by the fewest tests; none about the key ``without``.

    Raises:
        NoFitError: no few tests do.
    """
    key = (*results.items(), without)
    if key not in fitter.apart:
        try:
            fitter.apart[key] = _told_apart(fitter, results, without)
        except NoFitError as error:
            fitter.apart[key] = error
    found = fitter.apart[key]
    if isinstance(found, NoFitError):
        raise found
    return found


def _told_apart(fitter: Fitter, results: Mapping[int, Any], without: str) -> list[Any]:
    changing = [(i, j) for i, j, _ in fitter.lines if i in results and j in results and results[i] != results[j]]
    tests = [test for test in fitter.tests if test in fitter.answers and without not in test[1:]]
    related = [test for test in tests if any(fitter.answers[test][i] != fitter.answers[test][j] for i, j in changing)]
    related.sort(key=lambda test: (-sum(fitter.answers[test][i] != fitter.answers[test][j] for i, j in changing), test[0] == "equal"))
    others = [test for test in tests if test not in related]
    for pool, most in ((related[:14], 3), (related[:8], 4), ([*related[:14], *others[:50]], 2)):
        for size in range(1, most + 1):
            for chosen in combinations(pool, size):
                table: dict[tuple[Any, ...], Any] = {}
                columns = [fitter.answers[test] for test in chosen]
                for i, result in results.items():
                    if table.setdefault(tuple([column[i] for column in columns]), result) != result:
                        break
                else:
                    if len(table) * 2 <= len(results):
                        return [[list(test) for test in chosen], [[list(key), result] for key, result in table.items()]]
    chosen = _best_first(fitter, tests, results) if tests else []
    table = {tuple([fitter.answers[test][i] for test in chosen]): result for i, result in results.items()}
    if chosen and len(table) * 2 <= len(results):
        return [[list(test) for test in chosen], [[list(key), result] for key, result in table.items()]]
    message = f"no few tests tell apart {len(set(results.values()))} cases of {len(results)} samples"
    raise NoFitError(message)


def _best_first(fitter: Fitter, tests: Sequence[tuple[Any, ...]], results: Mapping[int, Any]) -> list[tuple[Any, ...]]:
    """Return tests that tell results apart, each the one that mixes them least after those before; none if this takes too many."""
    groups: list[list[int]] = [list(results)]
    chosen: list[tuple[Any, ...]] = []
    left = _mixed(groups, results)
    while left and len(chosen) < _MOST_TESTS:
        divided = ((_divided(groups, fitter.answers[test]), test) for test in tests)
        least, groups, test = min(((_mixed(one, results), one, test) for one, test in divided), key=lambda found: (found[0], len(found[1])))
        if least >= left:
            return []
        left = least
        chosen.append(test)
    return [] if left else chosen


def _divided(groups: Sequence[Sequence[int]], answers: Sequence[Any]) -> list[list[int]]:
    found: dict[tuple[int, Any], list[int]] = {}
    for number, group in enumerate(groups):
        for i in group:
            found.setdefault((number, answers[i]), []).append(i)
    return list(found.values())


def _mixed(groups: Sequence[Sequence[int]], results: Mapping[int, Any]) -> Fraction:
    """Return the pairs of different results in each group, for each member: 0 if the results of each group are the same."""
    counts = (Counter(repr(results[i]) for i in group) for group in groups)
    return sum((count.total() - Fraction(sum(n * n for n in count.values()), count.total()) for count in counts), Fraction(0))
