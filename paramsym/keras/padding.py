"""Keras' padding and cropping, spelt as Keras spells them. They store nothing and need no input shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from paramsym.errors import ArgumentError
from paramsym.keras._base import data_format_of
from paramsym.keras._common import finished
from paramsym.keras._unbuilt import Shape
from paramsym.layer import Layer
from paramsym.layers import padding as plain
from paramsym.naming import quoted
from paramsym.size import Count, count

Margins: TypeAlias = "Count | Sequence[Count | Sequence[Count]]"


def _pairs(value: Any, rank: int, name: str, where: str) -> tuple[tuple[Count, Count], ...]:
    """Return ``(before, after)`` for each spatial axis: from one number, one per axis, or one pair per axis."""
    listed = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,) * rank
    if len(listed) != rank:
        message = f"{where}: {name} is {quoted(value)}; wanted one number or {rank} entries, one per spatial axis."
        raise ArgumentError(message)
    return tuple(_pair(entry, name, where) for entry in listed)


def _pair(value: Any, name: str, where: str) -> tuple[Count, Count]:
    listed = value if isinstance(value, Sequence) and not isinstance(value, str) else (value, value)
    if len(listed) != 2:
        message = f"{where}: {name} has the entry {quoted(value)}; wanted a number, or one before and one after."
        raise ArgumentError(message)
    before, after = (count(entry, f"{where}: {name}") for entry in listed)
    return before, after


def _sides(pairs: tuple[tuple[Count, Count], ...]) -> tuple[Count, ...]:
    """Turn Keras' order, first axis first, into torch's, last axis first."""
    return tuple(side for pair in reversed(pairs) for side in pair)


def ZeroPadding1D(
    padding: Count | Sequence[Count] = 1, data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.ZeroPad1d``; Keras' one number, or ``(left, right)``.

    Raises:
        ArgumentError: another number of entries, or an unknown argument; likewise for the others below.
        SizeError: a negative number; likewise.

    >>> ZeroPadding1D((1, 2))
    ZeroPad1d((1, 2), data_format='channels_last')
    """
    where = "keras.ZeroPadding1D"
    pair = _pair(padding, "padding", where)
    return finished(plain.ZeroPad1d(pair, data_format=data_format_of(data_format, where)), base, where)


def ZeroPadding2D(padding: Margins = (1, 1), data_format: str | None = None, *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.ZeroPad2d``; Keras' one number, ``(height, width)`` or ``((top, bottom), (left, right))``.

    >>> ZeroPadding2D(((1, 2), (3, 4)))
    ZeroPad2d((3, 4, 1, 2), data_format='channels_last')
    """
    where = "keras.ZeroPadding2D"
    sides = _sides(_pairs(padding, 2, "padding", where))
    return finished(plain.ZeroPad2d(sides, data_format=data_format_of(data_format, where)), base, where)


def ZeroPadding3D(
    padding: Margins = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.ZeroPad3d``; Keras' one number, three, or three pairs.

    >>> ZeroPadding3D(1)
    ZeroPad3d((1, 1, 1, 1, 1, 1), data_format='channels_last')
    """
    where = "keras.ZeroPadding3D"
    sides = _sides(_pairs(padding, 3, "padding", where))
    return finished(plain.ZeroPad3d(sides, data_format=data_format_of(data_format, where)), base, where)


def Cropping1D(cropping: Count | Sequence[Count] = (1, 1), *, input_shape: Shape | None = None, **base: object) -> Layer:
    """Return ``paramsym.Cropping`` along one axis.

    >>> Cropping1D((1, 2))
    Cropping(((1, 2),), data_format='channels_last')
    """
    where = "keras.Cropping1D"
    pair = _pair(cropping, "cropping", where)
    return finished(plain.Cropping((pair,), "channels_last"), base, where)


def Cropping2D(
    cropping: Margins = ((0, 0), (0, 0)), data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.Cropping`` along two axes.

    >>> Cropping2D(1)
    Cropping(((1, 1), (1, 1)), data_format='channels_last')
    """
    where = "keras.Cropping2D"
    pairs = _pairs(cropping, 2, "cropping", where)
    return finished(plain.Cropping(pairs, data_format_of(data_format, where)), base, where)


def Cropping3D(
    cropping: Margins = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None, *, input_shape: Shape | None = None, **base: object
) -> Layer:
    """Return ``paramsym.Cropping`` along three axes.

    >>> Cropping3D(2)
    Cropping(((2, 2), (2, 2), (2, 2)), data_format='channels_last')
    """
    where = "keras.Cropping3D"
    pairs = _pairs(cropping, 3, "cropping", where)
    return finished(plain.Cropping(pairs, data_format_of(data_format, where)), base, where)
