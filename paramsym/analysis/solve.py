"""Sizes for a budget: every combination of whole numbers that gives a count, or the nearest ones, under the layer's own conditions."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product, starmap
from math import prod
from typing import Any, ClassVar, NamedTuple, cast

from sympy import Expr, Integer, Rational, Symbol, ceiling
from sympy.logic.boolalg import Boolean

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import MAX_BITS, expressions, substitute, symbols_in
from paramsym.algebra.wanted import symbol_of
from paramsym.analysis.claim import as_written, read
from paramsym.analysis.counted import Counted, title, words
from paramsym.analysis.evaluate.compiling import numerator_and_denominator, stated
from paramsym.analysis.evaluate.evaluating import planned
from paramsym.analysis.evaluate.straight_line import SURE, Broken
from paramsym.analysis.progress import reporter
from paramsym.analysis.several import Several
from paramsym.errors import ArgumentError, ParamsymError, SizeError, UnknownNameError
from paramsym.naming import described, quoted
from paramsym.render.printed import Printed
from paramsym.render.table import Table

_SHOWN = 20


@dataclass(frozen=True)
class Solution(Printed):
    """Sizes by symbol, their count, and its difference from the target."""

    sizes: tuple[tuple[Symbol, int], ...]
    count: int
    difference: int

    def __getitem__(self, symbol: Symbol | str) -> int:
        for known, size in self.sizes:
            if symbol in {known, known.name}:
                return size
        raise UnknownNameError(f"the solution has no {symbol}; it has {', '.join(known.name for known, _ in self.sizes)}.")

    def __str__(self) -> str:
        sizes = ", ".join(f"{symbol}={size}" for symbol, size in self.sizes)
        return f"{sizes}: {self.count:,}" + (f" ({self.difference:+,})" if self.difference else "")


@dataclass(frozen=True)
class Solutions(Several[Solution]):
    """The solutions, the nearest to the target first, then by sizes; ``complete`` unless the search was interrupted.

    ``nearest`` means that ``best`` asked for the nearest combinations; ``exact`` is the number of solutions that give the target.
    """

    target: str
    solutions: tuple[Solution, ...]
    searched: int
    complete: bool = True
    nearest: bool = False
    exact: int = 0
    unit: str = "parameters"
    _held: ClassVar[str] = "solutions"

    def __str__(self) -> str:
        more = [f"... and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([self._headline, *map(str, self.solutions[:_SHOWN]), *more])

    def table(self) -> Table:
        names = [symbol.name for symbol, _ in self.solutions[0].sizes] if self.solutions else []
        rows = tuple((*(size for _, size in one.sizes), one.count, one.difference) for one in self.solutions)
        return Table((*names, self.unit, "difference"), rows, (), self._headline)

    @property
    def _headline(self) -> str:
        searched = f"{self.searched:,} combination{'' if self.searched == 1 else 's'}"
        if self.nearest:
            words = f"the nearest {len(self)} of {searched}; {self.exact:,} of them give{'s' if self.exact == 1 else ''} {self.target}"
        else:
            words = f"{len(self)} of {searched} give{'s' if len(self) == 1 else ''} {self.target}"
            words += "" if self else "; best=3 finds the nearest"
        return words + ("" if self.complete else " (interrupted)")


def solve(
    layer: Counted | Expr,
    target: float | str,
    over: Mapping[Any, Any],
    *,
    where: Boolean | Sequence[Boolean] = (),
    best: int | None = None,
    tolerance: Rational | None = None,
    progress: bool | Callable[[int, int], object] = False,
) -> Solutions:
    """Return all integer sizes that give a count; with ``best``, that many nearest ones.

    ``target`` is an exact int, or a string such as ``"1.3B"`` or a float such as 1.3e9 for all counts that round to it; ``tolerance``, an
    exact fraction, widens either. ``"<= 80 GB"`` finds all sizes that do not exceed it, with ``best`` the nearest from below. ``over`` maps
    every symbol to its candidates, a range or a sequence of ints, or to an expression in the others (``{F: 4*H}``, ``{A: per(H, 128)}``,
    ``{F: 256*ceiling(H/96)}``). The layer's conditions hold in every solution; ``where`` adds SymPy relations of symbols
    (``H >= 64*L``). Symbols that cancel from the count and are in no condition may be left out. For tied and untied designs, call it once
    for each.

    The search is exhaustive and exact: the symbol with the most candidates in which the count grows is bisected; all combinations of the
    others that meet the conditions are tried, in the order of ``over``. ``progress`` writes to standard error, or is called with done and
    total; an interrupt returns the solutions found so far.

    Raises:
        UnknownNameError: a symbol that the layer does not have, or a missing one.
        ArgumentError: candidates that are neither whole numbers nor an expression, or a target that is not a number.

    >>> from paramsym import F, H, L
    >>> from paramsym.models import Gpt2
    >>> print(solve(Gpt2().at(V=50257, P=1024), 354_823_168, {H: range(256, 4097, 64), L: range(1, 97)}))
    1 of 5,856 combinations gives 354,823,168
    H=1024, L=24: 354,823,168
    """
    goal = _goal(target, tolerance, words(layer).unit)
    if not hasattr(over, "items"):
        raise ArgumentError(f"over is {quoted(over)}; wanted a mapping from symbols to their candidates.")
    if best is not None and (type(best) is not int or best < 1):
        raise ArgumentError(f"best is {quoted(best)}; wanted a positive number of solutions.")
    candidates, derived = _split(layer, over)
    model = _with_expressions(layer, candidates, derived)
    search = _Search(model, candidates, derived, _relations(where, (*candidates, *derived)), goal, best)
    tell = reporter(progress)
    complete = True
    try:
        for done in search.steps():
            tell(done, search.rounds)
    except KeyboardInterrupt:
        complete = False
    words_of = as_written(target) if isinstance(target, float) else str(target).strip().replace("<=", "at most")
    wanted = f"{target:,}" if isinstance(target, int) else words_of
    found, searched = tuple(search.ranked()), prod(map(len, candidates.values()))
    exact = sum(goal.low <= one.count <= goal.high for one in found)
    return Solutions(wanted, found, searched, complete, best is not None, exact, words(layer).unit)


class _Goal(NamedTuple):
    low: int
    value: int
    high: int
    bounded: bool


def _goal(target: float | str, tolerance: Rational | None, unit: str) -> _Goal:
    given: Any = target  # callers without a type checker
    countable = isinstance(given, int | Integer | str) or (isinstance(given, float) and given.is_integer())
    if not countable or isinstance(given, bool):
        raise ArgumentError(f"target is {described(target)}; wanted a whole number, or a string such as '1.3B'.")
    if isinstance(target, int | Integer) and int(target).bit_length() > MAX_BITS:
        raise ArgumentError(f"target has {int(target).bit_length()} bits; {MAX_BITS} are the limit.")
    bounded = isinstance(target, str) and target.lstrip().startswith("<=")
    said = read(target.strip().removeprefix("<=") if isinstance(target, str) else target)
    if said.unit not in {"", unit}:
        raise ArgumentError(f"target is {quoted(target)}, in {said.unit}; the count is in {unit}.")
    claim = said.stated
    low, high = (0, claim.value) if bounded else (claim.low, claim.high)
    if tolerance is not None:
        if not isinstance(tolerance, Rational | Fraction | int) or not 0 <= tolerance < 1:
            raise ArgumentError(f"tolerance is {quoted(tolerance)}; wanted an exact fraction such as Rational(1, 100).")
        wide = Rational(claim.value) * Rational(tolerance)
        low, high = min(low, int(ceiling(claim.value - wide))), max(high, int(claim.value + wide))
    return _Goal(low, claim.value, high, bounded)


def _split(layer: Counted | Expr, over: Mapping[Any, Any]) -> tuple[dict[Symbol, Sequence[int]], dict[Symbol, Expr]]:
    """Separate candidates from expressions, and write the expressions in symbols with candidates."""
    candidates: dict[Symbol, Sequence[int]] = {}
    derived: dict[Symbol, Expr] = {}
    for key, values in over.items():
        symbol = symbol_of(title(layer), getattr(key, "name", key), stated(layer).symbols)
        if symbol in candidates or symbol in derived:
            raise SizeError(f"{title(layer)}: {symbol} is given twice.")
        if isinstance(values, Expr) and not values.is_number:
            derived[symbol] = values
        else:
            candidates[symbol] = _whole_numbers(symbol, values)
    for _ in derived:
        derived = {symbol: substitute(value, derived) for symbol, value in derived.items()}
    for symbol, value in derived.items():
        loose = sorted(one.name for one in symbols_in(value) if one not in candidates)
        if loose:
            raise UnknownNameError(f"{symbol} is {value}, but {', '.join(loose)} has no candidates; add them to over.")
    return candidates, derived


def _whole_numbers(symbol: Symbol, values: Any) -> Sequence[int]:
    if isinstance(values, int | Integer) and not isinstance(values, bool):
        return [int(values)]
    if isinstance(values, range):
        if abs(values.stop - values.start) // abs(values.step) >= sys.maxsize:
            raise ArgumentError(f"{symbol} has too many candidates; take a larger step, as in range(64, 8193, 64).")
        return values if values.step > 0 else values[::-1]
    found: list[Any] = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [None]
    if any(isinstance(value, bool) or not hasattr(value, "__index__") for value in found):
        message = f"the candidates for {symbol} are {quoted(values)}; wanted whole numbers, as in range(1, 97), or an expression."
        raise ArgumentError(message)
    return sorted({int(value) for value in found})


def _with_expressions(layer: Counted | Expr, candidates: Mapping[Symbol, Sequence[int]], derived: Mapping[Symbol, Expr]) -> Counted | Expr:
    model = layer
    if derived:
        model = layer.at(dict(derived)) if isinstance(layer, Counted) else cast("Expr", substitute(layer, derived))
    missing = [symbol.name for symbol in stated(model).needed if symbol not in candidates]
    if missing:
        raise UnknownNameError(f"{title(layer)} needs candidates for {', '.join(missing)}, or sizes put in with .at(...).")
    return model


def _relations(where: Boolean | Sequence[Boolean], known: Iterable[Symbol]) -> tuple[Boolean, ...]:
    given: Any = (where,) if isinstance(where, Boolean) else where
    for relation in given if isinstance(given, list | tuple | set | frozenset) else (given,):
        if not isinstance(relation, Boolean):
            raise ArgumentError(f"where has {quoted(relation)}; wanted relations between symbols, as H >= 64*L.")
        loose = sorted(symbol.name for symbol in cast("set[Symbol]", relation.free_symbols).difference(known))
        if loose:
            raise UnknownNameError(f"where has {relation}, but {', '.join(loose)} has no candidates; add them to over.")
    return tuple(given)


class _Search:
    """Tries all combinations of all symbols but one, which is bisected if the count grows with it.

    The count is computed as a quotient of whole numbers, because even a fraction shows the side of the target.
    """

    def __init__(
        self,
        layer: Counted | Expr,
        candidates: Mapping[Symbol, Sequence[int]],
        derived: Mapping[Symbol, Expr],
        where: tuple[Boolean, ...],
        goal: _Goal,
        best: int | None,
    ) -> None:
        self.where, self.goal, self.best = where, goal, best
        self.order = tuple(candidates)
        plan, statement = planned(layer, self.order), stated(layer)
        self.count = partial(plan.count, sure=True)
        least = plan.program.least
        self.candidates = [values[bisect_left(values, low) :] for low, values in zip(least, candidates.values(), strict=True)]
        self.sized = {symbol: stated(value).program(self.order) for symbol, value in derived.items()}
        polynomial = Polynomial.total(statement.polynomials)
        self.above, self.below = numerator_and_denominator(polynomial, self.order)
        growing = [place for place, symbol in enumerate(self.order) if _grows(polynomial, symbol)]
        self.place = max(growing, key=lambda place: len(self.candidates[place]), default=None)
        self.inner: Sequence[int] = (0,) if self.place is None else self.candidates[self.place]
        self.outer = [(0,) if place == self.place else values for place, values in enumerate(self.candidates)]
        outer = [symbol for place, symbol in enumerate(self.order) if place != self.place]
        self.asked = statement.program(self.order, Polynomial.of(0), outer)
        self.rounds = prod(map(len, self.outer))
        self.found: list[Solution] = []
        self.worst: int | None = None

    def steps(self) -> Iterator[int]:
        """Search, and report the progress after each combination of the outer symbols."""
        for done, combination in enumerate(product(*self.outer), 1):
            sizes = list(combination)
            if self._may_hold(sizes):
                self._look_along(sizes)
            yield done

    def ranked(self) -> list[Solution]:
        self.found.sort(key=lambda one: (abs(one.difference), [size for _, size in one.sizes]))
        return self.found if self.best is None else self.found[: self.best]

    def _may_hold(self, sizes: list[int]) -> bool:
        try:
            self.asked.run(sizes)
        except Broken as broken:
            return broken.kind not in SURE
        return True

    def _look_along(self, sizes: list[int]) -> None:
        """Try the inner sizes whose count is near enough, from the target outwards."""
        if self.place is None:
            self._consider(sizes)
            return
        try:
            self.above.run(sizes)
            below = self.below.run(sizes)
        except Broken:
            below = 0
        if not below:  # the formula has no value here
            for size in self.inner:
                sizes[self.place] = size
                self._consider(sizes)
            return

        def scaled(size: int) -> int:
            sizes[cast("int", self.place)] = size
            return self.above.run(sizes)

        start = bisect_left(self.inner, (self.goal.low if self.best is None else self.goal.value) * below, key=scaled)
        for positions in (range(start, len(self.inner)), range(start - 1, -1, -1)):
            for position in positions:
                if not self._near(scaled(self.inner[position]), below):
                    break
                self._consider(sizes)

    def _near(self, above: int, below: int = 1) -> bool:
        goal = self.goal
        if goal.bounded and above > goal.high * below:
            return False
        if self.best is None:
            return goal.low * below <= above <= goal.high * below
        return self.worst is None or abs(above - goal.value * below) <= self.worst * below

    def _consider(self, sizes: list[int]) -> None:
        try:
            count = self.count(sizes)
            complete = dict(zip(self.order, sizes, strict=True)) | {symbol: one.run(sizes) for symbol, one in self.sized.items()}
        except (ParamsymError, Broken):
            return
        if not self._near(count) or not all(_is_true(relation, complete) for relation in self.where):
            return
        self.found.append(Solution(tuple(complete.items()), count, count - self.goal.value))
        if self.best is not None and len(self.found) >= 2 * self.best:
            self.found = self.ranked()
            self.worst = abs(self.found[-1].difference)


def _is_true(relation: Boolean, sizes: Mapping[Symbol, int]) -> bool:
    try:
        return bool(relation.xreplace(expressions(sizes)) == True)  # noqa: E712 - SymPy's true
    except (ArithmeticError, TypeError, ValueError):
        return False  # raised by SymPy for a quotient by zero


def _grows(polynomial: Polynomial, symbol: Symbol) -> bool:
    """Whether the value never falls when a symbol grows, for all other sizes."""

    def rises(generator: Expr, exponent: int) -> bool:
        if generator == symbol:
            return exponent > 0
        return symbol not in generator.free_symbols and (isinstance(generator, Symbol) or bool(generator.is_nonnegative))

    moving = [(monomial, c) for monomial, c in polynomial.terms.items() if any(symbol in one.free_symbols for one, _ in monomial)]
    return bool(moving) and all(c > 0 and all(starmap(rises, monomial)) for monomial, c in moving)
