"""What a recording must be at certain sizes if the laws of its numbers hold: every operator, with every number in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any

from sympy import Expr

from paramsym.errors import ParamsymError
from paramsym.read.merging import Varying
from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated
from paramsym.read.sizes import Laws

_Moves = tuple[tuple[int, int], ...]


class Predicted:
    """The recordings that follow from laws."""

    def __init__(self, laws: Laws) -> None:
        self.laws = laws

    def agrees(self, numbers: Mapping[str, int], recording: Recording) -> bool:
        """Whether a recording at a point is what the laws say; loops are written out."""
        try:
            return _Comparison(self.laws, numbers, recording).equal()
        except ParamsymError:
            return False


class _Comparison:
    """One recording beside the laws at its point: ``at`` gives for an array of the laws the array that was recorded."""

    def __init__(self, laws: Laws, numbers: Mapping[str, int], recording: Recording) -> None:
        self.laws, self.numbers, self.recording = laws, numbers, recording
        self.wanted = laws.found.merged
        self.values: dict[Any, Any] = {}
        self.at: dict[int, int] = {}

    def equal(self) -> bool:
        """Whether all operators, numbers, names and outputs are the same."""
        if len(self.wanted.inputs) != len(self.recording.inputs) or not all(map(self._array, self.wanted.inputs, self.recording.inputs)):
            return False
        items = iter(self.recording.top.items)
        if not self._items(self.wanted.top.items, items, ()) or next(items, None) is not None:
            return False
        outputs = [self.at.get(number) for number in self.wanted.outputs]
        return outputs == list(self.recording.outputs)

    def _items(self, wanted: Sequence[Any], found: Iterator[Any], moves: _Moves) -> bool:
        for one in wanted:
            if isinstance(one, Repeated):
                if not self._copies(one, found, moves):
                    return False
                continue
            other = next(found, None)
            if isinstance(one, Called):
                if not isinstance(other, Called) or not self._called(one, other, moves):
                    return False
            elif not isinstance(other, Done) or not self._done(one, other, moves):
                return False
        return True

    def _copies(self, repeated: Repeated, found: Iterator[Any], moves: _Moves) -> bool:
        for copy in range(int(self._value(repeated.count))):
            here = (*moves, (repeated.place, copy * len(repeated.calls)))
            for called, pairs in zip(repeated.calls, repeated.carried, strict=True):
                if copy and called is repeated.calls[0]:
                    last = [self.at[b] for _, b in repeated.carried[-1]]
                    self.at.update(zip((a for a, _ in pairs), last, strict=True))
                if called.kind == "ModuleList":  # a copy of several calls, which no module makes
                    if not self._items(called.items, found, here):
                        return False
                    continue
                other = next(found, None)
                if not isinstance(other, Called) or not self._called(called, other, here):
                    return False
        return True

    def _called(self, one: Called, other: Called, moves: _Moves) -> bool:
        inside = iter(other.items)
        return (
            (one.kind == other.kind or not one.items)  # such as a path that is dropped with the probability 0
            and self._path(one.path, moves) == other.path
            and self._items(one.items, inside, moves)
            and next(inside, None) is None
        )

    def _done(self, one: Done, other: Done, moves: _Moves) -> bool:
        return (
            one.name == other.name
            and one.graded == other.graded
            and len(one.results) == len(other.results)
            and self._same(dict(one.arguments), dict(other.arguments), moves)
            and all(map(self._array, one.results, other.results))
        )

    def _array(self, one: Array, other: Array) -> bool:
        self.at[one.number] = other.number
        return one.kind == other.kind and self._value(one.shape) == other.shape

    def _same(self, one: Any, other: Any, moves: _Moves) -> bool:
        if isinstance(one, Mapping):
            return isinstance(other, Mapping) and one.keys() == other.keys() and all(self._same(one[k], other[k], moves) for k in one)
        if isinstance(one, Ref):
            return isinstance(other, Ref) and self._corresponds(one.number, other.number, moves)
        if isinstance(one, tuple) and not isinstance(one, Varying):
            return (
                isinstance(other, tuple)
                and len(one) == len(other)
                and all(self._same(a, b, moves) for a, b in zip(one, other, strict=True))
            )
        if isinstance(one, float) and isinstance(other, float):
            return True  # such as the scale of attention, which costs nothing
        value = self._value(one)
        return isclose(value, other) if isinstance(value, float) and isinstance(other, float) else bool(value == other)

    def _corresponds(self, one: int, other: int, moves: _Moves) -> bool:
        if one in self.wanted.stored:
            names = tuple(self._path(name, moves) for name in self.wanted.stored[one])
            return any(name in self.recording.stored.get(other, ()) for name in names)
        if one in self.wanted.constants:
            wanted, found = self.wanted.constants[one], self.recording.constants.get(other)
            return found is not None and wanted.kind == found.kind and self._value(wanted.shape) == found.shape
        return self.at.get(one) == other

    def _path(self, path: str, moves: _Moves) -> str:
        steps = list(getattr(path, "steps", path.split(".")))
        for place, more in moves:
            if place < len(steps) and not (isinstance(steps[place], str) and not steps[place].isdecimal()):
                steps[place] = int(self._value(int(steps[place]) if isinstance(steps[place], str) else steps[place])) + more
        return ".".join(str(self._value(step)) for step in steps)

    def _value(self, number: Any) -> Any:
        """Return a number of the laws at the point."""
        if type(number) is tuple:
            return tuple(map(self._value, number))
        expression = self.laws.value(number)
        if not isinstance(expression, Expr):
            return expression
        if expression not in self.values:
            self.values[expression] = self.laws.value_at(expression, self.numbers)
        return self.values[expression]
