"""Random configurations of diffusers' networks, drawn from the signature of the constructor; only words come from the records.

The draws follow other rules than those of the search: widths may be equal, odd, or large; several keys change at once.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Mapping
from typing import Any

from paramsym.atlas.domain import verified
from paramsym.atlas.files import diffusers_index, record_of
from paramsym.atlas.values import frozen_value

_DEPTH = re.compile(r"^(?!.*channels).*(layers|blocks|depth)")
_GROUPS = 32


def parameters(network: type) -> dict[str, Any]:
    """Return the default of each argument of the constructor; of one without a default, None."""
    found = list(inspect.signature(network.__init__).parameters.values())[1:]  # type: ignore[misc]
    return {one.name: None if one.default is one.empty else one.default for one in found}


def drawn(network: type, label: str, rng: random.Random) -> dict[str, Any]:
    """Return a configuration with the lengths of lists of a record, and with the words that choose it."""
    name = network.__name__
    index = diffusers_index()["classes"][name]
    lengths, chosen = index["lengths"][label], index.get("words", {}).get(label, {})
    (entry,) = record_of(f"diffusers/{name}" + (f"/{label}" if label else ""))["classes"].values()
    config: dict[str, Any] = {"_class_name": name, **chosen}
    share = rng.choice((0.1, 0.3, 0.6))
    for key, value in parameters(network).items():
        domain = entry["keys"].get(key, {})
        if key in lengths:
            if rng.random() < share or "channels" in key or not _fits(entry, key, value, lengths[key]):
                config[key] = _drawn_list(entry, key, value, lengths[key], rng)
                if key in index["spread"] and rng.random() < (0.5 if len(set(config[key])) == 1 else 0.1):
                    config[key] = config[key][0]
        elif key not in chosen:
            only = domain.get("words", ()) if domain.keys() <= {"words", "unused"} else _single(domain)
            needed = value is None and domain and None not in domain.get("words", ())
            if only and frozen_value(value) not in only:
                config[key] = _thawed(rng.choice(only))
            elif needed or (not isinstance(value, list | tuple) and (_is_deep(key, value) or rng.random() < share)):
                config[key] = _other(key, value, _words(domain), rng)
    return config


def _drawn_list(entry: Mapping[str, Any], key: str, value: Any, length: int, rng: random.Random) -> list[Any]:
    whole = value if isinstance(value, list | tuple) else [value]
    words = [_words(entry["keys"].get(f"{key}_{place}", {})) for place in range(length)]
    return [_other(key, whole[min(place, len(whole) - 1)], words[place], rng) for place in range(length)]


def _is_deep(key: str, value: Any) -> bool:
    """Whether a default has many layers, which are slow to build."""
    return bool(_DEPTH.search(key)) and isinstance(value, int) and not isinstance(value, bool) and value > 4


def _fits(entry: Mapping[str, Any], key: str, values: Any, length: int) -> bool:
    """Whether a default is a list with this number of entries, which were verified."""
    if not isinstance(values, list | tuple) or len(values) != length:
        return False
    return all(verified(entry["keys"].get(f"{key}_{place}", {}), one) for place, one in enumerate(values))


def _words(domain: Mapping[str, Any]) -> list[Any]:
    """Return the words of a key; of one with a single value, this value."""
    words = list(domain.get("words", ()))
    if not domain.keys() - {"words", "unused"}:
        return [one for one in words if not isinstance(one, tuple)]
    return _single(domain) or [one for one in words if one is None or isinstance(one, str | bool)]


def _single(domain: Mapping[str, Any]) -> list[Any]:
    """Return the number of a key for which only one was verified."""
    least, most = domain.get("whole", (0, 1))
    return [least] if least == most and not domain.get("words") else []


def _thawed(value: Any) -> Any:
    """Return a value of a record as JSON has it."""
    if not isinstance(value, tuple):
        return value
    return {key: _thawed(one) for key, one in value[1:]} if value[:1] == ("{}",) else [_thawed(one) for one in value]


def _other(key: str, value: Any, words: list[Any], rng: random.Random) -> Any:
    """Return another value of the same kind, or one of the words."""
    if words and rng.random() < (0.98 if len(words) == 1 and words[0] is not None else 0.7):
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
