"""Exact values of closed forms: one configuration, columns of them, or a whole grid; whole numbers always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, overload

from sympy import Expr

from paramsym.algebra.wanted import symbol_of
from paramsym.analysis.counted import Counted, title
from paramsym.analysis.evaluate.columns import as_column, run
from paramsym.analysis.evaluate.compiling import compiled, stated
from paramsym.analysis.evaluate.frames import as_given, is_lazy, lazily, together
from paramsym.analysis.evaluate.straight_line import LIMIT, SURE, Broken, StraightLine
from paramsym.errors import ArgumentError, ParamsymError, SizeError, UnknownNameError
from paramsym.naming import quoted
from paramsym.render.printed import Printed

CHUNK = 65_536
"""Rows computed at once: few enough for the cache, many enough that the overhead of a piece does not count."""


@dataclass(frozen=True, eq=False)
class Approximate(Printed):
    """Approximate floats: ``values``, and the largest relative error of each."""

    values: Any
    relative_error: float

    def __str__(self) -> str:
        return f"{self.values} (relative error at most {self.relative_error:.3g})"


@overload
def evaluate(
    subject: Counted | Expr | int, sizes: Any = None, /, *, floats: Literal[False] = False, chunk: int = CHUNK, **named: Any
) -> Any: ...
@overload
def evaluate(
    subject: Counted | Expr | int, sizes: Any = None, /, *, floats: Literal[True], chunk: int = CHUNK, **named: Any
) -> Approximate: ...
def evaluate(subject: Counted | Expr | int, sizes: Any = None, /, *, floats: bool = False, chunk: int = CHUNK, **named: Any) -> Any:
    """Return the exact number of parameters of a layer, or the exact value of an expression, at sizes.

    ``sizes`` maps names or symbols to ints, sequences or arrays of whole numbers; it may also be a data frame of pandas or polars (unknown
    columns are an error: select the others). Arrays broadcast, so a grid needs no copies. Ints alone give an int; arrays give a NumPy
    array, a Series of pandas or polars a Series, arrays of dask an array of dask, whose blocks are computed and checked later. int64 is
    used if a bound computed before each piece shows that nothing can overflow, otherwise Python integers (dtype object).

    Answers and refusals are those of ``layer.at(sizes).count``, in every row; the error names the first refused row.

    ``floats=True`` returns an ``Approximate`` instead: the exact values, each rounded once.

    Raises:
        UnknownNameError: a name that the formula does not have, or a missing symbol.
        DivisibilityError: an exact quotient that is not whole in some row, or a value that is not.
        SizeError: sizes that are not whole, or too small; arrays that do not broadcast.
        StructureError: sizes that would change which tensors exist.

    >>> from paramsym import H, MultiHeadAttention
    >>> from paramsym.models import Bert
    >>> evaluate(Bert(), {"V": 30522, "P": 512, "T": 2, "H": 768, "A": 12, "L": 12, "F": 3072})
    109482240
    >>> [evaluate(MultiHeadAttention(H, 12), H=width) for width in (768, 1536)]  # with NumPy, H=[768, 1536] gives both at once
    [2362368, 9443328]
    >>> evaluate(MultiHeadAttention(H, 12), H=786)
    Traceback (most recent call last):
        ...
    paramsym.errors.DivisibilityError: MultiHeadAttention: embed_dim 786 is not divisible by num_heads 12 (786 = 65*12 + 6).
    """
    if type(chunk) is not int or chunk < 1:
        raise ArgumentError(f"chunk is {quoted(chunk)}; wanted a positive number of rows.")
    given = named if sizes is None else sizes if type(sizes) is dict and not named else together(title(subject), sizes, named)
    plan = _plans.get((id(subject), *given)) or planned(subject, tuple(given))
    values = [*given.values()]
    result = plan.quick(values)
    if result is None:
        result = plan.careful(values, chunk)
    return Approximate(_rounded(result, title(subject)), 2.0**-53) if floats else result


@dataclass(frozen=True)
class Plan:
    """The program for given names of sizes, in their order."""

    subject: Counted | Expr | int
    program: StraightLine

    def quick(self, values: Sequence[Any]) -> int | None:
        """Return the value for whole numbers that meet all conditions, otherwise None."""
        for value, least in zip(values, self.program.least):  # noqa: B905 - both have the same length, and a check would take time here
            if type(value) is not int or not least <= value < LIMIT:
                return None
        try:
            return self.program.run(values)
        except Broken:
            return None

    def count(self, values: Sequence[int], *, sure: bool = False) -> int:
        """Return the value for whole numbers: the count of ``at``.

        The program's value is right if it accepts the sizes; if not, ``at`` decides, and names the field. With ``sure`` a final refusal of
        the program is not checked by ``at``.

        Raises:
            ParamsymError: sizes that the subject cannot have.
        """
        program, subject = self.program, self.subject
        layer = subject if isinstance(subject, Counted) else None
        below = next((row for row in zip(program.inputs, values, program.least, strict=True) if row[1] < row[2]), None)
        try:
            value = program.run(values)
            if below is None and (layer is None or all(size < LIMIT for size in values)):
                return value
        except Broken as broken:
            if layer is None or broken.kind == "pow" or (sure and broken.kind in SURE):
                raise broken.error from None
            sure = False
        if layer is None or (sure and below is not None):
            raise SizeError("{} is {}; wanted {} or more.".format(*below or ()))
        return layer.at(dict(zip(program.inputs, values, strict=True))).count

    def careful(self, values: Sequence[Any], chunk: int) -> Any:
        """Return the value for columns, or for values that must be converted."""
        program, where = self.program, title(self.subject)
        if any(map(is_lazy, values)):
            return lazily(partial(evaluate, self.subject, chunk=chunk), program.inputs, values)
        try:
            columns = [as_column(value, symbol.name) for symbol, value in zip(program.inputs, values, strict=True)]
            if all(isinstance(column, int) for column in columns):
                return self.count(columns)
            return as_given(run(program, columns, self.count, chunk)[0], values)
        except ParamsymError as error:
            said = str(error)
            for name in (where, type(self.subject).__name__):
                said = said.replace(f"{name}: ", "", 1).replace(f"{name}.at(): ", "", 1)
            raise type(error)(f"{where}: {said}") from None


_plans: dict[tuple[Any, ...], Plan] = {}
"""Plans by the identity of the subject, which the plan keeps alive, and by the given names: comparing all fields of a model takes longer
than counting its parameters."""
_REMEMBERED = 128


def planned(subject: Counted | Expr | int, keys: tuple[Any, ...]) -> Plan:
    """Check the names once, and cache the plan."""
    statement, where = stated(subject), title(subject)
    known = frozenset(statement.symbols)
    symbols = [symbol_of(where, key, known) for key in keys]
    twice = next((symbol for symbol in symbols if symbols.count(symbol) > 1), None)
    if twice is not None:
        raise SizeError(f"{where}: {twice} is given twice.")
    missing = [symbol.name for symbol in statement.needed if symbol not in symbols]
    if missing:
        message = f"{where} needs a size for {', '.join(missing)}; it has {', '.join(symbol.name for symbol in statement.symbols)}."
        raise UnknownNameError(message)
    if len(_plans) >= _REMEMBERED:
        _plans.clear()
    plan = _plans[id(subject), *keys] = Plan(subject, compiled(subject, inputs=tuple(symbols)))
    return plan


def as_function(subject: Counted | Expr | int) -> Any:
    """Return a function of the sizes, by name, for any type with ``+``, ``*`` and ``//``: arrays of any library, also lazy ones.

    Nothing is checked and nothing is converted: an array of 64-bit integers overflows as in its library. ``evaluate`` is the checked
    function; use this one for other array libraries, after ``evaluate`` at the largest sizes has shown that the values fit.

    >>> from paramsym import Dense, F, H
    >>> as_function(Dense(H, F))(F=3072, H=768)
    2362368
    """
    program, needed = compiled(subject), [symbol.name for symbol in stated(subject).needed]

    def apply(**sizes: Any) -> Any:
        unknown = sorted(sizes.keys() - {symbol.name for symbol in program.inputs})
        missing = sorted(set(needed) - sizes.keys())
        if unknown or missing:
            found = f"{unknown[0]} is unknown" if unknown else f"{missing[0]} is missing"
            raise UnknownNameError(f"wanted sizes for {', '.join(needed)}; {found}.")
        return program.apply([sizes.get(symbol.name, 1) for symbol in program.inputs])

    return apply


def _rounded(result: Any, where: str) -> Any:
    try:
        if isinstance(result, int):
            return float(result)
        return result.astype(float) if hasattr(result, "astype") else result.cast(float)
    except OverflowError:
        raise SizeError(f"{where}: a value is beyond the largest float; leave out floats=True.") from None
