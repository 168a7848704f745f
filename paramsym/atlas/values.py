"""Values of configurations in hashable form: lists as tuples, objects as marked tuples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from paramsym.errors import ConfigError

Value: TypeAlias = Any
"""None, bool, int, float, str, or a tuple of those; an object is a tuple that begins with ``"{}"``, of pairs sorted by their keys."""

_OBJECT = "{}"
ENDLESS = ("NaN", "Infinity", "-Infinity")
"""How the numbers that JSON does not have are written."""


def frozen_value(value: Any) -> Value:
    """Return a JSON value in hashable form.

    Infinity becomes a word: JSON has no number for it. The reference writes ``{"__float__": "Infinity"}``, other programs write ``"inf"``.

    >>> frozen_value([1, {"a": [2]}]), frozen_value([0.0, {"__float__": "Infinity"}]), frozen_value([0.0, "inf"])
    ((1, ('{}', ('a', (2,)))), (0.0, 'Infinity'), (0.0, 'Infinity'))
    """
    if isinstance(value, Mapping) and list(value) == ["__float__"]:
        return str(value["__float__"])
    if isinstance(value, str):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(value, value)
    if isinstance(value, Mapping):
        return object_of({str(key): frozen_value(inner) for key, inner in value.items()})
    if isinstance(value, list | tuple):
        if list(value[:1]) == [_OBJECT]:
            raise ConfigError(f"a list begins with {_OBJECT!r}, which marks an object in records; no key has such a list.")
        return tuple(frozen_value(inner) for inner in value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


def object_of(pairs: Mapping[str, Value]) -> Value:
    """Return an object; the order in which its keys are written means nothing.

    >>> object_of({"b": 1, "a": 2}) == object_of({"a": 2, "b": 1})
    True
    """
    return (_OBJECT, *sorted(pairs.items(), key=lambda pair: pair[0]))


def recorded_value(value: Any) -> Value:
    """Return a value of a record in hashable form; records keep an object as a list of its marker and its pairs.

    Raises:
        TypeError, ValueError: an object whose entries are no pairs.

    >>> recorded_value([1, ["{}", ["b", 2], ["a", [3]]]])
    (1, ('{}', ('a', (3,)), ('b', 2)))
    """
    if not isinstance(value, list | tuple):
        return frozen_value(value)
    if list(value[:1]) == [_OBJECT]:
        return object_of({key: recorded_value(inner) for key, inner in value[1:]})
    return tuple(recorded_value(inner) for inner in value)
