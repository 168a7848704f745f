"""What copies of some operators have in common, and where the numbers and arrays in their arguments are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paramsym.read.recording import Called, Done, Ref


def outline(item: Any) -> Any:
    """Return the modules, operators and shapes of an item of a copy; None if numbered modules in it are repeated."""
    if isinstance(item, Called):
        inside = tuple(map(outline, item.items))
        return None if None in inside else (item.path, item.kind, inside)
    return (item.name, item.graded, [(one.shape, one.kind) for one in item.results]) if isinstance(item, Done) else None


def instead(items: Sequence[Any], body: Mapping[int, Done]) -> list[Any]:
    """Return the items of a copy with other operators, and without those that have none."""
    kept = (item for item in items if isinstance(item, Called) or id(item) in body)
    return [Called(one.path, one.kind, instead(one.items, body)) if isinstance(one, Called) else body[id(one)] for one in kept]


def leaves(arguments: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the numbers, words and arrays in the arguments of an operator, each with the names and places that lead to it."""
    if isinstance(arguments, Mapping):
        for name, one in arguments.items():
            yield from leaves(one, (*path, name))
    elif isinstance(arguments, tuple) and not isinstance(arguments, Ref):
        yield (*path, len(arguments)), len(arguments)
        for place, one in enumerate(arguments):
            yield from leaves(one, (*path, place))
    else:
        yield path, arguments


def put(arguments: Any, changed: Mapping[tuple[Any, ...], Any], path: tuple[Any, ...] = ()) -> Any:
    """Return arguments with other arrays at some of these paths."""
    if isinstance(arguments, Mapping):
        return {name: put(one, changed, (*path, name)) for name, one in arguments.items()}
    if isinstance(arguments, tuple) and not isinstance(arguments, Ref):
        return tuple(put(one, changed, (*path, place)) for place, one in enumerate(arguments))
    return changed.get(path, arguments)
