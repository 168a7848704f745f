"""Answers about programs, worked out once: the layer that a program belongs to remembers them, as it remembers the program."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from paramsym.program.graph import Program

T = TypeVar("T")


def once(program: Program, question: Hashable, answer: Callable[[], T]) -> T:
    """Return the answer of a program to a question; the body of a scan or a region, which no layer remembers, is asked each time.

    An answer is shared between those who ask: it is not to be changed.
    """
    if program.layer is None:
        return answer()
    known: dict[Any, tuple[Program, T]] = program.layer.__dict__.setdefault("_answers", {})
    place = (id(program), question)
    if place not in known:
        known[place] = (program, answer())  # the program is held, so that no other one has its number
    return known[place][1]
