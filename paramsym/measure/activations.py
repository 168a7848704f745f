"""Bytes that a forward pass keeps for the backward pass: activations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paramsym.layer import Layer
from paramsym.ledger import Ledger
from paramsym.measure.cost import Cost, check_word
from paramsym.measure.kept import Attention, keeping, of_outputs
from paramsym.measure.state import BYTES, in_bytes
from paramsym.measure.trace import trace


@dataclass(frozen=True)
class Memory:
    """A convention for what is kept: the source, how attention is computed, the default format, and the bytes of what is no number."""

    name: str
    source: str
    attention: Attention = "eager"
    dtype: str = "float32"
    statistic: int = 4
    index: int = 8
    mask: int = 1


MEMORY: Mapping[str, Memory] = {
    one.name: one
    for one in (
        Memory("torch-eager", "torch's autograd on plain operations, as saved_tensors_hooks shows it; masks of a byte"),
        Memory("torch-sdpa", "the same with the fused attention of torch.nn.functional.scaled_dot_product_attention", "fused"),
        Memory(
            "korthikanti",
            "Korthikanti et al. 2022, arXiv:2205.05198, section 4.1: 2 bytes per number, 1 per entry of a mask, no statistics of norms",
            dtype="float16",
            statistic=0,
            index=0,
        ),
    )
}
"""Ways to account for activations, by name."""


def activations(
    layer: Layer, *inputs: Any, convention: str = "torch-eager", dtype: str | None = None, input_gradients: bool = False, **named: Any
) -> Cost:
    """Return the bytes that a forward pass in training keeps for the backward pass, arrays that share storage once.

    Stored tensors and the inputs themselves are left out. Numbers take the bytes of ``dtype``, which the convention chooses where it is
    None; statistics of norms take 4, indices 8 and masks 1, unless the convention says otherwise. Inputs need no gradient unless
    ``input_gradients``. Copies in float32 that a model makes of narrower numbers are not counted.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a part that does not say what it computes.
        ArgumentError: an unknown convention or ``dtype``.

    >>> from paramsym import B, Dense, F, H, S, Sequential
    >>> activations(Sequential(Dense(H, F), Dense(F, H)), (B, S, H)).total
    4*B*F*S
    """
    check_word("convention", convention, MEMORY)
    if dtype is not None:
        check_word("dtype", dtype, BYTES)
    memory = MEMORY[convention]
    program = trace(layer, *inputs, **named)
    needs = tuple(input_gradients and one.kind == "float" for one in program.input_types)
    kept = keeping(program, needs, memory.attention)
    widths = {"statistic": memory.statistic, "index": memory.index, "truth": memory.mask, "float": BYTES[dtype or memory.dtype]}
    lines = tuple(in_bytes(line, widths[line.role]) for line in (*kept.lines, *of_outputs(program, kept)) if widths[line.role] != 0)

    def ask(layer: Layer, *shapes: Any) -> Cost:
        return activations(layer, *shapes, convention=convention, dtype=dtype, input_gradients=input_gradients)

    shapes = tuple(one.sizes for one in program.input_types)
    return Cost(layer, shapes, "bytes", convention, Ledger(lines), ask)
