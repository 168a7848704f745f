"""The inputs of a forward pass: their number and their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from paramsym.errors import ArgumentError, ShapeError, UnknownInputError

if TYPE_CHECKING:
    from paramsym.program.statement import Statement

_ROUTED = 3
"""Positions, weights, and the numbers of the chosen copies."""


@cache
def _parameters(forward: Callable[..., Any]) -> tuple[tuple[str, ...], int, str]:
    """Return the names of a forward pass's inputs, the number of required ones, and the name of its ``*rest``."""
    listed = list(signature(forward).parameters.values())[2:]
    plain = [one for one in listed if one.kind is not Parameter.VAR_POSITIONAL]
    rest = next((one.name for one in listed if one.kind is Parameter.VAR_POSITIONAL), "")
    return tuple(one.name for one in plain), sum(one.default is Parameter.empty for one in plain), rest


def _of(layer: Statement) -> tuple[tuple[str, ...], int, str]:
    cls: Any = type(layer.computed_as)
    return _parameters(cls.forward)


def stated(layer: Statement) -> Mapping[str, Any]:
    """Return the inputs that a model states, as names and shapes in letters; other layers state none."""
    found: Any = getattr(layer.computed_as, "inputs", None)
    return found if isinstance(found, Mapping) else {}


def stated_inputs(layer: Statement) -> Mapping[str, Any]:
    """Return the inputs that a model states, as names and shapes in letters.

    Raises:
        ArgumentError: a layer that states no inputs; the user must give the shapes.
    """
    found = stated(layer)
    if not found:
        raise ArgumentError(f"{type(layer).__name__} does not state its inputs; give their shapes, such as (B, S, H).")
    return found


def names_of(layer: Statement) -> tuple[str, ...]:
    """Return the names of the inputs in order: those that a model states, then others of its forward pass."""
    return tuple(dict.fromkeys((*stated(layer), *getattr(layer.computed_as, "input_names", ()), *_of(layer)[0])))


def _taken(layer: Statement) -> str:
    """Return the names of the inputs, with the shapes that a model states; a letter of these is no input by itself."""
    shapes = stated(layer)
    return ", ".join(f"{name} of shape ({', '.join(map(str, shapes[name]))})" if name in shapes else name for name in names_of(layer))


def least(layer: Statement) -> int:
    """Return the number of required inputs; a model's ``forward(self, own, *given)`` needs all that it states."""
    names, needed, rest = _of(layer)
    return needed if names or rest == "along" else len(stated(layer))


def accepted(layer: Statement) -> int | None:
    """Return the largest number of inputs; None for any number.

    A layer that passes inputs ``along`` takes as many as its parts. An opaque layer takes one.
    """
    if not layer.computes:
        return 1
    names, _, rest = _of(layer)
    if rest == "along" and layer.own_parts:
        inside = [_ROUTED if part.numbers is not None and part.used is not None else accepted(part.layer) for part in layer.own_parts]
        return None if None in inside else max(count for count in inside if count is not None)
    if not rest:
        return len(names)
    return None if names else len(stated(layer)) or None


def check_number(layer: Statement, given: int) -> None:
    """Raise ``ShapeError`` for fewer inputs than a layer needs, or more than it takes."""
    names, needed, rest = _of(layer)
    if needed <= given <= len(names) or (given == 1 and rest == "along") or not layer.computes:
        return
    fewest, most = least(layer), accepted(layer)
    if given < fewest or (most is not None and given > most):
        raise ShapeError(f"{_wanted(layer, fewest, most)}; found {given}.")


def arranged(layer: Statement, given: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """Return the inputs of a layer in order, from those given by position and by name.

    Raises:
        ArgumentError: too many inputs, no inputs, an unknown name, an input given twice or left out.
    """
    kind, names, most = type(layer).__name__, names_of(layer), accepted(layer)
    unknown = next((name for name in named if name not in names), None)
    if unknown is not None:
        raise UnknownInputError(unknown, kind, _taken(layer) or "inputs in order, without names")
    twice = next((name for name in names[: len(given)] if name in named), None)
    if twice is not None:
        raise ArgumentError(f"{kind} is given {twice!r} twice, by position and by name.")
    number = len(given) + len(named)
    if not number or (most is not None and number > most):
        raise ArgumentError(f"{kind}: {_wanted(layer, max(1, least(layer)), most)}; found {number}.")
    last = max((names.index(name) for name in named), default=0)
    missing = next((name for name in names[len(given) : last] if name not in named), None)
    if missing is not None:
        raise ArgumentError(f"{kind} is not given {missing!r}, which comes before {names[last]!r}; give it as well.")
    return [*given, *(named[name] for name in names[len(given) :] if name in named)]


def _wanted(layer: Statement, fewest: int, most: int | None) -> str:
    """Return the number and the names of a layer's inputs, in words."""
    if most == 0:
        return "its forward pass takes no input; write forward(self, own, x)"
    number = f"{fewest}" if fewest == most else f"at least {fewest}" if most is None else f"{fewest} to {most}"
    names = ", ".join(names_of(layer)[:most])
    return f"wanted {number} input{'s' if (most or fewest) != 1 else ''}{f' ({names})' if names else ''}"
