"""Running a program on columns: what may stand in them, and how they are computed in pieces that stay in the cache.

A piece whose bounds exceed 63 bits is computed row by row on Python integers, so that nothing ever wraps around. NumPy is imported when a
column arrives.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, TypeAlias

from paramsym.analysis.program import CHECKS, LIMIT, QUOTIENTS, SURE, Kind, Program, always
from paramsym.errors import ParamsymError, SizeError
from paramsym.naming import described, quoted
from paramsym.optional import needed

Column: TypeAlias = Any
"""An int, or a NumPy array of whole numbers."""
_NARROW = 2**31
_SINGLE, _DOUBLE = 2**24, 2**53  # below these, whole numbers are exact in float32 and float64
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
    """Return an int, or a NumPy array of whole numbers as it is.

    Raises:
        SizeError: floats, words, missing values: nothing is rounded.
    """
    if not (hasattr(value, "__len__") or hasattr(value, "__array__")) or isinstance(value, str):
        return _index(value, name)
    np = needed("numpy", "computing with columns", "numpy")

    if np.ma.is_masked(value):
        message = f"{name} is a column with masked entries; a size is known."
        raise SizeError(message)
    if isinstance(value, list | tuple) and bool in set(map(type, value)):  # among ints, NumPy would take it for one
        return _index(next(entry for entry in value if isinstance(entry, bool)), name)
    try:
        array: Any = np.asarray(value)
    except ValueError:
        message = f"{name} is {quoted(value)}, rows of different lengths; a column has one shape."
        raise SizeError(message) from None
    except (MemoryError, OverflowError):
        message = f"{name} is {quoted(value)}, which does not fit in memory; give it in pieces."
        raise SizeError(message) from None
    if array.dtype.kind not in "iu":
        if array.dtype.kind not in "fO" or (isinstance(value, np.ndarray) and array.dtype.kind == "f" and array.size):
            message = f"{name} is a column of {array.dtype}; sizes are whole numbers. Convert it with .astype('int64') if they are."
            raise SizeError(message)
        # A list of large ints, which NumPy would have made floats of; a Series, whose missing values would have become floats.
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
        message = f"{name} is {described(value)}; a size is a whole number or a column of them."
        raise SizeError(message)
    return number


def run(
    program: Program, columns: Sequence[Column], one: Callable[[Sequence[int]], int], chunk: int, *, drop: bool = False
) -> tuple[Any, Any]:
    """Return a NumPy array with the value for every row of the broadcast columns: int64, or Python ints where that would overflow.

    A row that the program does not let pass, or that is too large for it, is given to ``one``; what that raises for a row is raised with
    the row's number. With ``drop`` it is not: the second array then says which rows hold, and the values of the others mean nothing.

    Raises:
        ParamsymError: the first row that contradicts a condition.
        SizeError: columns of different lengths.
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
    result, kept = np.empty(shape, np.int64), np.ones(shape if drop else (), bool)
    aligned = [column.reshape((1,) * (len(shape) - np.ndim(column)) + column.shape) if np.ndim(column) else column for column in columns]
    pieces = _Pieces(np, program)
    for where in _blocks(shape, chunk) if result.size else ():
        cut = [column[_within(column.shape, where)] if np.ndim(column) else column for column in aligned]
        refused, asked = pieces.compute(cut, result[where])
        if drop:
            kept[where] &= asked | ~refused
        asked |= refused & (not drop)
        if not asked.any():
            continue
        spread = [np.broadcast_to(column, asked.shape) for column in cut]
        for index in map(tuple, np.argwhere(asked).tolist()):
            row = tuple(i + (part.start or 0) for i, part in zip(index, where, strict=True))
            try:
                value = one([int(column[index]) for column in spread])
            except ParamsymError as error:
                if not drop:
                    message = f"row {row[0] if len(row) == 1 else row}: {error}"
                    raise type(error)(message) from None
                kept[row] = False
                continue
            if not -LIMIT <= value < LIMIT and result.dtype != object:
                result = result.astype(object)
            result[row] = value
    return result, kept


def _blocks(shape: tuple[int, ...], chunk: int) -> Iterator[tuple[slice, ...]]:
    """Yield slices that cover an array in pieces of about ``chunk`` entries, in order."""
    if not shape:
        yield ()
        return
    length, *others = shape
    inner = prod(others)
    if inner > chunk:
        for row in range(length):
            for rest in _blocks(tuple(others), chunk):
                yield (slice(row, row + 1), *rest)
        return
    rows = max(1, chunk // max(1, inner))
    for start in range(0, length, rows):
        yield (slice(start, min(start + rows, length)), *(slice(None) for _ in others))


def _within(shape: tuple[int, ...], where: tuple[slice, ...]) -> tuple[slice, ...]:
    return tuple(slice(None) if extent == 1 else one for extent, one in zip(shape, where, strict=True))


class _Pieces:
    """Computes one program piece by piece; keeps the largest box of inputs known to fit, so that bounds are computed rarely."""

    def __init__(self, np: Any, program: Program) -> None:
        self.np, self.program = np, program
        self.box: list[tuple[int, int]] = []
        self.bounds: list[tuple[int, int]] = []
        self.steps: list[tuple[Kind, int, int, Any]] = []
        self.last = {register: place for place, op in enumerate(program.ops, program.first) for register in op[1:]}
        self.last[program.result] = -1
        self.functions = {kind: getattr(np, name) for kind, name in _UFUNCS.items()}

    def compute(self, columns: list[Column], target: Any) -> tuple[Any, Any]:
        """Write the values of one piece to the target; return which rows are refused, and which have to be asked about one by one."""
        program, refused, asked = self.program, self.np.zeros(target.shape, bool), self.np.zeros(target.shape, bool)
        registers = self._inputs(columns, refused)
        if not registers:
            return refused, ~asked
        for place, (kind, left, right, number) in enumerate(self.steps, program.first):
            one, other = registers[left], registers[right]
            passed: Any = True
            if kind in QUOTIENTS:
                value, passed = self._divided(one, other, number, place)
            elif kind in CHECKS:
                value, passed = None, number or self.functions[kind](one, other)
            else:
                value = self.functions[kind](one, other, out=target if place == program.result else None, dtype=number)
            if passed is not True and not passed.all():
                (refused if kind in SURE else asked)[...] |= ~passed
            registers.append(value)
            for side in (left, right):  # what is not read again makes room in the cache
                if self.last[side] == place:
                    registers[side] = None
        if registers[program.result] is not target:
            target[...] = registers[program.result]
        return refused, asked

    def _inputs(self, columns: list[Column], refused: Any) -> list[Any]:
        """Return columns and constants in the narrowest numbers, too small sizes refused and put up; nothing where steps do not fit."""
        np, lowest, highest = self.np, self.np.minimum.reduce, self.np.maximum.reduce
        found: list[Any] = []
        extremes: list[tuple[int, int]] = []
        for column, least in zip(columns, self.program.least, strict=True):
            low, high = (column, column) if isinstance(column, int) else (int(lowest(column, None)), int(highest(column, None)))
            if low < least:
                refused |= column < least
            found.append(np.maximum(column, least) if low < least else column)
            extremes.append((max(low, least), max(high, least)))
        if not self._fits(extremes):
            return []
        for place, pair in enumerate(extremes):
            if not isinstance(found[place], int):
                found[place] = found[place].astype(self._number(pair), copy=False)
        return [*found, *self.program.constants]

    def _fits(self, extremes: list[tuple[int, int]]) -> bool:
        """Whether no step can leave 63 bits; then the box of what is known to fit has grown."""
        box = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(self.box or extremes, extremes, strict=True)]
        if self.box == box and self.steps:
            return True
        for self.box in (box, extremes):
            bounds = self.program.bounds(self.box)
            known = [pair for pair in bounds if pair is not None and pair[0] >= -LIMIT and pair[1] < LIMIT]
            if len(known) == len(bounds):
                self.bounds = known
                self.steps = [
                    (kind, left, right, self._kind_of_number(kind, known[left], known[right], result))
                    for (kind, left, right), result in zip(self.program.steps, known[self.program.first :], strict=True)
                ]
                return True
        self.box = []
        return False

    def _number(self, *bounds: tuple[int, int]) -> Any:
        """Return the narrowest whole numbers that hold these bounds."""
        return self.np.int32 if all(low >= -_NARROW and high < _NARROW for low, high in bounds) else self.np.int64

    def _kind_of_number(self, kind: Kind, left: tuple[int, int], right: tuple[int, int], result: tuple[int, int]) -> Any:
        """Return whether a check always holds, the floats in which a quotient is exact, or the whole numbers that hold a step."""
        if kind in CHECKS:
            return always(kind, left, right)
        if kind in QUOTIENTS:
            largest = max(abs(bound) for bound in (*left, *right))
            return self.np.float32 if largest < _SINGLE else self.np.float64 if largest < _DOUBLE else self.np.int64
        return self._number(left, right, result)

    def _divided(self, one: Any, other: Any, number: Any, place: int) -> tuple[Any, Any]:
        """Return a quotient, and where it is whole.

        That is seen in floats, for a remainder takes much longer: where the rounded quotient times the divisor equals the dividend, it
        divides, for below 2**24 (2**53) whole numbers are exact in float32 (float64).
        """
        np = self.np
        one, other = np.asarray(one).astype(number, copy=False), np.asarray(other).astype(number)
        quotient = np.asarray(np.floor_divide(one, other) if number is np.int64 else np.divide(one, other))
        if number is not np.int64:
            np.rint(quotient, out=quotient)
        passed = np.multiply(quotient, other, out=other if other.shape == quotient.shape else None) == one
        if place not in self.last:
            return None, passed
        value = quotient.astype(self._number(self.bounds[place]), copy=False)
        return (value if passed.all() else np.maximum(value, self.bounds[place][0])), passed  # what comes of it stays within its bounds
