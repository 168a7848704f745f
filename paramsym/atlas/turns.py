"""The frequencies of rotations in a recorded pass: those of the configuration in place of the default's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paramsym.atlas.domain import thawed
from paramsym.atlas.values import Value
from paramsym.read.made import Made
from paramsym.read.recording import Recording

KEYS = ("rope_parameters", "rope_scaling", "rope_theta")
"""The keys that say how positions turn heads; no operator depends on their numbers."""
RULE = "turns"


def with_turns(recording: Recording, values: Mapping[str, Value]) -> Recording:
    """Return a recording with the base that a configuration gives; frequencies that no rule has are left without entries."""
    given = {key: thawed(values[key]) for key in KEYS if values.get(key) is not None}
    turns = {number: one for number, one in recording.constants.items() if isinstance(one.data, Made) and one.data.rule == RULE}
    if not given or not turns:
        return recording
    bases = {one.data.numbers for one in turns.values()}
    base = _base_of(given, bases.pop()[0]) if len(bases) == 1 else None
    made = None if base is None else Made(RULE, (base,))
    return replace(recording, constants={**recording.constants, **{number: replace(one, data=made) for number, one in turns.items()}})


def _base_of(given: Mapping[str, Any], usual: float) -> float | None:
    """Return the base of unscaled frequencies; None if they are scaled, or differ from layer to layer."""
    settings = given.get("rope_parameters", given.get("rope_scaling", {}))
    if not isinstance(settings, Mapping) or settings.get("rope_type", settings.get("type", "default")) != "default":
        return None
    base = settings.get("rope_theta", given.get("rope_theta", usual))
    return float(base) if isinstance(base, int | float) and not any(isinstance(one, Mapping) for one in settings.values()) else None
