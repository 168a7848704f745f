"""Bytes of training and of inference: weights, gradients, states of the optimizer, activations, caches, the largest sum of live arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any, Literal, TypeAlias

from paramsym.algebra.size import Dim, shown, size
from paramsym.arguments import known_word
from paramsym.core.layer import Layer, check_layer
from paramsym.core.ledger import Ledger, Line
from paramsym.errors import ArgumentError
from paramsym.measure.activations import MEMORY, activations, one_block
from paramsym.measure.cost import Cost, known_dtype
from paramsym.measure.formats import BYTES, CACHES, FORMATS, Dtype, bytes_of, chosen, in_format, narrow
from paramsym.measure.kv_cache import in_bytes, kv_cache
from paramsym.measure.losses import loss_in_words, loss_named, of_loss
from paramsym.measure.optimizers import OPTIMIZERS, of_states
from paramsym.measure.options import options_of, telling_options
from paramsym.measure.passes import after_blocks
from paramsym.measure.peak import widest
from paramsym.measure.recompute import RECOMPUTE, Recompute
from paramsym.measure.shares import Shares, share
from paramsym.measure.trace import ask_for_copies, trace

Use: TypeAlias = Literal["training", "inference"]
USES: tuple[Use, ...] = ("training", "inference")
ZERO = {
    0: "every device stores everything",
    1: "the states of the optimizer and the copy in float32 are split over the devices",
    2: "gradients as well",
    3: "weights as well: FSDP's full sharding",
}
"""What data parallelism splits over its devices: the stages of ZeRO (Rajbhandari et al. 2020, arXiv:1910.02054, section 5)."""


@telling_options
def memory(
    layer: Layer,
    *inputs: Any,
    use: Use = "training",
    dtype: Dtype = "float32",
    weights: Dtype | None = None,
    cache: Dtype | None = None,
    gradients: Dtype | None = None,
    optimizer: str = "adamw",
    master: bool | None = None,
    convention: str = "torch-eager",
    recompute: Recompute = "none",
    tensor: Dim = 1,
    sequence: bool = False,
    context: Dim = 1,
    pipeline: Dim = 1,
    interleaved: Dim = 1,
    expert: Dim = 1,
    zero: int = 0,
    devices: Dim = 1,
    loss: bool | str = True,
    **named: Any,
) -> Cost:
    """Return the memory of one device in training or inference, in bytes, by kind and by part.

    Training needs the weights in ``dtype``, the gradients in ``dtype`` or in ``gradients``, the states of the optimizer, a ``master`` copy
    of the trained weights in float32 (by default if ``dtype`` is narrower), the activations by a ``convention``, and with ``recompute`` one
    block that is computed again. Only trained parameters have gradients and states, so frozen parts and LoRA reduce the sum; ``weights`` is
    the format of frozen weights. Each format may be a letter for the bytes of a number, which has no copy in float32 by default. If the
    model is split over devices, one device is counted, as in ``activations``: it has its share of matrices and tables over ``tensor``
    devices, of the repeated blocks over ``pipeline`` stages, and of experts over ``expert`` devices. It is the first stage of a pipeline,
    with the embedding, and without the final norm and the head; of those that are tied, it has the table.
    ``zero`` is the stage of ZeRO over ``devices`` of data parallelism: 1 splits the optimizer's states and the copy in float32, 2 the
    gradients as well, 3 the weights as well, as FSDP does.

    A model that gives scores of tokens is trained with a loss: the logits and the arrays that its reference's loss keeps count, unless
    ``loss`` is False. Names are other losses: "chunked" for a loss that never holds all logits, "vocab-parallel" for one that is split
    over ``tensor`` devices, "cross-entropy" for a model of your own whose output is scores. ``conventions("losses")`` lists them all.

    Inference needs the weights, in ``dtype`` or in a format of ``weights``; the caches, in ``dtype`` or in ``cache``; and the arrays of the
    widest moment, with fused attention if the convention has it. The cache of one of ``tensor`` devices has whole heads of keys and values,
    ``ceiling(heads/tensor)``: with fewer heads than devices, several devices keep the same head, as vLLM does. Latent vectors, states and
    the widest moment count fully. Buffers and inputs are left out of both uses. Temporary arrays of the backward pass and of communication
    are left out of training.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a part without a forward pass.
        ArgumentError: an unknown use, format, optimizer, convention, stage or loss.

    >>> from paramsym.models import Llama
    >>> llama = Llama(architecture="LlamaForCausalLM").at("meta-llama/Llama-2-7b-hf")
    >>> print(memory(llama, (1, 4096), use="inference", dtype="float16", weights="gguf-q4_0", convention="torch-sdpa").table(1))
    LlamaForCausalLM for (1, 4096): 6,345,605,120 bytes (inference: gguf-q4_0)
    part                   bytes   share
    ------------------------------------
    weights        3,791,273,984  59.7 %
    cache          2,147,483,648  33.8 %
    widest moment    406,847,488   6.4 %
    ------------------------------------
    total          6,345,605,120
    >>> training = memory(llama, (256, 2048), dtype="bfloat16")
    >>> training.ledger.where(lambda line: line.path[0] == "logits").used
    33554432000
    >>> served = memory(Llama(architecture="LlamaForCausalLM").at("meta-llama/Llama-2-70b-hf"), (1, 4096), use="inference", tensor=8)
    >>> served.ledger.where(lambda line: line.path[0] == "cache").used  # one of 8 heads
    335544320
    """
    check_layer(layer)
    use, optimizer = known_word("use", use, USES), known_word("optimizer", optimizer, OPTIMIZERS)
    convention, recompute = known_word("convention", convention, MEMORY), known_word("recompute", recompute, RECOMPUTE)
    dtype = known_dtype("dtype", dtype, BYTES)
    stored_as: Dtype = dtype if weights is None else known_dtype("weights", weights, (*BYTES, *FORMATS))
    cache = None if cache is None else known_dtype("cache", cache, (*BYTES, *CACHES))
    graded_as: Dtype = dtype if gradients is None else known_dtype("gradients", gradients, BYTES)
    given: Any = zero  # callers without a type checker
    if not isinstance(given, int) or zero not in ZERO:
        message = f"zero is {zero!r}; wanted a stage: 0 (nothing is split), 1 (optimizer), 2 (gradients as well), 3 (weights as well)."
        raise ArgumentError(message)
    settings = {name: value for name, value in locals().items() if name in _SETTINGS}
    shares, over = _shares(settings), share(size(devices, "devices"))
    program = trace(layer, *inputs, **named)
    given = tuple(one.sizes for one in program.input_types)
    stored = [_held(line, shares) for line in layer.ledger() if not line.alias_of and not line.buffer]
    if pipeline != 1:
        last = after_blocks(program)
        stored = [line for line in stored if line.name not in last]
    width, arrays = bytes_of(dtype), _arrays(layer, *given, **settings)
    if use == "inference":
        lines = [*_of("weights", _stored(stored, dtype, stored_as))]
    else:
        trained = [line for line in stored if line.trainable]
        frozen = [line for line in stored if not line.trainable]
        copied = narrow(width) if master is None else master
        lines = [
            *_of("weights", trained, width, over if zero > 2 else 1),
            *_of("weights", _stored(frozen, dtype, stored_as), over if zero > 2 else 1),
            *_of("gradients", trained, bytes_of(graded_as), over if zero > 1 else 1),
            *_of("optimizer", of_states(trained, OPTIMIZERS[optimizer]), over if zero > 0 else 1),
            *_of("master copy", trained if copied else (), 4, over if zero > 0 else 1),
        ]

    words = [shown(stored_as)] if use == "inference" else [shown(dtype), optimizer, convention]
    words += [f"{recompute} recomputation"] if recompute != "none" and use == "training" else []
    words += [f"ZeRO {zero}"] if zero and use == "training" else []
    words += loss_in_words(loss_named(loss, layer, MEMORY[convention].loss), layer, shares) if use == "training" else []
    words += shares.words()
    cached = any(line.path[0] == "cache" for line in arrays.lines)
    words += [f"heads of the cache over {shown(tensor)} devices"] if tensor != 1 and cached else []
    ledger = Ledger((*lines, *arrays.lines))
    return Cost(layer, given, "bytes", f"{use}: {', '.join(words)}", ledger, memory, settings, of_arrays=arrays)


_SETTINGS = frozenset(options_of(memory))


def _arrays(layer: Layer, *inputs: Any, **chosen: Any) -> Cost:
    """Return what ``memory`` counts beside stored tensors and their copies: activations and the loss, or caches and the widest moment."""
    dtype, convention, shares = chosen["dtype"], chosen["convention"], _shares(chosen)
    width, program = bytes_of(dtype), trace(layer, *inputs)
    if chosen["use"] == "inference":
        flows = kv_cache(layer, *inputs, dtype=dtype if chosen["cache"] is None else chosen["cache"])
        widths = {"float": width, "complex": 2 * width, "statistic": 4, "index": 8, "truth": 1}
        ask_for_copies(program)
        moment = widest(program, widths, fused=MEMORY[convention].attention == "fused")
        lines = [
            *_of("cache", map(shares.of_cache, flows.ledger)),
            *_of("widest moment", () if moment == 0 else (Line(("arrays",), (moment,)),)),
        ]
    else:
        how: dict[str, Any] = {"dtype": dtype, "convention": convention, **asdict(shares)}
        flows = activations(layer, *inputs, recompute=chosen["recompute"], **how)
        again = () if chosen["recompute"] == "none" else one_block(activations(layer, *inputs, **how), flows)
        asked = loss_named(chosen["loss"], layer, MEMORY[convention].loss)
        lines = [
            *_of("activations", flows.ledger),
            *_of("recomputed block", again),
            *of_loss(asked, program, width, shares),
        ]
    return Cost(layer, flows.inputs, "bytes", chosen["use"], Ledger(tuple(lines)), _arrays, chosen)


def _shares(chosen: Mapping[str, Any]) -> Shares:
    return Shares(**{one.name: chosen[one.name] for one in fields(Shares)})


def _held(line: Line, shares: Shares) -> Line:
    """Return the line of a stored tensor with all its copies, reduced to the share of one device."""
    part = tuple(shares.of_weights(line, matrix=chosen(line, "matrices")))
    return line if not part and line.used == line.stored else line.but(used=line.stored, factors=(*part, *line.factors))


def _stored(lines: list[Line], dtype: Dtype, weights: Dtype) -> Iterator[Line]:
    form = FORMATS.get(weights) if isinstance(weights, str) else None
    if form is None:
        yield from (in_bytes(line, bytes_of(weights)) for line in lines)
    else:
        rest = bytes_of(form.rest or dtype)
        yield from in_format(lines, form, lambda line: iter((in_bytes(line, rest),)))


def _of(kind: str, lines: Iterable[Line], *factors: Dim) -> Iterator[Line]:
    """Yield lines of bytes with their kind as the first step of the path, multiplied by the factors."""
    more = tuple(factor for factor in factors if factor != 1)
    for line in lines:
        yield line.but(path=(kind, *line.path), factors=(*more, *line.factors))
