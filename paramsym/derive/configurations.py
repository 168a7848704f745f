"""Configurations that builds take: objects and dictionaries of settings, their fields, and the same with other values."""

from __future__ import annotations

import argparse
import copy
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from types import SimpleNamespace
from typing import Any, TypeAlias

UNSAID: Any = inspect.Parameter.empty
"""The default of a field without one."""
Fields: TypeAlias = "dict[str, tuple[Any, Any]]"
"""Default and annotation of every field, by name."""
_FRAMEWORKS = frozenset({"torch", "keras", "flax", "jax", "numpy", "tensorflow", "sympy", "paramsym"})
_NOT_PLAIN = _FRAMEWORKS | sys.stdlib_module_names - {"__main__"}
_NAMESPACES = (SimpleNamespace, argparse.Namespace)
_PLAIN = (int, float, str, bytes, type(None), type, types.FunctionType, Enum)


def is_configuration(value: Any) -> bool:
    """Whether a value, or the instances of a class, only hold settings.

    Such are dataclasses, named tuples, namespaces, dictionaries with names as keys, and objects of one's own classes whose attributes
    are numbers, words, flags, lists of them, or configurations. What can be called is none: a module, a function.
    """
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(key, str) and key.isidentifier() for key in value)
    if dataclasses.is_dataclass(value) or hasattr(value, "_fields") or isinstance(value, _NAMESPACES):
        return True
    kind = value if isinstance(value, type) else type(value)
    root = (kind.__module__ or "").partition(".")[0]
    if root in _NOT_PLAIN or issubclass(kind, Enum | BaseException) or any("__call__" in vars(base) for base in kind.__mro__):
        return False
    if isinstance(value, type):
        return any("__init__" in vars(base) for base in kind.__mro__[:-1]) or any(map(_plain, _attributes(kind).values()))
    return hasattr(value, "__dict__") and bool(_attributes(value)) and all(map(_plain, _attributes(value).values()))


def _plain(value: Any) -> bool:
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_plain, value))
    return isinstance(value, _PLAIN) or (isinstance(value, Mapping) and all(map(_plain, value.values()))) or is_configuration(value)


def holds_settings(cls: type) -> bool:
    """Whether a class itself, without an instance, has all settings as attributes."""
    return bool(_attributes(cls)) and (dataclasses.is_dataclass(cls) or not _parameters(cls))


def fields_of(value: Any) -> Fields:
    """Return the fields of a configuration; for a class, those that its instances take."""
    hints = hints_of(value if isinstance(value, type) else type(value))
    if isinstance(value, Mapping):
        return {name: (setting, Any) for name, setting in value.items()}
    if dataclasses.is_dataclass(value):
        declared = [entry for entry in dataclasses.fields(value) if entry.init]
        defaults = [_default(entry) if isinstance(value, type) else getattr(value, entry.name) for entry in declared]
        return {entry.name: (default, hints.get(entry.name, entry.type)) for entry, default in zip(declared, defaults, strict=True)}
    if isinstance(value, type):
        parameters = _parameters(value)
        if not parameters and not hasattr(value, "_fields"):
            return fields_of(value())
        given = {name: one.default for name, one in parameters.items()}
        return {name: (default, hints.get(name, Any)) for name, default in given.items()}
    if hasattr(value, "_fields"):
        return {name: (getattr(value, name), hints.get(name, Any)) for name in value._fields}
    taken = _taken(value)
    return {name: (setting, hints.get(name, Any)) for name, setting in _attributes(value).items() if taken is None or name in taken}


def with_fields(value: Any, fields: Mapping[str, Any]) -> Any:
    """Return a configuration like another one, with other values of some fields; for a class, an instance with these."""
    if isinstance(value, type):
        return value(**fields) if dataclasses.is_dataclass(value) or _parameters(value) else with_fields(value(), fields)
    if hasattr(value, "_replace"):
        return value._replace(**fields)
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value, **fields)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType] - no class
    taken = None if isinstance(value, Mapping) else _taken(value)
    if taken is not None:
        return type(value)(**{name: getattr(value, name) for name in taken} | dict(fields))
    made = copy.copy(value)
    for name, setting in fields.items():
        if isinstance(made, Mapping):
            made[name] = setting  # type: ignore[index]
        else:
            setattr(made, name, setting)
    return made


def hints_of(thing: Any) -> Mapping[str, Any]:
    """Return the annotations of a class, of its constructor or of a function, those that can be looked up."""
    return {**_hints(thing), **_hints(vars(thing).get("__init__"))} if isinstance(thing, type) else _hints(thing)


def _hints(thing: Any) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(thing)
    except Exception:  # noqa: BLE001 - annotations are somebody else's code, and only help
        return {}


def _default(entry: dataclasses.Field[Any]) -> Any:
    default = entry.default if entry.default_factory is dataclasses.MISSING else entry.default_factory()
    return UNSAID if default is dataclasses.MISSING else default


def _parameters(cls: type) -> dict[str, inspect.Parameter]:
    """Return the parameters by name of a class's own constructor."""
    if not any({"__init__", "__new__"} & vars(base).keys() for base in cls.__mro__[:-1]):
        return {}
    try:
        parameters = inspect.signature(cls).parameters
    except (TypeError, ValueError):
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: one for name, one in parameters.items() if one.kind in named}


def _attributes(value: Any) -> dict[str, Any]:
    """Return the public attributes of an object or a class that are values: no functions and properties."""
    kind = value if isinstance(value, type) else type(value)
    found: dict[str, Any] = {}
    for holder in (*reversed(kind.__mro__), *([] if isinstance(value, type) else [value])):
        found |= {name: one for name, one in getattr(holder, "__dict__", {}).items() if holder is value or not hasattr(one, "__get__")}
    return {name: one for name, one in found.items() if not name.startswith("_")}


def _taken(value: Any) -> tuple[str, ...] | None:
    """Return the arguments from which the constructor makes an equal object, so that it computes the other attributes; None if it does not.

    Otherwise the attributes themselves are changed.
    """
    parameters = _parameters(type(value))
    known = vars(value)
    if not parameters or isinstance(value, _NAMESPACES) or not parameters.keys() <= known.keys():
        return None
    build: Callable[..., Any] = type(value)
    try:
        same = bool(vars(build(**{name: known[name] for name in parameters})) == known)
    except Exception:  # noqa: BLE001 - somebody else's constructor
        return None
    return tuple(parameters) if same else None
