"""Keys with dots as inner configurations."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def nested(flat: Mapping[str, Any], start: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Put keys with dots into inner configurations, those of ``start`` included."""
    made: dict[str, Any] = copy.deepcopy(dict(start or {}))
    for key, value in flat.items():
        *above, last = key.split(".")
        inner = made
        for step in above:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return made
