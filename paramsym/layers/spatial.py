"""What layers over spatial axes share: one entry per axis."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from paramsym.errors import ArgumentError
from paramsym.size import Count, Dim

Extents: TypeAlias = Dim | tuple[Dim, ...]
"""One size for every spatial axis, or one per axis."""
Margin: TypeAlias = Count | tuple[Count, ...]
"""The same for what may be zero."""
Padding: TypeAlias = Margin | Literal["same", "valid", "causal"]
"""A margin on both sides, or a word; "causal" is Keras' and for one axis only."""
PaddingMode: TypeAlias = Literal["zeros", "reflect", "replicate", "circular"]


def per_axis(value: Any, rank: int, where: str) -> tuple[Any, ...]:
    """Return one entry per spatial axis: a tuple as it is, anything else ``rank`` times.

    Raises:
        ArgumentError: a tuple of another length.

    >>> per_axis(3, 2, "kernel_size"), per_axis((3, 5), 2, "kernel_size")
    ((3, 3), (3, 5))
    """
    if not isinstance(value, tuple):
        return (value,) * rank
    if len(value) != rank:
        message = f"{where} is {value}, {len(value)} entries; wanted one size or a tuple of {rank}, one per spatial axis."
        raise ArgumentError(message)
    return value


def exceeds_one(values: tuple[Dim, ...]) -> bool:
    """Say whether any known entry is above one; a symbol may still be one.

    >>> from paramsym import K
    >>> exceeds_one((1, 2)), exceeds_one((1, K))
    (True, False)
    """
    return any(isinstance(value, int) and value > 1 for value in values)
