"""What somebody else stores: names and shapes, and whatever else a source can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from paramsym.errors import CheckpointError
from paramsym.program.inputs import measured

Shape = tuple[int, ...]


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Stored:
    """Tensors by name, as some source has them.

    ``tied`` maps an alias to the name of the tensor it is, where the source can tell (``None``: it cannot; a file and a plain dictionary
    keep shapes only). ``complete`` says that every persistent buffer is there, as in a live module, ``names_aliases`` that every alias
    is, and ``kinds`` that ``buffers`` lists all that are no parameters. ``packed`` maps the names of
    quantised tensors to how they are packed; their shapes are those after unpacking, or None where only the number of entries
    (``entries``) is known.
    """

    shapes: Mapping[str, Shape]
    source: str = "the given shapes"
    tied: Mapping[str, str] | None = None
    buffers: frozenset[str] = frozenset()
    complete: bool = False
    names_aliases: bool = False
    kinds: bool = False
    dtypes: Mapping[str, str] = field(default_factory=_nothing)
    packed: Mapping[str, str] = field(default_factory=_nothing)
    entries: Mapping[str, int] = field(default_factory=_nothing)


def shape(value: Any, name: str) -> Shape:
    """Return a shape as a tuple of ints.

    Raises:
        CheckpointError: an extent that is not a whole number of at least zero.
        ShapeError: more axes than an array can have.
    """
    return measured(value, f"the shape of {name!r:.99}", CheckpointError)
