"""Checking a layer's fields against their annotations; the checks of a class are prepared once.

``Dim`` and ``Count`` fields are checked by ``size``; ``bool`` fields take only True or False; lists become tuples, so that a dictionary
read from JSON can build a layer.
"""

from __future__ import annotations

import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from sympy import Expr

from paramsym.algebra.size import Count, Dim, Width, axis, cat, count, size, stack
from paramsym.errors import ArgumentError, ParamsymError
from paramsym.naming import MOST_BITS, described, quoted

Check: TypeAlias = Callable[[Any, str], Any]


def check_fields(layer: Any) -> None:
    """Check and normalise every field of a frozen dataclass in place.

    Raises:
        SizeError: an impossible size or count.
        ArgumentError: a flag or option of the wrong type or value.
    """
    cls: type = type(layer)
    for name, check in _checks(cls):
        value = getattr(layer, name)
        checked = check(value, name)
        if checked is not value:
            object.__setattr__(layer, name, checked)


@lru_cache(maxsize=1024)
def field_names(cls: type) -> tuple[str, ...]:
    """Return the names of a layer's fields, in order."""
    return tuple(field.name for field in fields(cls))


_GATES: dict[object, Check] = {"size": size, "count": count, "axis": axis}


@lru_cache(maxsize=1024)
def _checks(cls: type) -> tuple[tuple[str, Check], ...]:
    hints = hints_of(cls)
    found = ((field.name, _check_of(hints.get(field.name, object))) for field in fields(cls))
    return tuple((name, check) for name, check in found if check is not None)


@lru_cache(maxsize=1024)
def hints_of(cls: type) -> Mapping[str, Any]:
    """Return the annotations of a layer's fields; ``object`` for an annotation that cannot be looked up."""
    stated = {name: (hint, base) for base in reversed(cls.__mro__) for name, hint in inspect.get_annotations(base).items()}
    return {field.name: _hint(*stated[field.name]) for field in fields(cls)}


@lru_cache(maxsize=1024)  # many fields of a class are sizes, or flags
def _hint(stated: Any, home: type) -> Any:
    """Look up an annotation in the module of its class and in the class; the types of the contract are always known."""
    holder = type(home.__name__, (), {"__annotations__": {"one": stated}})
    names = {"Dim": Dim, "Count": Count, "Width": Width, **vars(sys.modules[home.__module__])}
    try:
        return typing.get_type_hints(holder, dict(vars(home)), names, include_extras=True)["one"]
    except NameError:  # a class inside a function may use local names: such a field is not checked
        return object


def _check_of(hint: Any) -> Check | None:
    """Return the check for a type hint, or None if every value is valid."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _GATES.get(get_args(hint)[1])
    if origin in {typing.Union, types.UnionType}:
        return _check_of_union(get_args(hint))
    if origin is list:  # lists become tuples: a layer is a value
        return _check_of_tuple((*get_args(hint), Ellipsis))
    if origin is tuple:
        return _check_of_tuple(get_args(hint))
    if origin is Literal:
        return _one_of(get_args(hint))
    if isinstance(hint, type):
        return _instance(hint)
    return None


def _check_of_union(hints: tuple[Any, ...]) -> Check | None:
    checks = [(hint, _check_of(hint)) for hint in hints if hint is not type(None)]
    if any(check is None for _, check in checks):
        return None
    optional = len(checks) < len(hints)

    def check_union(value: Any, where: str) -> Any:
        if value is None and optional:
            return None
        return _matching(value, checks)(value, where)  # type: ignore[misc]

    return check_union


def _matching(value: object, checks: list[tuple[Any, Check | None]]) -> Check | None:
    """Return the check for this kind of value; if none fits, the first check raises the error."""
    for hint, check in checks:
        origin = get_origin(hint)
        if origin in {tuple, list} and isinstance(value, tuple | list):
            return check
        if (origin is Literal or hint is str) and isinstance(value, str):
            return check
        if hint is bool and isinstance(value, bool):
            return check
        if isinstance(hint, type) and hint is not str and isinstance(value, hint):
            return check
        if origin is Annotated and _is_size_like(value, get_args(hint)[1]):
            return check
    return checks[0][1]


def _is_size_like(value: object, kind: object) -> bool:
    if kind == "axis" and isinstance(value, tuple | list | cat | stack):
        return True
    return not isinstance(value, str | tuple | list | bool) and (hasattr(value, "__index__") or isinstance(value, Expr))


def _check_of_tuple(hints: tuple[Any, ...]) -> Check:
    if len(hints) == 2 and hints[1] is Ellipsis:
        each = _check_of(hints[0]) or _unchecked

        def check_all(value: Any, where: str) -> Any:
            items = _as_tuple(value, where)
            return _same(value, _checked(items, [each] * len(items), where))

        return check_all
    checks = [_check_of(hint) or _unchecked for hint in hints]

    def check_each(value: Any, where: str) -> Any:
        items = _as_tuple(value, where)
        if len(items) != len(checks):
            raise ArgumentError(f"{where} has {len(items)} entries; wanted {len(checks)}.")
        return _same(value, _checked(items, checks, where))

    return check_each


def _unchecked(value: Any, where: str) -> Any:
    del where
    return value


def _checked(items: tuple[Any, ...], checks: Sequence[Check], where: str) -> tuple[Any, ...]:
    try:
        return tuple([check(item, where) for check, item in zip(checks, items, strict=True)])
    except ParamsymError:  # once more, to say which entry: writing the place of each takes longer than the checks
        return tuple([check(item, f"{where}[{i}]") for i, (check, item) in enumerate(zip(checks, items, strict=True))])


def _same(before: object, after: tuple[Any, ...]) -> Any:
    # A subclass of tuple, such as torch.Size, becomes a plain one: a layer must not need a framework to be unpickled.
    unchanged = type(before) is tuple and all(map(operator.is_, before, after))
    return before if unchanged else after


def _as_tuple(value: Any, where: str) -> tuple[Any, ...]:
    if isinstance(value, tuple | list):
        return tuple(value)
    raise ArgumentError(f"{where} is {described(value)}; wanted a tuple.")


def _one_of(options: tuple[Any, ...]) -> Check:
    def check_option(value: Any, where: str) -> Any:
        if isinstance(value, str | int) and value in options and not isinstance(value, bool):
            return value
        raise ArgumentError(f"{where} is {quoted(value)}; wanted one of {', '.join(map(repr, options))}.")

    return check_option


def _instance(kind: type) -> Check | None:
    if kind is object:
        return None
    words = {bool: "True or False", str: "a string", float: "a number", int: "a whole number"}

    accepted = (int, float) if kind is float else kind

    def check_instance(value: Any, where: str) -> Any:
        if type(value) is kind and kind is not int:
            return value
        if isinstance(value, accepted) and (kind is bool or not isinstance(value, bool)):
            if isinstance(value, int) and value.bit_length() > MOST_BITS:
                raise ArgumentError(f"{where} is {described(value)}; {MOST_BITS} are the limit.")
            return value
        hint = " For a size in symbols annotate the field with ps.Dim." if kind is int and isinstance(value, Expr) else ""
        raise ArgumentError(f"{where} is {described(value)}; wanted {words.get(kind, f'a {kind.__name__}')}.{hint}")

    return check_instance
