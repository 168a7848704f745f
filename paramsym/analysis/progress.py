"""Progress of a search: a bar on standard error, or calls of the user's function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_PATIENCE = 0.2  # seconds between two updates


def reporter(progress: bool | Callable[[int, int], object]) -> Callable[[int, int], object]:
    """Return a function of done and total: the user's function, one that draws a bar, or one that does nothing."""
    if callable(progress):
        return progress
    if not progress:
        return lambda _done, _total: None
    last = 0.0

    def write(done: int, total: int) -> None:
        nonlocal last
        if done >= total or time.monotonic() - last > _PATIENCE:
            last = time.monotonic()
            filled = 30 * done // max(1, total)
            sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {done:,}/{total:,}" + ("\n" if done >= total else ""))
            sys.stderr.flush()

    return write
