"""Edits of sizes: another published size, one size of another model, one size in place of another, a size mistyped or rounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, islice, product
from math import gcd
from typing import Any

from sympy import Expr, Integer, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import count, substitute, text
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.counted import holder
from paramsym.analysis.reconcile.edits import Edit
from paramsym.analysis.reconcile.subject import Subject, evaluated
from paramsym.analysis.wording import listed
from paramsym.core.at import published_sizes, symbol_of
from paramsym.errors import ArgumentError, ParamsymError, SizeError
from paramsym.naming import described

_ALIKE = 16  # one size may replace another within this factor
_PADDINGS = (8, 16, 32, 64, 100, 128, 256, 512, 1000, 1024)
_USUAL = 0.02  # a kind of mistake that hits more claims than this by chance is no explanation
_RARE = Fraction(1, 400)  # an integer root rarer than this needs no typing error to be believed
_NEAR = 2  # a root beyond this factor is another model
_GROUPED = (BY_NAME["G"].symbol, BY_NAME["A"].symbol)
_MOST_ASKED = 10_000  # the most combinations of the user's values; they take about a second
_TYPED = 3  # the fewest digits of a number for a mistyped digit


def resized(subject: Subject, others: Mapping[Symbol, Iterable[int]]) -> Iterator[Edit]:
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
                number = subject.value(subject.formula, {**subject.sizes, **changes}) - subject.count
                shown = [f"{symbol} = {value:,} in place of {_now(subject, symbol)}" for symbol, value in changes.items()]
                yield Edit(listed(shown), (), number, 1.05, sizes=tuple(changes.items()), alone=True, asked=True)


def _published(subject: Subject) -> Iterator[Edit]:
    """Yield the other published sizes of the model, and each of their sizes alone."""
    alone: dict[tuple[Symbol, int], list[str]] = {}
    root = holder(subject.root)
    for name in root.published:
        try:
            sizes = published_sizes(type(root).__name__, root.published, name, partial(getattr, root))
        except ParamsymError:
            continue  # another structure without a count in these letters
        changed = {symbol: int(size) for symbol, size in sizes.items() if symbol in subject.sizes and subject.sizes[symbol] != size}
        if changed:
            yield _changed(subject, changed, f"the count of {name}", 1.0)
            for symbol, value in changed.items():
                alone.setdefault((symbol, value), []).append(name)
    for (symbol, value), names in alone.items():
        if symbol in subject.formula.free_symbols:
            words = f"{symbol} = {value:,}, as in {names[0]}, in place of {_now(subject, symbol)}"
            yield _changed(subject, {symbol: value}, words, 1.3)


def _substituted(subject: Subject) -> Iterator[Edit]:
    """Yield one size in place of another: key/value heads for heads, a separate head size for a share of the hidden size."""
    formula = subject.formula.as_expr()
    used = sorted((s for s in subject.formula.free_symbols if s in subject.sizes), key=lambda s: s.name)
    numbers = {symbol: int(size) for symbol, size in subject.sizes.items() if isinstance(size, int)}
    slices = dict(_slices(subject))
    for symbol in used:
        if _only_divides(subject.formula, symbol):
            if numbers.get(symbol, 1) > 1:
                yield _changed(subject, {symbol: 1}, f"{symbol} = 1 in place of {_now(subject, symbol)}, with nothing divided", 1.3)
            continue  # G*H/A with another A equals G*H/A with another G, which is simpler
        for other, value in numbers.items():
            near = numbers[symbol] < _ALIKE * value and value < _ALIKE * numbers[symbol]
            if other != symbol and value != numbers[symbol] and near:
                term = Polynomial.of(substitute(formula, {symbol: other})) - subject.formula
                cost = 1.04 if (symbol, other) == _GROUPED else 1.5
                yield _moved(subject, term, {symbol: value}, f"{other} in place of {symbol}", cost)
        for width, value in numbers.items() if symbol in slices else ():
            heads = slices[symbol]
            quotient, rest = divmod(value, numbers.get(heads, value + 1))
            if width not in {symbol, heads} and quotient and rest == 0 and quotient != numbers[symbol]:
                term = Polynomial.of(substitute(formula, {symbol: width / heads})) - subject.formula
                yield _moved(subject, term, {symbol: quotient}, f"{width}/{heads} in place of {symbol}", 1.3)


def _slices(subject: Subject) -> Iterator[tuple[Symbol, Symbol]]:
    """Yield the widths of slices with their numbers: the factor after a number of heads in an axis."""
    for line in subject.lines:
        for factors in line.axes:
            if len(factors) == 2 and isinstance(factors[0], Symbol) and isinstance(factors[1], Symbol) and factors[0] in subject.sizes:
                yield factors[1], factors[0]


def _only_divides(formula: Polynomial, symbol: Symbol) -> bool:
    return all(exponent < 0 for monomial in formula.terms for generator, exponent in monomial if generator == symbol)


def _thousands(subject: Subject) -> Iterator[Edit]:
    """Yield all multiples of 1024 read as thousands, such as a width of 4K read as 4,000."""
    numbers = {symbol: size for symbol, size in subject.sizes.items() if isinstance(size, int) and symbol in subject.formula.free_symbols}
    changes = {symbol: size // 1024 * 1000 for symbol, size in numbers.items() if size % 1024 == 0}
    if changes:
        shown = ", ".join(f"{symbol} = {value:,} in place of {_now(subject, symbol)}" for symbol, value in changes.items())
        yield _changed(subject, changes, f"{shown}: thousands for units of 1,024", 1.0)


def _rounded(subject: Subject) -> Iterator[Edit]:
    """Yield rounded sizes: 30,000 for 30,522, 4,000 for 4,096 (with the sizes that are multiples of it)."""
    for symbol, size in subject.sizes.items():
        if symbol not in subject.formula.free_symbols or not isinstance(size, int) or size < 1000:
            continue
        for digits in (1, 2):
            unit = 10 ** (len(str(size)) - digits)
            for value in dict.fromkeys(((size + unit // 2) // unit * unit, size // unit * unit)):
                if value not in {size, 0}:
                    yield _changed(subject, {symbol: value}, f"{symbol} = {value:,}, rounded from {size:,}", 1.4)
                    together = _followers(subject, symbol, value)
                    if together:
                        words = f"{symbol} = {value:,}, rounded from {size:,}{_along(together, symbol)}"
                        yield _changed(subject, together, words, 1.5)


@dataclass(frozen=True)
class OneSize:
    """The count as powers of one size, with the others put in; ``followers`` are sizes that change with it, as F = 4*H does with H."""

    symbol: Symbol
    size: int
    powers: dict[int, Fraction]
    followers: dict[Symbol, int]


def by_size(subject: Subject) -> Iterator[OneSize]:
    """Yield the count as powers of each size, alone and with its followers."""
    for symbol, size in subject.sizes.items():
        if symbol not in subject.formula.free_symbols or not isinstance(size, int):
            continue
        along = _ratios(subject, symbol)
        for followers in ({}, along) if along else ({},):
            powers = _univariate(subject, symbol, followers)
            if powers is not None:
                yield OneSize(symbol, size, powers, followers)


def roots(subject: Subject, sizes: Iterable[OneSize], low: int, high: int) -> Iterator[Edit]:
    """Yield the changed sizes, one at a time, that give the claim: an integer root, and the reason to believe it."""
    for one in sizes:
        for root in _integer_roots(one.powers, low, high, one.size):
            belief = _belief(subject, one.size, root, one.powers, low, high)
            if belief is not None:
                changes = {one.symbol: root} | {other: root * ratio for other, ratio in one.followers.items()}
                words = f"{one.symbol} = {root:,}{_along(changes, one.symbol)} in place of {one.size:,}{belief[0]}"
                yield _changed(subject, changes, words, belief[1] + 0.1 * bool(one.followers))


def _belief(subject: Subject, size: int, root: int, powers: dict[int, Fraction], low: int, high: int) -> tuple[str, float] | None:
    """Return why a root may be what the claim used, and the cost of believing it; None without a reason."""
    near = size <= _NEAR * root and root <= _NEAR * size
    step = abs(_value(powers, root + 1) - _value(powers, root))
    if low != high:  # a rounded claim determines a size only if each step of the size is large
        return ("", 1.4) if near and (high - low) * 10 <= step else None
    for words, cost, slips in _slips(size):
        if root in slips and _expected(subject, powers, slips, low) <= _USUAL:
            return words, cost
    if not near:
        return None
    # Claims are not arbitrary numbers: even wrong claims are multiples of some width, so they fit by chance more often.
    numbers = [size for size in subject.sizes.values() if isinstance(size, int) and size > 0]
    shared = max((gcd(int(step), number) for number in numbers if (low - subject.count) % number == 0), default=1)
    chance = shared / max(step, Fraction(1))
    return ("", 1.8) if chance <= _RARE else None


def _expected(subject: Subject, powers: dict[int, Fraction], slips: Iterable[int], claim: int) -> float:
    """Return how many mistakes of one kind would fit a random claim by chance, as ``Subject.expected`` estimates it."""
    differences = [int(_value(powers, slip)) - subject.count for slip in slips]
    return subject.expected(differences, claim - subject.count)


def _value(powers: dict[int, Fraction], size: int) -> Fraction:
    return sum((coefficient * Fraction(size) ** exponent for exponent, coefficient in powers.items()), Fraction(0))


def _slips(size: int) -> Iterator[tuple[str, float, frozenset[int]]]:
    """Yield the results of one mistake of each kind in a size: the words, the cost, the numbers."""
    digits = str(size)
    cuts = range(len(digits))
    exchanged = {digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :] for i in cuts[:-1]}
    typed = {digits[:i] + other + digits[i + 1 :] for i in cuts for other in "0123456789"}
    typed |= {digits[:i] + digits[i + 1 :] for i in cuts} | {digits[:i] + digits[i] + digits[i:] for i in cuts}
    yield ", off by one", 1.2, frozenset({size - 1, size + 1})
    yield ", padded", 1.2, frozenset((size // multiple + 1) * multiple for multiple in _PADDINGS if multiple < size)
    for words, written in ((", digits exchanged", exchanged), (", digits mistyped", typed)):
        yield words, 1.2, frozenset(int(one) for one in written if len(one) >= _TYPED and one != digits and one[0] != "0")


def _ratios(subject: Subject, symbol: Symbol) -> dict[Symbol, int]:
    """The sizes that are this one times a small number: F = 4*H."""
    size = subject.sizes[symbol]
    if not isinstance(size, int) or size <= _ALIKE:
        return {}
    numbers = {other: value for other, value in subject.sizes.items() if isinstance(value, int) and other in subject.formula.free_symbols}
    return {other: value // size for other, value in numbers.items() if other != symbol and value % size == 0 and 1 < value // size <= 8}


def _followers(subject: Subject, symbol: Symbol, value: int) -> dict[Symbol, int]:
    ratios = _ratios(subject, symbol)
    return {symbol: value} | {other: ratio * value for other, ratio in ratios.items()} if ratios else {}


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


def _integer_roots(powers: dict[int, Fraction], low: int, high: int, size: int) -> Iterator[int]:
    """Yield the whole numbers up to ten times the size at which a rising polynomial falls between two counts; few or none."""
    rising = all(exponent >= 0 and (exponent == 0 or coefficient >= 0) for exponent, coefficient in powers.items())
    first, last = 1, 10 * size
    if not rising or _value(powers, last) < low:
        return
    while first < last:
        middle = (first + last) // 2
        first, last = (middle + 1, last) if _value(powers, middle) < low else (first, middle)
    # If a rounded claim allows several roots, none of them is an explanation.
    if first != size and low <= _value(powers, first) <= high < _value(powers, first + 1):
        yield first


def _changed(subject: Subject, changes: Mapping[Symbol, int], words: str, cost: float) -> Edit:
    """Return the edit with other numbers for some sizes; the letters of its term are the layer's sizes."""
    placed = Polynomial.of(substitute(subject.formula.as_expr(), {symbol: Integer(value) for symbol, value in changes.items()}))
    return _moved(subject, placed - subject.formula, changes, words, cost)


def _moved(subject: Subject, term: Polynomial, changes: Mapping[Symbol, int], words: str, cost: float) -> Edit:
    return Edit(words, (), subject.value(term), cost, fixed=term, sizes=tuple(changes.items()), alone=True)


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


def symbols_of(subject: Subject, others: Mapping[str | Symbol, Iterable[int]] | None) -> dict[Symbol, tuple[int, ...]]:
    """Return sizes to try, by symbol.

    Raises:
        ArgumentError: something other than a mapping.
        UnknownNameError: an unknown name, or one without a size.
        SizeError: a value that is not a size.
    """
    if not isinstance(others, Mapping | None):
        message = f"others is {described(others)}; wanted sizes to try by symbol, such as {{'F': [27392]}}."  # type: ignore[unreachable]
        raise ArgumentError(message)
    found: dict[Symbol, tuple[int, ...]] = {}
    for key, values in (others or {}).items():
        if not isinstance(key, str | Symbol):
            message = f"others has the key {described(key)}; wanted a symbol or its name, as in {{'F': [27392]}}."
            raise ArgumentError(message)
        symbol = symbol_of(f"{subject.name} at its sizes", key, subject.sizes)
        given: Any = values
        listed = given if isinstance(given, Iterable) else (given,)
        found[symbol] = tuple(_number(value, symbol.name) for value in islice(listed, _MOST_ASKED))
    return found


def _number(value: object, name: str) -> int:
    checked = count(value, f"others: {name}")
    if not isinstance(checked, int):
        message = f"others: {name} is {checked}; wanted whole numbers."
        raise SizeError(message)
    return checked


def _now(subject: Subject, symbol: Symbol) -> str:
    size = subject.sizes[symbol]
    return f"{size:,}" if isinstance(size, int) else text(size)
