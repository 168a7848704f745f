"""Values of configurations: how they are checked and shown in a message, and their hashable form.

In the hashable form lists are tuples, and objects are marked tuples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from paramsym.errors import ConfigError

Value: TypeAlias = Any
"""None, bool, int, float, str, or a tuple of those; an object is a tuple that begins with ``"{}"``, of pairs sorted by their keys."""

LARGEST = 2**63 - 1
"""No tensor of any framework has a longer axis."""
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


def refused(value: object, where: str, wanted: str) -> ConfigError:
    """Return the error about an impossible value.

    >>> print(refused(-1, "hidden_size", "a positive whole number"))
    hidden_size is -1 (int); wanted a positive whole number.
    """
    return ConfigError(f"{where} is {shown(value)}; wanted {wanted}.")


def whole(value: Any, where: str, least: int) -> int:
    """Return a whole number from ``least`` to the longest possible axis.

    Raises:
        ConfigError: anything else, also a float, a bool or a string with a whole value.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        wanted = "a positive whole number" if least else "a whole number, zero or more"
        limit = " below 2**63" if isinstance(value, int) and value > LARGEST else ""
        raise refused(value, where, f"{wanted}{limit}")
    return value


def shown(value: object, limit: int = 80) -> str:
    """Write an untrusted value for a message, shortened and with its type."""
    if isinstance(value, int) and abs(value) > 10**limit:
        return f"an int of about {value.bit_length() * 3 // 10} digits"
    if isinstance(value, list | tuple | dict | set) and len(value) > 8:
        return f"a {type(value).__name__} of {len(value)} entries"
    try:
        words = repr(value)
    except Exception:  # noqa: BLE001 - nested without end, or somebody's faulty class
        return f"a {type(value).__name__}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    words = words if len(words) <= limit else words[: limit - 3] + "..."
    return f"{words} ({type(value).__name__})"
