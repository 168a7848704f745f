"""The program of a layer for input shapes, given in order or by the names of the reference."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from paramsym.algebra.size import Count, Dim, conditions_are_asked, same, shown
from paramsym.core.layer import Layer, check_layer, unstated
from paramsym.errors import ShapeError
from paramsym.measure.walk import checked_shape
from paramsym.program.graph import Loop, Program, bodies
from paramsym.program.output import types_of
from paramsym.program.own import trace_layer
from paramsym.program.signature import arranged, names_of, stated_inputs
from paramsym.program.state import after
from paramsym.program.statement import class_name
from paramsym.program.types import ArrayType


def trace(layer: Layer, *inputs: Any, past: Count = 0, **named: Any) -> Program:
    """Return the program of a layer: every operation of its forward pass with the shapes of the results.

    ``inputs`` are shapes, in order or by name; by default the model's own, in letters. ``past`` is the number of positions before a
    decoding step, whose input has one position.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a layer without a forward pass.
        ArgumentError: too many inputs, or an unknown name.

    >>> from paramsym import B, Dense, F, H
    >>> print(trace(Dense(H, F), (B, H)))
    Dense(%0 (B, H)) -> %4 (B, F)
      %1 (F, H) = weight()
      %2 (B, F) = contract '... i, o i -> ... o'(%0, %1)
      %3 (F,) = bias()
      %4 (B, F) = add(%2, %3)
    """
    check_layer(layer)
    types = types_for(layer, inputs, named)
    with after(past), telling(layer, [type_.sizes for type_ in types]):
        return trace_layer(layer, *types)


def types_for(layer: Layer, shapes: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[ArrayType, ...]:
    """Return the types of the inputs of a layer.

    Raises:
        ArgumentError: too many inputs, or an unknown name.
        NotYetError: a layer without a forward pass.
        ShapeError: something that is not a shape.
    """
    if not layer.computes:
        raise unstated(layer)
    if not shapes and not named:
        named = stated_inputs(layer)
    ordered = arranged(layer, shapes, named)
    return types_of(checked_shape(ordered) if len(ordered) > 1 else checked_shape(ordered[0]))


def ask_for_copies(program: Program) -> None:
    """Add the condition that every loop has at least one copy: without copies, the arrays that they keep once do not exist."""
    for step in program.steps if conditions_are_asked() else ():
        if isinstance(step.operation, Loop):
            for numbers, _ in step.operation.bodies:
                same(numbers.count, 0)
        for body in bodies(step.operation):
            ask_for_copies(body)


@contextmanager
def telling(layer: Layer, shapes: Sequence[Sequence[Dim]]) -> Generator[None]:
    """Add the layer, and its inputs by name if there are several, to errors about shapes.

    Raises:
        ShapeError: the same error with more details.
    """
    try:
        yield
    except ShapeError as error:
        names = (*names_of(layer), *(f"input {n}" for n in range(len(names_of(layer)), len(shapes))))
        given = ", ".join(f"{name} {shown(tuple(shape))}" for name, shape in zip(names, shapes, strict=False))
        found = type(error)(f"{class_name(layer)}{f', given {given}' if len(shapes) > 1 else ''}: {error}")
        found.__dict__.update(error.__dict__)
        raise found from None
