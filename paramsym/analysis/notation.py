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
from collections.abc import Container, Mapping
from fractions import Fraction
from functools import reduce
from typing import ClassVar

from paramsym.algebra.grammar import DEEPEST, LONGEST
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.errors import ArgumentError, SizeError

_SUPERSCRIPTS = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "0123456789")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,18}(?:\.\d{1,9})?)|(?P<letters>[A-Za-z_]+)|(?P<raised>[\u2070\u00b9\u00b2\u00b3\u2074-\u2079])"
    r"|(?P<opening>\()|(?P<sign>\*\*|[-+*/)^\u00b7\u00d7\u22c5]))"
)
_TIMES = frozenset("*/\u00b7\u00d7\u22c5")
_HIGHEST = 9
_MOST_TERMS = 400


class UnreadableError(ArgumentError):
    """A string that is not a formula in the notation of papers."""


def read(text: str, names: Mapping[str, Dim]) -> Polynomial:
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
    if not reader.ended:
        raise _unreadable(text)
    return found


class Tokens:
    """The tokens of a text, left to right; a subclass says what a token is, in named groups."""

    token: ClassVar[re.Pattern[str]]

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = self.depth = 0

    @property
    def ended(self) -> bool:
        """Whether nothing is left to read."""
        return not self.text[self.position :].strip()

    @property
    def here(self) -> re.Match[str] | None:
        """The next token."""
        return self.token.match(self.text, self.position)

    def take(self, kind: str, among: Container[str] | None = None) -> str:
        """Read the next token if it is of this kind, and one of some; empty otherwise."""
        found = self.here
        if found is None or not found[kind] or (among is not None and found[kind] not in among):
            return ""
        self.position = found.end()
        return found[kind]


class _Reader(Tokens):
    token = _TOKEN

    def __init__(self, text: str, names: Mapping[str, Dim]) -> None:
        super().__init__(text)
        self.names = names

    def sum(self) -> Polynomial:
        total = self._product()
        while sign := self.take("sign", "+-"):
            other = self._product()
            total = total + (other if sign == "+" else -other)
        return total

    def _product(self) -> Polynomial:
        total = self._beside()
        while sign := self.take("sign", _TIMES):
            other = self._beside()
            total = self._times(total, self._inverse(other) if sign == "/" else other)
        return total

    def _beside(self) -> Polynomial:
        total = self._power()
        while (token := self.here) is not None and (token["opening"] or token["number"] or token["letters"]):
            total = self._times(total, self._power())
        return total

    def _times(self, one: Polynomial, other: Polynomial) -> Polynomial:
        if len(one.terms) * len(other.terms) > _MOST_TERMS:
            raise _unreadable(self.text)
        return one * other

    def _power(self) -> Polynomial:
        *others, last = self._atom()
        exponent = 1
        if raised := self.take("raised"):
            exponent = int(raised.translate(_SUPERSCRIPTS))
        elif self.take("sign", {"^", "**"}):
            written = self.take("number")
            if not written.isdigit() or int(written) > _HIGHEST:
                raise _unreadable(self.text)
            exponent = int(written)
        return reduce(self._times, (*others, *[last] * exponent), Polynomial.of(1))

    def _atom(self) -> list[Polynomial]:
        """Read one atom; the exponent belongs to the last of several letters."""
        if number := self.take("number"):
            value = Fraction(number)
            return [Polynomial({frozenset(): int(value) if value.denominator == 1 else value})]
        if letters := self.take("letters"):
            return [Polynomial.of(self._letter(name)) for name in ((letters,) if letters in self.names else letters)]
        self.depth += 1
        if self.depth > DEEPEST or not self.take("opening"):
            raise _unreadable(self.text)
        inside = self.sum()
        if not self.take("sign", ")"):
            raise _unreadable(self.text)
        self.depth -= 1
        return [inside]

    def _letter(self, name: str) -> Dim:
        known = next((one for one in (name, name.upper()) if one in self.names), None)
        if known is None:
            raise _unreadable(self.text)
        return self.names[known]

    def _inverse(self, divisor: Polynomial) -> Polynomial:
        try:
            return divisor.inverse()
        except SizeError:
            raise _unreadable(self.text) from None


def _unreadable(text: str) -> UnreadableError:
    return UnreadableError(f"{text[:60]!a} is not a formula in the model's letters, such as '34sbh + 5as^2b'.")
