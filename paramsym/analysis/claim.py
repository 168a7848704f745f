"""Reading a claim: ``110M``, ``109,482,240``, ``12*768*12 = 110M``, ``12*L*H**2``. Small grammars; no string is ever evaluated as code.

A claim about a cost may end in its unit: 4.9 GB, 15.5 GFLOPs, 3.14e23 FLOPs. Other claims are one expression, or two
with ``=`` between them. An expression is made of numbers, ``*`` (or ``x``, as in 8x7B), ``+``, ``-`` and parentheses. A number has
digits (``,`` separates thousands and nothing else, ``_`` between any two digits), at most one decimal point, and a unit: K, M, B or G,
T, also in words, or a power of ten (1.3e9); Ki, Mi, Gi, Ti for powers of 1024. Letters of the model, powers and quotients are read by
``paramsym.algebra.grammar``, or by ``notation`` if they are written as in papers; an expression of SymPy is used directly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from sympy import Expr, Integer, Symbol

from paramsym.algebra import grammar
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, canonical, expressions, substitute, symbols_in, text
from paramsym.analysis import notation
from paramsym.analysis.counted import numbers
from paramsym.errors import ArgumentError, UnknownNameError
from paramsym.naming import MOST_BITS, described, short

_LONGEST = 200
_DEEPEST = 20
_MOST_DIGITS = 30
_FINE = 50  # the largest unit of the last digit, as a part of the number
_THOUSANDS = ("k thousand", "m mn million", "b bn g billion", "t trillion")
_UNITS = {
    "": 1,
    **{unit: 1000**power for power, units in enumerate(_THOUSANDS, 1) for unit in units.split()},
    **{unit: 1024**power for power, unit in enumerate(("ki", "mi", "gi", "ti"), 1)},
}
_IN_UNITS = re.compile(
    r"(?P<digits>\d{1,15}(?:\.\d{1,15})?)(?:[eE](?P<power>\d{1,2}))?\s*(?P<scale>[kKMGTPEZ]?)(?P<binary>i?)"
    r"\s*(?P<unit>[Ff][Ll][Oo][Pp][Ss]?|M[Aa][Cc][Ss]?|[Mm]ult(?:iply)?-adds?|[Bb]ytes?|(?<=[kKMGTPEZi])B|elements?|numbers)"
)
_SCALES = ("", "K", "M", "G", "T", "P", "E", "Z")
_POWER = re.compile(r"\*\*|//")
_BINARY = {1000**power: 1024**power for power in range(1, 5)}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[1-9]\d{0,2}(?:,\d{3})+(?!\d)|\d+(?:_\d+)*)(?:\.\d+)?(?:[eE]\d{1,2})?)(?P<unit>\s*(?:thousand|million|billion|trillion|[KkMGTB]i|mn|bn|[KkMmBbGgTt]))?(?![A-WYZa-wyz])"
    r"|(?P<sign>[*\u00d7xX+()=-]))"
)


@dataclass(frozen=True)
class Stated:
    """A number as stated: its ``value``, and the range ``low`` to ``high`` that rounds to it; exact if both equal it.

    ``factors`` are the whole numbers of a plain product. ``binary`` is the same number with its unit read as a power of 1024.
    """

    words: str
    value: int
    low: int
    high: int
    digits: int = 0
    factors: tuple[int, ...] = ()
    binary: Stated | None = field(default=None, repr=False)

    @property
    def exact(self) -> bool:
        """Whether the number is exact, not rounded."""
        return self.low == self.high

    def times(self, factor: int, words: str) -> Stated:
        """Return the number in a unit of which ``factor`` are one of the old unit."""
        binary = None if self.binary is None else self.binary.times(factor, words)
        return Stated(words, factor * self.value, factor * self.low, factor * self.high, self.digits, binary=binary)

    def allows(self, count: int) -> bool:
        """Whether a count agrees with the number, within its rounding."""
        return self.low <= count <= self.high

    def bent(self, count: int) -> str:
        """Return how a count that does not round to the number can give it: cut off (1.5B for 1.558B) or rounded up; otherwise nothing.

        Rounding up needs enough digits: nearly every count above 100M could be rounded up to 120M. A zero before the unit is a digit here:
        who cuts 117M off writes no 110M.
        """
        unit = min(self.high - self.low, 1000 ** ((len(str(self.value)) - 1) // 3))
        if not self.digits or not abs(count - self.value) < unit:
            return ""
        return "cut off, not rounded" if count > self.value else "rounded up" if unit <= self.value // _FINE else ""

    def shared(self, parts: int) -> Stated | None:
        """Return the number as a multiple of a rounder one, as 56B is 8 times 7B; None if it is not."""
        whole, rest = divmod(self.value, parts)
        each = None if rest or self.exact else rounded(whole)
        return None if each is None else Stated(each.words, self.value, parts * each.low, parts * each.high, each.digits)


def exactly(value: int, words: str | None = None) -> Stated:
    """Return a number that is not rounded."""
    return Stated(f"{value:,}" if words is None else words, value, value, value)


@dataclass(frozen=True)
class Claim:
    """A claim: a number, and the result of its arithmetic, if it has any.

    ``formula`` is the arithmetic in letters of the model, if it has any; ``unit`` is the stated unit.
    """

    words: str
    stated: Stated
    arithmetic: Stated | None = None
    formula: Polynomial | None = None
    unit: str = ""


def read(claim: float | str | Expr, sizes: Mapping[Symbol, Dim] | None = None, names: Mapping[str, Dim] | None = None) -> Claim:
    """Read a claim; ``sizes`` are the letters of the model that it may contain, ``names`` the names that it may use for them.

    A whole float is read as it is written: 1.3e9 is "1.3e9".

    Raises:
        ArgumentError: neither a whole number above zero, nor a string of the grammar, nor an expression in these letters.

    >>> read("110M").stated.low, read("110M").stated.high
    (105000000, 115000000)
    >>> read("12*768*12 = 110M").arithmetic.value
    110592
    >>> from paramsym import H, L
    >>> read("12*L*H**2", {H: 768, L: 12}).stated.value
    84934656
    """
    known = {} if sizes is None else sizes
    named = names or {symbol.name: symbol for symbol in known}
    if isinstance(claim, Expr) and not isinstance(claim, Integer):
        return _of_expression(text(claim), _own_letters(claim, known), known, text(claim))
    claim = int(claim) if isinstance(claim, Integer) else as_written(claim) if isinstance(claim, float) else claim
    if isinstance(claim, bool) or not isinstance(claim, int | str):
        hint = " For a module, pass module.state_dict()." if hasattr(claim, "state_dict") else ""
        raise ArgumentError(
            f"a claim is an int, a string such as '110M' or '12*L*H**2', an expression, a layer or a mapping of shapes, not"
            f" {described(claim)}.{hint}"
        )
    if isinstance(claim, int):
        if claim < 0:
            raise ArgumentError(f"the claim {described(claim)} is below zero; a count is not.")
        _check_length(claim)
        return Claim(f"{claim:,}", exactly(claim))
    in_units = _IN_UNITS.fullmatch(claim.strip())
    if in_units is not None:
        return _in_units(claim.strip(), in_units)
    words = re.sub(
        r"(?i)^\s*(about|around|approximately|roughly|some|~|\u2248)\s*|\s*(trainable\s+)?(parameters|params|weights)\s*$", "", claim
    )
    sides = [side.strip() for side in re.split(r"=|\u2248", words)]
    if len(words) > _LONGEST or len(sides) > 2:
        raise _unreadable(claim)
    results = [_side(side, claim, known, named) for side in sides]
    if len(sides) > 1 and not _is_arithmetic(sides[0]) and results[0].formula is None:  # 110M = 12*768*12
        sides.reverse()
        results.reverse()
    first, last = results[0], results[-1]
    arithmetic = first.stated if _is_arithmetic(sides[0]) or first.formula is not None else None
    return Claim(words.strip(), last.stated, arithmetic, first.formula)


def as_written(claim: float) -> str:
    """Return a whole float as people write it, with the digits that it has."""
    if not claim.is_integer():
        raise ArgumentError(f"the claim {claim!r} is not a whole number; a count is, or write it as a string, such as '110.5M'.")
    if claim < 0:
        raise ArgumentError(f"the claim {described(claim)} is below zero; a count is not.")
    return f"{Decimal(repr(claim)).normalize():e}".replace("e+", "e")


def _in_units(claim: str, found: re.Match[str]) -> Claim:
    """Read a number with a unit of costs: 4.9 GB, 2 GiB, 15.5 GFLOPs, 3.14e23 FLOPs."""
    power = _SCALES.index(found["scale"].upper())
    unit = 10 ** int(found["power"] or 0) * (1024 if found["binary"] else 1000) ** power
    number = _number(found["digits"], unit, claim)
    binary = None if found["binary"] or not power or number.exact else _number(found["digits"], 1024**power, claim)
    first = found["unit"][0].lower()
    named = {"f": "FLOPs", "m": "MACs", "b": "bytes", "e": "elements", "n": "elements"}[first]
    return Claim(claim, replace(number, words=claim, binary=binary), unit=named)


def _side(side: str, claim: str, sizes: Mapping[Symbol, Dim], names: Mapping[str, Dim]) -> Claim:
    """Read one side: numbers and arithmetic first, whose units look like letters; then an expression in the model's letters."""
    try:
        return Claim(side, _Reader(side, claim).result())
    except ArgumentError:
        mentioned = grammar.mentioned(side)
        if mentioned:
            try:
                return _of_expression(side, _expression(side, names), sizes, claim)
            except notation.UnreadableError:
                pass
        if (mentioned and not mentioned & names.keys()) or (not _POWER.search(side) and not mentioned):
            raise
    try:
        value = grammar.read(side, names)
    except ArgumentError as error:
        raise ArgumentError(f"the claim {error}") from None
    return _of_expression(side, value, sizes, claim)


def _expression(side: str, names: Mapping[str, Dim]) -> Dim:
    try:
        return grammar.read(side, names)
    except (ArgumentError, UnknownNameError):
        return notation.read(side, names).as_expr()


def _check_length(number: int) -> None:
    if number.bit_length() > MOST_BITS:
        raise ArgumentError(f"the claim has {number.bit_length()} bits; {MOST_BITS} are the limit.")


def _of_expression(words: str, value: Dim, sizes: Mapping[Symbol, Dim], claim: str) -> Claim:
    number = substitute(value, expressions(numbers(sizes)))
    what = "not a whole number; put sizes in for its letters"
    if isinstance(number, int | Integer):
        _check_length(int(number))
        what = "below zero; a count is not" if number < 0 else ""
    if what:
        raise ArgumentError(f"the claim {short(claim, 60)!r} is {number}, {what}.")
    stated = exactly(int(number), words)
    return Claim(words, stated, stated, Polynomial.of(value) if symbols_in(value) else None)


def _own_letters(claim: Expr, sizes: Mapping[Symbol, Dim]) -> Dim:
    """Return an expression in the model's own letters, which may be other symbols of the same names."""
    names = {symbol.name: symbol for symbol in sizes}
    for symbol in symbols_in(claim):
        if symbol.name not in names:
            raise grammar.unknown(symbol.name, names, "size")
    return canonical(substitute(claim, {symbol: names[symbol.name] for symbol in symbols_in(claim)}))


def rounded(value: int) -> Stated | None:
    """Return a whole number that ends in zeros as a rounded number; None if it cannot be one."""
    mantissa = str(value).rstrip("0")
    zeros = len(str(value)) - len(mantissa)
    if zeros < 4 or len(mantissa) > 4:
        return None
    half = 10**zeros // 2
    return Stated(f"{value:,}", value, value - half, value + half, len(mantissa))


def _is_arithmetic(side: str) -> bool:
    return any(sign in side for sign in "*\u00d7xX+-(")


class _Reader(notation.Tokens):
    token = _TOKEN

    def __init__(self, text: str, claim: str) -> None:
        super().__init__(text)
        self.claim = claim

    def result(self) -> Stated:
        found = self._sum()
        if not self.ended:
            raise _unreadable(self.claim)
        return replace(found, words=self.text)

    def _sum(self) -> Stated:
        total = self._product()
        while sign := self.take("sign", "+-"):
            other = self._product()
            value, low, high = (other.value, other.low, other.high) if sign == "+" else (-other.value, -other.high, -other.low)
            total = Stated("", total.value + value, total.low + low, total.high + high)
        return total

    def _product(self) -> Stated:
        total = self._atom()
        while self.take("sign", "*\u00d7xX"):
            other = self._atom()
            factors = (*(total.factors or (total.value,)), other.value) if total.exact and other.exact else ()
            total = Stated("", total.value * other.value, total.low * other.low, total.high * other.high, factors=factors)
        return total

    def _atom(self) -> Stated:
        if self.take("sign", "("):
            self.depth += 1
            inner = self._sum() if self.depth <= _DEEPEST else None
            if inner is None or not self.take("sign", ")"):
                raise _unreadable(self.claim)
            return inner
        found = self.here
        if found is None or not found["number"]:
            raise _unreadable(self.claim)
        self.position = found.end()
        digits, unit = found["number"].replace(",", "").replace("_", ""), _UNITS[(found["unit"] or "").strip().lower()]
        number = _number(digits, unit, self.claim)
        return number if number.exact or unit not in _BINARY else replace(number, binary=_number(digits, _BINARY[unit], self.claim))


def _number(digits: str, unit: int, claim: str) -> Stated:
    digits, _, power = digits.lower().partition("e")
    unit *= 10 ** int(power or 0)
    whole, point, decimals = digits.partition(".")
    if len(whole) + len(decimals) > _MOST_DIGITS:
        raise _unreadable(claim)
    value = Fraction(digits) * unit
    if unit == 1 and not point:
        return exactly(int(value), "")
    # 110M has two significant digits, 12.6M three, 100M two: a zero before the unit counts only if other zeros or digits come before it.
    significant = len((whole + decimals).lstrip("0")) if point else max(len(whole.rstrip("0")), len(whole) - 1, 1)
    last = Fraction(unit, 10 ** len(decimals)) if point else unit * 10 ** (len(whole) - significant)
    below = 20 if value == last else 2  # one, ten: a smaller number would have been written with a digit of its own, as nine
    return Stated("", round(value), ceil(value - Fraction(last) / below), floor(value + Fraction(last) / 2), significant)


def _unreadable(claim: str) -> ArgumentError:
    comma = " A comma separates thousands; a decimal point is a dot." if re.search(r"\d,\d", claim) else ""
    return ArgumentError(
        f"the claim {short(claim, 60)!r} is not understood; write 109482240, '110M', '1.5B', '12.6Mi', '12*768*12', '12*768*12 = 110M', or"
        f" an expression in the model's letters, such as '12*L*H**2'.{comma}"
    )
