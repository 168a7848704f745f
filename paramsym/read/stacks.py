"""Layers of several kinds, one after another: one copy of each kind, and any order of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from sympy import ceiling, floor

from paramsym.algebra.size import canonical
from paramsym.errors import NotYetError
from paramsym.read.loops import numbered
from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated, refs, with_refs

_LONGEST = 24
"""The longest pattern of kinds that becomes one loop."""
Pairs: TypeAlias = "tuple[tuple[int, int], ...]"


@dataclass(frozen=True, slots=True)
class Stack:
    """Numbered layers, each of which takes what the one before passes on.

    ``kinds`` has the call of one layer of each kind, and ``passed`` for each kind the arrays that it takes and those that it passes on in
    their places. ``path`` is the part of the path before the number. ``first`` are the arrays that the first layer takes, and ``last``
    those that the last one passes on.
    """

    path: str
    kinds: tuple[Called, ...]
    passed: tuple[Pairs, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]

    @property
    def place(self) -> int:
        """The position of the number in the paths."""
        return self.path.count(".") + 1

    def steps(self) -> Iterator[Done]:
        """Yield the operators of one layer of each kind."""
        for kind in self.kinds:
            yield from kind.steps()

    def number(self, kind: int) -> str:
        """Return the number of the layer that represents a kind."""
        return self.kinds[kind].path.split(".")[self.place]


@dataclass
class Stacked:
    """A recording with stacks in place of layers, and the order of the kinds in each of them."""

    recording: Recording
    stacks: tuple[Stack, ...]
    orders: tuple[tuple[int, ...], ...]


def stacked(recording: Recording) -> Stacked:
    """Return a recording, whose copies are all written out, with each run of numbered layers as a stack.

    Raises:
        NotYetError: a layer uses what another one than the layer before it computed.
    """
    return _Finder(numbered(recording)).found()


class _Finder:
    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.stacks: list[Stack] = []
        self.orders: list[tuple[int, ...]] = []
        self.users: dict[int, list[int]] = {}
        self.place: dict[int, int] = {}
        for place, step in enumerate(recording.top.steps()):
            self.place[id(step)] = place
            for number in refs(step.arguments):
                self.users.setdefault(number, []).append(place)

    def found(self) -> Stacked:
        top = self._called(self.recording.top)
        return Stacked(replace(self.recording, top=top), tuple(self.stacks), tuple(self.orders))

    def _called(self, called: Called) -> Called:
        items: list[Any] = []
        position = 0
        while position < len(called.items):
            layers = self._layers(called.items[position:])
            if len(layers) > 1:
                items.append(self._stack(layers))
                position += len(layers)
                continue
            item = called.items[position]
            items.append(self._called(item) if isinstance(item, Called) else item)
            position += 1
        return Called(called.path, called.kind, items)

    def _layers(self, items: Sequence[Any]) -> list[Called]:
        """Return the calls of layers 0, 1, 2 ... with which the items begin."""
        found: list[Called] = []
        for item in items:
            if not isinstance(item, Called):
                break
            path, _, number = item.path.rpartition(".")
            if number != str(len(found)) or (found and path != found[0].path.rpartition(".")[0]):
                break
            found.append(item)
        return found

    def _stack(self, layers: Sequence[Called]) -> Stack:
        inside = [[array.number for step in layer.steps() for array in step.results] for layer in layers]
        taken = [[*dict.fromkeys(n for step in layer.steps() for n in refs(step.arguments))] for layer in layers]
        carried = [[number for number in numbers if number in set(before)] for numbers, before in zip(taken[1:], inside, strict=False)]
        self._check(layers, inside, carried)
        first = self._first(layers, taken, carried)
        ins = [first, *carried]
        forms = [_Form(self.recording, layer, numbers).text for layer, numbers in zip(layers, ins, strict=True)]
        kinds = [*dict.fromkeys(forms)]
        order = tuple(kinds.index(form) for form in forms)
        outs: dict[int, list[int]] = {}
        for place, kind in enumerate(order[:-1]):
            out = [inside[place].index(number) for number in carried[place]]
            if outs.setdefault(kind, out) != out:
                raise NotYetError(f"layer {place} of {layers[0].path} passes on other arrays than its kind.")
        if order[-1] not in outs:
            end = self.place[id(list(layers[-1].steps())[-1])]
            used = [number for number in inside[-1] if self._used_after(number, end)]
            if len(used) != len(first):
                raise NotYetError(f"what {layers[-1].path} passes on is not known.")
            outs[order[-1]] = [inside[-1].index(number) for number in used]
        one = [order.index(kind) for kind in range(len(kinds))]
        passed = [tuple(zip(ins[at], (inside[at][n] for n in outs[kind]), strict=True)) for kind, at in enumerate(one)]
        last = tuple(inside[-1][n] for n in outs[order[-1]])
        path = layers[0].path.rpartition(".")[0]
        stack = Stack(path, tuple(layers[at] for at in one), tuple(passed), tuple(first), last)
        self.stacks.append(stack)
        self.orders.append(order)
        return stack

    def _used_after(self, number: int, end: int) -> bool:
        return number in self.recording.outputs or any(place > end for place in self.users.get(number, ()))

    def _check(self, layers: Sequence[Called], inside: Sequence[Sequence[int]], carried: Sequence[Sequence[int]]) -> None:
        """Check that each layer passes on to the next one only."""
        for at, (layer, numbers) in enumerate(zip(layers, inside, strict=True)):
            if not numbers:
                raise NotYetError(f"{layer.path} computes nothing.")
            following = at + 1 < len(layers)
            end = self.place[id(list((layers[at + 1] if following else layer).steps())[-1])]
            if following and (not carried[at] or any(self._used_after(number, end) for number in numbers)):
                raise NotYetError(f"{layer.path} passes nothing on to the next layer, or something to a later one.")

    def _first(self, layers: Sequence[Called], taken: Sequence[Sequence[int]], carried: Sequence[Sequence[int]]) -> list[int]:
        """Return the arrays that the first layer takes where others take what the layer before passes on."""
        signs = [_sign(layer) for layer in layers]
        given = [n for step in layers[0].steps() for n in refs(step.arguments)]
        for at in range(1, len(layers)):
            if signs[at] == signs[0]:
                same = dict(zip((n for step in layers[at].steps() for n in refs(step.arguments)), given, strict=True))
                return [same[number] for number in carried[at - 1]]
        others = {number for numbers in taken[1:] for number in numbers}
        inner = {array.number for step in layers[0].steps() for array in step.results}
        known = {*self.recording.stored, *self.recording.constants}
        found = [number for number in taken[0] if number not in others | inner | known]
        if len(found) != len(carried[0]):
            raise NotYetError(f"what {layers[0].path} takes from the layer before it is not known.")
        return found


class _Form:
    """What layers of one kind have in common: their operators, with the arrays in the order in which they appear, without the number."""

    def __init__(self, recording: Recording, layer: Called, taken: Sequence[int]) -> None:
        self.recording, self.before = recording, f"{layer.path}."
        self.known: dict[int, Any] = {number: ("taken", place) for place, number in enumerate(taken)}
        self.text = repr([*self.written(layer)])

    def written(self, called: Called) -> Iterator[Any]:
        yield self.name(f"{called.path}."), called.kind
        for item in called.items:
            if isinstance(item, Done):
                arguments = with_refs(item.arguments, self.array)
                self.known |= {array.number: ("inside", len(self.known) + place) for place, array in enumerate(item.results)}
                yield item.name, arguments, [(array.shape, array.kind) for array in item.results], item.graded
            elif isinstance(item, Called):
                yield [*self.written(item)]
            else:
                raise NotYetError(f"copies in {called.path} are not written out.")

    def name(self, text: str) -> str:
        return f"#.{text[len(self.before) :]}" if text.startswith(self.before) else text

    def array(self, number: int) -> Any:
        if number in self.known:
            return self.known[number]
        if number in self.recording.stored:
            return tuple(map(self.name, self.recording.stored[number]))
        constant = self.recording.constants.get(number)
        return ("outside", number) if constant is None else ("constant", constant.shape, constant.kind)


def _sign(layer: Called) -> Any:
    """Return which operators a layer has."""
    return [(step.name, len([*refs(step.arguments)]), len(step.results)) for step in layer.steps()]


# Writing the layers out ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InTurn:
    """The kinds of layers whose number is a letter: ``first``, then ``period`` again and again, ``depth`` layers in all."""

    first: tuple[int, ...]
    period: tuple[int, ...]
    depth: Any

    @property
    def runs(self) -> Iterator[_Run]:
        """The first layers, then all layers of each kind: the sum over them does not depend on their order."""
        yield from _in_order(self.first)
        between, period = self.depth - len(self.first), len(self.period)
        kinds = sorted(dict.fromkeys(self.period), key=self.period.count)
        counts: dict[int, Any] = {}
        labels: dict[int, str] = {}
        for kind in kinds[:-1]:
            turns = [place for place, one in enumerate(self.period) if one == kind]
            counts[kind] = sum(ceiling(between / period) if at == 0 else floor((between - at + period - 1) / period) for at in turns)
            shown = [len(self.first) + at + more for more in (0, period) for at in turns]
            labels[kind] = f"{','.join(map(str, shown))}.."
        others = " and ".join(labels.values())
        counts[kinds[-1]] = between - sum(counts.values())
        labels[kinds[-1]] = f"others than {others}" if others else ""
        for kind in dict.fromkeys(self.period):
            number = len(self.first) + self.period.index(kind)
            yield _Run(((number, kind),), canonical(counts[kind]), labels[kind])


Order: TypeAlias = "Sequence[int] | InTurn"


def written_out(recording: Recording, orders: Mapping[str, Order]) -> Recording:
    """Return a recording with all layers of its stacks; ``orders`` has the kinds in order by the path of the stack."""
    return _Writer(recording, orders).recording()


@dataclass
class _Writer:
    stacked: Recording
    orders: Mapping[str, Order]
    stored: dict[int, tuple[str, ...]] = field(default_factory=dict)
    following: int = 0

    def recording(self) -> Recording:
        one = self.stacked
        self.stored = dict(one.stored)
        self.following = one.unused
        top = self.called(one.top)
        return replace(one, top=top, stored=self.stored)

    def called(self, called: Called) -> Called:
        items: list[Any] = []
        for item in _inside(called):
            if isinstance(item, Stack):
                items += self.layers(item)
            else:
                items.append(self.called(item) if isinstance(item, Called) else item)
        return Called(called.path, called.kind, items)

    def layers(self, stack: Stack) -> Iterator[Called | Repeated]:
        """Yield the layers of a stack; a repeated pattern of kinds is one loop."""
        order = self.orders[stack.path]
        runs = [*(order.runs if isinstance(order, InTurn) else _in_order(order))]
        taken = list(stack.first)
        tensors: dict[str, int] = {}
        for run in runs:
            calls, carried = [], []
            for place, (number, kind) in enumerate(run.layers):
                known = dict(zip((a for a, _ in stack.passed[kind]), taken, strict=True))
                if run is runs[-1] and place == len(run.layers) - 1:
                    known |= dict(zip((b for _, b in stack.passed[kind]), stack.last, strict=True))
                calls.append(_Layer(self, stack, stack.number(kind), str(number), known, tensors).called(stack.kinds[kind]))
                passed = [known[b] for _, b in stack.passed[kind]]
                carried.append(tuple(zip(taken, passed, strict=True)))
                taken = passed
            if run.count == 1:
                yield from calls
            else:
                yield Repeated(calls, run.count, stack.place, tuple(carried), run.label)

    def fresh(self) -> int:
        """Return the number of a new array."""
        self.following += 1
        return self.following - 1


@dataclass(frozen=True)
class _Run:
    """Layers with their numbers and kinds, and how often they come one after another."""

    layers: tuple[tuple[int, int], ...]
    count: Any
    label: str = ""


def _in_order(order: Sequence[int]) -> Iterator[_Run]:
    for begin, period, count in _runs(order):
        yield _Run(tuple(enumerate(order[begin : begin + period], begin)), count)


def _runs(order: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield where each run of equal patterns begins, how long the pattern is, and how often it comes.

    >>> [*_runs((0, 1, 1, 2, 1, 1, 2, 1))]
    [(0, 1, 1), (1, 3, 2), (7, 1, 1)]
    """
    begin = 0
    while begin < len(order):
        length = times = 1
        for period in range(1, min(_LONGEST, len(order) - begin) + 1):
            pattern, count = order[begin : begin + period], 1
            while order[begin + count * period : begin + (count + 1) * period] == pattern:
                count += 1
            if count > 1 and period * count > length * times:
                length, times = period, count
        yield begin, length, times
        begin += length * times


@dataclass
class _Layer:
    """One copy of a kind: ``known`` has the numbers of its arrays by those of the kind."""

    writer: _Writer
    stack: Stack
    number: str
    copy: str
    known: dict[int, int]
    tensors: dict[str, int]

    def called(self, called: Called) -> Called:
        return Called(self.name(f"{called.path}.")[:-1], called.kind, [self.item(item) for item in called.items])

    def item(self, item: Any) -> Any:
        if isinstance(item, Called):
            return self.called(item)
        arguments = with_refs(item.arguments, lambda number: Ref(self.ref(number)))
        return replace(item, arguments=arguments, results=tuple(map(self.array, item.results)))

    def array(self, array: Array) -> Array:
        if array.number not in self.known:
            self.known[array.number] = self.writer.fresh()
        return replace(array, number=self.known[array.number])

    def ref(self, number: int) -> int:
        if number in self.known:
            return self.known[number]
        names = self.writer.stacked.stored.get(number)
        if names is None:
            return number
        moved = tuple(map(self.name, names))
        if moved[0] not in self.tensors:
            found = self.tensors[moved[0]] = number if moved == names else self.writer.fresh()
            self.writer.stored[found] = moved
        self.known[number] = self.tensors[moved[0]]
        return self.known[number]

    def name(self, text: str) -> str:
        before = f"{self.stack.path}.{self.number}."
        return f"{self.stack.path}.{self.copy}.{text[len(before) :]}" if text.startswith(before) else text


def _inside(called: Called) -> list[Any]:
    """Return the items of a call, of which some may be stacks."""
    return list(called.items)
