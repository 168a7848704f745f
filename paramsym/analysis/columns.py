"""Running a program on columns: what may stand in them, and how they are cut into pieces that stay in the cache.

NumPy is imported when a column arrives.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from paramsym.analysis.pieces import LIMIT, Column, Pieces
from paramsym.analysis.program import Program
from paramsym.errors import SizeError
from paramsym.naming import described, quoted
from paramsym.optional import needed


def as_column(value: Any, name: str) -> Column:
    """Return an int, or a NumPy array of whole numbers as it is.

    Raises:
        SizeError: floats, words, missing values: nothing is rounded.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not (hasattr(value, "__len__") or hasattr(value, "__array__")) or isinstance(value, str):
        return _index(value, name)
    np = needed("numpy", "computing with columns", "numpy")

    if isinstance(value, list | tuple) and bool in set(map(type, value)):  # among ints, NumPy would take it for one
        return _index(next(entry for entry in value if isinstance(entry, bool)), name)
    try:
        array: Any = np.asarray(value)
    except ValueError:
        message = f"{name} is {quoted(value)}, rows of different lengths; a column has one shape."
        raise SizeError(message) from None
    if np.ma.is_masked(value):
        message = f"{name} is a column with masked entries; a size is known."
        raise SizeError(message)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and int(array.max()) >= LIMIT:
        array = array.astype(object)
    if array.dtype.kind not in "iu":
        if array.dtype.kind not in "fO" or (isinstance(value, np.ndarray) and array.dtype.kind == "f" and array.size):
            message = f"{name} is a column of {array.dtype}; sizes are whole numbers. Convert it with .astype('int64') if they are."
            raise SizeError(message)
        # A list of large ints, which NumPy would have made floats of; a Series, whose missing values would have become floats.
        listed = getattr(value, "to_list", lambda: value)
        array = np.asarray(listed(), dtype=object)
        for entry in array.flat:
            _index(entry, name)
        array = np.frompyfunc(int, 1, 1)(array) if array.size else array.astype(np.int64)
    return _index(array.item(), name) if array.ndim == 0 else array


def _index(value: Any, name: str) -> int:
    if getattr(value, "is_Integer", False):
        return int(value)
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        message = f"{name} is {described(value)}; a size is a whole number or a column of them."
        raise SizeError(message)
    return number


def run(program: Program, columns: Sequence[Column], least: Sequence[int], chunk: int, *, drop: bool = False) -> tuple[Any, Any]:
    """Return a NumPy array with the value for every row of the broadcast columns: int64, or Python ints where that would overflow.

    The first row that contradicts a condition raises. With ``drop`` it does not: the second array then says which rows hold, and the values
    of the others mean nothing; without, it is None.

    Raises:
        DivisibilityError, SizeError: the first row that contradicts a condition; columns of different lengths.
    """
    np = needed("numpy", "computing with columns", "numpy")

    try:
        shape = np.broadcast_shapes(*(np.shape(column) for column in columns))
    except ValueError:
        shapes = ", ".join(
            f"{symbol} {np.shape(column)}" for symbol, column in zip(program.inputs, columns, strict=True) if np.ndim(column)
        )
        message = f"the columns do not go together; their shapes are {shapes}."
        raise SizeError(message) from None
    result = np.empty(shape, np.int64)
    kept = np.ones(shape, bool) if drop else None
    wide: Any = None
    aligned = [
        column if isinstance(column, int) else column.reshape((1,) * (len(shape) - column.ndim) + column.shape) for column in columns
    ]
    pieces = Pieces(np, program, least, min(chunk, result.size), drop=drop)
    for where in blocks(shape, chunk) if result.size else ():
        cut = [column if isinstance(column, int) else column[_within(column.shape, where)] for column in aligned]
        value = pieces.compute(cut, where, result[where], None if kept is None else kept[where])
        if wide is None and value is not None and any(not -LIMIT <= entry < LIMIT for entry in np.ravel(value)):
            wide = result.astype(object)  # what came before fitted; from here on Python ints
        if value is not None:
            (result if wide is None else wide)[where] = value
        elif wide is not None:
            wide[where] = result[where]
    return result if wide is None else wide, kept


def blocks(shape: tuple[int, ...], chunk: int) -> Iterator[tuple[slice, ...]]:
    """Yield slices that cover an array in pieces of about ``chunk`` entries, in order."""
    if not shape:
        yield ()
        return
    length, *others = shape
    inner = prod(others)
    if inner > chunk:
        for row in range(length):
            for rest in blocks(tuple(others), chunk):
                yield (slice(row, row + 1), *rest)
        return
    rows = max(1, chunk // max(1, inner))
    for start in range(0, length, rows):
        yield (slice(start, min(start + rows, length)), *(slice(None) for _ in others))


def _within(shape: tuple[int, ...], where: tuple[slice, ...]) -> tuple[slice, ...]:
    return tuple(slice(None) if extent == 1 else one for extent, one in zip(shape, where, strict=True))
