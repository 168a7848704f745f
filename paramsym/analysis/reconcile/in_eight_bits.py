"""Files in 8 bits with a scale for each block of 128 by 128 numbers, such as DeepSeek-V3's: their numbers and their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from sympy import Expr

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import stack
from paramsym.analysis.reconcile.edits import Edit, counted_as
from paramsym.analysis.reconcile.options import with_modules
from paramsym.analysis.reconcile.subject import Subject
from paramsym.core.ledger import Line
from paramsym.measure.cost import Cost
from paramsym.measure.formats import chosen

_BLOCK = 128
_WHOLE = frozenset({"gate", "router", "eh_proj"})  # routers, and what joins two inputs, stay in 16 bits


@dataclass(frozen=True)
class _Stored:
    """What a file stores: numbers in 8 bits, in 16 bits, and in float32, which are the scales and the buffers."""

    words: str
    small: int
    half: int
    full: int


def numbers_in_eight_bits(subject: Subject) -> Iterator[Edit]:
    """Yield the numbers of such files: all of them, as sites of models show them, and those in 8 bits alone."""
    for place, one in enumerate(_files(subject)):
        every = Polynomial.of(one.small + one.half + one.full)
        yield counted_as(subject, every, f"the numbers of {one.words}, the scales counted as well", 1.13)
        if place:  # of a model as it is, those in 8 bits are the matrices of its blocks, which has usual names
            yield counted_as(subject, Polynomial.of(one.small), f"only the numbers in 8 bits of {one.words}", 1.2)


def bytes_in_eight_bits(subject: Subject) -> Iterator[Edit]:
    """Yield the bytes of such files."""
    for one in _files(subject):
        size = Polynomial.of(one.small + 2 * one.half + 4 * one.full)
        yield counted_as(subject, size, f"the bytes of {one.words}", 1.2, unit="bytes")


def _files(subject: Subject) -> Iterator[_Stored]:
    if isinstance(subject.root, Cost):
        return
    what = "a file in 8 bits with a float32 for each 128 by 128 numbers"
    yield from _stored(subject, what, subject.root.lines)
    for words, built in with_modules(subject.root):
        yield from _stored(subject, f"{what}, {words}, what it shares stored again", built.lines)


def _stored(subject: Subject, words: str, lines: tuple[Line, ...]) -> Iterator[_Stored]:
    small, half, full = 0, 0, 0
    for line in lines:
        if any(isinstance(step, Numbers) and step.index is not None for step in line.path):
            return  # copies of other sizes, as in networks for pictures
        if line.buffer and not line.persistent:
            continue
        amount = subject.value(line.polynomial())
        if line.buffer:
            full += amount
        elif line.alias_of or not chosen(line, "blocks") or _WHOLE.intersection(map(str, line.path[-2:])):
            half += amount
        else:
            small, full = small + amount, full + _blocks(subject, line)
    if small:
        yield _Stored(words, small, half, full)


def _blocks(subject: Subject, line: Line) -> int:
    """Return the number of blocks of a matrix and of its copies; a last block may be smaller than the others."""
    sides = [axis for axis, size in zip(line.axes, line.shape, strict=True) if not isinstance(size, stack)]
    copies = prod(subject.value(Polynomial.of(count)) if isinstance(count, Expr) else count for count in line.stored)
    return copies * prod(-(-subject.value(Polynomial.product(side)) // _BLOCK) for side in sides)
