"""A form and its build at random sizes that the search did not choose."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from derive.factories import Shapes

from paramsym.errors import ParamsymError

CHANCE = 20261125


def arguments(build: Callable[..., Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return sizes as the arguments of a build, with the entries of lists put together."""
    return {name: _entry(name, one.default, sizes) for name, one in inspect.signature(build).parameters.items()}


def _entry(name: str, default: Any, sizes: Mapping[str, int]) -> Any:
    if not isinstance(default, tuple):
        return sizes.get(name, default)
    return tuple(_entry(f"{name}_{place}", inner, sizes) for place, inner in enumerate(default))


def drawn(form: Any, build: Callable[..., Shapes], number: int, counts: set[str]) -> Iterator[tuple[Any, Shapes]]:
    """Yield the form and the build at random sizes that both take, among them many copies and large widths."""
    chance, found = random.Random(CHANCE), 0
    for attempt in range(40 * number):
        largest = (20, 900, 70_000)[attempt % 3]
        sizes = {name: chance.randint(1, 30 if name in counts else largest) for name, _ in form.sizes_taken}
        try:
            pair = form.at(sizes), build(**arguments(build, sizes))
        except (AssertionError, ParamsymError):
            continue
        yield pair
        found += 1
        if found == number:
            return
    pytest.fail("too few sizes are inside the form")
