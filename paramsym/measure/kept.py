"""What a forward pass keeps in memory for the backward pass, array by array; views of one storage count once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from paramsym.errors import NotYetError
from paramsym.ledger import Line, Numbers
from paramsym.measure.gradients import gradients, later_gradients
from paramsym.measure.work import check_stated, looped, shown, times
from paramsym.program.graph import Call, Loop, Program, Region, Route, Scan, Step
from paramsym.program.lookups import Choose, Stored
from paramsym.program.products import Contract
from paramsym.program.types import ArrayType, flat
from paramsym.size import canonical

Attention: TypeAlias = Literal["eager", "fused"]


@dataclass
class Keeping:
    """What one program keeps: inputs and outputs by position, because they belong to whoever passes them, and lines of what is inside."""

    inputs: set[int] = field(default_factory=set)
    outputs: set[int] = field(default_factory=set)
    lines: list[Line] = field(default_factory=list)


def keeping(
    program: Program, needs: tuple[bool, ...], attention: Attention, *, frozen: bool = False, stored: tuple[bool, ...] = ()
) -> Keeping:
    """Return what a program keeps; ``needs`` says which inputs need a gradient, ``stored`` which of them are stored tensors.

    Raises:
        NotYetError: a part that does not say what it computes, or experts that are chosen: what those keep depends on the kernel.
    """
    return _Keeper(program, needs, attention, frozen=frozen, stored=stored).found()


class _Keeper:
    """One program with the gradients, storages and stored tensors among its values."""

    def __init__(self, program: Program, needs: tuple[bool, ...], attention: Attention, *, frozen: bool, stored: tuple[bool, ...]) -> None:
        self.program, self.frozen = program, frozen
        self.attention: Attention = attention
        self.flags = gradients(program, needs, frozen=frozen)
        self.root = storages(program)
        self.stored = _stored(program, stored)
        self.values: dict[int, tuple[Any, ...]] = {}
        self.lines: list[Line] = []
        self.labels: dict[int, tuple[Any, ...]] = {}

    def found(self) -> Keeping:
        """Collect what every step keeps, and sort it into inputs, outputs and what is inside."""
        for step in self.program.steps:
            self._step(step)
        inputs = {self.program.inputs.index(number) for number in self.values if number in self.program.inputs}
        outputs = [self.root[number] for number in self.program.outputs]
        inside = [number for number in sorted(self.values) if number not in self.program.inputs and number not in outputs]
        given = {n for n, number in enumerate(outputs) if number in self.values and number not in self.program.inputs}
        lines = [*self.lines, *(_line(self.labels.get(number, ()), self.program.types[number]) for number in inside)]
        return Keeping(inputs, {n for n in given if outputs.index(outputs[n]) == n}, lines)

    def keep(self, number: int) -> None:
        """Keep the storage of a value; stored tensors are in memory anyway."""
        if not self.stored[number] and not self.stored[self.root[number]]:
            self.values.setdefault(self.root[number], ())

    def _step(self, step: Step) -> None:
        operation = step.operation
        needs = tuple(self.flags[number] for number in step.takes)
        for number in step.gives:
            self.labels[number] = (str(operation).partition(" ")[0],)
        match operation:
            case Call(name=name, body=body, frozen=within):
                self._inside(step, self._kept(step, body, needs, frozen=within), name)
            case Region(name=name, body=body):
                fused = self.attention == "fused" and name == "attention" and any(needs)
                self._inside(step, _fused(body) if fused else self._kept(step, body, needs), "")
            case Loop():
                self._loop(step, operation, later_gradients(operation, needs, frozen=self.frozen))
            case Scan():
                self._scan(step, operation, later_gradients(operation, needs, frozen=self.frozen))
            case Stored():
                pass
            case _ if any(self.flags[number] for number in step.gives):
                self._operation(step, needs)
            case _:
                check_stated(operation)

    def _operation(self, step: Step, needs: tuple[bool, ...]) -> None:
        if isinstance(step.operation, Route | Choose):
            message = "what chosen experts keep for the backward pass depends on the kernel that applies them, and is not stated yet."
            raise NotYetError(message)
        check_stated(step.operation)
        for one in step.operation.keeps(self.program.taken(step), self.program.given(step), needs):
            if one.source == "own":
                self.lines.append(Line((f"{self.labels[step.gives[0]][0]}'s {one.kind}",), one.factors, role=one.kind))
            else:
                self.keep((step.takes if one.source == "taken" else step.gives)[one.number])

    def _kept(self, step: Step, body: Program, needs: tuple[bool, ...], *, frozen: bool = False) -> Keeping:
        """Return what a program inside keeps, for the inputs that a step passes on."""
        stored = tuple(self.stored[number] for number in step.takes)[: len(body.inputs)]
        return keeping(body, needs[: len(body.inputs)], self.attention, frozen=self.frozen or frozen, stored=stored)

    def _inside(self, step: Step, kept: Keeping, name: str | Numbers) -> None:
        for number in kept.inputs:
            self.keep(step.takes[number])
        for number in kept.outputs:
            self.keep(step.gives[number])
        for number in step.gives:
            self.labels[number] = (shown(name), *self.labels[number]) if name else self.labels[number]
        self.lines += [line.within(shown(name), None, frozen=False) if name else line for line in kept.lines]

    def _loop(self, step: Step, loop: Loop, needs: tuple[bool, ...]) -> None:
        """All copies: what is carried from one to the next is kept once between them."""
        for position, (numbers, body) in enumerate(loop.bodies):
            kept = self._kept(step, body, needs)
            self.lines += [looped(line, numbers, loop.shared) for line in kept.lines]
            between = replace(numbers, count=canonical(numbers.count - 1)) if position == 0 else numbers
            for n in range(loop.carry):
                if (n in kept.inputs or n in kept.outputs) and between.count != 0:
                    self.lines.append(looped(_line(("carried",), self.program.types[step.takes[n]]), between, loop.shared))
            self._ends(step, kept, loop.carry)

    def _scan(self, step: Step, scan: Scan, needs: tuple[bool, ...]) -> None:
        """All positions; slices of the scanned arrays are views of these."""
        kept = self._kept(step, scan.body, needs)
        self.lines += [times(line, scan.length) for line in kept.lines]
        for n in range(scan.carry):
            if n in kept.inputs or n in kept.outputs:
                carried = _line(("carried",), self.program.types[step.takes[n]])
                self.lines.append(times(carried, canonical(scan.length - 1)))
        self._ends(step, kept, scan.carry)

    def _ends(self, step: Step, kept: Keeping, carry: int) -> None:
        """Keep what goes into the first round and comes out of the last one."""
        for number in kept.inputs:
            self.keep(step.takes[number])
        for number in kept.outputs:
            if number >= carry or number not in kept.inputs:
                self.keep(step.gives[number])


def storages(program: Program) -> tuple[int, ...]:
    """Return for every value the one whose storage it is a view of; a value of its own is its own."""
    found = list(range(len(program.types)))
    for step in program.steps:
        operation = step.operation
        match operation:
            case Call(body=body) | Region(body=body):
                inner = storages(body)
                for number, output in zip(step.gives, body.outputs, strict=True):
                    if inner[output] in body.inputs:
                        found[number] = found[step.takes[body.inputs.index(inner[output])]]
            case _ if getattr(operation, "view", False) and step.takes:
                for number in step.gives:
                    found[number] = found[step.takes[0]]
            case _:
                pass
    return tuple(found)


def _stored(program: Program, given: tuple[bool, ...]) -> tuple[bool, ...]:
    """Return for every value whether it is a stored tensor, or a view of one."""
    found = [False] * len(program.types)
    for number, stored in zip(program.inputs, given, strict=False):
        found[number] = stored
    for step in program.steps:
        view = getattr(step.operation, "view", False) and step.takes
        for number in step.gives:
            found[number] = isinstance(step.operation, Stored) or bool(view and found[step.takes[0]])
    return tuple(found)


def _fused(body: Program) -> Keeping:
    """What a fused attention keeps: what goes in and comes out, and the logarithm of every query's sum of exponentials.

    The kernel takes a causal mask as a flag. A window makes a mask of four bytes per pair, and has keys and values copied for each head.
    """
    query, key, value, *_ = body.input_types
    batch, queries, heads, _ = query.sizes
    lines = [Line(("logsumexp",), (batch, queries, heads), role="statistic")]
    if not _windowed(body, key):
        return Keeping(set(range(len(body.inputs))), {0}, lines)
    lines.append(Line(("mask",), (batch, queries, key.sizes[1]), role="statistic"))
    lines += [Line((name,), (*one.sizes[:2], heads, one.sizes[3]), role="float") for name, one in (("key", key), ("value", value))]
    return Keeping({0, *range(3, len(body.inputs))}, {0}, lines)


def _windowed(body: Program, key: ArrayType) -> bool:
    """Whether the products of a program are limited to a window that is shorter than the keys."""
    masks = (step.operation.within[2] for step in body.steps if isinstance(step.operation, Contract) and step.operation.within)
    windows = [mask.window for mask in masks if mask.window is not None]
    return any(not isinstance(window, int) or not isinstance(key.sizes[1], int) or window < key.sizes[1] for window in windows)


def _line(path: tuple[Any, ...], kind: ArrayType) -> Line:
    return Line(path or ("(value)",), flat(kind.shape), role=kind.kind)


def of_outputs(program: Program, kept: Keeping) -> Iterator[Line]:
    """Yield lines for the outputs that are kept; inputs are the caller's."""
    for number in sorted(kept.outputs):
        yield _line(("output",), program.output_types[number])
