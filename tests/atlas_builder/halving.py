"""Searches by halves: most keys hold together, and a few do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def that_hold(keys: Sequence[str], hold: Callable[[Sequence[str]], bool]) -> list[str]:
    """Return the keys that hold together with others of their half, by halving the groups that do not.

    >>> that_hold("abcdef", lambda some: "c" not in some)
    ['a', 'b', 'd', 'e', 'f']
    """
    if not keys or hold(keys):
        return list(keys)
    if len(keys) == 1:
        return []
    middle = len(keys) // 2
    return that_hold(keys[:middle], hold) + that_hold(keys[middle:], hold)
