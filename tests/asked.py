"""Sizes for questions, and the answer of ``at`` to them: a count, or the kind of a refusal."""

from __future__ import annotations

import random
from typing import Any

from paramsym.errors import ParamsymError

SIZES = (
    (0, 1, 2, 3),
    (1, 2, 3, 4, 5, 6, 7, 8),
    (2, 4, 8, 16, 32),
    (1, 2, 4, 8, 12, 24),
    (3, 6, 12, 24, 48),
    (64, 128, 256, 1),
    (-1, 0, 7, 24),
)


def counted(layer: Any, sizes: dict[str, int]) -> int | type[Exception]:
    """Return the count of the layer built anew, or the kind of its refusal."""
    try:
        return layer.at(sizes).count
    except ParamsymError as error:
        return type(error)


def answered(question: Any) -> Any:
    """Return an answer, or the kind of a refusal; other exceptions get through."""
    try:
        return question()
    except ParamsymError as error:
        return error


def drawn(layer: Any, draw: random.Random) -> dict[str, int]:
    """Draw sizes that hit conditions and miss them: divisors and not, zero, less than zero."""
    values = draw.choice(SIZES)
    return {symbol.name: draw.choice(values) for symbol in sorted(layer.symbols, key=lambda symbol: symbol.name)}


def varied(sizes: dict[str, int], draw: random.Random, large: int = 2**33) -> dict[str, int]:
    """Change up to two of the sizes, also to one beyond 32 bits."""
    changed = draw.sample(sorted(sizes), min(len(sizes), draw.choice((0, 1, 1, 2))))
    return sizes | {name: draw.choice((0, 1, 2, 3, 5, 16, 24, 2 * sizes[name], sizes[name] - 1, large)) for name in changed}
