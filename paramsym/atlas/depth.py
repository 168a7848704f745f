"""Depths as letters: the kinds of the numbered copies of a level, for any number of copies.

A row has a law for the numbers of its copies: all, from the third on, every fourth. The rows that copy i has are its kind. The laws are
evaluated for several depths, and the kinds follow one pattern: some first copies, a period that is repeated, some last copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from paramsym.atlas.domain import default_follows, relisted
from paramsym.atlas.expression import OutsideError, Values
from paramsym.atlas.predicting import NUMBER, Choice, Existing, Rows, contiguous, sizes_of

_LONGEST_PERIOD, _MOST_LAST, _MOST_COPIES = 8, 2, 512
_MORE = (*range(1, 2 * _LONGEST_PERIOD + 1), 61)
"""How many more copies the laws are evaluated for: two periods, and many."""

Prefix = tuple[str, ...]
"""The steps of a template before a number."""
Kind = tuple[tuple[int, str], ...]
"""What a copy has: laws of existence, by their numbers, each with the step of the rows that have it, # or one number."""


@dataclass(frozen=True)
class Pattern:
    """The kinds of copies: ``first``, then ``period`` again and again, then ``last``.

    >>> norm, dense, sparse = ((0, "#"),), ((1, "#"),), ((2, "#"),)
    >>> Pattern(first=(norm,), period=(dense, sparse), last=()).kinds(4) == (norm, dense, sparse, dense)
    True
    """

    first: tuple[Kind, ...]
    period: tuple[Kind, ...]
    last: tuple[Kind, ...]

    @property
    def least(self) -> int:
        """The least number of copies."""
        return len(self.first) + len(self.last)

    def kinds(self, copies: int) -> tuple[Kind, ...]:
        """Return the kind of each copy; none if there are fewer copies than ``least``."""
        between = copies - self.least
        return (*self.first, *(self.period[number % len(self.period)] for number in range(between)), *self.last) if between >= 0 else ()


Patterns = tuple[tuple[Prefix, Pattern], ...]


def pattern_of(seen: Sequence[tuple[Kind, ...]]) -> Pattern | None:
    """Return the shortest pattern of the kinds that were seen for several numbers of copies; None if there is none.

    >>> dense, sparse = ((1, "#"),), ((2, "#"),)
    >>> pattern_of([(dense, sparse, sparse), (dense, sparse, sparse, sparse)]) == Pattern((dense,), (sparse,), ())
    True
    """
    longest = max(seen, key=len)
    for length in range(1, _LONGEST_PERIOD + 1):
        for end in range(min(_MOST_LAST, len(longest) - length) + 1):
            body = longest[: len(longest) - end]
            first = len(body) - length
            while first and body[first - 1] == body[first - 1 + length]:
                first -= 1
            found = Pattern(body[:first], body[first : first + length], longest[len(body) :])
            if all(found.kinds(len(kinds)) == kinds for kinds in seen):
                return found
    return None


@dataclass(frozen=True)
class Level:
    """The numbered copies after a prefix: what they may have, and the expression of their number; no expression if they are written out."""

    prefix: Prefix
    kind: Kind
    bound: Any

    def numbers(self, existing: Existing, law: int, step: str) -> Sequence[int]:
        """Return the numbers of the copies that have a law."""
        sets = existing[law]
        return (int(step),) if step != NUMBER else () if sets is None else sets[self.prefix.count(NUMBER)]

    def kinds(self, existing: Existing, size: Callable[[Any], int]) -> tuple[Kind, ...] | None:
        """Return the kind of each copy; None if a law needs more copies than there are."""
        found: list[list[tuple[int, str]]] = [[] for _ in range(size(self.bound))]
        for law, step in self.kind:
            for number in self.numbers(existing, law, step):
                if number >= len(found):
                    return None
                found[number].append((law, step))
        return tuple(map(tuple, found))


def levels_of(choices: Sequence[Choice]) -> Iterator[Level]:
    """Yield the levels of numbered copies with other laws than consecutive numbers."""
    for prefix in {choice.row.template[:place]: None for choice in choices for place in choice.row.places}:
        end = len(prefix)
        below = [choice for choice in choices if choice.row.template[:end] == prefix and len(choice.row.template) > end]
        numbered = [choice for choice in below if choice.row.template[end] == NUMBER]
        single = [choice for choice in below if choice.row.template[end].isdigit()]
        if not single and all(choice.row.sets[choice.place(end)] == ["all"] and len(choice.row.template) > end + 1 for choice in numbered):
            continue
        kind = dict.fromkeys((choice.law, choice.row.template[end]) for choice in (*numbered, *single) if _is_inside(choice, end))
        bounds = {id(bound): bound for bound in (choice.row.bounds[choice.place(end)] for choice in numbered)}
        written_out = (
            len(bounds) > 1
            or not all(_is_inside(choice, end) for choice in numbered)
            or not contiguous([choice.row.template[end] for choice in below if _is_inside(choice, end)])
            or any(choice.row.kind == "tie" for choice in (*numbered, *single))
            or any(_is_beside(choice.row.template, prefix) for choice in choices)
        )
        if written_out:
            kind = dict.fromkeys((choice.law, NUMBER) for choice in numbered)
        yield Level(prefix, tuple(kind), None if written_out else next(iter(bounds.values())))


def _is_inside(choice: Choice, end: int) -> bool:
    """Whether a copy is a branch, and no tensor."""
    return len(choice.row.template) > end + 1


def _is_beside(template: Sequence[str], prefix: Prefix) -> bool:
    """Whether a row has copies at the same place as a level, and a number where the level has copies, or the reverse."""
    if len(template) <= len(prefix) or template[: len(prefix)] == prefix:
        return False
    pairs = list(zip(template, prefix, strict=False))
    return all(one == other or (NUMBER in {one, other} and (one + other).replace(NUMBER, "").isdigit()) for one, other in pairs)


def patterns_of(rows: Rows, values: Values, key: str, keys: Mapping[str, Any]) -> Patterns | None:
    """Return the patterns of the levels whose number of copies is a key; None if another number of copies changes anything else.

    ``keys`` has the domains of all keys: lists that are defaults are those of the other number of copies.
    """
    depth = values.get(key)
    if type(depth) is not int or not 0 < depth <= _MOST_COPIES:
        return None
    seen: list[tuple[Existing, Callable[[Any], int]]] = []
    with suppress(OutsideError):
        for more in (0, *_MORE):
            changed = relisted(keys, values, {**values, key: depth + more})
            if default_follows(keys, values, changed):
                return None
            size = sizes_of(changed)
            seen.append((rows.existing(changed, size), size))
    if len(seen) <= len(_MORE) or len({tuple(sets is None for sets in existing) for existing, _ in seen}) > 1:
        return None
    found = []
    for level in levels_of(rows.choices(seen[0][0])):
        if level.bound is None:
            numbers = [[tuple(level.numbers(existing, *one)) for one in level.kind] for existing, _ in seen]
            if any(one != numbers[0] for one in numbers):
                return None
            continue
        kinds = [level.kinds(*one) for one in seen]
        if any(one != kinds[0] for one in kinds):
            pattern = None if None in kinds else pattern_of([one for one in kinds if one is not None])
            if pattern is None:
                return None
            found.append((level.prefix, pattern))
    return tuple(found)


def follows(choices: Sequence[Choice], existing: Existing, prefix: Prefix, pattern: Pattern, size: Callable[[Any], int]) -> bool:
    """Whether the copies of a level have the kinds of a pattern."""
    for level in levels_of(choices):
        if level.prefix == prefix and level.bound is not None:
            kinds = level.kinds(existing, size)
            return kinds is not None and pattern.kinds(len(kinds)) == kinds
    return False
