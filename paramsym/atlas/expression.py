"""Expressions of a record: evaluated over the values of a configuration, step by step, never with ``eval``.

An expression is a whole number, ``["+", [[numerator, denominator, [[atom, power], ...]], ...]]`` or ``["?", [test, ...], [[[answer, ...],
expression], ...]]``. An atom is a number, a key, ``["at", key, place, ...]`` for an entry of a list, ``["len", key]``,
``["or", key, atom]`` for a key that can be null, or one of ``OPERATIONS`` with its operands. A result must be a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from paramsym.atlas.values import Value
from paramsym.errors import ConfigError

LARGEST = 2**63 - 1
_DEEPEST = 48  # of 2**a


class OutsideError(ConfigError):
    """A configuration outside the verified ones."""


Values = Mapping[str, Value]


def number(values: Values, key: str) -> Any:
    """Return the number of a key."""
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OutsideError(f"{key} has no number.")
    return value


def entry(values: Values, key: str, *places: int) -> Any:
    """Return an entry of a list; negative positions count from the end."""
    value = values.get(key)
    for place in places:
        if not isinstance(value, tuple) or not -len(value) <= place < len(value):
            raise OutsideError(f"{key} has no entry {place}.")
        value = value[place]
    return value


def _whole_entry(values: Values, key: str, *places: int) -> Any:
    value = entry(values, key, *places)
    if isinstance(value, bool) or not isinstance(value, int):
        raise OutsideError(f"{key} has no whole number at {places}.")
    return value


def length(values: Values, key: str) -> int:
    """Return the length of a list."""
    value = values.get(key)
    if not isinstance(value, tuple):
        raise OutsideError(f"{key} is not a list.")
    return len(value) - (1 if value[:1] == ("{}",) else 0)


def _divided(a: int, b: int) -> int:
    if b == 0:
        raise OutsideError("a size is divided by 0.")
    return a // b


def _power(a: int) -> int:
    if not 0 <= a <= _DEEPEST:
        raise OutsideError(f"2**{a} is not a size.")
    return int(2**a)


def _float(result: float) -> float:
    """Return a result in floating point, as the reference computes it."""
    if not abs(result) <= LARGEST:  # nor is a NaN
        raise OutsideError(f"a size would be {result}.")
    return result


def _ratio(a: float, b: float) -> float:
    if b == 0:
        raise OutsideError("a size is divided by 0.")
    return _float(a / b)


def _root(a: int) -> int:
    if not 0 <= a <= LARGEST:
        raise OutsideError(f"{a} has no square root that is a size.")
    return math.isqrt(a)


def _near(a: float, b: int, least: int) -> int:
    """Return the multiple of ``b`` nearest to ``a``, at least ``least``; one more if that loses over a tenth.

    >>> _near(20, 8, 8), _near(10, 8, 8), _near(11.5, 8, 8)
    (24, 16, 16)
    """
    found = max(least, _divided(int(a + b / 2), b) * b)
    return found + b if found < 0.9 * a else found


def _multiple(a: int, b: int) -> int:
    """Return the smallest multiple of ``b`` from ``a`` on."""
    return -_divided(-a, b) * b


OPERATIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "//": (2, _divided),
    "^/": (2, lambda a, b: -_divided(-a, b)),
    "min": (2, min),
    "max": (2, max),
    "-": (2, lambda a, b: a - b),
    "*": (2, lambda a, b: a * b),
    "up": (2, _multiple),
    "int*": (2, lambda a, b: int(_float(a * b))),
    "2^": (1, _power),
    "root": (1, _root),
    "times": (2, lambda a, b: _float(a * b)),
    "/": (2, _ratio),
    "round": (1, round),
    "near": (3, _near),
}
"""The number of operands of an operation, and what it computes. ``times`` and ``/`` may give a float, for the others."""


def present(values: Values, what: Any) -> Any:
    """Return the atom itself; of ``["or", key, atom]`` the key, or the atom if the key is null.

    >>> present({"a": None, "b": 2}, ["or", "a", "b"])
    'b'
    """
    while isinstance(what, list) and what[0] == "or":
        what = what[2] if values.get(what[1]) is None else what[1]
    return what


def atom(values: Values, what: Any) -> Any:
    """Return the value of an atom."""
    what = present(values, what)
    if isinstance(what, str):
        return number(values, what)
    if isinstance(what, int | float):
        return what
    kind = what[0]
    if kind == "at":
        return _whole_entry(values, *what[1:])
    if kind == "len":
        return length(values, what[1])
    return OPERATIONS[kind][1](*(atom(values, one) for one in what[1:]))


def evaluated(values: Values, what: Any) -> int:
    """Return the whole number of an expression.

    Raises:
        OutsideError: a result that is not whole, a test with an untested answer, a key without a number.

    >>> evaluated({"a": 6, "b": 4}, ["+", [[1, 2, [["a", 1], ["b", 1]]], [1, 1, []]]])
    13
    """
    if isinstance(what, int):
        return what
    if what[0] == "+":
        total, common = 0, 1
        for numerator, denominator, factors in what[1]:
            term = numerator
            for one, power in factors:
                value = atom(values, one)
                if isinstance(value, float):
                    raise OutsideError(f"{one} is {value}, which is not a whole number.")
                term *= value**power
            if denominator != common:
                total, common, term = total * denominator, common * denominator, term * common
            total += term
        result, rest = divmod(total, common)
        if rest or abs(result) > LARGEST:
            raise OutsideError(f"a size would be {result}{f' and {Fraction(rest, common)}' if rest else ''}.")
        return int(result)
    return evaluated(values, chosen(values, what[1], what[2]))


def tests_of(what: Any) -> list[Any]:
    """Return the tests of an expression.

    >>> tests_of(["?", [["none", "a"]], [[[True], 1], [[False], 2]]])
    [['none', 'a']]
    """
    if isinstance(what, int) or what[0] == "+":
        return []
    return [*what[1], *(test for _, inner in what[2] for test in tests_of(inner))]


def chosen(values: Values, tests: Any, cases: Any) -> Any:
    """Return the value for the answers to tests.

    Raises:
        OutsideError: answers that were not tested together.
    """
    answers = [answer(values, test) for test in tests]
    for seen, result in cases:
        if all(type(one) is type(other) and one == other for one, other in zip(seen, answers, strict=True)):
            return result
    what = ", ".join(f"{' '.join(map(str, test[1:]))} ({test[0]}: {found})" for test, found in zip(tests, answers, strict=True))
    raise OutsideError(f"this was never tested: {what}.")


def answer(values: Values, test: Any) -> Any:
    """Return the answer of a test: a string, a flag or null itself, or whether a condition holds."""
    kind, *operands = test
    if kind == "is":
        return values.get(operands[0])
    if kind == "none":
        return values.get(operands[0]) is None
    if kind == "positive":
        value = values.get(operands[0])
        return None if value is None else value > 0
    if kind == "equal":  # to another key, or to a number that a fixed list has
        return values.get(operands[0]) == (values.get(operands[1]) if isinstance(operands[1], str) else operands[1])
    if kind == "beyond":  # more than a bound, for a number or the length of a list
        value = values.get(operands[0])
        value = len(value) if isinstance(value, tuple) else value
        return None if value is None else value > operands[1]
    if kind == "over":  # more than a number, of an entry of a list
        value = values.get(operands[0])
        held = value[operands[1]] if isinstance(value, tuple) and operands[1] < len(value) else None
        return held > operands[2] if isinstance(held, int) else None
    if kind == "holds":  # a word in a list, or in one string that has "|" between words
        value = values.get(operands[0])
        words = value.split("|") if isinstance(value, str) else value if isinstance(value, tuple) else ()
        return operands[1][0] in words
    return entry(values, *operands)  # "entry"
