"""Optional packages: imported when they are needed, with an error that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paramsym.errors import ArgumentError


def needed(module: str, purpose: str, extra: str = "") -> Any:
    """Return an optional package.

    Raises:
        ArgumentError: the package is not installed; the message says what needs it and what to install.

    >>> needed("abacus", "counting on fingers")
    Traceback (most recent call last):
        ...
    paramsym.errors.ArgumentError: counting on fingers needs abacus, which is not installed: pip install abacus.
    """
    found = available(module)
    if found is None:
        package = module.partition(".")[0]
        by_extra = f" (or paramsym[{extra}])" if extra else ""
        raise ArgumentError(f"{purpose} needs {package}, which is not installed: pip install {package}{by_extra}.")
    return found


def available(module: str) -> Any:
    """Return an optional package, or None if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None
