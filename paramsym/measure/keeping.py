"""The data of ``measure.kept``: what a program keeps for the backward pass (inputs, outputs, lines), and the ways to keep it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from paramsym.core.ledger import Line
from paramsym.measure.layout import Layout
from paramsym.program.types import ArrayType, flat

Attention: TypeAlias = Literal["eager", "fused", "recomputed"]
Stage: TypeAlias = Literal["", "before", "entered", "after"]
STAGES: tuple[Stage, ...] = ("before", "entered", "after")
"""The place of an array that no repeated block makes: before the first block, taken by a first block, after the last block."""


@dataclass(frozen=True, slots=True)
class Way:
    """How arrays are kept: the kernel of attention, or only attention's inputs; with ``blocks`` only the inputs of every repeated block.

    ``narrow`` numbers are narrower than float32, so wide arrays are copies. ``cpu`` means the fused attention of CPUs, which refuses
    some inputs. ``apart`` means that torch's attention function computes step by step: it scales queries and keys before their product.
    """

    attention: Attention = "eager"
    blocks: bool = False
    narrow: bool = False
    cpu: bool = False
    apart: bool = False


class Reading:
    """A way that notes which of its settings are read: a program keeps the same arrays in every way that agrees in these."""

    __slots__ = ("read", "way")

    def __init__(self, way: Way) -> None:
        self.way, self.read = way, set[str]()

    def __getattr__(self, setting: str) -> Any:
        self.read.add(setting)
        return getattr(self.way, setting)


@dataclass(frozen=True)
class Result:
    """The storage of an output: that of an input, that of a stored tensor, or a new one, which may be larger than the output."""

    layout: Layout
    storage: ArrayType
    number: int
    taken: int | None = None
    stored: bool = False
    split: bool = False


@dataclass
class Keeping:
    """The kept arrays of one program: inputs and outputs by position, because they belong to the outer program, and lines for the others.

    ``results`` are the storages of the outputs. ``mixed`` means that a split array was added to a whole one. ``blocks`` means that repeated
    blocks are inside; ``entered`` are the inputs that the first of them takes. ``read`` are the settings of the way that decided anything.
    """

    inputs: set[int] = field(default_factory=set)
    outputs: set[int] = field(default_factory=set)
    lines: list[Line] = field(default_factory=list)
    results: tuple[Result, ...] = ()
    mixed: bool = False
    blocks: bool = False
    entered: set[int] = field(default_factory=set)
    read: frozenset[str] = field(default=frozenset(), compare=False)


def line_of(path: tuple[Any, ...], kind: ArrayType, split: bool = False) -> Line:
    """Return the line of a kept array."""
    return Line(path or ("(value)",), flat(kind.shape), role=role_of(kind.kind, split))


def role_of(kind: str, split: bool) -> str:
    """Return the role of a line: the kind of its entries, and whether tensor sharing splits them over the devices."""
    return f"split {kind}" if split else kind


def staged(line: Line, stage: Stage) -> Line:
    """Return a line with its place in a pipeline before its role."""
    return line.but(role=f"{stage} {line.role}") if stage else line


def stage_of(line: Line) -> tuple[Stage, str]:
    """Return the place of a line in a pipeline, and its role without it."""
    stage, _, role = line.role.partition(" ")
    return (stage, role) if stage in STAGES else ("", line.role)
