"""The verified values of one key, lists and their entries included, and the meaning of a missing key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from paramsym.atlas.expression import OutsideError, chosen, evaluated
from paramsym.atlas.indices import indices
from paramsym.atlas.values import ENDLESS, Value, object_of, shown

_FEW = 3
"""How many objects a message shows."""
BEYOND = 64
"""The largest allowed number, as a multiple of the largest tested one; of a key on which no tensor depends, the square of this."""


def verified(domain: Mapping[str, Any], value: Value) -> bool:
    """Whether a value was verified.

    >>> verified({"whole": [1, 8]}, 512), verified({"whole": [1, 8]}, 0), verified({"words": ["gelu", None]}, None)
    (True, False, True)
    >>> verified({"whole": [8, 8]}, 8), verified({"whole": [8, 8]}, 16), verified({"whole": [8, 64], "of": 8}, 12)
    (True, False, False)
    >>> verified({"entries": {"words": ["a", "b"]}, "length": [1, 9], "last": {"words": ["b"]}}, ("b", "a"))
    False
    """
    if domain.get("any"):
        return True
    if any(type(one) is type(value) and one == value for one in domain.get("words", ())):
        return True
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return False
    if isinstance(value, int) and "whole" in domain:
        low, high = domain["whole"]
        if low <= value <= largest(low, high, domain) and value % domain.get("of", 1) == 0:
            return True
    if isinstance(value, int | float) and "number" in domain:
        low, high = domain["number"]
        return math.isfinite(value) and bool(low <= value <= high)
    if isinstance(value, tuple) and value[:1] == ("{}",):
        return bool(domain.get("object")) or ("layers" in domain and _of_layers_verified(domain["layers"], value))
    if isinstance(value, tuple) and "entries" in domain:
        low, high = domain["length"]
        ends = "last" not in domain or not value or verified(domain["last"], value[-1])
        return low <= len(value) <= high and ends and all(verified(domain["entries"], one) for one in value)
    return False


def _of_layers_verified(domains: Mapping[str, Any], value: Value) -> bool:
    """Whether each layer that an object has settings for has known ones with verified values."""
    for number, settings in value[1:]:
        if not number.isdigit() or not isinstance(settings, tuple) or settings[:1] != ("{}",):
            return False
        if not all(name in domains and verified(domains[name], one) for name, one in settings[1:]):
            return False
    return True


def largest(low: int, high: int, domain: Mapping[str, Any]) -> int:
    """Return the largest allowed number for the least and the largest tested one; a test of one size says nothing about others."""
    return high if low == high else BEYOND ** (2 if domain.get("unused") else 1) * high


def said(domain: Mapping[str, Any]) -> str:
    """Return the verified values, in words.

    >>> said({"whole": [1, 8], "words": [None]}), said({"words": [0.0]})
    ('null, whole numbers from 1 (tested to 8)', '0.0')
    >>> said({"words": [(64, 192)]})
    '[64, 192]'
    """
    seen = [{"None": "null", "True": "true", "False": "false"}.get(repr(one), repr(thawed(one))) for one in domain.get("words", ())]
    objects = [one for one in seen if one.startswith("{")]
    words = [one for one in seen if one not in objects[_FEW:]] + [f"{len(objects) - _FEW} other objects"] * (len(objects) > _FEW)
    if "whole" in domain:
        low, high = domain["whole"]
        numbers = f"multiples of {domain['of']}" if "of" in domain else "whole numbers"
        words.append(str(low) if low == high else f"{numbers} from {low} (tested to {high:,})")
    if "number" in domain:
        words.append(f"numbers from {domain['number'][0]:g} to {domain['number'][1]:g}")
    if "entries" in domain:
        low, high = domain["length"]
        last = f"; the last entry is one of: {said(domain['last'])}" if "last" in domain else ""
        words.append(f"lists of {low} to {high} entries of: {said(domain['entries'])}{last}")
    if "layers" in domain:
        words += [f"{name} of single layers: {said(one)}" for name, one in domain["layers"].items()]
    return ", ".join(words) or "its default"


def check_verified(key: str, domain: Mapping[str, Any], value: Value) -> None:
    """Refuse a value that was not verified.

    Raises:
        OutsideError: the message has the key, the value and the verified values.
    """
    if not verified(domain, value):
        raise OutsideError(f"{key} is {shown(thawed(value))}, for which the form was not verified; wanted {said(domain)}.")


def thawed(value: Value) -> Any:
    """Return a value as JSON has it.

    >>> thawed(("{}", ("a", (1, 2))))
    {'a': [1, 2]}
    """
    if isinstance(value, tuple) and value[:1] == ("{}",):
        return {key: thawed(inner) for key, inner in value[1:]}
    if isinstance(value, tuple):
        return [thawed(inner) for inner in value]
    return float(value) if isinstance(value, str) and value in ENDLESS else value


def default(rule: Any, values: Mapping[str, Value]) -> Value:
    """Return the meaning of a missing key: a value, an expression of other keys, or a list whose entries follow laws.

    Raises:
        OutsideError: a rule that needs a missing key.
    """
    kind, *operands = rule
    if kind == "is":
        return operands[0]
    if kind == "expression":
        return evaluated(values, operands[0])
    if kind == "same":  # equal to another key
        if operands[0] not in values:
            raise OutsideError(f"{operands[0]} is not known.")
        return values[operands[0]]
    if kind == "cases":
        return chosen(values, *operands)
    if kind == "each":
        return _of_layers(values, *operands)
    if kind == "numbers":  # of copies
        return tuple(indices(values, operands[0], evaluated(values, operands[1])))
    return _list(values, *operands)


def _of_layers(values: Mapping[str, Value], key: str, word: str, settings: Value) -> Value:
    """Return settings for the layers of one kind, under their numbers."""
    held = values.get(key)
    if not isinstance(held, tuple):
        raise OutsideError(f"{key} is not a list.")
    digits = len(str(len(held) - 1))
    return object_of({str(number).zfill(digits): settings for number, one in enumerate(held) if one == word})


def _list(values: Mapping[str, Value], size: Any, laws: Any) -> Value:
    """Return a list whose entries follow laws."""
    length = evaluated(values, size)
    entries: list[Any] = [None] * length
    filled = 0
    for entry, where in laws:
        for index in indices(values, where, length):
            entries[index] = entry
            filled += 1
    if filled != length:
        raise OutsideError(f"a list of {length} entries would have {filled}.")
    return tuple(entries)


def relisted(keys: Mapping[str, Any], before: Mapping[str, Value], after: Mapping[str, Value]) -> Mapping[str, Value]:
    """Renew the lists that are defaults: the kinds of all layers follow the depth, so they change when the depth changes.

    >>> keys = {"kinds": {"missing": ["list", ["+", [[1, 1, [["depth", 1]]]]], [["full", ["all"]]]]}}
    >>> relisted(keys, {"depth": 1, "kinds": ("full",)}, {"depth": 2, "kinds": ("full",)})["kinds"]
    ('full', 'full')
    """
    found = dict(after)
    for key, domain in keys.items():
        rule = domain.get("missing") or ["is"]
        if rule[0] in {"list", "numbers"} and isinstance(before.get(key), tuple) and _given(rule, before) == before[key]:
            found[key] = default(rule, found)
    return found


def default_follows(keys: Mapping[str, Any], before: Mapping[str, Value], after: Mapping[str, Value]) -> bool:
    """Whether a key that has its default would have another one after a change, such as the number of the last layer with experts.

    >>> keys = {"last": {"missing": ["expression", ["+", [[1, 1, [["depth", 1]]]]]]}}
    >>> default_follows(keys, {"depth": 4, "last": 4}, {"depth": 5, "last": 4})
    True
    """
    for key, domain in keys.items():
        rule = domain.get("missing") or ["is"]
        if rule[0] not in {"is", "list", "numbers"} and key in before and _given(rule, before) == before[key] != _given(rule, after):
            return True
    return False


def _given(rule: Any, values: Mapping[str, Value]) -> Value:
    """Return what a rule gives for a missing key; None if it gives nothing."""
    try:
        return default(rule, values)
    except OutsideError:
        return None
