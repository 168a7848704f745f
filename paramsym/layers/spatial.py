"""Arguments of layers over spatial axes: one entry per axis."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from sympy import Max, Min

from paramsym.algebra.size import Count, Dim, canonical, text, within
from paramsym.errors import ArgumentError

Extents: TypeAlias = Dim | tuple[Dim, ...]
"""One size for every spatial axis, or one per axis."""
Margin: TypeAlias = Count | tuple[Count, ...]
"""The same for numbers that may be zero."""
Padding: TypeAlias = Margin | Literal["same", "valid", "causal"]
"""A margin on both sides, or a name; "causal" exists only in Keras and for one axis."""
PaddingMode: TypeAlias = Literal["zeros", "reflect", "replicate", "circular"]


def per_axis(value: Any, rank: int, where: str) -> tuple[Any, ...]:
    """Return one entry per spatial axis: a tuple unchanged, anything else ``rank`` times.

    Raises:
        ArgumentError: a tuple of another length.

    >>> per_axis(3, 2, "kernel_size"), per_axis((3, 5), 2, "kernel_size")
    ((3, 3), (3, 5))
    """
    if not isinstance(value, tuple):
        return (value,) * rank
    if len(value) != rank:
        raise ArgumentError(f"{where} is {value}, {len(value)} entries; wanted one size or a tuple of {rank}, one per spatial axis.")
    return value


def exactly_one(layer: Any, *names: str) -> None:
    """Raise ``ArgumentError`` unless exactly one of two fields is given."""
    one, other = (getattr(layer, name) for name in names)
    if (one is None) == (other is None):
        raise ArgumentError(f"{names[0]} is {one} and {names[1]} {other}; wanted exactly one of them.")


def both_sides(margins: tuple[Count, ...]) -> tuple[tuple[Count, Count], ...]:
    """Return the same margin before and after every axis."""
    return tuple((margin, margin) for margin in margins)


def exclude(stride: tuple[Dim, ...], dilation: tuple[Dim, ...]) -> None:
    """Raise ``ArgumentError`` if both are above one, which Keras refuses; symbols are checked when numbers are put in."""
    if not within(canonical(Min(Max(*stride), Max(*dilation))), 1):
        shown = [text(one[0] if len(set(one)) == 1 else one) for one in (stride, dilation)]
        raise ArgumentError(f"stride {shown[0]} together with dilation {shown[1]}: Keras takes one of them above 1, not both.")
