"""The frequencies of rotations in a recorded pass: those of the configuration in place of the default's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramsym.atlas.domain import thawed
from paramsym.atlas.values import Value
from paramsym.program.rotary import Rope

PARAMETERS, SCALING, THETA, SHARE = "rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor"
KEYS = (PARAMETERS, SCALING, THETA, SHARE)
"""The keys that say how positions turn heads; no operator depends on their numbers."""
BARE, BESIDE = "bare", "beside"
"""Settings without a base: the configuration has none, or has it beside them."""
_SAME_NAMES = "factor attention_factor low_freq_factor high_freq_factor beta_fast beta_slow truncate mscale mscale_all_dim"
SETTINGS: Mapping[str, str] = {
    THETA: "theta",
    "original_max_position_embeddings": "original_positions",
    **{name: name for name in _SAME_NAMES.split()},
}
"""The fields of :class:`Rope` by their names in a configuration, without the lists of "longrope"."""
_WANTED: Mapping[str, Sequence[str]] = {
    "default": (),
    "linear": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "yarn": ("factor", "original_max_position_embeddings"),
    "proportional": (),
}
"""The settings without which a kind is not known; frequencies of other kinds depend on the length of the text."""


@dataclass(frozen=True)
class Turns:
    """The frequencies in the array ``number``.

    ``inside`` is the path of their configuration, and ``layers`` the kind of layers that they turn, if kinds have separate ones.
    ``settings`` are the default's. ``verified`` are other settings with which the reference gave the frequencies of the formulas: words of
    ``rope_type``, keys, and how the base is missing.
    """

    number: int
    inside: str
    layers: str | None
    settings: Mapping[str, Any]
    verified: frozenset[str]

    def rope(self, values: Mapping[str, Value], *, any_share: bool = False) -> Rope | None:
        """Return the settings that a configuration gives; None if they are not known.

        With ``any_share`` the number of rotated entries is a letter, so that the share may be another one than the default's.
        """
        given = {key: thawed(values[self.inside + key]) for key in KEYS if values.get(self.inside + key) is not None}
        if any_share and SHARE in self.settings:
            usual_share = {SHARE: self.settings[SHARE]}
            given = {key: {**one, **usual_share} if isinstance(one, Mapping) else one for key, one in given.items() if key != SHARE}
        found = self._given(given)
        usual, rope = rope_of(self.settings), None if found is None else rope_of(found)
        return rope if rope is not None and usual is not None and rope.amplitude == usual.amplitude else None

    def _given(self, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the settings of these layers; None if it was not verified that the reference reads them so."""
        share = given.get(SHARE, self.settings.get(SHARE))
        stated = given.get(SCALING) or given.get(PARAMETERS)
        if not stated:
            found = {**self.settings, THETA: given.get(THETA, self.settings.get(THETA))}
            return found if share == self.settings.get(SHARE) and (found == self.settings or THETA in self.verified) else None
        stated = stated if self.layers is None else stated.get(self.layers) if isinstance(stated, Mapping) else None
        kind = stated.get("rope_type", stated.get("type", "default")) if isinstance(stated, Mapping) else None
        if not isinstance(stated, Mapping) or not isinstance(kind, str):
            return None
        base = {THETA} if stated.get(THETA) is not None else {BESIDE if THETA in given else BARE}
        ways = {kind, *([SCALING] if given.get(SCALING) else []), *(base - {THETA})}
        found = {SHARE: share, THETA: given.get(THETA, self.settings.get(THETA)), **stated, "rope_type": kind}
        if _equal(found, self.settings):
            return found
        functions = not _others(found) | _others(self.settings) or _equal(found, {**self.settings, THETA: found[THETA]})
        shared = found[SHARE] == self.settings.get(SHARE) or kind == "proportional"
        return found if ways <= self.verified and functions and shared else None


def rope_of(settings: Mapping[str, Any]) -> Rope | None:
    """Return settings under their names in a configuration as the formulas have them; None if they are not known.

    >>> rope_of({"rope_type": "linear", "rope_theta": 500000.0, "factor": 4.0})
    Rope(theta=500000.0, kind='linear', factor=4.0)
    """
    kind = settings.get("rope_type", settings.get("type", "default"))
    numbers = {name: settings[key] for key, name in SETTINGS.items() if settings.get(key) is not None}
    share = 1.0 if settings.get(SHARE) is None else settings[SHARE]
    whole = not isinstance(kind, str) or not all(isinstance(one, int | float) for one in (*numbers.values(), share))
    if whole or kind not in _WANTED or "theta" not in numbers or any(settings.get(key) is None for key in _WANTED[kind]):
        return None
    stated: dict[str, Any] = {"kind": kind, "share": share if kind == "proportional" else 1.0, **numbers}
    return Rope(**stated)


def _others(settings: Mapping[str, Any]) -> set[str]:
    """Return the settings of which the frequencies are not a function, such as those that also scale attention."""
    return {key for key, value in settings.items() if value is not None} - {*SETTINGS, "type", "rope_type", SHARE}


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(key) == other.get(key) for key in {*one, *other} - {"type"})


def turns_of(stated: Sequence[Any]) -> tuple[Turns, ...]:
    """Return the frequencies that a file states."""
    return tuple(
        Turns(int(number), str(inside), None if layers is None else str(layers), dict(settings), frozenset(map(str, verified)))
        for number, inside, layers, settings, verified in stated
    )
