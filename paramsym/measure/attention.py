"""What torch's attention function keeps for the backward pass: as a fused kernel, or step by step inside the function."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from paramsym.algebra.size import reaches, same
from paramsym.core.ledger import Line
from paramsym.measure.keeping import Keeping, Result, Way, line_of, role_of
from paramsym.measure.layout import Layout, like, mergeable, plain
from paramsym.program.graph import Program
from paramsym.program.lookups import Drop
from paramsym.program.masks import Mask
from paramsym.program.products import Contract
from paramsym.program.types import ArrayType


def runs_fused(way: Way, body: Program, needs: tuple[bool, ...]) -> bool:
    """Return whether a fused kernel can compute an attention.

    torch's memory-efficient kernel for GPUs takes every attention. The one for CPUs takes no dropout, no bias that needs a gradient, and
    only keys and values of the same width (aten/src/ATen/native/transformers, ``cuda/sdp_utils.cpp`` and ``sdp_utils_cpp.cpp``).
    """
    _, key, value, *_ = body.input_types
    dropped = any(isinstance(step.operation, Drop) for step in body.steps)
    return not way.cpu or (not (dropped or any(needs[3:])) and same(key.sizes[-1], value.sizes[-1]))


def by_steps(body: Program, kept: Keeping, *, biased: bool, narrow: bool) -> Keeping:
    """The kept arrays of torch's attention function if no fused kernel can compute it: those of its steps, and some more.

    A ``biased`` attention makes its causal mask an array. With ``narrow`` numbers, the function computes in float32, with copies of its
    inputs.
    """
    lines = kept.lines
    if biased and any(one.causal for one in masks(body)):
        lines = [*lines, Line(("mask",), (body.input_types[0].sizes[1], body.input_types[1].sizes[1]), role="truth")]
    if not narrow:
        return replace(kept, lines=lines)
    lines = [*lines, *(line_of(("copy",), body.input_types[number]) for number in sorted(kept.inputs))]
    wide = (replace(one, role=re.sub("(float|mask)$", r"wide \1", one.role.replace("wide ", ""))) for one in lines)
    return replace(kept, inputs=set(), lines=list(wide))


def is_scores(operation: Any) -> bool:
    """Return whether an operation is the product of queries and keys."""
    return isinstance(operation, Contract) and operation.within is not None and operation.spec.split()[-1] == operation.within[1]


def fused(body: Program, layouts: tuple[Layout, ...], *, split: bool, cpu: bool) -> Keeping:
    """The kept arrays of a fused attention: its inputs, its output, and the logarithm of every query's sum of exponentials.

    The kernel takes a causal mask as a flag. A window needs a mask of four bytes per pair. A bias is such a mask, and is used directly on
    a CPU, or if it is given for every pair. Keys and values are then copied for each head, unless one copy can be stretched. The result has
    the layout of the queries. If its heads cannot be merged in this layout, the output is a copy with merged heads.
    """
    query, key, value, *bias = body.input_types
    batch, queries, heads, _ = query.sizes
    inside = [Line(("logsumexp",), (batch, queries, heads), role=role_of("wide statistic", split))]
    kept = {0, 1, 2}
    whole = bool(bias) and bias[0].sizes[-2:] == (queries, key.sizes[1])
    if bias or _written(body, key):
        if bias and bias[0].kind == "truth":  # torch makes numbers of it
            inside.append(Line(("mask",), bias[0].sizes, role="float"))
        elif whole or (bias and cpu):
            kept = {*kept, 3}
        else:
            rows = bias[0].sizes[:-2] if bias else (batch, 1)
            inside.append(Line(("mask",), (*rows, queries, key.sizes[1]), role="float"))
        if not same(heads, key.sizes[2]) and not same(key.sizes[2], 1):
            named, role = (("key", key), ("value", value)), role_of("float", split)
            inside += [Line((name,), (*one.sizes[:2], heads, one.sizes[3]), role=role) for name, one in named]
            kept -= {1, 2}
    result, given = ArrayType((batch, queries, heads, value.sizes[3])), body.output_types[0]
    laid = like(result, (query, layouts[0]))
    if mergeable(result, laid, (2, 3)):
        merged = plain(given, tuple(min(axis, 2) for axis in laid.order if axis != 2))
        return Keeping(kept, {0}, inside, (Result(merged, given, 0, split=split),))
    inside.append(line_of(("result",), result, split))
    return Keeping(kept, set(), inside, (Result(plain(given), given, 0, split=split),))


def _written(body: Program, key: ArrayType) -> bool:
    """Whether an attention has a mask as an array, as for a window that is not longer than the keys."""
    found = masks(body)
    return any(mask.written or (mask.window is not None and reaches(key.sizes[1], mask.window)) for mask in found)


def masks(body: Program) -> list[Mask]:
    """Return the masks of the products of an attention."""
    return [step.operation.within[2] for step in body.steps if isinstance(step.operation, Contract) and step.operation.within]
