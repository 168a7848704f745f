"""A table of a framework's operators: for each name a function on traced arrays, whose arguments are the operator's, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any, TypeAlias

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Count, canonical, product, shown
from paramsym.errors import NotYetError, ShapeError
from paramsym.program import Value, copies, rearrange, take

Function: TypeAlias = Callable[..., Any]


class Operators:
    """The functions of a framework's operators by name. A function takes every argument of its operator, or the table refuses.

    An argument ``given`` gets the recorded shapes of the results, ``inplace`` whether the operator's name ends in an underscore.
    """

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}

    def __call__(self, *names: str) -> Callable[[Function], Function]:
        """Register a function under names; ``{name}`` in its keyword defaults is not expanded."""

        def registered(function: Function) -> Function:
            self.functions.update(dict.fromkeys(names, function))
            return function

        return registered

    def apply(self, name: str, arguments: Mapping[str, Any], given: Callable[[], Any], where: str) -> tuple[Value, ...]:
        """Apply an operator to traced arrays; return its results, of which the last may be missing.

        Raises:
            NotYetError: an operator, or a form of it, that the table lacks.
        """
        function = self.functions.get(name) or self.functions.get(name.rstrip("_"))
        if function is None:
            raise NotYetError(f"the operator {name} is not known{where}, so the computation cannot be counted; the tensors still can.")
        taken = _parameters(function)
        more: dict[str, Any] = {"given": given()} if "given" in taken else {}
        if "inplace" in taken:
            more["inplace"] = name.endswith("_") and not name.startswith("_")
        other = sorted(arguments.keys() - taken) if "rest" not in taken else []
        if other:
            raise NotYetError(f"the operator {name} is not known with the argument {other[0]}{where}; the tensors still can be counted.")
        result = function(**arguments, **more)
        return result if isinstance(result, tuple) else (result,)


@cache
def _parameters(function: Function) -> frozenset[str]:
    return frozenset(signature(function).parameters)


def reshaped(x: Value, shape: Sequence[Count]) -> Value:
    """Return an array with other axes in the same order of entries: axes are split and merged in the smallest groups that fit.

    Raises:
        ShapeError: a shape with another number of entries.
    """
    moves = list(_grouped(x.sizes, tuple(shape)))
    merged, split, after = [], [], []
    sizes: dict[str, Any] = {}
    for number, (before, behind) in enumerate(moves):
        olds = [f"a{number}_{n}" for n in range(len(before))]
        news = [f"b{number}_{n}" for n in range(len(behind))]
        if before == behind:
            merged.append((olds, olds))
            split.append(olds)
            after.append(olds)
        elif len(before) == 1:
            merged.append((olds, olds))
            split.append(news)
            after.append(news)
            sizes |= dict(zip(news, behind, strict=True))
        else:
            merged.append((olds, None))
            split.append(news if len(news) != 1 else [f"m{number}"])
            after.append(split[-1])
            if len(news) != 1:
                sizes |= dict(zip(news, behind, strict=True))
    if all(before == behind for before, behind in moves):
        return x
    # First axes are merged, then split; a move that only does one of the two is one step.
    both = any(right is None and len(words) != 1 for (_, right), words in zip(merged, split, strict=True))
    if both:
        left = " ".join(" ".join(olds) for olds, _ in merged)
        right = " ".join(" ".join(olds) if right is not None else f"({' '.join(olds)})" for olds, right in merged)
        x = rearrange(x, f"{left} -> {right}")
        return rearrange(x, f"{_sides(split, [_wide(m) for m in moves])} -> {' '.join(' '.join(words) for words in after)}", **sizes)
    left_words, right_words = [], []
    for (olds, right), words, (before, behind) in zip(merged, split, moves, strict=True):
        if before == behind:
            left_words += olds
            right_words += olds
        elif right is None:
            left_words += olds
            right_words.append(f"({' '.join(olds)})")
        else:
            left_words.append(f"({' '.join(words)})")
            right_words += words
    return rearrange(x, f"{' '.join(left_words)} -> {' '.join(right_words)}", **sizes)


def _wide(move: tuple[tuple[Count, ...], tuple[Count, ...]]) -> bool:
    return move[0] != move[1]


def _sides(split: Sequence[Sequence[str]], wide: Sequence[bool]) -> str:
    return " ".join(
        f"({' '.join(words)})" if changed and len(words) != 1 else " ".join(words) for words, changed in zip(split, wide, strict=True)
    )


def _grouped(old: tuple[Count, ...], new: tuple[Count, ...]) -> Iterator[tuple[tuple[Count, ...], tuple[Count, ...]]]:
    """Yield the smallest groups of axes of both shapes that have as many entries."""
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and old[i] == new[j]:
            yield (old[i],), (new[j],)
            i, j = i + 1, j + 1
            continue
        found = next((pair for pair in _steps(len(old) - i, len(new) - j) if _equal(old[i : i + pair[0]], new[j : j + pair[1]])), None)
        if found is None:
            raise ShapeError(f"{shown(old)} cannot be reshaped to {shown(new)}.")
        yield old[i : i + found[0]], new[j : j + found[1]]
        i, j = i + found[0], j + found[1]


def _steps(one: int, other: int) -> Iterator[tuple[int, int]]:
    for total in range(1, one + other + 1):
        for before in range(max(0, total - other), min(one, total) + 1):
            yield before, total - before


def _equal(old: Sequence[Count], new: Sequence[Count]) -> bool:
    return bool(canonical(product(old)) == canonical(product(new)))


def expanded(x: Value, shape: Sequence[Count]) -> Value:
    """Return an array stretched along axes of size 1, and along new leading axes, as a view."""
    lead = len(shape) - x.rank
    if lead:
        words = " ".join(f"a{n}" for n in range(x.rank))
        x = rearrange(x, f"{words} -> {'() ' * lead}{words}")
    for axis, size in enumerate(shape):
        if x.sizes[axis] != size and differ(x.sizes[axis], size) is not None and x.sizes[axis] == 1:
            x = copies(x, size, axis)
    return x


def entry(x: Value, axis: int, index: Count) -> Value:
    """Return one entry along an axis, without the axis; a negative index counts from the end."""
    axis = x.type.axis(axis)
    if isinstance(index, int) and index < 0:
        index = canonical(x.sizes[axis] + index)
    return take(x, axis, index)


def moved(x: Value, order: Sequence[int]) -> Value:
    """Return an array with its axes in another order."""
    if tuple(order) == tuple(range(x.rank)):
        return x
    return rearrange(x, f"{' '.join(f'a{n}' for n in range(x.rank))} -> {' '.join(f'a{n}' for n in order)}")
