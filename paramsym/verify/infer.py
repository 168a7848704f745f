"""Sizes from shapes: every axis of every tensor is an equation ``formula = number``; those in one unknown are solved one after another."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, cast

from sympy import Expr, Integer, Rational, Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, canonical, substitute, symbols_in
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError
from paramsym.verify.stored import Shape
from paramsym.verify.templates import Template, Templates, possible, without_numbers

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
    """The sizes that the shapes determine, and sentences about contradictions between shapes."""

    sizes: Mapping[Symbol, int]
    contradictions: tuple[str, ...] = ()


def infer(layer: Layer, shapes: Mapping[str, Shape]) -> Inferred:
    """Solve for a layer's symbols. If tensors disagree, the value that most of them give is taken, and the others are reported.

    Numbers of copies are solved first, from the names: the tensor of a numbered name may depend on them.
    """
    known: dict[Symbol, int] = {}
    notes: list[str] = []
    names = _Numbered(layer, shapes)
    copies = list(names.copies())
    more: list[Equation] = []
    further = names.further(known)
    while True:
        poll = _Poll(names.counted)
        for equation in (*copies, *names.axes(known), *more):
            poll.ask(equation, known)
        found = poll.elected()
        if not found:
            found = poll.fewest_copies()
            notes.extend(_left_open(found))
        if found:
            notes.extend(poll.outvoted())
            known |= found
        elif (found_out := next(further, None)) is not None:
            equations, said = found_out
            more.extend(equations)
            notes.extend(said)
        else:
            return Inferred(known, tuple(notes))


def _left_open(found: Mapping[Symbol, int]) -> Iterator[str]:
    for symbol, value in found.items():
        yield f"the names do not determine {symbol}; {value:,} is the least value that fits"


class _Poll:
    """One round: the values that equations in one unknown give."""

    def __init__(self, counted: set[Symbol]) -> None:
        self.counted = counted
        self.votes: dict[Symbol, Counter[int]] = {}
        self.ranges: dict[Symbol, tuple[int, int]] = {}
        self.witness: dict[tuple[Symbol, int], str] = {}
        self.copies: set[Symbol] = set()

    def ask(self, equation: Equation, known: Mapping[Symbol, int]) -> None:
        """Count an equation's vote, or narrow the range, if one unknown is left."""
        formula = canonical(substitute(equation.formula, {symbol: Integer(value) for symbol, value in known.items()}))
        unknown = symbols_in(formula)
        if len(unknown) != 1 or not isinstance(formula, Expr):
            return
        (symbol,) = unknown
        low, high = _solutions(formula, symbol, equation.value, least=0 if symbol in self.counted else 1)
        if low == high:
            self.votes.setdefault(symbol, Counter())[low] += equation.times
            self.witness.setdefault((symbol, low), equation.where)
        elif low < high:
            least, most = self.ranges.get(symbol, (0, _LARGEST))
            self.ranges[symbol] = (max(low, least), min(high, most))
            if equation.copies:
                self.copies.add(symbol)

    def elected(self) -> dict[Symbol, int]:
        """Return the value with the most votes for each symbol. Without votes, return the ranges with one value."""
        found = {symbol: counter.most_common(1)[0][0] for symbol, counter in self.votes.items()}
        return found or {symbol: low for symbol, (low, high) in self.ranges.items() if low == high}

    def fewest_copies(self) -> dict[Symbol, int]:
        """Return the least numbers of copies that fit: a last block without tensors has no names."""
        return {symbol: low for symbol, (low, high) in self.ranges.items() if symbol in self.copies and low < high}

    def outvoted(self) -> Iterator[str]:
        """Yield sentences about the values that were not taken."""
        for symbol, counter in self.votes.items():
            (value, times), *others = counter.most_common()
            for other, fewer in others:
                where = self.witness[symbol, other]
                shapes = "shape" if times == 1 else "shapes"
                yield f"{symbol} is {value:,} by {times} {shapes} and {other:,} by {fewer} ({where})"


_Owner: TypeAlias = tuple[Template, tuple[int, ...]]


class _Numbered:
    """The names of a layer's tensors and the found names, without their numbers."""

    def __init__(self, layer: Layer, shapes: Mapping[str, Shape]) -> None:
        self.layer = layer
        self.shapes = shapes
        self.found: dict[str, list[str]] = {}
        for name in shapes:
            self.found.setdefault(without_numbers(name), []).append(name)
        self.like: dict[str, list[Template]] = {}
        self.names = Templates(layer)
        for template in self.names.templates:
            self.like.setdefault(template.form, []).append(template)
        self._axes: dict[tuple[tuple[Symbol, int], ...], list[Equation]] = {}

    def _names(self, template: Template) -> dict[str, tuple[int, ...]]:
        """Return the found names that may mean a copy of a template, with their numbers."""
        names = self.found.get(template.bare, ())
        return {name: numbers for name in names if (numbers := template.numbers_in(name)) is not None}

    def copies(self) -> Iterator[Equation]:
        """Yield one equation for each numbered step: the formulas of its first and last numbers equal the found numbers.

        If runs of one numbering do not follow each other, such as the last blocks of stages, their first and last numbers are unknown.
        """
        beside: dict[tuple[str, int, tuple[Numbers, ...]], list[list[Template]]] = {}
        for runs, position in self._runs():
            if any(run.numbers[position].label for run in runs):
                continue
            around, step = runs[0].numbers, runs[0].numbers[position].step
            own = runs[0].form if step == 1 else runs[0].line.name  # alternating copies have separate numbers
            beside.setdefault((own, position, around[:position] + around[position + 1 :]), []).append(runs)
        for (_, position, _), several in beside.items():
            numbers = [found[position] for runs in several for run in runs for found in self._names(run).values()]
            if numbers:
                yield from _ends([several[0][0], several[-1][-1]], position, numbers)

    def further(self, known: Mapping[Symbol, int]) -> Iterator[tuple[Iterable[Equation], Iterable[str]]]:
        """Yield further equations with sentences about their assumption, the most reliable first.

        ``known`` has the sizes found so far, and grows meanwhile.
        """
        yield self.absent(known), ()
        yield self.fitting(known), ()
        while (fewest := self.fewest(known)) is not None:
            symbol, value, where = fewest
            yield [Equation(symbol, value, where, copies=True)], _left_open({symbol: value})
        yield self.guessed(known), ()

    def absent(self, known: Mapping[Symbol, int]) -> Iterator[Equation]:
        """Yield an equation for missing copies; with unknown names in the source, their tensors may only have other names."""
        if not all(name in self.names for name in self.shapes):
            return
        owned = (owners for like in self.like.values() for owners in self._owners(like, known).values())
        there = {template.down_to(depth) for owners in owned for template, _ in owners for depth in range(len(template.numbers) + 1)}
        for runs, position in self._runs():
            # For copies inside copies, the outermost number is 0, unless it is given.
            around = runs[0].numbers[:position]
            held = runs[0].down_to(position) in there or all(isinstance(step.count, int) for step in around)
            if held and not any(run.down_to(position + 1) in there for run in runs):
                counts = [run.numbers[position].count for run in runs]
                if any(isinstance(count, int) for count in counts):  # a separate first copy disappears with the last of the others
                    counts = [canonical(sum(counts[1:], start=counts[0]))]
                where = runs[0].line.name
                yield from (Equation(count, 0, where, copies=True) for count in counts if isinstance(count, Expr))

    def _runs(self) -> Iterator[tuple[list[Template], int]]:
        """Yield the templates whose copies follow each other in one numbering, and the position of their number."""
        for like in self.like.values():
            for position in range(len(like[0].numbers)):
                runs: list[Template] = []
                for template in like:
                    if runs and not _follows(runs[-1], template, position):
                        yield runs, position
                        runs = []
                    runs.append(template)
                yield runs, position

    def axes(self, known: Mapping[Symbol, int]) -> list[Equation]:
        """Return an equation per axis; for a name that may belong to several tensors, only for axes that are the same in all of them."""
        key = tuple((symbol, known[symbol]) for symbol in sorted(self.counted & known.keys(), key=lambda symbol: symbol.name))
        if key not in self._axes:
            open_ones = (like for like in self.like.values() if any(symbols_in(template.line.shape) for template in like))
            self._axes[key] = list(_of_axes((item for like in open_ones for item in self._owners(like, known).items()), self.shapes))
        return self._axes[key]

    def fitting(self, known: Mapping[Symbol, int]) -> Iterator[Equation]:
        """Yield an equation per numbered step from the names whose shape fits only one of the tensors that they may belong to."""
        bound = {symbol: Integer(value) for symbol, value in known.items()}
        for like in self.like.values():
            found: dict[int, tuple[Template, list[tuple[int, ...]]]] = {}
            for name, owners in self._owners(like, known).items():
                fit = [(template, numbers) for template, numbers in owners if _fits(template.sizes(numbers), self.shapes[name], bound)]
                if len(fit) == 1:
                    found.setdefault(id(fit[0][0]), (fit[0][0], []))[1].append(fit[0][1])
            for template, copies in found.values():
                for position in range(len(template.numbers)):
                    yield from _ends([template], position, [numbers[position] for numbers in copies])

    def fewest(self, known: Mapping[Symbol, int]) -> tuple[Symbol, int, str] | None:
        """Return the least valid value of a symbol that numbers of copies contain but do not determine."""
        for runs, position in self._runs():
            for step in (run.numbers[position] for run in runs if any(map(self._names, runs))):
                for symbol in sorted(symbols_in((step.start, step.count)) - known.keys(), key=lambda symbol: symbol.name):
                    if symbol in self.layer.symbols:
                        return symbol, _least(self.layer, {**known, symbol: 0}), runs[0].line.name
        return None

    def guessed(self, known: Mapping[Symbol, int]) -> Iterator[Equation]:
        """Yield an equation per axis of the names that may still belong to several tensors, for each of these."""
        for like in self.like.values():
            owned = [(name, [owner]) for name, owners in self._owners(like, known).items() if len(owners) > 1 for owner in owners]
            yield from _of_axes(owned, self.shapes)

    @cached_property
    def counted(self) -> set[Symbol]:
        """The symbols in numbers of copies."""
        return symbols_in(tuple((step.start, step.count) for like in self.like.values() for template in like for step in template.numbers))

    def _owners(self, like: list[Template], known: Mapping[Symbol, int]) -> dict[str, list[_Owner]]:
        """Return for each name the templates that it may belong to, as far as the numbers of copies are known."""
        bound = {symbol: Integer(value) for symbol, value in known.items()}
        owners: dict[str, list[_Owner]] = {}
        for template in like:
            starts = [(canonical(substitute(step.start, bound)), canonical(substitute(step.count, bound))) for step in template.numbers]
            steps = [replace(step, start=start, count=count) for step, (start, count) in zip(template.numbers, starts, strict=True)]
            for name, numbers in self._names(template).items():
                if all(map(possible, steps, numbers)):
                    owners.setdefault(name, []).append((template, numbers))
        return owners


def _fits(formulas: tuple[Dim, ...], shape: Shape, bound: Mapping[Symbol, Expr]) -> bool:
    sizes = [canonical(substitute(formula, bound)) for formula in formulas]
    return len(sizes) == len(shape) and all(isinstance(size, Expr) or size == value for size, value in zip(sizes, shape, strict=True))


def _ends(runs: list[Template], position: int, numbers: list[int]) -> Iterator[Equation]:
    """Yield equations of the first and the last number of runs with the least and the greatest found number."""
    first, last = runs[0].numbers[position], runs[-1].numbers[position]
    end = canonical(last.start + last.step * (last.count - 1))
    for formula, value in ((canonical(first.start), min(numbers)), (end, max(numbers))):
        if isinstance(formula, Expr):
            yield Equation(formula, value, runs[0].line.name, copies=True)


def _least(layer: Layer, sizes: Mapping[Symbol, int]) -> int:
    try:
        layer.at(sizes)
    except ParamsymError:
        return 1
    return 0


def _follows(one: Template, other: Template, position: int) -> bool:
    """Whether the numbers of one template continue those of another at a position, with all other numbers equal."""
    here, there = one.numbers[position], other.numbers[position]
    rest = [numbers[:position] + numbers[position + 1 :] for numbers in (one.numbers, other.numbers)]
    return rest[0] == rest[1] and here.step == there.step == 1 and canonical(here.start + here.count) == canonical(there.start)


def _of_axes(owned: Iterable[tuple[str, list[_Owner]]], shapes: Mapping[str, Shape]) -> Iterator[Equation]:
    """Yield an equation per axis that is the same in all tensors that a name may belong to; equal equations of copies are joined."""
    first: dict[tuple[int, Expr, int], str] = {}
    times: Counter[tuple[int, Expr, int]] = Counter()
    for name, owners in owned:
        shape = shapes[name]
        sizes, *others = [template.sizes(numbers) for template, numbers in owners]
        if any(len(stated) != len(shape) for stated in (sizes, *others)):
            continue
        for axis, (formula, value) in enumerate(zip(sizes, shape, strict=True)):
            if isinstance(formula, Expr) and all(other[axis] == formula for other in others):
                said = (id(owners[0][0]), formula, value)
                first.setdefault(said, f"{name}, axis {axis}")
                times[said] += 1
    for said, where in first.items():
        yield Equation(said[1], said[2], where, times[said])


def _solutions(formula: Expr, symbol: Symbol, value: int, *, least: int = 1) -> tuple[int, int]:
    """Return the first and the last integer from ``least`` on that solve ``formula(symbol) = value``; ``(1, 0)`` if there is none."""
    terms = Polynomial.of(formula).terms
    constant = terms.get(frozenset(), 0)
    moving = {monomial: c for monomial, c in terms.items() if monomial}
    if len(moving) == 1:
        ((monomial, coefficient),) = moving.items()
        if monomial == frozenset({(symbol, 1)}):
            return _one(Fraction(value - constant) / coefficient, least)
        if monomial == frozenset({(symbol, -1)}) and value != constant:
            return _one(Fraction(coefficient) / (value - constant), 1)
    low, high = _first(formula, symbol, value, least), _first(formula, symbol, value + 1, least) - 1
    # The search assumes that a formula never falls; this checks it.
    return (low, high) if formula.xreplace({symbol: Integer(low)}) == value == formula.xreplace({symbol: Integer(high)}) else (1, 0)


def _one(solution: Fraction, least: int) -> tuple[int, int]:
    return (solution.numerator, solution.numerator) if solution.denominator == 1 and solution >= least else (1, 0)


def _first(formula: Expr, symbol: Symbol, value: int, least: int) -> int:
    """Return the least integer at which a formula that never falls reaches the value."""

    def reaches(number: int) -> bool:
        return bool(cast("Rational", formula.xreplace({symbol: Integer(number)})) >= value)

    if least == 0 and reaches(0):
        return 0
    high = 1
    while not reaches(high):
        high *= 2
        if high > _LARGEST:
            return _LARGEST
    return bisect_left(range(high), True, high // 2 + 1, key=reaches)
