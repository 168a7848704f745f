"""Entries that a model computes from sizes alone, by rule, so that a recorded pass has them at any sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

RULES = {"all": 1, "places": 2, "turns": 1, "root": 1, "until": 1}
"""How many numbers each rule has."""


@dataclass(frozen=True, slots=True)
class Made:
    """A rule with its numbers: the entries of an array of any shape.

    ``all``: one number everywhere. ``places``: the places along an axis, counted from a first number. ``turns``: the frequencies of a
    rotation with a base. ``root``: the root of a size. ``until``: whether a column is at most a number of places after its row.
    """

    rule: str
    numbers: tuple[Any, ...]

    def __post_init__(self) -> None:
        if RULES.get(self.rule) != len(self.numbers):
            message = f"there is no rule {self.rule!r} of {len(self.numbers)} numbers"
            raise ValueError(message)

    def at(self, value: Callable[[Any], Any]) -> Made:
        """Return the rule with other numbers, such as sizes for letters."""
        return replace(self, numbers=tuple(map(value, self.numbers)))

    def array(self, xp: Any, shape: tuple[int, ...]) -> Any:
        """Return the entries."""
        first, *rest = self.numbers
        if self.rule == "places":
            line = xp.arange(shape[first]) + rest[0]
            return xp.broadcast_to(xp.reshape(line, tuple(size if axis == first else 1 for axis, size in enumerate(shape))), shape)
        if self.rule == "turns":
            return xp.asarray(float(first)) ** (-xp.arange(shape[-1]) / shape[-1])
        if self.rule == "until":
            rows, columns = shape[-2:]
            return xp.broadcast_to(xp.arange(columns)[None, :] - xp.arange(rows)[:, None] <= first, shape)
        return xp.full(shape, float(first) ** 0.5 if self.rule == "root" else first)
