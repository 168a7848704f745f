"""Dropout of a pass in training: put in a recording of a pass in evaluation, with the rates of a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from paramsym.atlas.values import Value
from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated, with_refs
from paramsym.read.stacks import Stack


@dataclass(frozen=True)
class Dropout:
    """One place of dropout: before the item ``index`` of the module at ``path``, on the array ``number``.

    Without a path it is the weights of the attention that gives the array. The rate is the first value in a configuration of ``keys``
    that is not null; without one it is ``default``.
    """

    path: str | None
    index: int
    number: int
    keys: tuple[str, ...]
    default: float

    def rate(self, values: Mapping[str, Value]) -> Any:
        """Return the rate for the values of a configuration."""
        given = (values.get(key) for key in self.keys)
        return next((one for one in given if one is not None), self.default)


def with_dropout(recording: Recording, rates: Mapping[Dropout, Any]) -> Recording:
    """Return a recording with dropout at places with these rates.

    The array before dropout gets another number, so that all that uses it afterwards uses the array after dropout.
    """
    if not rates:
        return recording
    weights = {one.number: rate for one, rate in rates.items() if one.path is None}
    places = {(one.path, one.index): (one.number, rate) for one, rate in rates.items() if one.path is not None}
    free = count(recording.unused)
    before = {number: next(free) for number, _ in places.values()}
    arrays: dict[int, Array] = {}

    def number(one: int) -> int:
        return before.get(one, one) if one not in arrays else one

    def done(one: Done) -> Done:
        arguments = with_refs(one.arguments, lambda each: Ref(number(each)))
        given = [weights[array.number] for array in one.results if array.number in weights]
        made = {array.number: array for array in one.results if array.number in before}
        found.update(made)
        results = tuple(replace(array, number=before.get(array.number, array.number)) for array in one.results)
        return replace(one, arguments={**arguments, **({"dropout_p": given[0]} if given else {})}, results=results)

    found: dict[int, Array] = {}

    def called(one: Called) -> Called:
        items: list[Any] = []
        for place in range(len(one.items) + 1):
            if (one.path, place) in places:
                dropped, rate = places[one.path, place]
                arrays[dropped] = found[dropped]
                items.append(Done("dropout", {"input": Ref(before[dropped]), "p": rate, "train": True}, (found[dropped],)))
            items += [changed(item) for item in one.items[place : place + 1]]
        return Called(one.path, one.kind, items)

    def changed(item: Any) -> Any:
        if isinstance(item, Repeated | Stack):
            listed = item.carried if isinstance(item, Repeated) else (*item.passed, tuple(zip(item.first, item.last, strict=True)))
            taken = [[number(one) for one, _ in pairs] for pairs in listed]  # before the copies; what these pass on, after them
            calls = tuple(map(called, item.calls if isinstance(item, Repeated) else item.kinds))
            given = [[number(other) for _, other in pairs] for pairs in listed]
            pairs = tuple(tuple(zip(*both, strict=True)) for both in zip(taken, given, strict=True))
            if isinstance(item, Repeated):
                return replace(item, calls=list(calls), carried=pairs)
            return replace(item, kinds=calls, passed=pairs[:-1], first=tuple(taken[-1]), last=tuple(given[-1]))
        return called(item) if isinstance(item, Called) else done(item)

    return replace(recording, top=called(recording.top))


def places_of(stated: Sequence[Any]) -> tuple[Dropout, ...]:
    """Return the places that a file states."""
    return tuple(
        Dropout(None if path is None else str(path), int(index), int(number), tuple(map(str, keys)), float(default))
        for path, index, number, keys, default in stated
    )
