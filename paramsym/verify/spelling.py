"""Applies the rules of ``core.spelling`` to stored tensors; a stored tensor that holds two is divided."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from paramsym.core import spelling
from paramsym.core.spelling import halves_of
from paramsym.verify.stored import Shape, Stored


def respelt(stored: Stored, wanted: Collection[str]) -> tuple[Stored, tuple[str, ...]]:
    """Return the tensors under the model's names, and notes about those that the file spells differently.

    >>> respelt(Stored({"bert.pooler.dense.bias": (3,)}), {"pooler.dense.bias"})[0].shapes
    {'pooler.dense.bias': (3,)}
    """
    names, notes = spelling.respelt(stored.shapes, wanted)
    halved, note = _halved(_renamed(stored, names), wanted)
    return halved, (*notes, note) if note else notes


def _renamed(stored: Stored, names: Mapping[str, str]) -> Stored:
    if all(name == other for name, other in names.items()):
        return stored
    return replace(
        stored,
        shapes={names[name]: shape for name, shape in stored.shapes.items()},
        tied=None if stored.tied is None else {names[alias]: names[first] for alias, first in stored.tied.items()},
        buffers=frozenset(names[name] for name in stored.buffers),
        dtypes={names.get(name, name): kind for name, kind in stored.dtypes.items()},
        packed={names.get(name, name): found for name, found in stored.packed.items()},
    )


def _halved(stored: Stored, wanted: Collection[str]) -> tuple[Stored, str]:
    """Split tensors that join two of the model's along the first axis."""
    shapes: dict[str, Shape] = {}
    halved: list[str] = []
    for name, shape in stored.shapes.items():
        halves = next(halves_of(name), ()) if name not in wanted else ()
        if halves and shape and shape[0] % 2 == 0 and all(half in wanted and half not in stored.shapes for half in halves):
            shapes |= dict.fromkeys(halves, (shape[0] // 2, *shape[1:]))
            halved.append(name)
        else:
            shapes[name] = shape
    note = f"{len(halved)} tensors each join two of the model's along the first axis, such as {halved[0]}" if halved else ""
    return replace(stored, shapes=shapes), note
