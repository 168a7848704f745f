"""The laws of a whole model: its names, the numbers of copies, and the law of every axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from paramsym.derive.fit import Fitter, misfit
from paramsym.derive.law import Law
from paramsym.derive.names import Node, blank, filled, numbers_in
from paramsym.derive.observe import Kind, Seen
from paramsym.derive.partition import Partition, partitions
from paramsym.derive.points import IN_NAME, Numbers, Points
from paramsym.errors import NoLawError

_INDICES = "ijkmnpqrst"
_MOST_POINTS = 260  # the most points for the copies of a block
_FEW = 2  # with fewer copies, the first is also the last
_TRIED_EQUAL = 2  # the most divisions with equal copies
_TRIED = 6  # the most divisions of copies whose shapes depend on an index
FROM_END = "~"
"""The prefix of an index that counts the copies after this one."""


Place: TypeAlias = "int | str"


@dataclass(frozen=True)
class LeafLaw:
    """One tensor: a law per axis, and its facts. ``alias`` is the first name's pattern with its numbers."""

    axes: tuple[Law, ...]
    kind: Kind
    trainable: bool
    alias: tuple[str, tuple[Place, ...]] | None = None


@dataclass(frozen=True)
class CopiesLaw:
    """Numbered copies: ``count`` from ``start``, with alternating blocks; ``index`` names their number if the blocks depend on it.

    If blocks alternate, the index counts the copies of each block from 0.
    """

    blocks: tuple[LevelLaw, ...]
    start: Law
    count: Law
    index: str


@dataclass(frozen=True)
class LevelLaw:
    """A node of the laws: a tensor, and named and numbered nodes below."""

    leaf: LeafLaw | None = None
    members: tuple[tuple[str, LevelLaw | CopiesLaw], ...] = ()

    def written(self, numbers: Numbers, prefix: str = "") -> Iterator[Seen]:
        """Yield the tensors that the laws give at a point."""
        if self.leaf is not None:
            shape = tuple(int(axis.value(numbers)) for axis in self.leaf.axes)
            alias = "" if self.leaf.alias is None else filled(self.leaf.alias[0], [_placed(p, numbers) for p in self.leaf.alias[1]])
            yield Seen(prefix, shape, self.leaf.kind, self.leaf.trainable, alias)
        dot = "." if prefix else ""
        for name, member in self.members:
            if isinstance(member, LevelLaw):
                yield from member.written(numbers, prefix + dot + name)
                continue
            start, count = int(member.start.value(numbers)), int(member.count.value(numbers))
            for position in range(count):
                number, period = start + position, len(member.blocks)
                inner = _indexed(numbers, member.index, number, (start, start + count), period)
                block = member.blocks[position % period]
                if name:
                    yield from block.written(inner, prefix + dot + name.replace("{}", str(number)))
                    continue
                for leaf, law in block.members:
                    assert isinstance(law, LevelLaw)  # noqa: S101 - a number at the end of a name has nothing below it
                    yield from law.written(inner, prefix + dot + leaf.replace("{}", str(number)))

    def laws(self) -> Iterator[tuple[str, Law]]:
        """Yield every law with its name."""
        yield from self._laws("")

    def _laws(self, prefix: str) -> Iterator[tuple[str, Law]]:
        if self.leaf is not None:
            yield from ((prefix, axis) for axis in self.leaf.axes)
        dot = "." if prefix else ""
        for name, member in self.members:
            if isinstance(member, LevelLaw):
                yield from member._laws(prefix + dot + name)
                continue
            inner = prefix + dot + name
            yield inner, member.count
            yield inner, member.start
            for block in member.blocks:
                yield from block._laws(inner)


def _placed(place: Place, numbers: Numbers) -> int:
    return place if isinstance(place, int) else numbers[place]


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
        for pattern, steps in _groups(cases):
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

    def _copies(
        self, pattern: Pattern, cases: Sequence[tuple[Numbers, Node]], free: tuple[str, ...], path: str, depth: int
    ) -> list[CopiesLaw]:
        rows = [(numbers, pattern.entries(node)) for numbers, node in cases]
        held = [(numbers, entries) for numbers, entries in rows if entries]
        refused: NoLawError | None = None
        found = list(partitions([entries for _, entries in held]))
        following = [partition for partition in found if not partition.constant]
        equal = [partition for partition in found if partition.constant]
        few = [numbers for numbers, entries in held if len(entries) < _FEW]
        enough = [entries for _, entries in held if len(entries) >= _FEW]
        if few and not equal and any(partition.constant for partition in partitions(enough)):
            message = f"{path} is of another kind with fewer than {_FEW} copies, as at {_shown(few[0])}."
            raise misfit(message, odd=few)
        # If copies of a kind are equal, no law of their number is needed, and a finer division has the same axes.
        for partition in equal[:_TRIED_EQUAL] or following[:_TRIED]:
            try:
                return self._divided(partition, rows, free, path, depth)
            except NoLawError as error:
                refused = refused or error
        message = f"no law explains which copies of {path} exist."
        raise refused or misfit(message, free, _of_another_kind(held))

    def _divided(
        self, partition: Partition, rows: Sequence[tuple[Numbers, Mapping[int, Node]]], free: tuple[str, ...], path: str, depth: int
    ) -> list[CopiesLaw]:
        index = next(name for name in _INDICES[depth:] if name not in self.taken)
        depth = max(depth, _INDICES.index(index)) + 1
        found: list[CopiesLaw] = []
        for run in partition.runs([entries for _, entries in rows]):
            start = self._number(
                [(numbers, bounds[0]) for (numbers, _), bounds in zip(rows, run.bounds, strict=True) if bounds], free, path
            )
            count = self._number(
                [(numbers, bounds[1] - bounds[0] if bounds else 0) for (numbers, _), bounds in zip(rows, run.bounds, strict=True)],
                free,
                path,
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
                    if partition.constant:
                        inside.extend((numbers, entries[place]) for place in places[:1] if place in entries)
                    else:
                        inside.extend(
                            (_indexed(numbers, index, place, bounds, run.period), entries[place]) for place in places if place in entries
                        )
                free_here = free if partition.constant else (*free, index)
                blocks.append(self.level(_thinned(inside), free_here, path, depth) if inside else LevelLaw())
            found.append(CopiesLaw(tuple(blocks), start, count, index))
        return found

    def _number(self, cases: Sequence[tuple[Numbers, int]], free: tuple[str, ...], path: str) -> Law:
        try:
            return self.fitter.fit(self.points([numbers for numbers, _ in cases], free), [number for _, number in cases])
        except NoLawError as error:
            message = f"the number of copies of {path}: {error}"
            raise misfit(message, error.movers) from None


def _of_another_kind(rows: Sequence[tuple[Numbers, Mapping[int, Node]]]) -> list[Numbers]:
    """Return the points of the rarer kinds, if all copies of each point are of one kind."""
    kinds = [{node.label for node in entries.values()} for _, entries in rows]
    if any(len(labels) != 1 for labels in kinds):
        return []
    usual = Counter(map(frozenset, kinds)).most_common(1)[0][0]
    return [numbers for (numbers, _), labels in zip(rows, kinds, strict=True) if labels != usual]


@dataclass(frozen=True)
class Pattern:
    """Steps that differ in one number: {} in the step; an empty ``name`` means that tensor names end with the number."""

    name: str
    members: Mapping[str, tuple[str, int]]
    """Each step with its inner name (empty except for tensors of an unnamed pattern) and its number."""

    def entries(self, node: Node) -> dict[int, Node]:
        """Return the node of each number."""
        found: dict[int, Node] = {}
        for step, inner in node.below.items():
            if step not in self.members:
                continue
            name, number = self.members[step]
            if self.name:
                found[number] = inner
            else:
                found.setdefault(number, Node()).below[name] = inner
        return dict(sorted(found.items()))


def _groups(cases: Sequence[tuple[Numbers, Node]]) -> list[tuple[Pattern | None, list[str]]]:
    """Group the steps below into literal ones and numbered copies, in the order of the largest tree."""
    order: dict[str, None] = {}
    for _, node in sorted(cases, key=lambda case: -len(case[1].below)):
        order.update(dict.fromkeys(node.below))
    by_pattern: dict[str, list[str]] = {}
    for step in order:
        by_pattern.setdefault(blank(step) if numbers_in(step) else step, []).append(step)
    varying: dict[str, Pattern] = {}
    for general, steps in by_pattern.items():
        if "{}" in general and len({frozenset(step for step in steps if step in node.below) for _, node in cases}) > 1:
            for pattern in _numbered(steps, cases):
                varying |= dict.fromkeys(pattern.members, pattern)
    tensors = {step: pattern for step, pattern in varying.items() if all(_is_leaf(node.below.get(step)) for _, node in cases)}
    if tensors:
        varying |= _joined(tensors)
    groups: list[tuple[Pattern | None, list[str]]] = []
    done: set[int] = set()
    for step in order:
        known = varying.get(step)
        if known is None:
            groups.append((None, [step]))
        elif id(known) not in done:
            done.add(id(known))
            groups.append((known, list(known.members)))
    return groups


def _is_leaf(node: Node | None) -> bool:
    return node is None or not node.below


def _numbered(steps: Sequence[str], cases: Sequence[tuple[Numbers, Node]]) -> Iterator[Pattern]:
    """Yield the patterns of steps that differ only in their numbers, with {} for the varying number."""
    width = len(numbers_in(steps[0]))
    place = width - 1
    if width > 1:
        sets = [[{numbers_in(step)[k] for step in steps if step in node.below} for _, node in cases] for k in range(width)]
        moving = [k for k in range(width) if any(one != sets[k][0] for one in sets[k])]
        place = moving[-1] if moving else place
    groups: dict[str, dict[str, tuple[str, int]]] = {}
    for step in steps:
        numbers = list(numbers_in(step))
        number = numbers[place]
        shown: list[int | str] = [*numbers[:place], "{}", *numbers[place + 1 :]]
        groups.setdefault(filled(blank(step), shown), {})[step] = ("", number)
    for name, members in groups.items():
        if len({frozenset(step for step in members if step in node.below) for _, node in cases}) > 1:
            yield Pattern(name, members)


def _joined(tensors: Mapping[str, Pattern]) -> dict[str, Pattern]:
    """Join tensors with numbers at the ends of their names, such as torch's ``weight_ih_l0``, into copies of several tensors each."""
    if len({id(pattern) for pattern in tensors.values()}) < 2:
        return {}
    joined = Pattern("", {step: (pattern.name, pattern.members[step][1]) for step, pattern in tensors.items()})
    return dict.fromkeys(tensors, joined)


def _indexed(numbers: Numbers, index: str, place: int, bounds: tuple[int, int], period: int) -> Numbers:
    after = (bounds[1] - 1 - place) // period
    if period == 1:
        return {**numbers, index: place, FROM_END + index: after}
    return {**numbers, index: (place - bounds[0]) // period, FROM_END + index: after, IN_NAME + index: place}


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
            if (name.startswith(IN_NAME) or (name in _INDICES and IN_NAME + name not in cases[0][0]))
            and all(case[name] == one[position] for (case, _), one in zip(cases, found, strict=True))
        ]
        if not same:
            raise misfit(f"{path} is tied to {cases[0][1].alias_of} and, elsewhere, to another copy, which no index explains.")
        places.append(same[-1])
    return blank(cases[0][1].alias_of), tuple(places)


def _shown(numbers: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in numbers.items() if not name.startswith((FROM_END, IN_NAME)))
