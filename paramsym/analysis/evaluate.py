"""Exact values of closed forms: one configuration, columns of them, or a whole grid; whole numbers always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, overload

from sympy import Expr, Integer, Symbol

from paramsym.analysis import columns as vectorised
from paramsym.analysis.bytecode import Quick, function_of
from paramsym.analysis.frames import as_given, is_lazy, lazily, together
from paramsym.analysis.program import REFUSED, Program, compiled, narrowed
from paramsym.errors import ArgumentError, ParamsymError, SizeError, UnknownNameError
from paramsym.layer import Layer
from paramsym.naming import quoted
from paramsym.render.table import Printed
from paramsym.sizing import mapping_from

CHUNK = 65_536
"""Rows computed at once: few enough that the columns at hand stay in the cache, many enough that the steps between pieces do not count."""


@dataclass(frozen=True, eq=False)
class Approximate(Printed):
    """Floats that were asked for: ``values``, and how far each may be from the exact value, relative to it."""

    values: Any
    relative_error: float

    def __str__(self) -> str:
        return f"{self.values} (relative error at most {self.relative_error:.3g})"


@overload
def evaluate(
    subject: Layer | Expr | int, sizes: Any = None, /, *, floats: Literal[False] = False, chunk: int = CHUNK, **named: Any
) -> Any: ...
@overload
def evaluate(
    subject: Layer | Expr | int, sizes: Any = None, /, *, floats: Literal[True], chunk: int = CHUNK, **named: Any
) -> Approximate: ...
def evaluate(subject: Layer | Expr | int, sizes: Any = None, /, *, floats: bool = False, chunk: int = CHUNK, **named: Any) -> Any:
    """Return the exact number of parameters of a layer, or the exact value of an expression, at sizes.

    ``sizes`` maps names or symbols to ints, sequences or arrays of whole numbers; a data frame of pandas or polars will do (columns the
    formula does not know are an error: select those it has). Arrays broadcast, so that a grid needs no copies. Ints alone give an int;
    arrays give a NumPy array, a Series of pandas or polars a Series, arrays of dask an array of dask, whose blocks are computed and checked
    when they are asked for. int64 is used where a bound computed before each piece shows that nothing can overflow, Python integers (dtype
    object) where it does not.

    The conditions the layer was built under (A divides H; k is at most E; two widths differ where equal ones would change which tensors
    exist) are checked in every row in which their sizes are given, and the first row that contradicts one is named. What contradicts flags
    only, and changes no count, is checked by ``at`` alone.

    ``floats=True`` returns an ``Approximate`` instead: the exact values, each rounded once.

    Raises:
        UnknownNameError: a name the formula does not have, or a symbol it needs that is not given.
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
    paramsym.errors.DivisibilityError: MultiHeadAttention: 786 is not divisible by 12 (786 = 65*12 + 6).
    """
    if type(chunk) is not int or chunk < 1:
        message = f"chunk is {quoted(chunk)}; wanted a positive number of rows."
        raise ArgumentError(message)
    given = named if sizes is None else sizes if type(sizes) is dict and not named else together(called(subject), sizes, named)
    plan = _plans.get((id(subject), *given))
    result = None if plan is None else plan.function(*given.values())
    if result is None:
        plan = plan or planned(subject, tuple(given))
        try:
            result = plan.run([*given.values()], chunk)
        except REFUSED as error:
            message = f"{called(subject)}: {error}"
            raise type(error)(message) from None
    return Approximate(_rounded(result, called(subject)), 2.0**-53) if floats else result


def called(subject: Layer | Expr | int) -> str:
    """Return what errors call the subject."""
    return type(subject).__name__ if isinstance(subject, Layer) else "the expression"


@dataclass(frozen=True)
class Plan:
    """What is known once it is known which sizes are given: the program that reads them in this order, without conditions on others."""

    subject: Layer | Expr | int
    program: Program

    @cached_property
    def function(self) -> Quick:
        """The program for whole numbers that nothing speaks against; what is asked once can do without."""
        return function_of(self.program)

    def run(self, values: Sequence[Any], chunk: int) -> Any:
        """Return the value for columns, or for numbers that have to be looked at."""
        program = self.program
        if any(map(is_lazy, values)):
            return lazily(partial(evaluate, self.subject, chunk=chunk), program.inputs, values)
        columns = [vectorised.as_column(value, symbol.name) for symbol, value in zip(program.inputs, values, strict=True)]
        least = self.least(columns)
        if not all(isinstance(column, int) for column in columns):
            return as_given(vectorised.run(program, columns, least, chunk)[0], values)
        for symbol, value, smallest in zip(program.inputs, columns, least, strict=True):
            if value < smallest:
                message = f"{symbol} is {value}; wanted {smallest} or more."
                raise SizeError(message)
        return program.run(columns)

    def least(self, columns: Sequence[Any]) -> list[int]:
        """Return 0 for symbols that may be zero, else 1; what is known to be positive is not asked about."""
        return [
            1 if isinstance(column, int) and column > 0 else _least_of(self.subject, symbol)
            for symbol, column in zip(self.program.inputs, columns, strict=True)
        ]


_plans: dict[tuple[Any, ...], Plan] = {}
"""By the identity of what is asked about, which a plan keeps alive, and the names given: looking at all of a model's fields takes longer
than counting its parameters."""
_REMEMBERED = 128


def planned(subject: Layer | Expr | int, keys: tuple[Any, ...]) -> Plan:
    """Look at the names once, and remember what follows."""
    program = compiled(subject)
    where = called(subject)
    by_name = {symbol.name: symbol for symbol in program.inputs}
    symbols: dict[Symbol, None] = {}
    for key in keys:
        symbol = by_name.get(key if isinstance(key, str) else getattr(key, "name", ""))
        if symbol is None or (isinstance(key, Symbol) and key != symbol):
            mapping_from(where, [(key, 1)], frozenset(program.inputs))  # raises, and says what there is
            continue
        if symbol in symbols:
            message = f"{where}: {symbol} is given twice."
            raise SizeError(message)
        symbols[symbol] = None
    missing = [symbol.name for register, symbol in enumerate(program.inputs) if symbol not in symbols and register in program.needed]
    if missing:
        message = f"{where} needs a size for {', '.join(missing)}; it has {', '.join(by_name)}."
        raise UnknownNameError(message)
    if len(symbols) < len(program.inputs):  # conditions on symbols that cancel, and that were left out, cannot be checked
        program = narrowed(subject, frozenset(symbols))
    if len(_plans) >= _REMEMBERED:
        _plans.clear()
    plan = _plans[id(subject), *keys] = Plan(subject, program.reading(tuple(symbols)))
    return plan


def as_function(subject: Layer | Expr | int) -> Any:
    """Return a function of the sizes, by name, that runs on whatever knows ``+``, ``*`` and ``//``: arrays of any library, lazy ones too.

    Nothing is checked and nothing is converted: an array of 64-bit integers wraps around as its library has it. ``evaluate`` is the checked
    door; this one is for engines of one's own, after ``evaluate`` at the largest sizes has shown that they fit.

    >>> from paramsym import Dense, F, H
    >>> as_function(Dense(H, F))(F=3072, H=768)
    2362368
    """
    program = compiled(subject)
    names = [symbol.name for symbol in program.inputs]

    def apply(**sizes: Any) -> Any:
        unknown = sorted(sizes.keys() - set(names))
        used = {symbol.name for symbol, register in zip(program.inputs, range(len(names)), strict=True) if register in program.needed}
        missing = sorted(used - sizes.keys())
        if unknown or missing:
            message = (
                f"wanted sizes for {', '.join(sorted(used))}; {f'{unknown[0]} is not known' if unknown else f'{missing[0]} is missing'}."
            )
            raise UnknownNameError(message)
        return program.apply([sizes.get(name, 1) for name in names])

    return apply


@lru_cache(maxsize=1024)
def _least_of(subject: Layer | Expr | int, symbol: Symbol) -> int:
    if not isinstance(subject, Layer):
        return 0
    try:
        subject.substituted({symbol: Integer(0)})
    except ParamsymError:
        return 1
    return 0


def _rounded(result: Any, where: str) -> Any:
    try:
        if isinstance(result, int):
            return float(result)
        return result.astype(float) if hasattr(result, "astype") else result.cast(float)
    except OverflowError:
        message = f"{where}: a value is beyond the largest float; leave out floats=True."
        raise SizeError(message) from None
