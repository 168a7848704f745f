"""Multiply-adds and floating-point operations of a forward and a backward pass, line by line."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from sympy import Expr, Rational

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, canonical
from paramsym.core.layer import Layer, class_name, unstated
from paramsym.core.ledger import Line
from paramsym.errors import ArgumentError
from paramsym.measure.cost import Cost, check_word, cost_of
from paramsym.measure.counting import CONVENTIONS, LOOKUP, Counting, is_position, names_positions
from paramsym.measure.gradients import first_apart, gradients, later_gradients
from paramsym.measure.once import once
from paramsym.measure.options import telling_options
from paramsym.measure.trace import trace
from paramsym.program.graph import Call, Loop, Opaque, Program, Region, Route, Scan, Work, bodies, named_bodies
from paramsym.program.lookups import Stored
from paramsym.program.masks import Pairs, Rows, sizes_of
from paramsym.program.products import Contract
from paramsym.program.types import ArrayType

Way: TypeAlias = Literal["forward", "backward", "both"]
Share: TypeAlias = Literal["batch", "sequence", "token"]
PAIRS = "pairs"
"""The role of a line that multiplies every query with every key."""


@telling_options
def flops(
    layer: Layer,
    *inputs: Any,
    way: Way = "forward",
    convention: str = "matmul",
    per: Share = "batch",
    past: Count = 0,
    input_gradients: bool = False,
    **named: Any,
) -> Cost:
    """Return the floating-point operations of a layer for inputs of these shapes.

    ``way`` is forward, backward or both; the backward pass is derived: a product costs as much again for each factor that needs a gradient.
    Inputs need no gradient unless ``input_gradients``. ``convention`` is one that ``ps.conventions("work")`` lists. ``per`` gives the work
    of one sequence of the batch, or of one token. ``past`` is the number of positions before a decoding step.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a layer or a part without a forward pass; the message names it.
        ArgumentError: an unknown way, convention or share; ``per`` a token, or a convention that counts by tokens, for inputs without
            tokens.

    >>> from paramsym import B, Dense, F, H, S
    >>> flops(Dense(H, F), (B, S, H)).total
    2*B*F*H*S
    >>> flops(Dense(H, F), (B, S, H), way="backward").total  # the weight's gradient; the input needs no gradient
    2*B*F*H*S
    """
    check_word("convention", convention, CONVENTIONS)
    check_word("way", way, get_args(Way))
    check_word("per", per, get_args(Share))
    counting = CONVENTIONS[convention]
    program = trace(layer, *inputs, past=past, **named)
    check_stated(program)
    shapes = tuple(one.sizes for one in program.input_types)
    lines = [] if way == "backward" else _counted(layer, forward(program), counting, shapes)
    if way != "forward" and counting.backward == "derived":
        needs = tuple(input_gradients and one.kind == "float" for one in program.input_types)
        lines += _counted(layer, backward(program, needs), counting, shapes)
    elif way != "forward":
        one = _counted(layer, forward(program), counting, shapes)
        lines += [*one, *one, *(inside(one) if counting.recomputed else ())]
    described = ", ".join([counting.name, *(() if per == "batch" else (f"per {per}",))])
    divisors = divisors_of(layer, shapes, per)
    chosen = {"convention": convention, "way": way, "per": per, "past": past, "input_gradients": input_gradients}
    return cost_of(flops, layer, program, counting.unit, described, (shared(line, divisors) for line in lines), chosen)


@telling_options
def macs(
    layer: Layer,
    *inputs: Any,
    way: Way = "forward",
    per: Share = "batch",
    past: Count = 0,
    input_gradients: bool = False,
    **named: Any,
) -> Cost:
    """Return the multiply-adds of products and convolutions: half of ``flops`` by the convention "matmul".

    Raises:
        ShapeError, NotYetError, ArgumentError: as ``flops``.

    >>> from paramsym import Conv2d
    >>> macs(Conv2d(3, 64, 7, stride=2, padding=3), (1, 3, 224, 224)).total
    118013952
    """
    return flops(layer, *inputs, way=way, convention="multiply-adds", per=per, past=past, input_gradients=input_gradients, **named)


def _counted(layer: Layer, lines: Iterable[Line], counting: Counting, inputs: tuple[tuple[Dim, ...], ...]) -> list[Line]:
    """Return the lines that a convention counts; if it counts parameters, these are attention's pairs and the parameters."""
    found = list(counted(lines, counting))
    if counting.blocks:
        found = inside(found)
    if counting.parameters == "none":
        return found
    positions = _positions(layer, inputs)
    stored = [line for line in layer.ledger() if _is_taken(line, layer, counting)]
    return [
        *(line.but(factors=(2, *positions, *line.factors), stored=line.used, shape=(), label="") for line in stored),
        *(line for line in found if line.role == PAIRS),
    ]


def _is_taken(line: Line, layer: Layer, counting: Counting) -> bool:
    if counting.parameters == "no positions":
        return not is_position(line)
    multiplied = {other.alias_of for other in layer.lines if other.role != "table"}
    return counting.parameters == "all" or line.role != "table" or line.name in multiplied


def inside(lines: list[Line]) -> list[Line]:
    """Return the lines of repeated blocks; all lines if nothing is repeated."""
    repeated = [line for line in lines if any(isinstance(step, Numbers) for step in line.path)]
    return repeated or lines


def _positions(layer: Layer, inputs: tuple[tuple[Dim, ...], ...]) -> tuple[Dim, Dim]:
    first = inputs[0]
    if len(first) not in {2, 3}:
        raise ArgumentError(f"{class_name(layer)} for {first} has no tokens to count by; wanted a first input of (batch, positions).")
    return first[0], first[1]


def divisors_of(layer: Layer, inputs: tuple[tuple[Dim, ...], ...], per: Share) -> tuple[Dim, ...]:
    """Return the sizes by which a cost of the whole batch is divided."""
    return () if per == "batch" else inputs[0][:1] if per == "sequence" else _positions(layer, inputs)


def shared(line: Line, divisors: tuple[Dim, ...]) -> Line:
    """Divide a line: remove a factor that equals the divisor, or add the reciprocal as a factor."""
    factors: list[Dim] = list(line.factors)
    for divisor in divisors:
        if divisor in factors:
            factors.remove(divisor)
        elif divisor != 1:
            factors.append(1 / divisor if isinstance(divisor, Expr) else Rational(1, divisor))
    return line.but(factors=tuple(factors))


def forward(program: Program) -> Iterator[Line]:
    """Yield a line for the work of every operation.

    Raises:
        NotYetError: a part without a forward pass.
    """

    def worked(operation: Any, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> Iterator[Line]:
        yield from () if isinstance(operation, Stored) else (_line(operation, work) for work in operation.work(taken, given))

    return walked(program, "forward", worked)


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


def backward(program: Program, needs: tuple[bool, ...], *, frozen: bool = False) -> Iterator[Line]:
    """Yield a line for the work of every operation in the backward pass; ``needs`` says which inputs need a gradient."""
    return iter(once(program, ("backward", needs, frozen), lambda: tuple(_backward(program, needs, frozen=frozen))))


def _backward(program: Program, needs: tuple[bool, ...], *, frozen: bool) -> Iterator[Line]:
    flags = gradients(program, needs, frozen=frozen)
    for step in program.steps:
        operation, taken = step.operation, tuple(flags[number] for number in step.takes)
        match operation:
            case Call(name=name, body=body, frozen=within):
                yield from (line.within(shown(name)) for line in backward(body, taken, frozen=frozen or within))
            case Region(body=body):
                yield from backward(body, taken, frozen=frozen)
            case Loop():
                yield from _backward_loop(operation, taken, frozen=frozen)
            case Scan(body=body, length=length):
                later = later_gradients(operation, taken, frozen=frozen)
                if later != taken:  # the initial state needs no gradient
                    yield from backward(body, taken, frozen=frozen)
                    length = canonical(length - 1)
                yield from (times(line, length) for line in backward(body, later, frozen=frozen))
            case Route(numbers=numbers, body=body, used=used):
                yield from (line.within(numbers, used) for line in backward(body, taken[:1], frozen=frozen))
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
            first, rest = first_apart(numbers)
            yield from (looped(line, first, loop.shared) for line in backward(body, taken[:size], frozen=frozen))
        if rest.count != 0:
            yield from (looped(line, rest, loop.shared) for line in backward(body, later[:size], frozen=frozen))


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


def counted(lines: Iterable[Line], counting: Counting) -> Iterator[Line]:
    """Yield the lines that a convention counts, weighted."""
    for line in lines:
        weight: Dim = counting.units.get(line.role, 0)
        multiplied = line.role == LOOKUP
        if not weight or (multiplied and names_positions(line)):
            continue
        paired = any(isinstance(one, Pairs) for one in line.factors)
        if paired and counting.pairs in {"half", "seen"}:
            weight = canonical(Rational(weight, 2))
        factors: list[Dim] = [] if weight == 1 else [weight]
        for one in line.factors:
            if multiplied and isinstance(one, Rows):
                factors.append(one.rows)
            else:
                factors += _pairs(one, counting.pairs) if isinstance(one, Pairs) else sizes_of(one)
        yield line.but(factors=tuple(factors), role=PAIRS if paired else line.role)


def _pairs(pairs: Pairs, which: str) -> tuple[Dim, ...]:
    return pairs.twice_seen if which == "seen" else pairs.near if which == "near" else sizes_of(pairs)
