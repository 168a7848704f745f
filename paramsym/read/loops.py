"""Equal neighbours in a recording become one copy and a number, so that what is recorded does not depend on a model's depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated, refs, with_refs

Item: TypeAlias = "Done | Called | Repeated"
_LONGEST = 24
"""The most neighbours that are one copy: calls of modules, and operators between them."""


def folded(recording: Recording) -> Recording:
    """Return the recording with runs of equal numbered copies as one copy each, and its arrays numbered in order."""
    folder = _Folder(recording)
    top = Called(recording.top.path, recording.top.kind, folder.items(recording.top))
    return _numbered(recording, top, folder.same)


def numbered(recording: Recording) -> Recording:
    """Return the recording with its arrays numbered in order."""
    return _numbered(recording, recording.top, {})


def without_copies_of_saved(recording: Recording) -> Recording:
    """Return the recording without results that torch detaches to save them, which nothing uses: the first block may save fewer of them."""
    used = {number for step in recording.top.steps() for number in refs(step.arguments)} | set(recording.outputs)

    def called(one: Called) -> Called:
        items = [called(item) if isinstance(item, Called) else item for item in one.items]
        return Called(one.path, one.kind, [item for item in items if not _idle(item, used)])

    return replace(recording, top=called(recording.top))


def _idle(item: Item, used: set[int]) -> bool:
    return isinstance(item, Done) and item.name == "detach" and not any(array.number in used for array in item.results)


@dataclass
class _Relation:
    """How one copy follows from the one before: the arrays that correspond, and the place of the number in the paths."""

    place: int = -1
    step: int = 0
    inner: dict[int, int] = field(default_factory=dict)
    outer: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Run:
    """Copies from ``begin`` on, of ``length`` items each."""

    begin: int
    length: int
    count: int
    relations: tuple[_Relation, ...]
    pairs: tuple[tuple[int, int], ...]


class _Folder:
    """The state of the folding: ``same`` gives for a result of a last copy the number of the first copy's."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.same: dict[int, int] = {}
        self.begin: dict[int, int] = {}
        self.end: dict[int, int] = {}
        self.made: list[int] = []
        self.signs: dict[int, Any] = {}
        self.alive: list[Item] = []
        self.last: dict[int, int] = {}
        listed = [*recording.inputs, *recording.constants.values(), *(one for step in recording.top.steps() for one in step.results)]
        self.types = {array.number: (array.shape, array.kind) for array in listed}
        self._place(recording.top)
        self.last |= dict.fromkeys(recording.outputs, len(self.made) + 1)

    def _place(self, called: Called) -> None:
        """Number the operators, and find the last use of every array."""
        for item in called.items:
            self.begin[id(item)] = len(self.made)
            if isinstance(item, Done):
                self.last |= dict.fromkeys(refs(item.arguments), len(self.made))
                self.made.append(id(item))
            elif isinstance(item, Called):
                self._place(item)
            self.end[id(item)] = len(self.made)

    def items(self, called: Called) -> list[Item]:
        """Return the items of a call, folded from the inside to the outside."""
        listed: list[Item] = []
        for item in called.items:
            one: Item = item
            if isinstance(item, Called):
                one = Called(item.path, item.kind, self.items(item))
                self.begin[id(one)], self.end[id(one)] = self.begin[id(item)], self.end[id(item)]
            self.alive.append(one)
            listed.append(one)
        found: list[Item] = []
        position = 0
        while position < len(listed):
            run = self._run(listed, position)
            if run is None:
                found.append(listed[position])
                position += 1
            else:
                found.append(self._repeated(listed, run))
                position += run.length * run.count
        return found

    def _run(self, items: Sequence[Item], begin: int) -> _Run | None:
        """Return the copies that cover most of the items from a position on."""
        best: _Run | None = None
        if not isinstance(items[begin], Called):
            return None
        signs = [self._sign(one) for one in items[begin : begin + 2 * _LONGEST]]
        for length in range(1, min(_LONGEST, (len(items) - begin) // 2) + 1):
            inside = best is not None and length % best.length == 0 and length <= best.length * best.count
            if inside or signs[:length] != signs[length : 2 * length]:
                continue
            run = self._copies(items, begin, length)
            if run is not None and (best is None or run.length * run.count > best.length * best.count):
                best = run
        return best

    def _copies(self, items: Sequence[Item], begin: int, length: int) -> _Run | None:
        """Return the longest run of copies of some length that can be one loop."""
        relations: list[_Relation] = []
        pairs: tuple[tuple[int, int], ...] = ()
        passed: list[int] = []
        behind: list[int] = []
        first = items[begin : begin + length]
        while begin + (len(relations) + 2) * length <= len(items):
            here = begin + len(relations) * length
            one = self._related(items[here : here + length], items[here + length : here + 2 * length])
            if one is None or one.place < 0:
                break
            calls = [item for item in first if isinstance(item, Called)]
            parts = {_prefix(item, one.place) for item in calls}
            single = len(calls) == len(parts) == length
            if one.step != (length if single else 1) or (not single and len(parts) > 1):
                break
            if relations and one.place != relations[0].place:
                break
            carried = {a: b for a, b in one.outer.items() if a != b}
            if not relations:
                pairs, passed = tuple(carried.items()), list(carried.values())
            elif carried != dict(zip(passed, behind, strict=True)) or not _unmoved(one, relations[-1]):
                break
            if not pairs or not all(number in one.inner for number in (passed if not relations else behind)):
                break
            passed = passed if not relations else behind
            behind = [one.inner[number] for number in passed]
            relations.append(one)
        while relations and not self._alone(items, begin, length, relations, pairs):
            relations.pop()
        if not relations or (relations[0].step > 1 and not self._chain(first, pairs)):
            return None
        return _Run(begin, length, len(relations) + 1, tuple(relations), pairs)

    def _alone(
        self, items: Sequence[Item], begin: int, length: int, relations: Sequence[_Relation], pairs: Sequence[tuple[int, int]]
    ) -> bool:
        """Whether what comes after the copies uses only what the last one passes on."""
        end = self.end[id(items[begin + length * (len(relations) + 1) - 1])]
        passed = [b for _, b in pairs]
        inner = list(relations[0].inner)
        for relation in relations:
            if any(self.last.get(number, -1) >= end for number in inner):
                return False
            passed, inner = [relation.inner[number] for number in passed], [relation.inner[number] for number in inner]
        return all(self.last.get(number, -1) < end or number in passed for number in inner)

    def _chain(self, calls: Sequence[Item], pairs: Sequence[tuple[int, int]]) -> bool:
        """Whether an array of one shape goes through several calls, and each takes nothing else from the calls before it."""
        if len(pairs) != 1:
            return False
        given = pairs[0][0]
        for place, called in enumerate(calls):
            results = {array.number for step in called.steps() for array in step.results} if isinstance(called, Called) else set()
            taken = {n for step in _steps(called) for n in map(self._now, refs(step.arguments))} - results
            if given not in taken or (place and pairs[0][0] in taken):
                return False
            end = self.end[id(called)]
            behind = [n for n in results if self.last.get(n, -1) >= end]
            if len(behind) != 1 or (place == len(calls) - 1 and behind[0] != pairs[0][1]):
                return False
            if self.types[behind[0]] != self.types[given]:
                return False
            given = behind[0]
        return True

    def _repeated(self, items: Sequence[Item], run: _Run) -> Repeated:
        """Return one copy for a run of equal ones."""
        first = items[run.begin : run.begin + run.length]
        for _, b in run.pairs:
            last = b
            for relation in run.relations:
                last = relation.inner[last]
            self.same[last] = b
        if run.relations[0].step == 1 and run.length > 1:
            (path,) = {_prefix(one, run.relations[0].place) for one in first if isinstance(one, Called)}
            calls = [Called(path, "ModuleList", list(first))]
            carried: tuple[tuple[tuple[int, int], ...], ...] = (run.pairs,)
        else:
            calls = [one for one in first if isinstance(one, Called)]
            carried = (run.pairs,)
        if len(calls) > 1:
            chain = [run.pairs[0][0]]
            for called in calls:
                end = self.end[id(called)]
                chain += [a.number for step in called.steps() for a in step.results if self.last.get(a.number, -1) >= end]
            carried = tuple(((a, b),) for a, b in pairwise(chain))
        made = Repeated(calls, run.count, run.relations[0].place, carried)
        self.alive.append(made)
        return made

    # Comparing -------------------------------------------------------------------------------------------------------------------

    def _sign(self, item: Item) -> Any:
        """Return what equal copies have in common, without paths and arrays."""
        found = self.signs.get(id(item))
        if found is None:
            if isinstance(item, Done):
                shapes = tuple((array.shape, array.kind) for array in item.results)
                found = hash((item.name, repr(with_refs(item.arguments, lambda _: "array")), shapes, item.graded))
            elif isinstance(item, Called):
                found = hash((item.kind, tuple(map(self._sign, item.items))))
            else:
                found = hash((item.count, item.place, tuple(map(self._sign, item.calls))))
            self.signs[id(item)] = found
        return found

    def _related(self, one: Sequence[Item], other: Sequence[Item]) -> _Relation | None:
        if any(self._sign(a) != self._sign(b) for a, b in zip(one, other, strict=True)):
            return None
        relation = _Relation()
        return relation if all(self._follows(relation, a, b) for a, b in zip(one, other, strict=True)) else None

    def _follows(self, relation: _Relation, one: Item, other: Item) -> bool:
        if isinstance(one, Done) and isinstance(other, Done):
            pairs = zip(map(self._now, refs(one.arguments)), map(self._now, refs(other.arguments)), strict=True)
            if not all(self._corresponds(relation, a, b) for a, b in pairs):
                return False
            relation.inner.update((a.number, b.number) for a, b in zip(one.results, other.results, strict=True))
            return True
        if isinstance(one, Called) and isinstance(other, Called):
            return _counted_on(relation, one.path, other.path) and all(
                self._follows(relation, a, b) for a, b in zip(one.items, other.items, strict=True)
            )
        if isinstance(one, Repeated) and isinstance(other, Repeated):
            inside = all(self._follows(relation, a, b) for a, b in zip(one.calls, other.calls, strict=True))
            return inside and all(
                relation.inner.get(b, relation.outer.get(b)) == d
                for before, behind in zip(one.carried, other.carried, strict=True)
                for (_, b), (_, d) in zip(before, behind, strict=True)
            )
        return False

    def _corresponds(self, relation: _Relation, one: int, other: int) -> bool:
        if one in relation.inner:
            return relation.inner[one] == other
        stored, constants = self.recording.stored, self.recording.constants
        if one in stored or other in stored:
            if one == other:
                return True
            names = stored.get(one, ()), stored.get(other, ())
            return len(names[0]) == len(names[1]) and all(
                _counted_on(relation, a, b) and a != b for a, b in zip(names[0], names[1], strict=True)
            )
        if one in constants and other in constants:
            return one == other or same_entries(constants[one], constants[other])
        return relation.outer.setdefault(one, other) == other and self.types[one] == self.types[other]

    def _now(self, number: int) -> int:
        return self.same.get(number, number)


def _unmoved(one: _Relation, before: _Relation) -> bool:
    """Whether two copies take the same arrays from outside, besides those that are passed on."""
    return {a for a, b in one.outer.items() if a == b} == {a for a, b in before.outer.items() if a == b}


def _counted_on(relation: _Relation, one: str, other: str) -> bool:
    """Whether two paths differ in the number of the copy alone."""
    if one == other:
        return False
    steps, others = one.split("."), other.split(".")
    if len(steps) != len(others):
        return False
    places = [place for place, (a, b) in enumerate(zip(steps, others, strict=True)) if a != b]
    place = places[0]
    if len(places) != 1 or not (steps[place].isdecimal() and others[place].isdecimal()):
        return False
    step = int(others[place]) - int(steps[place])
    if relation.place < 0:
        relation.place, relation.step = place, step
    return (relation.place, relation.step) == (place, step)


def _prefix(item: Item, depth: int) -> str:
    """Return the path of a call down to the number of the copy."""
    return ".".join(item.path.split(".")[: depth + 1]) if isinstance(item, Called) else ""


def same_entries(one: Array, other: Array) -> bool:
    """Whether two arrays that depend on nothing have the same known entries."""
    a, b = one.data, other.data
    return a is not None and b is not None and one.kind == other.kind and a.shape == b.shape and a.tobytes() == b.tobytes()


def _steps(item: Item) -> Iterator[Done]:
    if isinstance(item, Done):
        yield item
    else:
        yield from item.steps()


# Numbering -----------------------------------------------------------------------------------------------------------------------


def _numbered(recording: Recording, top: Called, same: Mapping[int, int]) -> Recording:
    """Return the recording with another top, its arrays numbered in the order in which they appear."""
    numbers: dict[int, int] = {}

    def at(number: int) -> int:
        number = same.get(number, number)
        return numbers.setdefault(number, len(numbers))

    def array(one: Array) -> Array:
        return replace(one, number=at(one.number))

    def called(one: Called) -> Called:
        return Called(one.path, one.kind, [item(each) for each in one.items])

    def item(one: Item) -> Item:
        if isinstance(one, Done):
            return replace(one, arguments=with_refs(one.arguments, lambda number: Ref(at(number))), results=tuple(map(array, one.results)))
        if isinstance(one, Called):
            return called(one)
        calls = [called(each) for each in one.calls]
        return Repeated(calls, one.count, one.place, tuple(tuple((at(a), at(b)) for a, b in pairs) for pairs in one.carried))

    inputs = tuple(map(array, recording.inputs))
    top = called(top)
    outputs = tuple(map(at, recording.outputs))
    stored = {numbers[number]: names for number, names in recording.stored.items() if number in numbers}
    constants = {numbers[number]: array(one) for number, one in recording.constants.items() if number in numbers}
    return replace(recording, inputs=inputs, top=top, outputs=outputs, stored=stored, constants=constants)
