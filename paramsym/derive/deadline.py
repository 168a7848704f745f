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
_STEPS = 8
"""Steps of Python in which what is on the way arrives; one is enough."""


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
        self._raising = False
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
        """Stop the clock."""
        if not self._over.is_set():
            self._over.set()
            self._thread.join()

    @contextmanager
    def running(self) -> Generator[None]:
        """Run the caller's code.

        Raises:
            OutOfTime: the seconds are over.
        """
        ended = False
        try:
            try:
                self.put_off()
                yield
            finally:
                ended = self._stop()
        except _Ended:
            ended = True
            self._stop()
        if ended:
            raise OutOfTime

    def put_off(self) -> None:
        """Let the seconds begin again, because the code goes on."""
        self._due = time.monotonic() + self.seconds

    def _stop(self) -> bool:
        """Let nothing be raised from here on; return whether it was on the way.

        No lock: the caller's thread may be ended at every step, also between taking one and being ready to give it back. What is on the way
        is awaited and not taken back: Python 3.11 with a tracer stops for ever after that.
        """
        ended = False
        while True:
            try:
                self._due = inf
                while self._raising:
                    time.sleep(0)
                for _ in range(_STEPS):
                    pass
            except _Ended:
                ended = True
            else:
                return ended

    def _watch(self, thread: int) -> None:
        while not self._over.wait(_EVERY):
            self._raising = True
            if time.monotonic() > self._due:
                _raise_in(thread, _Ended)
            self._raising = False


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise an error in a thread at its next step of Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
