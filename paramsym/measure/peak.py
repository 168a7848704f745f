"""The widest moment of a forward pass without gradients: the largest sum of live arrays, without stored tensors, inputs and caches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sympy import Max

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.measure.layout import plain, viewed
from paramsym.measure.once import once
from paramsym.program.graph import Call, Loop, Program, Region, Route, Scan, bodies
from paramsym.program.lookups import Constant, Drop, Stored
from paramsym.program.state import Remember


def widest(program: Program, widths: Mapping[str, Dim], *, fused: bool = False) -> Dim:
    """Return the bytes of the widest moment; an array lives from the operation that makes it to the last one that uses it.

    Operations make new arrays, except for views. With ``fused`` an attention needs no temporary arrays. If no moment is the widest for all
    sizes, the result is the maximum of several.
    """
    found = [one.as_expr() for one in _moments(program, widths, fused=fused)]
    return Max(*found, evaluate=False) if len(found) > 1 else found[0]


def _moments(program: Program, widths: Mapping[str, Dim], *, fused: bool) -> list[Polynomial]:
    """Return the moments of which none exceeds another for all sizes; the inputs of a program belong to its caller."""
    return once(program, ("moments", tuple(widths.items()), fused), lambda: _found(program, widths, fused=fused))


def _found(program: Program, widths: Mapping[str, Dim], *, fused: bool) -> list[Polynomial]:
    root = _roots(program)
    last = {root[number]: place for place, step in enumerate(program.steps) for number in step.takes}
    last |= {root[number]: len(program.steps) for number in program.outputs}
    foreign = {*program.inputs}
    foreign |= {n for step in program.steps for n in step.gives if isinstance(step.operation, Stored | Remember)}
    foreign |= {root[n] for step in program.steps for n in step.takes if isinstance(step.operation, Remember)}
    foreign |= {n for step in program.steps for n in step.gives if isinstance(step.operation, Constant) and step.operation.held}
    live: dict[int, Polynomial] = {}
    found: list[Polynomial] = [Polynomial.of(0)]
    for place, step in enumerate(program.steps):
        inside = _inside(step.operation, widths, fused=fused)
        around = Polynomial.total(live.values())
        for number in step.gives:
            if root[number] == number and number not in foreign:
                kind = program.types[number]
                live[number] = Polynomial.product((widths[kind.kind], *kind.sizes))
        found = _widest([*found, Polynomial.total(live.values()), *(around + one for one in inside)])
        live = {number: size for number, size in live.items() if last.get(number, -1) > place}
    return found


def _inside(operation: Any, widths: Mapping[str, Dim], *, fused: bool) -> list[Polynomial]:
    """Return the moments inside an operation."""
    if fused and isinstance(operation, Region) and operation.name == "attention":
        return []
    if isinstance(operation, Call | Region | Loop | Scan | Route):
        return _widest([one for body in bodies(operation) for one in _moments(body, widths, fused=fused)])
    return []


def _roots(program: Program) -> list[int]:
    """Return for every value the one that owns its storage."""
    root = list(range(len(program.types)))
    layout = [plain(one) for one in program.types]
    for step in program.steps:
        if step.takes:
            first = step.takes[0]
            dropped = isinstance(step.operation, Drop)  # there is no dropout without gradients
            laid = (layout[first],) if dropped else viewed(step.operation, program.types[first], program.given(step), layout[first])
            for number, one in zip(step.gives, laid or (), strict=False):
                root[number], layout[number] = root[first], one
    return root


def _widest(moments: Iterable[Polynomial]) -> list[Polynomial]:
    """Leave out every moment that another one exceeds term by term."""
    found: list[Polynomial] = []
    for one in moments:
        if not any(_within(one, other) for other in found):
            found = [other for other in found if not _within(other, one)] + [one]
    return found


def _within(one: Polynomial, other: Polynomial) -> bool:
    return all(amount >= 0 for amount in (other - one).terms.values())
