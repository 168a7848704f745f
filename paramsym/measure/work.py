"""Multiply-adds and floating-point operations of a forward and a backward pass, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from paramsym.errors import NotYetError
from paramsym.layer import Layer
from paramsym.ledger import Ledger, Line, Numbers
from paramsym.measure.cost import Cost, check_word
from paramsym.measure.gradients import gradients, later_gradients
from paramsym.measure.trace import trace
from paramsym.program.graph import MULTIPLY_ADD, Call, Loop, Opaque, Program, Region, Route, Scan, Work
from paramsym.program.lookups import Stored
from paramsym.program.pairs import sizes_of
from paramsym.program.types import ArrayType
from paramsym.size import Count, canonical

Way: TypeAlias = Literal["forward", "backward", "both"]


@dataclass(frozen=True)
class Counting:
    """A convention for counting operations: how many operations one unit of work is; units that are not listed count nothing."""

    name: str
    source: str
    units: Mapping[str, int]


CONVENTIONS = {
    "matmul": Counting(
        "matmul", "torch.utils.flop_counter: 2 per multiply-add of products and convolutions, nothing else", {MULTIPLY_ADD: 2}
    ),
    "multiply-adds": Counting("multiply-adds", "1 per multiply-add of products and convolutions, nothing else", {MULTIPLY_ADD: 1}),
}


def flops(
    layer: Layer,
    *inputs: Any,
    way: Way = "forward",
    convention: str = "matmul",
    past: Count = 0,
    input_gradients: bool = False,
    **named: Any,
) -> Cost:
    """Return the floating-point operations of a layer for inputs of these shapes.

    ``way`` is forward, backward or both; the backward pass is derived: a product costs as much again for each factor that needs a gradient.
    Inputs need none unless ``input_gradients``. ``past`` makes it one step after so many positions.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a layer, or a part, that does not say what it computes; the message names it.
        ArgumentError: an unknown way or convention.

    >>> from paramsym import B, Dense, F, H, S
    >>> flops(Dense(H, F), (B, S, H)).total
    2*B*F*H*S
    >>> flops(Dense(H, F), (B, S, H), way="backward").total  # the weight's gradient; the input needs none
    2*B*F*H*S
    """
    return _cost(layer, inputs, named, _convention(convention), "FLOPs", way=way, past=past, input_gradients=input_gradients)


def macs(layer: Layer, *inputs: Any, way: Way = "forward", past: Count = 0, input_gradients: bool = False, **named: Any) -> Cost:
    """Return the multiply-adds of products and convolutions: half of ``flops`` by the convention "matmul".

    Raises:
        ShapeError, NotYetError, ArgumentError: as ``flops``.

    >>> from paramsym import Conv2d
    >>> macs(Conv2d(3, 64, 7, stride=2, padding=3), (1, 3, 224, 224)).total
    118013952
    """
    return _cost(layer, inputs, named, CONVENTIONS["multiply-adds"], "MACs", way=way, past=past, input_gradients=input_gradients)


def _convention(name: str) -> Counting:
    check_word("convention", name, CONVENTIONS)
    return CONVENTIONS[name]


def _cost(
    layer: Layer,
    inputs: tuple[Any, ...],
    named: Mapping[str, Any],
    counting: Counting,
    unit: str,
    *,
    way: Way,
    past: Count,
    input_gradients: bool,
) -> Cost:
    check_word("way", way, ("forward", "backward", "both"))
    program = trace(layer, *inputs, past=past, **named)
    lines: list[Line] = []
    if way != "backward":
        lines += forward(program)
    if way != "forward":
        lines += backward(program, tuple(input_gradients and one.kind == "float" for one in program.input_types))

    def ask(layer: Layer, *shapes: Any) -> Cost:
        return _cost(layer, shapes, {}, counting, unit, way=way, past=past, input_gradients=input_gradients)

    shapes = tuple(one.sizes for one in program.input_types)
    return Cost(layer, shapes, unit, counting.name, Ledger(tuple(counted(lines, counting))), ask)


def forward(program: Program) -> Iterator[Line]:
    """Yield a line for the work of every operation.

    Raises:
        NotYetError: a part that does not say what it computes.
    """

    def worked(operation: Any, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> Iterator[Line]:
        yield from () if isinstance(operation, Stored) else (_line(operation, work) for work in operation.work(taken, given))

    return walked(program, worked)


def walked(program: Program, lines_of: Callable[..., Iterable[Line]]) -> Iterator[Line]:
    """Yield the lines of every operation, those of parts under their paths and as often as they are applied.

    ``lines_of`` takes an operation, and the types that it takes and gives.

    Raises:
        NotYetError: a part that does not say what it computes.
    """
    for step in program.steps:
        operation = step.operation
        match operation:
            case Call(name=name, body=body):
                yield from (line.within(shown(name), None, frozen=False) for line in walked(body, lines_of))
            case Region(body=body):
                yield from walked(body, lines_of)
            case Loop(bodies=bodies, shared=shared):
                for numbers, body in bodies:
                    yield from (looped(line, numbers, shared) for line in walked(body, lines_of))
            case Scan(body=body, length=length):
                yield from (times(line, length) for line in walked(body, lines_of))
            case Route(numbers=numbers, body=body, used=used):
                yield from (line.within(numbers, used, frozen=False) for line in walked(body, lines_of))
            case _:
                check_stated(operation)
                yield from lines_of(operation, program.taken(step), program.given(step))


def check_stated(operation: Any) -> None:
    """Raise ``NotYetError`` for a layer that does not say what it computes."""
    if isinstance(operation, Opaque):
        message = f"{type(operation.layer).__name__} does not say what it computes; write forward(self, own, x)."
        raise NotYetError(message)


def backward(program: Program, needs: tuple[bool, ...], *, frozen: bool = False) -> Iterator[Line]:
    """Yield a line for the work of every operation in the backward pass; ``needs`` says which inputs need a gradient."""
    flags = gradients(program, needs, frozen=frozen)
    for step in program.steps:
        operation, taken = step.operation, tuple(flags[number] for number in step.takes)
        match operation:
            case Call(name=name, body=body, frozen=within):
                yield from (line.within(shown(name), None, frozen=False) for line in backward(body, taken, frozen=frozen or within))
            case Region(body=body):
                yield from backward(body, taken, frozen=frozen)
            case Loop():
                yield from _backward_loop(operation, taken, frozen=frozen)
            case Scan(body=body, length=length):
                later = later_gradients(operation, taken, frozen=frozen)
                if later != taken:  # the first position gets a state that needs no gradient
                    yield from backward(body, taken, frozen=frozen)
                    length = canonical(length - 1)
                yield from (times(line, length) for line in backward(body, later, frozen=frozen))
            case Route(numbers=numbers, body=body, used=used):
                yield from (line.within(numbers, used, frozen=False) for line in backward(body, taken[:1], frozen=frozen))
            case Stored():
                continue
            case _:
                works = operation.backward(program.taken(step), program.given(step), taken) if any(taken) else ()
                yield from (_line(operation, work) for work in works)


def _backward_loop(loop: Loop, taken: tuple[bool, ...], *, frozen: bool) -> Iterator[Line]:
    """Yield the work of all copies; the first one may get an input that needs no gradient."""
    later = later_gradients(loop, taken, frozen=frozen)
    for position, (numbers, body) in enumerate(loop.bodies):
        size, rest = len(body.inputs), numbers
        if position == 0 and later != taken:
            first = replace(numbers, count=1)
            rest = replace(numbers, count=canonical(numbers.count - 1), start=canonical(numbers.start + numbers.step))
            yield from (looped(line, first, loop.shared) for line in backward(body, taken[:size], frozen=frozen))
        if rest.count != 0:
            yield from (looped(line, rest, loop.shared) for line in backward(body, later[:size], frozen=frozen))


def _line(operation: Any, work: Work) -> Line:
    return Line((str(operation).partition(" ")[0],), work.factors, role=work.unit)


def looped(line: Line, numbers: Numbers, shared: str | None) -> Line:
    """Return the line of a copy as one of all copies: numbered, or uses of one that is shared."""
    return line.within(shown(numbers), None, frozen=False) if shared is None else line.within(shared, numbers.count, frozen=False)


def shown(name: str | Numbers) -> str | Numbers:
    """Return the step of a path; "l{0..2}" for copies whose number is inside the names of their tensors."""
    return name if isinstance(name, str) or name.pattern else replace(name, pattern="l{}")


def times(line: Line, length: Count) -> Line:
    """Return the line as often as there are positions."""
    return replace(line, stored=(*line.stored, length), used=(*line.used, length))


def counted(lines: list[Line], counting: Counting) -> Iterator[Line]:
    """Yield the lines that a convention counts, weighted."""
    for line in lines:
        weight = counting.units.get(line.role, 0)
        if weight:
            factors = [factor for one in line.factors for factor in sizes_of(one)]
            yield replace(line, factors=(*(() if weight == 1 else (weight,)), *factors))
