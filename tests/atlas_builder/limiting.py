"""A limit on the processor time of one build."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End what takes more processor time.

    Raises:
        TimeoutError: it does.
    """

    def end(*_: object) -> None:
        message = "it takes too long to build"
        raise TimeoutError(message)

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
