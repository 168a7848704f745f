"""A program as a picture: operations are boxes, and parts are boxes around their operations."""

from __future__ import annotations

from paramsym.algebra.size import shown
from paramsym.program.graph import Program, bodies
from paramsym.program.lookups import Stored
from paramsym.program.named_axes import Known, Named, Rearrange
from paramsym.render.diagram import Box, to_svg


def picture(program: Program, depth: int | None = None) -> str:
    """Return an SVG picture of a program; ``depth`` is the number of opened levels of parts, by default all.

    >>> from paramsym import B, Dense, F, H, trace
    >>> picture(trace(Dense(H, F), (B, H))).startswith("<svg")
    True
    """
    kind = "program" if program.layer is None else type(program.layer).__name__.lstrip("_")
    inputs, outputs = (", ".join(shown(one.sizes) for one in types) for types in (program.input_types, program.output_types))
    return to_svg(_boxes(program, depth), f"{kind}: {inputs} → {outputs}")


MOST = 60
"""The most boxes of a picture without much scrolling."""


def pictures(program: Program) -> str:
    """Return a picture for a notebook: the parts, to a depth that keeps it short; a click shows every operation.

    >>> from paramsym import B, Dense, F, H, trace
    >>> "<details>" in pictures(trace(Dense(H, F), (B, H)))
    False
    """
    whole = _boxes(program, None)
    levels = [_count(whole, depth) for depth in range(_depth(whole) + 1)]
    fitting = [depth for depth, boxes in enumerate(levels) if boxes <= MOST]
    if len(fitting) == len(levels):
        return picture(program)
    short = picture(program, max(fitting, default=0))
    return f"{short}\n<details><summary>{levels[-1]} operations</summary>\n{picture(program)}\n</details>"


def _depth(boxes: list[Box]) -> int:
    return max((1 + _depth(box.inside) for box in boxes if box.inside), default=0)


def _count(boxes: list[Box], depth: int) -> int:
    return len(boxes) + (sum(_count(box.inside, depth - 1) for box in boxes) if depth else 0)


def _boxes(program: Program, depth: int | None) -> list[Box]:
    """Return a box for every operation except naming of axes; a stored tensor is a word in the boxes that use it."""
    found: list[Box] = []
    made: dict[int, Box | None] = dict.fromkeys(program.inputs)
    names: dict[int, str] = {}
    for step in program.steps:
        operation = step.operation
        if isinstance(operation, Stored):
            names[step.gives[0]] = operation.tensor.name
            continue
        if isinstance(operation, Rearrange) and step.takes[0] in names:
            names[step.gives[0]] = names[step.takes[0]]  # a tensor reshaped for the array that it is combined with
            continue
        if isinstance(operation, Named | Known) and step.takes[0] in made:
            made[step.gives[0]] = made[step.takes[0]]
            continue
        inside = [] if depth == 0 else [box for body in bodies(operation) for box in _boxes(body, None if depth is None else depth - 1)]
        words = str(operation)
        tensors = ", ".join(names[number] for number in step.takes if number in names)
        words += f" ({tensors})" if tensors else ""
        shapes = ", ".join(shown(one.sizes) for one in program.given(step))
        box = Box(words, shapes, [made[number] for number in step.takes if number in made], inside)
        found.append(box)
        made |= dict.fromkeys(step.gives, box)
    return found


Program._repr_html_ = pictures
