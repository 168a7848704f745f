"""Running a program on columns: their checks, and the computation in pieces that fit into the cache.

A piece that may not fit into 64 bits is computed row by row with Python integers, so nothing ever overflows. NumPy is imported when the
first column is passed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from paramsym.analysis.evaluate.straight_line import CHECKS, LIMIT, QUOTIENTS, SURE, Kind, StraightLine
from paramsym.errors import ParamsymError, SizeError
from paramsym.naming import described, quoted
from paramsym.optional import needed

Column: TypeAlias = Any
"""An int, or a NumPy array of whole numbers."""
_SHORT = 2**31
_SINGLE, _DOUBLE = 2**24, 2**53  # below these, quotients of whole numbers are exact in float32 and float64
_UFUNCS: dict[Kind, str] = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "max": "maximum",
    "min": "minimum",
    "pow": "power",
    "most": "less_equal",
    "equal": "equal",
    "differ": "not_equal",
}


def as_column(value: Any, name: str) -> Column:
    """Return an int, or a NumPy array of whole numbers.

    Raises:
        SizeError: floats, words, missing values: nothing is rounded.
    """
    if not (hasattr(value, "__len__") or hasattr(value, "__array__")) or isinstance(value, str):
        return _index(value, name)
    np = needed("numpy", "computing with columns", "numpy")

    if np.ma.is_masked(value):
        raise SizeError(f"{name} is a column with masked entries; wanted a size in every row.")
    if isinstance(value, list | tuple) and bool in set(map(type, value)):  # NumPy would convert a bool among ints to an int
        return _index(next(entry for entry in value if isinstance(entry, bool)), name)
    try:
        array: Any = np.asarray(value)
    except ValueError:
        raise SizeError(f"{name} is {quoted(value)}, rows of different lengths; a column has one shape.") from None
    except (MemoryError, OverflowError):
        raise SizeError(f"{name} is {quoted(value)}, which does not fit in memory; give it in pieces.") from None
    if array.dtype.kind not in "iu":
        if array.dtype.kind not in "fO" or (isinstance(value, np.ndarray) and array.dtype.kind == "f" and array.size):
            raise SizeError(f"{name} is a column of {array.dtype}; sizes are whole numbers. Convert it with .astype('int64') if they are.")
        # NumPy would convert a list of large ints to floats, and a Series with missing values, too.
        array = np.asarray(getattr(value, "to_list", lambda: value)(), dtype=object)
        array = np.frompyfunc(lambda entry: _index(entry, name), 1, 1)(array) if array.size else array.astype(np.int64)
    return _index(array.item(), name) if np.ndim(array) == 0 else array


def _index(value: Any, name: str) -> int:
    if getattr(value, "is_Integer", False):
        return int(value)
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise SizeError(f"{name} is {described(value)}; a size is a whole number or a column of them.")
    return number


def run(
    program: StraightLine, columns: Sequence[Column], one: Callable[[Sequence[int]], int], chunk: int, *, drop: bool = False
) -> tuple[Any, Any]:
    """Return a NumPy array with the value for every row of the broadcast columns: int64, or Python ints where that would overflow.

    A row that the program refuses, or that is too large for it, is passed to ``one``; an error of ``one`` is raised with the row's number.
    With ``drop`` it is not raised: the second array marks the valid rows, and the values of the others are undefined.

    Raises:
        ParamsymError: the first row that contradicts a condition.
        SizeError: columns of different lengths.
    """
    np = needed("numpy", "computing with columns", "numpy")

    arrays = [column for column in columns if np.ndim(column)]
    try:
        result = np.empty(np.broadcast_shapes(*(array.shape for array in arrays)), np.int64)
    except ValueError:
        shapes = ", ".join(
            f"{symbol} {np.shape(column)}" for symbol, column in zip(program.inputs, columns, strict=True) if np.ndim(column)
        )
        raise SizeError(f"the columns do not broadcast; their shapes are {shapes}.") from None
    kept, large, start = np.ones(result.size, bool), {}, 0
    access = [["readonly"]] * len(arrays) + [["writeonly"]]
    flags = ["external_loop", "buffered", "refs_ok", "zerosize_ok"]
    with np.nditer([*arrays, result], flags, access, order="C", buffersize=chunk) as pieces:
        for *cut, target in pieces if result.size else ():
            following = iter(cut)
            piece = [next(following) if np.ndim(column) else column for column in columns]
            refused, asked = _compute(np, program, piece, target)
            if refused.any():
                kept[start : start + target.size] = asked | ~refused
            doubtful = asked if drop else asked | refused
            for row in np.flatnonzero(np.broadcast_to(doubtful, target.shape)).tolist() if doubtful.any() else ():
                try:
                    value = one([int(column[row]) if np.ndim(column) else column for column in piece])
                except ParamsymError as error:
                    if not drop:
                        place = tuple(map(int, np.unravel_index(start + row, result.shape)))
                        raise type(error)(f"row {place[0] if len(place) == 1 else place}: {error}") from None
                    kept[start + row] = False
                    continue
                if -LIMIT <= value < LIMIT:
                    target[row] = value
                else:
                    large[start + row] = value
            start += target.size
    if large:
        result = result.astype(object)
        for row, value in large.items():
            result.flat[row] = value
    return result, kept.reshape(result.shape)


def _compute(np: Any, program: StraightLine, columns: list[Column], target: Any) -> tuple[Any, Any]:
    """Write the values of one piece to the target; return the refused rows, and those that must be computed one by one.

    Each is a column of bools, or one bool for all rows: no memory is spent on rows if none is refused.
    """
    refused = asked = np.False_
    registers, widths = [], []
    for column, least in zip(columns, program.least, strict=True):
        narrowed, bits, below = _narrowed(np, column, least)
        registers.append(narrowed)
        widths.append(bits)
        refused = refused | below
    numbers = _numbers(np, program, tuple(widths))
    if not numbers:
        return refused, np.True_
    registers += program.constants
    last_read, result = program.last_read, program.result
    for place, (kind, left, right) in enumerate(program.ops, program.first):
        one, other, (number, least) = registers[left], registers[right], numbers[place]
        value: Any = None
        passed: Any = True
        if kind in CHECKS:
            passed = getattr(np, _UFUNCS[kind])(one, other)
        elif kind in QUOTIENTS:
            value, passed = _divided(np, one, other, number)
        else:
            value = getattr(np, _UFUNCS[kind])(one, other, out=target if place == result else None, dtype=number)
        if passed is not True and not passed.all():
            refused, asked = (refused | ~passed, asked) if kind in SURE else (refused, asked | ~passed)
            value = None if value is None else np.maximum(value, least)  # keeps the values within their bounds
        registers.append(value)
        for side in (left, right):  # frees cache memory of registers that are not read again
            if last_read[side] == place and side != result:
                registers[side] = None
    if registers[result] is not target:
        target[...] = registers[result]
    return refused, asked


def _divided(np: Any, one: Column, other: Column, number: Any) -> tuple[Column, Any]:
    """Return the whole part of a quotient, and whether it is the quotient; a remainder would take much longer.

    A float shows it itself: both numbers are exact, and a fraction a/b is never rounded to a whole number, because it is 1/b or more away
    from one.
    """
    if number is np.int64:
        value = np.floor_divide(one, other)
        return value, np.multiply(value, other) == one
    divided = np.divide(one, other, dtype=number)
    return divided.astype(np.int32 if number is np.float32 else np.int64), np.trunc(divided) == divided


def _narrowed(np: Any, column: Column, least: int) -> tuple[Column, int, Any]:
    """Return a column in its narrowest type, the bits of its largest size, and the refused rows: whatever reads it, while in the cache.

    Sizes below the least one are refused, and raised to it, so that the steps stay within their bounds.
    """
    if isinstance(column, int):
        return max(column, least), max(column, least).bit_length(), np.bool_(column < least)
    below = np.False_
    if np.minimum.reduce(column) < least:
        below, column = column < least, np.maximum(column, least)
    bits = int(np.maximum.reduce(column)).bit_length()
    return (column.astype(np.int32 if bits < 32 else np.int64, copy=False) if bits < 64 else column), bits, below


@lru_cache(maxsize=256)
def _numbers(np: Any, program: StraightLine, bits: tuple[int, ...]) -> list[tuple[Any, int]]:
    """Return the narrowest number type of each register, and its least value, for inputs with a number of bits.

    None is returned if 64 bits may not hold them all.
    """
    bounds = program.bounds([(least, max(least, 2**most - 1)) for least, most in zip(program.least, bits, strict=True)])
    known = [pair for pair in bounds if pair is not None and pair[0] >= -LIMIT and pair[1] < LIMIT]
    if len(known) < len(bounds):
        return []
    largest = [max(-low, high) for low, high in known]
    numbers = [np.int32 if most < _SHORT else np.int64 for most in largest]
    for place, (kind, left, right) in enumerate(program.ops, program.first):
        most = max(largest[left], largest[right], largest[place])
        if kind in QUOTIENTS:
            numbers[place] = np.float32 if most < _SINGLE else np.float64 if most < _DOUBLE else np.int64
        elif most >= _SHORT:
            numbers[place] = np.int64
    return [(number, low) for number, (low, _) in zip(numbers, known, strict=True)]
