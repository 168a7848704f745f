"""The values that keys have in published configurations of a type: what people have in their files is tried beside extreme values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from paramsym.atlas.published import published_records
from paramsym.atlas.reading import flattened
from paramsym.atlas.values import Value

_FILES = ("older_configs.json", "published_configs.json")


@cache
def published_values(model_type: str) -> Mapping[str, tuple[Value, ...]]:
    """Return the values of each key in the published configurations of a type."""
    folder = Path(__file__).parents[1] / "oracles"
    listed = [one for file in _FILES for one in json.loads((folder / file).read_text(encoding="utf-8")).values()]
    listed += [one.config for one in published_records().values()]
    found: dict[str, dict[Value, None]] = {}
    for config in (one for one in listed if one.get("model_type") == model_type):
        inside = frozenset(key for key, value in config.items() if isinstance(value, dict) and key.endswith("config"))
        for key, value in flattened(config, inside):
            found.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in found.items()}
