"""Changes of shape: axes split, merged, moved, cut, joined, padded. None of them computes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, TypeAlias

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Axis, Dim, canonical, extent, factors_of, per, product, shown
from paramsym.errors import RankError, ShapeError, StructureError
from paramsym.program.graph import Operation, Unchanged
from paramsym.program.slices import take
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, Open

Groups: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Rearrange(Operation):
    """Axes split, moved and merged, in the notation of einops; ``sizes`` are those of the words in brackets on the left."""

    view = True

    pattern: str
    sizes: tuple[tuple[str, Axis], ...] = ()

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        moved = _moved(self.pattern, len(x.shape))
        if moved is not None:
            return (x.moved(moved),)
        left, right = groups(self.pattern)
        found = axes_of_words(self.pattern, left, x, dict(self.sizes))
        return (ArrayType(tuple([found[group[0]] if len(group) == 1 else _merged(group, found) for group in right]), x.kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        left, right = groups(self.pattern)
        known = {word: int(extent(size)) for word, size in self.sizes}
        for group, size in zip(left, x.shape, strict=True):
            if len(group) == 1:
                known[group[0]] = size
        order = [word for group in left for word in group]
        moved = x.reshape([known[word] for word in order])
        moved = xp.transpose(moved, [order.index(word) for group in right for word in group])
        return moved.reshape([prod(known[word] for word in group) for group in right])

    def __str__(self) -> str:
        return f"rearrange {' '.join(self.pattern.split())!r}"


@dataclass(frozen=True, slots=True)
class Diagonal(Operation):
    """The entries whose positions on two axes differ by ``offset``; a new last axis replaces the two."""

    view = True

    count: Dim
    axes: tuple[int, int] = (-2, -1)
    offset: int = 0

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        gone = {x.axis(axis) for axis in self.axes}
        return (ArrayType((*(axis for n, axis in enumerate(x.shape) if n not in gone), self.count), x.kind),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.diagonal(arrays[0], self.offset, *self.axes)


@dataclass(frozen=True, slots=True)
class Named(Unchanged):
    """The words for the axes of an array; they say which axis is the batch and which axes are spatial."""

    view = True

    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"axes {' '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class Known(Unchanged):
    """An array with sizes stated in another form: open sizes, or quotients that a layer's conditions make exact."""

    view = True

    type: ArrayType

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:  # noqa: ARG002 - the type is stated
        return (self.type,)


def rearrange(x: Value, pattern: str, /, **sizes: Dim) -> Value:
    """Split, move and merge axes: ``rearrange(x, "b s (a d) -> b a s d", a=heads)``; ``...`` means any number of axes.

    The factors of an axis are used if they fit the words in brackets; the size of one word may be left out, and is then an exact quotient.
    The axes of ``...`` do not change.

    Raises:
        ShapeError: a wrong number of axes; an axis that is not divisible by the given sizes.
    """
    left, _ = groups(pattern)
    if ("...",) in left:
        pattern = pattern.replace("...", " ".join(f"axis{n}" for n in range(x.rank - len(left) + 1)))
    plain = _unsized(pattern)
    if plain is not None:
        return record(plain, x)
    left, _ = groups(pattern)
    found = axes_of_words(pattern, left, x.type, sizes)
    return record(Rearrange(pattern, tuple([(word, found[word]) for group in left if len(group) != 1 for word in group])), x)


@lru_cache(maxsize=1 << 10)
def _unsized(pattern: str) -> Rearrange | None:
    """Return the operation if it needs no sizes, because no axis on the left is split."""
    left, _ = groups(pattern)
    return Rearrange(pattern) if all(len(group) == 1 for group in left) else None


def axes(x: Value, words: str, /, **sizes: Dim) -> tuple[Value, Callable[[Value], Value]]:
    """Name the axes of an input and check them: ``axes(x, "[batch] channels height width", channels=C)``.

    ``[batch]`` may be missing in the input. Return the array with all named axes, and a function that removes an added batch axis from a
    result.

    Raises:
        ShapeError: a wrong number of axes, or another size than the given one; the message lists the wanted axes.
    """
    names, optional = _named(words)
    alone = optional is not None and x.rank == len(names) - 1
    full = tuple(name for n, name in enumerate(names) if n != optional) if alone else names
    # If a size differs from the given one, or the first size is open, the array is read as a batch without one of its axes.
    if x.rank != len(full) or (alone and not _fit(dict(zip(full, x.sizes, strict=True)), sizes)):
        raise wrong_axes(x.sizes, names, optional, sizes)
    for name, wanted in sizes.items():
        position = full.index(name)
        found = x.sizes[position]
        if found is not wanted and differ(found, wanted):
            message = f"axis {position} ({name}) is {found}; wanted {canonical(wanted)}."
            if name == "channels" and x.sizes[1 if position == x.rank - 1 else -1] == wanted:
                message += f" The shape looks like one with the channels {'first' if position == x.rank - 1 else 'last'}."
            raise ShapeError(message)
    if not alone:
        return record(_words_of(names), x), _unchanged
    assert optional is not None  # noqa: S101 - for the type checker; only an optional axis can be missing
    position = optional
    plain = [f"a{n}" for n in range(x.rank)]
    added = rearrange(x, f"{' '.join(plain)} -> {' '.join((*plain[:position], '()', *plain[position:]))}")
    return record(Named((*names[:position], "one", *names[position + 1 :])), added), lambda y: take(y, position)


_words_of = lru_cache(maxsize=1 << 8)(Named)


@lru_cache(maxsize=1 << 8)
def _named(words: str) -> tuple[tuple[str, ...], int | None]:
    """Return the words for axes, and the position of the word in brackets, whose axis may be missing."""
    listed = words.split()
    return tuple(word.strip("[]") for word in listed), next((n for n, word in enumerate(listed) if word.startswith("[")), None)


def _fit(found: Mapping[str, Dim], wanted: Mapping[str, Dim]) -> bool:
    """Return whether an array of these sizes is one example: the sizes are the wanted ones, and the first is known."""
    return not isinstance(next(iter(found.values()), 0), Open) and all(
        canonical(wanted[name]) == found[name] for name in wanted if name in found
    )


def features(x: Value, *sizes: Axis) -> Value:
    """Check the last axes of an input and return it.

    Raises:
        ShapeError: too few axes, or a last axis of another size.
    """
    if x.rank < len(sizes):
        raise RankError(f"wanted at least {len(sizes)} axes, the last of {extent(sizes[-1])}; found {x.rank}.")
    for found, wanted in zip(x.sizes[x.rank - len(sizes) :], sizes, strict=True):
        if found is not wanted and differ(found, extent(wanted)):
            raise ShapeError(f"the last axis has {found} entries; wanted {extent(wanted)}, in {shown(x.sizes)}.")
    return x


def known(x: Value, *shape: Axis) -> Value:
    """State the axes of an array if the layer knows their sizes in a better form: an image cut into patches has W/p rows of patches.

    Raises:
        ShapeError: axes that cannot be those of the array.
    """
    stated = ArrayType(shape, x.type.kind)
    if len(shape) != x.rank or any(map(differ, stated.sizes, x.sizes)):
        raise ShapeError(f"the array has the axes {shown(x.sizes)}; the layer states {shown(stated.sizes)}.")
    return record(Known(stated), x)


def heads(x: Value, axis: int = -1) -> Value:
    """Split an axis into its factors: (batch, positions, (heads, width)) becomes (batch, positions, heads, width)."""
    position = x.type.axis(axis)
    count = len(factors_of(x.shape[position]))
    factors = ["a", "d", *(f"d{n}" for n in range(count))][:count]
    plain = ["b", "s", *(f"s{n}" for n in range(x.rank))][: x.rank]
    apart = " ".join((*plain[:position], *factors, *plain[position + 1 :]))
    plain[position] = f"({' '.join(factors)})"
    return x if len(factors) == 1 else rearrange(x, f"{' '.join(plain)} -> {apart}")


def _merged(words: tuple[str, ...], found: Mapping[str, Axis]) -> Axis:
    """Return one axis with the factors of several axes; without any, an axis of size 1."""
    factors = tuple(factor for word in words for factor in factors_of(found[word]))
    return factors[0] if len(factors) == 1 else factors or 1


@lru_cache(maxsize=1 << 10)
def groups(pattern: str) -> tuple[Groups, Groups]:
    """Return the words of both sides, those of one axis together; ``()`` is an axis of size 1.

    >>> groups("b s (a d) -> b a s d")
    ((('b',), ('s',), ('a', 'd')), (('b',), ('a',), ('s',), ('d',)))
    """

    def side(words: str) -> Groups:
        found: list[tuple[str, ...]] = []
        inside: list[str] | None = None
        for word in words.replace("(", " ( ").replace(")", " ) ").split():
            if word == "(":
                inside = []
            elif word == ")":
                found.append(tuple(inside or ()))
                inside = None
            elif inside is not None:
                inside.append(word)
            else:
                found.append((word,))
        return tuple(found)

    left, _, right = pattern.partition("->")
    return side(left), side(right)


@lru_cache(maxsize=1 << 10)
def _moved(pattern: str, rank: int) -> tuple[int | None, ...] | None:
    """Return the position from which a pattern takes each axis, None for a new axis; None if it splits or merges axes or does not fit."""
    left, right = groups(pattern)
    if len(left) != rank or any(len(group) != 1 for group in left) or any(len(group) > 1 for group in right):
        return None
    return tuple(left.index(group) if group else None for group in right)


def axes_of_words(pattern: str, left: Groups, x: ArrayType, sizes: Mapping[str, Axis]) -> dict[str, Axis]:
    """Return the axis of every word of the left side.

    Raises:
        ShapeError: a wrong number of axes, or sizes that do not fit.
    """
    if len(left) != len(x.shape):
        raise RankError(f"{pattern!r} wants {len(left)} axes; found {len(x.shape)}, {shown(x.sizes)}.")
    found: dict[str, Axis] = dict(sizes)
    for words, axis, size in zip(left, x.shape, x.sizes, strict=True):
        factors = factors_of(axis)
        if len(words) == 1:
            found[words[0]] = axis
        elif len(factors) == len(words) and not sizes.keys() & set(words):
            found |= dict(zip(words, factors, strict=True))
        else:
            found |= _completed(pattern, words, size, found)
    return found


def _completed(pattern: str, words: tuple[str, ...], size: Dim, found: dict[str, Axis]) -> dict[str, Axis]:
    """Compute the size of the one word of a group whose size is not given."""
    unknown = [word for word in words if word not in found]
    known = product(extent(found[word]) for word in words if word in found)
    if len(unknown) > 1:
        raise StructureError(f"{pattern!r} gives no sizes for {', '.join(unknown)}; give all of them but one.")
    if not unknown:
        if differ(size, known):
            raise ShapeError(f"an axis of {size} is not {' x '.join(words)} = {known}, in {pattern!r}.")
        return {}
    if isinstance(size, int) and isinstance(known, int) and (known == 0 or size % known):
        raise ShapeError(f"an axis of {size} cannot be split into {' x '.join(words)} with {known} given, in {pattern!r}.")
    return {unknown[0]: 0 if size == 0 else canonical(per(size, known))}


def wrong_axes(found: tuple[Dim, ...], names: tuple[str, ...], optional: int | None, sizes: dict[str, Dim]) -> RankError:
    """Return the error for an input with a wrong number of axes; it has the number of spatial axes if one is missing."""
    spatial = [name for name in names if name not in {"batch", "channels"}]
    rest = [name for position, name in enumerate(names) if position != optional]
    alone = f", or ({', '.join(rest)}) without a batch" if optional is not None else ""
    wanted = "".join(f", with {canonical(size)} {name}" for name, size in sizes.items())
    message = f"wanted ({', '.join(names)}){alone}{wanted}; found {len(found)} axes, {shown(found)}."
    missing = "channels" in names and len(found) == len(names) - 1
    if missing:
        message += f" An axis is missing: {' or '.join(spatial[:1])} or channels."
    error = RankError(message)
    if missing:
        error.rank = len(spatial)  # type: ignore[attr-defined]
    return error


def _unchanged(x: Value) -> Value:
    return x
