"""Arguments of timm's architectures that change no tensor, such as rates, strides and activations.

Each is tried alone; then every two flags, because one may have an effect with another; then many at once, with other classes and images.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import combinations
from typing import Any

from atlas_builder.timm_building import RefusedError
from atlas_builder.timm_calls import parameters, passed
from atlas_builder.timm_exploring import Explored

from paramsym.atlas.timm import SIDES

_RATES = (0.1, 0.9)
_WORDS = {
    "act_layer": ("relu", "gelu", "silu", "quick_gelu", "gelu_tanh", "hard_swish"),
    "output_stride": (32, 16, 8),
    "pad_type": ("", "same"),
}
_OF_RECORDS = frozenset({"num_classes", "in_chans", "global_pool", "img_size", *SIDES})


def unused(one: Explored) -> dict[str, Any]:
    """Return the domains of the arguments that change no tensor by themselves, nor with another flag."""
    stated = _stated(one.name)
    words = {key: same for key, tried in _candidates(stated) if len(same := [value for value in tried if _same(one, {key: value})]) > 1}
    other = {key: not stated[key] for key in words if isinstance(stated.get(key), bool)}
    pairs = [pair for pair in combinations(other, 2) if not _same(one, {key: other[key] for key in pair})]
    rates = {"number": [0.0, _RATES[-1]], "unused": True}
    return {
        **dict.fromkeys(_rates(one, stated), rates),
        **{key: {"words": same, "unused": True} for key, same in words.items() if not any(key in pair for pair in pairs)},
    }


def drawn(one: Explored, keys: Mapping[str, Any], share: float) -> dict[str, Any]:
    """Return values of some of the arguments that change no tensor."""
    return {
        key: one.draw.choice(domain["words"]) if "words" in domain else round(one.draw.uniform(*domain["number"]), 2)
        for key, domain in keys.items()
        if domain.get("unused") and one.draw.random() < share
    }


def fewer(keys: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the keys of a record: all, without flags and words that change no tensor, and without rates, too."""
    yield dict(keys)
    yield {key: domain for key, domain in keys.items() if not domain.get("unused") or "number" in domain}
    yield {key: domain for key, domain in keys.items() if not domain.get("unused")}


def _stated(name: str) -> dict[str, Any]:
    """Return the arguments of an architecture, and their defaults in its class."""
    network, given = passed(name)
    of_class = parameters(network) if inspect.isclass(network) else {}
    return {key: given.get(key, one.default) for key, one in of_class.items()}


def _candidates(stated: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the arguments that may change no tensor, with the values to try; some functions of timm take activations for their classes."""
    for key, value in {"act_layer": None, **stated}.items():
        if key in _WORDS:
            yield key, _WORDS[key]
        elif isinstance(value, bool) and key not in _OF_RECORDS:
            yield key, (True, False)


def _rates(one: Explored, stated: Mapping[str, Any]) -> list[str]:
    """Return the rates that change no tensor."""
    keys = [key for key in {"drop_rate": 0.0, "drop_path_rate": 0.0, **stated} if key.endswith("_rate")]
    if all(_same(one, dict.fromkeys(keys, rate)) for rate in _RATES):
        return keys
    return [key for key in keys if all(_same(one, {key: rate}) for rate in _RATES)]


def _same(one: Explored, arguments: Mapping[str, Any]) -> bool:
    with suppress(RefusedError):
        return one.build(**one.points[0], **arguments) == one.builds[0]
    return False
