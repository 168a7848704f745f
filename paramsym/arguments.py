"""Checks of arguments that many functions take."""

from __future__ import annotations

import re

from paramsym.errors import ArgumentError
from paramsym.naming import described, quoted

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
