"""The arguments of a build: sizes, flags and words, and held ones; from its signature or a configuration."""

from __future__ import annotations

import inspect
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations, product
from math import prod
from numbers import Integral
from typing import Any, TypeAlias, TypeGuard

from paramsym.derive.configurations import UNSAID, fields_of, hints_of, holds_settings, is_configuration, with_fields
from paramsym.derive.observe import is_live
from paramsym.errors import ArgumentError
from paramsym.naming import described

Place: TypeAlias = "tuple[str | int, ...]"
_LARGEST = 10**12  # more than any axis
_MOST_TESTS = 10**9


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
    """The call of a build: sizes, the choices of flags and words, and held arguments.

    ``off`` are the sizes that the author's default, 0, switches off: 0 is a choice beside the sizes from 1 on.
    """

    build: Callable[..., Any]
    variables: list[Variable] = field(default_factory=list)
    choices: dict[str, tuple[Place, tuple[Any, ...]]] = field(default_factory=dict)
    held: dict[str, tuple[Place, Any]] = field(default_factory=dict)
    wholes: dict[Place, Any] = field(default_factory=dict)

    @property
    def off(self) -> list[str]:
        """The sizes that start at 0, and are used in no formula."""
        stated = " ".join(variable.formula for variable in self.variables)
        return [v.name for v in self.variables if v.start == 0 and v.among is None and not v.formula and v.name not in stated]

    @property
    def _options(self) -> dict[str, tuple[Any, ...]]:
        return {name: options for name, (_, options) in self.choices.items()} | dict.fromkeys(self.off, (UNSAID, 0))

    @property
    def combinations(self) -> int:
        """The number of all combinations of flags, words, and sizes that are off."""
        return prod(map(len, self._options.values()))

    def strata(self) -> Iterator[dict[str, Any]]:
        """Yield every combination: the defaults, with every size, first, then those that differ from them in fewest choices."""
        options = self._options
        for number in range(len(options) + 1):
            for names in combinations(options, number):
                for values in product(*(options[name][1:] for name in names)):
                    chosen = {name: first for name, (first, *_) in options.items()} | dict(zip(names, values, strict=True))
                    yield {name: value for name, value in chosen.items() if value is not UNSAID}

    def sizes(self, stratum: Mapping[str, Any]) -> tuple[Variable, ...]:
        """Return the sizes that are not off in a stratum."""
        return tuple(variable for variable in self.variables if variable.name not in stratum)

    def arguments(self, sizes: Mapping[str, int], stratum: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments for sizes and a choice of flags."""
        values = {**sizes, **stratum}
        leaves: dict[Place, Any] = dict(self.held.values())
        leaves |= {place: values[name] for name, (place, _) in self.choices.items()}
        leaves |= {variable.place: values[variable.name] for variable in self.variables}
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
        if _is_list(known):
            kind: Any = type(known)
            return kind(entries[position] for position in range(len(known)))
        return with_fields(known, {str(step): value for step, value in entries.items()})


def by_name(what: str, given: object) -> dict[str, Any]:
    """Return arguments by their names; a symbol is replaced by its name."""
    if given is None:
        return {}
    names: list[Any] = [getattr(key, "name", key) for key in given] if isinstance(given, Mapping) else [None]
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"{what} is {described(given)}; wanted arguments by name, such as {{'width': 8}}.")
    return dict(zip(names, given.values(), strict=True))


def stated_sizes(build: Callable[..., Any], sizes: object) -> dict[str, Any]:
    """Return what a caller states about arguments, by name; a configuration alone is the first argument.

    Raises:
        ArgumentError: a build that is a module or cannot be called, or sizes that are neither a mapping nor a configuration.
    """
    if is_live(build):
        message = f"build is {described(build)}, whose sizes are numbers; wanted the function or class that builds it."
        raise ArgumentError(message)
    if not callable(build):
        message = f"build is {described(build)}; wanted a function of sizes that returns a module, a mapping of shapes or a count."  # type: ignore[unreachable]
        raise ArgumentError(message)
    if isinstance(sizes, Mapping) or not is_configuration(sizes):
        return by_name("sizes", sizes)
    first = next(iter(_parameters(build, {})), "")
    if not first:
        raise ArgumentError(f"sizes is {described(sizes)}, and build takes no argument by name.")
    return {first: sizes}


def check_limits(seconds: object, tests: object, progress: object) -> None:
    """Raise ``ArgumentError`` for an impossible time or number of tests, or a ``progress`` that cannot be called."""
    if progress is not None and not callable(progress):
        raise ArgumentError(f"progress is {described(progress)}; wanted a function of a string, such as print.")
    asked: tuple[tuple[str, Any, Any], ...] = (("seconds", seconds, int | float), ("tests", tests, int))
    for what, value, kind in asked:
        number: Any = value
        if isinstance(value, bool) or not isinstance(value, kind) or not number >= 0 or (kind is int and number > _MOST_TESTS):
            wanted = f"whole number from 0 to {_MOST_TESTS:,}" if kind is int else "number of at least 0"
            raise ArgumentError(f"{what} is {described(value)}; wanted a {wanted}.")


def read_call(build: Callable[..., Any], said: Mapping[str, Any], held: Mapping[str, Any]) -> Call:
    """Return the call of a build.

    A whole number is the start value of a size; a string given for a size is its formula, as in ``H="A*d"``; a range gives the allowed
    values. Both True and False are tried for a flag. A default of any other kind is held as the author wrote it, also a list of words
    or flags; values to try are given by name, as a list of them. Held arguments are not changed. Configurations and lists of sizes are
    read field by field. If there is no size, the annotations of arguments whose default is None say what they may be.

    Raises:
        ArgumentError: an argument without any information.
    """
    given = {**said, **{name: _Held(value) for name, value in held.items()}}
    parameters = _parameters(build, given)
    call = _read(build, parameters, dict(given))
    if not call.variables:
        call = _read(build, {name: _not_none(parameter) for name, parameter in parameters.items()}, dict(given))
    if not call.variables:
        empty = [name for name, (_, value) in call.held.items() if value is None]
        other = f", or derive(build, {empty[0]}=...) with its configuration" if empty else ""
        message = f"build takes no size: none of its arguments is a whole number. Give one by name, as in derive(build, width=8){other}."
        raise ArgumentError(message)
    return call


@dataclass(frozen=True)
class _Held:
    value: Any


@dataclass(frozen=True)
class _Leaf:
    """An argument, a field of a configuration or an entry of a list, which is given to the build as one value."""

    place: Place
    default: Any
    annotation: Any


def _read(build: Callable[..., Any], parameters: Mapping[str, inspect.Parameter], left: dict[str, Any]) -> Call:
    call = Call(build)
    leaves = [leaf for name, one in parameters.items() for leaf in _leaves((name,), one.default, one.annotation, left, call.wholes)]
    for name, leaf in zip(_names([leaf.place for leaf in leaves]), leaves, strict=True):
        _take(call, name, leaf, left.pop(name, UNSAID))
    if left:
        known = ", ".join([variable.name for variable in call.variables] + [*call.choices, *call.held]) or "none"
        message = f"build takes no argument {next(iter(left))!r}; it takes {known}."
        if [(one.default, one.annotation in {Any, UNSAID}) for one in parameters.values()] == [(UNSAID, True)]:
            message = f"{message[:-1]}. A dictionary of settings is given by the argument's name: derive(build, {known}={{...}})."
        raise ArgumentError(message)
    return call


def _parameters(build: Callable[..., Any], left: Mapping[str, Any]) -> dict[str, inspect.Parameter]:
    try:
        signature = inspect.signature(build)
    except (TypeError, ValueError):
        return {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in left}
    hints = hints_of(build)
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


def _not_none(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return an optional parameter as one that must be given, of the kind that its annotation names beside None."""
    kinds = [kind for kind in _alternatives(parameter.annotation) if kind is not type(None)]
    if parameter.default is not None or len(kinds) != 1 or not (kinds[0] is int or _is_settings(kinds[0])):
        return parameter
    return parameter.replace(default=UNSAID, annotation=kinds[0], kind=inspect.Parameter.KEYWORD_ONLY)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return typing.get_args(annotation) if typing.get_origin(annotation) in {typing.Union, types.UnionType} else ()


def _is_settings(annotation: Any) -> bool:
    return isinstance(annotation, type) and is_configuration(annotation)


def _leaves(place: Place, default: Any, annotation: Any, left: dict[str, Any], wholes: dict[Place, Any]) -> Iterator[_Leaf]:
    """Yield the single values of an argument, field by field and entry by entry."""
    name = _tail(place, 1)
    given = left.get(name, UNSAID)
    if given is UNSAID and default is UNSAID and _is_settings(annotation):
        given = annotation
    value = default if given is UNSAID else given
    if isinstance(value, _Held) or not (_has_fields(value, author=given is UNSAID) or _lists_sizes(value)):
        yield _Leaf(place, default, annotation)
        return
    left.pop(name, None)
    wholes[place] = value
    inner = {step: (entry, Any) for step, entry in enumerate(value)} if _is_list(value) else fields_of(value)
    for step, (setting, hint) in inner.items():
        yield from _leaves((*place, step), setting, hint, left, wholes)


def _has_fields(value: Any, *, author: bool) -> bool:
    """Whether a value is a configuration; a class that its author wrote as a default must be usable without an instance."""
    return is_configuration(value) and not (author and isinstance(value, type) and not holds_settings(value))


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple) and not hasattr(value, "_fields")


def _lists_sizes(value: Any) -> bool:
    """Whether a list, or a list in it, has sizes; one of words or flags is one value."""
    return _is_list(value) and any(_whole(entry) or _lists_sizes(entry) for entry in value)


def _names(places: Sequence[Place]) -> list[str]:
    """Return a name for each place: that of the field, with those of the configurations around it if two fields have one name."""
    steps = [1] * len(places)
    while True:
        names = [_tail(place, number) for place, number in zip(places, steps, strict=True)]
        times = Counter(names)
        longer = [
            number + (times[name] > 1 and number < sum(isinstance(step, str) for step in place))
            for place, number, name in zip(places, steps, names, strict=True)
        ]
        if longer == steps:
            break
        steps = longer
    twice = next((name for name in names if times[name] > 1), None)
    if twice is not None:
        raise ArgumentError(f"build takes two arguments that are both named {twice!r} here; rename one of them.")
    return names


def _tail(place: Place, words: int) -> str:
    """Return the last words of a place, with the positions in lists after them."""
    where = [position for position, step in enumerate(place) if isinstance(step, str)]
    return "_".join(map(str, place[where[-words] :]))


def _take(call: Call, name: str, leaf: _Leaf, given: Any) -> None:
    """Classify one value by what is known of it."""
    place, default, annotation = leaf.place, leaf.default, leaf.annotation
    value = default if given is UNSAID else given
    if isinstance(given, _Held):
        call.held[name] = (place, given.value)
    elif isinstance(given, str) and _is_size(default, annotation, given):
        call.variables.append(Variable(name, place, int(default) if _whole(default) else None, formula=given))
    elif isinstance(given, range):
        sizes = given if given.step > 0 else given[::-1]
        if not sizes or sizes[0] < 0 or sizes[-1] > _LARGEST:
            raise ArgumentError(f"{name} is {given!r}; wanted a range with at least one size, from 0 to {_LARGEST:,}.")
        call.variables.append(Variable(name, place, sizes[len(sizes) // 2], among=sizes))
    elif value is UNSAID:
        _take_by_annotation(call, name, place, annotation)
    elif _whole(value) and 0 <= value <= _LARGEST:
        call.variables.append(Variable(name, place, int(value)))
    elif isinstance(value, bool) and isinstance(place[-1], str):
        call.choices[name] = (place, (value, not value) if given is UNSAID else (value,))
    elif given is not UNSAID and _are_alternatives(given, default, annotation):
        call.choices[name] = (place, tuple(given))
    else:
        call.held[name] = (place, value)


def _take_by_annotation(call: Call, name: str, place: Place, annotation: Any) -> None:
    """Classify an argument of which only the annotation is known."""
    if annotation in {int, "int", UNSAID, Any} or int in _alternatives(annotation):
        call.variables.append(Variable(name, place))
    elif annotation in {bool, "bool"}:
        call.choices[name] = (place, (True, False))
    else:
        wanted = f"give a value: derive(build, held={{{name!r}: ...}})"
        raise ArgumentError(f"the argument {name!r} has no default, and its annotation is neither a size nor a flag; {wanted}.")


def _are_alternatives(given: Any, default: Any, annotation: Any) -> bool:
    """Whether a given list has several values to try: words for a word, lists for a list."""
    if not _is_list(given) or not given:
        return False
    of_lists = _is_list(default) or annotation in {list, tuple} or typing.get_origin(annotation) in {list, tuple, Sequence}
    return all(_is_list(entry) if of_lists else isinstance(entry, str | bool | Enum | None) for entry in given)


def _is_size(default: Any, annotation: Any, given: str) -> bool:
    """Whether a string is the formula of a size, not a word."""
    return _whole(default) or (
        default is UNSAID and annotation not in {str, "str"} and (annotation is int or any(c in given for c in "*+-/"))
    )


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool | Enum)
