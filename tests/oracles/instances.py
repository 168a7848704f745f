"""From the arguments of a certified row, symbols in them, to an instance of the framework at given sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sympy import Expr, Integer

from paramsym.algebra.size import substitute, symbols_in


def placed(arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Put numbers in for the symbols in a row's arguments."""
    return {name: _placed(value, sizes) for name, value in arguments.items()}


def _placed(value: Any, sizes: Mapping[str, int]) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_placed(item, sizes) for item in value)
    if isinstance(value, Expr):
        return int(substitute(value, {symbol: Integer(sizes[symbol.name]) for symbol in symbols_in(value)}))
    return value


def builder(make: Callable[..., Any], arguments: Mapping[str, Any]) -> Callable[..., Any]:
    """Return what ``certify`` calls: sizes by name in, an instance out."""

    def build(**sizes: int) -> Any:
        return make(**placed(arguments, sizes))

    return build


def label(row: tuple[str, Mapping[str, Any]]) -> str:
    """Name a row in a test's id."""
    name, arguments = row
    return f"{name}-{','.join(f'{key}={value}' for key, value in arguments.items())}"[:90]
