"""One piece of columns at a time: bounded first, then computed in the narrowest kind of number that holds every step.

A piece whose bounds exceed 63 bits is computed row by row on Python integers, so that nothing ever wraps around. What is to be called on
which memory is laid out once; from piece to piece only the columns change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from operator import itemgetter
from typing import Any, TypeAlias, cast

from paramsym.analysis.program import CHECKS, QUOTIENTS, REFUSED, Bounds, Kind, Program, fault
from paramsym.errors import SizeError

Column: TypeAlias = Any
"""An int, or a NumPy array of whole numbers."""
LIMIT = 2**63
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


class Pieces:
    """Computes one program piece by piece; keeps the largest box of inputs known to fit, so that bounds are computed rarely.

    ``entries`` is the size of the largest piece. With ``drop``, rows that contradict a condition are told and not refused.
    """

    def __init__(self, np: Any, program: Program, least: Sequence[int], entries: int, *, drop: bool = False) -> None:
        """Keep what stays the same from piece to piece."""
        self.np, self.program, self.least, self.entries, self.drop = np, program, least, entries, drop
        self.box: list[Bounds] = []
        self.kinds: list[Any] = []
        self.layouts: dict[tuple[Any, ...], _Layout] = {}
        self.memory: dict[Any, list[Any]] = {}
        self.where: tuple[slice, ...] = ()
        self.kept: Any = None

    def compute(self, columns: list[Column], where: tuple[slice, ...], target: Any, kept: Any) -> Any:
        """Return the values of one piece, or None where they were written to the target; ``kept`` is told which rows hold."""
        np = self.np
        self.where, self.kept = where, kept
        key = (target.shape, *(0 if isinstance(column, int) else (column.shape, column.dtype.type) for column in columns))
        layout = self.layouts.get(key)
        extremes: list[Bounds] = []
        for position, column in enumerate(columns):
            if isinstance(column, int):
                extremes.append((column, column))
                continue
            low, high = int(np.minimum.reduce(column, None)), int(np.maximum.reduce(column, None))
            extremes.append((low, high))
            if layout is not None and self.box[position][0] <= low and high <= self.box[position][1]:
                layout.read(position, column)  # while it is in the cache
            else:
                layout = None
        if layout is None:
            small = next((position for position, (low, _) in enumerate(extremes) if low < self.least[position]), None)
            if small is not None and not self.drop:
                self._too_small(small, columns[small])
            if small is not None or not self._fits(extremes):
                return self._on_python_integers(columns, target.shape)
            try:
                layout = self.layouts[key] = _Layout(self, columns, target.shape)
            except REFUSED:
                if not self.drop:
                    raise
                kept[...] = False
                return 0
            for position, column in enumerate(columns):
                layout.read(position, column)
        layout.run(target)
        return None

    def _fits(self, extremes: list[Bounds]) -> bool:
        """Whether no step can leave 63 bits; then the box of what is known to fit has grown."""
        grown = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(self.box or extremes, extremes, strict=True)]
        for box in (grown, extremes):
            bounds = self.program.bounds(box)
            if bounds is not None and all(low >= -LIMIT and high < LIMIT for low, high in bounds):
                if box != self.box:
                    self.box, self.kinds = box, list(self._narrowest(bounds))
                    self.layouts.clear()
                return True
        return False

    def _narrowest(self, bounds: list[Bounds]) -> Iterator[Any]:
        """Yield the kind of number for each step: its result and its operands fit in it.

        Whether one number divides another is seen in floats: below 2**24 (2**53) whole numbers are exact in float32 (float64), and where
        the rounded quotient times the divisor equals the dividend it divides, for both sides are exact. A remainder takes much longer.
        """
        np = self.np
        for position, (kind, *sides) in enumerate(self.program.steps, self.program.first):
            if kind in QUOTIENTS:
                low, high = bounds[sides[0]][0], max(bounds[register][1] for register in sides)
                yield np.int64 if low < 0 or high >= _DOUBLE else np.float32 if high < _SINGLE else np.float64
            else:
                widest = max(max(-bounds[register][0], bounds[register][1]) for register in (position, *sides))
                yield np.int32 if widest < _NARROW else np.int64

    def settle(self, left: Any, right: Any, passed: Any, kind: Kind) -> None:
        """Refuse the first row that did not pass, or tell which did."""
        if self.kept is not None:
            self.kept &= passed
        elif not passed.all():
            above, below = self.np.broadcast_arrays(left, right)
            index = tuple(int(i) for i in self.np.argwhere(~passed)[0])
            raise fault(kind, int(above[index]), int(below[index]), _row(self.where, index))

    def _on_python_integers(self, columns: list[Column], shape: tuple[int, ...]) -> Any:
        """Row by row on Python integers, which cannot overflow."""
        np = self.np
        spread = [np.broadcast_to(np.asarray(column, dtype=object), shape) for column in columns]
        result = np.zeros(shape, object)
        for index in np.ndindex(*shape):
            row = [column[index] for column in spread]
            try:
                if self.drop and any(value < least for value, least in zip(row, self.least, strict=True)):
                    self.kept[index] = False
                else:
                    result[index] = self.program.run(row)
            except REFUSED as error:
                if not self.drop:
                    message = f"{_row(self.where, index)}: {error}"
                    raise type(error)(message) from None
                self.kept[index] = False
        return result

    def _too_small(self, position: int, column: Column) -> None:
        name, least = self.program.inputs[position].name, self.least[position]
        if isinstance(column, int):
            message = f"{name} is {column}; wanted {least} or more."
            raise SizeError(message)
        index = tuple(int(i) for i in self.np.argwhere(column < least)[0])
        message = f"{_row(self.where, index)}: {name} is {int(column[index])}; wanted {least} or more."
        raise SizeError(message)


class _Layout:
    """What to call for pieces of one shape inside one box, and on which memory, which is used again from step to step.

    The slots hold the columns, then what they are turned into, constants and results. A register is an int, or the slots of one column in
    the kinds of numbers that it is read in.
    """

    def __init__(self, pieces: Pieces, columns: list[Column], shape: tuple[int, ...]) -> None:
        self.np, self.program, self.pieces = pieces.np, pieces.program, pieces
        self.slots: list[Any] = [None] * len(columns)
        self.casts: list[list[tuple[int, int]]] = [[] for _ in columns]
        self.calls: list[tuple[Callable[..., object], Callable[[list[Any]], Any]]] = []
        self.free = {kind: list(arrays) for kind, arrays in pieces.memory.items()}
        self.taken: dict[int, Any] = {}
        self.target = self._put(None)
        self.shapes: list[tuple[int, ...]] = [self.np.shape(value) for value in (*columns, *self.program.constants)]
        self.registers: list[Any] = [*columns, *self.program.constants]
        for position, column in enumerate(columns):
            if not isinstance(column, int):
                self.registers[position] = self._column(position, column)
        steps = self.program.steps
        last = {register: position for position, (_, *sides) in enumerate(steps, self.program.first) for register in sides}
        for position, ((kind, *sides), number) in enumerate(zip(steps, pieces.kinds, strict=True), self.program.first):
            done = [register for register in sides if last[register] == position and register != self.program.result]
            self._step(kind, number, sides, done, shape if position == self.program.result else None)
        result = self.registers[self.program.result]
        self.result = self._put(result) if isinstance(result, int) else result.get(self.np.int64, next(iter(result.values())))

    def read(self, position: int, column: Column) -> None:
        """Take the next piece of a column, in all kinds that it is read in."""
        if not isinstance(column, int):
            self.slots[position] = column
            for to, source in self.casts[position]:
                self.np.copyto(self.slots[to], self.slots[source], casting="unsafe")

    def run(self, target: Any) -> None:
        """Write the values to the target."""
        slots = self.slots
        slots[self.target] = target
        for function, arguments in self.calls:
            function(*arguments(slots))
        if self.result != self.target:
            target[...] = slots[self.result]

    def _column(self, position: int, column: Column) -> dict[Any, int]:
        """Say in which kinds a column is read; the narrow one comes first, because others are made of it faster."""
        own = {column.dtype.type: position}
        for kind in sorted(self._kinds_read(position), key=lambda kind: kind is not self.np.int32):
            if kind not in own:
                source = own.get(self.np.int32, position)
                own[kind] = self._room(column.shape, kind)
                self.casts[position].append((own[kind], source))
        return own

    def _kinds_read(self, register: int) -> dict[Any, None]:
        return {number: None for (_, *sides), number in zip(self.program.steps, self.pieces.kinds, strict=True) if register in sides}

    def _step(self, kind: Kind, number: Any, sides: Sequence[int], done: list[int], whole: tuple[int, ...] | None) -> None:
        """Lay out one step; ``done`` is read for the last time, ``whole`` the shape of the target where the step is the last."""
        one, other = (self.registers[register] for register in sides)
        if isinstance(one, int) and isinstance(other, int):
            self.registers.append(self.program.step(kind, one, other))
            self.shapes.append(())
            return
        left, right = (self._side(register, number) for register in sides)
        shape = self.np.broadcast_shapes(*(self.shapes[register] for register in sides))
        self.shapes.append(shape)
        result: Any = None
        if kind in QUOTIENTS or kind in CHECKS:
            result = self._check(kind, number, left, right, shape)
        for register in done:  # before the result takes its place, which may be theirs
            if not isinstance(self.registers[register], int):
                self._give(self.registers[register].values())
        if result is None:
            result = {number: self.target if number is self.np.int64 and shape == whole else self._room(shape, number)}
            self._call(self._function(kind), left, right, result[number])
        self.registers.append(result)

    def _function(self, kind: Kind) -> Callable[..., object]:
        function = getattr(self.np, _UFUNCS[kind])
        if kind in {"max", "min"}:  # these alone want the result's place as a keyword
            return lambda left, right, out: function(left, right, out=out)
        return cast("Callable[..., object]", function)

    def _check(self, kind: Kind, number: Any, left: int, right: int, shape: tuple[int, ...]) -> Any:
        """Lay out a step that may refuse rows; return its register."""
        np = self.np
        passed, word = self._room(shape, np.bool_), self._put(kind)
        result: Any = 0
        if kind in QUOTIENTS:
            quotient, product = self._room(shape, number), self._room(shape, number)
            if number is np.int64:
                self._call(np.floor_divide, left, right, quotient)
            else:
                self._call(np.divide, left, right, quotient)
                self._call(np.rint, quotient, quotient)
            self._call(np.multiply, quotient, right, product)
            self._call(np.equal, product, left, passed)
            self._give([product])
            result = {number: quotient}
        else:
            self._call(self._function(kind), left, right, passed)
        self._call(self.pieces.settle, left, right, passed, word)
        self._give([passed])
        return result

    def _side(self, register: int, kind: Any) -> int:
        """Return the slot of a register in a kind of number; NumPy takes ints as any."""
        value = self.registers[register]
        if isinstance(value, int):
            return self._put(value)
        if kind not in value:
            source = next(iter(value.values()))
            value[kind] = self._room(self.shapes[register], kind)
            self._call(_copied, value[kind], source)
        return value[kind]

    def _put(self, value: Any) -> int:
        self.slots.append(value)
        return len(self.slots) - 1

    def _call(self, function: Callable[..., object], *arguments: int) -> None:
        self.calls.append((function, itemgetter(*arguments)))

    def _room(self, shape: tuple[int, ...], kind: Any) -> int:
        if not self.free.get(kind):
            flat = self.np.empty(self.pieces.entries, kind)
            self.pieces.memory.setdefault(kind, []).append(flat)
            self.free[kind] = [flat]
        flat = self.free[kind].pop()
        slot = self._put(flat[: prod(shape)].reshape(shape))
        self.taken[slot] = flat
        return slot

    def _give(self, slots: Iterable[int]) -> None:
        for slot in slots:
            if slot in self.taken:
                flat = self.taken.pop(slot)
                self.free[flat.dtype.type].append(flat)


def _copied(to: Any, source: Any) -> None:
    to[...] = source


def _row(where: tuple[slice, ...], index: tuple[int, ...]) -> str:
    found = [(one.start or 0) + (i if one.start is None or one.stop - one.start > 1 else 0) for one, i in zip(where, index, strict=True)]
    return f"row {found[0]}" if len(found) == 1 else f"row {tuple(found)}"
