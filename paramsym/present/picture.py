"""A program as a picture: its operations as boxes, the programs of parts as boxes around theirs."""

from __future__ import annotations

from paramsym.algebra.size import text
from paramsym.program.graph import Program, bodies
from paramsym.program.lookups import Stored
from paramsym.render.diagram import Box, to_svg


def picture(program: Program, depth: int | None = None) -> str:
    """Return an SVG picture of a program; ``depth`` is how many levels of parts are opened, by default all.

    >>> from paramsym import B, Dense, F, H, trace
    >>> picture(trace(Dense(H, F), (B, H))).startswith("<svg")
    True
    """
    kind = "program" if program.layer is None else type(program.layer).__name__.lstrip("_")
    inputs, outputs = (", ".join(text(one.sizes) for one in types) for types in (program.input_types, program.output_types))
    return to_svg(_boxes(program, depth), f"{kind}: {inputs} → {outputs}")


def _boxes(program: Program, depth: int | None) -> list[Box]:
    """Return a box for every operation; a stored tensor is a word in the boxes that take it."""
    found: list[Box] = []
    made: dict[int, Box | None] = dict.fromkeys(program.inputs)
    names: dict[int, str] = {}
    for step in program.steps:
        operation = step.operation
        if isinstance(operation, Stored):
            names[step.gives[0]] = operation.tensor.name
            continue
        inside = [] if depth == 0 else [box for body in bodies(operation) for box in _boxes(body, None if depth is None else depth - 1)]
        words = str(operation)
        tensors = ", ".join(names[number] for number in step.takes if number in names)
        words += f" ({tensors})" if tensors else ""
        shapes = ", ".join(text(one.sizes) for one in program.given(step))
        box = Box(words, shapes, [made[number] for number in step.takes if number in made], inside)
        found.append(box)
        made |= dict.fromkeys(step.gives, box)
    return found
