"""Torch's operators that move entries: views, slices, joins, copies, padding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sympy import Min

from paramsym.algebra.size import Count, canonical
from paramsym.errors import NotYetError
from paramsym.program import (
    Kept,
    Value,
    compare,
    constant,
    copies,
    flip,
    join,
    pad,
    rearrange,
    reduce,
    region,
    roll,
    segments,
    take,
    unfold,
    where,
)
from paramsym.program.arithmetic import Comparison
from paramsym.program.named_axes import Diagonal
from paramsym.program.slices import Compact, Copies, Replace, Take
from paramsym.program.tracing import record
from paramsym.read.operators import entry, expanded, flat, moved, reshaped
from paramsym.read.torch_entries import TORCH

Given = Sequence[tuple[Count, ...]]


@TORCH("view", "_unsafe_view", "reshape", "flatten", "unflatten", "_reshape_alias", "view_copy", ignored="size stride")
def _view(self: Value, *, given: Given) -> Value:
    return reshaped(self, given[0])


@TORCH("unsqueeze", "unsqueeze_", "squeeze", "squeeze_", ignored="dim")
def _one(self: Value, *, given: Given) -> Value:
    return reshaped(self, given[0])


@TORCH("t", "t_", "numpy_T")
def _t(self: Value) -> Value:
    return moved(self, range(self.rank)[::-1])


@TORCH("transpose", "transpose_", "swapaxes", "swapdims")
def _transpose(self: Value, dim0: int, dim1: int) -> Value:
    order = list(range(self.rank))
    if self.rank:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return moved(self, order)


@TORCH("permute")
def _permute(self: Value, dims: Sequence[int]) -> Value:
    return moved(self, [dim % self.rank for dim in dims])


@TORCH("expand", "expand_copy", ignored="size implicit")
def _expand(self: Value, *, given: Given) -> Value:
    return expanded(self, given[0])


@TORCH("clone", "contiguous")
def _clone(self: Value) -> Value:
    return record(Compact(), self)


@TORCH("saved")
def _saved(self: Value, tensors: Sequence[Value]) -> Value:
    """Return the result of a function with a backward pass of its own, for which it keeps the arrays that it saved."""
    return region("saved", lambda x, *_: x, self, *tensors, keeps=tuple(Kept("taken", n) for n in range(1, len(tensors) + 1)))


@TORCH("slice", ignored="end")
def _slice(self: Value, dim: int = 0, start: Any = None, step: int = 1, *, given: Given) -> Value:
    axis = self.type.axis(dim)
    first = _counted(self, axis, start or 0)
    if first == 0 and step == 1 and given[0][axis] == self.sizes[axis]:
        return self
    return record(Take(axis, first, given[0][axis], step), self)


@TORCH("narrow")
def _narrow(self: Value, dim: int, start: Any, length: Any) -> Value:
    return take(self, self.type.axis(dim), start, length)


@TORCH("select")
def _select(self: Value, dim: int, index: Any) -> Value:
    return entry(self, dim, index)


@TORCH("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes", ignored="split_size split_sizes")
def _split(self: Value, dim: int = 0, *, given: Given) -> Any:
    axis = self.type.axis(dim)
    return segments(self, *(shape[axis] for shape in given), axis=axis)


@TORCH("unbind")
def _unbind(self: Value, dim: int = 0, *, given: Given) -> Any:
    return tuple(take(self, self.type.axis(dim), number) for number in range(len(given)))


@TORCH("cat", "concat", "concatenate")
def _cat(tensors: Sequence[Value], dim: int = 0) -> Value:
    # Torch ignores empty arrays of one axis.
    full = [one for one in tensors if not (one.rank == 1 and one.sizes[0] == 0)] or list(tensors[:1])
    return full[0] if len(full) == 1 else join(*full, axis=full[0].type.axis(dim))


@TORCH("stack")
def _stack(tensors: Sequence[Value], dim: int = 0) -> Value:
    rank = tensors[0].rank
    words = [f"a{n}" for n in range(rank)]
    axis = dim % (rank + 1)
    apart = " ".join((*words[:axis], "()", *words[axis:]))
    return join(*(rearrange(one, f"{' '.join(words)} -> {apart}") for one in tensors), axis=axis)


@TORCH("repeat")
def _repeat(self: Value, repeats: Sequence[Any]) -> Value:
    lead = len(repeats) - self.rank
    x = self
    if lead:
        words = " ".join(f"a{n}" for n in range(self.rank))
        x = rearrange(self, f"{words} -> {'() ' * lead}{words}")
    long = [axis for axis, times in enumerate(repeats) if x.sizes[axis] != 1 != times]
    for axis in (*(axis for axis in range(x.rank) if axis not in long), *long):
        x = copies(x, repeats[axis], axis, tiled=True)
    return x if long else record(Compact(), x)  # copies of one entry are a view, and torch's are none


@TORCH("repeat_interleave", ignored="output_size")
def _repeat_interleave(self: Value, repeats: Any, dim: int | None = None) -> Value:
    if isinstance(repeats, Value):
        raise NotYetError("repeat_interleave with an array of repeats is not known.")
    x = flat(self) if dim is None else self
    axis = x.type.axis(0 if dim is None else dim)
    found = record(Copies(repeats, axis), x)
    return record(Compact(), found) if x.sizes[axis] == 1 else found


@TORCH("constant_pad_nd")
def _pad(self: Value, value: Any = 0, **rest: Any) -> Value:  # ``pad`` is the name of the vocabulary's function
    return pad(self, _margins(rest["pad"]), "constant", float(value or 0))


@TORCH("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def _reflect(self: Value, padding: Sequence[Any]) -> Value:
    return pad(self, _margins(padding), "reflect")


@TORCH("replication_pad1d", "replication_pad2d", "replication_pad3d")
def _replicate(self: Value, padding: Sequence[Any]) -> Value:
    return pad(self, _margins(padding), "replicate")


def _margins(flat: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return pairs (before, after), the first axis first; torch lists the last axis first."""
    return [(flat[n], flat[n + 1]) for n in range(0, len(flat), 2)][::-1]


@TORCH("roll")
def _roll(self: Value, shifts: Sequence[Any], dims: Sequence[int] = ()) -> Value:
    if not dims:
        return reshaped(roll(flat(self), tuple(shifts), (0,)), self.sizes)
    return roll(self, tuple(shifts), tuple(self.type.axis(dim) for dim in dims))


@TORCH("flip")
def _flip(self: Value, dims: Sequence[int]) -> Value:
    x = self
    for dim in dims:
        x = flip(x, x.type.axis(dim))
    return x


@TORCH("pixel_shuffle")
def _pixel_shuffle(self: Value, upscale_factor: int) -> Value:
    return rearrange(self, "... (c p q) h w -> ... c (h p) (w q)", p=upscale_factor, q=upscale_factor)


@TORCH("pixel_unshuffle")
def _pixel_unshuffle(self: Value, downscale_factor: int) -> Value:
    return rearrange(self, "... c (h p) (w q) -> ... (c p q) h w", p=downscale_factor, q=downscale_factor)


@TORCH("channel_shuffle", "native_channel_shuffle")
def _channel_shuffle(self: Value, groups: int) -> Value:
    return rearrange(self, "b (g c) ... -> b (c g) ...", g=groups)


@TORCH("rot90")
def _rot90(self: Value, k: int = 1, dims: Sequence[int] = (0, 1)) -> Value:
    one, other = (self.type.axis(dim) for dim in dims)
    turned = {0: (), 1: (other,), 2: (one, other), 3: (one,)}[k % 4]
    x = _flip(self, turned)
    return _transpose(x, one, other) if k % 2 else x


@TORCH("tril", "tril_")
def _tril(self: Value, diagonal: int = 0) -> Value:
    return _triangle(self, "less_equal", diagonal)


@TORCH("triu", "triu_")
def _triu(self: Value, diagonal: int = 0) -> Value:
    return _triangle(self, "greater_equal", diagonal)


def _triangle(x: Value, side: Comparison, diagonal: int) -> Value:
    """Return an array with zeros where the distance of the column from the row is on the other side of a diagonal."""

    def kernel(x: Value) -> Value:
        distance = constant("distances", x.sizes[-2:], kind="index")
        return where(compare(distance, side, canonical(diagonal + x.sizes[-2] - x.sizes[-1])), x, 0.0)

    return region("triangle", kernel, x, keeps=())


@TORCH("diagonal")
def _diagonal(self: Value, offset: int = 0, dim1: int = 0, dim2: int = 1, *, given: Given) -> Value:
    return record(Diagonal(given[0][-1], (self.type.axis(dim1), self.type.axis(dim2)), offset), self)


@TORCH("diag_embed")
def _diag_embed(self: Value, offset: int = 0, dim1: int = -2, dim2: int = -1, *, given: Given) -> Value:
    if (offset, dim1 % (self.rank + 1), dim2 % (self.rank + 1)) != (0, self.rank - 1, self.rank):
        raise NotYetError("a diagonal beside the main one, or of other axes than the last two, is not known.")

    def kernel(x: Value) -> Value:
        column = rearrange(x, f"{' '.join(f'a{n}' for n in range(x.rank))} -> {' '.join(f'a{n}' for n in range(x.rank))} ()")
        return where(compare(constant("distances", given[0][-2:], kind="index"), "equal", 0), column, 0.0)

    return region("diagonal", kernel, self, keeps=())


@TORCH("trace")
def _trace(self: Value) -> Value:
    return region("trace", lambda x: reduce("sum", record(Diagonal(_shorter(x)), x), 0), self, keeps=())


def _shorter(x: Value) -> Count:
    """Return the length of the main diagonal of the last two axes."""
    return canonical(Min(*x.sizes[-2:]))


@TORCH("unfold")
def _windows(self: Value, dimension: int, size: Any, step: Any) -> Value:
    axis = self.type.axis(dimension)
    rest = [n for n in range(self.rank) if n != axis]
    seen = unfold(moved(self, [*rest, axis]), (size,), (step,), ((0, 0),), (1,), shared=True)
    return moved(seen, [*range(axis), self.rank - 1, *range(axis, self.rank - 1), self.rank])


@TORCH("put back")
def _put_back(base: Value, view: Value, name: str, arguments: Any, place: int) -> Value:
    """Return an array whose view has new entries."""
    function = _INVERSE.get(name)
    if function is None:
        raise NotYetError(f"a change in place of a view made by {name} cannot be read yet.")
    return function(
        base, view, **{key: one for key, one in arguments.items() if key != "self"}, **({"place": place} if name in _SEVERAL else {})
    )


def _back_slice(base: Value, view: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:  # noqa: ARG001 - the end follows from the view
    axis = base.type.axis(dim)
    return record(Replace(axis, _counted(base, axis, start or 0), step), base, view)


def _back_select(base: Value, view: Value, dim: int, index: Any) -> Value:
    axis = base.type.axis(dim)
    part = reshaped(view, (*base.sizes[:axis], 1, *base.sizes[axis + 1 :]))
    return record(Replace(axis, _counted(base, axis, index)), base, part)


def _counted(x: Value, axis: int, start: Count) -> Count:
    """Return a position counted from the front; torch counts negative ones from the end."""
    if not isinstance(start, int) or start >= 0:
        return start
    size = x.sizes[axis]
    return max(0, size + start) if isinstance(size, int) else canonical(size + start)


def _back_reshaped(base: Value, view: Value, **_: Any) -> Value:
    return reshaped(view, base.sizes)


def _back_transpose(_: Value, view: Value, dim0: int, dim1: int) -> Value:
    return _transpose(view, dim0, dim1)


def _back_permute(base: Value, view: Value, dims: Sequence[int]) -> Value:
    order = [dim % base.rank for dim in dims]
    return moved(view, [order.index(axis) for axis in range(base.rank)])


def _back_split(base: Value, view: Value, place: int, split_size: Any = None, split_sizes: Any = (), dim: int = 0) -> Value:
    axis = base.type.axis(dim)
    start = canonical(sum(split_sizes[:place], 0) if split_size is None else place * split_size)
    return record(Replace(axis, start), base, view)


def _back_unbind(base: Value, view: Value, place: int, dim: int = 0) -> Value:
    return _back_select(base, view, dim, place)


_SEVERAL = frozenset({"split", "split_with_sizes", "unbind"})
_INVERSE: Mapping[str, Callable[..., Value]] = {
    "split": _back_split,
    "split_with_sizes": _back_split,
    "unbind": _back_unbind,
    "slice": _back_slice,
    "select": _back_select,
    "view": _back_reshaped,
    "unsqueeze": _back_reshaped,
    "squeeze": _back_reshaped,
    "_unsafe_view": _back_reshaped,
    "alias": _back_reshaped,
    "detach": _back_reshaped,
    "t": lambda _, view: _t(view),
    "transpose": _back_transpose,
    "permute": _back_permute,
}
