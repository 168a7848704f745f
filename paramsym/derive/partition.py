"""Divisions of numbered copies into runs of equal ones: all equal; the first or the last different; alternating; one kind up to k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from paramsym.derive.names import Label, Node

Entries: TypeAlias = Mapping[int, Node]
PERIODS = (1, 2, 3, 4, 5, 6, 8)
_ENDS = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1), (1, 2))
_DIVISIONS = sorted(
    ((head, tail, period) for head, tail in _ENDS for period in PERIODS), key=lambda one: one[0] + one[1] + 2 * (one[2] - 1)
)


@dataclass(frozen=True)
class Run:
    """Consecutive copies with alternating blocks; ``bounds`` are the first number and the end at each point, or None."""

    bounds: tuple[tuple[int, int] | None, ...]
    period: int


@dataclass(frozen=True)
class Partition:
    """``head`` separate copies at the start, ``tail`` at the end; between them ``period`` alternating blocks, or a ``first`` kind.

    ``constant`` means that copies of a kind have equal sizes for all numbers.
    """

    head: int
    tail: int
    period: int
    constant: bool
    first: Label | None = None
    """The kind that ends somewhere in the middle, where another one begins."""
    after: int = 1
    """The number of alternating blocks after the change."""

    def runs(self, rows: Sequence[Entries]) -> list[Run]:
        """Return the runs for the copies at each point."""
        spans = [(min(entries), max(entries) + 1) if entries else None for entries in rows]
        found = [
            Run(tuple((span[0] + position, span[0] + position + 1) if span else None for span in spans), 1) for position in range(self.head)
        ]
        middle = [(span[0] + self.head, max(span[0] + self.head, span[1] - self.tail)) if span else None for span in spans]
        if self.first is not None:
            ends = [self._cut(entries) if entries else 0 for entries in rows]
            found.append(Run(tuple((m[0], e) if m else None for m, e in zip(middle, ends, strict=True)), self.period))
            found.append(Run(tuple((e, m[1]) if m else None for m, e in zip(middle, ends, strict=True)), self.after))
        else:
            found.append(Run(tuple(middle), self.period))
        found.extend(
            Run(tuple((span[1] - position - 1, span[1] - position) if span else None for span in spans), 1)
            for position in reversed(range(self.tail))
        )
        return found

    def _cut(self, entries: Entries) -> int:
        low, high = min(entries), max(entries) + 1
        return next((place for place in range(low, high) if place not in entries or entries[place].label != self.first), high)


def partitions(rows: Sequence[Entries]) -> Iterator[Partition]:
    """Yield the divisions that agree with all results, the simplest first; those with copies of one size before the others."""
    holding = [entries for entries in rows if entries]
    shaped = [{place: node.whole for place, node in entries.items()} for entries in holding]
    labelled = [{place: node.label for place, node in entries.items()} for entries in holding]
    for constant, seen in ((True, shaped), (False, labelled)):
        for head, tail, period in _DIVISIONS:
            if any(max(row) + 1 - min(row) < head + tail for row in seen) or not _seen_twice(seen, head + tail, period):
                continue
            # If all copies are equal everywhere, what is inside them may differ between the results.
            equal = constant and head + tail == 0 and period == 1
            if all(_alike(row, head, tail, period) for row in seen) and (equal or _same_kinds(labelled, head, tail, period)):
                yield Partition(head, tail, period, constant)
        for after in PERIODS:
            first = _first_kind(labelled, seen, after)
            if first is not None:
                yield Partition(0, 0, 1, constant, first, after)


def _alike(row: Mapping[int, object], head: int, tail: int, period: int) -> bool:
    """Whether the copies between head and tail repeat with the period; a missing copy is a separate kind."""
    places = range(min(row) + head, max(row) + 1 - tail)
    return all(row.get(place) == row.get(place + period) for place in places if place + period in places)


def _seen_twice(rows: Sequence[Mapping[int, object]], ends: int, period: int) -> bool:
    """Whether a period occurs at least twice somewhere."""
    return period == 1 or any(max(row) + 1 - min(row) - ends > period for row in rows)


def _same_kinds(rows: Sequence[Mapping[int, object]], head: int, tail: int, period: int) -> bool:
    """Whether the copies at each position are of one kind at all points."""
    kinds: dict[tuple[str, int], object] = {}
    for row in rows:
        low, high = min(row), max(row) + 1
        for place in range(low, high):
            if place < low + head:
                key = ("head", place - low)
            elif place >= high - tail:
                key = ("tail", high - place)
            else:
                key = ("turn", (place - low - head) % period)
            if kinds.setdefault(key, row.get(place)) != row.get(place):
                return False
    return True


def _first_kind(labelled: Sequence[Mapping[int, Label]], seen: Sequence[Mapping[int, object]], after: int) -> Label | None:
    """Return the kind that comes first everywhere and ends somewhere, after which the others alternate; otherwise None."""
    begins = Counter(row[min(row)] for row in labelled)
    changing = {kind for row in labelled for kind in (row[min(row)],) if set(row.values()) != {kind}}
    first = next((kind for kind, _ in begins.most_common() if kind in changing), None)
    if first is None:
        return None
    cuts = set()
    for labels, row in zip(labelled, seen, strict=True):
        low, high = min(labels), max(labels) + 1
        cut = next((place for place in range(low, high) if labels.get(place) != first), high)
        rest = {place: row.get(place) for place in range(cut, high)}
        if len({row.get(place) for place in range(low, cut)}) > 1:
            return None
        if any(rest[place] != rest[place + after] for place in rest if place + after in rest):
            return None
        if after == 1 and first in {labels.get(place) for place in range(cut, high)}:
            return None
        cuts.add(cut - low)
    return first if len(cuts) > 1 else None
