"""Bytes of training and of inference: weights, gradients, states of the optimizer, activations, caches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from paramsym.layer import Layer
from paramsym.ledger import Ledger, Line
from paramsym.measure.activations import activations
from paramsym.measure.cost import Cost, check_word
from paramsym.measure.state import BYTES, in_bytes, kv_cache
from paramsym.size import Dim

Use: TypeAlias = Literal["training", "inference"]
USES: tuple[Use, ...] = ("training", "inference")


@dataclass(frozen=True)
class Optimizer:
    """What an optimizer keeps for each trained parameter: so many numbers of so many bytes."""

    name: str
    source: str
    states: int
    bytes: int = 4


OPTIMIZERS: Mapping[str, Optimizer] = {
    one.name: one
    for one in (
        Optimizer("sgd", "torch.optim.SGD without momentum", 0),
        Optimizer("momentum", "torch.optim.SGD with momentum: one average", 1),
        Optimizer("adam", "Kingma and Ba 2015, arXiv:1412.6980, algorithm 1: two averages", 2),
        Optimizer("adamw", "Loshchilov and Hutter 2019, arXiv:1711.05101: the averages of Adam", 2),
        Optimizer("adam-8bit", "Dettmers et al. 2022, arXiv:2110.02861: two averages of one byte; their scales are not counted", 2, 1),
    )
}
"""Optimizers by name."""


def memory(
    layer: Layer,
    *inputs: Any,
    use: Use = "training",
    dtype: str = "float32",
    optimizer: str = "adamw",
    master: bool | None = None,
    convention: str = "torch-eager",
    **named: Any,
) -> Cost:
    """Return the bytes that training or inference holds at once, by kind and by part.

    Training holds the weights and the gradients in ``dtype``, the states of the optimizer, a ``master`` copy of the trained weights in
    float32 (default: where ``dtype`` is narrower), and the activations by a ``convention``. Gradients and states belong to trained
    parameters only, so that frozen parts and LoRA come out. Inference holds the weights and what stays for the next step. Buffers, the
    inputs, and arrays that live for a moment only are left out of both.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a part that does not say what it computes.
        ArgumentError: an unknown use, format, optimizer or convention.

    >>> from paramsym.models import Llama
    >>> llama = Llama(architecture="LlamaForCausalLM").at("meta-llama/Llama-2-7b-hf")
    >>> memory(llama, (1, 4096), use="inference", dtype="float16").total  # 2 bytes per parameter, and 2 GiB of cache
    15624314880
    """
    choices: tuple[tuple[str, str, Any], ...] = (("use", use, USES), ("dtype", dtype, BYTES), ("optimizer", optimizer, OPTIMIZERS))
    for what, value, known in choices:
        check_word(what, value, known)
    width = BYTES[dtype]
    if use == "inference":
        flows = kv_cache(layer, *inputs, dtype=dtype, **named)
        lines = [*_of("weights", _stored(layer), width), *_of("cache", flows.ledger)]
    else:
        flows = activations(layer, *inputs, dtype=dtype, convention=convention, **named)
        trained = [line for line in _stored(layer) if line.trainable]
        states = OPTIMIZERS[optimizer]
        copied = width != 4 if master is None else master
        lines = [
            *_of("weights", _stored(layer), width),
            *_of("gradients", trained, width),
            *_of("optimizer", trained, states.states * states.bytes),
            *(_of("master copy", trained, 4) if copied else ()),
            *_of("activations", flows.ledger),
        ]

    chosen: dict[str, Any] = {
        "use": use,
        "dtype": dtype,
        **({"optimizer": optimizer, "convention": convention} if use == "training" else {}),
    }

    def ask(layer: Layer, *shapes: Any, **changed: Any) -> Cost:
        return memory(layer, *shapes, master=changed.pop("master", master), **(chosen | changed))

    counted = f"{dtype}, {optimizer}, {convention}" if use == "training" else dtype
    return Cost(layer, flows.inputs, "bytes", f"{use}: {counted}", Ledger(tuple(lines)), ask, chosen)


def _stored(layer: Layer) -> list[Line]:
    """Return the lines of the stored parameters, every copy once."""
    return [replace(line, used=line.stored) for line in layer.ledger() if not line.alias_of and not line.buffer]


def _of(kind: str, lines: Any, width: Dim = 1) -> Iterator[Line]:
    """Yield lines of numbers as lines of bytes under the kind that they belong to."""
    for line in lines:
        if width != 0:
            yield in_bytes(replace(line, path=(kind, *line.path)), width)
