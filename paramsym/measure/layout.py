"""The layout of an array in its storage: which axes can be merged without a copy, and the strides of a view.

Torch keeps views as they are, and copies an array if a kernel merges axes that are not adjacent in memory. Strides are products of sizes,
so this is known in letters as well. Strides that are equal only for some sizes count as different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

from paramsym.algebra.size import Axis, Dim, canonical, conditions_are_asked, extent, factors_of, product, same
from paramsym.program.activations import Apply
from paramsym.program.arithmetic import Combine, WithNumber
from paramsym.program.attention import Hide
from paramsym.program.conditions import Where
from paramsym.program.lists import Turn
from paramsym.program.lookups import Choose, Drop, Still, Unrun, Untrained
from paramsym.program.named_axes import Diagonal, Known, Named, Rearrange, axes_of_words, groups
from paramsym.program.slices import Copies, Segments, Take
from paramsym.program.spectra import AsComplex, AsReal
from paramsym.program.state import Remember
from paramsym.program.types import ArrayType
from paramsym.program.windows import Unfold

Stride: TypeAlias = tuple[Dim, ...]
"""The factors of a step from one entry of an axis to the next; (0,) for an axis that is stretched."""


ENTRY_BY_ENTRY = (Apply, Combine, Drop, Hide, Where, WithNumber)
"""Operations whose result has the layout of the input."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The stride of every axis, and the axes in memory order, the outermost first."""

    strides: tuple[Stride, ...]
    order: tuple[int, ...]


def plain(kind: ArrayType, order: Sequence[int] | None = None) -> Layout:
    """Return the layout of a new array with its axes in some memory order, by default their own.

    >>> plain(ArrayType((2, 3, 5))).strides
    ((5, 3), (5,), ())
    """
    order = range(len(kind.shape)) if order is None else order
    strides: dict[int, Stride] = {}
    step: Stride = ()
    for axis in reversed(order):
        strides[axis] = step
        step = (*step, *_sizes(kind.shape[axis]))
    return Layout(tuple(strides[axis] for axis in range(len(strides))), tuple(order))


class Layouts(dict[int, Layout]):
    """The layouts of a program's values, by number; a value for which none is put in has the plain one."""

    def __init__(self, types: Sequence[ArrayType], known: Iterable[tuple[int, Layout]] = ()) -> None:
        super().__init__(known)
        self._types = types

    def __missing__(self, number: int) -> Layout:
        self[number] = plain(self._types[number])
        return self[number]


def like(kind: ArrayType, *taken: tuple[ArrayType, Layout]) -> Layout:
    """Return the layout of an elementwise result: the axes in the order of the first array that has them all."""
    whole = (layout for one, layout in taken if _as_large(one, kind) and not any(stride == (0,) for stride in layout.strides))
    first = next(whole, None)
    return plain(kind) if first is None else plain(kind, first.order)


def _as_large(one: ArrayType, other: ArrayType) -> bool:
    """Return whether two arrays have the same sizes; for sizes in letters, the answer becomes a condition."""
    if conditions_are_asked() and len(one.shape) == len(other.shape):
        return all(same(*pair) for pair in zip(one.sizes, other.sizes, strict=True))
    return one.sizes == other.sizes


def padded(kind: ArrayType, taken: Layout) -> Layout:
    """Return the layout of a padded array: torch keeps the order of images with channels last, and gives all others a new layout."""
    last = (0, 2, 3, 1)
    return plain(kind, last) if taken.order == last else plain(kind)


def viewed(operation: Any, taken: ArrayType, given: Sequence[ArrayType], layout: Layout) -> tuple[Layout, ...] | None:
    """Return the layouts of the results of an operation that makes views; None for any other, or if it must copy."""
    match operation:
        case Named() | Known() | Still() | Unrun() | Untrained() | Turn() | Apply(inplace=True):
            return (layout,)
        case Remember() if operation.view:
            return (layout,)
        case Choose():
            return (plain(given[0]),)
        case Diagonal() | AsComplex() | AsReal():
            return (plain(given[0]),)
        case Unfold(shared=True):
            *lead, last = layout.strides
            return (Layout((*lead, (*last, *operation.stride), last), (*layout.order, len(layout.order))),)
        case Segments(apart=False):
            return (layout,) * len(given)
        case Take(axis=axis, count=count, step=step):
            axis = taken.axis(axis)
            strides = tuple((*stride, step) if n == axis and step != 1 else stride for n, stride in enumerate(layout.strides))
            return (Layout(strides, layout.order) if count is not None else _without(Layout(strides, layout.order), axis),)
        case Copies(axis=axis) if _is_one(taken.sizes[axis]):
            axis = taken.axis(axis)
            return (Layout(tuple((0,) if n == axis else stride for n, stride in enumerate(layout.strides)), layout.order),)
        case Rearrange():
            found = _rearranged(operation, taken, layout)
            return None if found is None else (found,)
        case _:
            return None


def mergeable(kind: ArrayType, layout: Layout, axes: Iterable[int]) -> bool:
    """Return whether consecutive axes can be merged without a copy."""
    return _behind([(kind.sizes[axis], layout.strides[axis], _sizes(kind.shape[axis])) for axis in axes])


def _behind(axes: list[tuple[Dim, Stride, Stride]]) -> bool:
    """Return whether the stride of every axis is the extent of the next one; axes of size 1 do not count."""
    real = [(stride, factors) for size, stride, factors in axes if not _is_one(size)]
    return all(_equal(outer, (*inner, *factors)) for (outer, _), (inner, factors) in pairwise(real))


def _is_one(size: Dim) -> bool:
    """Return whether a size is 1; a letter is assumed not to be 1, which becomes a condition."""
    if isinstance(size, int):
        return size == 1
    if conditions_are_asked():
        same(size, 1)
    return False


def _rearranged(operation: Rearrange, taken: ArrayType, layout: Layout) -> Layout | None:
    left, right = groups(operation.pattern)
    found = axes_of_words(operation.pattern, left, taken, dict(operation.sizes))
    strides: dict[str, Stride] = {}
    for words, stride in zip(left, layout.strides, strict=True):
        step = stride
        for word in reversed(words):
            strides[word] = step
            step = (*step, *_sizes(found[word]))
    lie = [word for axis in layout.order for word in left[axis]]
    merged: list[Stride] = []
    first: list[int] = []
    for words in right:
        if not _behind([(extent(found[word]), strides[word], _sizes(found[word])) for word in words]):
            return None
        real = [word for word in words if not _is_one(extent(found[word]))] or list(words)
        merged.append(strides[real[-1]] if real else ())
        first.append(lie.index(real[0]) if real else len(lie))
    return Layout(tuple(merged), tuple(sorted(range(len(right)), key=first.__getitem__)))


def _without(layout: Layout, axis: int) -> Layout:
    order = tuple(one - (one > axis) for one in layout.order if one != axis)
    return Layout(tuple(stride for n, stride in enumerate(layout.strides) if n != axis), order)


def _sizes(axis: Axis) -> Stride:
    return (axis,) if isinstance(axis, int) else tuple(extent(factor) for factor in factors_of(axis))


def _equal(one: Stride, other: Stride) -> bool:
    return one == other or Counter(one) == Counter(other) or _product(one) == _product(other)


@lru_cache(maxsize=1 << 12)
def _product(stride: Stride) -> Dim:
    return canonical(product(stride))
