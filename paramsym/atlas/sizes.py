"""The sizes of a model: which numbers of its configuration may be letters, and expressions written in letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sympy import Expr, Rational, ceiling, floor, fraction

from paramsym.algebra.size import Axis, Count, canonical, cat, extent, per, size as checked
from paramsym.atlas.depth import Pattern, Patterns, Prefix, patterns_of
from paramsym.atlas.expression import OutsideError, Values, atom, chosen, evaluated, present
from paramsym.atlas.letters import name_of
from paramsym.atlas.predicting import Factors, Rows
from paramsym.atlas.values import Value
from paramsym.errors import SizeError

Atom = Any
Division = tuple[Atom, Atom]
"""A dividend and its divisor."""


# Which numbers may be letters --------------------------------------------------------------------------------------------------


def letters_of(rows: Rows, values: Values, followed: Mapping[str, Patterns]) -> dict[str, int]:
    """Return the numbers that may be letters, by name: those in which sizes are polynomials or quotients.

    A number that decides which copies exist stays a number, unless the copies follow a pattern: those of the names in ``followed``.
    """
    found: dict[str, int] = {}
    fixed: set[str] = set()
    for what in rows.expressions:
        _collect(what, values, found, fixed)
    fixed |= deciding_names(rows, values) - followed.keys()
    return {name: value for name, value in found.items() if name not in fixed}


def followed_by(rows: Rows, values: Values, keys: Mapping[str, Any]) -> dict[str, Patterns]:
    """Return the patterns of copies, by the name of their number; ``keys`` has the domains of all keys."""
    found: dict[str, Patterns] = {}
    levels: dict[Prefix, Pattern] = {}
    named = {name: key for key in values if (name := letter_name(key, values))}
    names = sorted(deciding_names(rows, values) & named.keys())
    rest = {key: domain for key, domain in keys.items() if key not in {named[name] for name in names}}
    for name in names:
        patterns = patterns_of(rows, values, named[name], rest)  # another depth is a letter of its own, and stays as it is
        if patterns is not None and all(levels.setdefault(prefix, pattern) == pattern for prefix, pattern in patterns):
            found[name] = patterns
    return found


def deciding_names(rows: Rows, values: Values) -> set[str]:
    """Return the names of the numbers that decide which copies exist, by another law than consecutive numbers."""
    found: set[str] = set()
    for bound in rows.deciding:
        _fix(bound, values, found)
    return found


def _collect(what: Any, values: Values, found: dict[str, int], fixed: set[str]) -> None:
    """Collect the letters of an expression; those in operations without a closed form stay numbers."""
    if isinstance(what, int):
        return
    if what[0] == "?":
        _collect(chosen(values, what[1], what[2]), values, found, fixed)
        return
    for _, _, factors in what[1]:
        for one, _ in factors:
            _collect_atom(one, values, found, fixed)


def _collect_atom(one: Atom, values: Values, found: dict[str, int], fixed: set[str]) -> None:
    one = present(values, one)
    name = letter_name(one, values)
    if name is not None:
        value = values_at(one, values)
        if isinstance(value, int):
            found[name] = value
    elif isinstance(one, list) and one[0] != "len":
        closed = {"//": 2, "^/": 2, "-": 2, "*": 2, "int*": int(_whole_rate(one[-1], values))}.get(one[0], 0)
        for inner in one[1 : 1 + closed]:
            _collect_atom(inner, values, found, fixed)
        for inner in one[1 + closed :]:
            _fix_atom(inner, values, fixed)


def _fix(what: Any, values: Values, fixed: set[str]) -> None:
    if isinstance(what, int):
        return
    if what[0] == "?":
        _fix(chosen(values, what[1], what[2]), values, fixed)
        return
    for _, _, factors in what[1]:
        for one, _ in factors:
            _fix_atom(one, values, fixed)


def _fix_atom(one: Atom, values: Values, fixed: set[str]) -> None:
    name = letter_name(one, values)
    if name is not None:
        fixed.add(name)
    elif isinstance(one, list):
        for inner in one[1:]:
            _fix_atom(inner, values, fixed)


def letter_name(one: Atom, values: Values) -> str | None:
    """Return the letter's name of a key or of an entry of a list; None for anything else, and for an entry that the list does not have.

    >>> letter_name("text_config.hidden_size", {}), letter_name(["at", "depths", -1], {"depths": (2, 2)})
    ('text_config_hidden_size', 'depths_1')
    >>> letter_name(["at", "depths", 3], {"depths": (2, 2)}) is None
    True
    """
    if isinstance(one, str):
        return name_of(one)
    if isinstance(one, list) and one[0] == "at":
        held: Value = values.get(one[1])
        places = []
        for place in one[2:]:
            if not isinstance(held, tuple) or not -len(held) <= place < len(held):
                return None
            places.append(place % len(held))
            held = held[place]
        return "_".join([name_of(one[1]), *map(str, places)])
    return None


def values_at(one: Atom, values: Values) -> Any:
    """Return the value of a key or an entry."""
    if isinstance(one, str):
        return values.get(one)
    held: Any = values.get(one[1])
    for place in one[2:]:
        held = held[place]
    return held


def said(one: Atom) -> str:
    """Return the name of a key or of an entry of a list for an error; nothing for other atoms.

    >>> said("text_config.hidden_size"), said(["at", "depths", -1]), said(["*", "a", 2])
    ('text_config.hidden_size', 'depths[-1]', '')
    """
    if isinstance(one, list) and one[0] == "at":
        return one[1] + "".join(f"[{place}]" for place in one[2:])
    return one if isinstance(one, str) else ""


def _rate(one: Atom, values: Values) -> Any:
    return one if isinstance(one, int | float) else values_at(one, values) if letter_name(one, values) else None


def _whole_rate(one: Atom, values: Values) -> bool:
    rate = _rate(one, values)
    return isinstance(rate, int | float) and float(rate).is_integer()


# Sizes in letters --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """Writes expressions in letters if possible, otherwise in numbers; ``number`` evaluates one.

    The divisions in ``exact`` are exact quotients; the reference rounds the others down.
    """

    values: Values
    number: Callable[[Any], int]
    letters: Mapping[str, Count]
    exact: Iterable[Division] = ()
    written: dict[int, Count] = field(default_factory=dict[int, Count], compare=False)

    def size(self, what: Any) -> Count:
        """Return an expression as a size; rows share their expressions, and each is written once."""
        if isinstance(what, int):
            return what
        if not self.letters:
            return self.number(what)
        found = self.written.get(id(what))
        if found is None:
            found = self.written[id(what)] = self._size(what)
        return found

    def axis(self, what: Any, factors: Factors) -> Axis:
        """Return an axis: its factors if their product is its size, otherwise the size alone."""
        whole = self.size(what)
        with suppress(OutsideError, SizeError):
            found: list[Any] = [self._factor(one) for one in factors]
            if found and extent(tuple(found)) == canonical(whole):
                return tuple(found) if len(found) > 1 else found[0]
        return whole

    def _factor(self, one: Any) -> Any:
        if isinstance(one, tuple):
            return cat(**{label: tuple(map(self.size, segment)) for label, *segment in one})
        return checked(self.size(one), "a factor")

    def _size(self, what: Any) -> Count:
        if what[0] == "?":
            return self.size(chosen(self.values, what[1], what[2]))
        total: Any = 0
        symbolic = False
        for numerator, denominator, factors in what[1]:
            term: Any = Rational(numerator, denominator) if denominator != 1 else numerator
            for one, power in factors:
                value = self.atom(one)
                symbolic = symbolic or isinstance(value, Expr)
                term = term * value**power
            total = total + term
        if symbolic:
            whole = canonical(total)
            return total if total.has(per) and fraction(whole)[1].free_symbols else whole
        if total != int(total):
            raise OutsideError(f"a size would be {total}.")
        return int(total)

    def atom(self, one: Atom) -> Any:
        """Return an atom: a letter, a number, or a quotient of these."""
        one = present(self.values, one)
        name = letter_name(one, self.values)
        if name is not None:
            found = self.letters.get(name, values_at(one, self.values))
            if isinstance(found, bool) or not isinstance(found, int | Expr):
                raise OutsideError(f"{name} is {found}, and a size depends on it.")
            return found
        if isinstance(one, int | float):
            return one
        kind = one[0]
        if kind == "int*" and _whole_rate(one[2], self.values):
            return self.atom(one[1]) * int(_rate(one[2], self.values))
        if kind in {"//", "^/", "-", "*"}:
            a, b = self.atom(one[1]), self.atom(one[2])
            if isinstance(a, Expr) or isinstance(b, Expr):
                return per(a, b) if kind == "//" and (one[1], one[2]) in self.exact else _combined(kind, a, b)
            return evaluated({"a": a, "b": b}, ["+", [[1, 1, [[[kind, "a", "b"], 1]]]]])
        return evaluated(self.values, ["+", [[1, 1, [[one, 1]]]]])


def exact_divisions(divisions: Iterable[Division], values: Values) -> list[Division]:
    """Return the divisions that are exact for some values, as dividend and divisor."""
    found = []
    for dividend, divisor in divisions:
        with suppress(OutsideError):
            one, other = atom(values, dividend), atom(values, divisor)
            if isinstance(one, int) and isinstance(other, int) and other > 0 and one % other == 0:
                found.append((dividend, divisor))
    return found


def _combined(kind: str, a: Any, b: Any) -> Any:
    """Combine two sizes, at least one of which has a letter."""
    if kind == "-":
        return a - b
    if kind == "*":
        return a * b
    quotient = a * (Rational(1, b) if isinstance(b, int) else 1 / b)
    return floor(quotient) if kind == "//" else ceiling(quotient)
