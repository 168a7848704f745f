"""Exact values of closed forms: one configuration, columns of them, or a whole grid; whole numbers always."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, overload

from sympy import Expr, Integer, Symbol

from paramsym.analysis import columns as vectorised
from paramsym.analysis.program import Program, compiled, narrowed
from paramsym.errors import ArgumentError, ParamsymError, SizeError, UnknownNameError
from paramsym.layer import Layer
from paramsym.optional import needed
from paramsym.sizing import mapping_from

CHUNK = 65_536
"""Rows computed at once: few enough that the columns at hand stay in the cache, many enough that the steps between pieces do not count."""


@dataclass(frozen=True, eq=False)
class Approximate:
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
    arrays give a NumPy array, a Series of pandas a Series with its index. int64 is used where a bound computed before each piece shows
    that nothing can overflow, Python integers (dtype object) where it does not.

    The conditions the layer was built under (A divides H; k is at most E) are checked in every row in which their sizes are given, and
    the first row that contradicts one is named. Conditions a layer states in other words, and sizes that would change which tensors exist,
    are only checked by ``at``.

    ``floats=True`` returns an ``Approximate`` instead: the exact values, each rounded once.

    Raises:
        UnknownNameError: a name the formula does not have, or a symbol it needs that is not given.
        DivisibilityError: an exact quotient that is not whole in some row, or a value that is not.
        SizeError: sizes that are not whole, or too small; arrays that do not broadcast.

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
    program = compiled(subject)
    where = type(subject).__name__ if isinstance(subject, Layer) else "the expression"
    if type(chunk) is not int or chunk < 1:
        message = f"chunk is {chunk!r}; wanted a positive number of rows."
        raise ArgumentError(message)
    given = _given(where, sizes, named, program)
    columns = {symbol: vectorised.as_column(value, symbol.name) for symbol, value in given.items()}
    if len(columns) < len(program.inputs):
        program = _without(subject, frozenset(columns), where)
    values = [columns[symbol] for symbol in program.inputs]
    least = [_least(subject, symbol, value) for symbol, value in zip(program.inputs, values, strict=True)]
    try:
        result: Any
        if all(isinstance(value, int) for value in columns.values()):
            _check_least(program, values, least)
            result = program.run(values)
        else:
            extra = [column for symbol, column in columns.items() if symbol not in program.inputs]
            result = _spread(vectorised.run(program, values, least, chunk), extra)
    except SizeError as error:
        message = f"{where}: {error}"
        raise type(error)(message) from None
    except ValueError as error:
        if isinstance(error, ParamsymError):
            raise
        message = f"{where}: the columns do not go together: {error}."
        raise SizeError(message) from None
    if floats:
        return Approximate(_rounded(result, where), 2.0**-53)
    return _as_given(result, given.values())


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


def _given(where: str, sizes: Any, named: Mapping[str, Any], program: Program) -> dict[Symbol, Any]:
    by_name = {symbol.name: symbol for symbol in program.inputs}
    pairs: list[tuple[Any, Any]] = []
    if sizes is not None:
        keys = sizes.keys() if hasattr(sizes, "keys") else getattr(sizes, "columns", None)
        if keys is None or isinstance(sizes, str):
            message = f"{where}: sizes are a mapping or a data frame from names to numbers, not {sizes!r}."
            raise ArgumentError(message)
        pairs.extend((key, sizes[key]) for key in keys)
    pairs.extend(named.items())
    found: dict[Symbol, Any] = {}
    for key, value in pairs:
        symbol = by_name.get(key if isinstance(key, str) else getattr(key, "name", ""))
        if symbol is None or (isinstance(key, Symbol) and key != symbol):
            mapping_from(where, [(key, 1)], frozenset(program.inputs))  # raises, and says what there is
            continue
        if symbol in found:
            message = f"{where}: {symbol} is given twice."
            raise SizeError(message)
        found[symbol] = value
    return found


@lru_cache(maxsize=256)
def _without(subject: Layer | Expr | int, held: frozenset[Symbol], where: str) -> Program:
    """Return the program without the conditions whose sizes were not given, where the formula itself does not need them."""
    program = compiled(subject)
    missing = sorted(symbol.name for symbol in program.inputs if symbol not in held and program.inputs.index(symbol) in program.needed)
    if missing:
        words = ", ".join(symbol.name for symbol in program.inputs)
        message = f"{where} needs a size for {', '.join(missing)}; it has {words}."
        raise UnknownNameError(message)
    return narrowed(subject, held)


def _least(subject: Layer | Expr | int, symbol: Symbol, value: Any) -> int:
    """Return 0 for a symbol that may be zero, else 1; asked only where a zero might be among the values."""
    if isinstance(value, int) and value > 0:
        return 1
    return _least_of(subject, symbol)


@lru_cache(maxsize=1024)
def _least_of(subject: Layer | Expr | int, symbol: Symbol) -> int:
    if not isinstance(subject, Layer):
        return 0
    try:
        subject.substituted({symbol: Integer(0)})
    except ParamsymError:
        return 1
    return 0


def _check_least(program: Program, values: list[int], least: list[int]) -> None:
    for symbol, value, smallest in zip(program.inputs, values, least, strict=True):
        if value < smallest:
            message = f"{symbol} is {value}; wanted {smallest} or more."
            raise SizeError(message)


def _spread(result: Any, extra: list[Any]) -> Any:
    """Broadcast against columns that cancel from the formula and stand in no condition."""
    np = needed("numpy", "computing with columns", "numpy")

    shape = np.broadcast_shapes(np.shape(result), *(np.shape(column) for column in extra))
    return result if shape == result.shape else np.broadcast_to(result, shape).copy()


def _rounded(result: Any, where: str) -> Any:
    try:
        return float(result) if isinstance(result, int) else result.astype(float)
    except OverflowError:
        message = f"{where}: a value is beyond the largest float; leave out floats=True."
        raise SizeError(message) from None


def _as_given(result: Any, given: Any) -> Any:
    """Return a Series where Series came, with the index of the first."""
    for column in given:
        if hasattr(column, "to_numpy") and not isinstance(result, int):
            if hasattr(column, "index") and not callable(column.index):
                return type(column)(result, index=column.index, name="params")
            return type(column)("params", result)
    return result
