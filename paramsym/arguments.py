"""Checks of arguments that many functions take."""

from __future__ import annotations

from paramsym.errors import ArgumentError
from paramsym.naming import described, quoted


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
