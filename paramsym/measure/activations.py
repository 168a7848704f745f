"""Bytes that a forward pass keeps for the backward pass: activations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from paramsym.errors import ArgumentError
from paramsym.layer import Layer
from paramsym.ledger import Ledger, Line
from paramsym.measure.cost import Cost
from paramsym.measure.kept import Attention, keeping, of_outputs
from paramsym.measure.state import BYTES
from paramsym.measure.trace import trace


@dataclass(frozen=True)
class Memory:
    """A convention for what is kept: how attention is computed, and the source."""

    name: str
    source: str
    attention: Attention


MEMORY: Mapping[str, Memory] = {
    one.name: one
    for one in (
        Memory("torch-eager", "torch's autograd on plain operations, as saved_tensors_hooks shows it; masks of a byte", "eager"),
        Memory("torch-sdpa", "the same with the fused attention of torch.nn.functional.scaled_dot_product_attention", "fused"),
    )
}
"""Ways to account for activations, by name."""


def activations(
    layer: Layer, *inputs: Any, convention: str = "torch-eager", dtype: str = "float32", input_gradients: bool = False, **named: Any
) -> Cost:
    """Return the bytes that a forward pass in training keeps for the backward pass, arrays that share storage once.

    Stored tensors and the inputs themselves are left out. Numbers take the bytes of ``dtype``, statistics of norms 4, indices 8, masks 1.
    Inputs need no gradient unless ``input_gradients``. Copies in float32 that a model makes of narrower numbers are not counted.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a part that does not say what it computes, or experts that are chosen.
        ArgumentError: an unknown convention or ``dtype``.

    >>> from paramsym import B, Dense, F, H, S, Sequential
    >>> activations(Sequential(Dense(H, F), Dense(F, H)), (B, S, H)).total
    4*B*F*S
    """
    for what, value, known in (("convention", convention, MEMORY), ("dtype", dtype, BYTES)):
        if value not in known:
            message = f"{what} is {value!r}; known are {', '.join(known)}."
            raise ArgumentError(message)
    program = trace(layer, *inputs, **named)
    needs = tuple(input_gradients and one.kind == "float" for one in program.input_types)
    kept = keeping(program, needs, MEMORY[convention].attention)
    widths = {"float": BYTES[dtype], "statistic": 4, "index": 8, "truth": 1}
    lines = tuple(_in_bytes(line, widths[line.role]) for line in (*kept.lines, *of_outputs(program, kept)))

    def ask(layer: Layer, *shapes: Any) -> Cost:
        return activations(layer, *shapes, convention=convention, dtype=dtype, input_gradients=input_gradients)

    shapes = tuple(one.sizes for one in program.input_types)
    return Cost(layer, shapes, "bytes", convention, Ledger(lines), ask)


def _in_bytes(line: Line, width: Any) -> Line:
    return line if width == 1 else replace(line, factors=(width, *line.factors))
