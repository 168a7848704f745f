"""Torch's operators that move entries: views, slices, joins, copies, padding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paramsym.algebra.size import Count, canonical
from paramsym.errors import NotYetError
from paramsym.program import Value, constant, copies, flip, join, pad, rearrange, roll, segments, take
from paramsym.program.slices import Compact, Copies, Take
from paramsym.program.tracing import record
from paramsym.read.operators import entry, expanded, moved, reshaped
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


@TORCH("slice", ignored="end")
def _slice(self: Value, dim: int = 0, start: Any = None, step: int = 1, *, given: Given) -> Value:
    axis = self.type.axis(dim)
    first = 0 if start is None else start
    if isinstance(first, int) and first < 0:
        size = self.sizes[axis]
        first = max(0, size + first) if isinstance(size, int) else canonical(size + first)
    if first == 0 and step == 1 and given[0][axis] == self.sizes[axis]:
        return self
    return record(Take(axis, first, given[0][axis], step), self)


@TORCH("narrow")
def _narrow(self: Value, dim: int, start: Any, length: Any) -> Value:
    return take(self, self.type.axis(dim), start, length)


@TORCH("select")
def _select(self: Value, dim: int, index: Any) -> Value:
    return entry(self, dim, index)


@TORCH("split", "split_with_sizes", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk", ignored="split_size split_sizes chunks")
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
    for axis, times in enumerate(repeats):
        x = copies(x, times, axis, tiled=True)
    return record(Compact(), x) if all(times == 1 for times in repeats) else x


@TORCH("repeat_interleave", ignored="output_size")
def _repeat_interleave(self: Value, repeats: Any, dim: int | None = None, *, given: Given) -> Value:
    if isinstance(repeats, Value):
        raise NotYetError("repeat_interleave with an array of repeats is not known.")
    x = reshaped(self, (given[0][0] / repeats,)) if dim is None else self
    return record(Copies(repeats, x.type.axis(0 if dim is None else dim)), x)


@TORCH("constant_pad_nd", "pad", ignored="pad_")
def _pad(self: Value, value: Any = 0, **rest: Any) -> Value:
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
    return roll(self, tuple(shifts), tuple(self.type.axis(dim) for dim in dims))


@TORCH("flip")
def _flip(self: Value, dims: Sequence[int]) -> Value:
    x = self
    for dim in dims:
        x = flip(x, x.type.axis(dim))
    return x


@TORCH("zeros", "new_zeros", "empty", "new_empty", "empty_strided", "new_empty_strided", ignored="self size stride")
def _zeros(dtype: Any = None, *, given: Given) -> Value:
    return constant("full", tuple(given[0]), 0, kind=dtype or "float")


@TORCH("ones", "new_ones", ignored="self size")
def _ones(dtype: Any = None, *, given: Given) -> Value:
    return constant("full", tuple(given[0]), 1, kind=dtype or "float")


@TORCH("full", "new_full", "scalar_tensor", ignored="self size")
def _full(fill_value: Any = None, s: Any = None, dtype: Any = None, *, given: Given) -> Value:
    number = s if fill_value is None else fill_value
    if isinstance(number, Value):
        return expanded(number, given[0])
    return constant("full", tuple(given[0]), number, kind=dtype or "float")


@TORCH("pixel_shuffle")
def _pixel_shuffle(self: Value, upscale_factor: int) -> Value:
    return rearrange(self, "... (c p q) h w -> ... c (h p) (w q)", p=upscale_factor, q=upscale_factor)


@TORCH("pixel_unshuffle")
def _pixel_unshuffle(self: Value, downscale_factor: int) -> Value:
    return rearrange(self, "... c (h p) (w q) -> ... (c p q) h w", p=downscale_factor, q=downscale_factor)


@TORCH("put back")
def _put_back(base: Value, view: Value, name: str, arguments: Any, place: int) -> Value:
    """Return an array whose view has new entries."""
    function = _INVERSE.get(name)
    if function is None:
        raise NotYetError(f"a change in place of a view made by {name} cannot be read yet.")
    more = {key: one for key, one in arguments.items() if key != "self"}
    return function(base, view, place=place, **more) if name.startswith(("split", "unbind", "chunk")) else function(base, view, **more)


def _back_slice(base: Value, view: Value, dim: int = 0, start: Any = None, step: int = 1, **_: Any) -> Value:
    axis = base.type.axis(dim)
    first = 0 if start is None else start
    if step != 1:
        raise NotYetError("a change in place of every k-th entry cannot be read yet.")
    if isinstance(first, int) and first < 0:
        first = canonical(base.sizes[axis] + first)
    return _spliced(base, view, axis, first)


def _back_select(base: Value, view: Value, dim: int, index: Any) -> Value:
    axis = base.type.axis(dim)
    if isinstance(index, int) and index < 0:
        index = canonical(base.sizes[axis] + index)
    shape = (*base.sizes[:axis], 1, *base.sizes[axis + 1 :])
    return _spliced(base, reshaped(view, shape), axis, index)


def _spliced(base: Value, part: Value, axis: int, first: Count) -> Value:
    """Return an array with a part along an axis from ``first`` on."""
    after = canonical(first + part.sizes[axis])
    rest = canonical(base.sizes[axis] - after)
    pieces = [take(base, axis, 0, first)] * (first != 0) + [part] + [take(base, axis, after, rest)] * (rest != 0)
    return pieces[0] if len(pieces) == 1 else join(*pieces, axis=axis)


def _back_reshaped(base: Value, view: Value, **_: Any) -> Value:
    return reshaped(view, base.sizes)


def _back_transpose(_: Value, view: Value, dim0: int, dim1: int) -> Value:
    return _transpose(view, dim0, dim1)


def _back_permute(base: Value, view: Value, dims: Sequence[int]) -> Value:
    order = [dim % base.rank for dim in dims]
    return moved(view, [order.index(axis) for axis in range(base.rank)])


_INVERSE: Mapping[str, Callable[..., Value]] = {
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
