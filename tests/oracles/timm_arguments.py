"""Random arguments of timm's architectures, drawn from the signature of the class; only words come from the records.

The draws follow other rules than those of the search: widths may be equal, odd, zero or large; several arguments change at once.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from paramsym.atlas.files import record_of
from paramsym.atlas.timm_classes import timm_classes_index

_DEPTH = re.compile(r"depth|layers|blocks")
_MOST = 12


def labels() -> list[tuple[str, str, str]]:
    """Return the class, the style and the label of each record."""
    classes = timm_classes_index()["classes"].items()
    return [(name, style, label) for name, one in classes for style, lengths in one["styles"].items() for label in lengths]


def architectures(name: str, style: str) -> list[str]:
    """Return the architectures of a style."""
    return [one for one, (of, its, _, _) in timm_classes_index()["names"].items() if (of, its) == (name, style)]


def drawn(network: type, style: str, label: str, name: str, rng: random.Random) -> dict[str, Any]:
    """Return arguments of an architecture, for lists of the lengths of a record."""
    of_class = timm_classes_index()["classes"][network.__name__]
    lengths = of_class["styles"][style][label]
    (entry,) = record_of(f"timm/{network.__name__}/{label}")["classes"].values()
    plain = {**of_class["defaults"], **timm_classes_index()["names"][name][2]}
    closed = timm_classes_index()["names"][name][3]
    share = rng.choice((0.04, 0.1, 0.2, 0.5))
    found: dict[str, Any] = {}
    for key in sorted({*plain, *_signature(network)}.difference(closed)):
        value = plain.get(key)
        if key in lengths and (rng.random() < share or not isinstance(value, list) or len(value) != lengths[key] or _DEPTH.search(key)):
            whole = _of_length(value, lengths[key])
            found[key] = [_other(_entry(key, place), one, entry, rng) for place, one in enumerate(whole)]
            if rng.random() < 0.2:
                found[key] = found[key][0] if rng.random() < 0.5 else [found[key][0]] * len(whole)
        elif key not in lengths and not isinstance(value, list) and (rng.random() < share or (_DEPTH.search(key) and rng.random() < 0.9)):
            found[key] = _other(key, value, entry, rng)
    return _divisible(found, plain, rng) if rng.random() < 0.7 else found


def _signature(network: type) -> set[str]:
    return set(inspect.signature(network).parameters) - {"args", "kwargs", "device", "dtype", "cfg"}


def _of_length(value: Any, length: int) -> list[Any]:
    whole = list(value) if isinstance(value, Sequence) and not isinstance(value, str) and value else [value]
    return [whole[min(place, len(whole) - 1)] for place in range(length)]


def _entry(key: str, place: int) -> str:
    return ("img_height", "img_width")[place] if key == "img_size" else f"{key}_{place}"


def _other(key: str, value: Any, entry: Mapping[str, Any], rng: random.Random) -> Any:
    """Return another value of the same kind, or one of the words of the record."""
    if key == "num_classes":
        return rng.choice((0, 0, 1, 7, 4096))
    domain = entry["keys"].get(key, {})
    words = [one for one in domain.get("words", ()) if isinstance(one, str | bool)]
    if words and (rng.random() < 0.7 or value is None):
        return rng.choice(words)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        if _DEPTH.search(key):
            return rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, _MOST))
        near = (value, value + 1, max(1, value - 1), 2 * value, 3 * value, max(1, value // 2))
        return rng.choice((*near, rng.randint(0, 9), 8 * rng.randint(1, 40), 16 * rng.randint(1, 30), 4096))
    if isinstance(value, float):
        return value * rng.choice((0.5, 1.0, 2.0, 0.0, 1.1, 0.83))
    return rng.choice((0, 1, 2, 0.5, 1e-5, 16, 24, 33)) if value is None else value


def _divisible(found: dict[str, Any], plain: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Let widths be multiples of the numbers of heads, so that more draws can be built."""
    heads = next((key for key in ("num_heads", "heads") if key in plain), None)
    width = next((key for key in ("embed_dim", "embed_dims", "base_dims") if key in plain), None)
    if heads is None or width is None:
        return found
    one, other = found.get(heads, plain[heads]), plain[width]
    if isinstance(other, list):
        numbers = one if isinstance(one, list) else [one] * len(other)
        return {**found, width: [max(1, number) * rng.randint(1, 40) for number in numbers][: len(other)]}
    least = one if isinstance(one, int) else max(one, default=1)
    return {**found, width: max(1, least) * rng.randint(1, 80)}
