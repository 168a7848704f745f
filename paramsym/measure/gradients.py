"""The values of a program that need a gradient: those that depend on a trained tensor, or on an input that needs one."""

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


def first_apart(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first one of numbered copies, whose input may need no gradient, and the others."""
    start, count = canonical(numbers.start + numbers.step), canonical(numbers.count - 1)
    return replace(numbers, count=1, label=""), replace(numbers, count=count, start=start)


def _outputs(body: Program, taken: tuple[bool, ...], *, frozen: bool) -> tuple[bool, ...]:
    found = gradients(body, taken, frozen=frozen)
    return tuple(found[number] for number in body.outputs)
