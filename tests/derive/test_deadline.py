"""Builds that never return end with one error, and leave no thread behind."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym.derive.deadline import Deadline, OutOfTime
from paramsym.errors import NotYetError


def _forever() -> None:
    while True:
        pass


def _handling_errors() -> None:
    while True:
        try:
            int("")
        except Exception:  # noqa: BLE001, S112 - as somebody's build may
            continue


@pytest.mark.parametrize("code", [_forever, _handling_errors])
def test_code_without_end(code: Any) -> None:
    """A loop is ended, although it handles all errors; the next call has its own seconds."""
    threads = threading.active_count()
    with Deadline(0.2) as deadline:
        for _ in range(2):
            with pytest.raises(OutOfTime), deadline.running():
                code()
        with deadline.running():
            pass
    assert threading.active_count() == threads


def test_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started, code runs without a deadline."""

    def refused(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert str(ps.derive(lambda width=4: {"a": (width, width)}).params) == "width**2"


@cases(1)
@pytest.mark.parametrize("size", [4, 7])
def test_a_build_without_end(size: int) -> None:
    """The error says at which sizes: those at the start, or others that are tried."""

    def build(width: int = 4) -> dict[str, tuple[int, ...]]:
        if width == size:
            _forever()
        return {"a": (width, width)}

    with pytest.raises(NotYetError, match=rf"build did not return within 1 seconds for width={size}: .* with held=\{{\.\.\.\}}"):
        ps.derive(build, seconds=0.5)
