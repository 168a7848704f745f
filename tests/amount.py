"""The amount that the tests compare: a sample in the ordinary run, everything with TESTS=all in the environment.

``TESTS=rest`` runs what an ordinary run before it has left out, so that the two together are TESTS=all. ``TESTS=rest:2/3`` runs the second
third of it, and ``TESTS=named:2/3`` of the cases of tests that are named on the command line: CI runs another third at every landing.
"""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

REST = os.environ.get("TESTS", "").startswith("rest")
PART, PARTS = map(int, (os.environ.get("TESTS", "").partition(":")[2] or "1/1").split("/"))
ALL = REST or os.environ.get("TESTS") == "all"
USUAL = 12  # cases of one test in the ordinary run
T = TypeVar("T")


def sample(most: int, found: Iterable[T]) -> list[T]:
    """Return at most so many of these values, as far apart in their list as they can be; or all of them."""
    values = list(found)
    return values if ALL else _spread(most, values)


def _spread(most: int, values: Sequence[T]) -> list[T]:
    taken = min(most, len(values))
    return [values[number * len(values) // taken] for number in range(taken)]


def cases(most: int) -> pytest.MarkDecorator:
    """Return the mark of a test with slow cases, of which the ordinary run takes a sample of ``most``, and none if it is 0."""
    return pytest.mark.cases(most)


def chosen(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests of this run, and those that are left out: a sample of the cases of each test, or what remains without it."""
    taken: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for _, group in itertools.groupby(items, lambda item: (item.parent, getattr(item, "originalname", item.name))):
        of_one = list(group)
        mark = of_one[0].get_closest_marker("cases")
        usual = {*_spread(mark.args[0] if mark else USUAL, of_one)}
        for item in of_one:
            wanted = (item not in usual or _draws(item)) and _in_part(item) if REST else item in usual
            (taken if wanted else left).append(item)
    return taken, left


def of_part(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests of this part, and the others."""
    taken: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        (taken if _in_part(item) else left).append(item)
    return taken, left


def _in_part(item: pytest.Item) -> bool:
    return zlib.crc32(item.nodeid.encode()) % PARTS == PART - 1


def _draws(item: pytest.Item) -> bool:
    """Whether a test is in a file whose tests compare less in the ordinary run: a sample, random draws, or examples of Hypothesis."""
    return not vars(getattr(item, "module", object)).keys().isdisjoint({"ALL", "sample", "tries", "few", "given", "distinct_models"})


def few(most: int) -> settings:
    """Return Hypothesis' settings for a law that is parametrized over every layer: two examples for each layer, or ``most`` of them."""
    return settings(max_examples=most if ALL else 2, deadline=None, suppress_health_check=list(HealthCheck))


def tries(most: int) -> int:
    """Return the number of random cases of one test: a tenth of them, or all."""
    return most if ALL else most // 10
