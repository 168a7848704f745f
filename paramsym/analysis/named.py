"""Letters for a layer that was built with numbers: each number gets the name of its argument."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, fields, replace
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from sympy import Symbol

from paramsym.algebra.size import symbols_in
from paramsym.algebra.symbols import dims
from paramsym.analysis.counted import Counted, holder, with_layer
from paramsym.core.fields import hints_of
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError


def named(subject: Counted, asked: str = "") -> Counted:
    """Return the same layer, or the same cost, with letters for its numbers; see ``lettered``."""
    layer = lettered(holder(subject), asked)
    return subject if layer is holder(subject) else with_layer(subject, layer)


def lettered(layer: Layer, asked: str = "") -> Layer:
    """Return the same layer with letters for its numbers: those of the class's defaults, otherwise the names of its arguments.

    A layer whose numbers are in inner layers or are rounded is not changed. A layer that has letters is changed only for the number
    ``asked`` for. The number 1 gets a letter only if it is ``asked`` for.

    >>> from paramsym import MultiHeadAttention
    >>> lettered(MultiHeadAttention(768, 12)).formula
    4*embed_dim**2 + 4*embed_dim
    """
    if layer.origin[1]:
        return layer
    letters = {field.name: _letter(field) for field in _sizes(layer) if getattr(layer, field.name) > 1 or field.name == asked}
    alone = {name: letter for name, letter in letters.items() if name == asked}
    if layer.symbols:
        return _with_some(layer, alone)
    if len(set(letters.values())) < len(letters):
        return layer  # two arguments with one letter may be different sizes
    written = _with(layer, letters)
    if written is None:
        # A number that decides which tensors exist stays a number.
        kept = {name: letter for name, letter in letters.items() if _with(layer, {name: letter}) is not None}
        written = _with(layer, kept)
    if written is None:
        return layer
    if any(not size.is_Symbol for monomial in written.origin[0].polynomial.terms for size, _ in monomial):
        # A layer that rounds sizes is easier to read in numbers.
        return _with_some(layer, alone)
    shown = {symbol for line in written.origin[0].lines for symbol in symbols_in((line.factors, line.stored, line.used))}
    told = {name: letter for name, letter in letters.items() if letter in shown or name == asked}
    return _with_some(layer, told)


def _with_some(layer: Layer, letters: dict[str, Symbol]) -> Layer:
    return (_with(layer, letters) if letters else None) or layer


def _with(layer: Layer, letters: dict[str, Symbol]) -> Layer | None:
    """Put letters in for numbers and the numbers in for the letters; None if the result is another layer."""
    try:
        again = replace(layer, **letters).at({letter: getattr(layer, name) for name, letter in letters.items()})  # type: ignore[type-var]
    except (ParamsymError, TypeError):
        return None
    return again if again == layer else None


def _letter(field: Field[Any]) -> Symbol:
    return field.default if isinstance(field.default, Symbol) else dims(field.name)


def _sizes(layer: Layer) -> Iterator[Field[Any]]:
    """Yield the fields that hold a size as a plain number."""
    cls: type = type(layer)
    hints = hints_of(cls)
    for field in fields(layer):  # type: ignore[arg-type]
        value = getattr(layer, field.name)
        if field.init and isinstance(value, int) and not isinstance(value, bool) and _is_size(hints.get(field.name)):
            yield field


def _is_size(hint: Any) -> bool:
    if get_origin(hint) in {Union, UnionType}:
        return any(_is_size(part) for part in get_args(hint))
    return get_origin(hint) is Annotated
