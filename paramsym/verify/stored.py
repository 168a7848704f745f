"""Stored tensors: names and shapes, and further facts that a source has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paramsym.errors import CheckpointError
from paramsym.program.inputs import measured

Shape = tuple[int, ...]
SCALED = "scaled 8 bits"
"""The scheme of numbers of 8 bits with a scale."""


@dataclass(frozen=True)
class Packed:
    """How a quantised weight is stored: its scheme, its possible ``shapes`` or else its ``entries``, its bits, and its groups.

    ``group`` is the number of entries that share a scale, such as "128" or "128x128"; "channel" is a whole row, "tensor" everything.
    ``faults`` says which of its tensors do not fit the scheme.
    """

    scheme: str
    shapes: tuple[Shape, ...] = ()
    entries: int = 0
    bits: int = 0
    group: str = ""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stored:
    """The tensors of a source, by name.

    ``tied`` maps an alias to the first name of its tensor (``None``: unknown, as for a file or a dictionary of shapes). ``complete`` means
    that every persistent buffer is listed, as in a live module, ``names_aliases`` that every alias is, and ``kinds`` that ``buffers`` lists
    all tensors that are not parameters. ``packed`` maps the names of quantised tensors to their packing; their shapes are unpacked, or the
    number of their entries if only this is known. ``beside`` are files in the same folder that were not read.
    """

    shapes: Mapping[str, Shape]
    source: str = "the given shapes"
    tied: Mapping[str, str] | None = None
    buffers: frozenset[str] = frozenset()
    complete: bool = False
    names_aliases: bool = False
    kinds: bool = False
    dtypes: Mapping[str, str] = field(default_factory=dict)
    packed: Mapping[str, Packed] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


def shape(value: Any, name: str) -> Shape:
    """Return a shape as a tuple of ints.

    Raises:
        CheckpointError: an extent that is not a whole number of at least zero.
        ShapeError: more axes than an array can have.
    """
    return measured(value, f"the shape of {name!r:.99}", CheckpointError)


_KIND = re.compile(r"(?:torch\.)?(bf|bfloat|f|float|c|complex|i|int|u|uint|bool)(\d*)(?:_\w+)?")
_LONGER = {"bf": "float", "bfloat": "float", "f": "float", "c": "float", "complex": "float", "i": "int", "u": "uint"}
_SMALL = ("4", "6", "8")  # bits of the real numbers that need a scale


def kind(dtype: str) -> str:
    """Return the kind of a dtype of safetensors, torch or NumPy; empty for one that is not known.

    Real and complex numbers of at least 16 bits are one kind: a model is trained and stored in any of them.

    >>> [kind(dtype) for dtype in ("BF16", "torch.float32", "F8_E4M3", "torch.float8_e4m3fn", "I64", "uint8", "qint8")]
    ['float', 'float', 'float8', 'float8', 'int64', 'uint8', '']
    """
    found = _KIND.fullmatch(dtype.lower())
    if found is None:
        return ""
    word = _LONGER.get(found[1], found[1])
    return word if word == "float" and found[2] not in _SMALL else word + found[2]
