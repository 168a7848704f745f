"""The widest moment of a forward pass without gradients: the largest sum of live arrays, without stored tensors, inputs and caches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sympy import Max, Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, same, shown
from paramsym.errors import SizeError
from paramsym.measure.layout import Layouts, viewed
from paramsym.measure.once import once
from paramsym.program.graph import Call, Loop, Operation, Program, Region, Route, Scan
from paramsym.program.lookups import Drop
from paramsym.program.state import Remember
from paramsym.program.types import ArrayType

_NOTHING = Polynomial.of(0)


def widest(program: Program, widths: Mapping[str, Dim], *, fused: bool = False) -> Dim:
    """Return the bytes of the widest moment; an array lives from the operation that makes it to the last one that uses it.

    Operations make new arrays, except for views. With ``fused`` an attention needs no temporary arrays. If no moment is the widest for all
    sizes, the result is the maximum of several. The result holds if every loop has at least one copy.
    """
    found = [one.as_expr() for one in _moments(program, widths, fused=fused)]
    return Max(*found, evaluate=False) if len(found) > 1 else found[0]


def _moments(program: Program, widths: Mapping[str, Dim], *, fused: bool) -> list[Polynomial]:
    """Return the moments that may be the widest, none of which exceeds another for all sizes; inputs belong to the caller."""
    return once(program, ("moments", tuple(widths.items()), fused), lambda: _found(program, widths, fused=fused))


def _found(program: Program, widths: Mapping[str, Dim], *, fused: bool) -> list[Polynomial]:
    root = _roots(program)
    last = {root[number]: place for place, step in enumerate(program.steps) for number in step.takes}
    last |= {root[number]: len(program.steps) for number in program.outputs}
    foreign = {*program.inputs}
    foreign |= {n for step in program.steps for n in step.gives if isinstance(step.operation, Operation) and step.operation.held}
    foreign |= {
        n for step in program.steps if isinstance(step.operation, Remember) for n in (*step.gives, *(root[one] for one in step.takes))
    }
    live: dict[int, Polynomial] = {}
    around = _NOTHING  # the sum of what is live
    found: list[Polynomial] = [_NOTHING]
    for place, step in enumerate(program.steps):
        ending = {number for number in live if last[number] == place}
        if isinstance(step.operation, Loop):
            given = {root[number] for number in step.takes[: step.operation.carry]} & ending
            freed = Polynomial.total(live[number] for number in given)
            inside = _widest(_copies(step.operation, freed, widths, fused=fused))
        else:
            inside = _inside(step.operation, widths, fused=fused)
        made = {n: _held(program.types[n], widths) for n in step.gives if root[n] == n and n not in foreign}
        live |= made
        during = Polynomial.total((around, *made.values())) if made else around
        found = _widest([during, *(around + one for one in inside)], found)
        ended = [live.pop(number) for number in (*ending, *made) if last.get(number, -1) <= place]
        around = during - Polynomial.total(ended) if ended else during
    return found


def _held(kind: ArrayType, widths: Mapping[str, Dim]) -> Polynomial:
    return Polynomial.product((widths[kind.kind], *kind.sizes))


def _inside(operation: Any, widths: Mapping[str, Dim], *, fused: bool) -> list[Polynomial]:
    if fused and isinstance(operation, Region) and operation.name == "attention":
        return []
    if isinstance(operation, Call | Region | Scan | Route):
        return _moments(operation.body, widths, fused=fused)
    return []


def _copies(loop: Loop, freed: Polynomial, widths: Mapping[str, Dim], *, fused: bool) -> Iterator[Polynomial]:
    """Yield the moments inside the copies. Copies after the first get the results of the one before; the first inputs may be ``freed``."""
    for place, (numbers, body) in enumerate(loop.bodies):
        same(numbers.count, 0)  # without copies there are no arrays, and after a single copy there is no next one
        same(numbers.count, 1)
        start, step = Polynomial.of(numbers.start), Polynomial.of(numbers.step)
        last = start + step * (Polynomial.of(numbers.count) - Polynomial.of(1))
        made = Polynomial.total(_held(body.types[number], widths) for number in body.inputs[: loop.carry])
        for moment in _moments(body, widths, fused=fused):
            index = numbers.index if numbers.index in moment.free_symbols | made.free_symbols else None
            if place == 0:
                yield moment if index is None else moment.put(index, start)
            behind = moment + made - freed
            yield from [behind] if index is None else _ends(behind, index, start + step if place == 0 else start, last, numbers)


def _ends(moment: Polynomial, index: Symbol, first: Polynomial, last: Polynomial, numbers: Numbers) -> Iterator[Polynomial]:
    """Yield polynomials; the largest of them is the largest value of a moment over the copies.

    Raises:
        SizeError: a moment that may be widest in a copy between the first and the last.
    """
    further = Polynomial.of(index) + Polynomial.of(numbers.step)
    grows = moment.put(index, further) - moment
    bends = grows.put(index, further) - grows
    if _within(_NOTHING, grows):
        yield moment.put(index, last)
    elif _within(grows, _NOTHING):
        yield moment.put(index, first)
    elif _within(_NOTHING, bends):
        yield from (moment.put(index, first), moment.put(index, last))
    else:
        raise SizeError(f"the widest of {numbers} is not known: {shown(moment.as_expr())} may be largest between the first and the last.")


def _roots(program: Program) -> list[int]:
    """Return for every value the value that owns its storage."""
    return once(program, "laid", partial(_laid, program))[0]


def _laid(program: Program) -> tuple[list[int], Layouts]:
    """Return the owners of the storages, and the layouts. A part such as a dropout may return its input or a view of it."""
    root = list(range(len(program.types)))
    layout = Layouts(program.types)
    for step in program.steps:
        if isinstance(step.operation, Call):
            body = step.operation.body
            owners, layouts = once(body, "laid", partial(_laid, body))
            place = {number: position for position, number in enumerate(body.inputs)}
            for number, output in zip(step.gives, body.outputs, strict=True):
                if owners[output] in place:
                    root[number], layout[number] = root[step.takes[place[owners[output]]]], layouts[output]
        elif step.takes:
            first = step.takes[0]
            dropped = isinstance(step.operation, Drop)  # there is no dropout without gradients
            laid = (layout[first],) if dropped else viewed(step.operation, program.types[first], program.given(step), layout[first])
            for number, one in zip(step.gives, laid or (), strict=False):
                root[number], layout[number] = root[first], one
    return root, layout


def _widest(moments: Iterable[Polynomial], found: list[Polynomial] | None = None) -> list[Polynomial]:
    """Leave out every moment that another one exceeds term by term; of those that are already ``found``, none exceeds another."""
    found = found or []
    for one in moments:
        if not any(_within(one, other) for other in found):
            found = [other for other in found if not _within(other, one)] + [one]
    return found


def _within(one: Polynomial, other: Polynomial) -> bool:
    """Return whether every term of the first polynomial is at most the same term of the second."""
    less, more = one.terms, other.terms
    return all(more.get(term, 0) >= amount for term, amount in less.items()) and all(c >= 0 or term in less for term, c in more.items())
