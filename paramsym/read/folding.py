"""Equal neighbours in a program become one loop: twelve blocks applied one after another are one block and its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from paramsym.algebra.numbering import Numbers
from paramsym.program.graph import Call, Loop, Program, Step


def folded(program: Program) -> Program:
    """Return the program with runs of equal numbered parts as loops."""
    steps: list[Step] = []
    position = 0
    while position < len(program.steps):
        run = _run(program, position)
        steps.append(program.steps[position] if len(run) == 1 else _loop(run))
        position += len(run)
    return replace(program, steps=tuple(steps))


def _run(program: Program, position: int) -> Sequence[Step]:
    """Return the longest run of steps from a position that can be one loop."""
    steps = program.steps
    end = position + 1
    while end < len(steps) and _follows(steps[end - 1], steps[end]) and _carried(steps[position : end + 1]) is not None:
        end += 1
    while end > position + 1 and not _alone(program, steps[position:end], position):
        end -= 1
    return steps[position:end]


def _follows(one: Step, other: Step) -> bool:
    """Return whether a step applies the next of numbered parts that compute the same."""
    before, behind = one.operation, other.operation
    if not (isinstance(before, Call) and isinstance(behind, Call) and isinstance(before.name, str) and isinstance(behind.name, str)):
        return False
    (path, number), (again, following) = _numbered(before.name), _numbered(behind.name)
    return path == again and number is not None and following == number + 1 and before.body == behind.body


def _numbered(name: str) -> tuple[str, int | None]:
    path, _, last = name.rpartition(".")
    return path, int(last) if last.isdecimal() else None


def _carried(steps: Sequence[Step]) -> tuple[tuple[int, int], ...] | None:
    """Return for every value that goes from copy to copy its place among the inputs and among the results.

    None if an input is neither the result of the copy before nor the same for all copies.
    """
    found: tuple[tuple[int, int], ...] | None = None
    for one, other in pairwise(steps):
        if len(one.takes) != len(other.takes):
            return None
        pairs = []
        for place, (before, behind) in enumerate(zip(one.takes, other.takes, strict=True)):
            if behind in one.gives:
                pairs.append((place, one.gives.index(behind)))
            elif before != behind:
                return None
        if (
            len({result for _, result in pairs}) != len(pairs)
            or len(pairs) != len(one.gives)
            or (found is not None and found != tuple(pairs))
        ):
            return None
        found = tuple(pairs)
    return found


def _alone(program: Program, steps: Sequence[Step], position: int) -> bool:
    """Return whether only the next copy uses the results of every copy but the last, and the carried values keep their types."""
    inner = {number for step in steps[:-1] for number in step.gives}
    later = {number for step in program.steps[position + len(steps) :] for number in step.takes} | set(program.outputs)
    if inner & later:
        return False
    first = steps[0]
    pairs = _carried(steps) or ()
    return all(program.types[first.takes[place]] == program.types[first.gives[result]] for place, result in pairs)


def _loop(steps: Sequence[Step]) -> Step:
    """Return one step that applies all copies."""
    first, last = steps[0], steps[-1]
    pairs = _carried(steps) or ()
    carried = [place for place, _ in pairs]
    order = [*carried, *(place for place in range(len(first.takes)) if place not in carried)]
    body = first.operation.body
    inside = replace(
        body,
        inputs=tuple(body.inputs[place] for place in order),
        outputs=tuple(body.outputs[result] for _, result in pairs),
        several=len(pairs) > 1,
    )
    path, number = _numbered(first.operation.name)
    numbers = Numbers(len(steps), number or 0, 1, f"{path}.{{}}" if path else "{}")
    loop = Loop(((numbers, inside),), len(pairs))
    return Step(loop, tuple(first.takes[place] for place in order), tuple(last.gives[result] for _, result in pairs))
