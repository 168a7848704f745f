"""The search: which edits, alone or together, give a difference, and how many would by chance.

Any number can be reached with enough edits, so an answer is worth what it would be hard to hit at random. Single ideas are always shown.
Two or three together are tried among the simplest ideas only, as many of them as keep the share of numbers they reach small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sympy import Symbol

from paramsym.analysis.edits import Edit, Structure
from paramsym.analysis.options import optional
from paramsym.analysis.resizing import resized
from paramsym.analysis.subject import Subject

_NEARBY = 20  # wrong claims lie within a twentieth of the count, or as far off as the one at hand
_BUDGET = {1: 0.03, 2: 0.04, 3: 0.01}
_PAIRED = 2.6  # two ideas that cost more than this together are far-fetched
_POOLS = {2: (90, 60, 40, 32, 25, 20, 16, 12), 3: (24, 16, 12, 9)}
_NATURAL = 1.45  # an idea cheaper than this is tried whatever it may hit by chance
_SIMPLE = 1.3  # and cheaper than this where a model has so many that they hit by chance
_TOO_MANY = 0.03
_MANY = 200
_PLAIN = 1.06  # ideas that a rounded number can confirm
_FAR = 1.65  # ideas that a rounded number can confirm where there are few
_LIKELY = 0.5
_WIDEST = 16  # smaller sizes divide too many numbers to tell claims apart


@dataclass(frozen=True)
class Hit:
    """Edits that together give the difference; ``chance`` is the expected number of such hits for a random claim nearby."""

    edits: tuple[Edit, ...]
    chance: float

    @property
    def cost(self) -> float:
        """What the edits cost together: each one more than one costs extra."""
        return sum(edit.cost for edit in self.edits) + 0.5 * (len(self.edits) - 1)


class Search:
    """The edits of one subject, kept for several claims."""

    def __init__(self, subject: Subject, sizes: Iterable[Edit] = ()) -> None:
        """Collect the single edits once, those that change nothing left out."""
        self.subject = subject
        edits = [*Structure(subject).edits(), *sizes]
        self.edits = sorted((edit for edit in edits if edit.value), key=lambda edit: edit.cost)

    def exact(self, difference: int, found: Sequence[Edit] = ()) -> list[Hit]:
        """Return the hits for an exact difference: of one edit where there are any, else of two, else of three."""
        hits = [*self._single(difference), *(Hit((edit,), 0.0) for edit in found)]
        if not hits:
            hits = list(self._pairs(difference))
        if not hits:
            hits = list(self._triples(difference))
        return sorted(hits, key=lambda hit: hit.cost)

    def within(self, low: int, high: int) -> list[Hit]:
        """Return the plain ideas that bring the count into a range, for a rounded claim; any single one of a layer that has few."""
        plain = [edit for edit in self.edits if edit.cost < _PLAIN or (edit.sizes and edit.cost < _NATURAL + 0.1)]
        further = [edit for edit in self.edits if edit.cost < _FAR]
        for pool in (plain, further):
            window = 2 * max(abs(low - self.subject.count), abs(high - self.subject.count))
            near = {edit.value for edit in pool if abs(edit.value) <= window // 2}
            chance = len(near) * (high - low + 1) / max(1, window)
            hits = [Hit((edit,), chance) for edit in pool if low <= self.subject.count + edit.value <= high]
            if hits and (pool is plain or chance <= _LIKELY):
                return hits
        return []

    def _single(self, difference: int) -> Iterator[Hit]:
        limit = _NATURAL
        natural = [edit for edit in self.edits if edit.cost < limit]
        chance = self._chance({edit.value for edit in natural}, difference)
        if chance > _TOO_MANY and len(self.edits) > _MANY:
            limit = _SIMPLE
            natural = [edit for edit in natural if edit.cost < limit]
            chance = self._chance({edit.value for edit in natural}, difference)
        yield from (Hit((edit,), chance) for edit in natural if edit.value == difference)
        further = [edit for edit in self.edits if edit.cost >= limit]
        chance = self._chance({edit.value for edit in self.edits}, difference)
        if self._few(len(further)) or chance <= _BUDGET[1]:
            yield from (Hit((edit,), chance) for edit in further if edit.value == difference)

    def _few(self, edits: int) -> bool:
        """Whether a layer is so small that every idea about it can be looked at."""
        return edits <= 60

    def _pairs(self, difference: int) -> Iterator[Hit]:
        by_value: dict[int, list[Edit]] = {}
        for edit in self.edits:
            if not edit.alone:
                by_value.setdefault(edit.value, []).append(edit)
        for size in _POOLS[2]:
            values = list(by_value)[:size]
            sums = {one + other for i, one in enumerate(values) for other in values[:i]}
            chance = self._chance(sums, difference)
            if chance > _BUDGET[2]:
                continue
            for value in values:
                if difference - value not in values or value > difference - value:
                    continue
                for one, other in product(by_value[value], by_value[difference - value]):
                    if one.cost + other.cost < _PAIRED and _apart(one, other):
                        yield Hit((one, other) if one.cost <= other.cost else (other, one), chance)
            return

    def _triples(self, difference: int) -> Iterator[Hit]:
        for size in _POOLS[3]:
            pool = self.edits[:size]
            pairs = [(one, other) for i, one in enumerate(pool) for other in pool[:i] if _apart(one, other)]
            sums = {one.value + other.value + third.value for one, other in pairs for third in pool}
            chance = self._chance(sums, difference)
            if chance > _BUDGET[3]:
                continue
            order = {id(edit): number for number, edit in enumerate(pool)}
            for one, other in pairs:
                for third in pool[: order[id(other)]]:
                    if one.value + other.value + third.value == difference and _apart(one, third) and _apart(other, third):
                        yield Hit((third, other, one), chance)
            return

    def _chance(self, values: Iterable[int], difference: int) -> float:
        """Return how many hits to expect for a random claim that is as far off, and a multiple of the same width."""
        window = max(abs(difference), self.subject.count // _NEARBY)
        width = max((size for size in self.subject.numbers if size >= _WIDEST and difference % size == 0), default=1)
        reached = sum(abs(value) <= window and value % width == 0 for value in values)
        return reached / max(1, 2 * (window // width))


def _apart(one: Edit, other: Edit) -> bool:
    """Whether two edits can be made together: they touch different tensors, and neither builds another layer."""
    return not (one.alone or other.alone or one.lines & other.lines or set(one.tensors) & set(other.tensors))


def search(subject: Subject, others: Mapping[Symbol, Iterable[int]]) -> Search:
    """Return the search over all edits of a subject."""
    return Search(subject, [*resized(subject, others), *optional(subject)])
