"""Values of configurations in hashable form: lists as tuples, objects as marked tuples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""None, bool, int, float, str, or a tuple of those; an object is a tuple that begins with ``"{}"``, of pairs."""


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
        return ("{}", *((str(key), frozen_value(inner)) for key, inner in value.items()))
    if isinstance(value, list | tuple):
        return tuple(frozen_value(inner) for inner in value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)
