"""The default as the reference saves it, with every key: what it has for known keys is accepted."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from atlas_builder.reference import LAYERS, Reference, RefusedError

from paramsym.atlas.domain import verified
from paramsym.atlas.reading import flattened
from paramsym.atlas.values import Value, object_of

_FEWEST = 5


def accept_saved(entry: dict[str, Any], reference: Reference, inside: Sequence[str]) -> None:
    """Add the values that the saved default has for known keys to the verified ones: written out, they mean what they mean if missing.

    If the default alone is recorded, the same holds for settings of single layers; otherwise, for those that no tensor depends on.
    """
    saved = reference.config_class(**reference.arguments(reference.start)).to_json_string(use_diff=False)
    for key, value in flattened(json.loads(saved), frozenset(inside)):
        domain = entry["keys"].get(key)
        if key.rpartition(".")[2] == LAYERS and value is not None and (domain is None or entry["certificate"].get("held")):
            found = {"words": [None, value]} if entry["certificate"].get("held") else _of_layers(entry, reference, key, value)
            if found is not None:
                entry["keys"][key] = {**found, "missing": ["is", None], "unused": True}
        elif domain is not None and not domain.get("derived") and not verified(domain, value):
            domain["words"] = [*domain.get("words", ()), value]


def _of_layers(entry: Mapping[str, Any], reference: Reference, key: str, value: Value) -> dict[str, Any] | None:
    """Return the domain of settings of single layers; None if a tensor may depend on one of them."""
    prefix = key[: -len(LAYERS)]
    found: dict[str, dict[str, Any]] = {}
    for _, settings in value[1:]:
        for name, setting in settings[1:]:
            domain = {"any": True} if prefix + name in entry["free"] else entry["keys"].get(prefix + name)
            if domain is None or not (domain.get("any") or domain.get("unused")):
                return None
            kept = {which: what for which, what in domain.items() if which not in {"missing", "null", "unused", "absent"}}
            kept = found.setdefault(name, kept)
            if not verified(kept, setting):
                kept["words"] = [*kept.get("words", ()), setting]
    return {"words": [None], "layers": found} if _indifferent(reference, key, value) else None


def _indifferent(reference: Reference, key: str, value: Value) -> bool:
    """Whether the default has the same tensors with other settings of one of its layers; False if few of them are built."""
    saved = dict(value[1:])
    others = [{one: what for one, what in saved.items() if one != number} for number in saved]
    others += [{**saved, number: setting} for number in saved for setting in dict.fromkeys(saved.values()) if setting != saved[number]]
    found = []
    for settings in others:
        with contextlib.suppress(RefusedError):
            found.append(reference.aside({**reference.start, key: object_of(settings)}))
    return len(found) >= _FEWEST and all(one == reference.build(reference.start).tensors for one in found)
