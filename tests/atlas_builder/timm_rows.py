"""Rows of a record for tensors whose names do not change: runs of equal numbered copies become one row each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from paramsym.atlas.predicting import NUMBER


@dataclass
class _Node:
    """A level of names: the facts of its own tensor, if it is one, and the levels below, in order."""

    facts: list[Any] = field(default_factory=list)
    below: dict[str, _Node] = field(default_factory=dict)

    def same(self) -> Any:
        """Return what two levels share if they store the same."""
        return (repr(self.facts), tuple((step, node.same()) for step, node in self.below.items()))


def rows(facts: Mapping[str, list[Any]]) -> Iterator[list[Any]]:
    """Yield rows for ``{name: facts}``; a fact, ``[kind, {"axes": ...}]``, is for some points. ``bounds`` are not yet expressions.

    >>> block = [["parameter", {"axes": [0]}]]
    >>> list(rows({"h.0.w": block, "h.1.w": block}))
    [['h.#.w', 'parameter', {'axes': [0], 'bounds': [2], 'sets': [['all']]}]]
    """
    root = _Node()
    for name, found in facts.items():
        node = root
        for step in name.split("."):
            node = node.below.setdefault(step, _Node())
        node.facts = found
    yield from _below(root, (), (), ())


def _below(node: _Node, path: tuple[str, ...], bounds: tuple[int, ...], sets: tuple[Any, ...]) -> Iterator[list[Any]]:
    for kind, more in node.facts:
        numbered = {"bounds": list(bounds), "sets": list(sets)} if bounds else {}
        yield [".".join(path), kind, {**more, **numbered}]
    runs = list(_runs(node.below)) if _numbered(node.below) else []
    if runs and len(runs) < len(node.below):
        many = len(node.below)
        for first, end in runs:
            law = ["all"] if (first, end) == (0, many) else ["range", first, end]
            yield from _below(node.below[str(first)], (*path, NUMBER), (*bounds, many), (*sets, law))
        return
    for step, inner in node.below.items():
        yield from _below(inner, (*path, step), bounds, sets)


def _numbered(steps: Iterable[str]) -> bool:
    """Whether steps are 0, 1, 2, ..., in order."""
    found = list(steps)
    return len(found) > 1 and found == [str(place) for place in range(len(found))]


def _runs(below: Mapping[str, _Node]) -> Iterator[tuple[int, int]]:
    """Yield the first and the end of each run of copies that store the same; a level that is itself a tensor is in no run."""
    if any(node.facts or _tied(node) for node in below.values()):
        return
    kinds = [node.same() for node in below.values()]
    first = 0
    for place in range(1, len(kinds) + 1):
        if place == len(kinds) or kinds[place] != kinds[first]:
            yield first, place
            first = place


def _tied(node: _Node) -> bool:
    """Whether a tensor below is tied to another: its first name has numbers of its own, which a run would not have."""
    return any(kind == "tie" for kind, _ in node.facts) or any(map(_tied, node.below.values()))
