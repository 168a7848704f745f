"""The amount that the tests compare: a sample in the ordinary run, everything with TESTS=all in the environment, as in CI."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from hypothesis import HealthCheck, settings

ALL = os.environ.get("TESTS") == "all"
T = TypeVar("T")


def few(most: int) -> settings:
    """Return Hypothesis' settings for a law that is parametrized over every layer: two examples for each layer, or ``most`` of them."""
    return settings(max_examples=most if ALL else 2, deadline=None, suppress_health_check=list(HealthCheck))


def tries(most: int) -> int:
    """Return the number of random cases of one test: a fifth of them, or all."""
    return most if ALL else most // 5


def firsts(found: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """Return the first row of each kind, or every row."""
    rows = list(found)
    if ALL:
        return rows
    of_a_kind: dict[Hashable, T] = {}
    for row in rows:
        of_a_kind.setdefault(kind(row), row)
    return list(of_a_kind.values())


def each(step: int, found: Iterable[T]) -> list[T]:
    """Return the first of every ``step`` values, or every value; for slow tests of values that are much alike."""
    return list(found)[:: 1 if ALL else step]
