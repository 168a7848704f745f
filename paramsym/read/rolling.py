"""Loops over the entries of an axis: what a model writes as ``for`` in Python becomes one copy, and the number of entries.

A loop is a call of the kind ``for``. Its first operator, ``each``, gives the states before an entry and the entries of the arrays along
which it goes; its last one, ``all``, takes the states after an entry and the outputs, and gives the last states and the outputs of all
entries. The last entry stays outside of the loop: what only a following entry would use has no gradient there. A loop may go from the
last entry to the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paramsym.read.loops import same_entries
from paramsym.read.recording import Array, Called, Done, Recording, Ref, refs

LOOP = "for"
"""The kind of the call that is a loop."""
_EACH = "each"
_LONGEST = 64
"""The most operators for one entry."""
_ALIASES = frozenset({"detach", "alias"})


def rolled(recording: Recording) -> Recording:
    """Return the recording with each loop over all entries of an axis as one copy; two entries are the fewest."""
    if any(step.name == "unbind" for step in recording.top.steps()):
        found = _rolled(replace(recording, top=_taken_apart(recording.top)))
        if looped(found):
            return found
    return _rolled(recording)


def _rolled(recording: Recording) -> Recording:
    return replace(recording, top=_Roller(recording).called(recording.top))


def looped(recording: Recording) -> bool:
    """Whether a recording has a loop over the entries of an axis, so that a pass with a long one takes long."""
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
    """A change in place of an entry of an array: the operators, what is written, and the arrays that have new entries, by the old ones."""

    dim: int
    source: int
    steps: list[Done]
    changed: list[tuple[int, int]]


@dataclass
class _Loop:
    """The copies of a loop, one for each entry: ``written`` with the modules that they call, ``copies`` as their operators alone.

    ``inner`` gives for the arrays that the first copy makes those of each copy. ``carried`` has for each argument that comes from the copy
    before the array that the first copy takes, and the one that it passes on. ``moving`` are arguments that are the number of the entry.
    ``writes`` are arrays whose entries are changed in place, and ``stacks`` the operators that stack the outputs of all copies. ``order``
    has the number of the entry of each copy.
    """

    roller: _Roller
    begin: int
    written: list[list[Any]]
    order: list[int]
    copies: list[list[Done]] = field(init=False)
    inner: list[dict[int, int]] = field(default_factory=list)
    carried: dict[Any, tuple[int, int]] = field(default_factory=dict)
    moving: set[Any] = field(default_factory=set)
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
        count = 0 if base is None else base.shape[first.arguments["dim"]]
        order = next((list(one) for one in (range(count), range(count)[::-1]) if count > 1 and one[0] == first.arguments["index"]), [])
        if not order:
            return None
        second = {**first.arguments, "index": order[1]}
        ends = range(position + 1, min(position + _LONGEST, len(items)))
        length = next((end - position for end in ends if isinstance(items[end], Done) and dict(items[end].arguments) == second), 0)
        if not length:
            return None
        for begin in range(position, max(earliest, position - length + 1) - 1, -1):
            written = [[*items[start : start + length]] for start in range(begin, begin + count * length, length)]
            outline = [*map(_outline, written[0])]
            if len(written[-1]) == length and None not in outline and all([*map(_outline, copy)] == outline for copy in written):
                loop = cls(roller, begin, written, order)
                if loop._follows() and loop._writes() and loop._alone():
                    return loop
        return None

    def _follows(self) -> bool:
        """Whether each copy follows from the one before."""
        first = self.copies[0]
        for copy in self.copies:
            if any(not _same_form(one, other) for one, other in zip(first, copy, strict=True)):
                return False
            pairs = (zip(one.results, other.results, strict=True) for one, other in zip(first, copy, strict=True))
            self.inner.append({a.number: b.number for pair in pairs for a, b in pair})
        leaves = [[dict(_leaves(one.arguments)) for one in copy] for copy in self.copies]
        return all(
            len({frozenset(one[place]) for one in leaves}) == 1
            and all(self._argument((place, path), [one[place][path] for one in leaves]) for path in leaves[0][place])
            for place in range(len(first))
        )

    def _argument(self, at: Any, values: Sequence[Any]) -> bool:
        """Whether an argument is the same in all copies, is the number of the entry, or comes from the copy or the one before."""
        first = values[0]
        if not isinstance(first, Ref):
            if all(one == first and type(one) is type(first) for one in values):
                return True
            self.moving.add(at)
            return at[1][-1] == "index" and list(values) == self.order
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
            if step.name != "select" or step.arguments["self"].number in self.inner[0] or self._length(step) != len(self.copies):
                return False
            if (place, ("self",)) in self.carried and not self._write(place, step):
                return False
        written = {id(step) for write in self.writes for step in write.steps}
        pairs = {pair for write in self.writes for pair in write.changed}
        outside = [at for at in (*self.carried, *self.moving) if id(first[at[0]]) not in written]
        return not any(self.carried.get(at) in pairs or (at in self.moving and first[at[0]].name == "put back") for at in outside)

    def _length(self, step: Done) -> Any:
        base = self.roller.arrays.get(step.arguments["self"].number)
        return None if base is None else base.shape[step.arguments["dim"]]

    def _write(self, place: int, select: Done) -> bool:
        """Add the change of an entry: it is selected, other entries are copied into it, and it is put back."""
        first = self.copies[0]
        old, new = self.carried[place, ("self",)]
        view = select.results[0]
        copied = next((one for one in first if one.name == "copy_" and one.arguments["self"] == Ref(view.number)), None)
        source = None if copied is None else self.roller.arrays.get(getattr(copied.arguments["src"], "number", -1))
        if copied is None or source is None or (source.shape, source.kind) != (view.shape, view.kind):
            return False
        write = _Write(select.arguments["dim"], source.number, [select, copied], [])
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
            made = tuple(Ref(self.inner[self.order.index(place)][number]) for place in range(len(self.order)))
            step = steps.get(user) if user is not None else None
            if step is None or self._out(number, step) is None or step.arguments["tensors"] != made or any(one != {user} for one in beyond):
                return False
            self.stacks[number] = step
        return True

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
        over = [first[place] for place in places if (place, ("index",)) in self.moving]
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
                **({"start": 1, "reverse": True} if self.reverse else {}),
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
        for array, step, (_, dim) in zip(stacked[len(self.writes) :], self.stacks.values(), outs[len(self.writes) :], strict=True):
            self._joined(array, step, dim)
        back = [step for write, array in zip(self.writes, stacked, strict=False) for step in self._put_back(write, array, length)]
        return [Called(f"{path}.{LOOP}".lstrip("."), LOOP, [each, *_instead(self.written[0], body), every]), *back, *self.written[-1]]

    def _body(self, place: int, states: Mapping[tuple[int, int], Array]) -> Done:
        step = self.copies[0][place]
        taken = {path: pair for (at, path), pair in self.carried.items() if at == place}
        return replace(step, arguments=_put(step.arguments, {path: Ref(states[pair].number) for path, pair in taken.items()}))

    def _stacked(self, array: Array, dim: int, length: int) -> Array:
        axis = dim % (len(array.shape) + 1)
        return self.roller.new((*array.shape[:axis], length, *array.shape[axis:]), array)

    def _joined(self, array: Array, step: Done, dim: int) -> None:
        """Put the outputs of the loop and that of the last entry together where the model stacks all of them."""
        last = apart = self.roller.arrays[step.arguments["tensors"][0 if self.reverse else -1].number]
        axis, before = dim % len(array.shape), []
        if step.name == "stack":
            apart = self.roller.new((*last.shape[:axis], 1, *last.shape[axis:]), last)
            before = [Done("unsqueeze", {"self": Ref(last.number), "dim": axis}, (apart,), step.line, step.graded)]
        parts = (Ref(apart.number), Ref(array.number)) if self.reverse else (Ref(array.number), Ref(apart.number))
        self.roller.instead[id(step)] = [*before, replace(step, name="cat", arguments={"tensors": parts, "dim": axis})]

    @property
    def reverse(self) -> bool:
        """Whether the first copy takes the last entry."""
        return self.order[0] > 0

    def _put_back(self, write: _Write, array: Array, length: int) -> Iterator[Done]:
        """Yield the operators that put the outputs of the loop into the array whose entries it changes."""
        before, seen = self.inner[-2], array.number
        for (old, new), step in zip(write.changed, write.steps[2:], strict=True):
            name = step.arguments["name"]
            arguments: dict[str, Any] = {"self": Ref(old)}
            if name == "select":
                start = int(self.reverse)
                name, arguments = "slice", {**arguments, "dim": write.dim, "start": start, "end": start + length, "step": 1}
            result = replace(step.results[0], number=before[new])
            stated = {"base": Ref(old), "view": Ref(seen), "name": name, "arguments": arguments, "place": 0}
            yield replace(step, arguments=stated, results=(result,))
            seen = result.number


def _outline(item: Any) -> Any:
    """Return the modules that an item of a copy calls; None if numbered modules in it are repeated."""
    if isinstance(item, Called):
        inside = tuple(map(_outline, item.items))
        return None if None in inside else (item.path, item.kind, inside)
    return isinstance(item, Done) or None


def _instead(items: Sequence[Any], body: Mapping[int, Done]) -> list[Any]:
    """Return the items of a copy with other operators, and without those that have none."""
    kept = (item for item in items if isinstance(item, Called) or id(item) in body)
    return [Called(one.path, one.kind, _instead(one.items, body)) if isinstance(one, Called) else body[id(one)] for one in kept]


def _same_form(one: Done, other: Done) -> bool:
    """Whether two operators have the same name, and results of the same shapes."""
    shapes = ([(array.shape, array.kind) for array in step.results] for step in (one, other))
    return (one.name, one.graded) == (other.name, other.graded) and next(shapes) == next(shapes)


def _leaves(arguments: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the numbers, words and arrays in the arguments of an operator, each with the names and places that lead to it."""
    if isinstance(arguments, Mapping):
        for name, one in arguments.items():
            yield from _leaves(one, (*path, name))
    elif isinstance(arguments, tuple) and not isinstance(arguments, Ref):
        yield (*path, len(arguments)), len(arguments)
        for place, one in enumerate(arguments):
            yield from _leaves(one, (*path, place))
    else:
        yield path, arguments


def _put(arguments: Any, changed: Mapping[tuple[Any, ...], Any], path: tuple[Any, ...] = ()) -> Any:
    """Return arguments with other arrays at some of these paths."""
    if isinstance(arguments, Mapping):
        return {name: _put(one, changed, (*path, name)) for name, one in arguments.items()}
    if isinstance(arguments, tuple) and not isinstance(arguments, Ref):
        return tuple(_put(one, changed, (*path, place)) for place, one in enumerate(arguments))
    return changed.get(path, arguments)
