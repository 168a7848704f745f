"""Dotted paths: which numbered copy a name means, and which names are below a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from paramsym.algebra.numbering import Numbers

PLACE = re.compile(r"\{[^{}]*\}")  # where a number goes in a path: {} or {0..L-1}

ANY = -1
"""What ``number_in`` returns for ``{}``: every copy."""


def number_in(numbers: Numbers, name: str) -> int | None:
    """Return which copy a name means: its number, ``ANY`` for the pattern or template itself, None for another name."""
    if not numbers.pattern:
        return None
    if name == numbers.pattern or ("{" in name and name == str(numbers)):
        return ANY
    before, after = numbers.pattern.split("{}", 1)
    digits = name[len(before) : len(name) - len(after) if after else None]
    if not (name.startswith(before) and name.endswith(after) and digits.isascii() and digits.isdigit()) or str(int(digits)) != digits:
        return None
    number = int(digits)
    values = numbers.values
    if values is not None:
        return number if number in values else None
    if numbers.label:
        return None
    inside = not isinstance(numbers.start, int) or (number >= numbers.start and (number - numbers.start) % numbers.step == 0)
    return number if inside else None


def prefixes(path: str) -> Iterator[tuple[str, str]]:
    """Split a path at each of its dots: ``("a", "b.c")``, ``("a.b", "c")``, ``("a.b.c", "")``."""
    steps = path.split(".")
    for taken in range(1, len(steps) + 1):
        yield ".".join(steps[:taken]), ".".join(steps[taken:])


def covers(path: str, name: str) -> bool:
    """Whether a tensor's name is a path or is below it; ``{}`` in the path means any number."""
    return below(path, name) is not None


def below(path: str, name: str) -> str | None:
    """Return the rest of a tensor's name below a path: empty for the path itself, None for a name that is not below it."""
    found = expression_of(path).match(name)
    rest = name[found.end() :] if found else "-"
    return rest[1:] if rest.startswith(".") else None if rest else ""


@lru_cache(maxsize=1 << 10)
def expression_of(path: str) -> re.Pattern[str]:
    """Return the pattern of the names that a path means; the numbers of copies are its groups."""
    return re.compile(r"(\d+|\{[^{}]*\})".join(re.escape(piece) for piece in PLACE.split(path)))
