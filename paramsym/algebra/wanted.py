"""The symbol that a user means, given as a symbol or by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sympy import Symbol

from paramsym.errors import UnknownNameError
from paramsym.naming import quoted


def symbol_of(where: str, wanted: object, symbols: Iterable[Symbol], why_not: Callable[[str], str] = lambda _: "") -> Symbol:
    """Return the wanted symbol, given as a symbol or a name; ``why_not`` explains a name that none of the symbols has.

    Raises:
        UnknownNameError: none of them.

    >>> from paramsym import F, H
    >>> symbol_of("Dense", "H", [F, H])
    H
    """
    return symbol_named(where, wanted, {symbol.name: symbol for symbol in symbols}, why_not)


def symbol_named(where: str, wanted: object, by_name: Mapping[str, Symbol], why_not: Callable[[str], str]) -> Symbol:
    """Return the wanted symbol, as ``symbol_of`` does, among symbols by their names."""
    symbol = by_name.get(wanted if isinstance(wanted, str) else getattr(wanted, "name", ""))
    if symbol is None or (isinstance(wanted, Symbol) and wanted != symbol):
        raise _unknown_symbol(where, wanted, by_name, why_not)
    return symbol


def _unknown_symbol(where: str, key: object, by_name: Mapping[str, Symbol], why_not: Callable[[str], str]) -> UnknownNameError:
    has = f"it has {', '.join(sorted(by_name))}" if by_name else "it has no symbols"
    name = getattr(key, "name", key)
    hint = why_not(name) if isinstance(name, str) else ""
    if isinstance(key, Symbol) and key.name in by_name:
        hint = f"Its {key.name} is another symbol of the same name (other assumptions); pass the name {key.name!r} instead."
    return UnknownNameError(f"{where} has no symbol {quoted(name)}; {has}. {hint}".rstrip())
