"""Checks of arguments that many functions take."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from paramsym.errors import ArgumentError
from paramsym.naming import described, nearest, quoted

_AMOUNT = re.compile(r"(?a)(\d{1,18})(?:\.(\d{1,18}))?([KMBT]?)")
_UNITS = {"": 0, "K": 3, "M": 6, "B": 9, "T": 12}


def amount(text: str) -> int | None:
    """Read a whole number, with or without a unit; None for other text.

    >>> amount("1.4T"), amount("1.5")
    (1400000000000, None)
    """
    found = _AMOUNT.fullmatch(text.strip())
    before, behind, unit = found.groups(default="") if found else ("", "", "")
    zeros = _UNITS[unit] - len(behind)
    return int(before + behind) * 10**zeros if found and zeros >= 0 else None


def check_flags(**flags: object) -> None:
    """Raise ``ArgumentError`` for the first value that is neither True nor False.

    >>> check_flags(buffers="yes")
    Traceback (most recent call last):
        ...
    paramsym.errors.ArgumentError: buffers is 'yes' (str); wanted True or False.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ArgumentError(f"{name} is {described(value)}; wanted True or False.")


def check_depth(depth: object) -> None:
    """Raise ``ArgumentError`` unless it is a number of levels, or None for all."""
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 0):
        raise ArgumentError(f"depth is {quoted(depth)}; wanted a whole number from 0, or None for all levels.")


def known_word(what: str, value: object, known: Iterable[str], more: str = "") -> Any:
    """Return the known word that is meant, in upper or lower case.

    Raises:
        ArgumentError: an unknown word.

    >>> known_word("optimizer", "AdamW", ("sgd", "adamw"))
    'adamw'
    >>> known_word("dtype", "float31", ("float32", "float16"))
    Traceback (most recent call last):
        ...
    paramsym.errors.ArgumentError: dtype is 'float31' (str); wanted one of float32, float16. Did you mean float32 or float16?
    """
    words = tuple(known)
    found = next((word for word in words if isinstance(value, str) and word.lower() == value.lower()), None)
    if found is None:
        near = nearest(value, words, most=2) if isinstance(value, str) else []
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ArgumentError(f"{what} is {described(value)}; wanted one of {', '.join(words)}{more}.{hint}")
    return found
