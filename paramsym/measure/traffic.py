"""Bytes that a forward pass moves to and from a device's memory, and the work for each byte: arithmetic intensity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Integer, Rational, cancel

from paramsym.algebra.size import Count, shown
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line
from paramsym.errors import SizeError
from paramsym.measure.cost import Cost, cost_of, known_dtype
from paramsym.measure.formats import BYTES, Dtype, bytes_of
from paramsym.measure.kv_cache import in_bytes
from paramsym.measure.machines import Speed, machine_of, quotient
from paramsym.measure.options import telling_options
from paramsym.measure.passes import walked, word as first_word
from paramsym.measure.trace import ask_for_copies, trace
from paramsym.measure.work import flops
from paramsym.program.graph import MULTIPLY_ADD, Region
from paramsym.program.lookups import Stored
from paramsym.program.types import ArrayType, flat
from paramsym.render.printed import Printed
from paramsym.render.table import Table
from paramsym.render.tabular import Tabular

_WIDTHS = {"index": 8, "truth": 1}


@telling_options
def traffic(layer: Layer, *inputs: Any, dtype: Dtype = "float16", past: Count = 0, **named: Any) -> Cost:
    """Return the bytes that the products and convolutions of a forward pass read and write.

    Each reads its two factors once and writes its result once; other operations are assumed to be fused into them. Attention is one kernel,
    which reads queries, keys and values and writes its result, so scores are never in memory and shared keys are read once. ``dtype`` is a
    format, or a letter for the bytes of a number.

    Raises:
        ShapeError, NotYetError: as ``flops``.
        ArgumentError: an unknown ``dtype``.

    >>> from paramsym import B, Dense, F, H
    >>> traffic(Dense(H, F), (B, H)).total
    2*B*F + 2*B*H + 2*F*H
    """
    dtype = known_dtype("dtype", dtype, BYTES)
    program, number = trace(layer, *inputs, past=past, **named), bytes_of(dtype)
    ask_for_copies(program)

    def moved(operation: Any, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> Iterator[Line]:
        if isinstance(operation, Stored) or not _multiplies(operation, taken, given):
            return
        for word, types in (("read", taken), ("written", given)):
            for one in types:
                width = _WIDTHS.get(one.kind, number)
                yield in_bytes(Line((first_word(operation), word), flat(one.shape)), width)

    lines = walked(program, ("traffic", dtype), moved, whole=(Region,))
    return cost_of(traffic, layer, program, "bytes", f"moved, {shown(dtype)}", lines, {"dtype": dtype, "past": past})


def _multiplies(operation: Any, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> bool:
    """Return whether an operation, or one inside a kernel, is a product of arrays."""
    if isinstance(operation, Region):
        body = operation.body
        return any(_multiplies(step.operation, body.taken(step), body.given(step)) for step in body.steps)
    return any(work.unit == MULTIPLY_ADD for work in operation.work(taken, given))


@dataclass(frozen=True)
class Intensity(Tabular):
    """The FLOPs of a forward pass for each byte moved: ``flops`` over ``bytes``, both costs.

    ``on`` gives the limit of a machine: arithmetic if the ratio is above the machine's ridge, otherwise memory. A ratio has no lines, so
    functions such as ``explain`` take ``flops`` or ``bytes``. Functions of expressions also take ``ratio``.
    """

    flops: Cost
    bytes: Cost
    unit: ClassVar[str] = "FLOPs per byte"

    def __post_init__(self) -> None:
        if self.bytes.total == 0:
            raise SizeError(f"{self.bytes.subject} moves no bytes, so it has no FLOPs per byte; give inputs with entries.")

    @property
    def ratio(self) -> Expr:
        """FLOPs per byte, exactly."""
        return cancel(self.flops.total / self.bytes.total)

    @property
    def total(self) -> Expr:
        """The ratio, under the name that costs use."""
        return self.ratio

    def at(self, sizes: Any = None, /, **named: Any) -> Intensity:
        """Return the intensity with sizes put in."""
        return Intensity(self.flops.at(sizes, **named), self.bytes.at(sizes, **named))

    def on(self, machine: Speed) -> Roofline:
        """Return the limit of a machine, and a lower bound of the seconds.

        Raises:
            SizeError: while symbols are left.
            ArgumentError: an unknown machine.
        """
        device = machine_of(machine)
        return Roofline(self, device.name, quotient(self.flops.count, device.flops), quotient(self.bytes.count, device.bandwidth))

    def __str__(self) -> str:
        decimals = f" = {float(self.ratio):.4g}" if self.ratio.is_number and not isinstance(self.ratio, Integer) else ""
        return f"{self.flops.subject}: {shown(self.ratio)}{decimals} FLOPs per byte moved"

    def table(self) -> Table:
        """Return FLOPs, bytes and their ratio, part by part."""
        # The last steps of a path name the operation.
        work, moved = self.flops.sums(lambda path: path[:-1]), self.bytes.sums(lambda path: path[:-2])
        none = Integer(0)
        rows = tuple(
            (part, work.get(part, none), amount, cancel(work.get(part, none) / amount)) for part, amount in moved.items() if amount != 0
        )
        footer = ("total", self.flops.total, self.bytes.total, self.ratio)
        return Table(("part", "FLOPs", "bytes", "FLOPs per byte"), rows, footer, str(self))


@dataclass(frozen=True)
class Roofline(Printed):
    """The limit of a forward pass on a machine, after Williams et al. 2009: the seconds of arithmetic, and of moving bytes."""

    intensity: Intensity
    machine: str
    arithmetic: Rational
    moving: Rational

    @property
    def bound(self) -> str:
        """``compute`` or ``memory``: the one that takes longer."""
        return "compute" if self.arithmetic >= self.moving else "memory"

    @property
    def seconds(self) -> Rational:
        """The lower bound of the time, at the speeds that the maker states."""
        return max(self.arithmetic, self.moving)

    @property
    def words(self) -> str:
        """The machine, its limit, and the times of arithmetic and of moving bytes."""
        times = f"{float(self.arithmetic):.3g} s of arithmetic, {float(self.moving):.3g} s of moving bytes"
        return f"on {self.machine}: {self.bound}-bound ({times})"

    def __str__(self) -> str:
        return f"{self.intensity.flops.subject} {self.words}"


@telling_options
def intensity(layer: Layer, *inputs: Any, dtype: Dtype = "float16", past: Count = 0, **named: Any) -> Intensity:
    """Return the FLOPs of a forward pass for each byte that it moves; its ``on("h100")`` says what limits a machine.

    ``past`` is the number of positions before a decoding step.

    Raises:
        ShapeError, NotYetError, ArgumentError: as ``flops`` and ``traffic``.

    >>> from paramsym import B, Dense
    >>> step = intensity(Dense(4096, 4096, bias=False), (B, 4096))
    >>> step.ratio
    2048*B/(B + 2048)
    >>> print(step.at(B=1).on("h100"))
    Dense for (1, 4096) on h100: memory-bound (3.39e-08 s of arithmetic, 1e-05 s of moving bytes)
    """
    return Intensity(
        flops(layer, *inputs, past=past, **named),
        traffic(layer, *inputs, dtype=dtype, past=past, **named),
    )
