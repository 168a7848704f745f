"""Hypothesis, imported when it is first needed."""

from __future__ import annotations

from typing import Any

from paramsym.errors import ArgumentError


def hypothesis() -> Any:
    """Return the package.

    Raises:
        ArgumentError: it is not installed.
    """
    try:
        import hypothesis as package
    except ImportError:
        message = "this part of paramsym.testing draws its examples with Hypothesis: pip install hypothesis (or paramsym[test])."
        raise ArgumentError(message) from None
    return package
