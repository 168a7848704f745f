"""Shapes of one input or of several, and errors that name the part."""

from __future__ import annotations

from itertools import islice
from operator import index
from typing import TYPE_CHECKING, Any, TypeVar, cast

from paramsym.algebra.size import shown
from paramsym.errors import ParamsymError, ShapeError
from paramsym.naming import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paramsym.algebra.size import Shape
    from paramsym.program.statement import Statement

Entry = TypeVar("Entry")
_MOST_AXES = 64


def measured(value: Any, what: str, error: type[ParamsymError]) -> tuple[int, ...]:
    """Return a measured shape as a tuple of ints, or raise ``error`` about ``what``; ``ShapeError`` for an endless shape.

    >>> measured([768, 3], "the kernel", ShapeError)
    (768, 3)
    """
    try:
        found = tuple(index(cast("Any", None) if isinstance(extent, bool) else extent) for extent in checked_axes(value, what))
    except TypeError:
        found = (-1,)
    if any(extent < 0 for extent in found):
        raise error(f"{what} is {quoted(value)}; wanted a shape of whole numbers, none below zero, such as (768, 768).")
    return found


def each_input(shape: Shape) -> tuple[Shape, ...]:
    """Return the shapes of several inputs as a list; one input gives a list of one.

    >>> each_input((2, 3)), each_input(((2, 3), (2, 5)))
    (((2, 3),), ((2, 3), (2, 5)))
    """
    listed: tuple[object, ...] = shape
    several = bool(listed) and all(isinstance(entry, tuple) for entry in listed)
    return cast("tuple[Shape, ...]", listed) if several else (shape,)


def together(first: Shape, *others: Shape) -> Shape:
    """Return the shapes of several inputs as one value, which ``each_input`` splits; one input is not changed."""
    return cast("Shape", (first, *others)) if others else first


def checked_axes(shape: Iterable[Entry], where: str) -> tuple[Entry, ...]:
    """Return the entries of a shape; an endless iterable is refused.

    Raises:
        ShapeError: more axes than NumPy and torch allow.
    """
    found = tuple(islice(shape, _MOST_AXES + 1))
    if len(found) > _MOST_AXES:
        raise ShapeError(f"{where} has more than {_MOST_AXES} axes; no array has more.")
    return found


def located(name: str, layer: Statement, arrived: Shape, error: ShapeError, kind: type[ShapeError]) -> ShapeError:
    """Return the error with the whole path of the part and its input; for a part without a name, the parent adds them."""
    if not name:
        return error
    inner: str = getattr(error, "part", "")
    reason: str = getattr(error, "reason", f"{type(layer).__name__.lstrip('_')}, which was given {shown(arrived)}: {error}")
    path = f"{name}.{inner}" if inner else name
    found = kind(f"{path}, {'an' if reason[0] in 'AEIOU' else 'a'} {reason}")
    found.__dict__.update(error.__dict__)
    found.__dict__.update(part=path, reason=reason)
    return found
