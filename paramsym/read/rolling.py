"""Loops over the entries of an axis: what a model writes as ``for`` in Python becomes one copy, and the number of entries.

A loop is a call of the kind ``for``. Its first operator, ``each``, gives the states before an entry and the entries of the arrays along
which it goes; its last one, ``all``, takes the states after an entry and the outputs, and gives the last states and the outputs of all
entries. The last entry stays outside of the loop: what only a following entry would use has no gradient there. A loop may leave out
entries at both ends, take entries of two arrays that are some places apart, and go backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paramsym.read.copies import instead, leaves, outline, put
from paramsym.read.loops import same_entries
from paramsym.read.recording import Array, Called, Done, Recording, Ref, refs

LOOP = "for"
"""The kind of the call that is a loop."""
_EACH = "each"
_LONGEST = 64
"""The most operators for one entry."""
_FEWEST = 3
"""The fewest entries of a loop over some entries of an axis."""
_ALIASES = frozenset({"detach", "alias"})


def rolled(recording: Recording) -> Recording:
    """Return the recording with each loop over entries of an axis, one after another, as one copy; two are the fewest if they are all."""
    if any(step.name == "unbind" for step in recording.top.steps()):
        found = _rolled(replace(recording, top=_taken_apart(recording.top)))
        if looped(found):
            return found
    return _rolled(recording)


def _rolled(recording: Recording) -> Recording:
    return replace(recording, top=_Roller(recording).called(recording.top))


def looped(recording: Recording) -> bool:
    """Whether a recording has a loop over entries of an axis, so that a pass with a long one takes long."""
    return any(step.name == _EACH for step in recording.top.steps())


def _taken_apart(one: Called) -> Called:
    """Return a call in which each entry that ``unbind`` gives is selected where it is first used, as in ``x[:, place]``."""
    items = [_taken_apart(item) if isinstance(item, Called) else item for item in one.items]
    for step in [item for item in items if isinstance(item, Done) and item.name == "unbind"]:
        selects = {
            array.number: replace(step, name="select", arguments={"dim": 0, **step.arguments, "index": place}, results=(array,))
            for place, array in enumerate(step.results)
        }
        found: list[Any] = []
        for item in items:
            used = {number for done in ([item] if isinstance(item, Done) else item.steps()) for number in refs(done.arguments)}
            found += [selects.pop(number) for number in [*selects] if number in used]
            found += [item] if item is not step else []
        items = found if not selects else items  # others are used elsewhere
    return Called(one.path, one.kind, items)


class _Roller:
    """The state of the search: the uses of every array, and what replaces operators after a loop."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        steps = [*recording.top.steps()]
        listed = [*recording.inputs, *recording.constants.values(), *(one for step in steps for one in step.results)]
        self.arrays = {array.number: array for array in listed}
        self.users: dict[int, list[int]] = {}
        for step in steps:
            for number in {*refs(step.arguments)}:
                self.users.setdefault(number, []).append(id(step))
        self.following = recording.unused
        self.instead: dict[int, list[Done]] = {}

    def called(self, one: Called) -> Called:
        """Return a call with its loops; one begins at most as many operators before an entry is taken as there are for one entry."""
        items: list[Any] = []
        position = done = 0
        while position < len(one.items):
            item = one.items[position]
            loop = _Loop.around(self, one.items, position, done)
            if loop is not None:
                del items[len(items) - (position - loop.begin) :]
                items += loop.items(one.path)
                position = done = loop.begin + sum(map(len, loop.written))
                continue
            replaced = self.instead.get(id(item))
            items += [self.called(item)] if isinstance(item, Called) else replaced or [item]
            position += 1
            done = position if isinstance(item, Called) or replaced else done
        return Called(one.path, one.kind, items)

    def new(self, shape: Sequence[Any], array: Array) -> Array:
        """Return a new array of this shape, with the kind of another one."""
        self.following += 1
        return Array(self.following - 1, tuple(shape), array.kind)


@dataclass
class _Write:
    """An entry of an array is changed in place: the operators, what is written, and the arrays with new entries, by the old ones."""

    dim: int
    start: int
    source: int
    steps: list[Done]
    changed: list[tuple[int, int]]


@dataclass
class _Loop:
    """The copies of a loop, one for each entry: ``written`` with the modules that they call, ``copies`` as their operators alone.

    ``inner`` gives for the arrays that the first copy makes those of each copy. ``carried`` has for each argument that comes from the copy
    before the array that the first copy takes, and the one that it passes on. ``moving`` has for each argument that is the number of the
    entry the one of the first copy. ``writes`` are arrays whose entries are changed in place, and ``stacks`` the operators that stack the
    outputs of all copies. ``order`` has the number of the entry of each copy.
    """

    roller: _Roller
    begin: int
    written: list[list[Any]]
    order: list[int]
    copies: list[list[Done]] = field(init=False)
    inner: list[dict[int, int]] = field(default_factory=list)
    carried: dict[Any, tuple[int, int]] = field(default_factory=dict)
    moving: dict[Any, int] = field(default_factory=dict)
    writes: list[_Write] = field(default_factory=list)
    stacks: dict[int, Done] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """List the operators of each copy."""
        self.copies = [[*Called("", "", copy).steps()] for copy in self.written]

    @classmethod
    def around(cls, roller: _Roller, items: Sequence[Any], position: int, earliest: int) -> _Loop | None:
        """Return the loop whose first entry is taken at a position, or None; ``earliest`` is where it may begin."""
        first = items[position]
        base = roller.arrays.get(first.arguments["self"].number) if isinstance(first, Done) and first.name == "select" else None
        if base is None:
            return None
        count, index = base.shape[first.arguments["dim"]], first.arguments["index"]
        for step in (1, -1):
            following = {**first.arguments, "index": index + step}
            ends = range(position + 1, min(position + _LONGEST, len(items)))
            length = next((end - position for end in ends if isinstance(items[end], Done) and items[end].arguments == following), 0)
            if not length:
                continue
            found = [(cls._number(items, begin, length), begin) for begin in range(max(earliest, position - length + 1), position + 1)]
            for number, begin in sorted(found, reverse=True):
                entries = range(index, index + step * number, step)
                if number < (2 if number == count else _FEWEST) or not all(0 <= one < count for one in (entries[0], entries[-1])):
                    continue
                written = [[*items[start : start + length]] for start in range(begin, begin + number * length, length)]
                loop = cls(roller, begin, written, list(entries))
                if loop._follows() and loop._writes() and loop._alone():
                    return loop
        return None

    @classmethod
    def _number(cls, items: Sequence[Any], begin: int, length: int) -> int:
        """Return how many copies of one length begin at a place."""
        outlines = [*map(outline, items[begin : begin + length])]
        number, place = int(None not in outlines), begin + length
        while number and [*map(outline, items[place : place + length])] == outlines:
            number, place = number + 1, place + length
        return number

    def _follows(self) -> bool:
        """Whether each copy follows from the one before."""
        first = self.copies[0]
        for copy in self.copies:
            pairs = (zip(one.results, other.results, strict=True) for one, other in zip(first, copy, strict=True))
            self.inner.append({a.number: b.number for pair in pairs for a, b in pair})
        taken = [[dict(leaves(one.arguments)) for one in copy] for copy in self.copies]
        return all(
            len({frozenset(one[place]) for one in taken}) == 1
            and all(self._argument((place, path), [one[place][path] for one in taken]) for path in taken[0][place])
            for place in range(len(first))
        )

    def _argument(self, at: Any, values: Sequence[Any]) -> bool:
        """Whether an argument is the same in all copies, is the number of the entry, or comes from the copy or the one before."""
        first = values[0]
        if not isinstance(first, Ref):
            if all(one == first and type(one) is type(first) for one in values):
                return True
            self.moving[at] = first
            return at[1][-1] == "index" and [one - first for one in values] == [one - self.order[0] for one in self.order]
        numbers = [one.number if isinstance(one, Ref) else -1 for one in values]
        made = self.inner[0]
        if first.number in made:
            return all(copy[first.number] == number for copy, number in zip(self.inner, numbers, strict=True))
        if (passed := numbers[1]) in made:
            self.carried[at] = (first.number, passed)
            return all(copy[passed] == number for copy, number in zip(self.inner, numbers[1:], strict=False))
        constants = self.roller.recording.constants
        return all(
            number == first.number
            or (number in constants and first.number in constants and same_entries(constants[first.number], constants[number]))
            for number in numbers
        )

    # Changes in place, outputs ---------------------------------------------------------------------------------------------------

    def _writes(self) -> bool:
        """Find the entries that are changed in place; return whether every other entry is taken from an array that stays the same."""
        first = self.copies[0]
        for place, step in enumerate(first):
            if (place, ("index",)) not in self.moving:
                if any(at[0] == place for at in self.moving) and step.name != "put back":
                    return False
                continue
            if step.name != "select" or step.arguments["self"].number in self.inner[0]:
                return False
            if (place, ("self",)) in self.carried and not self._write(place, step):
                return False
        written = {id(step) for write in self.writes for step in write.steps}
        pairs = {pair for write in self.writes for pair in write.changed}
        outside = [at for at in (*self.carried, *self.moving) if id(first[at[0]]) not in written]
        return not any(self.carried.get(at) in pairs or (at in self.moving and first[at[0]].name == "put back") for at in outside)

    def _write(self, place: int, select: Done) -> bool:
        """Add the change of an entry: it is selected, other entries are copied into it, and it is put back."""
        first = self.copies[0]
        old, new = self.carried[place, ("self",)]
        view = select.results[0]
        copied = next((one for one in first if one.name == "copy_" and one.arguments["self"] == Ref(view.number)), None)
        source = None if copied is None else self.roller.arrays.get(getattr(copied.arguments["src"], "number", -1))
        if copied is None or source is None or (source.shape, source.kind) != (view.shape, view.kind):
            return False
        write = _Write(select.arguments["dim"], self._start(place), source.number, [select, copied], [])
        seen = copied.results[0].number
        for at, step in enumerate(first):
            if step.name != "put back" or step.arguments["view"] != Ref(seen):
                continue
            pair = self.carried.get((at, ("base",)))
            kept = step.arguments["name"] in _ALIASES if write.changed else step.arguments["name"] == "select"
            if pair is None or not kept or step.results[0].number != pair[1]:
                return False
            write.steps.append(step)
            write.changed.append(pair)
            seen = step.results[0].number
        self.writes.append(write)
        return bool(write.changed) and write.changed[0] == (old, new)

    def _alone(self) -> bool:
        """Whether only the next copy uses what a copy makes, besides outputs that are stacked after the loop."""
        inside = [{id(step) for step in copy} for copy in self.copies]
        outputs = {*self.roller.recording.outputs}
        last = len(self.copies) - 1
        steps = {id(step): step for step in self.roller.recording.top.steps()}
        for number in self.inner[0]:
            users = [set(self.roller.users.get(copy[number], ())) for copy in self.inner]
            beyond = [one - inside[at] - inside[min(at + 1, last)] for at, one in enumerate(users)]
            if any(copy[number] in outputs for copy in self.inner[:-1]):
                return False
            if not any(beyond[:-1]):
                continue
            user = next(iter(beyond[0]), None)
            step = steps.get(user) if user is not None else None
            if step is None or self._out(number, step) is None or any(one != {user} for one in beyond):
                return False
            if None in self._around(number, step):
                return False
            self.stacks[number] = step
        return True

    def _around(self, number: int, step: Done) -> tuple[Sequence[Any] | None, Sequence[Any] | None]:
        """Return the arrays before and after the outputs of all copies among those that an operator joins; None if it takes them apart."""
        tensors = step.arguments["tensors"]
        made = tuple(Ref(copy[number]) for copy in (self.inner[::-1] if self.reverse else self.inner))
        begin = tensors.index(made[0]) if made[0] in tensors else 0
        end = begin + len(made)
        return (tensors[:begin], tensors[end:]) if tensors[begin:end] == made else (None, None)

    def _start(self, place: int) -> int:
        """Return the lowest entry that the loop takes of an array; the last copy is outside of it."""
        first = self.moving[place, ("index",)]
        return first - (len(self.copies) - 2) if self.reverse else first

    def _out(self, number: int, step: Done) -> tuple[int, int] | None:
        """Return the array of a copy of which an operator stacks all, and the new axis; ``cat`` stacks arrays with a new axis of size 1."""
        if step.name == "stack":
            return number, step.arguments["dim"]
        apart = next((one for one in self.copies[0] if one.results[0].number == number), None)
        if step.name != "cat" or apart is None or apart.name != "unsqueeze":
            return None
        rank = len(apart.results[0].shape)
        axis = step.arguments.get("dim", 0) % rank
        return (apart.arguments["self"].number, axis) if apart.arguments["dim"] % rank == axis else None

    # The loop --------------------------------------------------------------------------------------------------------------------

    def items(self, path: str) -> list[Any]:
        """Return the loop over all entries but the last one, what puts its outputs together, and the last copy."""
        first, length = self.copies[0], len(self.copies) - 1
        written = {id(step) for write in self.writes for step in write.steps}
        places = [place for place, step in enumerate(first) if id(step) not in written]
        taken = [place for place in places if (place, ("index",)) in self.moving]
        over = [first[place] for place in taken]
        starts = tuple(map(self._start, taken))
        pairs = [*dict.fromkeys(pair for at, pair in self.carried.items() if at[0] in places)]
        arrays = self.roller.arrays
        states = {pair: self.roller.new(arrays[pair[1]].shape, arrays[pair[1]]) for pair in pairs}
        each = Done(
            _EACH,
            {
                "carry": tuple(Ref(a) for a, _ in pairs),
                "over": tuple(step.arguments["self"] for step in over),
                "axes": tuple(step.arguments["dim"] for step in over),
                "length": length,
                **({"start": starts[0] if len({*starts}) == 1 else starts} if any(starts) else {}),
                **({"reverse": True} if self.reverse else {}),
            },
            (*states.values(), *(step.results[0] for step in over)),
            first[0].line,
        )
        body = {id(first[place]): self._body(place, states) for place in places if first[place] not in over}
        stacks = (self._out(number, step) for number, step in self.stacks.items())
        outs = [*((one.source, one.dim) for one in self.writes), *(one for one in stacks if one is not None)]
        stacked = [self._stacked(arrays[number], dim, length) for number, dim in outs]
        before = self.inner[-2]
        passed = tuple(replace(arrays[before[b]], number=before[b]) for _, b in pairs)
        given = tuple(Ref(number) for number, _ in outs)
        stated = {"carry": tuple(Ref(b) for _, b in pairs), "out": given, "axes": tuple(dim for _, dim in outs)}
        every = Done("all", stated, (*passed, *stacked), first[-1].line)
        for array, (number, step), (_, dim) in zip(stacked[len(self.writes) :], self.stacks.items(), outs[len(self.writes) :], strict=True):
            self._joined(array, number, step, dim)
        back = [step for write, array in zip(self.writes, stacked, strict=False) for step in self._put_back(write, array, length)]
        return [Called(f"{path}.{LOOP}".lstrip("."), LOOP, [each, *instead(self.written[0], body), every]), *back, *self.written[-1]]

    def _body(self, place: int, states: Mapping[tuple[int, int], Array]) -> Done:
        step = self.copies[0][place]
        taken = {path: pair for (at, path), pair in self.carried.items() if at == place}
        return replace(step, arguments=put(step.arguments, {path: Ref(states[pair].number) for path, pair in taken.items()}))

    def _stacked(self, array: Array, dim: int, length: int) -> Array:
        axis = dim % (len(array.shape) + 1)
        return self.roller.new((*array.shape[:axis], length, *array.shape[axis:]), array)

    def _joined(self, array: Array, number: int, step: Done, dim: int) -> None:
        """Join the outputs of the loop, that of the last entry, and the arrays before and after them, as the model does."""
        before, after = self._around(number, step)
        last = (Ref(self.inner[-1][number]),)
        listed = (*(before or ()), *last[: self.reverse], Ref(array.number), *last[self.reverse :], *(after or ()))
        rank = len(array.shape)
        apart = [made for one in listed for made in self._apart(one, array, dim % rank, step)] if step.name == "stack" else []
        widened = {one.arguments["self"]: Ref(one.results[0].number) for one in apart}
        parts = tuple(widened.get(one, one) for one in listed)
        self.roller.instead[id(step)] = [*apart, replace(step, name="cat", arguments={"tensors": parts, "dim": dim % rank})]

    def _apart(self, one: Ref, array: Array, axis: int, step: Done) -> Iterator[Done]:
        """Yield the operator that puts the axis of a stack into an array, which the outputs of the loop have."""
        if one.number != array.number:
            found = self.roller.arrays[one.number]
            made = self.roller.new((*found.shape[:axis], 1, *found.shape[axis:]), found)
            yield Done("unsqueeze", {"self": one, "dim": axis}, (made,), step.line, step.graded)

    @property
    def reverse(self) -> bool:
        """Whether the first copy takes the last entry."""
        return self.order[1] < self.order[0]

    def _put_back(self, write: _Write, array: Array, length: int) -> Iterator[Done]:
        """Yield the operators that put the outputs of the loop into the array whose entries it changes."""
        before, seen = self.inner[-2], array.number
        for (old, new), step in zip(write.changed, write.steps[2:], strict=True):
            name = step.arguments["name"]
            arguments: dict[str, Any] = {"self": Ref(old)}
            if name == "select":
                end = write.start + length
                name, arguments = "slice", {**arguments, "dim": write.dim, "start": write.start, "end": end, "step": 1}
            result = replace(step.results[0], number=before[new])
            stated = {"base": Ref(old), "view": Ref(seen), "name": name, "arguments": arguments, "place": 0}
            yield replace(step, arguments=stated, results=(result,))
            seen = result.number
