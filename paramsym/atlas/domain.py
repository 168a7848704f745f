"""The verified values of a key, and the meaning of a missing key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from paramsym.atlas.expression import OutsideError, chosen, evaluated
from paramsym.atlas.indices import indices
from paramsym.atlas.values import Value
from paramsym.models.keys import shown

BEYOND = 64
"""The largest allowed number, as a multiple of the largest tested one."""


def verified(domain: Mapping[str, Any], value: Value) -> bool:
    """Whether a value was verified.

    >>> verified({"whole": [1, 8]}, 512), verified({"whole": [1, 8]}, 0), verified({"words": ["gelu", None]}, None)
    (True, False, True)
    >>> verified({"whole": [8, 8]}, 8), verified({"whole": [8, 8]}, 16)
    (True, False)
    """
    if domain.get("any"):
        return True
    if any(type(one) is type(value) and one == value for one in domain.get("words", ())):
        return True
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return False
    if isinstance(value, int) and "whole" in domain:
        low, high = domain["whole"]
        return bool(low <= value <= (high if low == high else BEYOND * high))  # a test of one size says nothing about others
    if isinstance(value, int | float) and "number" in domain:
        return math.isfinite(value) and bool(domain["number"][0] <= value <= domain["number"][1])
    if isinstance(value, tuple) and value[:1] == ("{}",):
        return bool(domain.get("object"))
    if isinstance(value, tuple) and "entries" in domain:
        low, high = domain["length"]
        return low <= len(value) <= high and all(verified(domain["entries"], one) for one in value)
    return False


def said(domain: Mapping[str, Any]) -> str:
    """Return the verified values, in words.

    >>> said({"whole": [1, 8], "words": [None]})
    'null, whole numbers from 1 (tested to 8)'
    """
    words = [{None: "null", True: "true", False: "false"}.get(one, repr(one)) for one in domain.get("words", ())]
    if "whole" in domain:
        low, high = domain["whole"]
        words.append(str(low) if low == high else f"whole numbers from {low} (tested to {high:,})")
    if "number" in domain:
        words.append(f"numbers from {domain['number'][0]:g} to {domain['number'][1]:g}")
    if "entries" in domain:
        low, high = domain["length"]
        words.append(f"lists of {low} to {high} entries of: {said(domain['entries'])}")
    return ", ".join(words) or "its default"


def check_verified(key: str, domain: Mapping[str, Any], value: Value) -> None:
    """Refuse a value that was not verified.

    Raises:
        OutsideError: the message has the key, the value and the verified values.
    """
    if not verified(domain, value):
        message = f"{key} is {shown(_thawed(value))}, for which the form was not verified; wanted {said(domain)}."
        raise OutsideError(message)


def _thawed(value: Value) -> Any:
    if isinstance(value, tuple) and value[:1] == ("{}",):
        return {pair[0]: pair[1] for pair in value[1:]}
    return list(value) if isinstance(value, tuple) else value


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
            message = f"{operands[0]} is not known."
            raise OutsideError(message)
        return values[operands[0]]
    if kind == "cases":
        return chosen(values, *operands)
    if kind == "numbers":  # of copies
        return tuple(indices(values, operands[0], evaluated(values, operands[1])))
    length = evaluated(values, operands[0])  # "list"
    entries: list[Any] = [None] * length
    filled = 0
    for entry, where in operands[1]:
        for index in indices(values, where, length):
            entries[index] = entry
            filled += 1
    if filled != length:
        message = f"a list of {length} entries would have {filled}."
        raise OutsideError(message)
    return tuple(entries)
