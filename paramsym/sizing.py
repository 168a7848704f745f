"""From what a user gives ``at`` to a mapping from symbols to sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from sympy import Expr, Integer, Symbol

from paramsym.errors import SizeError, StructureError, UnknownNameError
from paramsym.ledger import Line, Numbers
from paramsym.naming import meant, nearest, quoted
from paramsym.size import count, substitute, symbols_in, text

_SHOWN = 200  # characters of a constructor call that an error shows


def mapping_from(
    where: str, given: Iterable[tuple[Any, Any]], symbols: frozenset[Symbol], why_not: Callable[[str], str] = lambda _: ""
) -> dict[Symbol, Expr]:
    """Return ``{symbol: expression}`` from pairs whose keys are symbols or names; ``why_not`` explains a name that is none of them.

    Raises:
        UnknownNameError: a key that is none of the layer's symbols: a silent no-op is the classic trap of ``subs``.
        SizeError: a value that is no size, or a symbol given twice.
        StructureError: a value that brings in a second symbol of a name the layer keeps.
    """
    by_name = {symbol.name: symbol for symbol in symbols}
    mapping: dict[Symbol, Expr] = {}
    for key, value in given:
        symbol = by_name.get(key if isinstance(key, str) else getattr(key, "name", ""))
        if symbol is None or (isinstance(key, Symbol) and key != symbol):
            raise _unknown_symbol(where, key, by_name, why_not)
        checked = count(value, f"{where}.at(): {symbol.name}")
        if symbol in mapping and mapping[symbol] != checked:
            message = f"{where}.at(): {symbol} is given twice, as {mapping[symbol]} and {checked}."
            raise SizeError(message)
        mapping[symbol] = Integer(checked) if isinstance(checked, int) else checked
    incoming = {symbol.name: symbol for value in mapping.values() for symbol in symbols_in(value)}
    for name, symbol in incoming.items():
        if name in by_name and by_name[name] != symbol and by_name[name] not in mapping:
            raise two_of_one_name(symbol, by_name[name], f"{where}.at()")
    return mapping


def published_sizes(where: str, published: Mapping[str, Mapping[str, Any]], name: str, held: Callable[[str], Any]) -> dict[Symbol, Any]:
    """Translate a published size, given by constructor argument, to the symbols that the arguments hold.

    The name may lack its organisation, and its capitals do not matter, where that leaves one size.

    Raises:
        UnknownNameError: no size of that name.
        StructureError: the layer was built with another value than the published one.
    """
    said, name = name, meant(name, published) or ""
    if not name:
        near = nearest(said, published)
        known = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(published)}." if published else "it has none."
        message = f"{where} has no published size {said!r}; {known}"
        raise UnknownNameError(message)
    found: dict[Symbol, Any] = {}
    for argument, value in published[name].items():
        for symbol, number in _symbols_to_fill(held(argument), value):
            if found.setdefault(symbol, number) != number:
                message = f"{where}: {name} needs {symbol} to be both {found[symbol]} and {number}."
                raise SizeError(message)
    given = {symbol: Integer(value) for symbol, value in found.items() if isinstance(value, int)}
    for argument, value in published[name].items():
        if substitute(held(argument), given) != value:
            message = (
                f"{where}: {name} has {argument}={quoted(value)}, but this layer was built with {argument}={text(held(argument))};"
                f" build it with {argument}={quoted(value)}."
            )
            raise StructureError(message)
    return found


def _symbols_to_fill(held: object, value: object) -> Iterator[tuple[Symbol, Any]]:
    """Pair the symbols that an argument holds, alone, in a tuple or in a layer, with the published numbers."""
    if isinstance(held, Symbol):
        yield held, value
    elif isinstance(held, tuple) and isinstance(value, tuple):
        for one, other in zip(held, value, strict=False):
            yield from _symbols_to_fill(one, other)
    elif type(held) is type(value) and is_dataclass(held):
        for field in fields(held):
            yield from _symbols_to_fill(getattr(held, field.name), getattr(value, field.name))


def two_of_one_name(one: Symbol, other: Symbol, where: str = "") -> StructureError:
    """Return the error for two symbols that print alike and are not equal."""
    prefix = f"{where}: " if where else ""
    return StructureError(
        f"{prefix}two different symbols are named {one.name!r} (assumptions: {_assumed(one)}; and {_assumed(other)}); use one throughout."
    )


def _assumed(symbol: Symbol) -> str:
    return ", ".join(f"{k}={v}" for k, v in symbol.assumptions0.items() if k in {"integer", "positive", "real"}) or "none"


def _unknown_symbol(where: str, key: object, by_name: Mapping[str, Symbol], why_not: Callable[[str], str]) -> UnknownNameError:
    has = f"it has {', '.join(sorted(by_name))}" if by_name else "it has no symbols"
    name = getattr(key, "name", key)
    hint = why_not(name) if isinstance(name, str) else ""
    if isinstance(key, Symbol) and key.name in by_name:
        hint = f"Its {key.name} is another symbol of the same name (other assumptions); pass the name {key.name!r} instead."
    return UnknownNameError(f"{where} has no symbol {name!r}; {has}. {hint}".rstrip())


def skeleton(lines: Iterable[Line]) -> list[tuple[object, ...]]:
    """Which tensors exist, leaving out how large they are and how many copies stand where."""
    return [(_pattern(line), line.label, len(line.shape), line.buffer, bool(line.alias_of)) for line in lines]


def restructured(where: str, before: Iterable[Line], after: Iterable[Line], built: str) -> StructureError:
    """Return the error for sizes that change which tensors exist; ``built`` is the constructor call to write instead."""
    old, new = ([_pattern(line) for line in lines] for lines in (before, after))
    lost = [name for name in old if name not in new]
    gained = [name for name in new if name not in old]
    changes = "; ".join(f"{word} {', '.join(dict.fromkeys(names))}" for word, names in (("without", lost), ("with", gained)) if names)
    shown = built if len(built) <= _SHOWN else built[: _SHOWN - 3] + "..."
    return StructureError(
        f"{where}.at(): these sizes change which tensors exist ({changes or 'of another rank or in another order'});"
        f" build the layer with them instead: {shown}."
    )


def _pattern(line: Line) -> str:
    return ".".join(step.pattern if isinstance(step, Numbers) else step for step in line.path)
