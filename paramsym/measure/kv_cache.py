"""The size of what a forward pass remembers for the next step (``program.state``): caches of keys and values, recurrent states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from paramsym.algebra.size import Count, Dim, canonical
from paramsym.arguments import known_word
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line
from paramsym.errors import NotYetError
from paramsym.measure.cost import Cost, cost_of, known_dtype
from paramsym.measure.formats import BYTES, CACHES, Dtype, bytes_of
from paramsym.measure.options import telling_options
from paramsym.measure.passes import walked
from paramsym.measure.trace import trace
from paramsym.measure.work import Share, divisors_of, shared
from paramsym.program.graph import Program, Region
from paramsym.program.state import Remember
from paramsym.program.statement import class_name
from paramsym.program.types import ArrayType, flat

_UNKNOWN = "keeps for its next step what is not known; its other costs are."
_ATTENTION = frozenset({"attention", "plain attention"})


@telling_options
def kv_cache(layer: Layer, *inputs: Any, dtype: Dtype | None = None, per: Share = "batch", past: Count = 0, **named: Any) -> Cost:
    """Return what a model keeps for its next step (its KV cache): numbers, or with a ``dtype`` their bytes: a format, or a letter.

    Caches of keys and values grow with the positions, at most to the window; latent attention keeps its latent vectors, Mamba its states.
    A format with scales, such as "gguf-q8_0" (llama.cpp), "fp8" (vLLM) or "nvfp4", counts them; blocks are assumed to be whole. A layer of
    attention that returns no cache, such as torch's, has the keys and values that a decoder would keep, and the cost says so. Of a model
    that was read, the cache is what its forward pass returns under a name with "past" or "cache" in it, "mems", "state" or "states", or as
    an object of a class of caches. The inputs are shapes, in order or by name; ``past`` is the number of positions before them. ``per``
    gives the share of one sequence of the batch, or of one token of the first input.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a layer or a part without a forward pass; a model that was read and returns no cache.
        ArgumentError: an unknown ``dtype`` or share; ``per`` a token for inputs without tokens.

    >>> from paramsym.models import Llama
    >>> kv_cache(Llama()).total
    2*B*G*H*L*S/A
    >>> from paramsym import A, B, G, H, S, MultiHeadAttention
    >>> print(kv_cache(MultiHeadAttention(H, A, kv_heads=G, batch_first=True), (B, S, H)))
    MultiHeadAttention for (B, S, H): 2*G*H*B*S/A elements (keys and values, as a decoder keeps them; the layer itself keeps none)
    >>> from paramsym import dims
    >>> kv_cache(Llama(), dtype=dims("p")).total
    2*B*G*H*L*S*p/A
    >>> kv_cache(Llama(), per="token").total
    2*G*H*L/A
    >>> llama = Llama(architecture="LlamaForCausalLM").at("meta-llama/Llama-2-70b-hf")
    >>> kv_cache(llama, (1, 4096), dtype="float16").total
    1342177280
    >>> kv_cache(llama, (1, 4096), dtype="gguf-q8_0").total  # 34 bytes for 32 numbers
    713031680
    """
    if dtype is not None:
        dtype = known_dtype("dtype", dtype, (*BYTES, *CACHES), ", and None for elements")
    per = known_word("per", per, get_args(Share))
    program = trace(layer, *inputs, past=past, **named)
    found, words = [*states(program)], "kept for the next step"
    computed: Any = layer.computed_as
    of_record = getattr(computed, "returns_keys", None)
    keys = None if of_record is None else of_record([one.sizes for one in program.input_types])
    if not found:
        found = [*_attended(program, past)]
        words = "keys and values, as a decoder keeps them; the layer itself keeps none" if found else words
        advice = _UNKNOWN if keys is False else getattr(layer, "cache_advice", "")
        if not found and advice:
            raise NotYetError(f"{class_name(layer)} {advice}")
    lines = found if dtype is None else _stored(found, dtype)
    unit = "elements" if dtype is None else "bytes"
    if per != "batch":
        batch, *positions = divisors_of(layer, tuple(one.sizes for one in program.input_types), per)
        divisors = (batch, *(canonical(number + past) for number in positions))
        lines, words = (shared(line, divisors) for line in lines), f"{words}, per {per}"
    return cost_of(kv_cache, layer, program, unit, words, lines, {"dtype": dtype, "per": per, "past": past})


def _attended(program: Program, past: Count) -> Iterator[Line]:
    """Yield the keys and values of the attention that a layer itself computes; an encoder with layers of attention has no cache."""
    for step in program.steps:
        if isinstance(step.operation, Region) and step.operation.name in _ATTENTION:
            for name, array in zip(("key", "value"), program.taken(step)[1:3], strict=True):
                batch, positions, *rest = array.sizes
                yield Line((name,), (batch, canonical(positions + past), *rest))


def _stored(lines: Iterable[Line], dtype: Dtype) -> Iterator[Line]:
    """Yield kept values as bytes, and the scales of whole tensors."""
    form = CACHES.get(dtype) if isinstance(dtype, str) else None
    for line in lines:
        yield in_bytes(line, bytes_of(dtype) if form is None else form.number)
        if form is not None and form.tensor:
            yield line.but(path=(*line.path, "scales"), factors=(form.tensor,))


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
