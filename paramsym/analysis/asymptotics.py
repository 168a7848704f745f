"""The leading terms of a count, the order of the rest, and the sizes from which the approximation is good enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any, cast

import sympy
from sympy import Add, Expr, Rational, Symbol

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import shown, symbols_in
from paramsym.analysis.counted import put
from paramsym.analysis.formula import Formula, Subject, formula_of, quotient
from paramsym.errors import ArgumentError, SizeError
from paramsym.present.tabulate import PAPER
from paramsym.render import forms, latex
from paramsym.render.html import formula
from paramsym.render.printed import Printed
from paramsym.render.widths import LINE

TOLERANCES = (Fraction(1, 100), Fraction(1, 10))
"""The errors for which the range is given: 1 % and 10 %."""


@dataclass(frozen=True)
class Within(Printed):
    """The approximation is within ``tolerance`` of the count for every whole ``symbol`` from ``start`` on."""

    tolerance: Fraction
    symbol: Symbol
    start: int

    def __str__(self) -> str:
        return f"within {float(100 * self.tolerance):g} % from {self.symbol} = {self.start:,} on"


@dataclass(frozen=True)
class Asymptotics(Printed):
    """``params`` is exactly ``leading`` times ``correction``; the remaining terms, ``rest``, are of order ``order`` in the symbols.

    ``error`` is the relative error if the sizes are numbers: leading minus count, over the count.
    """

    subject: str
    symbols: tuple[Symbol, ...]
    params: Expr
    leading: Expr
    rest: Expr
    degree: int
    rest_degree: int | None
    correction: Expr
    error: Rational | None = None
    within: tuple[Within, ...] = ()

    @property
    def order(self) -> str:
        """The order of the rest: ``O(H)``, ``O(n^2)`` in several symbols that grow together; empty without a rest."""
        if self.rest_degree is None:
            return ""
        base = self.symbols[0].name if len(self.symbols) == 1 else "n"
        power = "1" if self.rest_degree == 0 else base if self.rest_degree == 1 else f"{base}**{self.rest_degree}"
        return f"O({power})"

    def __str__(self) -> str:
        together = "" if len(self.symbols) == 1 else f", where {', '.join(symbol.name for symbol in self.symbols)} grow together as n"
        rest = f" + {self.order}" if self.order else ", exactly"
        lines = [f"{shown(self.leading)}{rest}{together if self.order else ''}", f"exact factor: {shown(self.correction)}"]
        if self.error is not None:
            vanished = ": the leading terms are 0 there" if self.error == -1 else ""
            lines.append(f"at these sizes {float(100 * self.error):+.3g} %{vanished}")
        return "\n".join([*lines, *map(str, self.within)])

    def to_latex(self, letters: Lettering = None) -> str:
        r"""Return the leading terms after :math:`\sim`, then the whole count: a leading term times its correction, or the sum.

        Several leading terms come first in the sum, because a fraction with a sum as divisor is harder to read.
        """
        chosen = lettering(letters, symbols_in(self.params))
        leading = latex.terms(self.leading, chosen)
        if len(leading) == 1:
            exact = [forms.factored(self.params, chosen, self.leading)]
        else:
            exact = latex.rows([*leading, *(latex.terms(self.rest, chosen) if self.rest else [])], LINE)
        near, *more = latex.rows(leading, LINE)
        first, *others = exact
        wide = [rf"&\quad {row}" for row in more], [rf"&\quad {row}" for row in others]
        return forms.align([rf"N &\sim {near}", *wide[0], f"&= {first}", *wide[1]])

    def _repr_latex_(self) -> str:
        return self.to_latex()

    def _repr_html_(self) -> str:
        written = [formula(latex.expression(value, PAPER)) for value in (self.leading, self.params)]
        order = f" + {formula(self.order.replace('**', '^'))}" if self.order else ""
        within = "".join(f"<li>{escape(str(one))}</li>" for one in self.within)
        return f"<div><strong>{written[0]}</strong>{order}, of {written[1]}</div>" + (f"<ul>{within}</ul>" if within else "")


def asymptotics(subject: Subject, *symbols: Symbol | str, at: Any = None) -> Asymptotics:
    """Return the leading terms of a count for growing symbols, with the exact factor to the whole count.

    Without symbols, all of them grow together. ``at`` puts sizes in. Expressions such as ``{F: 4*H}`` change the formula; numbers are used
    for the error, and for the range in which the approximation is within 1 % and 10 %. There is a range if one symbol grows and all others
    have numbers, at which the leading terms are not 0.

    Raises:
        UnknownNameError: a symbol that the layer does not have.
        SizeError: a symbol inside a floor, a ceiling, an exponent or a divisor that is a sum, where it has no degree.
        ArgumentError: a formula without symbols.

    >>> from paramsym import F, H, L, Repeat, TransformerEncoderLayer
    >>> print(asymptotics(Repeat(TransformerEncoderLayer(H, 12, 4*H), L), H, at={"L": 12}))
    12*L*H**2 + O(H)
    exact factor: 1 + 13/(12*H)
    within 1 % from H = 108 on
    within 10 % from H = 10 on
    """
    formula = formula_of(subject, at)
    grown = tuple(formula.symbol(symbol) for symbol in symbols) or tuple(sorted(formula.polynomial.free_symbols, key=lambda s: s.name))
    if not grown:
        raise ArgumentError(f"{formula.name} has no symbol that could grow; pass it without sizes.")
    degrees = {monomial: _degree(dict(monomial), grown) for monomial in formula.polynomial.terms}
    highest = max(degrees.values(), default=0)
    leading = Polynomial({monomial: c for monomial, c in formula.polynomial.terms.items() if degrees[monomial] == highest})
    rest = formula.polynomial - leading
    if not leading:
        raise SizeError(f"{formula.name} has the count 0, and so no leading term.")
    count, first, others = (one.as_expr() for one in (formula.polynomial, leading, rest))
    lower, exact = max((degree for degree in degrees.values() if degree < highest), default=None), quotient(formula.polynomial, leading)
    ranges = tuple(_ranges(formula, leading, rest, grown))
    return Asymptotics(formula.name, grown, count, first, others, highest, lower, exact, _error(formula, leading), ranges)


def _degree(monomial: dict[Expr, int], grown: tuple[Symbol, ...]) -> int:
    degree = 0
    for generator, exponent in monomial.items():
        if generator in grown:
            degree += exponent
        elif generator.free_symbols & set(grown):
            where = "the sum that is divided by, " if isinstance(generator, Add) else ""
            who = ", ".join(s.name for s in grown if s in generator.free_symbols)
            raise SizeError(f"{who} is inside {where}{generator}, which has no degree; ps.sensitivity gives the change for one more of it.")
    return degree


def _error(formula: Formula, leading: Polynomial) -> Rational | None:
    exact, near = formula.value(formula.polynomial), formula.value(leading)
    return cast("Rational", (near - exact) / exact) if exact.is_Rational and near.is_Rational and exact != 0 else None


def _ranges(formula: Formula, leading: Polynomial, rest: Polynomial, grown: tuple[Symbol, ...]) -> Iterator[Within]:
    """Find the last size at which the error is larger, from the exact roots of a polynomial."""
    if len(grown) != 1:
        return
    (symbol,) = grown
    numbers = {key: size for key, size in formula.sizes.items() if key != symbol and isinstance(size, int)}
    above, below = (put(one, numbers) for one in (rest, leading))
    if not below:
        return
    relative = sympy.cancel(above.as_expr() / below.as_expr())  # the other symbols may cancel
    if relative.free_symbols - {symbol}:
        return
    for tolerance in TOLERANCES:
        # |rest| <= tolerance * |leading + rest|, that is |relative| <= tolerance * |1 + relative|
        limit = Rational(tolerance.numerator, tolerance.denominator)
        margins = (sympy.fraction(sympy.together(limit * (1 + relative) - sign * relative)) for sign in (1, -1))
        changing = (side for margin in margins for side in margin if side.free_symbols)
        roots = (root for side in changing for root in sympy.Poly(side, symbol).real_roots())
        yield Within(tolerance, symbol, max([1, *(int(sympy.ceiling(root)) for root in roots)]))
