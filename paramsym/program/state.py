"""What a forward pass remembers for the next step: caches of keys and values, at most a window of them, recurrent states, and others."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sympy import Min

from paramsym.algebra.size import Count, Dim, canonical, count
from paramsym.program.graph import Unchanged
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType

_past: ContextVar[Count] = ContextVar("_past", default=0)


@dataclass(frozen=True, slots=True)
class Remember(Unchanged):
    """A value kept for the next step.

    With an ``axis`` the result begins with the entries of ``before`` earlier positions; at most ``at_most`` entries are kept for the next
    step. Without an axis the new value replaces the old one.
    """

    name: str
    axis: int | None = None
    before: Count = 0
    at_most: Dim | None = None

    @property
    def view(self) -> bool:  # type: ignore[override]
        """Whether the result is the input itself, because there are no earlier positions."""
        return self.axis is None or self.before == 0

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        if self.axis is None or self.before == 0:
            return taken
        return (x.with_axis(self.axis, canonical(x.sizes[self.axis] + self._limited(self.before))),)

    def state(self, x: ArrayType) -> ArrayType:
        """Return the type of the kept array."""
        if self.axis is None:
            return x
        return x.with_axis(self.axis, self._limited(canonical(x.sizes[self.axis] + self.before)))

    def _limited(self, positions: Count) -> Count:
        return positions if self.at_most is None else canonical(Min(positions, self.at_most))

    def __str__(self) -> str:
        return f"remember {self.name}"


def past() -> Count:
    """Return the number of positions in the caches before the forward pass; 0 outside of a decoding step."""
    return _past.get()


@contextmanager
def after(positions: Count) -> Generator[None]:
    """Trace a step after ``positions`` earlier positions."""
    token = _past.set(count(positions, "past"))
    try:
        yield
    finally:
        _past.reset(token)


def remember(name: str, x: Value, axis: int | None = None, at_most: Dim | None = None) -> Value:
    """Keep a value for the next step, and return it after the values kept before.

    ``axis`` is the axis of positions of a cache that grows; without it, the value replaces that of the step before.
    """
    return record(Remember(name, axis, 0 if axis is None else past(), at_most), x)
