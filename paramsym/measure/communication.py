"""Bytes that each device sends in one training step, by the kind of parallelism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sympy import Expr, Integer

from paramsym.algebra.size import size
from paramsym.arguments import known_word
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line
from paramsym.measure.cost import Cost, cost_of, known_dtype
from paramsym.measure.formats import BYTES, Dtype, bytes_of
from paramsym.measure.options import telling_options
from paramsym.measure.passes import walked
from paramsym.measure.trace import trace
from paramsym.program.arithmetic import Combine
from paramsym.program.graph import Program, Region
from paramsym.program.types import ArrayType, flat

Travels: TypeAlias = Literal["weights", "stream", "boundary", "keys"]


@dataclass(frozen=True)
class Sharing:
    """A kind of parallelism: the arrays that are sent, and how often per step.

    For one collective in a ring of ``n`` devices, each device sends (n-1)/n of the whole array; an all-reduce is two collectives.
    ``frozen`` is how often frozen weights are sent.
    """

    name: str
    source: str
    travels: Travels
    times: int
    words: str
    frozen: int = 0
    wrong: str = "the padding of buckets is left out, and slower links between machines are not treated separately"


SHARINGS: Mapping[str, Sharing] = {
    one.name: one
    for one in (
        Sharing("data", "Li et al. 2020, arXiv:2006.15704", "weights", 2, "an all-reduce of the gradients"),
        Sharing("zero-1", "Rajbhandari et al. 2020, section 7", "weights", 2, "gradients scattered, weights gathered"),
        Sharing("zero-2", "Rajbhandari et al. 2020, section 7.1", "weights", 2, "gradients scattered, weights gathered"),
        Sharing("zero-3", "Rajbhandari et al. 2020, section 7.2", "weights", 3, "weights gathered twice, gradients scattered", 2),
        Sharing("fsdp", "Zhao et al. 2023, arXiv:2304.11277", "weights", 3, "weights gathered twice, gradients scattered", 2),
        Sharing("tensor", "Shoeybi et al. 2019, arXiv:1909.08053, section 3", "stream", 4, "an all-reduce forward and one backward"),
        Sharing("sequence", "Korthikanti et al. 2022, section 4.2.2", "stream", 4, "gathered and scattered, forward and backward"),
        Sharing("pipeline", "Narayanan et al. 2021, section 3.2", "boundary", 2, "activations forward, their gradients backward"),
        Sharing(
            "context", "Liu et al. 2023, arXiv:2310.01889, section 3", "keys", 3, "keys and values forward, with their gradients backward"
        ),
    )
}
"""Kinds of parallelism, by name."""


@telling_options
def communication(layer: Layer, *inputs: Any, sharing: str = "data", devices: Any, dtype: Dtype = "bfloat16", **named: Any) -> Cost:
    """Return the bytes that each device sends in one training step.

    ``sharing`` is data, zero-1, zero-2, zero-3, fsdp, tensor, sequence, pipeline or context; ``devices`` is the number of devices, a number
    or a letter. The inputs are those of one device, except for tensor, sequence and context, whose devices work on them together. Weights
    and gradients are sent in ``dtype``, a format or a letter for the bytes of a number; frozen weights have no gradient. For tensor and
    sequence the residual stream is sent, once for every addition to it; a pipeline sends it over one boundary, in the middle; context sends
    keys and values. Overlap with arithmetic, and gathering the input again in the backward pass, are left out.

    Raises:
        ShapeError, NotYetError: as ``flops``.
        ArgumentError: an unknown sharing or ``dtype``.
        SizeError: something that is not a number of devices.

    >>> from paramsym import Dense, F, H, B, dims
    >>> n = dims("n")
    >>> communication(Dense(H, F, bias=False), (B, H), devices=n).total  # an all-reduce sends nearly twice the size of the weights
    4*F*H - 4*F*H/n
    """
    sharing, dtype = known_word("sharing", sharing, SHARINGS), known_dtype("dtype", dtype, BYTES)
    number = size(devices, "devices")
    program = trace(layer, *inputs, **named)
    shared = SHARINGS[sharing]
    width = bytes_of(dtype)
    share = () if shared.travels == "boundary" else (1 - 1 / (number if isinstance(number, Expr) else Integer(number)),)
    lines = (
        line.but(factors=(times * width, *line.factors, *share), shape=(), label="") for line, times in _travelling(layer, program, shared)
    )
    words = f"sent by each of {number}, {sharing}: {shared.words}"
    return cost_of(communication, layer, program, "bytes", words, lines, {"sharing": sharing, "devices": number, "dtype": dtype})


def _travelling(layer: Layer, program: Program, shared: Sharing) -> Iterator[tuple[Line, int]]:
    """Yield the sent arrays with their number per step, without gradients of frozen weights."""
    if shared.travels == "weights":
        for line in layer.ledger():
            often = shared.times if line.trainable else shared.frozen
            if often:
                yield line.but(used=line.stored), often
        return
    ranks = frozenset(len(one.shape) for one in program.output_types if one.kind == "float")
    sent = _keys if shared.travels == "keys" else _stream(ranks)
    found = list(walked(program, (shared.travels, ranks), sent, whole=(Region,)))
    if shared.travels == "boundary":
        found = [found[0].but(path=("boundary",), stored=(), used=())] if found else []
    yield from ((line, shared.times) for line in found)


def _stream(ranks: frozenset[int]) -> Any:
    """Return a function that finds additions to the residual stream: sums of two arrays of one shape, with ``ranks`` axes."""

    def added(operation: Any, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> Iterator[Line]:
        alike = isinstance(operation, Combine) and operation.name == "add" and len({one.sizes for one in taken}) == 1
        if alike and len(given[0].shape) in ranks:
            yield Line(("residual",), flat(given[0].shape))

    return added


def _keys(operation: Any, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> Iterator[Line]:  # noqa: ARG001 - what is read
    if isinstance(operation, Region) and operation.name == "attention":
        for word, one in zip(("keys", "values"), taken[1:3], strict=True):
            yield Line((word,), flat(one.shape))
