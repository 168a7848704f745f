"""Stored tensors: names and shapes, and further facts that a source has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paramsym.errors import CheckpointError
from paramsym.program.inputs import measured

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Stored:
    """The tensors of a source, by name.

    ``tied`` maps an alias to the first name of its tensor (``None``: unknown, as for a file or a dictionary of shapes). ``complete`` means
    that every persistent buffer is listed, as in a live module, ``names_aliases`` that every alias is, and ``kinds`` that ``buffers`` lists
    all tensors that are not parameters. ``packed`` maps the names of quantised tensors to their packing; their shapes are unpacked, or None
    if only the number of entries (``entries``) is known.
    """

    shapes: Mapping[str, Shape]
    source: str = "the given shapes"
    tied: Mapping[str, str] | None = None
    buffers: frozenset[str] = frozenset()
    complete: bool = False
    names_aliases: bool = False
    kinds: bool = False
    dtypes: Mapping[str, str] = field(default_factory=dict)
    packed: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, int] = field(default_factory=dict)


def shape(value: Any, name: str) -> Shape:
    """Return a shape as a tuple of ints.

    Raises:
        CheckpointError: an extent that is not a whole number of at least zero.
        ShapeError: more axes than an array can have.
    """
    return measured(value, f"the shape of {name!r:.99}", CheckpointError)
