"""Formulas as papers write them: ``34sbh + 5as\u00b2b``, ``sbh(34 + 5as/h)``, ``12hbsL``. One small grammar, and no string is evaluated.

::

    sum      product ("+" | "-" product)*
    product  beside (("*" | "/") beside)*
    beside   power power*                     side by side binds closer: s/6h is s/(6*h)
    power    atom ("**" digits | superscript)?
    atom     number | letters | "(" sum ")"

A word that is not a name of the model is a product of single letters; a letter that the model does not have means its capital.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from sympy import Symbol

from paramsym.algebra.grammar import DEEPEST, LONGEST
from paramsym.algebra.polynomial import Polynomial
from paramsym.errors import ArgumentError, SizeError

_SUPERSCRIPTS = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "0123456789")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,18}(?:\.\d{1,9})?)|(?P<letters>[A-Za-z_]+)|(?P<raised>[\u2070\u00b9\u00b2\u00b3\u2074-\u2079])"
    r"|(?P<sign>\*\*|[-+*/()^\u00b7\u00d7\u22c5]))"
)
_TIMES = frozenset("*/\u00b7\u00d7\u22c5")
_HIGHEST = 9
_MOST_TERMS = 400


class UnreadableError(ArgumentError):
    """A string that is not a formula in the notation of papers."""


def read(text: str, names: Mapping[str, Symbol]) -> Polynomial:
    """Return the formula in a model's letters.

    Raises:
        UnreadableError: another string, an unknown letter, or a formula beyond the limits.

    >>> from paramsym import A, B, H, L, S
    >>> read("34sbh + 5as\u00b2b", {"A": A, "B": B, "H": H, "S": S}).as_expr()
    5*A*B*S**2 + 34*B*H*S
    >>> read("12hbsL", {"B": B, "H": H, "L": L, "S": S}).as_expr()
    12*B*H*L*S
    """
    if len(text) > LONGEST:
        raise _unreadable(text)
    reader = _Reader(text, names)
    found = reader.sum()
    if text[reader.position :].strip():
        raise _unreadable(text)
    return found


class _Reader:
    def __init__(self, text: str, names: Mapping[str, Symbol]) -> None:
        self.text, self.names = text, names
        self.position = self.depth = 0

    def sum(self) -> Polynomial:
        total = self._product()
        while (token := self._here()) is not None and token["sign"] in {"+", "-"}:
            self.position = token.end()
            other = self._product()
            total = total + (other if token["sign"] == "+" else -other)
        return total

    def _product(self) -> Polynomial:
        total = self._beside()
        while (token := self._here()) is not None and token["sign"] in _TIMES:
            self.position = token.end()
            other = self._beside()
            total = self._times(total, self._inverse(other) if token["sign"] == "/" else other)
        return total

    def _beside(self) -> Polynomial:
        total = self._power()
        while (token := self._here()) is not None and (token["sign"] == "(" or token["number"] or token["letters"]):
            total = self._times(total, self._power())
        return total

    def _times(self, one: Polynomial, other: Polynomial) -> Polynomial:
        if len(one.terms) * len(other.terms) > _MOST_TERMS:
            raise _unreadable(self.text)
        return one * other

    def _power(self) -> Polynomial:
        factors = self._atom()
        token = self._here()
        exponent = 1
        if token is not None and token["raised"]:
            exponent, self.position = int(token["raised"].translate(_SUPERSCRIPTS)), token.end()
        elif token is not None and token["sign"] in {"^", "**"}:
            self.position = token.end()
            raised = self._here()
            if raised is None or not raised["number"] or not raised["number"].isdigit() or int(raised["number"]) > _HIGHEST:
                raise _unreadable(self.text)
            exponent, self.position = int(raised["number"]), raised.end()
        *others, last = factors
        result = Polynomial.of(1)
        for factor in (*others, *[last] * exponent):
            result = self._times(result, factor)
        return result

    def _atom(self) -> list[Polynomial]:
        """Read one atom; the exponent belongs to the last of several letters."""
        token = self._here()
        if token is None or not (token["number"] or token["letters"] or token["sign"] == "("):
            raise _unreadable(self.text)
        self.position = token.end()
        if token["number"]:
            value = Fraction(token["number"])
            return [Polynomial({frozenset(): int(value) if value.denominator == 1 else value})]
        if token["letters"]:
            return [Polynomial.of(self._letter(name)) for name in self._split(token["letters"])]
        self.depth += 1
        inside = self.sum()
        closing = self._here()
        if self.depth > DEEPEST or closing is None or closing["sign"] != ")":
            raise _unreadable(self.text)
        self.position = closing.end()
        self.depth -= 1
        return [inside]

    def _split(self, letters: str) -> tuple[str, ...]:
        return (letters,) if letters in self.names else tuple(letters)

    def _letter(self, name: str) -> Symbol:
        if name in self.names:
            return self.names[name]
        if name.upper() in self.names:
            return self.names[name.upper()]
        raise _unreadable(self.text)

    def _inverse(self, divisor: Polynomial) -> Polynomial:
        try:
            return divisor.inverse()
        except SizeError:
            raise _unreadable(self.text) from None

    def _here(self) -> re.Match[str] | None:
        return _TOKEN.match(self.text, self.position)


def _unreadable(text: str) -> UnreadableError:
    return UnreadableError(f"{text[:60]!a} is not a formula in the model's letters, such as '34sbh + 5as^2b'.")
