"""Edits of sizes: another published size, one size of another model, one size in place of another, a size mistyped or rounded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, islice, product
from math import gcd
from typing import Any

from sympy import Expr, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import count, text
from paramsym.algebra.symbols import BY_NAME
from paramsym.algebra.wanted import symbol_of
from paramsym.analysis.counted import holder
from paramsym.analysis.reconcile.edits import Edit, resized
from paramsym.analysis.reconcile.subject import Subject, evaluated
from paramsym.analysis.wording import listed
from paramsym.core.at import published_sizes
from paramsym.errors import ArgumentError, ParamsymError, SizeError
from paramsym.naming import described

_ALIKE = 16  # one size may replace another within this factor
_PADDINGS = (8, 16, 32, 64, 100, 128, 256, 512, 1000, 1024)
_USUAL = 0.02  # a kind of mistake that hits more claims than this by chance is no explanation
_RARE = Fraction(1, 400)  # an integer root rarer than this needs no typing error to be believed
_NEAR = 2  # a root beyond this factor is another model
_GROUPED = (BY_NAME["G"].symbol, BY_NAME["A"].symbol)
_LABELS, _LENGTH = BY_NAME["N"].symbol, BY_NAME["S"].symbol
_CONFUSED = ({"G", "A"}, {"H", "F"}, {"H", "D"}, {"D", "A"}, {"P", "S"}, {"P", "H"}, {"S", "T"}, {"C", "K"}, {"d", "h"})
"""Sizes that are mistaken for each other: heads of queries and of keys, widths, heads and their width, positions, channels."""
_MOST_ASKED = 10_000  # the most combinations of the user's values; they take about a second
_TYPED = 3  # the fewest digits of a number for a mistyped digit


def other_sizes(subject: Subject, others: Mapping[Symbol, Iterable[int]]) -> Iterator[Edit]:
    """Yield the edits with other sizes that do not depend on the claim."""
    yield from _published(subject)
    yield from _asked(subject, others)
    yield from _substituted(subject)
    yield from _thousands(subject)
    yield from _rounded(subject)


def _asked(subject: Subject, others: Mapping[Symbol, Iterable[int]]) -> Iterator[Edit]:
    """Yield the sizes that the user named, alone and together: two models differ in more than one size."""
    left = _MOST_ASKED
    choices = [(symbol, [value for value in values if value != subject.sizes[symbol]]) for symbol, values in others.items()]
    for size in range(1, len(choices) + 1):
        for chosen in combinations(choices, size):
            for values in islice(product(*(values for _, values in chosen)), left):
                left -= 1
                changes = dict(zip((symbol for symbol, _ in chosen), values, strict=True))
                yield resized(subject, changes, listed(_in_place(subject, changes)), 1.05, asked=True)


def _published(subject: Subject) -> Iterator[Edit]:
    alone: dict[tuple[Symbol, int], list[str]] = {}
    root = holder(subject.root)
    for name in root.published:
        try:
            sizes = published_sizes(type(root).__name__, root.published, name, partial(getattr, root))
        except ParamsymError:
            continue  # another structure without a count in these letters
        changed = {symbol: int(size) for symbol, size in sizes.items() if symbol in subject.sizes and subject.sizes[symbol] != size}
        if changed:
            yield resized(subject, changed, f"the count of {name}", 1.0)
            for symbol, value in changed.items():
                alone.setdefault((symbol, value), []).append(name)
    for (symbol, value), names in alone.items():
        if symbol in subject.formula.free_symbols:
            words = f"{symbol} = {value:,}, as in {names[0]}, in place of {_now(subject, symbol)}"
            yield resized(subject, {symbol: value}, words, 1.3)


def _substituted(subject: Subject) -> Iterator[Edit]:
    """Yield one size in place of another: key/value heads for heads, a separate head size for a share of the hidden size."""
    slices: dict[Any, Any] = {
        factors[1]: factors[0]  # the width of slices, after their number
        for line in subject.lines
        for factors in line.axes
        if len(factors) == 2 and factors[0] in subject.sizes and isinstance(factors[1], Symbol)
    }
    for symbol, now in sorted(subject.used.items(), key=lambda pair: pair[0].name):
        exponents = [exponent for monomial in subject.formula.terms for generator, exponent in monomial if generator == symbol]
        if all(exponent < 0 for exponent in exponents):
            if now > 1:
                yield resized(subject, {symbol: 1}, f"{_in_place(subject, {symbol: 1})[0]}, with nothing divided", 1.3)
            continue  # G*H/A with another A equals G*H/A with another G, which is simpler
        for other, value in subject.whole.items():
            if other != symbol and value != now and now < _ALIKE * value and value < _ALIKE * now:
                cost, known = 1.04 if (symbol, other) == _GROUPED else 1.5, {symbol.name, other.name} in _CONFUSED
                words = f"{'' if known else 'no known habit; '}{other} in place of {symbol}{'' if known else ' would give it'}"
                yield resized(subject, {symbol: value}, words, cost, letters=((symbol, other),), known=known)
        for width, value in subject.whole.items() if symbol in slices else ():
            heads = slices[symbol]
            quotient, rest = divmod(value, subject.whole.get(heads, value + 1))
            if width not in {symbol, heads} and quotient and rest == 0 and quotient != now:
                words = f"{width}/{heads} in place of {symbol}"
                yield resized(subject, {symbol: quotient}, words, 1.3, letters=((symbol, width / heads),))


def _thousands(subject: Subject) -> Iterator[Edit]:
    """Yield all powers of two read as thousands, such as a width of 4K read as 4,000; nobody writes 14,336 as 14K. And positions alone."""
    changes = {symbol: size // 1024 * 1000 for symbol, size in subject.used.items() if size % 1024 == 0}
    if _LENGTH in changes and len(changes) > 1:
        alone = {_LENGTH: changes[_LENGTH]}
        yield resized(subject, alone, f"{_in_place(subject, alone)[0]}: thousands for units of 1,024", 0.98)
    if any(subject.used[symbol].bit_count() > 1 for symbol in changes):
        return
    if changes:
        yield resized(subject, changes, f"{', '.join(_in_place(subject, changes))}: thousands for units of 1,024", 0.99)


def _rounded(subject: Subject) -> Iterator[Edit]:
    """Yield rounded sizes: 30,000 for 30,522, 4,000 for 4,096 (with the sizes that are multiples of it)."""
    for symbol, size in subject.used.items():
        for unit in [10 ** (len(str(size)) - digits) for digits in (1, 2)] if size >= 1000 else ():
            for value in dict.fromkeys(((size + unit // 2) // unit * unit, size // unit * unit)):
                for cost, followers in enumerate(_alone_and_along(subject, symbol)) if value not in {size, 0} else ():
                    changes = _with(symbol, value, followers)
                    words = f"{symbol} = {value:,}, rounded from {size:,}{_along(changes, symbol)}"
                    yield resized(subject, changes, words, 1.4 + 0.1 * cost)


@dataclass(frozen=True)
class OneSize:
    """The count as powers of one size, with the others put in; ``followers`` are sizes that change with it, as F = 4*H does with H."""

    symbol: Symbol
    size: int
    powers: dict[int, Fraction]
    followers: dict[Symbol, int]

    def value(self, size: int) -> Fraction:
        """Return the count at a size."""
        return sum((coefficient * Fraction(size) ** exponent for exponent, coefficient in self.powers.items()), Fraction(0))

    def root(self, low: int, high: int) -> int | None:
        """Return the whole number up to ten times the size at which the rising count falls between two counts, if there is one."""
        rising = all(exponent >= 0 and (exponent == 0 or coefficient >= 0) for exponent, coefficient in self.powers.items())
        if not rising or self.value(10 * self.size) < low:
            return None
        found = bisect_left(range(10 * self.size), Fraction(low), 1, key=self.value)
        # If a rounded claim allows several roots, none of them is an explanation.
        return found if found != self.size and low <= self.value(found) <= high < self.value(found + 1) else None


def by_size(subject: Subject) -> Iterator[OneSize]:
    """Yield the count as powers of each size, alone and with its followers."""
    for symbol, size in subject.used.items():
        for followers in _alone_and_along(subject, symbol):
            powers = _univariate(subject, symbol, followers)
            if powers is not None:
                yield OneSize(symbol, size, powers, followers)


def roots(subject: Subject, sizes: Iterable[OneSize], low: int, high: int) -> Iterator[Edit]:
    """Yield the changed sizes, one at a time, that give the claim: an integer root, and the reason to believe it."""
    for one in sizes:
        root = one.root(low, high)
        belief = None if root is None else _belief(subject, one, root, low, high)
        if root is not None and belief is not None:
            words, cost = belief
            changes = _with(one.symbol, root, one.followers)
            along, cost = _along(changes, one.symbol), cost + 0.1 * bool(one.followers)
            if words:
                yield resized(subject, changes, f"{one.symbol} = {root:,}{along} in place of {one.size:,}{words}", cost)
            else:
                words = f"no known habit; {one.symbol} = {root:,}{along} in place of {one.size:,} would give it"
                yield resized(subject, changes, words, cost, known=False)


def _belief(subject: Subject, one: OneSize, root: int, low: int, high: int) -> tuple[str, float] | None:
    """Return the mistake by which a claim may have used a root, empty if none is known, and its cost; None if many sizes fit."""
    if low == high and one.symbol == _LABELS:
        return ": a classifier has as many classes as its data", 1.2
    near = one.size <= _NEAR * root and root <= _NEAR * one.size
    step = abs(one.value(root + 1) - one.value(root))
    if low != high:  # a rounded claim determines a size only if each step of the size is large
        return ("", 1.4) if near and (high - low) * 10 <= step else None
    for words, slips in _slips(one.size):
        if root in slips:
            by_chance = [int(one.value(slip)) - subject.count for slip in slips]
            if subject.expected(by_chance, low - subject.count) <= _USUAL:
                return words, 1.2
    if not near:
        return None
    # Claims are not arbitrary numbers: even wrong claims are multiples of some width, so they fit by chance more often.
    numbers = [size for size in subject.whole.values() if size > 0 and (low - subject.count) % size == 0]
    shared = max((gcd(int(step), number) for number in numbers), default=1)
    return ("", 1.8) if shared / max(step, Fraction(1)) <= _RARE else None


def _slips(size: int) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield the results of one mistake of each kind in a size: the words, the numbers."""
    digits = str(size)
    cuts = range(len(digits))
    exchanged = {digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :] for i in cuts[:-1]}
    typed = {digits[:i] + other + digits[i + 1 :] for i in cuts for other in "0123456789"}
    typed |= {digits[:i] + digits[i + 1 :] for i in cuts} | {digits[:i] + digits[i] + digits[i:] for i in cuts}
    yield ", off by one", frozenset({size - 1, size + 1})
    yield ", padded", frozenset((size // multiple + 1) * multiple for multiple in _PADDINGS if multiple < size)
    for words, written in ((", digits exchanged", exchanged), (", digits mistyped", typed)):
        yield words, frozenset(int(one) for one in written if len(one) >= _TYPED and one != digits and one[0] != "0")


def _alone_and_along(subject: Subject, symbol: Symbol) -> list[dict[Symbol, int]]:
    """Return the sizes that change with one, by their ratio to it: none, then those that are a small multiple of it, as F = 4*H."""
    size = subject.used[symbol]
    ratios = {other: value // size for other, value in subject.used.items() if size > _ALIKE and value % size == 0}
    followers = {other: ratio for other, ratio in ratios.items() if 1 < ratio <= 8}
    return [{}, followers] if followers else [{}]


def _with(symbol: Symbol, value: int, followers: Mapping[Symbol, int]) -> dict[Symbol, int]:
    return {symbol: value} | {other: ratio * value for other, ratio in followers.items()}


def _along(changes: Mapping[Symbol, int], symbol: Symbol) -> str:
    others = [f"{other} = {value:,}" for other, value in changes.items() if other != symbol]
    return f" (and {', '.join(others)} with it)" if others else ""


def _univariate(subject: Subject, symbol: Symbol, followers: Mapping[Symbol, int]) -> dict[int, Fraction] | None:
    """Return the count as powers of one size, with the others put in; None if it is inside a floor or another function."""
    powers: dict[int, Fraction] = {}
    for monomial, coefficient in subject.formula.terms.items():
        exponent, product = 0, Fraction(coefficient)
        for generator, power in monomial:
            if generator == symbol:
                exponent += power
            elif isinstance(generator, Symbol) and generator in followers:
                exponent += power
                product *= Fraction(followers[generator]) ** power
            elif symbol in generator.free_symbols or any(other in generator.free_symbols for other in followers):
                return None
            else:
                product *= evaluated(Polynomial({frozenset({(generator, power)}): 1}), subject.sizes)
        powers[exponent] = powers.get(exponent, Fraction(0)) + product
    return powers


def impossible(subject: Subject, changes: Mapping[Symbol, int]) -> str | None:
    """Return why a layer cannot have these sizes: empty if it can, None if it would be another layer."""
    sizes: dict[Symbol, int | Expr] = {**subject.sizes, **changes}
    try:
        built = subject.root.at(sizes)
    except SizeError as error:
        return str(error).removeprefix(f"{type(holder(subject.root)).__name__}: ")
    except ParamsymError:
        return None
    return "" if built.polynomial == Polynomial.of(subject.value(subject.formula, sizes)) else None


def symbols_of(subject: Subject) -> dict[Symbol, tuple[int, ...]]:
    """Return the user's sizes to try, by symbol.

    Raises:
        ArgumentError: something other than a mapping.
        UnknownNameError: an unknown name, or one without a size.
        SizeError: a value that is not a size.
    """
    if not isinstance(subject.others, Mapping | None):
        raise ArgumentError(f"others is {described(subject.others)}; wanted sizes to try by symbol, such as {{'F': [27392]}}.")
    found: dict[Symbol, tuple[int, ...]] = {}
    for key, values in (subject.others or {}).items():
        if not isinstance(key, str | Symbol):
            raise ArgumentError(f"others has the key {described(key)}; wanted a symbol or its name, as in {{'F': [27392]}}.")
        symbol = symbol_of(f"{subject.name} at its sizes", key, subject.sizes)
        checked = [count(value, f"others: {symbol}") for value in islice(values if isinstance(values, Iterable) else [values], _MOST_ASKED)]
        wrong = [value for value in checked if not isinstance(value, int)]
        if wrong:
            raise SizeError(f"others: {symbol} is {wrong[0]}; wanted whole numbers.")
        found[symbol] = tuple(map(int, checked))
    return found


def _in_place(subject: Subject, changes: Mapping[Symbol, int]) -> list[str]:
    return [f"{symbol} = {value:,} in place of {_now(subject, symbol)}" for symbol, value in changes.items()]


def _now(subject: Subject, symbol: Symbol) -> str:
    size = subject.sizes[symbol]
    return f"{size:,}" if isinstance(size, int) else text(size)
