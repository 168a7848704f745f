"""Sizes to try, as a user types them: ``H=64..1024:64``, ``L=12,24`` or ``F=4*H``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Symbol

from paramsym.algebra import grammar
from paramsym.errors import ArgumentError, UnknownNameError

_RANGE = re.compile(r"(\d{1,12})\s*\.\.\s*(\d{1,12})(?:\s*:\s*(\d{1,12}))?", re.ASCII)
_LIST = re.compile(r"\d{1,18}(?:\s*,\s*\d{1,18})*", re.ASCII)


def candidates(assigned: Sequence[str], symbols: Mapping[str, Symbol]) -> dict[Symbol, Any]:
    """Return the values to try of each letter: whole numbers, or an expression in the other letters.

    Raises:
        ArgumentError: a text of another kind, or a letter given twice.
        UnknownNameError: a letter that the model does not have.

    >>> from paramsym import F, H
    >>> candidates(["H=64..192:64", "F=4*H"], {"H": H, "F": F})
    {H: range(64, 193, 64), F: 4*H}
    """
    found: dict[Symbol, Any] = {}
    for one in assigned:
        name, text = grammar.assignment(one)
        if name not in symbols:
            raise UnknownNameError(f"--over: there is no size {name[:60]!a}; there are {', '.join(sorted(symbols))}.")
        if symbols[name] in found:
            raise ArgumentError(f"--over: {name} is given twice.")
        found[symbols[name]] = _values(text, symbols)
    return found


def _values(text: str, symbols: Mapping[str, Symbol]) -> Any:
    between = _RANGE.fullmatch(text)
    if between:
        first, last, step = (int(piece or 1) for piece in between.groups())
        if not step or first > last:
            raise ArgumentError(f"--over: {text[:40]} is no range; write the first size, the last and a step, as in 64..1024:64.")
        return range(first, last + 1, step)
    if _LIST.fullmatch(text):
        return [int(piece) for piece in text.split(",")]
    return grammar.read(text, symbols)
