"""Sets of indices as laws: all, a range, where a list has a word, every so many, and those combined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from atlas_builder.fitting import Fitter, NoFitError, compares

from paramsym.atlas.expression import OutsideError, evaluated
from paramsym.atlas.indices import indices, law

_MOST_REMAINDERS = 3
_MOST_WORDS = 32
_FEWEST = 3  # samples of a case

Sets: TypeAlias = Mapping[int, frozenset[int]]
"""The indices that are there, by the position of the sample."""


def set_law(fitter: Fitter, sets: Sets, bounds: Mapping[int, int]) -> Any:
    """Return the law of sets of indices below bounds.

    Raises:
        NoFitError: none was found.
    """
    key = (*sets.items(), *bounds.items())
    if key not in fitter.sets:
        fitter.sets[key] = _found(fitter, sets, bounds) or _by_cases(fitter, sets, bounds)
    if fitter.sets[key] is None:
        odd = [(sorted(here), bounds[i]) for i, here in sets.items() if len(here) != bounds[i]][:3]
        message = f"no law says which copies there are, such as {odd}"
        raise NoFitError(message)
    return fitter.sets[key]


def _found(fitter: Fitter, sets: Sets, bounds: Mapping[int, int]) -> Any:
    if all(len(here) == bounds[i] for i, here in sets.items()):
        return ["all"]
    found = _told(fitter, sets, bounds) or _plain(fitter, sets, bounds)
    if found is None:
        rest = {i: frozenset(range(bounds[i])) - here for i, here in sets.items()}
        inverse = _plain(fitter, rest, bounds) if any(sets.values()) else ["all"]
        found = None if inverse is None else ["not", inverse]
    return found


def _told(fitter: Fitter, sets: Sets, bounds: Mapping[int, int]) -> Any:
    """Return a set that was told, or what it leaves out: tried before laws that agree by chance."""
    for what in (one for told in fitter.told.sets for one in (told, ["not", told])):
        with suppress(OutsideError):
            if all(_members(fitter, what, i, bounds[i]) == here for i, here in sets.items()):
                return what
    return None


def _by_cases(fitter: Fitter, sets: Sets, bounds: Mapping[int, int]) -> Any:
    """Return a law for each answer of a test about a key that alone changes the sets; None without such a test."""
    causes = {key for i, j, key in fitter.lines if i in sets and j in sets and bounds[i] == bounds[j] and sets[i] != sets[j]}
    for test in (one for one in fitter.tests if one in fitter.answers and one[1] in causes and not compares(one)):
        groups: dict[Any, dict[int, frozenset[int]]] = {}
        for i, here in sets.items():
            groups.setdefault(fitter.answers[test][i], {})[i] = here
        if len(groups) < 2 or min(map(len, groups.values())) < _FEWEST:
            continue
        cases = []
        for seen, group in groups.items():
            law_of_group = _found(fitter, group, bounds)
            if law_of_group is None:
                break
            cases.append([[seen], law_of_group])
        else:
            return ["?", [list(test)], cases]
    return None


def _plain(fitter: Fitter, sets: Sets, bounds: Mapping[int, int]) -> Any:
    found = _range(fitter, sets)
    if found is not None:
        return found
    laws = list(index_laws(fitter))
    for what in laws:
        values = _separates(fitter, what, sets, bounds)
        if values is not None:
            return ["where", what, values]
    for first in laws:
        if first[0] not in {"member", "entry"}:
            continue
        for inverse in (False, True):
            outer = _superset(fitter, first, sets, bounds, inverse=inverse)
            if outer is None:
                continue
            try:
                inside = {i: _members(fitter, outer, i, bounds[i]) for i in sets}
            except OutsideError:
                continue
            for second in laws:
                if second[0] in {"mod", "from", "entry"} and second != first:
                    values = _separates(fitter, second, sets, bounds, inside)
                    if values is not None:
                        return ["both", outer, ["where", second, values]]
            before = _before_the_last(fitter, sets, bounds, inside)
            if before is not None:
                return ["both", outer, before]
    return _periodic_range(fitter, sets, bounds, laws)


def _members(fitter: Fitter, what: Any, i: int, bound: int) -> frozenset[int]:
    return frozenset(indices(fitter.samples[i], what, bound))


def _before_the_last(fitter: Fitter, sets: Sets, bounds: Mapping[int, int], inside: Sets) -> Any:
    """Return the range without the last copies, if the number of left-out copies is a key and the range gives these sets."""
    for key in (key for key in fitter.columns if isinstance(key, str) and key not in fitter.floats and _small(fitter, key)):
        column = fitter.columns[key]
        if all(
            column[i] is not None and 0 <= column[i] <= bounds[i] and here == frozenset(k for k in inside[i] if k < bounds[i] - column[i])
            for i, here in sets.items()
        ):
            with suppress(NoFitError):
                return ["range", 0, fitter.fit({i: bounds[i] - column[i] for i in sets}, 0)]
    return None


def _superset(fitter: Fitter, what: Any, sets: Sets, bounds: Mapping[int, int], *, inverse: bool) -> Any:
    """Return a set that holds all the sets, made from one law; None if it is all there is."""
    values: dict[Any, None] = {}
    try:
        for i, here in sets.items():
            for index in here:
                values[law(fitter.samples[i], what, index, bounds[i])] = None
    except OutsideError:
        return None
    if what[0] == "member" and set(values) == {not inverse}:
        return ["where", what, list(values)]
    return ["where", what, sorted(values, key=str)] if what[0] == "entry" and not inverse else None


def _periodic_range(fitter: Fitter, sets: Sets, bounds: Mapping[int, int], laws: list[Any]) -> Any:
    """Return a law of every so many copies from a start on."""
    try:
        low = fitter.fit({i: min(here) for i, here in sets.items() if here}, 0)
        starts = {i: max(0, evaluated(fitter.samples[i], low)) for i in sets}
    except (NoFitError, OutsideError):
        return None
    inside = {i: frozenset(range(start, bounds[i])) for i, start in starts.items()}
    for what in laws:
        if what[0] in {"mod", "from", "entry"}:
            values = _separates(fitter, what, sets, bounds, inside)
            if values is not None:
                return ["both", ["not", ["range", 0, low]], ["where", what, values]]
    return None


def _range(fitter: Fitter, sets: Sets) -> Any:
    held = {i: here for i, here in sets.items() if here}
    if not held or any(max(here) - min(here) + 1 != len(here) for here in held.values()):
        return None
    try:
        low = fitter.fit({i: min(here) for i, here in held.items()}, 0)
        high = fitter.fit({i: max(here) + 1 for i, here in held.items()}, 0)
        for i, here in sets.items():
            values = fitter.samples[i]
            if frozenset(range(evaluated(values, low), evaluated(values, high))) != here:
                return None
    except (NoFitError, OutsideError):
        return None
    return ["range", low, high]


def index_laws(fitter: Fitter) -> Iterator[Any]:
    """Yield the laws that an index may follow."""
    yield ["last"]
    for key in fitter.lists:
        yield ["member", key]
        yield ["entry", key]
    small = [key for key in fitter.columns if isinstance(key, str) and key not in fitter.floats and _small(fitter, key)]
    for modulus in [*small, 2, 3, 4, 5, 6, 8]:
        for shift in (0, 1):
            yield ["mod", modulus, shift]
    for modulus in small:
        for shift in small:
            if modulus != shift:
                yield ["from", modulus, shift]
    for one in small:
        for other in [*small, 2, 3, 4]:
            if one != other:
                for shift in (0, 1):
                    yield ["mod", ["max", 1, ["//", one, other]], shift]


def _small(fitter: Fitter, key: str) -> bool:
    values = [value for value in fitter.columns[key] if value is not None]
    return bool(values) and sorted(values)[len(values) // 2] <= 40


def _separates(fitter: Fitter, what: Any, sets: Sets, bounds: Mapping[int, int], inside: Sets | None = None) -> list[Any] | None:
    """Return the values that a law has on the sets and nowhere else below the bounds."""
    within: dict[Any, None] = {}
    without: dict[Any, None] = {}
    most = _MOST_REMAINDERS if what[0] in {"mod", "from"} else _MOST_WORDS
    try:
        for i, here in sets.items():
            if len(within) > most:
                return None
            for index in range(bounds[i]) if inside is None else sorted(inside[i] | here):
                if inside is not None and index not in inside[i]:
                    return None
                value = law(fitter.samples[i], what, index, bounds[i])
                (within if index in here else without)[value] = None
                if value in within and value in without:
                    return None
    except (OutsideError, TypeError):
        return None
    return sorted(within, key=str) if within and len(within) <= most else None


def divisions(fitter: Fitter, bounds: Mapping[int, int]) -> Iterator[Callable[[int, int], Any]]:
    """Yield ways to divide copies into kinds: what a law gives each index of each sample."""
    yield partition(fitter, bounds)
    for what in fitter.told.sets:
        yield lambda i, index, what=what: index in indices(fitter.samples[i], what, bounds[i])
    yield lambda _i, index: index == 0
    for what in [["last"], ["ends"], *index_laws(fitter)]:  # two kinds before three
        yield lambda i, index, what=what: law(fitter.samples[i], what, index, bounds[i])
    for key in fitter.columns:
        if isinstance(key, str) and key not in fitter.floats and _small(fitter, key):
            yield lambda i, index, column=fitter.columns[key]: index >= bounds[i] - column[i]
            yield lambda i, index, column=fitter.columns[key]: index >= column[i]


def partition(fitter: Fitter, bounds: Mapping[int, int]) -> Callable[[int, int], int]:
    """Return the division of copies by the first of the told parts that holds them."""
    held: dict[int, dict[int, int]] = {}

    def kind(i: int, index: int) -> int:
        if i not in held:
            sets = [_members(fitter, what, i, bounds[i]) for what in fitter.told.parts]
            held[i] = {one: next((place for place, here in enumerate(sets) if one in here), -1) for one in range(bounds[i])}
        return held[i][index]

    return kind
