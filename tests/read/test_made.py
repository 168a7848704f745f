"""Entries by rule: small arrays written out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

from paramsym.program import Rope
from paramsym.read.made import Made


@pytest.mark.parametrize(
    ("rule", "numbers", "shape", "entries"),
    [
        ("all", (3,), (2, 2), [[3, 3], [3, 3]]),
        ("places", (1, 0), (2, 3), [[0, 1, 2], [0, 1, 2]]),
        ("places", (0, 5), (2, 1), [[5], [6]]),
        ("turns", (Rope(10_000),), (2,), [1.0, 0.01]),
        ("turns", (Rope(10_000, "linear", factor=4.0),), (2,), [0.25, 0.0025]),
        ("root", (256,), (), 16.0),
        ("band", (0, None), (1, 3, 3), [[[True, False, False], [True, True, False], [True, True, True]]]),
        ("band", (None, -1), (2, 3), [[False, True, True], [False, False, True]]),
        ("band", (0, 1), (3, 3), [[True, False, False], [True, True, False], [False, True, True]]),
        ("near", (1,), (3, 3), [[True, True, False], [True, True, True], [False, True, True]]),
        ("part", (2,), (3, 3), [[True, False, False], [True, True, False], [False, False, True]]),
    ],
)
def test_entries(rule: str, numbers: tuple[Any, ...], shape: tuple[int, ...], entries: Any) -> None:
    """Positions, frequencies (10000 to the power of -1/2 for the second of two), masks: causal, of a window, of parts of two tokens."""
    numpy = imported("numpy")
    found = Made(rule, numbers).array(numpy, shape)
    assert found.shape == shape
    assert numpy.allclose(found, entries)


@pytest.mark.parametrize(("rule", "numbers"), [("guess", (1,)), ("places", (1,)), ("all", ())])
def test_unknown_rules(rule: str, numbers: tuple[Any, ...]) -> None:
    """A damaged record has no entries at all, in place of others."""
    with pytest.raises(ValueError, match="there is no rule"):
        Made(rule, numbers)
