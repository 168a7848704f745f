"""Reads configurations of decoders with rotated heads: the rotation, its share of a head, the head size, lists per layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from sympy import floor

from paramsym.algebra.symbols import A, D, H, L, dims
from paramsym.atlas.turns import SETTINGS
from paramsym.atlas.values import refused, whole
from paramsym.errors import ConfigError
from paramsym.models.key_kinds import Flag, Key, Real, Sizes, Whole
from paramsym.program import Rope
from paramsym.program.rotary import RopeKind

ROTATED = dims("r")
"""The rotated entries of a head, if not all are rotated."""


class RotaryShare(Key):
    """The share of a head that is rotated, from 0 to 1; null is the default."""

    default: float | None = None

    def read(self, value: Any, where: str, _: Sizes, /) -> float | None:
        if value is None:
            return self.default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise refused(value, where, "a number from 0 to 1")
        return value


class RopeSettings(Key):
    """How positions are rotated: an object with a ``rope_type`` (once ``type``), or null."""

    def read(self, value: Any, where: str, _: Sizes, /) -> dict[str, Any] | None:
        if value is None or value == {}:
            return None
        if not isinstance(value, Mapping):
            raise refused(value, where, "an object such as {'rope_type': 'default'}, or null")
        kind = value.get("rope_type", value.get("type", "default"))
        if not isinstance(kind, str) or kind not in _ROPE_TYPES:
            raise refused(kind, f"{where}: rope_type", ", ".join(sorted(_ROPE_TYPES)))
        numbers = {name: _setting(name, value[key], f"{where}: {key}") for key, name in _ROPE_NUMBERS.items() if value.get(key) is not None}
        share = RotaryShare().read(value.get("partial_rotary_factor"), f"{where}: partial_rotary_factor", {})
        return {"kind": kind, "share": share, "numbers": numbers}


ROTATION: Mapping[str, Key] = {
    "rope_parameters": RopeSettings(),
    "rope_scaling": RopeSettings(),
    "rope_theta": Real(10000.0),
    "max_position_embeddings": Whole(2048),
    "partial_rotary_factor": RotaryShare(),
}
"""The keys of the rotation, which ``rotation`` joins into one argument."""
_ROPE_NUMBERS: Mapping[str, str] = {**SETTINGS, "short_factor": "short_factor", "long_factor": "long_factor"}
"""The settings of a rotation by their names in a configuration."""


def _setting(name: str, value: Any, where: str) -> Any:
    """Check one setting of a rotation: a number, a list of numbers, or a flag."""
    if name == "truncate":
        return Flag(default=True).read(value, where, {})
    if name == "original_positions":
        return whole(value, where, 1)
    if not name.endswith(("short_factor", "long_factor")):
        return Real(0.0).read(value, where, {})
    if not isinstance(value, list | tuple) or len(value) > 4096:
        raise refused(value, where, "a list of numbers, one for each pair of entries")
    return tuple(Real(0.0).read(one, f"{where}[{position}]", {}) for position, one in enumerate(value))


_ROPE_TYPES = frozenset({*get_args(RopeKind), "su"})


def rope_arguments(
    *, floors: bool = True, share: float | None = None, partial: bool = False, named: bool = False
) -> Callable[[dict[str, Any], Sizes], None]:
    """Return the function with which a family of grouped decoders sets the arguments that depend on sizes.

    ``floors``: the reference rounds the head size down if heads do not divide the width, instead of an error. ``partial``: it rotates a
    share of a head for every type of the rope, ``share`` if the configuration has none. ``named``: it always has the head size as a key,
    and so refuses to rotate an odd one.
    """

    def settle(arguments: dict[str, Any], sizes: Sizes) -> None:
        check_length(arguments, sizes, "layer_types")
        round_heads(arguments, sizes, floors=floors)
        kind, factor = rotation(arguments, share)
        given = arguments.get("head_dim") == D
        width = sizes[D] if given else sizes[H] // sizes[A]
        if named or given:
            check_even(width, factor)
        rotate(arguments, sizes, width, kind, factor, partial=partial)

    return settle


def check_length(arguments: dict[str, Any], sizes: Sizes, name: str) -> tuple[str, ...] | None:
    """Take a list with one entry per layer out of the arguments; raise ``ConfigError`` for another length."""
    found: tuple[str, ...] | None = arguments.pop(name, None)
    if found is not None and len(found) != sizes[L]:
        raise ConfigError(f"{name} has {len(found)} entries for num_hidden_layers {sizes[L]}; wanted one per layer.")
    return found


def round_heads(arguments: dict[str, Any], sizes: Sizes, *, floors: bool) -> None:
    """Round the head size down if the reference does, explicitly: the formula gets a floor."""
    divided = sizes[H] % sizes[A] == 0
    if not divided and not floors:
        raise ConfigError(f"this configuration cannot be built. hidden_size {sizes[H]} is not divisible by num_attention_heads {sizes[A]}.")
    if arguments.get("head_dim") is None and not divided and sizes[H] > sizes[A]:
        arguments["head_dim"] = floor(H / A)


def rotation(arguments: dict[str, Any], share: float | None = None) -> tuple[str, float | None]:
    """Join the keys of the rotation into one argument, ``rope``; return its type and the share of a head that is rotated."""
    taken: dict[str, Any] = {name: arguments.pop(name, None) for name in ROTATION}
    given: Mapping[str, Any] = taken["rope_scaling"] or taken["rope_parameters"] or {"kind": "default", "share": None, "numbers": {}}
    kind: Any = "longrope" if given["kind"] == "su" else given["kind"]
    share = next((found for found in (given["share"], taken["partial_rotary_factor"], share) if found is not None), None)
    settings: dict[str, Any] = {"theta": 10000.0 if taken["rope_theta"] is None else taken["rope_theta"], **given["numbers"]}
    if taken["max_position_embeddings"] is not None:
        settings["positions"] = taken["max_position_embeddings"]
    arguments["rope"] = Rope(kind=kind, share=1.0 if share is None or kind != "proportional" else share, **settings)
    return kind, share


def check_even(width: int, factor: float | None) -> None:
    """Raise ``ConfigError`` for an odd width that is rotated as a whole; the reference accepts up to four entries."""
    if width > 4 and width % 2 and int(width * (1 if factor is None else factor)) == width:
        message = f"this configuration cannot be built. Rotation takes pairs, and a head has {width} entries; wanted an even width."
        raise ConfigError(message)


def rotate(arguments: dict[str, Any], sizes: Sizes, width: int, kind: str, factor: float | None, *, partial: bool = False) -> None:
    """Give the number of rotated entries a letter if it is not the width; if none are left, it is the number 0.

    Raises:
        ConfigError: an odd number of rotated entries for "yarn", whose two lists of frequencies would have different lengths.
    """
    if kind == "default" and not partial:
        return
    rotated = 2 * (width // 2) if kind == "proportional" else int(width * (1 if factor is None else factor))
    if kind == "yarn" and rotated % 2:
        message = f"this configuration cannot be built. rope_type 'yarn' rotates pairs; found {rotated} of {width} entries of a head."
        raise ConfigError(message)
    if rotated == 0:
        arguments["rotary_dim"] = 0
    elif rotated != width:
        arguments["rotary_dim"] = ROTATED
        sizes[ROTATED] = rotated
