"""Separately stored slices of one tensor, such as the experts of older files, joined again: ``name[0]``, ``name[1]``, ..."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from paramsym.verify.stored import Shape

_SLICE = re.compile(r"(.+)\[(\d{1,9})\]")


@dataclass(frozen=True)
class Piece:
    """What is stored for one tensor of the layer, or for a segment of one: a tensor, a part of one, or joined slices.

    ``stored_name`` is the stored tensor, or the first of the slices; ``shape`` is None if it cannot be split or they do not fit together.
    """

    stored_name: str
    shape: Shape | None
    note: str = ""


def stacked(shapes: Mapping[str, Shape], targets: Mapping[str, tuple[str, ...]]) -> dict[str, Piece]:
    """Return ``{tensor of the layer: its slices joined along a new first axis}``.

    >>> stacked({"a": (4, 3), "b": (4, 3)}, {"a": ("up[0]",), "b": ("up[1]",)})
    {'up': Piece(stored_name='a', shape=(2, 4, 3), note='2 slices stored separately')}
    """
    slices: dict[str, dict[int, str]] = {}
    for name, names in targets.items():
        found = slice_of(names)
        if found is not None:
            slices.setdefault(found[0], {})[found[1]] = name
    return {whole: _together(parts, shapes) for whole, parts in slices.items()}


def slice_of(names: tuple[str, ...]) -> tuple[str, int] | None:
    """Return the tensor and the slice that a target names, or None if it names a tensor, a segment, or several of them."""
    found = _SLICE.fullmatch(names[0]) if len(names) == 1 else None
    return None if found is None else (found[1], int(found[2]))


def _together(parts: Mapping[int, str], shapes: Mapping[str, Shape]) -> Piece:
    first = parts[min(parts)]
    absent = next((number for number in range(len(parts)) if number not in parts), None)
    if absent is not None:
        return Piece(first, None, f"{len(parts)} slices stored separately; slice {absent} is missing")
    odd = next((name for name in parts.values() if shapes[name] != shapes[first]), None)
    if odd is not None:
        return Piece(first, None, f"its slices differ: {first} is {shapes[first]} and {odd} is {shapes[odd]}")
    return Piece(first, (len(parts), *shapes[first]), f"{len(parts)} slices stored separately")
