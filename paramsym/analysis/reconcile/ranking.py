"""The search for edits, alone or together, that give a difference, with the expected number of chance hits.

Any number can be reached with enough edits, so an answer is only useful if a random number would rarely be hit. Single ideas are always
shown. Combinations of two or three are tried only among the simplest ideas, so few that they reach a small share of all numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations, groupby, product, starmap

from paramsym.analysis.claim import Stated
from paramsym.analysis.reconcile.edits import Edit, Structure
from paramsym.analysis.reconcile.habits import habitual
from paramsym.analysis.reconcile.resizing import by_size, roots
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.reconcile.whole import additional

_BUDGET = 0.03  # the most expected chance hits of ideas
_PAIRED = (90, 40, 20, 12)  # numbers of ideas from which two are combined
_COINCIDENCE = 0.3  # what a size in place of another may cost more than the simplest reason
_TRIPLED = 24  # the number of ideas from which three are combined
_PLAIN = 1.06  # the cost up to which a rounded number can confirm an idea
_COARSE = 1.13  # the same if the rounding is as large as the difference, so that nearly every idea would hit
_BENT = 1.0  # the same for a number that was cut off or rounded up,
_FEW = 2  # or the most chance hits
_CHOSEN = 0.1  # the most chance hits for an edit with a number of its own
_CUT, _RAISED = 0.1, 0.15  # the cost of assuming a number that was cut off, or rounded up


@dataclass(frozen=True)
class Hit:
    """Edits whose sum is the difference; ``chance`` is the expected number of such hits for a random claim nearby."""

    edits: tuple[Edit, ...]
    chance: float
    extra: float = 0.0

    @property
    def asked(self) -> bool:
        """Whether the user named the sizes that it puts in."""
        return any(edit.asked for edit in self.edits)

    @property
    def known(self) -> bool:
        """Whether people are known to make these edits."""
        return all(edit.known for edit in self.edits)

    @property
    def cost(self) -> float:
        """The total cost of the edits: each further edit costs extra, and so does a number that was cut off."""
        return sum(edit.cost for edit in self.edits) + 0.5 * (len(self.edits) - 1) + self.extra


class EditSearch:
    """The edits of one subject, cached for several claims."""

    def __init__(self, subject: Subject, sizes: Iterable[Edit] = ()) -> None:
        """Collect the single edits that change something."""
        self.subject = subject
        structure = Structure(subject)
        edits = [*structure.edits(), *habitual(structure), *additional(structure), *sizes]
        self.edits = sorted((edit for edit in edits if edit.value), key=lambda edit: edit.cost)
        self.by_size = tuple(by_size(subject))

    @property
    def in_one_unit(self) -> EditSearch:
        """The search without edits whose result has another unit: a share of a count is one of its own unit."""
        found = copy(self)
        found.edits = [edit for edit in self.edits if not edit.unit]
        return found

    def exact(self, difference: int, found: Sequence[Edit] = ()) -> list[Hit]:
        """Return the hits for an exact difference: of one edit if there are any, otherwise of two, otherwise of three."""
        single, spent = self._single(difference)
        hits = [*single, *(Hit((edit,), 0.0) for edit in found)]
        if not any(hit.known for hit in hits):
            hits = [*(list(self._pairs(difference, _BUDGET - spent)) or list(self._triples(difference))), *hits]
        return _told(sorted(hits, key=lambda hit: (not hit.known, hit.cost)))

    def roots(self, low: int, high: int) -> Iterator[Edit]:
        """Yield the sizes that alone give a claim between two counts."""
        return roots(self.subject, self.by_size, low, high)

    def within(self, stated: Stated) -> list[Hit]:
        """Return the ideas that give a rounded number; if there are none, those that give a number cut off or rounded up.

        Plain ideas are always tried, others if few of them would hit by chance. If the rounding is as large as the difference, nearly every
        idea would hit, and both kinds of hits are considered.
        """
        width = stated.high - stated.low + 1
        window = max(abs(stated.low - self.subject.count), abs(stated.high - self.subject.count))
        coarse = 2 * width >= window
        hits = [*self._about(stated, width, window, _COARSE if coarse else _PLAIN)]
        if coarse or not hits:
            hits.extend(self._about(stated, 2 * width, window, _BENT, bent=True))
        return hits

    def _about(self, stated: Stated, width: int, window: int, plain: float, *, bent: bool = False) -> Iterator[Hit]:
        count = self.subject.count
        near: set[int] = set()
        farthest = window + width * bent  # what was cut off may be a unit farther
        for cost, edits in groupby(self.edits, key=lambda edit: edit.cost):
            as_simple = list(edits)
            near.update(edit.value for edit in as_simple if abs(edit.value) <= farthest)
            chance = len(near) * width / max(1, 2 * window)
            for edit in as_simple:
                shared = stated.shared(edit.copies) if edit.copies else None
                total = count + edit.value
                meant = stated.allows(total) or (shared is not None and shared.allows(total))
                allowed = chance <= _CHOSEN if edit.choice else cost < plain or chance <= (_FEW if bent else 1) or edit.asked
                if allowed and (bool(stated.bent(total)) and not meant if bent else meant):
                    product = edit.copies and not stated.digits  # 8x7B: few numbers are 8 times a rounded one
                    yield Hit((edit,), 0.0 if product else chance, 0.0 if not bent else _CUT if total > stated.value else _RAISED)

    def _single(self, difference: int) -> tuple[list[Hit], float]:
        """Return the hits of one edit, and the expected number of chance hits."""
        chance = self.subject.expected({edit.value for edit in self.edits}, difference)
        return [Hit((edit,), chance) for edit in self.edits if edit.value == difference], chance

    def _pairs(self, difference: int, budget: float) -> Iterator[Hit]:
        by_value: dict[int, list[Edit]] = {}
        for edit in self.edits:
            if not edit.alone:
                by_value.setdefault(edit.value, []).append(edit)
        for size in _PAIRED:
            values = list(by_value)[:size]
            sums = {one + other for i, one in enumerate(values) for other in values[:i]}
            chance = self.subject.expected(sums, difference)
            if chance <= budget:
                for value in values:
                    rest = difference - value
                    for pair in product(by_value[value], by_value[rest]) if rest in values and value <= rest else ():
                        if _apart(*pair):
                            yield Hit(tuple(sorted(pair, key=lambda edit: edit.cost)), chance)
                return

    def _triples(self, difference: int) -> Iterator[Hit]:
        pool = [edit for edit in self.edits if not edit.alone][:_TRIPLED]
        sums = {one.value + other.value + third.value for one, other in combinations(pool, 2) if _apart(one, other) for third in pool}
        chance = self.subject.expected(sums, difference)
        for three in combinations(pool, 3) if chance <= _BUDGET else ():
            if sum(edit.value for edit in three) == difference and all(starmap(_apart, combinations(three, 2))):
                yield Hit(three, chance)


def _told(hits: list[Hit]) -> list[Hit]:
    """Leave out what a simpler reason makes a coincidence, such as one size in place of another; keep one size without a known reason."""
    told: list[Hit] = []
    for hit in hits:
        coincidence = (
            bool(told) and all(edit.sizes or edit.choice for edit in hit.edits) and not hit.asked and hit.cost > told[0].cost + _COINCIDENCE
        )
        if not coincidence and (hit.known or all(one.known for one in told)):
            told.append(hit)
    return told


def _apart(one: Edit, other: Edit) -> bool:
    """Whether two edits can be combined: they change different tensors, and neither builds another layer."""
    return not (one.alone or other.alone or one.lines & other.lines or set(one.tensors) & set(other.tensors))
