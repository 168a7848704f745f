"""A deadline for the caller's code: a build, or a forward pass, that may never return."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from math import inf
from typing import Self

_EVERY = 0.1
"""Seconds between two looks at the clock."""


class OutOfTime(Exception):  # noqa: N818 - not an error that a caller sees
    """The time is over; the text says what took it, if that is known."""


class _Ended(BaseException):
    """Raised inside the caller's code, whose handlers of errors let it through."""


class Deadline:
    """Ends code that runs for ``seconds``, also a loop without end; a call into C is ended when it returns.

    One thread watches the clock while the deadline is entered. Without threads, as in a browser, nothing is ended.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._due = inf
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(threading.get_ident(),), daemon=True)

    def __enter__(self) -> Self:
        """Begin to watch the clock."""
        try:
            self._thread.start()
        except RuntimeError:  # no threads here
            self._over.set()
        return self

    def __exit__(self, *_: object) -> None:
        """End the watch."""
        if not self._over.is_set():
            self._over.set()
            self._thread.join()

    @contextmanager
    def running(self) -> Generator[None]:
        """Run the caller's code.

        Raises:
            OutOfTime: the seconds are over.
        """
        try:
            self.put_off()
            try:
                yield
            finally:
                self._stop()
        except _Ended:
            self._stop()
            raise OutOfTime from None

    def put_off(self) -> None:
        """Let the seconds begin again, because the code goes on."""
        self._due = time.monotonic() + self.seconds

    def _stop(self) -> None:
        with self._lock:
            if time.monotonic() > self._due:  # it may have been raised
                _raise_in(threading.get_ident(), None)
            self._due = inf

    def _watch(self, thread: int) -> None:
        while not self._over.wait(_EVERY):
            with self._lock:
                if time.monotonic() > self._due:
                    _raise_in(thread, _Ended)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in a thread at its next step of Python; None takes back one that is not raised yet."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error and ctypes.py_object(error))
