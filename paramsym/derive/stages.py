"""Numbered copies in stages, and an own kind in every k-th copy: divisions whose places follow laws of the sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from paramsym.derive.names import Label
from paramsym.derive.partition import PERIODS, Entries

_FEWEST = 6  # results with all stages
_TRIED = 3  # the most series of stages

Piece: TypeAlias = "tuple[int, int, int]"
"""The first number of a stage, its end, and the number of its blocks that alternate."""
Turns: TypeAlias = "tuple[int | None, int | None]"
"""The first copy of a kind, and the distance between two of them, as far as a row shows them."""


def turns(rows: Sequence[Entries]) -> list[Turns] | None:
    """Return the places of the copies of one kind, if their distances are equal and they reach the end; otherwise None."""
    labels = {node.label for entries in rows for node in entries.values()}
    alone = len(labels) == 1 and any(gaps(entries) for entries in rows)  # the others do not exist
    kinds = [dict.fromkeys(entries, "own") if alone else _kinds(entries, labels) for entries in rows]
    for row, entries in zip(kinds, rows, strict=True):
        if len({(kind, entries[place].whole) for place, kind in row.items()}) > len(set(row.values())):
            return None  # copies of one kind have several sizes
    for kind in dict.fromkeys(kind for row in kinds for kind in row.values()):
        found = [_turns(row, kind) for row in kinds]
        steps = {step for _, step in filter(None, found) if step}
        if None not in found and (len(steps) > 1 or (steps and _shared(rows, kind))):
            return [one for one in found if one is not None]
    return None


def gaps(entries: Entries) -> bool:
    """Whether a number between two copies has no copy."""
    return len(entries) < max(entries) + 1 - min(entries)


def _shared(rows: Sequence[Entries], own: object) -> bool:
    """Whether all other copies are those of one kind, stored under another name."""
    return all(node.tied != (node.label == own) for entries in rows for node in entries.values())


def _kinds(entries: Entries, labels: Collection[Label]) -> Mapping[int, object]:
    """Return the kind of each copy: its label, or, if that is the same, whether it has more tensors; empty if a row does not show kinds."""
    if len(labels) == 2:
        return {place: node.label for place, node in entries.items()}
    sizes = sorted({len(node.whole) for node in entries.values()})
    return {place: len(node.whole) == sizes[1] for place, node in entries.items()} if len(labels) == 1 and len(sizes) == 2 else {}


def _turns(kinds: Mapping[int, object], kind: object) -> Turns | None:
    own = [place for place, found in kinds.items() if found == kind]
    if len(own) < 2:
        return (own[0] if own else None), None
    first, step = own[0], own[1] - own[0]
    return (first, step) if own == [*range(first, max(kinds) + 1, step)] else None


def stages(rows: Sequence[Entries]) -> Iterator[list[list[Piece] | None]]:
    """Yield series of stages, those with most blocks first, row by row; None for a row in which some are missing or not seen."""
    found = [_pieces(entries) for entries in rows]
    kinds = [tuple((period, entries[start].label) for start, _, period in one) for entries, one in zip(rows, found, strict=True)]
    series = [kind for kind, number in Counter(kinds).items() if number >= _FEWEST and len(kind) > 1]
    # A row with few copies shows fewer blocks, or the same number of blocks in more pieces.
    fullest = sorted(series, key=lambda one: (-sum(period for period, _ in one), len(one)))
    for chosen in fullest[:_TRIED]:
        yield [one if kind == chosen else None for one, kind in zip(found, kinds, strict=True)]


def _pieces(entries: Entries) -> list[Piece]:
    """Divide copies into the longest pieces that repeat; a missing copy is a kind, and begins no piece."""
    row: Mapping[int, object] = {place: node.whole for place, node in entries.items()}
    place, high = min(row), max(row) + 1
    found: list[Piece] = []
    while place < high:
        if place not in row:
            place += 1
            continue
        end, period = max(((_repeated(row, place, period, high), period) for period in PERIODS), key=lambda one: (one[0], -one[1]))
        found.append((place, end, period))
        place = end
    return found


def _repeated(row: Mapping[int, object], place: int, period: int, high: int) -> int:
    """Return the end of the copies from a place on that repeat with a period at least once; otherwise that of one copy."""
    end = place + period
    while end < high and row.get(end) == row.get(end - period):
        end += 1
    return end if end - place >= 2 * period and any(other in row for other in range(place + period, end)) else place + 1


def repeats(entries: Entries, pieces: Sequence[Piece]) -> bool:
    """Whether copies are in these pieces only, each of which begins with a copy and repeats with its period."""
    if any(start > end or (start < end and start not in entries) for start, end, _ in pieces):
        return False
    inside = [place for start, end, _ in pieces for place in range(start, end)]
    if inside != sorted(set(inside)) or not entries.keys() <= set(inside):
        return False
    whole = {place: node.whole for place, node in entries.items()}
    return all(whole.get(place) == whole.get(place - period) for start, end, period in pieces for place in range(start + period, end))
