"""ONNX's operators that move entries: views, slices, joins, positions, padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Expr, Min, ceiling

from paramsym.algebra.size import Count, canonical, product
from paramsym.errors import NotYetError
from paramsym.program import Value, copies, flip, join, lookup, pad, pick, rearrange, segments, take
from paramsym.program.arithmetic import broadcast
from paramsym.program.routing import How, at, put_at
from paramsym.program.slices import Take
from paramsym.program.tracing import record
from paramsym.program.types import ArrayType
from paramsym.read.onnx_entries import ONNX, array, axes_of, axis_in, checked, exact, scalar, shape_of
from paramsym.read.onnx_from_sizes import is_known, lettered, number, shape_after, sizes
from paramsym.read.operators import entry, expanded, moved, reshaped

_FAR = (1 << 31) - 1
"""An end of a slice from which on it means the end of the axis."""


@ONNX("Reshape")
def _reshape(data: Any, shape: Any, allowzero: int = 0) -> Value:
    wanted = shape if isinstance(shape, tuple) else sizes(shape)
    return reshaped(array(data), checked(shape_after(wanted, shape_of(data), allowzero)))


@ONNX("Flatten")
def _flatten(input: Any, axis: int = 1) -> Value:
    x = array(input)
    axis = axis + x.rank if axis < 0 else axis
    rows, columns = (canonical(product(part)) for part in (x.sizes[:axis], x.sizes[axis:]))
    return reshaped(x, (rows, columns))


@ONNX("Transpose")
def _transpose(data: Any, perm: Sequence[int] | None = None) -> Value:
    x = array(data)
    return moved(x, tuple(range(x.rank))[::-1] if perm is None else perm)


@ONNX("Squeeze")
def _squeeze(data: Any, axes: Any = None) -> Value:
    x, gone = array(data), axes_of(axes)
    if gone is None and any(isinstance(size, Expr) for size in x.sizes):
        raise NotYetError("which axes have size 1 depends on the sizes; give numbers in place of letters.")
    places = {n for n, size in enumerate(x.sizes) if size == 1} if gone is None else {axis_in(x, one) for one in gone}
    return reshaped(x, [size for n, size in enumerate(x.sizes) if n not in places])


@ONNX("Unsqueeze")
def _unsqueeze(data: Any, axes: Any) -> Value:
    x = array(data)
    new = axes_of(axes) or ()
    rank = x.rank + len(new)
    places, left = {one % rank for one in new}, iter(x.sizes)
    return reshaped(x, [1 if n in places else next(left) for n in range(rank)])


@ONNX("Expand")
def _expand(input: Any, shape: Any) -> Value:
    x = array(input)
    return expanded(x, ArrayType(broadcast(x.type, ArrayType(checked(sizes(shape))))).sizes)


@ONNX("Concat")
def _concat(inputs: Sequence[Any], axis: int) -> Value:
    full = [one for one in inputs if 0 not in shape_of(one)] or inputs[:1]
    return array(full[0]) if len(full) == 1 else join(*map(array, full), axis=axis_in(array(full[0]), axis))


@ONNX("Split")
def _split(input: Any, split: Any = None, axis: int = 0, num_outputs: int | None = None, *, results: int) -> tuple[Value, ...]:
    x = array(input)
    axis = axis_in(x, axis)
    pieces = axes_of(split)
    if pieces is None:
        number_of = num_outputs or results
        size = x.sizes[axis]
        each = canonical(ceiling(exact(size) / number_of)) if isinstance(size, int) else canonical(size / number_of)
        pieces = (*(each,) * (number_of - 1), canonical(size - each * (number_of - 1)))
    return segments(x, *pieces, axis=axis) if len(pieces) > 1 else (x,)


@ONNX("Slice")
def _slice(data: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Value:
    x = array(data)
    first, last = axes_of(starts) or (), axes_of(ends) or ()
    places = axes_of(axes) or tuple(range(len(first)))
    by = axes_of(steps) or (1,) * len(first)
    for place, start, end, step in zip(places, first, last, by, strict=True):
        x = _cut(x, axis_in(x, place), start, end, step)
    return x


def _cut(x: Value, axis: int, start: Any, end: Any, step: Any) -> Value:
    size = x.sizes[axis]
    if step == -1 and start == -1 and isinstance(end, int) and end < -_FAR:
        return flip(x, axis)
    if not isinstance(step, int) or step < 1:
        raise NotYetError("a slice with a negative step is only known for a whole axis.")
    start, end = _within(start, size), _within(end, size)
    count: Any = canonical(end - start)
    count = canonical(ceiling(exact(count) / step)) if step > 1 else count
    if start == 0 and step == 1 and count == size:
        return x
    return record(Take(axis, start, max(count, 0) if isinstance(count, int) else count, step), x)


def _within(place: Any, size: Any) -> Any:
    """Return an end of a slice as a position from the front, at most the size of the axis."""
    if isinstance(place, int):
        if place >= _FAR:
            return size
        if place < 0:
            return canonical(size + place) if isinstance(size, Expr) else max(size + place, 0)
        return min(place, size) if isinstance(size, int) else place if place == 0 else canonical(Min(place, size))
    if isinstance(size, int):  # a table has as many entries as the largest size in letters
        return place if not place.could_extract_minus_sign() else canonical(size + place)
    return canonical(Min(place if not place.could_extract_minus_sign() else size + place, size))


@ONNX("Gather")
def _gather(data: Any, indices: Any, axis: int = 0) -> Value:
    x = array(data)
    axis = axis_in(x, axis)
    if is_known(indices) and indices.ndim == 0:
        return entry(x, axis, number(indices))
    index = array(_from_front(indices, x.sizes[axis]))
    if axis == 0 and x.type.kind == "float":
        return lookup(x, index)
    return at(x, (index,), (axis,), (*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :]))


def _from_front(indices: Any, size: Count) -> Any:
    """Return positions counted from the front."""
    if not is_known(indices) or lettered(indices) or not (indices < 0).any():
        return indices
    if not isinstance(size, int):
        raise NotYetError("positions from the end of an axis whose size is a letter are not known; give a number.")
    return indices + size * (indices < 0)


@ONNX("GatherElements")
def _gather_elements(data: Any, indices: Any, axis: int = 0) -> Value:
    x, index = array(data), array(indices)
    axis = axis_in(x, axis)
    for place, size in enumerate(index.sizes):
        if place != axis and x.sizes[place] != size:
            x = take(x, place, 0, size)
    return pick(x, array(_from_front(indices, x.sizes[axis])), axis)


def _columns(indices: Any) -> tuple[Value, ...]:
    """Return the positions along each axis, from the last axis of an array of positions."""
    index = array(indices)
    number_of = index.sizes[-1]
    if not isinstance(number_of, int):
        raise NotYetError("the number of indexed axes is a letter.")
    return tuple(take(index, -1, place) for place in range(number_of))


@ONNX("GatherND")
def _gather_nd(data: Any, indices: Any, batch_dims: int = 0) -> Value:
    if batch_dims:
        raise NotYetError("positions for every entry of a batch are not known.")
    x, places = array(data), _columns(indices)
    return at(x, places, range(len(places)), (*shape_of(indices)[:-1], *x.sizes[len(places) :]))


_HOW: Mapping[str, How] = {"none": "set", "add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}


@ONNX("ScatterElements", "Scatter")
def _scatter(data: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "none") -> Value:
    x = array(data)
    return put_at(x, array(updates), (array(indices),), (axis_in(x, axis),), how=_HOW[reduction], along=True)


@ONNX("ScatterND")
def _scatter_nd(data: Any, indices: Any, updates: Any, reduction: str = "none") -> Value:
    places = _columns(indices)
    return put_at(array(data), array(updates), places, tuple(range(len(places))), how=_HOW[reduction])


@ONNX("Tile")
def _tile(input: Any, repeats: Any) -> Value:
    x = array(input)
    for axis, times in enumerate(sizes(repeats)):
        x = copies(x, times, axis, tiled=True)
    return x


@ONNX("Pad")
def _pad(data: Any, pads: Any, constant_value: Any = None, axes: Any = None, mode: str = "constant", value: float = 0.0) -> Value:
    x = array(data)
    given = axes_of(pads) or ()
    places = [axis_in(x, one) for one in axes_of(axes) or range(x.rank)]
    ends = {axis: (given[n], given[n + len(places)]) for n, axis in enumerate(places)}
    margins = [ends.get(axis, (0, 0)) for axis in range(x.rank)]
    fill = value if constant_value is None else scalar(constant_value)
    words: Mapping[str, Any] = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    if isinstance(fill, Value) or mode not in words:
        raise NotYetError(f"a padding by {mode} with a computed number is not known.")
    return pad(x, margins, words[mode], float(fill))


@ONNX("DepthToSpace")
def _depth_to_space(input: Any, blocksize: int, mode: str = "DCR") -> Value:
    words = "(p q c)" if mode == "DCR" else "(c p q)"
    return rearrange(array(input), f"b {words} h w -> b c (h p) (w q)", p=blocksize, q=blocksize)


@ONNX("SpaceToDepth")
def _space_to_depth(input: Any, blocksize: int) -> Value:
    return rearrange(array(input), "b c (h p) (w q) -> b (p q c) h w", p=blocksize, q=blocksize)
