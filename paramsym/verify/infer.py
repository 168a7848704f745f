"""Sizes from shapes: every axis of every tensor is an equation ``formula = number``; those in one unknown are solved, then the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sympy import Expr, Integer, Rational, Symbol

from paramsym.layer import Layer
from paramsym.polynomial import Polynomial
from paramsym.size import canonical, substitute, symbols_in
from paramsym.verify.stored import Shape
from paramsym.verify.templates import Template, templates

_LARGEST = 2**48  # no axis is longer; the search for a solution stops there


@dataclass(frozen=True)
class Equation:
    """An axis, or a number of copies, and the number that was found for it."""

    formula: Expr
    value: int
    where: str
    times: int = 1
    copies: bool = False


@dataclass(frozen=True)
class Inferred:
    """The sizes that the shapes determine, and, in words, where the shapes contradict each other."""

    sizes: Mapping[Symbol, int]
    contradictions: tuple[str, ...] = ()


def infer(layer: Layer, shapes: Mapping[str, Shape]) -> Inferred:
    """Solve for a layer's symbols. Where tensors disagree, the value that most of them give is taken, and the others are reported."""
    equations = list(_equations(layer, shapes))
    known: dict[Symbol, int] = {}
    notes: list[str] = []
    while True:
        poll = _Poll()
        for equation in equations:
            poll.ask(equation, known)
        found = poll.elected()
        if not found:
            found = poll.fewest_copies()
            notes.extend(f"the names leave open how large {symbol} is; {value:,} is the least that fits" for symbol, value in found.items())
        if not found:
            return Inferred(known, tuple(notes))
        notes.extend(poll.outvoted())
        known |= found


class _Poll:
    """One round: what each equation in one unknown says about it."""

    def __init__(self) -> None:
        self.votes: dict[Symbol, Counter[int]] = {}
        self.ranges: dict[Symbol, tuple[int, int]] = {}
        self.witness: dict[tuple[Symbol, int], str] = {}
        self.copies: set[Symbol] = set()

    def ask(self, equation: Equation, known: Mapping[Symbol, int]) -> None:
        """Count an equation's vote, or narrow the range, where the sizes already known leave one unknown."""
        formula = canonical(substitute(equation.formula, {symbol: Integer(value) for symbol, value in known.items()}))
        unknown = symbols_in(formula)
        if len(unknown) != 1 or not isinstance(formula, Expr):
            return
        (symbol,) = unknown
        low, high = _solutions(formula, symbol, equation.value)
        if low == high:
            self.votes.setdefault(symbol, Counter())[low] += equation.times
            self.witness.setdefault((symbol, low), equation.where)
        elif low < high:
            least, most = self.ranges.get(symbol, (1, _LARGEST))
            self.ranges[symbol] = (max(low, least), min(high, most))
            if equation.copies:
                self.copies.add(symbol)

    def elected(self) -> dict[Symbol, int]:
        """Return the values with the most votes; without any, those to which the ranges narrow down."""
        found = {symbol: counter.most_common(1)[0][0] for symbol, counter in self.votes.items()}
        return found or {symbol: low for symbol, (low, high) in self.ranges.items() if low == high}

    def fewest_copies(self) -> dict[Symbol, int]:
        """Return the least numbers of copies that fit: a last block that stores nothing leaves no name."""
        return {symbol: low for symbol, (low, high) in self.ranges.items() if symbol in self.copies and low < high}

    def outvoted(self) -> Iterator[str]:
        """Yield, in words, the values that were not taken."""
        for symbol, counter in self.votes.items():
            (value, times), *others = counter.most_common()
            for other, fewer in others:
                where = self.witness[symbol, other]
                yield f"{symbol} is {value:,} by {times} {_noun(times)} and {other:,} by {fewer} ({where})"


def _noun(number: int) -> str:
    return "shape" if number == 1 else "shapes"


def _equations(layer: Layer, shapes: Mapping[str, Shape]) -> Iterator[Equation]:
    for template in templates(layer):
        if symbols_in((template.line.shape, tuple((step.start, step.count) for step in template.numbers))):
            copies = {name: numbers for name in shapes if (numbers := template.numbers_in(name)) is not None}
            yield from _of_axes(template, copies, shapes)
            yield from _of_copies(template, list(copies.values()))


def _of_axes(template: Template, copies: Mapping[str, tuple[int, ...]], shapes: Mapping[str, Shape]) -> Iterator[Equation]:
    """Yield an equation per axis; copies that agree say it together."""
    first: dict[tuple[Expr, int], str] = {}
    times: Counter[tuple[Expr, int]] = Counter()
    for name, numbers in copies.items():
        shape = shapes[name]
        if len(shape) == len(template.line.shape):
            for axis, (formula, value) in enumerate(zip(template.sizes(numbers), shape, strict=True)):
                if isinstance(formula, Expr):
                    first.setdefault((formula, value), f"{name}, axis {axis}")
                    times[formula, value] += 1
    for (formula, value), where in first.items():
        yield Equation(formula, value, where, times[formula, value])


def _of_copies(template: Template, numbers: list[tuple[int, ...]]) -> Iterator[Equation]:
    """Yield an equation per numbered step: the formula of its last number is the last number there is."""
    if not numbers:
        return
    for position, step in enumerate(template.numbers):
        last = canonical(step.start + step.step * (step.count - 1))
        if isinstance(last, Expr):
            yield Equation(last, max(copy[position] for copy in numbers), template.line.name, copies=True)


def _solutions(formula: Expr, symbol: Symbol, value: int) -> tuple[int, int]:
    """Return the first and the last positive integer that solve ``formula(symbol) = value``; ``(1, 0)`` where there is none."""
    terms = Polynomial.of(formula).terms
    constant = terms.get(frozenset(), 0)
    moving = {monomial: c for monomial, c in terms.items() if monomial}
    if len(moving) == 1:
        ((monomial, coefficient),) = moving.items()
        if monomial == frozenset({(symbol, 1)}):
            return _one(Fraction(value - constant) / coefficient)
        if monomial == frozenset({(symbol, -1)}) and value != constant:
            return _one(Fraction(coefficient) / (value - constant))
    low, high = _first(formula, symbol, value), _first(formula, symbol, value + 1) - 1
    # The search trusts that a formula never falls; one that does is found out here.
    return (low, high) if formula.xreplace({symbol: Integer(low)}) == value == formula.xreplace({symbol: Integer(high)}) else (1, 0)


def _one(solution: Fraction) -> tuple[int, int]:
    return (solution.numerator, solution.numerator) if solution.denominator == 1 and solution > 0 else (1, 0)


def _first(formula: Expr, symbol: Symbol, value: int) -> int:
    """Return the least positive integer at which a formula that never falls reaches the value."""

    def reaches(number: int) -> bool:
        return bool(cast("Rational", formula.xreplace({symbol: Integer(number)})) >= value)

    high = 1
    while not reaches(high):
        high *= 2
        if high > _LARGEST:
            return _LARGEST
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
