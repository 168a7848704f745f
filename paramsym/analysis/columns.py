"""Running a program on columns: in pieces that stay in the cache, with a bound checked before each piece, and never wrapping around.

NumPy is imported when a column arrives. Every piece is bounded in Python integers first: where each step fits in 63 bits the piece is
computed in int64, otherwise on Python integers.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

from paramsym.analysis.program import Bounds, Op, Program, fault
from paramsym.errors import SizeError
from paramsym.optional import needed

Column: TypeAlias = Any
"""An int, or a NumPy array of whole numbers."""
_LIMIT = 2**63
_CHECKED = frozenset({"divides", "exact", "most"})
_SINGLE, _DOUBLE = 2**24, 2**53  # below these, whole numbers are exact in float32 and float64


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

    array: Any = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and int(array.max()) >= _LIMIT:
        array = array.astype(object)
    if array.dtype.kind not in "iu":
        if array.dtype.kind not in "fO" or (isinstance(value, np.ndarray) and array.dtype.kind == "f" and array.size):
            message = f"{name} is a column of {array.dtype}; sizes are whole numbers. Convert it with .astype('int64') if they are."
            raise SizeError(message)
        array = np.asarray(value, dtype=object)  # a list of large ints, which NumPy would have made floats of
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
        message = f"{name} is {value!r} ({type(value).__name__}); a size is a whole number or a column of them."
        raise SizeError(message)
    return number


def run(program: Program, columns: Sequence[Column], least: Sequence[int], chunk: int) -> Any:
    """Return a NumPy array with the value for every row of the broadcast columns: int64, or Python ints where that would overflow.

    Raises:
        DivisibilityError, SizeError: the first row that contradicts a condition.
    """
    np = needed("numpy", "computing with columns", "numpy")

    runner = _Runner(np, program, tuple(least))
    shape = np.broadcast_shapes(*(np.shape(column) for column in columns))
    result = np.empty(shape, np.int64)
    wide: Any = None
    aligned = [
        column if isinstance(column, int) else column.reshape((1,) * (len(shape) - column.ndim) + column.shape) for column in columns
    ]
    for where in blocks(shape, chunk):
        pieces = [column if isinstance(column, int) else column[_within(column.shape, where)] for column in aligned]
        value = runner.piece(pieces, where, None if wide is not None else result[where])
        if value is None:
            continue
        if wide is None and getattr(getattr(value, "dtype", None), "kind", "i") == "O" and _beyond(value):
            wide = result.astype(object)  # what came before fitted; from here on Python ints
        (result if wide is None else wide)[where] = value
    return result if wide is None else wide


def _beyond(value: Any) -> bool:
    return any(not -_LIMIT <= entry < _LIMIT for entry in value.flat)


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


@dataclass
class _Runner:
    """Runs one program piece by piece; keeps the largest box of inputs known to fit, so that the bound is computed rarely."""

    np: Any
    program: Program
    least: tuple[int, ...]
    box: list[Bounds] = field(default_factory=list)
    bounds: list[Bounds] = field(default_factory=list)
    last: dict[int, int] = field(default_factory=dict)
    ufuncs: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note where each register is read for the last time."""
        for position, op in enumerate(self.program.ops, self.program.first):
            self.last[op.left] = self.last[op.right] = position
        self.last[self.program.result] = -1
        self.ufuncs = _ufuncs(self.np)

    def piece(self, columns: list[Column], where: tuple[slice, ...], target: Any) -> Any:
        """Return the value of one piece; None where it was written to the target already."""
        extremes = [(column, column) if isinstance(column, int) else (int(column.min()), int(column.max())) for column in columns]
        for position, (low, _) in enumerate(extremes):
            if low < self.least[position]:
                self._too_small(position, columns[position], where)
        if self._fits(extremes):
            return self._on_machine_integers(columns, where, target)
        return self._on_python_integers(columns, where)

    def _fits(self, extremes: list[Bounds]) -> bool:
        if self.box:
            grown = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(self.box, extremes, strict=True)]
            if grown == self.box:
                return True
        else:
            grown = extremes
        for box in (grown, extremes):
            bounds = self.program.bounds(box)
            if bounds is not None and all(low >= -_LIMIT and high < _LIMIT for low, high in bounds):
                self.box, self.bounds = box, bounds
                return True
        return False

    def _on_machine_integers(self, columns: list[Column], where: tuple[slice, ...], target: Any) -> Any:
        np, program = self.np, self.program
        registers: list[Any] = [column if isinstance(column, int) else column.astype(np.int64, copy=False) for column in columns]
        registers.extend(program.constants)
        ufuncs, last, first = self.ufuncs, self.last, program.first
        singles: dict[int, Any] = {}
        for position, op in enumerate(program.ops, first):
            left, right = registers[op.left], registers[op.right]
            if isinstance(left, int) and isinstance(right, int):
                registers.append(program_step(op, left, right))
                continue
            if op.kind in _CHECKED:
                registers.append(self._checked(op, left, right, singles, where, needed=position in program.needed))
                continue
            # A result that nobody reads again is overwritten: fewer passes through the cache.
            one, other = getattr(left, "shape", None), getattr(right, "shape", None)
            out: Any = None
            if position == program.result and target is not None and target.shape in {one, other} and (one is None or other in {None, one}):
                ufuncs[op.kind](left, right, out=target)
                return None
            if op.left >= first and last[op.left] == position and one is not None and (other is None or one == other):
                out = left
            elif op.right >= first and last[op.right] == position and other is not None and (one is None or one == other):
                out = right
            registers.append(ufuncs[op.kind](left, right, out=out))
        return registers[program.result]

    def _checked(self, op: Op, left: Any, right: Any, singles: dict[int, Any], where: tuple[slice, ...], *, needed: bool) -> Any:
        """Return the result of a step that may refuse a row."""
        if op.kind == "divides":
            return self._quotient(op, left, right, singles, where, needed=needed)
        if op.kind == "most":
            if bool((left > right).any()):
                self._refuse(op, left, right, where)
            return 0
        quotient = self.np.floor_divide(left, right)
        if bool((quotient * right != left).any()):
            self._refuse(op, left, right, where)
        return quotient

    def _on_python_integers(self, columns: list[Column], where: tuple[slice, ...]) -> Any:
        """Row by row on Python integers, which cannot overflow."""
        np = self.np
        spread = np.broadcast_arrays(*(np.asarray(column, dtype=object) for column in columns))
        shape = tuple(one.stop - one.start if one.stop is not None else spread[0].shape[axis] for axis, one in enumerate(where))
        spread = [np.broadcast_to(column, shape) for column in spread]
        result = np.empty(shape, object)
        for index in np.ndindex(*shape):
            try:
                result[index] = self.program.run([column[index] for column in spread])
            except SizeError as error:
                message = f"{_row(where, index)}: {error}"
                raise type(error)(message) from None
        return result

    def _quotient(self, op: Op, left: Any, right: Any, singles: dict[int, Any], where: tuple[slice, ...], *, needed: bool) -> Any:
        """Return the quotient, or raise where it is not whole.

        Below 2**24 (2**53) whole numbers are exact in float32 (float64), and a product of the rounded quotient and the divisor that equals
        the dividend proves that it divides: both sides are exact there. That is several times faster than a remainder of integers.
        """
        np = self.np
        highest = max(self.bounds[op.left][1], self.bounds[op.right][1])
        if self.bounds[op.right][0] <= 0 and bool(np.min(right) <= 0):
            self._refuse(op, left, right, where)
        if highest >= _DOUBLE or self.bounds[op.left][0] < 0:
            quotient = np.floor_divide(left, right)
            if bool((quotient * right != left).any()):
                self._refuse(op, left, right, where)
            return quotient
        kind = np.float32 if highest < _SINGLE else np.float64
        sides = []
        for register, value in ((op.left, left), (op.right, right)):
            key = 2 * register + (kind is np.float64)
            if key not in singles:
                singles[key] = kind(value) if isinstance(value, int) else value.astype(kind)
            sides.append(singles[key])
        above, below = sides
        quotient = np.divide(above, below)
        np.rint(quotient, out=quotient)
        if not bool((quotient * below == above).all()):
            self._refuse(op, left, right, where)
        return quotient.astype(np.int64) if needed else 0

    def _refuse(self, op: Op, left: Any, right: Any, where: tuple[slice, ...]) -> None:
        """Raise for the first row that contradicts a condition."""
        np = self.np
        above, below = np.broadcast_arrays(left, right)
        for index in np.ndindex(*above.shape):
            one, other = int(above[index]), int(below[index])
            if (one > other) if op.kind == "most" else (not other or one % other != 0):
                raise fault(op, one, other, _row(where, index))

    def _too_small(self, position: int, column: Column, where: tuple[slice, ...]) -> None:
        name, least = self.program.inputs[position].name, self.least[position]
        if isinstance(column, int):
            message = f"{name} is {column}; wanted {least} or more."
            raise SizeError(message)
        index = tuple(int(i) for i in self.np.argwhere(column < least)[0])
        message = f"{_row(where, index)}: {name} is {int(column[index])}; wanted {least} or more."
        raise SizeError(message)


def program_step(op: Op, left: int, right: int) -> int:
    """Return one step on two Python integers, checked."""
    return Program((), (left, right), (Op(op.kind, 0, 1),), 2, (), frozenset()).run(())


def _ufuncs(np: Any) -> dict[str, Any]:
    return {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "floordiv": np.floor_divide,
        "mod": np.remainder,
        "max": np.maximum,
        "min": np.minimum,
        "pow": np.power,
    }


def _row(where: tuple[slice, ...], index: tuple[int, ...]) -> str:
    found = [(one.start or 0) + (i if one.start is None or one.stop - one.start > 1 else 0) for one, i in zip(where, index, strict=True)]
    return f"row {found[0]}" if len(found) == 1 else f"row {tuple(found)}"
