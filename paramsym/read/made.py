"""Entries that a model computes from sizes alone, by rule, so that a recorded pass has them at any sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

RULES = {"all": 1, "places": 2, "turns": 1, "root": 1, "band": 2, "near": 1, "part": 1}
"""How many numbers each rule has."""


@dataclass(frozen=True, slots=True)
class Made:
    """A rule with its numbers: the entries of an array of any shape.

    ``all``: one number everywhere. ``places``: the places along an axis, counted from a first number. ``turns``: the frequencies of a
    rotation with these settings. ``root``: the root of a size. The others are masks, true if a column is near its row: ``band`` has how
    far it may be ahead and behind, without a limit if None, ``near`` how far to both sides; ``part`` is the length of parts of the text,
    in each of which a row reaches what is before it.
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
            return first.frequencies(xp, 2 * shape[-1], 0)
        if self.rule in {"band", "near", "part"}:
            return xp.broadcast_to(self._mask(xp.arange(shape[-2])[:, None], xp.arange(shape[-1])[None, :]), shape)
        return xp.full(shape, float(first) ** 0.5 if self.rule == "root" else first)

    def _mask(self, row: Any, column: Any) -> Any:
        """Return whether rows reach columns."""
        if self.rule == "part":
            return (column <= row) & (column // self.numbers[0] == row // self.numbers[0])
        ahead, behind = self.numbers if self.rule == "band" else self.numbers * 2
        every = row - column == row - column
        return (every if ahead is None else column - row <= ahead) & (every if behind is None else row - column <= behind)
