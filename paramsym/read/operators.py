"""A table of a framework's operators: for each name a function on traced arrays, whose arguments are the operator's, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any, TypeAlias

from paramsym.algebra.size import Count, canonical, product, shown
from paramsym.errors import NotYetError, ParamsymError, ShapeError
from paramsym.program import Value, copies, rearrange, region, take

Function: TypeAlias = Callable[..., Any]


class Operators:
    """The functions of a framework's operators by name.

    A function names the arguments that decide its result. Arguments that only decide where or how torch computes are listed as ignored; any
    other argument is refused. An argument ``given`` gets the recorded shapes of the results, ``inplace`` whether the operator's name ends
    in an underscore, ``operator`` the name itself.
    """

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.taken: dict[Function, frozenset[str]] = {}

    def __call__(self, *names: str, ignored: str = "") -> Callable[[Function], Function]:
        """Register a function under the names of operators; ``ignored`` are arguments that do not decide the result."""

        def registered(function: Function) -> Function:
            self.functions.update(dict.fromkeys(names, function))
            self.taken[function] = frozenset(ignored.split())
            return function

        return registered

    def apply(
        self, name: str, arguments: Mapping[str, Any], given: Callable[[], Any], where: str, *, keeping: bool = True
    ) -> tuple[Value, ...]:
        """Apply an operator to traced arrays; return its results, of which the last may be missing.

        Without ``keeping`` it keeps nothing for the backward pass.

        Raises:
            NotYetError: an operator, or a form of it, that the table lacks or cannot take.
        """
        function = self.functions.get(name) or self.functions.get(name.rstrip("_"))
        if function is None:
            raise NotYetError(f"the operator {name} is not known{where}, so the computation cannot be counted; the tensors still can.")
        taken = _parameters(function)
        more: dict[str, Any] = {"given": given()} if "given" in taken else {}
        if "inplace" in taken:
            more["inplace"] = name.endswith("_") and not name.startswith("_")
        if "operator" in taken:
            more["operator"] = name
        decisive = {key: one for key, one in arguments.items() if key not in self.taken[function]}
        other = sorted(decisive.keys() - taken) if "rest" not in taken else []
        if other:
            raise NotYetError(f"the operator {name} is not known with the argument {other[0]}{where}; the tensors still can be counted.")
        try:
            result = function(**decisive, **more) if keeping else region(name, lambda: function(**decisive, **more), keeps=())
        except ParamsymError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError) as error:  # an argument of a kind that nobody has thought of
            raise NotYetError(f"the operator {name} is not known with these arguments{where}; the tensors still can be counted.") from error
        return result if isinstance(result, tuple) else (result,)


@cache
def _parameters(function: Function) -> frozenset[str]:
    return frozenset(signature(function).parameters)


def reshaped(x: Value, shape: Sequence[Count]) -> Value:
    """Return an array with other axes in the same order of entries: axes are merged and split in the smallest groups that fit.

    Raises:
        ShapeError: a shape with another number of entries.
    """
    moves = list(_grouped(x.sizes, tuple(shape)))
    if any(len(before) > 1 and len(behind) > 1 for before, behind in moves):  # axes are merged before they are split
        moved = [(before, before if len(before) < 2 or len(behind) < 2 else (_product(before),)) for before, behind in moves]
        x = _regrouped(x, moved)
        moves = list(_grouped(x.sizes, tuple(shape)))
    return _regrouped(x, moves)


def flat(x: Value) -> Value:
    """Return all entries along one axis."""
    return reshaped(x, (_product(x.sizes),))


def _regrouped(x: Value, moves: Sequence[tuple[tuple[Count, ...], tuple[Count, ...]]]) -> Value:
    """Merge or split the axes of each group; a group of one axis before or after."""
    if all(before == behind for before, behind in moves):
        return x
    left, right = [], []
    sizes: dict[str, Any] = {}
    for number, (before, behind) in enumerate(moves):
        if not before or not behind:  # axes of size 1
            left += ["()"] * len(before)
            right += ["()"] * len(behind)
            continue
        words = [f"a{number}_{n}" for n in range(max(len(before), len(behind)))]
        joined = f"({' '.join(words)})"
        left += words if len(before) == len(words) else [joined]
        right += words if len(behind) == len(words) else [joined]
        if len(behind) == len(words) != len(before):
            sizes |= dict(zip(words, behind, strict=True))
    return rearrange(x, f"{' '.join(left)} -> {' '.join(right)}", **sizes)


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
    return bool(_product(old) == _product(new))


def _product(sizes: Sequence[Count]) -> Count:
    return canonical(product(sizes))


def expanded(x: Value, shape: Sequence[Count]) -> Value:
    """Return an array stretched along axes of size 1, and along new leading axes, as a view."""
    lead = len(shape) - x.rank
    if lead:
        words = " ".join(f"a{n}" for n in range(x.rank))
        x = rearrange(x, f"{words} -> {'() ' * lead}{words}")
    for axis, size in enumerate(shape):
        if x.sizes[axis] == 1 != size:
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
