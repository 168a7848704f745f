"""Which kind each layer of a recorded class is: by the tensors that it has, and by its words in lists of the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramsym.atlas.depth import Pattern, pattern_of
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.predicting import NUMBER, Choice
from paramsym.atlas.values import Value, recorded_value, shown
from paramsym.errors import NotYetError

DEEPER = (*range(17), 61)
"""How many more layers the kinds are found for, to see their pattern: two of the longest periods, and many."""
Mark = tuple[tuple[bool, ...], tuple[Value, ...]]
"""Which of the telling tensors a layer has, and the word that each list has for it."""


@dataclass(frozen=True)
class Order:
    """The layers after a path. ``depth`` is the key of their number, or the number itself.

    ``rows`` are the names of the tensors that tell the kinds apart. ``lists`` are keys with one entry for each layer, with the pattern of
    their default; a key without a name is in no configuration. ``kinds`` has the kind of each mark, and ``together`` the kinds that were
    seen in one model, in the order in which they first appear in it. An empty list for a key of ``empty`` means the default.
    """

    path: str
    depth: str | int
    rows: tuple[str, ...]
    lists: Mapping[str, Pattern]
    kinds: Mapping[Mark, int]
    together: frozenset[tuple[int, ...]]
    empty: frozenset[str] = frozenset()

    @classmethod
    def of(cls, one: Mapping[str, Any]) -> Order:
        """Return the order that is written as JSON."""
        lists = {key: Pattern(*(tuple(map(recorded_value, part)) for part in parts)) for key, parts in one["lists"].items()}
        kinds = {(tuple(map(bool, has)), tuple(map(recorded_value, words))): int(kind) for has, words, kind in one["kinds"]}
        together, empty = frozenset(map(tuple, one["together"])), frozenset(map(str, one.get("empty", ())))
        return cls(one["path"], one["depth"], tuple(one["rows"]), lists, kinds, together, empty)

    def marks(self, values: Mapping[str, Value], depth: int, choices: Sequence[Choice]) -> list[Mark]:
        """Return the mark of each layer.

        Raises:
            NotYetError: a list with another number of entries.
        """
        words = [self._words(key, values, depth) for key in self.lists]
        tensors = tensors_of_copies(choices, self.path, depth)
        return [(tuple(row in tensors[number] for row in self.rows), tuple(one[number] for one in words)) for number in range(depth)]

    def _words(self, key: str, values: Mapping[str, Value], depth: int) -> Sequence[Value]:
        listed: Any = values.get(key)
        if listed is None or (listed == () and key in self.empty):
            listed = self.lists[key].kinds(depth)
        if not isinstance(listed, tuple) or len(listed) != depth:
            given = f"{key} has {len(listed)} entries" if isinstance(listed, tuple) and listed else f"{key or self.path} has no pattern"
            raise NotYetError(f"{given} for {depth} layers; what such a model computes is not known. Its tensors are known.")
        return listed

    def kinds_of(self, values: Mapping[str, Value], depth: int, choices: Sequence[Choice]) -> tuple[int, ...]:
        """Return the kind of each layer.

        Raises:
            NotYetError: a layer of another kind, or kinds that were not seen in one model.
        """
        marks = self.marks(values, depth, choices)
        for number, mark in enumerate(marks):
            if mark not in self.kinds:
                words = ", ".join(f"{key} {shown(word)}" for key, word in zip(self.lists, mark[1], strict=True) if key) or "other tensors"
                raise NotYetError(f"layer {number} has {words}; what such a layer computes is not known. Its tensors are known.")
        found = tuple(self.kinds[mark] for mark in marks)
        if tuple(dict.fromkeys(found)) not in self.together:
            first = " and ".join(str(found.index(kind)) for kind in dict.fromkeys(found))
            raise NotYetError(
                f"the first layers of their kinds are {first}; what the model computes is known for layers of all kinds, or for another "
                "order of the first ones. Its tensors are known."
            )
        return found

    def pattern(self, deeper: Iterable[tuple[Mapping[str, Value], Sequence[Choice], int]]) -> Pattern | None:
        """Return the pattern of the kinds in models of several depths, each with its values and rows; None if there is none."""
        try:
            kinds: Any = [self.kinds_of(values, depth, choices) for values, choices, depth in deeper]  # a pattern is one of any values
        except (NotYetError, OutsideError):
            return None
        found = pattern_of(kinds)
        return None if found is None or found.last else found


def tensors_of_copies(choices: Sequence[Choice], path: str, copies: int) -> list[set[str]]:
    """Return for each numbered layer after a path the names of its tensors, from the layer on."""
    prefix = tuple(path.split("."))
    place = len(prefix)
    found: list[set[str]] = [set() for _ in range(copies)]
    for choice in choices:
        template = choice.row.template
        if template[:place] != prefix or len(template) <= place or not (template[place] == NUMBER or template[place].isdigit()):
            continue
        for number in choice.numbers(place):
            if number < copies:
                found[number].add(".".join(template[place + 1 :]))
    return found
