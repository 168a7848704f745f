"""One recorded pass of a model: operators in order, inside the modules that called them, with the shapes of all arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from paramsym.algebra.size import Count
from paramsym.program.types import Kind

Graded: TypeAlias = Literal[True, False, "within"]


class Ref(NamedTuple):
    """A recorded array, by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class Array:
    """An array of a recording: its number, its sizes and the kind of its entries; ``data`` are the entries if they are known.

    ``held`` is true for a buffer that the model does not save.
    """

    number: int
    shape: tuple[Count, ...]
    kind: Kind
    data: Any = None
    held: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """One operator that ran. Arguments are by name: numbers, words, ``Ref`` for arrays, and tuples of these.

    ``graded`` is False if the operator ran while gradients were off, and "within" if it ran in a function with a backward pass of its own,
    so that it keeps nothing itself. ``line`` is the line of the model's source that called it.
    """

    name: str
    arguments: Mapping[str, Any]
    results: tuple[Array, ...]
    line: str = ""
    graded: Graded = True


@dataclass(slots=True)
class Called:
    """One call of a module: its path in the model, the name of its class, and what it did."""

    path: str
    kind: str
    items: list[Done | Called | Repeated] = field(default_factory=list)

    def steps(self) -> Iterator[Done]:
        """Yield the operators in order, those of inner calls as well, and of equal copies those of the first one."""
        for item in self.items:
            if isinstance(item, Done):
                yield item
            else:
                yield from item.steps()


@dataclass(slots=True)
class Repeated:
    """Numbered copies that compute the same, one after another: the calls of the first copy, and the number of copies.

    ``place`` is the position in the calls' paths of the number that counts the copies; the next copy's is as much larger as there are
    calls. ``carried`` are, for each call, the arrays that it takes from the call before, and those that it passes on. The results of the
    last copy have the numbers of the first copy's. ``label`` are words for numbers without a constant step.
    """

    calls: list[Called]
    count: Count
    place: int
    carried: tuple[tuple[tuple[int, int], ...], ...]
    label: str = ""

    def steps(self) -> Iterator[Done]:
        """Yield the operators of the first copy."""
        for called in self.calls:
            yield from called.steps()


@dataclass(frozen=True, slots=True)
class Recording:
    """A whole pass. ``stored`` are the names of the model's tensors, all names of a shared tensor, by the number of their array.

    ``constants`` are arrays that depend on neither tensors nor inputs. ``outputs`` are the numbers of the arrays that the model returned.
    """

    inputs: tuple[Array, ...]
    stored: Mapping[int, tuple[str, ...]]
    constants: Mapping[int, Array]
    top: Called
    outputs: tuple[int, ...]
    several: bool

    @property
    def unused(self) -> int:
        """The first number above those of all arrays."""
        made = (array.number for step in self.top.steps() for array in step.results)
        return 1 + max((*self.stored, *self.constants, *(array.number for array in self.inputs), *made), default=-1)


def refs(arguments: Any) -> Iterator[int]:
    """Yield the numbers of the arrays in the arguments of an operator."""
    if isinstance(arguments, Ref):
        yield arguments.number
    elif isinstance(arguments, Mapping):
        for one in arguments.values():
            yield from refs(one)
    elif isinstance(arguments, tuple):
        for one in arguments:
            yield from refs(one)


def repeated_from(made: Mapping[int, Done], number: int) -> int | None:
    """Return the array whose entries an array repeats along an axis that was put in for that; None if it repeats none.

    ``made`` are the operators by the arrays that they give.
    """
    step = made.get(number)
    while step is not None and step.name in _COPIES:
        step = made.get(step.arguments["self"].number)
    if step is None or step.name != "expand":
        return None
    put_in = made.get(step.arguments["self"].number)
    return int(put_in.arguments["self"].number) if put_in is not None and put_in.name == "unsqueeze" else None


def named_at(step: Done, made: Mapping[int, Done], given: Mapping[str, Any]) -> str:
    """Return the name of an operator for its arguments: what puts axes in order copies nothing if only axes of one entry were moved."""
    moved = made.get(step.arguments["self"].number) if step.name == "clone" else None
    if moved is None or moved.name != "transpose":
        return step.name
    sizes, source = given["self"].sizes, made.get(moved.arguments["self"].number)
    while source is not None and source.name in _COPIES:
        source = made.get(source.arguments["self"].number)
    low, high = sorted(moved.arguments[dim] % len(sizes) for dim in ("dim0", "dim1"))
    some = [size for size in sizes[low : high + 1] if size != 1]
    return step.name if len(some) > 1 or source is None or source.name in _STRIDED else "alias"


def with_refs(arguments: Any, put: Callable[[int], Any]) -> Any:
    """Return the arguments of an operator with something else for each array; ``put`` gives it for the array's number."""
    if isinstance(arguments, Ref):
        return put(arguments.number)
    if isinstance(arguments, Mapping):
        return {name: with_refs(one, put) for name, one in arguments.items()}
    return tuple(with_refs(one, put) for one in arguments) if type(arguments) is tuple else arguments


_COPIES = frozenset({"view", "_unsafe_view", "reshape", "clone"})
_STRIDED = frozenset({"transpose", "permute", "t", "expand", "slice", "select", "split", "unbind"})
"""Operators whose results may not have their axes in order."""
