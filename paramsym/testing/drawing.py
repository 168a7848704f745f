"""Hypothesis, imported when it is first needed."""

from __future__ import annotations

from typing import Any

from paramsym.optional import needed


def hypothesis() -> Any:
    """Return the package.

    Raises:
        ArgumentError: it is not installed.
    """
    return needed("hypothesis", "drawing examples", "test")
