"""The amount that the tests compare: a sample in the ordinary run, everything with TESTS=all in the environment, as in CI."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

ALL = os.environ.get("TESTS") == "all"
USUAL = 12  # cases of one test in the ordinary run
T = TypeVar("T")


def cases(most: int) -> pytest.MarkDecorator:
    """Return the mark of a test with slow cases, of which the ordinary run takes ``most``, and none if it is 0."""
    return pytest.mark.cases(most)


def sampled(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests of the ordinary run, with as many cases of each test as its mark says, and those that are left out.

    The cases lie as far apart in the test's list as they can.
    """
    taken: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for _, group in itertools.groupby(items, lambda item: (item.parent, getattr(item, "originalname", item.name))):
        of_one = list(group)
        mark = of_one[0].get_closest_marker("cases")
        most = min(mark.args[0] if mark else USUAL, len(of_one))
        chosen = {number * len(of_one) // most for number in range(most)}
        for number, item in enumerate(of_one):
            (taken if number in chosen else left).append(item)
    return taken, left


def few(most: int) -> settings:
    """Return Hypothesis' settings for a law that is parametrized over every layer: two examples for each layer, or ``most`` of them."""
    return settings(max_examples=most if ALL else 2, deadline=None, suppress_health_check=list(HealthCheck))


def tries(most: int) -> int:
    """Return the number of random cases of one test: a tenth of them, or all."""
    return most if ALL else most // 10


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
