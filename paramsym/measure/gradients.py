"""The values of a program that need a gradient: those that depend on a trained tensor, or on an input that needs one.

Of these, a value gets a gradient if a result depends on it, but not through whole numbers alone, such as the index of the nearest code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import canonical
from paramsym.measure.once import once
from paramsym.program.graph import Call, Loop, Program, Region, Route, Scan
from paramsym.program.lookups import Still, Stored
from paramsym.program.types import ArrayType


def gradients(program: Program, needs: tuple[bool, ...], *, frozen: bool = False) -> tuple[bool, ...]:
    """Return for every value whether the backward pass reaches it; ``needs`` are the flags of the inputs."""
    return once(program, ("gradients", needs, frozen), lambda: _gradients(program, needs, frozen=frozen))


def _gradients(program: Program, needs: tuple[bool, ...], *, frozen: bool) -> tuple[bool, ...]:
    found = [False] * len(program.types)
    for number, need in zip(program.inputs, needs, strict=True):
        found[number] = need
    for step in program.steps:
        flags = given_gradients(step.operation, tuple(found[number] for number in step.takes), program.given(step), frozen=frozen)
        for number, flag in zip(step.gives, flags, strict=True):
            found[number] = flag
    return tuple(found)


def given_gradients(operation: Any, taken: tuple[bool, ...], given: tuple[ArrayType, ...], *, frozen: bool) -> tuple[bool, ...]:
    """Return the flags of the results of one operation; whole numbers have no gradient."""
    match operation:
        case Stored(tensor=tensor):
            return (tensor.trainable and not tensor.buffer and not frozen,)
        case Still():
            return (False,)
        case Call(body=body, frozen=within):
            return _outputs(body, taken, frozen=frozen or within)
        case Region(body=body):
            return _outputs(body, taken, frozen=frozen)
        case Loop(bodies=bodies, carry=carry):
            later = later_gradients(operation, taken, frozen=frozen)
            body = bodies[0][1]
            return (*later[:carry], *_outputs(body, later[: len(body.inputs)], frozen=frozen)[carry:])
        case Scan(body=body):
            return _outputs(body, later_gradients(operation, taken, frozen=frozen), frozen=frozen)
        case Route(body=body):
            return (any((*_outputs(body, taken[:1], frozen=frozen), taken[1])),)
        case _:
            pass
    return tuple(any(taken) and one.kind in {"float", "complex"} for one in given)


def later_gradients(operation: Loop | Scan, taken: tuple[bool, ...], *, frozen: bool) -> tuple[bool, ...]:
    """Return the flags of the inputs from the second copy on: a carried value needs a gradient if a copy before it trains a parameter."""
    bodies = [body for _, body in operation.bodies] if isinstance(operation, Loop) else [operation.body]
    for body in bodies:
        behind = _outputs(body, taken[: len(body.inputs)], frozen=frozen)[: operation.carry]
        carried = (before or after for before, after in zip(taken, behind, strict=False))
        taken = (*carried, *taken[operation.carry :])
    return taken


def arriving(program: Program, needs: tuple[bool, ...], asked: tuple[bool, ...], *, frozen: bool = False) -> tuple[bool, ...]:
    """Return for every value whether a gradient arrives; ``needs`` are the flags of the inputs, ``asked`` those of the outputs."""
    return once(program, ("arriving", needs, asked, frozen), lambda: _arriving(program, needs, asked, frozen=frozen))


def _arriving(program: Program, needs: tuple[bool, ...], asked: tuple[bool, ...], *, frozen: bool) -> tuple[bool, ...]:
    flags = gradients(program, needs, frozen=frozen)
    used = {*program.outputs, *(number for step in program.steps for number in step.takes)}
    found = [False] * len(program.types)
    for step in program.steps:
        for number in step.gives if isinstance(step.operation, Call) else ():  # a pooled state beside the output is a result, too
            found[number] = flags[number] and number not in used
    for number, flag in zip(program.outputs, asked, strict=True):
        found[number] |= flag and flags[number]
    for step in reversed(program.steps):
        given, taken = tuple(found[number] for number in step.gives), tuple(flags[number] for number in step.takes)
        for number, flag in zip(step.takes, _passed_on(step.operation, taken, given, frozen=frozen), strict=True):
            found[number] |= flag
    return tuple(found)


def _passed_on(operation: Any, taken: tuple[bool, ...], given: tuple[bool, ...], *, frozen: bool) -> tuple[bool, ...]:
    """Return to which inputs an operation passes the gradients of its results."""
    if not any(given):
        return (False,) * len(taken)
    if isinstance(operation, Call | Region):
        within = frozen or (isinstance(operation, Call) and operation.frozen)
        found = arriving(operation.body, taken, given, frozen=within)
        return tuple(found[number] for number in operation.body.inputs)
    return taken


def first_apart(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Split numbered copies into the first, whose input may need no gradient, and the others."""
    start, count = canonical(numbers.start + numbers.step), canonical(numbers.count - 1)
    return replace(numbers, count=1, label=""), replace(numbers, count=count, start=start)


def _outputs(body: Program, taken: tuple[bool, ...], *, frozen: bool) -> tuple[bool, ...]:
    found = gradients(body, taken, frozen=frozen)
    return tuple(found[number] for number in body.outputs)
