"""Sizes in letters: a module is recorded at several sizes, and every number that varies gets the expression that explains it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from sympy import Expr, Float, Integer, Pow, Rational, Symbol

from paramsym.algebra.size import Count, Dim, canonical, per, same, substitute, symbols_in
from paramsym.derive.fit import Fitter
from paramsym.derive.points import Points
from paramsym.errors import ArgumentError, NoLawError, NotYetError, ParamsymError
from paramsym.read.merging import Varying, alike, merged
from paramsym.read.recording import Recording, Ref
from paramsym.read.rolling import looped
from paramsym.read.stating import number_of

Shapes = Sequence[tuple[Dim, ...]]


@dataclass(frozen=True)
class Found:
    """A module recorded at several points; ``merged`` has a ``Varying`` for each number that is not the same at all points.

    ``symbols`` are the numbers of a point in letters: each is a letter, or follows from letters. ``free`` are those from which all others
    follow.
    """

    symbols: Mapping[str, Expr]
    free: tuple[str, ...]
    at: tuple[Mapping[str, int], ...]
    merged: Recording


_BASES = ((3, 10), (2, 32), (2, 64), (2, 224), (2, 96), (2, 128), (2, 256), (1, 224))
"""Sizes that are tried first: of the first axis of the first input, and of all other letters."""
_MORE = (1, 2, 3, 5, 7, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 224)
_FEW_MORE = (1, 2, 3, 4)
_FAR = (1021, 509, 253)
"""Steps to a size far away, which refute laws that hold for small sizes only, such as a padding to 256 positions."""
ON_A_LINE, ON_A_LONG_LINE = 5, len(_MORE)
_MIXED = 4
_POWERS = (-Rational(1, 2), Rational(1, 2), Integer(-1), Integer(1))
_SMALL = 16
"""Below it, letters get different sizes; larger ones may have to be multiples of the same number."""


Numbers: TypeAlias = "Mapping[str, int]"
At: TypeAlias = Callable[[Numbers], Recording]


def points(record: Callable[[Sequence[tuple[int, ...]]], Recording], shapes: Shapes, each: int = ON_A_LINE) -> Found:
    """Record a module at several sizes of the letters in its inputs' shapes, ``each`` of them for one letter.

    Raises:
        ArgumentError: a letter of which the module takes only one of the sizes that were tried.
        NotYetError: a letter that changes which operators there are.
    """
    letters = tuple(sorted(symbols_in(tuple(shapes)), key=lambda symbol: symbol.name))
    batch = shapes[0][0] if shapes and shapes[0] else None

    def at(sizes: Numbers) -> Recording:
        return record(at_sizes(shapes, sizes))

    names = tuple(symbol.name for symbol in letters)
    bases = starts(names, batch.name if isinstance(batch, Symbol) else "")
    numbers, recordings = spread(at, names, bases, lambda point, name, value: {**point, name: value}, each=each)
    return Found({symbol.name: symbol for symbol in letters}, names, numbers, merged(recordings))


def at_sizes(shapes: Shapes, sizes: Numbers) -> list[tuple[int, ...]]:
    """Return shapes with numbers for letters."""
    put = {symbol: Integer(sizes[symbol.name]) for symbol in symbols_in(tuple(shapes))}
    return [tuple(int(substitute(size, put)) if isinstance(size, Expr) else size for size in shape) for shape in shapes]


def taken_above_one(sizes: Any) -> None:
    """Take the letters in sizes for larger than 1, as a condition of the answer: along axes of size 1, frameworks make fewer copies."""
    for letter in symbols_in(sizes):
        same(letter, 1)


def starts(letters: Sequence[str], batch: str = "") -> Iterator[dict[str, int]]:
    """Yield sizes that are tried first; the batch gets another one than all other letters."""
    for first, rest in _BASES:
        others = (rest + number if rest < _SMALL else rest for number in range(len(letters)))
        yield {letter: first if letter == batch else next(others) for letter in letters}


def spread(
    at: At,
    names: Sequence[str],
    bases: Iterable[Numbers],
    moved: Callable[[Numbers, str, int], Numbers | None],
    counters: Collection[str] = (),
    each: int = ON_A_LINE,
) -> tuple[tuple[Numbers, ...], list[Recording]]:
    """Record at several points: on a line for each number, and where all numbers are changed.

    ``moved`` changes one number of a point, and returns None for an impossible one. ``counters`` set how many operators there are, so no
    large values of them are tried. ``each`` is the number of points on a line.

    Raises:
        ArgumentError: a number of which the module takes only one of the values that were tried.
        NotYetError: a number that changes which operators there are.
    """
    base, first = _base(at, bases)
    found: list[tuple[Numbers, Recording]] = [(base, first)]
    lines: dict[str, list[int]] = {}
    for name in names:
        line = list(islice(_line(at, first, base, name, moved, _FEW_MORE if name in counters else _MORE), each))
        lines[name] = [sizes[name] for sizes, _ in line]
        found += [*line, *([] if name in counters else _far_away(at, first, base, name, moved))]
    for turn in range(_MIXED if len(names) > 1 else 0):
        sizes: Numbers | None = base
        for place, name in enumerate(names):
            value = lines[name][(turn * (place + 1) + place) % len(lines[name])]
            sizes = None if sizes is None else moved(sizes, name, value)
        if sizes is None:
            continue
        with suppress(ParamsymError):
            other = at(sizes)
            if alike(first, other) and all(sizes != before for before, _ in found):
                found.append((sizes, other))
    return tuple(sizes for sizes, _ in found), [one for _, one in found]


def _line(
    at: At, first: Recording, base: Numbers, name: str, moved: Callable[[Numbers, str, int], Numbers | None], steps: Sequence[int]
) -> Iterator[tuple[Numbers, Recording]]:
    """Yield recordings at other values of one number.

    Raises:
        ArgumentError: the module takes none of them.
        NotYetError: all of them have other operators.
    """
    reason, accepted, other_way = "", False, False
    for more in steps:
        sizes = moved(base, name, base[name] + more)
        if sizes is None:
            continue
        try:
            other = at(sizes)
        except ParamsymError as error:
            reason = str(error)
            continue
        if alike(first, other):
            accepted = True
            yield sizes, other
        else:
            other_way = True
    if accepted:
        return
    if other_way:
        raise NotYetError(
            f"the operators change with {name}, as in a loop over its entries, so no formula in {name} can be read; give a number."
        )
    only = f"the module takes {name} = {base[name]} and no other size that was tried; give a number for it."
    raise ArgumentError(f"{only} At others: {reason}" if reason else only)


def _far_away(
    at: At, first: Recording, base: Numbers, name: str, moved: Callable[[Numbers, str, int], Numbers | None]
) -> list[tuple[Numbers, Recording]]:
    """Return a recording at a size far away, if the module takes one.

    Raises:
        NotYetError: it has other operators there.
    """
    too_long: NotYetError | None = None
    for more in _FAR[-1:] if looped(first) else _FAR:
        sizes = moved(base, name, base[name] + more)
        if sizes is None:
            continue
        try:
            other = at(sizes)
        except ArgumentError:
            continue
        except NotYetError as error:  # such as a mask for each window of a large image, which takes long
            too_long = error
            continue
        if alike(first, other):
            return [(sizes, other)]
        both = f"{name} = {base[name]} and {name} = {sizes[name]}"
        raise NotYetError(
            f"the operators for {both} differ, so no formula in {name} can be read; give a number, or a multiple such as 2*{name}"
            " if they depend on a remainder."
        )
    if too_long is not None:
        raise too_long
    return []


def _base(at: At, bases: Iterable[Numbers]) -> tuple[Numbers, Recording]:
    """Return the first sizes that the module takes, and their recording."""
    refused: list[ParamsymError] = []
    for sizes in bases:
        try:
            return sizes, at(sizes)
        except ArgumentError as error:
            refused.append(error)
    raise refused[0] if refused else ArgumentError("no sizes are known that the module takes.")


# Laws ----------------------------------------------------------------------------------------------------------------------------


class Laws:
    """The expressions of numbers at the points: sizes that are already known, sums, products and quotients of these, then a fitted law."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.known: dict[tuple[int, ...], Count] = {}
        self.evaluated: dict[Count, Any] = {}
        self.symbols = found.symbols
        self.letters = {name: symbol for name, symbol in found.symbols.items() if isinstance(symbol, Symbol)}
        for name, size in found.symbols.items():
            self.learn(tuple(point[name] for point in found.at), size)
        self.fitter: tuple[Fitter, Points] | None = None
        self.searched: list[Count] = []
        self.unexplained: tuple[Any, ...] = ()  # the values of the last number without a law

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
            values = tuple(self.value_at(size, point) for point in self.found.at)
            self.evaluated[size] = values[0] if len(set(values)) == 1 else Varying(values)
        return self.evaluated[size]

    def agree(self, size: Count, at: Any) -> bool:
        """Whether an expression is a number of the recording at every point."""
        return bool(self.at(size) == at)

    def value_at(self, size: Count, point: Mapping[str, int]) -> Any:
        """Return a size at a point; a power of one, such as the scale of attention, in floating point."""
        found = substitute(size, {symbol: Integer(point[name]) for name, symbol in self.letters.items()})
        return number_of(found)

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
            self.searched.append(found)
        return found

    def _searched(self, at: tuple[Any, ...]) -> Count:
        if all(isinstance(one, float) and one.is_integer() for one in at):
            at = tuple(map(int, at))
        if not all(isinstance(one, int) for one in at):
            if (power := self._power(at)) is not None:
                return power
            raise NotYetError(f"a number of the computation changes with the inputs' sizes and is not whole ({at[0]}, {at[1]}, ...).")
        for candidate in islice(self._candidates(at), 4000):
            if candidate is not None:
                return candidate
        if self.fitter is None:
            self.fitter = Fitter(patience=1.0), Points(self.found.at, self.found.free)
        fitter, where = self.fitter
        try:
            return canonical(fitter.fit(where, at).expression(self.symbols))
        except NoLawError:
            cases = "; ".join(f"{value} at {_written(point)}" for value, point in list(zip(at, self.found.at, strict=True))[:4])
            self.unexplained = at
            advice = "Hold an argument of the build, held={...}, or give numbers in place of letters."
            raise NotYetError(f"no law explains a number of the computation: {cases}. {advice}") from None

    def _power(self, at: tuple[Any, ...]) -> Any:
        """Return the power of a size, times a number, that numbers in floating point are, such as the scale of attention, or None."""
        if not all(isinstance(each, int | float) for each in at):
            return None
        for one, size in self.known.items():
            for power in _POWERS if all(number > 0 for number in one) else ():
                rates = [b / a ** float(power) for a, b in zip(one, at, strict=True)]
                if all(math.isclose(rate, rates[0], rel_tol=1e-12) for rate in rates):
                    return Pow(size, power) if math.isclose(rates[0], 1, rel_tol=1e-12) else Float(rates[0]) * Pow(size, power)
        return None

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
                elif quotient in self.known:
                    yield canonical(per(size, self.known[quotient]))
            yield None


def _written(point: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {number}" for name, number in point.items())
