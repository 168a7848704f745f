"""Sizes in letters: a module is recorded at several sizes, and every number that varies gets the expression that explains it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from sympy import Expr, Integer, Symbol

from paramsym.algebra.size import Count, Dim, canonical, per, substitute, symbols_in
from paramsym.derive.fit import Fitter
from paramsym.derive.points import Points
from paramsym.errors import ArgumentError, NoLawError, NotYetError, ParamsymError
from paramsym.read.recording import Array, Called, Done, Recording, Ref

Shapes = Sequence[tuple[Dim, ...]]


class Varying(NamedTuple):
    """A number of a recording at every point."""

    at: tuple[int, ...]


@dataclass(frozen=True)
class Found:
    """A module recorded at several points; ``merged`` has a ``Varying`` for each number that is not the same at all points."""

    letters: tuple[Symbol, ...]
    at: tuple[Mapping[str, int], ...]
    merged: Recording


_BASES = ((3, 10), (2, 32), (2, 64), (2, 224), (2, 96), (2, 128), (2, 256), (1, 224))
"""Sizes that are tried first: of the first axis of the first input, and of all other letters."""
_MORE = (1, 2, 3, 5, 7, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 224)
_FAR = (1021, 509, 253)
"""Steps to a size far away, which refute laws that hold for small sizes only, such as a padding to 256 positions."""
_ON_A_LINE = 5
_MIXED = 4
_SMALL = 16
"""Below it, letters get different sizes; larger ones may have to be multiples of the same number."""


def points(record: Callable[[Sequence[tuple[int, ...]]], Recording], shapes: Shapes) -> Found:
    """Record at several sizes of the letters: on a line for each letter, and at points where all letters are changed.

    Raises:
        ArgumentError: a letter of which the module takes only one of the sizes that were tried.
        NotYetError: a letter that changes which operators there are.
    """
    letters = tuple(sorted(symbols_in(tuple(shapes)), key=lambda symbol: symbol.name))

    def at(sizes: Mapping[Symbol, int]) -> Recording:
        put = {symbol: Integer(number) for symbol, number in sizes.items()}
        return record([tuple(int(substitute(size, put)) if isinstance(size, Expr) else size for size in shape) for shape in shapes])

    base, first = _base(at, letters, shapes)
    found = [(base, first)]
    lines: dict[Symbol, list[int]] = {}
    for letter in letters:
        line = list(islice(_line(at, first, base, letter), _ON_A_LINE))
        lines[letter] = [sizes[letter] for sizes, _ in line]
        found += [*line, *_far_away(at, first, base, letter)]
    for turn in range(_MIXED if len(letters) > 1 else 0):
        sizes = {letter: lines[letter][(turn * (place + 1) + place) % len(lines[letter])] for place, letter in enumerate(letters)}
        with suppress(ParamsymError):
            other = at(sizes)
            if alike(first.top, other.top) and all(sizes != before for before, _ in found):
                found.append((sizes, other))
    return Found(letters, tuple({s.name: n for s, n in sizes.items()} for sizes, _ in found), _merged([one for _, one in found]))


def _line(
    at: Callable[[Mapping[Symbol, int]], Recording], first: Recording, base: Mapping[Symbol, int], letter: Symbol
) -> Iterator[tuple[dict[Symbol, int], Recording]]:
    """Yield recordings at other sizes of one letter.

    Raises:
        ArgumentError: the module takes none of them.
        NotYetError: all of them have other operators.
    """
    reason, accepted, other_way = "", False, False
    for more in _MORE:
        sizes = {**base, letter: base[letter] + more}
        try:
            other = at(sizes)
        except ParamsymError as error:
            reason = str(error)
            continue
        if alike(first.top, other.top):
            accepted = True
            yield sizes, other
        else:
            other_way = True
    if accepted:
        return
    if other_way:
        raise NotYetError(
            f"the operators change with {letter}, as in a loop over its entries, so no formula in {letter} can be read; give a number."
        )
    only = f"the module takes {letter} = {base[letter]} and no other size that was tried; give a number for it."
    raise ArgumentError(f"{only} At others: {reason}")


def _far_away(
    at: Callable[[Mapping[Symbol, int]], Recording], first: Recording, base: Mapping[Symbol, int], letter: Symbol
) -> list[tuple[dict[Symbol, int], Recording]]:
    """Return a recording at a size far away, if the module takes one.

    Raises:
        NotYetError: it has other operators there.
    """
    for more in _FAR:
        sizes = {**base, letter: base[letter] + more}
        with suppress(ArgumentError):
            other = at(sizes)
            if alike(first.top, other.top):
                return [(sizes, other)]
            both = f"{letter} = {base[letter]} and {letter} = {sizes[letter]}"
            raise NotYetError(f"the operators for {both} differ, so no formula in {letter} can be read; give a number.")
    return []


def _base(
    at: Callable[[Mapping[Symbol, int]], Recording], letters: Sequence[Symbol], shapes: Shapes
) -> tuple[dict[Symbol, int], Recording]:
    """Return the first sizes that the module takes, and their recording."""
    batch = shapes[0][0] if shapes and shapes[0] else None
    refused: list[ParamsymError] = []
    for first, rest in _BASES:
        others = (rest + number if rest < _SMALL else rest for number in range(len(letters)))
        sizes = {letter: first if letter == batch else next(others) for letter in letters}
        try:
            return sizes, at(sizes)
        except ArgumentError as error:
            refused.append(error)
    raise refused[0]


# Recordings of one structure -----------------------------------------------------------------------------------------------------


def alike(one: Called, other: Called) -> bool:
    """Whether two recordings have the same operators in the same modules, on the same arrays."""
    if one.path != other.path or len(one.items) != len(other.items):
        return False
    return all(_same_items(a, b) for a, b in zip(one.items, other.items, strict=True))


def _same_items(one: Any, other: Any) -> bool:
    if isinstance(one, Called) or isinstance(other, Called):
        return isinstance(one, Called) and isinstance(other, Called) and alike(one, other)
    return (
        one.name == other.name
        and [array.number for array in one.results] == [array.number for array in other.results]
        and [len(array.shape) for array in one.results] == [len(array.shape) for array in other.results]
        and _same_form(dict(one.arguments), dict(other.arguments))
    )


def _same_form(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same_form(one[key], other[key]) for key in one)
    if isinstance(one, Ref) or isinstance(other, Ref):
        return one == other
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same_form, one, other))
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int) or not isinstance(other, int):
        return bool(one == other) or (isinstance(one, float) and isinstance(other, float))
    return True


def _merged(recordings: Sequence[Recording]) -> Recording:
    first = recordings[0]
    constants = {number: _merged_array([one.constants[number] for one in recordings]) for number in first.constants}
    inputs = tuple(_merged_array(arrays) for arrays in zip(*(one.inputs for one in recordings), strict=True))
    return replace(first, inputs=inputs, constants=constants, top=_merged_call([one.top for one in recordings]))


def _merged_call(calls: Sequence[Called]) -> Called:
    merged: list[Done | Called] = []
    for items in zip(*(one.items for one in calls), strict=True):
        first = items[0]
        if isinstance(first, Called):
            merged.append(_merged_call(items))
            continue
        arguments = _merged_value([one.arguments for one in items])
        results = tuple(_merged_array(arrays) for arrays in zip(*(one.results for one in items), strict=True))
        merged.append(replace(first, arguments=arguments, results=results))
    return Called(calls[0].path, calls[0].kind, merged)


def _merged_array(arrays: Sequence[Array]) -> Array:
    shape = tuple(_merged_value(sizes) for sizes in zip(*(one.shape for one in arrays), strict=True))
    first = arrays[0]
    same = all(one.shape == first.shape for one in arrays) and all(_equal_data(first.data, one.data) for one in arrays)
    return replace(first, shape=shape, data=first.data if same else None)


def _equal_data(one: Any, other: Any) -> bool:
    return one is other or (one is not None and other is not None and one.dtype == other.dtype and one.tobytes() == other.tobytes())


def _merged_value(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, Mapping):
        return {key: _merged_value([one[key] for one in values]) for key in first}
    if isinstance(first, Ref):
        return first
    if isinstance(first, tuple):
        return tuple(_merged_value(each) for each in zip(*values, strict=True))
    if all(one == first for one in values):
        return first
    return Varying(tuple(values))


# Laws ----------------------------------------------------------------------------------------------------------------------------


class Laws:
    """The expressions of numbers at the points: sizes that are already known, sums, products and quotients of these, then a fitted law."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.known: dict[tuple[int, ...], Count] = {}
        self.evaluated: dict[Count, Any] = {}
        self.symbols = {symbol.name: symbol for symbol in found.letters}
        for symbol in found.letters:
            self.learn(tuple(point[symbol.name] for point in found.at), symbol)
        self.fitter: tuple[Fitter, Points] | None = None

    def learn(self, at: Any, size: Count) -> None:
        """Keep the expression of a number."""
        if isinstance(at, Varying):
            at = at.at
        if isinstance(at, tuple) and not isinstance(size, int):
            self.known.setdefault(at, size)

    def at(self, size: Count) -> Any:
        """Return a size at the points: a number if it is the same at all of them, otherwise as recordings state it."""
        if isinstance(size, int):
            return size
        if size not in self.evaluated:
            put = [{self.symbols[name]: Integer(number) for name, number in point.items()} for point in self.found.at]
            values = tuple(int(substitute(size, one)) for one in put)
            self.evaluated[size] = values[0] if len(set(values)) == 1 else Varying(values)
        return self.evaluated[size]

    def value(self, number: Any) -> Any:
        """Return a number of a merged recording as an expression; tuples and mappings entry by entry.

        Raises:
            NotYetError: no law explains it.
        """
        if isinstance(number, Varying):
            return self._law(number.at)
        if isinstance(number, Ref):
            return number
        if isinstance(number, tuple):
            return tuple(self.value(one) for one in number)
        if isinstance(number, Mapping):
            return {key: self.value(one) for key, one in number.items()}
        return number

    def _law(self, at: tuple[Any, ...]) -> Count:
        found = self.known.get(at)
        if found is None:
            found = self.known[at] = self._searched(at)
        return found

    def _searched(self, at: tuple[Any, ...]) -> Count:
        if not all(isinstance(one, int) for one in at):
            raise NotYetError(f"a number of the computation changes with the inputs' sizes and is not whole ({at[0]}, {at[1]}, ...).")
        for candidate in islice(self._candidates(at), 4000):
            if candidate is not None:
                return candidate
        if self.fitter is None:
            names = tuple(self.symbols)
            self.fitter = Fitter(patience=1.0), Points(self.found.at, names)
        fitter, where = self.fitter
        try:
            return canonical(fitter.fit(where, at).expression(self.symbols))
        except NoLawError:
            cases = "; ".join(f"{value} at {_written(point)}" for value, point in list(zip(at, self.found.at, strict=True))[:4])
            raise NotYetError(f"no law explains a number of the computation: {cases}. Give numbers in place of letters.") from None

    def _candidates(self, at: tuple[int, ...]) -> Iterator[Count | None]:
        known = list(self.known.items())
        for one, size in known:
            if all(a % b == 0 for a, b in zip(at, one, strict=True) if b) and all(one):
                quotient = tuple(a // b for a, b in zip(at, one, strict=True))
                if len(set(quotient)) == 1:
                    yield canonical(size * quotient[0])
                elif quotient in self.known:
                    yield canonical(size * self.known[quotient])
            difference = {a - b for a, b in zip(at, one, strict=True)}
            if len(difference) == 1:
                yield canonical(size + difference.pop())
            if all(at) and all(b % a == 0 for a, b in zip(at, one, strict=True)):
                quotient = tuple(b // a for a, b in zip(at, one, strict=True))
                if len(set(quotient)) == 1:
                    yield canonical(per(size, quotient[0]))
            yield None


def _written(point: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {number}" for name, number in point.items())
