"""Builds made by a generator: an exact form or one clear error within the time, and nothing wrong at fresh sizes.

A build takes a second, so TESTS=all takes the first 64, which are of every kind; DERIVE_DRAWS=2000 takes that many.
"""

from __future__ import annotations

import os
import random
import time
from typing import Any

import pytest
from amount import ALL
from derive.generated import Generated, generated

import paramsym as ps
from paramsym.errors import NoLawError, NotYetError, ParamsymError

DRAWS = int(os.environ.get("DERIVE_DRAWS", "64" if ALL else "2"))
BLOCK = 8
POINTS = 40
SECONDS, LATE = 10, 3  # a busy machine ends its last build and law later


@pytest.mark.parametrize("first", range(0, DRAWS, BLOCK))
def test_no_form_is_wrong(first: int) -> None:
    """At the defaults, where no form may refuse unless an axis is 0, and at small, large, equal and special sizes."""
    for number in range(first, min(first + BLOCK, DRAWS)):
        made = generated(number)
        began = time.monotonic()
        try:
            form = ps.derive(made.build, seconds=SECONDS, tests=60)
        except (NoLawError, NotYetError):
            continue
        finally:
            assert time.monotonic() - began < SECONDS + LATE, made.source
        _assert_right(form, made, random.Random(number))


def _assert_right(form: Any, made: Generated, chance: random.Random) -> None:
    shown = f"{made.source}{made.defaults}\n{form.certificate}"
    in_time = not any("ran out of time" in reason for reason in form.certificate.left_out)  # a busy machine leaves choices out
    if in_time and not _has_an_empty_tensor(made.build()):
        assert _found(form, made.sizes, made.flags) == made.build(), shown
    for sizes, flags in made.draws(chance, POINTS):
        try:
            wanted = made.build(**made.arguments(sizes, flags))
        except (ValueError, AssertionError, RuntimeError):
            wanted = None
        try:
            found, refused = _found(form, sizes, flags), ""
        except ParamsymError as error:
            found, refused = None, str(error)
        if refused:
            left_out = "no form was derived for" in refused or "It was left out" in refused
            assert wanted is None or left_out or not in_time or not made.learnable, (sizes, flags, refused, shown)
            continue
        assert found == wanted or (wanted is None and not made.learnable), (sizes, flags, shown)


def _has_an_empty_tensor(stored: Any) -> bool:
    """Whether an axis is 0, as of a head without classes: the library refuses such a tensor, also at the defaults."""
    return isinstance(stored, dict) and any(0 in shape for shape in stored.values())


def _found(form: Any, sizes: dict[str, int], flags: dict[str, bool]) -> Any:
    chosen = form.stratum(**flags)
    return chosen.at(**sizes) if hasattr(chosen, "formula") and not hasattr(chosen, "shapes") else chosen.at(sizes).shapes()


def test_the_generator_makes_every_kind() -> None:
    """Lists, words, flags, configurations, sizes that are off, counts, conditions and exceptions."""
    sources = [generated(number).source for number in range(64)]
    kinds = ("widths[0]", "stages[", "in names", "enumerate(on)", "if bias", "act ==", "if classes", "int(", "hidden or", "config.text.dim",
        "config['dim']", "return sum", "must be divisible", "('4 *", "% (", "wanted a multiple", "!=",
        "ValueError('not", "at most", "max(1,")  # fmt: skip
    assert [kind for kind in kinds if not any(kind in source for source in sources)] == []
