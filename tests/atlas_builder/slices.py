"""How a pass divides the axes of a module's tensors: heads in the output of a projection, the queries, keys and values in a fused one.

Each axis of a stored tensor is one piece. An operator passes the pieces on to the axes of its result. A view that splits an axis splits its
piece into a product, for all arrays that have it, and a slice makes it a concatenation. After the pass the pieces of a stored tensor say
how the computation divides its axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from math import prod
from typing import Any

from paramsym.read.recording import Array, Done, Recording, Ref, refs


@dataclass(frozen=True)
class Segments:
    """An axis that is a concatenation: the factors of each segment, and its role (query, key or value; empty if it is not known)."""

    factors: tuple[Factors, ...]
    roles: tuple[str, ...]


Factors = tuple["int | Segments", ...]
"""The factors of an axis, whose product it is; one alone if nothing divides the axis."""


def factors_of(recording: Recording, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[Factors, ...]]:
    """Return the factors of each axis of each stored tensor that the pass reads, by the tensor's first name."""
    arrays = {number: list(map(_fresh, shapes[names[0]])) for number, names in recording.stored.items()}
    stored = dict(arrays)
    arrays |= {array.number: list(map(_fresh, array.shape)) for array in (*recording.inputs, *recording.constants.values())}
    for step in recording.top.steps():
        _follow(step, arrays)
    read = {number for step in recording.top.steps() for number in refs(step.arguments)}
    return {names[0]: tuple(map(_factors, stored[number])) for number, names in recording.stored.items() if number in read}


# Pieces --------------------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Piece:
    """A piece of an axis: ``parts`` if it is a product, ``segments`` by their bounds if slices of it were taken.

    ``same`` is another piece that it was found equal to.
    """

    size: int
    parts: tuple[_Piece, ...] = ()
    segments: dict[tuple[int, int], _Piece] = field(default_factory=dict)
    same: _Piece | None = None
    role: str = ""

    @property
    def root(self) -> _Piece:
        one = self
        while one.same is not None:
            one = one.same
        return one

    def leaves(self) -> Iterator[_Piece]:
        """Yield the factors of the piece that nothing splits."""
        root = self.root
        if not root.parts:
            yield root
        for part in root.parts:
            yield from part.leaves()

    def split(self, size: int) -> tuple[_Piece, _Piece]:
        """Split a leaf into a product whose first factor has a size."""
        self.parts = _Piece(size), _Piece(self.size // size)
        return self.parts

    def segment(self, start: int, stop: int) -> _Piece:
        """Return a slice of a leaf."""
        return self if (start, stop) == (0, self.size) else self.segments.setdefault((start, stop), _Piece(stop - start))


_Axis = Sequence[_Piece]
"""An axis as the pieces whose product it is; none for an axis of size 1."""


def _leaves(axis: _Axis) -> list[_Piece]:
    return [leaf for piece in axis for leaf in piece.leaves()]


def _fresh(size: int) -> _Axis:
    return (_Piece(size),) if size != 1 else ()


def _unite(one: _Axis, other: _Axis) -> None:
    """Take two axes of one size as divided alike."""
    _along(_leaves(one), _leaves(other), _united)


def _united(one: _Piece, other: _Piece) -> None:
    if one is not other:
        other.same, one.role = one, one.role or other.role
        for bounds, segment in other.segments.items():
            known = one.segments.setdefault(bounds, segment)
            _unite((known,), (segment,))


def _divide(one: _Axis, like: _Axis) -> None:
    """Divide an axis as another one is divided now."""
    _along(_leaves(one), [_Piece(leaf.size) for leaf in _leaves(like)], lambda *_: None)


def _along(ones: list[_Piece], others: list[_Piece], pair: Callable[[_Piece, _Piece], None]) -> None:
    """Split the leaves of two axes of one size until they have equal sizes, and pair them; stop where their sizes do not divide."""
    while ones and others:
        one, other = ones.pop(0), others.pop(0)
        if one.size > other.size and one.size % other.size == 0 and not one.segments:
            one, rest = one.split(other.size)
            ones.insert(0, rest)
        elif other.size > one.size and other.size % one.size == 0 and not other.segments:
            other, rest = other.split(one.size)
            others.insert(0, rest)
        elif one.size != other.size:
            return
        pair(one, other)


def _viewed(axes: Sequence[_Axis], shape: Sequence[int]) -> list[_Axis]:
    """Return the axes of the same entries in another shape; new ones where the sizes do not divide."""
    leaves, found = _leaves([piece for axis in axes for piece in axis]), []
    for at, size in enumerate(shape):
        axis, left = [], size
        while left > 1 and leaves:
            leaf = leaves.pop(0)
            if left % leaf.size == 0:
                axis.append(leaf)
                left //= leaf.size
            elif leaf.size % left == 0 and not leaf.segments:
                first, rest = leaf.split(left)
                axis.append(first)
                leaves.insert(0, rest)
                left = 1
            else:  # entries of two axes are mixed: those on the right may still divide
                return [*found, *_viewed_from_the_right(axes, shape, at)]
        found.append(tuple(axis))
    return found


def _viewed_from_the_right(axes: Sequence[_Axis], shape: Sequence[int], first: int) -> list[_Axis]:
    """Return the axes from one on; those that are whole axes of the array before, counted from the last, keep their pieces."""
    same = 0
    while same < min(len(shape) - first - 1, len(axes)) and shape[-1 - same] == prod(leaf.size for leaf in _leaves(axes[-1 - same])):
        same += 1
    kept = list(axes[len(axes) - same :])
    return [*(_fresh(size) for size in shape[first : len(shape) - same]), *kept]


def _factors(axis: _Axis) -> Factors:
    """Return the factors of an axis; slices that divide nothing further are no segments."""
    leaves = _leaves(axis)
    return tuple([_segments(leaf) or leaf.size for leaf in leaves]) or (1,)


def _segments(leaf: _Piece) -> Segments | None:
    """Return the segments of a leaf, if slices of it fill it and at least one of them is divided."""
    at, found = 0, []
    while at < leaf.size:
        stops = [stop for start, stop in leaf.segments if start == at and (start, stop) != (0, leaf.size)]
        if not stops:
            return None
        divided = [stop for stop in stops if len(_factors((leaf.segments[at, stop],))) > 1]
        stop = min(divided or stops)
        found.append(leaf.segments[at, stop])
        at = stop
    factors = tuple(_factors((one,)) for one in found)
    if all(one == (piece.size,) for one, piece in zip(factors, found, strict=True)):
        return None
    return Segments(factors, tuple(next((one.role for one in piece.leaves() if one.role), "") for piece in found))


# Operators -----------------------------------------------------------------------------------------------------------------------

_Arrays = dict[int, list[_Axis]]
_VIEWS = ("view", "_unsafe_view", "reshape", "_reshape_alias", "unflatten", "flatten", "unsqueeze", "squeeze", "clone", "_to_copy")


def _follow(step: Done, arrays: _Arrays) -> None:
    """Give the results of an operator the pieces that their axes have."""
    given = {name: _put_in(one, arrays) for name, one in step.arguments.items()}
    rule = _RULES.get(step.name.rstrip("_"), _entrywise)
    found = rule(given, step.results)
    for array, some in zip_longest(step.results, found[: len(step.results)], fillvalue=()):
        axes = some if len(some) == len(array.shape) else [()] * len(array.shape)
        arrays[array.number] = [axis if _size(axis) == size else _fresh(size) for axis, size in zip(axes, array.shape, strict=True)]


def _put_in(one: Any, arrays: _Arrays) -> Any:
    """Return an argument with the axes of each array in place of its number."""
    if isinstance(one, Ref):
        return arrays.get(one.number)
    return [_put_in(each, arrays) for each in one] if isinstance(one, tuple) and any(isinstance(each, Ref) for each in one) else one


def _size(axis: _Axis) -> int:
    return prod(piece.size for piece in axis)


def _arrays_in(given: Mapping[str, Any]) -> list[list[_Axis]]:
    return [one for one in given.values() if isinstance(one, list) and all(isinstance(axis, tuple) for axis in one)]


_Given = Mapping[str, Any]
_Results = Sequence[Array]


def _entrywise(given: _Given, results: _Results) -> list[list[_Axis]]:
    """Axes of equal size, counted from the last, are divided alike."""
    found = []
    for result in results:
        axes = list(map(_fresh, result.shape))
        taken = [False] * len(axes)
        for array in _arrays_in(given):
            for at in range(1, min(len(array), len(axes)) + 1):
                if _size(array[-at]) == result.shape[-at] != 1:
                    if taken[-at]:
                        _unite(axes[-at], array[-at])
                    axes[-at], taken[-at] = array[-at], True
        found.append(axes)
    return found


def _view(given: _Given, results: _Results) -> list[list[_Axis]]:
    return [_viewed(given["self"], results[0].shape)]


def _transpose(given: _Given, _: _Results) -> list[list[_Axis]]:
    axes = list(given["self"])
    one, other = given["dim0"], given["dim1"]
    axes[one], axes[other] = axes[other], axes[one]
    return [axes]


def _sliced(given: _Given, at: int, bounds: Sequence[tuple[int, int]]) -> list[list[_Axis]]:
    """Return slices of an axis that is one leaf; new pieces for others."""
    axes, found = given["self"], []
    leaves = _leaves(axes[at])
    for start, stop in bounds:
        some = list(axes)
        some[at] = (leaves[0].segment(start, stop),) if len(leaves) == 1 and stop - start > 1 else _fresh(stop - start)
        found.append(some)
    return found


def _split(given: _Given, results: _Results) -> list[list[_Axis]]:
    at, start, bounds = given["dim"], 0, []
    for result in results:
        size = result.shape[at]
        bounds.append((start, start + size))
        start += size
    return _sliced(given, at, bounds)


def _slice(given: _Given, results: _Results) -> list[list[_Axis]]:
    at, size = given["dim"], results[0].shape[given["dim"]]
    whole, start = _size(given["self"][at]), given["start"] or 0
    start = max(0, start + whole) if start < 0 else start
    return _sliced(given, at, [(start, start + size)]) if given["step"] == 1 else []


def _removed(given: _Given, results: _Results) -> list[list[_Axis]]:
    """One index of an axis, or each."""
    axes = list(given["self"])
    del axes[given["dim"]]
    return [axes] * len(results)


def _linear(x: list[_Axis], weight: list[_Axis], bias: list[_Axis] | None) -> list[list[_Axis]]:
    """The product with a matrix ``(out, in)``."""
    _divide(weight[1], x[-1])
    if bias is not None:
        _unite(weight[0], bias[-1])
    return [[*x[:-1], weight[0]]]


def _matmul(given: _Given, results: _Results) -> list[list[_Axis]]:
    x, y = given["self"], given.get("other", given.get("mat2"))
    if len(y) == 2:
        return _linear(x, [y[1], y[0]], None)
    axes = list(map(_fresh, results[0].shape))
    axes[-len(x) : -1] = x[:-1]
    return [[*axes[:-1], y[-1]]] if len(y) > 1 else []


def _convolution(given: _Given, _: _Results) -> list[list[_Axis]]:
    x, weight, bias = given["input"], given["weight"], given["bias"]
    inner, outer = (weight[0], weight[1]) if given["transposed"] else (weight[1], weight[0])
    if given["groups"] == 1:
        _divide(inner, x[1])
    elif given["transposed"]:
        return []
    if isinstance(bias, list):
        _unite(outer, bias[0])
    return [[x[0], outer, *x[2:]]]


def _added(given: _Given, _: _Results) -> list[list[_Axis]]:
    bias, x, weight = given["self"], given["mat1"], given["mat2"]
    return _linear(x, [weight[1], weight[0]], bias)


def _attention(given: _Given, _: _Results) -> list[list[_Axis]]:
    for role in ("query", "key", "value"):
        for leaf in _leaves(given[role][-1]):
            leaf.role = role
    return [[*given["query"][:-1], given["value"][-1]]]


def _einsum(given: _Given, _: _Results) -> list[list[_Axis]]:
    """Axes of one letter are divided alike, where one of two arrays is a stored tensor that is contracted."""
    terms, arrow, out = given["equation"].replace(" ", "").partition("->")
    arrays = given["tensors"]
    if "." in terms or not arrow:
        return []
    by_letter: dict[str, _Axis] = {}
    for letters, axes in zip(terms.split(","), arrays, strict=True):
        for letter, axis in zip(letters, axes, strict=True):
            if letter not in out and letter in by_letter:
                _divide(axis, by_letter[letter])
            by_letter.setdefault(letter, axis)
    return [[by_letter[letter] for letter in out]]


_RULES: Mapping[str, Callable[[_Given, _Results], list[list[_Axis]]]] = {
    **dict.fromkeys(_VIEWS, _view),
    **dict.fromkeys(("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes"), _split),
    **dict.fromkeys(("select", "unbind"), _removed),
    **dict.fromkeys(("matmul", "mm", "bmm"), _matmul),
    "transpose": _transpose,
    "t": lambda given, _: [given["self"][::-1]],
    "permute": lambda given, _: [[given["self"][at] for at in given["dims"]]],
    "slice": _slice,
    "linear": lambda given, _: _linear(given["input"], given["weight"], given["bias"]),
    "addmm": _added,
    "convolution": _convolution,
    "scaled_dot_product_attention": _attention,
    "einsum": _einsum,
    "embedding": lambda given, results: [[*map(_fresh, results[0].shape[:-1]), given["weight"][-1]]],
    "cat": lambda given, _: [list(given["tensors"][0])],
}
