"""``generalise`` for tensors: letters in the place of numbers, by the meanings that the caller gives."""

from __future__ import annotations

import typing
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from sympy import Expr, Integer, Symbol

from paramsym.algebra.size import MAX_BITS, substitute, symbols_in, text
from paramsym.algebra.symbols import dims
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, StructureError
from paramsym.naming import quoted
from paramsym.program.statement import class_name

_SORTS = {
    "heads": "heads", "head": "heads", "nhead": "heads", "copies": "copies", "layers": "copies", "layer": "copies", "kernel_size": "kernel",
    "stride": "kernel", "padding": "kernel", "dilation": "kernel", "output_padding": "kernel", "groups": "groups",
}  # fmt: skip
"""The meaning of the number in a field, by the field's name or its last word, as in ``num_hidden_layers``."""


def _sort(field: str) -> str:
    """Return the meaning of the number in a field; other sizes are widths, also a table's rows: a vocabulary is the head's width, too."""
    return _SORTS.get(field) or _SORTS.get(field.rpartition("_")[2], "width")


@dataclass(frozen=True)
class InLetters:
    """A layer with letters put in for its numbers: ``letters`` says of each number what it means.

    ``elsewhere`` are numbers that are in no field of the layer, such as the number of heads of a module that was read.
    """

    layer: Layer
    letters: Mapping[tuple[str, int], Expr]
    elsewhere: frozenset[int]


def in_letters(layer: Layer, letters: Mapping[Any, Any], elsewhere: Collection[int] | None = None, called: str = "") -> InLetters:
    """Return a layer with letters put in for numbers.

    ``elsewhere`` are sizes that are no longer in its fields; if they are given, divisors of sizes may be in none of the fields.
    ``called`` is the name of the class in errors.

    Raises:
        StructureError: a number with two meanings, or a letter for two numbers.
        ArgumentError: a number that the layer does not contain.
    """
    wanted = _wanted(letters)
    found, missing = Counter(_numbers(layer)), set()
    sizes = {*(value for _, value in found), *(elsewhere or ())}
    for (sort, number), letter in wanted.items():
        sorts = [one for one, value in found if value == number]
        if not sorts or (sort and sort not in sorts):
            if elsewhere is None or sort == "copies" or not any(value and number and value % number == 0 for value in sizes):
                raise ArgumentError(
                    f"{sort + ' ' if sort else ''}{number} is nowhere in {called or class_name(layer)}; there are {_listed(found)}."
                )
            missing.add(number)
        elif not sort and len(sorts) > 1:
            keys = ", ".join(f"({one!r}, {number}): ..." for one in sorts)
            message = f"{number} means several things here: {' and '.join(sorts)}; {text(letter)} cannot be all of them. Write {{{keys}}}."
            raise StructureError(message)
    general = _put(layer, {**wanted, **{(one, n): v for (s, n), v in wanted.items() if not s for one, m in found if m == n}})
    _check_back(layer, general, wanted)
    return InLetters(general, wanted, frozenset(missing))


def _wanted(letters: Mapping[Any, Any]) -> dict[tuple[str, int], Any]:
    given: Any = letters  # callers without a type checker
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError(f"letters are a mapping from numbers to symbols, such as {{768: H}}, not {quoted(given)}.")
    found: dict[tuple[str, int], Any] = {}
    numbers: dict[Any, int] = {}
    for key, typed in letters.items():
        letter = dims(typed) if isinstance(typed, str) else typed
        pair: tuple[Any, Any] = key if isinstance(key, tuple) and len(key) == 2 else ("", key)
        sort, number = pair
        whole = isinstance(number, int) and not isinstance(number, bool) and number.bit_length() <= MAX_BITS
        if not whole or not isinstance(sort, str) or not isinstance(letter, Expr):
            message = f"letters has {quoted(key)}: {quoted(typed)}; wanted a number and a symbol, such as 768: H, or ('heads', 12): A."
            raise ArgumentError(message)
        if letter.is_Symbol and numbers.setdefault(letter, number) != number:
            raise StructureError(f"{letter} cannot be {numbers[letter]} and {number}; one letter is one number.")
        found[sort, number] = letter
    return found


def _check_back(layer: Layer, general: Layer, wanted: Mapping[tuple[str, int], Any]) -> None:
    """Check that the numbers, put back, give the original layer."""
    values: dict[Symbol, Expr] = {letter: Integer(number) for (_, number), letter in wanted.items() if letter.is_Symbol}
    open_ = [symbol for letter in wanted.values() for symbol in symbols_in(letter) if symbol not in values]
    if open_:
        raise ArgumentError(f"the letter {open_[0]} is only in an expression and has no number; give one, as in {{768: {open_[0]}}}.")
    for (_, number), letter in wanted.items():
        if int(substitute(letter, values)) != number:
            raise StructureError(f"{text(letter)} is {substitute(letter, values)} and not {number} with the letters given.")
    if general.at({symbol: value for symbol, value in values.items() if symbol in general.symbols}).shapes() != layer.shapes():
        raise StructureError("the letters change shapes where a number follows from another one; give the other one a letter, too.")


def _listed(found: Counter[tuple[str, int]]) -> str:
    return ", ".join(f"{number} ({sort})" for (sort, number), _ in found.most_common(12))


def _fields(layer: Layer) -> tuple[dict[str, Any], bool]:
    """Return what a layer is built from by field, and whether its constructor takes exactly these."""
    cls: Any = type(layer)
    plain = cls.arguments is Layer.arguments
    return {field.name: getattr(layer, field.name) for field in fields(cls) if field.init or not plain}, plain


def _sized(cls: type) -> dict[str, bool]:
    """Say of each field whether it holds sizes."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError:
        return {}
    return {name: any(word in str(hint) for word in ("'size'", "'count'", "'axis'")) for name, hint in hints.items()}


def _numbers(layer: Layer) -> Iterator[tuple[str, int]]:
    """Yield every number in a field that holds sizes, with what it counts."""
    values, _ = _fields(layer)
    sized = _sized(type(layer))
    for name, value in values.items():
        yield from _inside(value, _sort(name), own=sized.get(name, False))


def _inside(value: Any, sort: str, *, own: bool) -> Iterator[tuple[str, int]]:
    if isinstance(value, Layer):
        yield from _numbers(value)
    elif isinstance(value, tuple):
        for entry in value:
            yield from _inside(entry, sort, own=own)
    elif own and isinstance(value, int) and not isinstance(value, bool):
        yield sort, value


def _put(layer: Layer, letters: Mapping[tuple[str, int], Any]) -> Layer:
    arguments, named = layer.arguments()
    cls: Any = type(layer)
    sized = _sized(cls)
    required = [f.name for f in fields(cls) if f.init and f.default is MISSING and f.default_factory is MISSING]
    plain = cls.arguments is Layer.arguments
    names = required if plain else [""] * len(arguments)
    new = [_replaced(value, name, sized, letters) for name, value in zip(names, arguments, strict=True)]
    made: Layer = cls(*new, **{name: _replaced(value, name, sized, letters) for name, value in named.items()})
    return made


def _replaced(value: Any, name: str, sized: Mapping[str, bool], letters: Mapping[tuple[str, int], Any]) -> Any:
    if isinstance(value, Layer):
        return _put(value, letters)
    if isinstance(value, tuple):
        return tuple(_replaced(entry, name, sized, letters) for entry in value)
    if isinstance(value, Mapping):
        return {key: _replaced(entry, name, sized, letters) for key, entry in value.items()}
    if sized.get(name) and isinstance(value, int) and not isinstance(value, bool):
        return letters.get((_sort(name), value), value)
    return value
