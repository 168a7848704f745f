"""The work of every operation in a forward and in a backward pass, as lines with the paths of the parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, canonical
from paramsym.core.layer import unstated
from paramsym.core.ledger import Line
from paramsym.measure.gradients import arriving, first_apart, gradients, later_gradients
from paramsym.measure.once import once
from paramsym.program.graph import Call, Loop, Opaque, Program, Region, Route, Scan, Work, bodies, named_bodies
from paramsym.program.lookups import Stored
from paramsym.program.products import Contract
from paramsym.program.types import ArrayType


def forward(program: Program) -> Iterator[Line]:
    """Yield a line for the work of every operation.

    Raises:
        NotYetError: a part without a forward pass.
    """

    def worked(operation: Any, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> Iterator[Line]:
        yield from () if isinstance(operation, Stored) else (_line(operation, work) for work in operation.work(taken, given))

    return walked(program, "forward", worked)


def after_blocks(program: Program) -> frozenset[str]:
    """Return the names of the stored tensors that are used only after the last repeated block, such as a final norm and a head."""

    def named(operation: Any, *_: tuple[ArrayType, ...]) -> Iterator[Line]:
        if isinstance(operation, Stored):
            yield Line((operation.tensor.name,), ())

    uses = [*walked(program, "stored tensors", named)]
    last = max((place for place, line in enumerate(uses, 1) if any(isinstance(step, Numbers) for step in line.path)), default=len(uses))
    return frozenset(line.name for line in uses[last:]) - frozenset(line.name for line in uses[:last])


def walked(
    program: Program, question: Hashable, lines_of: Callable[..., Iterable[Line]], *, whole: tuple[type, ...] = ()
) -> Iterator[Line]:
    """Yield the lines of every operation; lines of a part have its path and are multiplied by its number of uses.

    ``lines_of`` takes an operation with the types of its inputs and results. An operation of a type in ``whole`` is passed as a whole,
    without its inner operations. The lines of every part are cached under the ``question``, so equal parts are walked once.

    Raises:
        NotYetError: a part without a forward pass.
    """
    check_stated(program)

    def inside(body: Program) -> tuple[Line, ...]:
        return once(body, ("walked", question), lambda: tuple(lines(body)))

    def lines(body: Program) -> Iterator[Line]:
        for step in body.steps:
            operation = step.operation
            if isinstance(operation, whole) or not bodies(operation):
                yield from lines_of(operation, body.taken(step), body.given(step))
            else:
                yield from _with_copies(operation, inside)

    return iter(inside(program))


def _with_copies(operation: Call | Region | Loop | Scan | Route, inside: Callable[[Program], tuple[Line, ...]]) -> Iterator[Line]:
    """Yield the lines ``inside`` the programs of an operation, with their paths and multiplied by their number of uses."""
    match operation:
        case Call(name=name, body=body):
            yield from [line.within(shown(name)) for line in inside(body)]
        case Region(body=body):
            yield from inside(body)
        case Loop(bodies=copies, shared=shared):
            for numbers, body in copies:
                yield from [looped(line, numbers, shared) for line in inside(body)]
        case Scan(body=body, length=length):
            yield from [times(line, length) for line in inside(body)]
        case Route(numbers=numbers, body=body, used=used):
            yield from [line.within(numbers, used) for line in inside(body)]


def check_stated(program: Program, above: str = "") -> None:
    """Raise ``NotYetError`` for a part without a forward pass; the message contains its path, which begins with ``above``."""
    once(program, "stated", lambda: _check_stated(program, above))


def _check_stated(program: Program, above: str) -> None:
    for step in program.steps:
        operation = step.operation
        if isinstance(operation, Opaque):
            raise unstated(operation.layer, above.rstrip("."))
        for name, body in named_bodies(operation):
            check_stated(body, f"{above}{name}." if name else above)


def backward(
    program: Program, needs: tuple[bool, ...], asked: tuple[bool, ...] | None = None, *, frozen: bool = False, fused: bool = False
) -> Iterator[Line]:
    """Yield a line for the work of every operation in the backward pass; ``needs`` says which inputs need a gradient.

    ``asked`` says which outputs have a gradient, by default all. With ``fused``, torch's attention function is one kernel.
    """
    asked = (True,) * len(program.outputs) if asked is None else asked

    def lines() -> tuple[Line, ...]:
        return tuple(_backward(program, needs, asked, frozen=frozen, fused=fused))

    return iter(once(program, ("backward", needs, asked, frozen, fused), lines))


def _backward(program: Program, needs: tuple[bool, ...], asked: tuple[bool, ...], *, frozen: bool, fused: bool) -> Iterator[Line]:
    flags, arrived = gradients(program, needs, frozen=frozen), arriving(program, needs, asked, frozen=frozen)
    for step in program.steps:
        operation, taken = step.operation, tuple(flags[number] for number in step.takes)
        given = tuple(arrived[number] for number in step.gives)
        match operation:
            case _ if not any(given):
                continue
            case Call(name=name, body=body, frozen=within):
                yield from (line.within(shown(name)) for line in backward(body, taken, given, frozen=frozen or within, fused=fused))
            case Region(name="attention", body=body) if fused:
                yield from _fused(body) if any(taken) else ()
            case Region(body=body):
                yield from backward(body, taken, given, frozen=frozen, fused=fused)
            case Loop():
                yield from _backward_loop(operation, taken, frozen=frozen, fused=fused)
            case Scan(body=body, length=length):
                later = later_gradients(operation, taken, frozen=frozen)
                if later != taken:  # the initial state needs no gradient
                    yield from backward(body, taken, frozen=frozen, fused=fused)
                    length = canonical(length - 1)
                yield from (times(line, length) for line in backward(body, later, frozen=frozen, fused=fused))
            case Route(numbers=numbers, body=body, used=used):
                yield from (line.within(numbers, used) for line in backward(body, taken[:1], frozen=frozen, fused=fused))
            case _:
                works = operation.backward(program.taken(step), program.given(step), taken) if any(taken) else ()
                yield from (_line(operation, work) for work in works)


def _backward_loop(loop: Loop, taken: tuple[bool, ...], *, frozen: bool, fused: bool) -> Iterator[Line]:
    """Yield the work of all copies; the first one may get an input that needs no gradient."""
    later = later_gradients(loop, taken, frozen=frozen)
    for position, (numbers, body) in enumerate(loop.bodies):
        size, rest = len(body.inputs), numbers
        if position == 0 and later != taken:
            first, rest = first_apart(numbers)
            yield from (looped(line, first, loop.shared) for line in backward(body, taken[:size], frozen=frozen, fused=fused))
        if rest.count != 0:
            yield from (looped(line, rest, loop.shared) for line in backward(body, later[:size], frozen=frozen, fused=fused))


def _fused(body: Program) -> Iterator[Line]:
    """Yield the work of the backward pass of fused attention, which computes the scores again and all gradients."""
    for step in body.steps:
        if isinstance(step.operation, Contract) and step.operation.within is not None:
            products = 3 if word(step.operation) == "scores" else 2
            for work in step.operation.work(body.taken(step), body.given(step)):
                line = _line(step.operation, work)
                yield line.but(factors=(products, *line.factors))


def _line(operation: Any, work: Work) -> Line:
    return Line((word(operation),), work.factors, role=work.unit)


_WORDS = {
    "contract": "product",
    "convolve": "convolution",
    "normalise": "norm",
    "drop": "dropout",
    "segments": "split",
    "rearrange": "layout",
    "compact": "selection",
    "pick": "choice",
    "choose": "choice",
    "collect": "weighted sum",
    "axes": "layout",
    "as": "conversion",
    "put": "scatter",
    "take": "slice",
    "turn": "layout",
    "unfold": "windows",
    "loop": "blocks",
}
"""The field's words for operations whose names only this package has."""


def word(operation: Any) -> str:
    """Return the word for an operation: the field's, otherwise the first word of its description.

    >>> from paramsym.program.masks import ALL
    >>> word(Contract("b a q d, b a k d -> b a q k", ("q", "k", ALL))), word(Contract("... i, o i -> ... o"))
    ('scores', 'product')
    """
    if isinstance(operation, Region):
        return operation.name
    first = _first(operation) if isinstance(operation, Call | Loop | Scan | Route | Opaque) else _word(operation)
    return _WORDS.get(first, first)


@lru_cache(maxsize=1 << 12)
def _word(operation: Any) -> str:
    if isinstance(operation, Contract) and operation.within is not None:
        _, _, result = operation.spec.partition("->")
        return "scores" if {*operation.within[:2]} <= {*result.split()} else "weighted values"
    return _first(operation)  # formatting the sizes would be slow


def _first(operation: Any) -> str:
    return str(operation).partition(" ")[0]


def looped(line: Line, numbers: Numbers, shared: str | None) -> Line:
    """Return the line of one copy as the line of all copies: numbered, or uses of a shared one."""
    return line.within(shown(numbers)) if shared is None else line.within(shared, numbers.count)


def shown(name: str | Numbers) -> str | Numbers:
    """Return the step of a path; "l{0..2}" for copies whose tensor names contain the number."""
    return name if isinstance(name, str) or name.pattern else replace(name, pattern="l{}")


def times(line: Line, length: Count) -> Line:
    """Return the line times the number of positions."""
    return line.but(stored=(*line.stored, length), used=(*line.used, length))
