"""A cache of answers about programs, kept in the layer that a program belongs to."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from paramsym.algebra.size import recalled
from paramsym.program.graph import Program

T = TypeVar("T")


def once(program: Program, question: Hashable, answer: Callable[[], T]) -> T:
    """Return the cached answer about a program; for the body of a scan or a region, which no layer caches, compute it each time.

    The answer is shared between callers, so it must not be changed.
    """
    if program.layer is None:
        return answer()
    known: dict[Any, Any] = program.layer.__dict__.setdefault("_answers", {})
    return recalled(known, (id(program), question), lambda: (program, answer()))[1]  # keep the program, so that no other one gets its id
