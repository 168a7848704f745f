"""Values of configurations in hashable form: lists as tuples, objects as marked tuples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""None, bool, int, float, str, or a tuple of those; an object is a tuple that begins with ``"{}"``, of pairs."""


def frozen_value(value: Any) -> Value:
    """Return a JSON value in hashable form.

    >>> frozen_value([1, {"a": [2]}])
    (1, ('{}', ('a', (2,))))
    """
    if isinstance(value, Mapping):
        return ("{}", *((str(key), frozen_value(inner)) for key, inner in value.items()))
    if isinstance(value, list | tuple):
        return tuple(frozen_value(inner) for inner in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
