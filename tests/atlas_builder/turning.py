"""Find the settings of rotations that give the frequencies of a pass, and other settings that the reference reads as the formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from atlas_builder.seeing import Search

from paramsym.atlas.turns import BARE, BESIDE, PARAMETERS, SCALING, SHARE, THETA, Turns
from paramsym.atlas.values import Value, frozen_value
from paramsym.read.made import Made

_ALL = frozenset({"default", "linear", "llama3", "yarn", "proportional", THETA, SCALING, BARE, BESIDE})
_TRAINED = {"original_max_position_embeddings": 512}
_KINDS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "linear": {"factor": 4.0},
    "llama3": {"factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, **_TRAINED},
    "yarn": {"factor": 4.0, "attention_factor": 1.0, **_TRAINED},
    "proportional": {SHARE: 0.5},
}
_NEAR = 1e-5


def found(search: Search, number: int, entries: Any) -> Turns | None:
    """Return the settings whose frequencies an array has; None if there are none, or several."""
    if not (entries.dtype.kind == "f" and entries.ndim == 1 and entries.size > 1):
        return None
    fitting = [one for one in _candidates(search, number) if _fits(one.rope({}), entries)]
    changed = _apart(search)
    if len(fitting) > 1:
        other = search.seen(changed).entries[number]
        fitting = [one for one in fitting if _fits(one.rope(changed), other)]
    if len(fitting) != 1:
        return None
    (turns,) = fitting
    names = [name for name, one in search.buffers().items() if one.shape == entries.shape and np.array_equal(one, entries)]
    ways: set[str] = set()
    for way, values in _ways(turns):
        if all(one in _ALL for one in way) and _follows(search, turns, names, values):
            ways |= way
    return replace(turns, verified=frozenset(ways))


def _candidates(search: Search, number: int) -> Iterator[Turns]:
    for owner, inside in search.prefixes():
        stated = getattr(owner, PARAMETERS, None) or ({THETA: owner.rope_theta} if hasattr(owner, THETA) else None)
        if isinstance(stated, Mapping):
            kinds = {key: one for key, one in stated.items() if isinstance(one, Mapping)}
            for layers, settings in kinds.items() or [(None, stated)]:
                yield Turns(number, inside, layers, dict(settings), _ALL)


def _apart(search: Search) -> dict[str, Value]:
    """Return other settings, in which each frequencies have a base of their own."""
    found: dict[str, dict[str | None, Any]] = {}
    for place, one in enumerate(_candidates(search, 0)):
        found.setdefault(one.inside, {})[one.layers] = {**one.settings, THETA: one.settings[THETA] * (1.5 + place / 4)}
    return {inside + PARAMETERS: frozen_value(kinds.get(None, kinds)) for inside, kinds in found.items()}


def _ways(turns: Turns) -> Iterator[tuple[set[str], dict[str, Value]]]:
    """Yield what other settings show, and these settings."""
    base, inside = float(turns.settings[THETA]) * 2.5, turns.inside
    others = {key: value for key, value in turns.settings.items() if key not in {THETA, "rope_type", "type"}}
    own = str(turns.settings.get("rope_type", "default"))

    def stated(settings: Mapping[str, Any]) -> Value:
        return frozen_value(settings if turns.layers is None else {turns.layers: settings})

    yield {own}, {inside + PARAMETERS: stated({**others, "rope_type": own, THETA: base})}
    for kind, numbers in _KINDS.items():
        share = {} if kind == "proportional" or SHARE not in others else {SHARE: others[SHARE]}
        yield {kind}, {inside + PARAMETERS: stated({"rope_type": kind, THETA: base, **share, **numbers})}
    yield {THETA}, {inside + THETA: base}
    yield {BARE}, {inside + PARAMETERS: stated({"rope_type": "linear", "factor": 4.0})}
    yield {BESIDE}, {inside + PARAMETERS: stated({"rope_type": "linear", "factor": 4.0}), inside + THETA: base}
    yield {SCALING}, {inside + SCALING: stated({"type": "linear", "factor": 4.0}), inside + THETA: base}


def _follows(search: Search, turns: Turns, names: list[str], values: Mapping[str, Value]) -> bool:
    """Whether the reference has the frequencies of other settings as well."""
    rope = turns.rope(values)
    try:
        buffers = search.buffers(values)
    except Exception:  # noqa: BLE001 - somebody else's code may raise anything
        return False
    return rope is not None and any(_fits(rope, buffers[name]) for name in names if name in buffers)


def _fits(rope: Any, entries: Any) -> bool:
    return rope is not None and bool(np.allclose(Made("turns", (rope,)).array(np, entries.shape), entries, rtol=_NEAR, atol=0))
