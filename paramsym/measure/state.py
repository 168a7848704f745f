"""State kept for the next step: caches of keys and values, states of recurrent layers and scans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sympy import Rational

from paramsym.algebra.size import Count, Dim
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line
from paramsym.measure.cost import Cost, check_word, cost_of
from paramsym.measure.trace import trace
from paramsym.measure.work import walked
from paramsym.program.graph import Program
from paramsym.program.state import Remember
from paramsym.program.types import ArrayType, flat

BYTES: Mapping[str, Dim] = {
    "float64": 8,
    "float32": 4,
    "bfloat16": 2,
    "float16": 2,
    "float8": 1,
    "int8": 1,
    "int4": Rational(1, 2),
}
"""Bytes of one number in a format; without the scales of blocks."""


def kv_cache(layer: Layer, *inputs: Any, dtype: str | None = None, past: Count = 0, **named: Any) -> Cost:
    """Return what a model keeps for its next step (its KV cache): numbers, or with a ``dtype`` their bytes.

    Caches of keys and values grow with the positions, at most to the window; latent attention keeps its latent vectors, Mamba its states.
    The inputs are shapes, in order or by name; ``past`` is the number of positions before them.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a layer or a part without a forward pass.
        ArgumentError: an unknown ``dtype``.

    >>> from paramsym.models import Llama
    >>> kv_cache(Llama()).total
    2*B*G*H*L*S/A
    >>> llama = Llama(architecture="LlamaForCausalLM").at("meta-llama/Llama-2-70b-hf")
    >>> kv_cache(llama, (1, 4096), dtype="float16").total
    1342177280
    """
    if dtype is not None:
        check_word("dtype", dtype, BYTES, ", and None for elements")
    program = trace(layer, *inputs, past=past, **named)
    lines = states(program) if dtype is None else (in_bytes(line, BYTES[dtype]) for line in states(program))
    unit = "elements" if dtype is None else "bytes"
    return cost_of(kv_cache, layer, program, unit, "kept for the next step", lines, {"dtype": dtype, "past": past})


def states(program: Program) -> Iterator[Line]:
    """Yield a line for every kept value, with its path.

    Raises:
        NotYetError: a part without a forward pass.
    """

    def kept(operation: Any, taken: tuple[ArrayType, ...], _: tuple[ArrayType, ...]) -> Iterator[Line]:
        if isinstance(operation, Remember):
            yield Line((operation.name,), flat(operation.state(taken[0]).shape))

    return walked(program, "states", kept)


def in_bytes(line: Line, width: Dim) -> Line:
    """Return a line of numbers as one of bytes."""
    return line if width == 1 else line.but(factors=(width, *line.factors))
