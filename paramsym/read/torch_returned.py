"""What a torch module returned: its arrays, and the cache that it returned for its next step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from paramsym.read.recording import Called, Done, Ref

_CACHES = ("past", "cache")
_STATES = frozenset({"mems", "state", "states"})
"""Parts of names, and whole names, under which models return what they keep for their next step."""
_PLAIN = (bool, int, float, complex, str, bytes, type, type(None))


def arrays(torch: Any, result: Any, inside: frozenset[int] = frozenset()) -> Iterator[Any]:
    """Yield the arrays in tuples, dictionaries and dataclasses, in order."""
    if isinstance(result, torch.Tensor):
        yield result
    elif id(result) not in inside:
        for _, one in _entries(result):
            yield from arrays(torch, one, inside | {id(result)})


def cached(torch: Any, result: Any, name: str = "", inside: frozenset[int] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a cache with the last words of their names: entries of such a name, and objects of a class of caches."""
    if id(result) in inside:
        return
    for word, one in _entries(result):
        if _is_cache(word) or "cache" in type(one).__name__.lower():
            yield from _named(torch, one, word or name or "cache", frozenset())
        else:
            yield from cached(torch, one, word, inside | {id(result)})


def _is_cache(name: str) -> bool:
    return name in _STATES or any(word in name.lower() for word in _CACHES)


def _entries(one: Any) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a tuple, dictionary or dataclass; a place in a tuple is no name."""
    if isinstance(one, Mapping):
        yield from ((str(key), each) for key, each in one.items())
    elif isinstance(one, list | tuple):
        yield from zip(getattr(one, "_fields", [""] * len(one)), one, strict=True)
    else:
        yield from ((name, getattr(one, name)) for name in getattr(one, "__dataclass_fields__", ()))


def _named(torch: Any, one: Any, name: str, inside: frozenset[int]) -> Iterator[tuple[str, Any]]:
    if isinstance(one, torch.Tensor):
        yield name, one
    elif id(one) not in inside and not isinstance(one, _PLAIN):
        listed = list(_entries(one)) or list(getattr(one, "__dict__", {}).items())
        for word, each in listed:
            yield from _named(torch, each, word or name, inside | {id(one)})


def remember(top: Called, kept: Mapping[int, str]) -> None:
    """Say in a recording, beside the operator that made an array, that the array is kept for the next step."""
    items: list[Any] = []
    for item in top.items:
        items.append(item)
        if isinstance(item, Called):
            remember(item, kept)
        elif isinstance(item, Done):
            made = [array.number for array in item.results if array.number in kept]
            items += [Done("remember", {"self": Ref(number), "name": kept[number]}, ()) for number in made]
    top.items[:] = items
