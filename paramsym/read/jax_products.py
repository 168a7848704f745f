"""JAX's products, convolutions, windows, reductions and scans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from paramsym.algebra.size import Count
from paramsym.errors import NotYetError
from paramsym.program import Value, best, contract, convolve, convolve_transposed, cumulate, flip, pool, reduce, scan, take
from paramsym.program.reductions import Reduction
from paramsym.read.jax_operators import JAX, array
from paramsym.read.operators import moved

Given = Sequence[tuple[Count, ...]]


@JAX("dot_general")
def _dot_general(operands: Sequence[Any], dimension_numbers: Any) -> Value:
    one, other = map(array, operands)
    (left, right), (lead, leads) = dimension_numbers
    words = [f"l{axis}" for axis in range(one.rank)]
    others = [f"r{axis}" for axis in range(other.rank)]
    for name, pairs in (("k", zip(left, right, strict=True)), ("b", zip(lead, leads, strict=True))):
        for number, (axis, place) in enumerate(pairs):
            words[axis] = others[place] = f"{name}{number}"
    batch = [words[axis] for axis in lead]
    result = [*batch, *(word for word in words if word[0] == "l"), *(word for word in others if word[0] == "r")]
    if not left:
        raise NotYetError("a product without a sum is not known.")
    return contract(f"{' '.join(words)}, {' '.join(others)} -> {' '.join(result)}", one, other)


@JAX("conv_general_dilated")
def _convolution(
    operands: Sequence[Any],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    dimension_numbers: Mapping[str, Sequence[int]],
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    *,
    given: Given,
) -> Value:
    if batch_group_count != 1:
        raise NotYetError("a convolution with groups of examples is not known.")
    x, kernel = (moved(array(one), dimension_numbers[key]) for one, key in zip(operands, ("lhs_spec", "rhs_spec"), strict=True))
    order = dimension_numbers["out_spec"]
    if any(gap != 1 for gap in lhs_dilation):
        y = _transposed(
            x, kernel, window_strides, padding, lhs_dilation, rhs_dilation, [given[0][axis] for axis in order[2:]], feature_group_count
        )
    else:
        y = convolve(x, kernel, window_strides, tuple(map(tuple, padding)), rhs_dilation, feature_group_count)
    return moved(y, [list(order).index(axis) for axis in range(y.rank)])


def _transposed(
    x: Value,
    kernel: Value,
    strides: Sequence[int],
    padding: Any,
    gaps: Sequence[int],
    dilation: Sequence[int],
    lengths: Sequence[Count],
    groups: int,
) -> Value:
    """Return a convolution of entries with gaps between them: the transpose of one with a stride, by the reversed kernel."""
    if groups != 1 or any(step != 1 for step in strides):
        raise NotYetError("a transposed convolution with groups or strides is not known.")
    kernel = moved(kernel, [1, 0, *range(2, kernel.rank)])
    for axis in range(2, kernel.rank):
        kernel = flip(kernel, axis)
    before = [(size - 1) * gap - side for size, gap, (side, _) in zip(kernel.sizes[2:], dilation, padding, strict=True)]
    return convolve_transposed(x, kernel, gaps, before, dilation, lengths)


# Reductions ----------------------------------------------------------------------------------------------------------------------

_REDUCTIONS: Mapping[str, Reduction] = {"sum": "sum", "max": "amax", "min": "amin", "prod": "prod", "and": "all", "or": "any"}


def _reduction(theirs: str, ours: Reduction) -> None:
    @JAX(f"reduce_{theirs}")
    def reduction(operands: Sequence[Any], axes: Sequence[int]) -> Value:
        x = array(operands[0])
        return reduce(ours, x, *axes) if axes else x


for _theirs, _ours in _REDUCTIONS.items():
    _reduction(_theirs, _ours)


def _place(theirs: str, *, least: bool) -> None:
    @JAX(theirs)
    def place(operands: Sequence[Any], axes: Sequence[int]) -> Value:
        return take(best(array(operands[0]), 1, axes[0], least=least)[1], axes[0], 0)


_place("argmax", least=False)
_place("argmin", least=True)


@JAX("top_k")
def _top_k(operands: Sequence[Any], k: Any, axis: int = -1) -> tuple[Value, Value]:
    return best(array(operands[0]), k, axis)


@JAX("sort")
def _sort(operands: Sequence[Any], dimension: int, num_keys: int) -> Value:
    if len(operands) != 1 or num_keys != 1:
        raise NotYetError("sorting several arrays together is not known.")
    x = array(operands[0])
    return best(x, x.sizes[dimension], dimension, least=True)[0]


@JAX("cumsum")
def _cumsum(operands: Sequence[Any], axis: int, reverse: bool = False) -> Value:
    if reverse:
        raise NotYetError("running sums from the end are not known.")
    return cumulate(array(operands[0]), axis)


@JAX("cumprod")
def _cumprod(operands: Sequence[Any], axis: int, reverse: bool = False) -> Value:
    if reverse:
        raise NotYetError("running products from the end are not known.")
    return cumulate(array(operands[0]), axis, "multiply")


def _window(theirs: str, kind: Any) -> None:
    @JAX(theirs)
    def windows(
        operands: Sequence[Any],
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        padding: Any,
        base_dilation: Sequence[int],
        window_dilation: Sequence[int],
    ) -> Value:
        if any(gap != 1 for gap in base_dilation):
            raise NotYetError("windows over entries with gaps between them are not known.")
        x = array(operands[0])
        spatial = [axis for axis, size in enumerate(window_dimensions) if size != 1 or window_strides[axis] != 1 or any(padding[axis])]
        if not spatial:
            return x
        rest = [axis for axis in range(x.rank) if axis not in spatial]
        order = [*rest, *spatial]
        kernel, steps, gaps = ([listed[axis] for axis in spatial] for listed in (window_dimensions, window_strides, window_dilation))
        more: dict[str, Any] = {"divisor": 1} if kind == "mean" else {}
        y = pool(kind, moved(x, order), kernel, steps, tuple(tuple(padding[axis]) for axis in spatial), dilation=tuple(gaps), **more)
        return moved(y, [order.index(axis) for axis in range(x.rank)])


_window("reduce_window_max", "max")
_window("reduce_window_sum", "mean")


# Scans ---------------------------------------------------------------------------------------------------------------------------


@JAX("scan")
def _scan(operands: Sequence[Any], jaxpr: Mapping[str, Any], length: Any, num_consts: int, num_carry: int, reverse: bool = False) -> Any:
    fixed, states, over = operands[:num_consts], operands[num_consts : num_consts + num_carry], operands[num_consts + num_carry :]
    if not over:
        raise NotYetError(f"a loop of {length} steps over no array is not known.")

    def body(*given: Value) -> tuple[Value, ...]:
        values = dict(zip(jaxpr["inputs"], (*fixed, *given), strict=True))
        for name, taken, arguments, gives, shapes in jaxpr["steps"]:
            inputs = tuple(values[one] if isinstance(one, str) else one for one in taken)
            results = JAX.apply(name, {"operands": inputs, **arguments}, partial(list, shapes), " in a scan")
            values.update(zip(gives, results, strict=False))
        return tuple(array(values[one]) if isinstance(one, str) else array(one) for one in jaxpr["outputs"])

    return scan(body, tuple(map(array, states)), *map(array, over), axis=0, reverse=reverse)
