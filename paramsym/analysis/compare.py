"""Two designs side by side: the difference by part, the ratio, and the sizes at which they are equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, cast

import sympy
from sympy import Add, Expr, Symbol

from paramsym.algebra.polynomial import ROUNDED, Polynomial
from paramsym.algebra.size import shown
from paramsym.analysis.counted import put
from paramsym.analysis.formula import Subject, formula_of, number, quotient
from paramsym.analysis.roles import by_role
from paramsym.core.at import two_of_one_name
from paramsym.errors import ArgumentError, UnknownNameError
from paramsym.naming import described
from paramsym.present.tabulate import PAPER
from paramsym.render import html, latex
from paramsym.render.printed import Printed
from paramsym.render.table import Cell, Letters, Table
from paramsym.render.tabular import Tabular

_HIGHEST = 2  # the highest degree for crossovers of formulas with several letters
_SHORT = 16  # the most terms of a simplified crossover; factoring a longer difference takes seconds and does not shorten it


@dataclass(frozen=True)
class Crossover(Printed):
    """A size at which two designs are equal: ``symbol`` equals ``at``; above it ``larger`` has more, if that is known."""

    symbol: Symbol
    at: Expr
    larger: str = ""
    verb: str = "holds"

    def __str__(self) -> str:
        return f"equal at {self.symbol} = {_decimals(self.at) or number(self.at)}{self.after}"

    @property
    def after(self) -> str:
        """The words about the sizes above it; empty if nothing is known."""
        return f"; {self.larger} {self.verb} more above it" if self.larger else ""


@dataclass(frozen=True)
class Difference(Printed):
    """One part in both designs; a part that a design lacks counts 0."""

    part: str
    one: Expr
    other: Expr
    difference: Expr

    def __str__(self) -> str:
        return f"{self.part}: {number(self.one)} against {number(self.other)}, difference {number(self.difference)}"


@dataclass(frozen=True)
class Comparison(Tabular):
    """The counts ``one`` and ``other``, ``difference`` (other minus one), ``ratio`` (one over other), and where they cross."""

    names: tuple[str, str]
    one: Expr
    other: Expr
    difference: Expr
    ratio: Expr | None
    parts: tuple[Difference, ...]
    crossovers: tuple[Crossover, ...]
    letters: Letters = PAPER
    paired_by: str = "part"

    def __str__(self) -> str:
        first, second = self.names
        lines = [f"{first}: {number(self.one)}", f"{second}: {number(self.other)}", f"difference: {number(self.difference)}"]
        if self.ratio is not None:
            decimals = _decimals(self.ratio)
            lines.append(f"ratio: {shown(self.ratio)}" + (f" = {decimals}" if decimals else ""))
        return "\n".join([*lines, *map(str, self.crossovers)])

    def _repr_html_(self) -> str:
        told = (f"<p>{escape(before)}{html.formula(formula)}{escape(after)}</p>" for before, formula, after in self._typeset())
        return super()._repr_html_() + "".join(told)

    def table(self) -> Table:
        """Return the parts side by side."""
        rows: list[tuple[Cell, ...]] = [(part.part, part.one, part.other, part.difference) for part in self.parts]
        footer = ("total", self.one, self.other, self.difference)
        return Table((self.paired_by, *self.names, "difference"), tuple(rows), footer, " and ".join(self.names), self.letters)

    def to_latex(self, **options: Any) -> str:
        """Return the table as LaTeX, and below it the ratio and the equal sizes; ``options`` are those of ``Table.to_latex``."""
        told = (rf"\noindent {latex.escape(head.capitalize())}${formula}${latex.escape(tail)}." for head, formula, tail in self._typeset())
        return "\n\n".join([super().to_latex(**options), *told])

    def _typeset(self) -> Iterator[tuple[str, str, str]]:
        """Yield the verdicts with their formulas as LaTeX: the words before, the formula, the words after."""
        if self.ratio is not None:
            decimals = _decimals(self.ratio)
            yield "ratio: ", latex.expression(self.ratio, self.letters) + (rf" \approx {decimals}" if decimals else ""), ""
        for crossing in self.crossovers:
            decimals = _decimals(crossing.at)
            value = rf"\approx {decimals}" if decimals else f"= {latex.expression(crossing.at, self.letters)}"
            yield "equal at ", f"{latex.symbol(crossing.symbol.name, self.letters)} {value}", crossing.after


def _decimals(value: Expr) -> str:
    """Return a number that is not whole in decimals; empty for any other value."""
    return f"{float(value):.6g}" if value.is_number and not value.is_Integer else ""


def compare(
    one: Subject, other: Subject, *more: Subject, at: Any = None, depth: int | None = None, labels: Sequence[str] = ()
) -> Comparison:
    """Compare two layers, costs or expressions: the difference by part, the ratio, and the sizes at which they are equal.

    ``at`` puts sizes in both; each takes those of its own letters. Crossovers are exact: a closed form if the difference has degree one or
    two in a letter; if only one letter is left, every positive root. A ratio is written term by term if that is possible. ``labels`` are
    the names of the two, by default their classes. Parts are paired by name; if no name is in both, by role: embeddings, attention,
    feed-forward, norms, head, or the projections of an attention.

    Raises:
        ArgumentError: neither layers, costs nor expressions; more than two, which ``table`` shows; labels that are not two different
            strings.
        UnknownNameError: a size for a symbol that neither of them has.
        StructureError: two different symbols of one name.

    >>> from paramsym import C, Conv2d, K, N, SeparableConv2d
    >>> compare(SeparableConv2d(C, N, K, bias=False), Conv2d(C, N, K, bias=False)).ratio
    1/N + K**(-2)
    >>> from paramsym import FeedForward, F, H, MultiHeadAttention
    >>> print(compare(MultiHeadAttention(H, 1, bias=False), FeedForward(H, F, bias=False)).crossovers[0])
    equal at F = 2*H; FeedForward holds more above it
    """
    if more:
        raise ArgumentError(f"compare takes two, not {2 + len(more)}; ps.table({{name: model, ...}}) shows several side by side.")
    first, second = (formula_of(subject, _own(at, subject, (one, other)), depth) for subject in (one, other))
    names = {symbol.name: symbol for symbol in first.symbols}
    for symbol in second.symbols:
        if names.get(symbol.name, symbol) != symbol:
            raise two_of_one_name(names[symbol.name], symbol, "compare()")
    clashes = [s for s in first.sizes.keys() & second.sizes.keys() if first.sizes[s] != second.sizes[s]]
    here, there = (put(formula.polynomial, formula.sizes) for formula in (first, second))
    gap = there - here
    titles = _labelled(labels) or _told_apart((first.name, second.name))
    before, after = first.parts, second.parts
    paired_by = "part"
    if depth is None and first.lines and second.lines and before.keys().isdisjoint(after):
        before, after = by_role(first.lines), by_role(second.lines)
        paired_by = "role" if before.keys() & after.keys() else "part"
    parts, nothing = [], Polynomial.of(0)
    for name in dict.fromkeys((*before, *after)):
        mine, theirs = put(before.get(name, nothing), first.sizes), put(after.get(name, nothing), second.sizes)
        parts.append(Difference(name, mine.as_expr(), theirs.as_expr(), (theirs - mine).as_expr()))
    verb = "holds" if {first.unit, second.unit} == {"parameters"} else "costs"
    crossings = () if clashes else tuple(replace(one, verb=verb) for one in _crossovers(gap, titles))
    ratio = quotient(here, there) if there else None
    return Comparison(titles, here.as_expr(), there.as_expr(), gap.as_expr(), ratio, tuple(parts), crossings, paired_by=paired_by)


def _own(at: Any, subject: Subject, both: tuple[Subject, Subject]) -> Any:
    if not isinstance(at, Mapping):
        return at
    held = [{symbol.name for symbol in formula_of(one).symbols} for one in both]
    unknown = [key for key in at if getattr(key, "name", key) not in held[0] | held[1]]
    if unknown:
        raise UnknownNameError(f"neither of the two has a symbol {str(unknown[0])!r}; they have {', '.join(sorted(held[0] | held[1]))}.")
    own = held[both.index(subject)]
    return {key: size for key, size in at.items() if getattr(key, "name", key) in own}


def _labelled(labels: Sequence[str]) -> tuple[str, str] | None:
    given: Any = labels
    if given == ():
        return None
    if (
        isinstance(given, str)
        or not isinstance(given, Sequence)
        or len(given) != 2
        or not all(isinstance(name, str) and name for name in given)
        or given[0] == given[1]
    ):
        raise ArgumentError(f"labels is {described(given)}; wanted two different names, such as ('base', 'large').")
    return (given[0], given[1])


def _told_apart(names: tuple[str, str]) -> tuple[str, str]:
    first, second = names
    return (f"{first} (1)", f"{second} (2)") if first == second else names


def _crossovers(gap: Polynomial, names: tuple[str, str]) -> Iterator[Crossover]:
    if not gap:
        return
    # SymPy would simplify a Max or a floor, and would treat a number of copies, which may be 0, as positive: letters replace them here.
    rounded = {g: sympy.Dummy(integer=True, nonnegative=True) for m in gap.terms for g, _ in m if isinstance(g, ROUNDED)}
    inside = set().union(*(one.free_symbols for one in rounded))
    behind = {letter: one for one, letter in rounded.items()}
    numerator = sympy.fraction(sympy.together(gap.as_expr().xreplace(rounded)))[0]
    symbols = sorted(cast("set[Symbol]", numerator.free_symbols), key=lambda symbol: symbol.name)
    for symbol in symbols:
        if symbol in inside or symbol in behind:
            continue
        try:
            polynomial: Any = sympy.Poly(numerator, symbol)
        except sympy.PolynomialError:
            continue
        if len(symbols) == 1:
            roots = [root for root in dict.fromkeys(polynomial.real_roots()) if root.is_positive]
        elif polynomial.degree() <= _HIGHEST:
            found = _roots(polynomial, short=len(Add.make_args(numerator)) <= _SHORT)
            roots = [root for root in found if not root.is_nonpositive and _may_be_positive(root)]
            if len(roots) == 2 and _sign(polynomial.LC()) * _sign(polynomial.TC()) < 0:  # one root is positive, for all letters
                roots = [root for root in roots if root.xreplace(dict.fromkeys(root.free_symbols, sympy.Integer(1))).is_positive]
        else:
            continue
        leading = _sign(polynomial.LC())
        for position, root in enumerate(sorted(roots, key=sympy.default_sort_key) if len(symbols) > 1 else roots):
            last = position == len(roots) - 1 and (len(symbols) == 1 or len(roots) == 1)
            larger = names[0] if last and leading < 0 else names[1] if last and leading > 0 else ""
            yield Crossover(symbol, cast("Expr", root.xreplace(behind)), larger)


def _roots(polynomial: Any, *, short: bool) -> list[Expr]:
    """Return the roots of a polynomial of degree one or two: simplified, or, for a long polynomial, by the formula."""
    if short:
        return list(sympy.roots(polynomial))
    coefficients: list[Any] = [0, *polynomial.all_coeffs()]
    square, slope, constant = coefficients[-3:]
    if square == 0:
        return [-constant / slope]
    width = sympy.sqrt(slope**2 - 4 * square * constant)
    return [(-slope - width) / (2 * square), (-slope + width) / (2 * square)]


def _sign(value: Expr) -> int:
    """Return the sign of a polynomial for all letters from one on; 0 if it is unknown, as inside a floor."""
    letters = cast("set[Symbol]", value.free_symbols)
    if not value.is_polynomial(*letters) or any(isinstance(letter, sympy.Dummy) for letter in letters):
        return 0
    shifted = sympy.Poly(value.xreplace({letter: letter + 1 for letter in letters}), *letters or [sympy.Dummy()])
    coefficients = shifted.coeffs()
    ends = shifted.TC()
    if all(one.is_nonnegative for one in coefficients) and ends.is_positive:
        return 1
    return -1 if all(one.is_nonpositive for one in coefficients) and ends.is_negative else 0


def _may_be_positive(root: Expr) -> bool:
    """Leave out roots that are sums of negative terms, or not real; a real square root is not negative."""
    if root.has(sympy.I):
        return False
    terms = sympy.Add.make_args(sympy.expand(root))
    return not all(term.replace(_is_root, lambda _: sympy.Dummy(positive=True)).is_negative for term in terms)


def _is_root(part: Any) -> bool:
    return bool(part.is_Pow and part.exp.is_Rational and not part.exp.is_Integer)
