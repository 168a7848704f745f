"""How far a search is: a bar on standard error, or a call of the user's own function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_PATIENCE = 0.2  # seconds between two words


def reporter(progress: bool | Callable[[int, int], object]) -> Callable[[int, int], object]:
    """Return what to call with done and total: the user's function, a bar that is drawn, or nothing."""
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
