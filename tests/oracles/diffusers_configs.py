"""Random configurations of diffusers' networks, drawn from the signature of the constructor; only words come from the records.

The draws follow other rules than those of the search: widths may be equal, odd, or large; several keys change at once.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Mapping
from typing import Any

from paramsym.atlas.record import diffusers_index, record_of

_DEPTH = re.compile(r"^(?!.*channels).*(layers|blocks|depth)")
_GROUPS = 32


def parameters(network: type) -> dict[str, Any]:
    """Return the default of each argument of the constructor; of one without a default, None."""
    found = list(inspect.signature(network.__init__).parameters.values())[1:]  # type: ignore[misc]
    return {one.name: None if one.default is one.empty else one.default for one in found}


def drawn(network: type, label: str, rng: random.Random) -> dict[str, Any]:
    """Return a configuration with the lengths of lists of a record."""
    name = network.__name__
    lengths = diffusers_index()["classes"][name]["lengths"][label]
    (entry,) = record_of(f"diffusers/{name}" + (f"/{label}" if label else ""))["classes"].values()
    config: dict[str, Any] = {"_class_name": name}
    share = rng.choice((0.1, 0.3, 0.6))
    for key, value in parameters(network).items():
        words = {place: _words(entry["keys"].get(f"{key}_{place}", {})) for place in range(lengths.get(key, 0))}
        deep = bool(_DEPTH.search(key)) and isinstance(value, int) and not isinstance(value, bool) and value > 4
        if key in lengths and (
            rng.random() < share or not isinstance(value, list | tuple) or len(value) != lengths[key] or "channels" in key
        ):
            whole = value if isinstance(value, list | tuple) else [value]
            config[key] = [_other(key, whole[min(place, len(whole) - 1)], words[place], rng) for place in words]
            if key in diffusers_index()["classes"][name]["spread"] and rng.random() < 0.5:
                config[key] = config[key][0]
        elif key not in lengths and (deep or rng.random() < share) and not isinstance(value, list | tuple):
            config[key] = _other(key, value, _words(entry["keys"].get(key, {})), rng)
    return config


def _words(domain: Mapping[str, Any]) -> list[Any]:
    return [one for one in domain.get("words", ()) if one is None or isinstance(one, str | bool)]


def _other(key: str, value: Any, words: list[Any], rng: random.Random) -> Any:
    """Return another value of the same kind, or one of the words."""
    if words and rng.random() < 0.7:
        return rng.choice(words)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        if _DEPTH.search(key):
            return rng.choice((1, 2, 3, 4, 5, 7, 11))
        if "channels" in key and value % _GROUPS == 0:
            return _GROUPS * rng.choice((1, 1, 2, 2, 3, 4, 5, 40))
        return rng.choice(
            (value, value + 1, max(1, value - 1), 2 * value, max(1, value // 2), rng.randint(1, 9), 8 * rng.randint(1, 40), 0)
        )
    if isinstance(value, float):
        return value * rng.choice((0.5, 1.0, 2.0))
    return rng.choice((1, 2, 16, 24, 33)) if value is None else value
