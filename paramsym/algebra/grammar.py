"""Expressions as users type them: ``4*H``, ``2**20``, ``(V + 63)//64*64``. One small grammar, and no string is ever evaluated as code.

::

    sum      product ("+" | "-" product)*
    product  signed ("*" | "//" signed)*
    signed   "-"* power
    power    atom ("**" signed)?
    atom     whole number | name | "(" sum ")"

Everything has a limit (length, depth, digits, exponents, the number of terms), because the string may come from an unknown source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

from sympy import Expr, floor

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, canonical
from paramsym.algebra.symbols import dims
from paramsym.errors import ArgumentError, SizeError, UnknownNameError
from paramsym.naming import nearest

LONGEST = 200
"""Characters of an expression."""
DEEPEST = 20
"""Parentheses, signs and exponents inside each other."""
_MOST_BITS = 256  # of an intermediate number; the longest possible axis has 63
_MOST_TERMS = 400
_LARGEST_POWER = 64
_MOST_STEPS = 3  # nested quotients that are rounded down

_TOKEN = re.compile(r"(?P<number>[0-9]+(?:_[0-9]+)*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>\*\*|//|[-+*()])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_END = "the end"


def read(text: str, names: Mapping[str, Dim] | None = None) -> Dim:
    """Return the int or expression in a string.

    ``names`` maps each name to a symbol, a number or an expression; without it every name is a symbol, as from ``dims``.
    ``//`` rounds down, as in Python; between symbols it is a ``floor``. Digits may be grouped with ``_``.

    Raises:
        ArgumentError: a string outside the grammar or its limits; the message says where.
        UnknownNameError: a name that is not in ``names``.

    >>> read("4*H"), read("2**20"), read("(V + 63)//64*64", {"V": 50257})
    (4*H, 1048576, 50304)
    >>> read("4*H+")
    Traceback (most recent call last):
        ...
    paramsym.errors.ArgumentError: '4*H+': wanted a number, a name or '(' at character 5, found the end.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"an expression is a string such as '4*H', not {text!r:.60} ({type(text).__name__}).")
    if len(text) > LONGEST:
        raise ArgumentError(f"the expression {_shown(text)} has {len(text):,} characters; {LONGEST} are the limit.")
    return canonical(_Reader(text, names).result().as_expr())


def assignment(text: str) -> tuple[str, str]:
    """Split ``H=1024`` into the name and the expression, both as strings.

    Raises:
        ArgumentError: no ``=``, no name before it or nothing after it.

    >>> assignment("H = 4*128")
    ('H', '4*128')
    """
    name, sign, value = (piece.strip() for piece in text.partition("="))
    if not sign or not _NAME.fullmatch(name) or not value:
        raise ArgumentError(f"{_shown(text)} is not an assignment; write NAME=VALUE, as in H=1024 or F=4*H.")
    return name, value


def mentioned(text: str) -> frozenset[str]:
    """Return the names in an expression, valid or not.

    >>> sorted(mentioned("4*H + F"))
    ['F', 'H']
    """
    return frozenset(_NAME.findall(text[:LONGEST]))


def unknown(name: str, known: Iterable[str], what: str = "name") -> UnknownNameError:
    """Return the error for an unknown name, with the nearest known ones."""
    there = sorted(known)
    near = nearest(name, there, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(there[:40]) or 'none'}."
    return UnknownNameError(f"there is no {what} {_shown(name)}; {hint}")


class _Reader:
    """A reader of one expression, left to right."""

    def __init__(self, text: str, names: Mapping[str, Dim] | None) -> None:
        self.text, self.names = text, names
        self.position = self.depth = 0

    def result(self) -> Polynomial:
        found = self._sum()
        if self._here() != _END:
            self._expected("'+', '-', '*', '//', '**' or the end")
        return found

    # Tokens -------------------------------------------------------------------------------------------------------------------

    def _match(self) -> re.Match[str] | None:
        while self.text[self.position : self.position + 1] in {" ", "\t"}:
            self.position += 1
        return _TOKEN.match(self.text, self.position)

    def _here(self) -> str:
        token = self._match()
        if token is not None:
            return ascii(token[0])
        return ascii(self.text[self.position]) if self.position < len(self.text) else _END

    def _sign(self, *signs: str) -> str:
        token = self._match()
        if token is None or token["sign"] not in signs:
            return ""
        self.position = token.end()
        return token[0]

    # The grammar, one method per rule -----------------------------------------------------------------------------------------

    def _sum(self) -> Polynomial:
        total = self._product()
        while sign := self._sign("+", "-"):
            other = self._product()
            total = self._bounded(total + (other if sign == "+" else -other))
        return total

    def _product(self) -> Polynomial:
        total = self._signed()
        while sign := self._sign("*", "//"):
            other = self._signed()
            total = self._times(total, other) if sign == "*" else self._quotient(total, other)
        return total

    def _signed(self) -> Polynomial:
        return -self._inner(self._signed) if self._sign("-") else self._power()

    def _power(self) -> Polynomial:
        base = self._atom()
        if not self._sign("**"):
            return base
        exponent = self._inner(self._signed).constant
        if not isinstance(exponent, int) or not 0 <= exponent <= _LARGEST_POWER:
            self._refuse(f"an exponent is a whole number from 0 to {_LARGEST_POWER}")
        result = Polynomial.of(1)
        for _ in range(exponent):
            result = self._times(result, base)
        return result

    def _atom(self) -> Polynomial:
        token = self._match()
        if token is None or token["sign"] not in {None, "("}:
            self._expected("a number, a name or '('")
        self.position = token.end()
        if token["number"] is not None:
            return self._bounded(Polynomial.of(int(token["number"])))
        if token["name"] is not None:
            return self._bounded(self._named(token["name"]))
        inside = self._inner(self._sum)
        if not self._sign(")"):
            self._expected("')'")
        return inside

    def _named(self, name: str) -> Polynomial:
        if self.names is None:
            return Polynomial.of(dims(name))
        if name not in self.names:
            raise unknown(name, self.names, "size")
        return Polynomial.of(self.names[name])

    # Arithmetic within limits -------------------------------------------------------------------------------------------------

    def _times(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if len(left.terms) * len(right.terms) > _MOST_TERMS:
            self._refuse(f"it has more than {_MOST_TERMS} terms when it is multiplied out")
        return self._bounded(left * right)

    def _quotient(self, left: Polynomial, right: Polynomial) -> Polynomial:
        above, below = left.constant, right.constant
        if below == 0:
            self._refuse("it divides by zero")
        if isinstance(above, int) and isinstance(below, int):
            return Polynomial.of(above // below)
        if len(right.terms) > 1:
            self._refuse("after '//' letters can only be in a product")
        try:
            found = Polynomial.of(floor((left * right.inverse()).as_expr(), evaluate=False))
        except SizeError as error:
            self._refuse(str(error).rstrip("."))
        if any(_steps(generator) > _MOST_STEPS for monomial in found.terms for generator, _ in monomial):
            self._refuse(f"it has more than {_MOST_STEPS} nested quotients")
        return self._bounded(found)

    def _bounded(self, value: Polynomial) -> Polynomial:
        if len(value.terms) > _MOST_TERMS:
            self._refuse(f"it has more than {_MOST_TERMS} terms when it is multiplied out")
        if any(isinstance(number, int) and number.bit_length() > _MOST_BITS for number in value.terms.values()):
            self._refuse("its numbers are too large for a size")
        return value

    def _inner(self, rule: Callable[[], Polynomial]) -> Polynomial:
        self.depth += 1
        if self.depth > DEEPEST:
            self._refuse(f"it is more than {DEEPEST} levels deep")
        found = rule()
        self.depth -= 1
        return found

    # Errors -------------------------------------------------------------------------------------------------------------------

    def _expected(self, wanted: str) -> NoReturn:
        here, position = self._here(), self.position + 1
        hint = " For a quotient rounded down write '//'." if here == "'/'" else " For a power write '**'." if here == "'^'" else ""
        raise ArgumentError(f"{_shown(self.text)}: wanted {wanted} at character {position}, found {here}.{hint}") from None

    def _refuse(self, why: str) -> NoReturn:
        raise ArgumentError(f"{_shown(self.text)} is not a size: {why}.") from None


def _steps(value: Expr) -> int:
    inside = max((_steps(argument) for argument in value.args if isinstance(argument, Expr)), default=0)
    return inside + isinstance(value, floor)


def _shown(text: str, limit: int = 60) -> str:
    words = ascii(text)
    return words if len(words) <= limit else f"{words[: limit - 4]}...{words[0]}"
