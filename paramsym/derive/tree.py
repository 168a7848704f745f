"""Finds the laws of a whole model: its names, the numbers of copies, and the law of every axis."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from paramsym.derive.fit import Fitter, misfit
from paramsym.derive.groups import Pattern, groups
from paramsym.derive.law import Law
from paramsym.derive.names import Node, blank, numbers_in
from paramsym.derive.observe import Seen
from paramsym.derive.partition import Partition, partitions
from paramsym.derive.points import BEFORE, IN_NAME, Numbers, Points
from paramsym.derive.stages import Piece, gaps, repeats, stages, turns
from paramsym.derive.structure import FROM_END, CopiesLaw, LeafLaw, LevelLaw, Place, indexed
from paramsym.errors import NoLawError

_INDICES = "ijkmnpqrst"
_MOST_POINTS = 260  # the most points for the copies of a block
_FEW = 2  # with fewer copies, the first is also the last
_TRIED_EQUAL = 2  # the most divisions with equal copies
_SPARSE = 2000  # the largest mean distance of the numbers of copies
_TIED = 5  # copies that share tensors with others, of each result
_TRIED = 6  # the most divisions of copies whose shapes depend on an index

Rows: TypeAlias = "Sequence[tuple[Numbers, Mapping[int, Node]]]"
"""The copies at each point, by their numbers."""
Attempt: TypeAlias = "Callable[[Rows, tuple[str, ...], str, int], list[CopiesLaw]]"
"""A way to divide copies."""


@dataclass
class Explainer:
    """Finds the laws of trees of tensors at points."""

    fitter: Fitter
    taken: frozenset[str] = frozenset()
    caches: dict[tuple[int, ...], Points] = field(default_factory=dict)

    def points(self, numbers: Sequence[Numbers], free: tuple[str, ...]) -> Points:
        """Return the points as one cached value."""
        key = tuple(map(id, numbers))
        if key not in self.caches:
            self.caches[key] = Points(tuple(numbers), free)
        return self.caches[key]

    def level(self, cases: Sequence[tuple[Numbers, Node]], free: tuple[str, ...], path: str = "", depth: int = 0) -> LevelLaw:
        """Return the laws of one node.

        Raises:
            NoLawError: a number that no law explains.
        """
        leaves = [(numbers, node.tensor) for numbers, node in cases if node.tensor is not None]
        leaf = None
        if leaves:
            self._everywhere(path, [n for n, _ in leaves], cases)
            leaf = self._leaf(leaves, free, path)
        members: list[tuple[str, LevelLaw | CopiesLaw]] = []
        for pattern, steps in groups(cases):
            dot = "." if path else ""
            if pattern is None:
                for step in steps:
                    inner = [(numbers, node.below[step]) for numbers, node in cases if step in node.below]
                    self._everywhere(path + dot + step, [n for n, _ in inner], cases)
                    members.append((step, self.level(inner, free, path + dot + step, depth)))
            else:
                members.extend((pattern.name, law) for law in self._copies(pattern, cases, free, path + dot + (pattern.name or "*"), depth))
        return LevelLaw(leaf, tuple(members))

    def _everywhere(self, name: str, present: Sequence[Numbers], cases: Sequence[tuple[Numbers, Node]]) -> None:
        if len(present) == len(cases):
            return
        there = {id(numbers) for numbers in present}
        absent = [numbers for numbers, _ in cases if id(numbers) not in there]
        odd = absent if len(absent) <= len(present) else present
        if 3 * len(odd) > len(cases):  # both kinds are usual; the first point has the start values
            odd = absent if id(cases[0][0]) in there else present
        message = f"{name} is stored only at some sizes: not at {_shown(absent[0])}, but at {_shown(present[0])}."
        raise misfit(message, odd=odd)

    def _leaf(self, cases: Sequence[tuple[Numbers, Seen]], free: tuple[str, ...], path: str) -> LeafLaw:
        first = cases[0][1]
        for fact, word in (
            (lambda seen: len(seen.shape), "number of axes"),
            (lambda seen: seen.kind, "kind"),
            (lambda seen: seen.trainable, "being trained"),
            (lambda seen: bool(seen.alias_of), "being tied"),
            (lambda seen: blank(seen.alias_of), "first name"),
        ):
            other = [numbers for numbers, seen in cases if fact(seen) != fact(first)]
            if other:
                odd = other if len(other) * 2 <= len(cases) else [numbers for numbers, seen in cases if fact(seen) == fact(first)]
                message = f"{path or 'the tensor'} changes its {word} with the sizes, as at {_shown(odd[0])}."
                raise misfit(message, odd=odd)
        points = self.points([numbers for numbers, _ in cases], free)
        axes = []
        for axis in range(len(first.shape)):
            try:
                axes.append(self.fitter.fit(points, [seen.shape[axis] for _, seen in cases]))
            except NoLawError as error:
                message = f"axis {axis} of {path or 'the tensor'}: {error}"
                raise misfit(message, error.movers) from None
        return LeafLaw(tuple(axes), first.kind, first.trainable, _alias(cases, path) if first.alias_of else None)

    def _index(self, depth: int) -> str:
        return next(name for name in _INDICES[depth:] if name not in self.taken)

    def _copies(
        self, pattern: Pattern, cases: Sequence[tuple[Numbers, Node]], free: tuple[str, ...], path: str, depth: int
    ) -> list[CopiesLaw]:
        rows = [(numbers, pattern.entries(node)) for numbers, node in cases]
        held = [(numbers, entries) for numbers, entries in rows if entries]
        if any(max(entries) - min(entries) > _SPARSE * len(entries) for _, entries in held):
            raise misfit(f"no law explains the numbers in the names of {path}, which are far apart.", free)
        found = list(partitions([entries for _, entries in held]))
        following = [partition for partition in found if not partition.constant]
        equal = [partition for partition in found if partition.constant]
        few = [numbers for numbers, entries in held if len(entries) < _FEW]
        enough = [entries for _, entries in held if len(entries) >= _FEW]
        if few and not equal and any(partition.constant for partition in partitions(enough)):
            message = f"{path} is of another kind with fewer than {_FEW} copies, as at {_shown(few[0])}."
            raise misfit(message, odd=few)
        # If copies of a kind are equal, no law of their number is needed, and a finer division has the same axes.
        divided = [partial(self._divided, partition) for partition in equal[:_TRIED_EQUAL] or following[:_TRIED]]
        refused: list[NoLawError] = []
        ends = time.thread_time() + 2 * self.fitter.patience
        attempts: list[Attempt] = [self._in_turns, *divided, self._in_stages] if equal else [self._in_turns, self._in_stages, *divided]
        for attempt in attempts:
            if attempt in divided and time.thread_time() > ends:
                continue
            try:
                return attempt(rows, free, path, depth)
            except NoLawError as error:
                refused.append(error)
                if error.odd and attempt == self._in_stages:  # the stages are right for most sizes
                    break
        told = next((error for error in refused if error.odd), refused[min(len(refused) - 1, 1 if equal else 2)])
        movers = tuple(dict.fromkeys(name for error in refused for name in error.movers))
        raise misfit(str(told), movers, told.odd or _of_another_kind(held))

    def _divided(self, partition: Partition, rows: Rows, free: tuple[str, ...], path: str, depth: int) -> list[CopiesLaw]:
        index = self._index(depth)
        depth = max(depth, _INDICES.index(index)) + 1
        tied = any(node.tied for _, entries in rows for node in entries.values())
        found: list[CopiesLaw] = []
        runs = partition.runs([entries for _, entries in rows])
        for number, run in enumerate(runs):
            # The number of a copy at an end follows from the sizes. If it were an index, it would change together with a size, and no two
            # points would differ in one number only.
            alone = number < partition.head or number >= len(runs) - partition.tail
            single = not tied and (partition.constant or alone)
            start = self._number(
                [(numbers, bounds[0]) for (numbers, _), bounds in zip(rows, run.bounds, strict=True) if bounds], free, path
            )
            count = self._number(
                [(numbers, bounds[1] - bounds[0] if bounds else 0) for (numbers, _), bounds in zip(rows, run.bounds, strict=True)],
                free,
                path,
                rare=True,
            )
            if partition.first is not None and found:  # the rest after the first kind: layers - min(dense, layers)
                count = self._number([(numbers, len(entries)) for numbers, entries in rows], free, path).plus(found[0].count, -1)
            blocks = []
            for turn in range(run.period):
                inside: list[tuple[Numbers, Node]] = []
                for (numbers, entries), bounds in zip(rows, run.bounds, strict=True):
                    if bounds is None:
                        continue
                    places = range(bounds[0] + turn, bounds[1], run.period)
                    if single:
                        inside.extend((numbers, entries[place]) for place in places[:1] if place in entries)
                    else:
                        inside.extend(
                            (indexed(numbers, index, place, bounds, run.period), entries[place]) for place in places if place in entries
                        )
                free_here = free if single or alone else (*free, index)
                blocks.append(self.level(_thinned(inside), free_here, path, depth) if inside else LevelLaw())
            found.append(CopiesLaw(tuple(blocks), start, count, index))
        return found

    def _in_turns(self, rows: Rows, free: tuple[str, ...], path: str, depth: int) -> list[CopiesLaw]:
        """Return copies of two kinds, of which every k-th one is of one kind, where k follows a law."""
        held = [(numbers, entries) for numbers, entries in rows if entries]
        found = turns([entries for _, entries in held])
        if found is None:
            raise misfit(f"no law explains which copies of {path} exist.", free)
        turn = self._number([(n, first) for (n, _), (first, _) in zip(held, found, strict=True) if first is not None], free, path)
        step = self._number([(n, step) for (n, _), (_, step) in zip(held, found, strict=True) if step is not None], free, path)
        start = self._number([(numbers, min(entries)) for numbers, entries in held], free, path)
        alone = any(gaps(entries) for _, entries in held)  # then every other number has no copy
        count = self._number([(n, len(entries) * (int(step.value(n)) if alone else 1)) for n, entries in rows], free, path)
        law = CopiesLaw((), start, count, self._index(depth), turn, step)
        kinds: tuple[list[tuple[Numbers, Node]], list[tuple[Numbers, Node]]] = ([], [])
        odd: list[Numbers] = []
        for numbers, entries in held:
            for kind in (0, 1):
                nodes = [(place, node) for place, node in entries.items() if (law.before(place, numbers) == place) == (kind == 0)]
                kinds[kind].extend((law.placed(numbers, place), node) for place, node in nodes[:_TIED] if node.tied or place == nodes[0][0])
                odd.extend(numbers for _ in nodes[:1] if len({node.whole for _, node in nodes}) > 1)
        if odd:
            raise misfit(f"no law explains the kinds of the copies of {path}, as at {_shown(odd[0])}.", free, odd)
        inside = [self.level(_thinned(kind), (*free, law.index), path, _INDICES.index(law.index) + 1) for kind in kinds]
        return [replace(law, blocks=tuple(inside))]

    def _in_stages(self, rows: Rows, free: tuple[str, ...], path: str, depth: int) -> list[CopiesLaw]:
        """Return copies in stages, each of which begins where a law says."""
        refused: NoLawError | None = None
        held = [(numbers, entries) for numbers, entries in rows if entries]
        for series in stages([entries for _, entries in held]):
            known = [(numbers, one) for (numbers, _), one in zip(held, series, strict=True) if one]
            try:
                return self._staged(rows, known, free, path, depth)
            except NoLawError as error:
                refused = refused or error
        raise refused or misfit(f"no law explains which copies of {path} exist.", free)

    def _staged(
        self, rows: Rows, known: Sequence[tuple[Numbers, list[Piece]]], free: tuple[str, ...], path: str, depth: int
    ) -> list[CopiesLaw]:
        stages = []
        for place, (*_, period) in enumerate(known[0][1]):
            start, end = (self._number([(numbers, one[place][side]) for numbers, one in known], free, path) for side in (0, 1))
            stages.append((start, end, period))
        held = [(numbers, entries) for numbers, entries in rows if entries]
        pieces = [[(int(start.value(n)), int(end.value(n)), period) for start, end, period in stages] for n, _ in held]
        odd = [numbers for (numbers, entries), places in zip(held, pieces, strict=True) if not repeats(entries, places)]
        if odd:
            steady = all(bound.degree({}) == 0 for start, end, _ in stages for bound in (start, end)) or 2 * len(odd) > len(held)
            message = f"no law explains where the {len(stages)} stages of {path} begin, as at {_shown(odd[0])}."
            raise misfit(message, free, () if steady else odd)
        found: list[CopiesLaw] = []
        for stage, (start, end, period) in enumerate(stages):
            blocks: list[LevelLaw] = []
            for turn in range(period):
                places = [(*case, one[stage][0] + turn, one[stage][1]) for case, one in zip(held, pieces, strict=True)]
                inside = [(numbers, entries[place]) for numbers, entries, place, last in places if place < last and place in entries]
                blocks.append(self.level(inside, free, path, depth) if inside else LevelLaw())
            found.append(CopiesLaw(tuple(blocks), start, end.plus(start, -1), self._index(depth)))
        return found

    def _number(self, cases: Sequence[tuple[Numbers, int]], free: tuple[str, ...], path: str, *, rare: bool = False) -> Law:
        """Return the law of a number; if it has two values, the points with the ``rare`` one may be an exception."""
        try:
            return self.fitter.fit(self.points([numbers for numbers, _ in cases], free), [number for _, number in cases])
        except NoLawError as error:
            message = f"the number of copies of {path}: {error}"
            values = Counter(number for _, number in cases).most_common()
            odd = [numbers for numbers, number in cases if number == values[1][0]] if rare and len(values) == 2 else []
            raise misfit(message, error.movers, odd) from None


def _of_another_kind(rows: Rows) -> list[Numbers]:
    """Return the points of the rarer kinds, if all copies of each point are of one kind."""
    kinds = [{node.label for node in entries.values()} for _, entries in rows]
    if any(len(labels) != 1 for labels in kinds):
        return []
    usual = Counter(map(frozenset, kinds)).most_common(1)[0][0]
    return [numbers for (numbers, _), labels in zip(rows, kinds, strict=True) if labels != usual]


def _thinned(cases: list[tuple[Numbers, Node]]) -> list[tuple[Numbers, Node]]:
    """Keep regularly spaced cases if there are more than a fit needs."""
    step = -(-len(cases) // _MOST_POINTS)
    return cases[::step] if step > 1 else cases


def _alias(cases: Sequence[tuple[Numbers, Seen]], path: str) -> tuple[str, tuple[Place, ...]]:
    """Return the pattern of the first name, with its numbers or indices put in."""
    found = [numbers_in(seen.alias_of) for _, seen in cases]
    places: list[Place] = []
    for position, first in enumerate(found[0]):
        if all(numbers[position] == first for numbers in found):
            places.append(first)
            continue
        same = [
            name
            for name in cases[0][0]
            if (name.startswith((IN_NAME, BEFORE)) or (name in _INDICES and IN_NAME + name not in cases[0][0]))
            and all(case.get(name) == one[position] for (case, _), one in zip(cases, found, strict=True))
        ]
        if not same:
            raise misfit(f"{path} is tied to {cases[0][1].alias_of} and, elsewhere, to another copy, which no index explains.")
        places.append(same[-1])
    return blank(cases[0][1].alias_of), tuple(places)


def _shown(numbers: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in numbers.items() if not name.startswith((FROM_END, IN_NAME, BEFORE)))
