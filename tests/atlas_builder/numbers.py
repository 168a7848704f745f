"""Find the keys whose numbers are arguments of operators, and those on which entries depend otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import numpy as np
from atlas_builder.seeing import Search, Seen

from paramsym.atlas.common_keys import COMMON
from paramsym.atlas.domain import verified
from paramsym.atlas.letters import name_of
from paramsym.atlas.numbers import POWERS, applied
from paramsym.atlas.values import Value

_NEAR = 1e-9
_TOKENS = {"words": [None], "whole": [0, 1 << 31]}
_LEFT = "padding_idx"
"""An argument on which no result depends, only a gradient."""


class OtherError(Exception):
    """What a key changes besides the arguments of operators that are its number."""


def found(search: Search, known: frozenset[str]) -> tuple[list[list[Any]], dict[str, Value]]:
    """Return the keys with the arguments that are their numbers, and the keys of which one value is known; ``known`` have other rules."""
    keys = [key for key in (*search.keys, *tokens_of(search)) if key in search.resolved and key not in known and _is_free(search, key)]
    others = {key: dict(_others(search, key)) for key in keys}
    listed = sorted((key for key, values in others.items() if values), key=lambda key: type(search.resolved[key]).__name__)
    alone = {key for key, values in others.items() if not values and _takes_lists(search.keys.get(key, {}))}
    claims: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for _, group in groupby(listed, key=lambda key: type(search.resolved[key])):
        for key, arguments in _arguments(search, [*group], others):
            if arguments is None:
                alone.add(key)
            else:
                claims[key] = arguments
    places = [place for arguments in claims.values() for listed in arguments.values() for place in listed]
    alone |= {key for key, arguments in claims.items() if any(places.count(place) > 1 for listed in arguments.values() for place in listed)}
    numbers = [
        [key, search.resolved[key], of, sorted(map(list, places))]
        for key, arguments in sorted(claims.items())
        for of, places in sorted(arguments.items())
        if key not in alone
    ]
    return numbers, {key: search.resolved[key] for key in sorted(alone)}


def tokens_of(search: Search) -> list[str]:
    """Return the keys that name tokens; no record of tensors has them."""
    names = {*COMMON["names a token"].split()} - {"prefix"}
    return [key for key in search.resolved if key.rpartition(".")[2] in names and key not in search.keys]


def _is_free(search: Search, key: str) -> bool:
    form = search.form
    rates = {one for _, _, _, keys, _ in form.get("dropout", ()) for one in keys} | {*form.get("undropped", ())}
    held = {*form["held"], *rates, *(order["depth"] for order in form.get("layers", ()))}
    value = search.resolved[key]
    plain = value is None or isinstance(value, bool | int | float)
    return plain and key not in held and name_of(key) not in form["base"] and "use_cache" not in key


def _takes_lists(domain: Mapping[str, Any]) -> bool:
    return "entries" in domain


def _others(search: Search, key: str) -> Iterator[tuple[int, Value]]:
    """Yield another value of a key for each place in a group, which tells the keys of a group apart."""
    value, domain = search.resolved[key], search.keys.get(key, _TOKENS)
    for place in range(len(search.keys)):
        share = 1 + 1 / 64 + place / 128
        tried: Sequence[Value]
        if isinstance(value, bool):
            tried = (not value,)
        elif value is None:
            tried = (share / 2, 2 + place)
        elif isinstance(value, int):
            tried = (value + 1 + place, value + 1)
        else:
            tried = (value * share if value else share / 128, value * (2 - share) if value else share / 128)
        for one in tried:
            with suppress(Exception):
                if verified(domain, one):
                    yield place, one
                    break


def _arguments(
    search: Search, keys: Sequence[str], others: Mapping[str, Mapping[int, Value]]
) -> Iterator[tuple[str, dict[str, list[tuple[int, str]]] | None]]:
    """Yield the arguments that are functions of each key, by function; None for a key that changes something else."""
    changed = {key: others[key].get(place, next(iter(others[key].values()))) for place, key in enumerate(keys)}
    try:
        claimed = _claimed(search, changed)
    except Exception:  # noqa: BLE001 - somebody else's code may raise anything
        if len(keys) == 1:
            yield keys[0], None
            return
        for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
            yield from _arguments(search, half, others)
        return
    yield from claimed.items()


def _claimed(search: Search, changed: Mapping[str, Value]) -> dict[str, dict[str, list[tuple[int, str]]]]:
    first, second = search.first, search.seen(changed)
    if not _same_entries(first, second):
        raise OtherError("entries")
    claims: dict[str, dict[str, list[tuple[int, str]]]] = {}
    if first.steps.keys() != second.steps.keys():
        raise OtherError("operators")
    for number, step in first.steps.items():
        other = second.steps[number]
        for name, value in step.arguments.items():
            new = other.arguments.get(name)
            if name == _LEFT:
                continue
            if not _is_number(value) or not _is_number(new):
                if _numbers(value) != _numbers(new):
                    raise OtherError(name)
                continue
            if value == new:
                continue
            fitting = [
                (key, of) for key, one in changed.items() for of in POWERS if _fits(of, search.resolved[key], value) and _fits(of, one, new)
            ]
            if len(fitting) != 1:
                raise OtherError(name)
            ((key, of),) = fitting
            claims.setdefault(key, {}).setdefault(of, []).append((number, name))
    return claims


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(value: Any) -> Any:
    """Return an argument without its arrays."""
    if isinstance(value, Mapping):
        return {name: _numbers(one) for name, one in value.items()}
    if type(value) is tuple:
        return tuple(map(_numbers, value))
    return value if value is None or isinstance(value, bool | int | float | str) else None


def _fits(of: str, number: Value, argument: Any) -> bool:
    if not _is_number(number) or (POWERS[of] < 1 and number <= 0):
        return False
    wanted = applied(of, number)
    return abs(wanted - argument) <= _NEAR * abs(argument) and (
        of not in {"", "negative"} or type(argument) is type(number) or argument == wanted
    )


def _same_entries(first: Seen, second: Seen) -> bool:
    if first.entries.keys() != second.entries.keys():
        return False
    pairs = ((one, second.entries[number]) for number, one in first.entries.items())
    return all((one is None and other is None) or (one is not None and other is not None and _equal(one, other)) for one, other in pairs)


def _equal(one: Any, other: Any) -> bool:
    return np.shape(one) == np.shape(other) and bool(np.array_equal(np.asarray(one), np.asarray(other)))
