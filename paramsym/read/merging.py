"""Recordings of one structure: compared, and merged into one whose numbers vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated


class Varying(NamedTuple):
    """A number of a recording at every point."""

    at: tuple[int, ...]


class Path(str):
    """The path of a module, or the name of a tensor, at the first point; ``steps`` are its steps, of which a number may vary."""

    __slots__ = ("steps",)
    steps: tuple[Any, ...]

    @classmethod
    def of(cls, text: str, steps: tuple[Any, ...]) -> Path:
        """Return a path with its steps."""
        made = cls(text)
        made.steps = steps
        return made


def alike(one: Recording, other: Recording) -> bool:
    """Whether two recordings have the same operators in the same modules, on the same arrays; numbers in paths may differ."""
    stored = one.stored.keys() == other.stored.keys() and all(
        len(names) == len(other.stored[number]) and all(map(_same_path, names, other.stored[number]))
        for number, names in one.stored.items()
    )
    return stored and one.constants.keys() == other.constants.keys() and one.outputs == other.outputs and _same_items(one.top, other.top)


def _same_path(one: str, other: str) -> bool:
    return _blank(one) == _blank(other)


@lru_cache(maxsize=1 << 12)
def _blank(path: str) -> str:
    return ".".join("0" if step.isdecimal() else step for step in path.split("."))


def _same_items(one: Any, other: Any) -> bool:
    if isinstance(one, Called) and isinstance(other, Called):
        paths = _same_path(one.path, other.path) and len(one.items) == len(other.items)
        return paths and all(map(_same_items, one.items, other.items))
    if isinstance(one, Repeated) and isinstance(other, Repeated):
        return (one.place, len(one.calls), one.carried) == (other.place, len(other.calls), other.carried) and all(
            map(_same_items, one.calls, other.calls)
        )
    return (
        isinstance(one, Done)
        and isinstance(other, Done)
        and one.name == other.name
        and [array.number for array in one.results] == [array.number for array in other.results]
        and [len(array.shape) for array in one.results] == [len(array.shape) for array in other.results]
        and _same_form(dict(one.arguments), dict(other.arguments))
    )


def _same_form(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same_form(one[key], other[key]) for key in one)
    if isinstance(one, Ref) or isinstance(other, Ref):
        return one == other
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same_form, one, other))
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int) or not isinstance(other, int):
        return bool(one == other) or (isinstance(one, float) and isinstance(other, float))
    return True


def merged(recordings: Sequence[Recording]) -> Recording:
    """Return recordings of one structure as one, with a ``Varying`` for each number that differs."""
    first = recordings[0]
    constants = {number: _merged_array([one.constants[number] for one in recordings]) for number in first.constants}
    inputs = tuple(_merged_array(arrays) for arrays in zip(*(one.inputs for one in recordings), strict=True))
    stored = {
        number: tuple(_merged_path(names) for names in zip(*(one.stored[number] for one in recordings), strict=True))
        for number in first.stored
    }
    return replace(first, inputs=inputs, stored=stored, constants=constants, top=_merged_call([one.top for one in recordings]))


def _merged_call(calls: Sequence[Called]) -> Called:
    items = [_merged_item(items) for items in zip(*(one.items for one in calls), strict=True)]
    return Called(_merged_path([one.path for one in calls]), calls[0].kind, items)


def _merged_item(items: Sequence[Any]) -> Any:
    first = items[0]
    if isinstance(first, Called):
        return _merged_call(items)
    if isinstance(first, Repeated):
        inside = [_merged_call(calls) for calls in zip(*(one.calls for one in items), strict=True)]
        return replace(first, calls=inside, count=_merged_value([one.count for one in items]))
    results = tuple(_merged_array(arrays) for arrays in zip(*(one.results for one in items), strict=True))
    return replace(first, arguments=_merged_value([one.arguments for one in items]), results=results)


def _merged_path(paths: Sequence[str]) -> str:
    if len(set(paths)) == 1:
        return paths[0]
    split = [tuple(int(step) if step.isdecimal() else step for step in path.split(".")) for path in paths]
    return Path.of(paths[0], _merged_value(split))


def _merged_array(arrays: Sequence[Array]) -> Array:
    shape = tuple(_merged_value(sizes) for sizes in zip(*(one.shape for one in arrays), strict=True))
    first = arrays[0]
    same = all(one.shape == first.shape for one in arrays) and all(_equal_data(first.data, one.data) for one in arrays)
    return replace(first, shape=shape, data=first.data if same else None)


def _equal_data(one: Any, other: Any) -> bool:
    return one is other or (one is not None and other is not None and one.dtype == other.dtype and one.tobytes() == other.tobytes())


def _merged_value(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, Mapping):
        return {key: _merged_value([one[key] for one in values]) for key in first}
    if isinstance(first, Ref):
        return first
    if isinstance(first, tuple):
        return tuple(_merged_value(each) for each in zip(*values, strict=True))
    if all(one == first or (one != one and first != first) for one in values):  # noqa: PLR0124 - no number is equal to nan
        return first
    return Varying(tuple(values))
