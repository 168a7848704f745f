"""The arguments of a build: sizes, flags and words, and held ones; from its signature or a configuration."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import SimpleNamespace
from typing import Any, TypeAlias, TypeGuard

from paramsym.errors import ArgumentError
from paramsym.naming import described

Place: TypeAlias = "tuple[str | int, ...]"
_START = 8  # for a size without a default
_LARGEST = 10**12  # more than any axis
_MOST_TESTS = 10**9

UNSAID: Any = object()


@dataclass(frozen=True)
class Variable:
    """A size argument of a build: its position, a start value, and what the user stated about it."""

    name: str
    place: Place
    start: int | None = None
    formula: str = ""
    among: range | None = None


@dataclass
class Call:
    """The call of a build: sizes, the choices of flags and words, and held arguments."""

    build: Callable[..., Any]
    variables: list[Variable] = field(default_factory=list)
    choices: dict[str, tuple[Place, tuple[Any, ...]]] = field(default_factory=dict)
    held: dict[str, tuple[Place, Any]] = field(default_factory=dict)
    wholes: dict[Place, Any] = field(default_factory=dict)

    def strata(self) -> Iterator[dict[str, Any]]:
        """Yield every combination of flags and words, the defaults first."""
        names = list(self.choices)
        for values in product(*(options for _, options in self.choices.values())):
            yield dict(zip(names, values, strict=True))

    def arguments(self, sizes: Mapping[str, int], stratum: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments for sizes and a choice of flags."""
        leaves: dict[Place, Any] = dict(self.held.values())
        leaves |= {self.choices[name][0]: value for name, value in stratum.items()}
        leaves |= {variable.place: sizes[variable.name] for variable in self.variables}
        made: dict[str, Any] = {}
        inner: dict[str, dict[Place, Any]] = {}
        for place, value in leaves.items():
            if len(place) == 1:
                made[str(place[0])] = value
            else:
                inner.setdefault(str(place[0]), {})[place] = value
        for name, below in inner.items():
            made[name] = self._whole((name,), below)
        return made

    def _whole(self, place: Place, leaves: Mapping[Place, Any]) -> Any:
        known = self.wholes[place]
        entries: dict[str | int, Any] = {}
        for step in dict.fromkeys(leaf[len(place)] for leaf in leaves):
            below = {leaf: value for leaf, value in leaves.items() if leaf[len(place)] == step}
            here = (*place, step)
            entries[step] = below[here] if here in below else self._whole(here, below)
        if isinstance(known, list | tuple):
            return type(known)(entries[position] for position in range(len(known)))
        fields = {str(step): value for step, value in entries.items()}
        if isinstance(known, SimpleNamespace):
            return SimpleNamespace(**{**vars(known), **fields})
        if isinstance(known, type):
            return known(**fields)
        return dataclasses.replace(known, **fields)


def by_name(what: str, given: object) -> dict[str, Any]:
    """Return arguments by their names; a symbol is replaced by its name."""
    if given is None:
        return {}
    names: list[Any] = [getattr(key, "name", key) for key in given] if isinstance(given, Mapping) else [None]
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"{what} is {described(given)}; wanted arguments by name, such as {{'width': 8}}.")
    return dict(zip(names, given.values(), strict=True))


def stated_sizes(build: Callable[..., Any], sizes: object) -> dict[str, Any]:
    """Return what a caller states about arguments, by name; a configuration dataclass alone is the first argument.

    Raises:
        ArgumentError: a build that cannot be called, or sizes that are neither a mapping nor a dataclass.
    """
    if not callable(build):
        message = f"build is {described(build)}; wanted a function of sizes that returns a module, a mapping of shapes or a count."  # type: ignore[unreachable]
        raise ArgumentError(message)
    if not dataclasses.is_dataclass(sizes):
        return by_name("sizes", sizes)
    first = next(iter(_parameters(build, {})), "")
    if not first:
        raise ArgumentError(f"sizes is {described(sizes)}, and build takes no argument by name.")
    return {first: sizes}


def check_limits(seconds: object, tests: object) -> None:
    """Raise ``ArgumentError`` for an impossible time or number of tests."""
    asked: tuple[tuple[str, Any, Any], ...] = (("seconds", seconds, int | float), ("tests", tests, int))
    for what, value, kind in asked:
        number: Any = value
        if isinstance(value, bool) or not isinstance(value, kind) or not number >= 0 or (kind is int and number > _MOST_TESTS):
            wanted = f"whole number from 0 to {_MOST_TESTS:,}" if kind is int else "number of at least 0"
            raise ArgumentError(f"{what} is {described(value)}; wanted a {wanted}.")


def read_call(build: Callable[..., Any], said: Mapping[str, Any], held: Mapping[str, Any]) -> Call:
    """Return the call of a build.

    An int, or an int default, is the start value of a size; a string for a size is its formula, as in ``H="A*d"``; a range gives the
    allowed values. True and False are both tried, and so are the entries of a tuple given for a word. Held arguments are not changed.

    Raises:
        ArgumentError: an argument without any information.
    """
    call = Call(build)
    left = {**said, **{name: _Held(value) for name, value in held.items()}}
    for name, parameter in _parameters(build, left).items():
        _take(call, name, (name,), parameter.default, parameter.annotation, left)
    if left:
        known = ", ".join([variable.name for variable in call.variables] + [*call.choices, *call.held]) or "none"
        raise ArgumentError(f"build takes no argument {next(iter(left))!r}; it takes {known}.")
    if not call.variables:
        raise ArgumentError("build takes no size: none of its arguments is a whole number. Give one by name, as in derive(build, width=8).")
    return call


@dataclass(frozen=True)
class _Held:
    value: Any


def _parameters(build: Callable[..., Any], left: Mapping[str, Any]) -> dict[str, inspect.Parameter]:
    try:
        signature = inspect.signature(build)
    except (TypeError, ValueError):
        return {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in left}
    try:
        hints = typing.get_type_hints(vars(build)["__init__"] if isinstance(build, type) else build)
    except Exception:  # noqa: BLE001 - annotations are somebody else's code, and only help
        hints = {}
    found: dict[str, inspect.Parameter] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found |= {
                other: inspect.Parameter(other, inspect.Parameter.KEYWORD_ONLY) for other in left if other not in signature.parameters
            }
        elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise ArgumentError(f"build takes {name!r} by position only; wrap it: derive(lambda {name}: build({name}), ...).")
        elif parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            found[name] = parameter.replace(annotation=hints.get(name, parameter.annotation))
    return found


def _take(call: Call, name: str, place: Place, default: Any, annotation: Any, left: dict[str, Any]) -> None:
    """Classify one argument, or one field of a configuration."""
    given = left.pop(name, UNSAID)
    if isinstance(given, _Held):
        call.held[name] = (place, given.value)
        return
    default = UNSAID if default is inspect.Parameter.empty else default
    if given is UNSAID and default is UNSAID and dataclasses.is_dataclass(annotation):
        given = annotation
    if isinstance(given, str) and _is_size(default, annotation, given):
        call.variables.append(Variable(name, place, default if _whole(default) else None, formula=given))
    elif isinstance(given, range):
        sizes = given if given.step > 0 else given[::-1]
        if not sizes or sizes[0] < 0 or sizes[-1] > _LARGEST:
            raise ArgumentError(f"{name} is {given!r}; wanted a range with at least one size, from 0 to {_LARGEST:,}.")
        call.variables.append(Variable(name, place, sizes[len(sizes) // 2], among=sizes))
    elif given is UNSAID and default is UNSAID:
        _take_by_annotation(call, name, place, annotation)
    elif isinstance(default, bool) and given is UNSAID:
        call.choices[name] = (place, (default, not default))
    else:
        _take_value(call, name, place, default if given is UNSAID else given, left)


def _take_by_annotation(call: Call, name: str, place: Place, annotation: Any) -> None:
    """Classify an argument of which only the annotation is known."""
    if annotation in {int, "int", inspect.Parameter.empty}:
        call.variables.append(Variable(name, place, _START))
    elif annotation in {bool, "bool"}:
        call.choices[name] = (place, (True, False))
    else:
        raise ArgumentError(f"the argument {name!r} has no default and no annotation; give a value: derive(build, held={{{name!r}: ...}}).")


def _take_value(call: Call, name: str, place: Place, value: Any, left: dict[str, Any]) -> None:
    """Classify an argument by its value."""
    listed = isinstance(value, list | tuple) and bool(value)
    if _whole(value):
        call.variables.append(Variable(name, place, value))
    elif isinstance(value, bool):
        call.choices[name] = (place, (value,))
    elif dataclasses.is_dataclass(value) or isinstance(value, SimpleNamespace):
        _take_fields(call, place, value, left)
    elif listed and all(isinstance(entry, str | bool) for entry in value):
        call.choices[name] = (place, tuple(value))
    elif listed and all(_whole(entry) or isinstance(entry, list | tuple) for entry in value):
        _take_entries(call, name, place, value, left)
    else:
        call.held[name] = (place, value)


def _is_size(default: Any, annotation: Any, given: str) -> bool:
    """Whether a string is the formula of a size, not a word."""
    return _whole(default) or (
        default is UNSAID and annotation not in {str, "str"} and (annotation is int or any(c in given for c in "*+-/"))
    )


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _take_fields(call: Call, place: Place, value: Any, left: dict[str, Any]) -> None:
    call.wholes[place] = value
    if isinstance(value, SimpleNamespace):
        for name, default in list(vars(value).items()):
            _take(call, name, (*place, name), default, inspect.Parameter.empty, left)
        return
    for entry in dataclasses.fields(value):
        if not entry.init:
            continue
        if isinstance(value, type):
            default = entry.default_factory() if entry.default_factory is not dataclasses.MISSING else entry.default
            default = UNSAID if default is dataclasses.MISSING else default
        else:
            default = getattr(value, entry.name)
        hint = {"int": int, "bool": bool, "str": str}.get(str(entry.type), entry.type)
        _take(call, entry.name, (*place, entry.name), default, hint, left)


def _take_entries(call: Call, name: str, place: Place, value: Any, left: dict[str, Any]) -> None:
    call.wholes[place] = value
    for position, entry in enumerate(value):
        if isinstance(entry, list | tuple):
            _take_entries(call, f"{name}_{position}", (*place, position), entry, left)
        elif _whole(entry):
            _take(call, f"{name}_{position}", (*place, position), entry, int, left)
        else:
            call.held[f"{name}_{position}"] = ((*place, position), entry)
