"""Numbers of a configuration in the arguments of a recorded pass, such as the epsilon of norms: no size depends on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paramsym.atlas.domain import thawed
from paramsym.atlas.values import Value, shown
from paramsym.read.recording import Called, Done, Recording, Repeated
from paramsym.read.stacks import Stack

POWERS = {"": 1.0, "root": 0.5, "inverse": -1.0, "inverse root": -0.5, "negative": 1.0}
"""What an argument is of a key's number."""


@dataclass(frozen=True)
class Argument:
    """An argument that is a key's number, its root, its inverse: of the operator that gives the array ``number``."""

    number: int
    name: str
    key: str
    of: str
    default: float

    def value(self, given: float) -> float:
        """Return the argument for the number of a configuration."""
        return applied(self.of, given)


def applied(of: str, number: float) -> float:
    """Return a number, its root or its inverse.

    >>> applied("inverse root", 4), applied("", 7)
    (0.5, 7)
    """
    if POWERS[of] == 1:
        return -number if of == "negative" else number
    return float(number) ** POWERS[of]


def with_numbers(recording: Recording, arguments: Sequence[Argument], values: Mapping[str, Value]) -> Recording:
    """Return a recording with the numbers of a configuration in arguments; a number that is not given is the recorded one."""
    changed = {
        (one.number, one.name): one.value(given) for one in arguments if _is_other(given := values.get(one.key, one.default), one.default)
    }
    if not changed:
        return recording

    def put(item: Done | Called | Repeated | Stack) -> Any:
        if isinstance(item, Done):
            first = item.results[0].number if item.results else -1
            new = {name: changed[first, name] for name in item.arguments if (first, name) in changed}
            return replace(item, arguments={**item.arguments, **new}) if new else item
        if isinstance(item, Called):
            return Called(item.path, item.kind, [put(one) for one in item.items])
        if isinstance(item, Repeated):
            return replace(item, calls=[put(one) for one in item.calls])
        return replace(item, kinds=tuple(put(one) for one in item.kinds))

    return replace(recording, top=put(recording.top))


def other_numbers(arguments: Sequence[Argument], fixed: Mapping[str, Value], values: Mapping[str, Value]) -> str:
    """Return which key of a configuration has a value at which the results are not known; nothing if there is none."""
    for key, default in fixed.items():
        if key in values and values[key] != default:
            return f"{key} is {shown(thawed(values[key]))}; what a run gives is known for {shown(thawed(default))}"
    for one in arguments:
        given = values.get(one.key, one.default)
        if isinstance(given, bool) or not isinstance(given, int | float) or (POWERS[one.of] < 1 and given <= 0):
            return f"{one.key} is {shown(thawed(given))}; what a run gives is known for numbers"
    return ""


def _is_other(given: Value, default: float) -> bool:
    return type(given) is not type(default) or given != default


def arguments_of(stated: Sequence[Any]) -> tuple[Argument, ...]:
    """Return the arguments that a file states: keys, with their defaults, and the arguments that are functions of each.

    Raises:
        ValueError: another function than a root or an inverse.
    """
    found = [Argument(int(number), str(name), str(key), str(of), default) for key, default, of, listed in stated for number, name in listed]
    if any(one.of not in POWERS for one in found):
        raise ValueError("an argument is another function of a key")
    return tuple(found)
