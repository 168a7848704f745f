"""Windows of attention in recorded computations: for which lengths of inputs a recording holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paramsym.atlas.values import Value


@dataclass(frozen=True)
class Window:
    """Whether the length of an input is at most a share of a window of attention, or ``beyond`` it.

    The share is the value of a key, divided and rounded down, and ``more``. ``default`` is the value if the key is not given; None
    means no window.
    """

    length: str
    key: str
    default: int | None
    divisor: int
    more: int
    beyond: bool

    def holds(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> bool:
        """Whether inputs have such a length; a length in letters is short."""
        window: Any = values.get(self.key, self.default)
        length = numbers.get(self.length)
        long = isinstance(window, int) and length is not None and length > window // self.divisor + self.more
        return long == self.beyond
