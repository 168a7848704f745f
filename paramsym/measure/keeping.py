"""What a program keeps for the backward pass, as a value: inputs, outputs and lines; and the ways of keeping it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from paramsym.core.ledger import Line
from paramsym.measure.layout import Layout
from paramsym.program.types import ArrayType, flat

Attention: TypeAlias = Literal["eager", "fused", "recomputed"]


@dataclass(frozen=True, slots=True)
class Way:
    """How things are kept: the attention's kernel, or its inputs alone; and with ``blocks`` of every repeated block its inputs alone.

    ``narrow`` numbers are narrower than float32, so that what is wide is copied. With ``drops`` the fused attention has a dropout.
    ``apart`` holds inside of an attention that torch's function works out step by step: it scales queries and keys before their product.
    """

    attention: Attention = "eager"
    blocks: bool = False
    narrow: bool = False
    drops: bool = True
    apart: bool = False


@dataclass(frozen=True)
class Result:
    """Where an output lies: in the storage of an input, in that of a stored tensor, or in one of its own, which may be longer than it."""

    layout: Layout
    storage: ArrayType
    number: int
    taken: int | None = None
    stored: bool = False
    split: bool = False


@dataclass
class Keeping:
    """What one program keeps: inputs and outputs by position, because they belong to whoever passes them, and lines of what is inside.

    ``results`` say where the outputs lie. ``mixed`` says that something split was added to something whole.
    """

    inputs: set[int] = field(default_factory=set)
    outputs: set[int] = field(default_factory=set)
    lines: list[Line] = field(default_factory=list)
    results: tuple[Result, ...] = ()
    mixed: bool = False


def line_of(path: tuple[Any, ...], kind: ArrayType, split: bool = False) -> Line:
    """Return the line of an array that is kept."""
    return Line(path or ("(value)",), flat(kind.shape), role=role_of(kind.kind, split))


def role_of(kind: str, split: bool) -> str:
    """Return the role of a line: the kind of its entries, and whether tensor sharing splits them over the devices."""
    return f"split {kind}" if split else kind
