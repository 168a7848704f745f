"""Multiply-adds and floating-point operations of a forward and a backward pass, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias, get_args

from sympy import Expr, Rational

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, canonical
from paramsym.arguments import known_word
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line
from paramsym.errors import ArgumentError
from paramsym.measure.cost import Cost, cost_of
from paramsym.measure.options import telling_options
from paramsym.measure.passes import backward, check_stated, forward
from paramsym.measure.recompute import RECOMPUTE, Recompute
from paramsym.measure.shares import Shares
from paramsym.measure.trace import trace
from paramsym.measure.work_conventions import CONVENTIONS, LOOKUP, Counting, is_position, names_positions
from paramsym.program.masks import Pairs, Rows, sizes_of
from paramsym.program.statement import class_name

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
    recompute: Recompute | None = None,
    tensor: Dim = 1,
    context: Dim = 1,
    pipeline: Dim = 1,
    expert: Dim = 1,
    **named: Any,
) -> Cost:
    """Return the floating-point operations of a layer for inputs of these shapes.

    ``way`` is forward, backward or both; the backward pass is derived: a product costs as much again for each factor that needs a gradient.
    Inputs need no gradient unless ``input_gradients``. ``convention`` is one that ``ps.conventions("work")`` lists. ``per`` gives the work
    of one sequence of the batch, or of one token. ``past`` is the number of positions before a decoding step. ``recompute`` is what the
    backward pass computes again: "none", "selective" (attention's products), or "full" (the repeated blocks); if it is None, the convention
    chooses it. If the model is split over devices, one device is counted: ``tensor``, ``context``, ``pipeline`` and ``expert`` are those of
    ``activations``; of a pipeline, it is a device that also has the parts outside the blocks.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a layer or a part without a forward pass; the message names it.
        ArgumentError: an unknown way, convention, share or ``recompute``; ``per`` a token, or a convention that counts by tokens, for
            inputs without tokens.
        SizeError: an impossible number of devices.

    >>> from paramsym import B, Dense, F, H, S
    >>> flops(Dense(H, F), (B, S, H)).total
    2*B*F*H*S
    >>> flops(Dense(H, F), (B, S, H), way="backward").total  # the weight's gradient; the input needs no gradient
    2*B*F*H*S
    """
    convention = known_word("convention", convention, CONVENTIONS)
    way, per = known_word("way", way, get_args(Way)), known_word("per", per, get_args(Share))
    if recompute is not None:
        recompute = known_word("recompute", recompute, RECOMPUTE, ", or None for the convention's own")
    counting, shares = CONVENTIONS[convention], Shares(tensor, context=context, pipeline=pipeline, expert=expert)
    program = trace(layer, *inputs, past=past, **named)
    check_stated(program)
    shapes = tuple(one.sizes for one in program.input_types)
    one = _counted(layer, forward(program), counting, shapes)
    lines = [] if way == "backward" else [*one]
    if way != "forward":
        if counting.backward in _TIMES:
            lines += one * _TIMES[counting.backward]
        else:
            needs = tuple(input_gradients and one.kind == "float" for one in program.input_types)
            lines += _counted(layer, backward(program, needs, fused=counting.backward == "fused"), counting, shapes)
        lines += _again(one, recompute or counting.recompute)
    words = [counting.name, *([f"{recompute} recomputation"] if recompute and way != "forward" else [])]
    words += [f"per {per}"] if per != "batch" else []
    split = {"tensor": tensor, "context": context, "pipeline": pipeline, "expert": expert}
    words += ["one device"] if any(devices != 1 for devices in split.values()) else []
    divisors = divisors_of(layer, shapes, per)
    chosen = {"convention": convention, "way": way, "per": per, "past": past, "input_gradients": input_gradients, "recompute": recompute}
    found = (shared(line.but(factors=(*shares.of_work(line), *line.factors)), divisors) for line in lines)
    return cost_of(flops, layer, program, counting.unit, ", ".join(words), found, {**chosen, **split})


_TIMES = {"twice": 2, "thrice": 3}
"""How many forward passes a backward pass is, in conventions that do not derive it."""


def _again(lines: list[Line], recompute: Recompute) -> list[Line]:
    """Return the work of a forward pass that is done again for the backward pass."""
    if recompute == "none":
        return []
    return inside(lines) if recompute == "full" else [line for line in lines if line.role == PAIRS]


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
    found = [line for line in found if line.role == PAIRS]
    stored = [line for line in layer.ledger() if _is_taken(line, layer, counting)]
    return [
        *(line.but(factors=(2, *positions, *line.factors), stored=line.used, shape=(), label="") for line in stored),
        *found,
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


def counted(lines: Iterable[Line], counting: Counting) -> Iterator[Line]:
    """Yield the lines that a convention counts, weighted."""
    for line in lines:
        weight: Dim = counting.units.get(line.role, 0)
        multiplied = line.role == LOOKUP
        if not weight or (multiplied and names_positions(line)):
            continue
        paired = any(isinstance(one, Pairs) for one in line.factors)
        if paired and counting.pairs == "none":
            continue
        if paired and counting.pairs in {"half", "half near", "seen"}:
            weight = canonical(Rational(weight, 2))
        factors: list[Dim] = [] if weight == 1 else [weight]
        for one in line.factors:
            if multiplied and isinstance(one, Rows):
                factors.append(one.rows)
            else:
                factors += _pairs(one, counting.pairs) if isinstance(one, Pairs) else sizes_of(one)
        yield line.but(factors=tuple(factors), role=PAIRS if paired else line.role)


def _pairs(pairs: Pairs, which: str) -> tuple[Dim, ...]:
    match which:
        case "seen":
            return pairs.twice_seen
        case "near":
            return pairs.near
        case "half near":
            return pairs.half_near
        case _:
            return sizes_of(pairs)
