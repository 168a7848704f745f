"""The cost of one more of a symbol: derivative, step by one and elasticity, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from sympy import Expr, Integer, Max, Min, Mod, Pow, Symbol, cancel, ceiling, floor

from paramsym.algebra.size import shown, symbols_in, text
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.counted import Counted
from paramsym.analysis.formula import Formula, Subject, formula_of, number, one_more
from paramsym.analysis.wording import ONE_OF, listed
from paramsym.core.conditions import conditions_of
from paramsym.present.tabulate import PAPER
from paramsym.render import html, latex
from paramsym.render.printed import Printed
from paramsym.render.table import Cell, Letters, Table
from paramsym.render.tabular import Tabular

_NOUNS = ONE_OF | {"V": "word", "P": "position"}
_WORDS: dict[Any, str] = {floor: "a floor", ceiling: "a ceiling", Max: "a Max", Min: "a Min", Mod: "a Mod", Pow: "an exponent"}
"""Functions without a derivative, in words."""


@dataclass(frozen=True)
class PartSensitivity(Printed):
    """One part: its count, the cost of one more, and its share of that cost."""

    part: str
    amount: Expr
    marginal: Expr
    share: Expr

    def __str__(self) -> str:
        return f"{self.part}: {number(self.amount)}, one more costs {number(self.marginal)}"


@dataclass(frozen=True)
class Sensitivity(Tabular):
    """The dependence of a count on a symbol.

    ``marginal`` is the exact cost of one more; ``derivative`` is None if a function without a derivative, such as a floor or an exponent,
    contains the symbol; ``inside`` names the function. ``elasticity`` is the growth in percent for one percent more: the exponent of a
    power law. With sizes, all of them are numbers, and ``formula_marginal`` keeps the closed form. Prints as sentences; ``table()`` gives
    the parts.
    """

    subject: str
    symbol: Symbol
    params: Expr
    formula_marginal: Expr
    derivative: Expr | None
    marginal: Expr
    elasticity: Expr | None
    parts: tuple[PartSensitivity, ...]
    steps_of: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    letters: Letters = PAPER
    unit: str = "parameters"

    @property
    def _one(self) -> str:
        letter = BY_NAME.get(self.symbol.name)
        known = letter is not None and letter.symbol == self.symbol and self.symbol.name in _NOUNS
        return f"one more {_NOUNS[self.symbol.name]}" if known else f"one more of {self.symbol}"

    @property
    def words(self) -> str:
        """The cost of one more, in a sentence."""
        if self.formula_marginal == 0:
            counted = "count" if self.unit == "parameters" else self.unit
            return f"{self._one} costs nothing: {self.symbol} cancels from the {counted} of {self.subject}."
        return f"{self._one} costs {shown(self.formula_marginal)}{self._amount}."

    @property
    def _amount(self) -> str:
        return "" if self.marginal == self.formula_marginal else f" = {number(self.marginal)}"

    def _repr_html_(self) -> str:
        formula = html.formula(latex.expression(self.formula_marginal, self.letters))
        return f"{super()._repr_html_()}<p>{escape(self._one)} costs {formula}{escape(self._amount)}.</p>"

    def __str__(self) -> str:
        sentences = [self.words]
        if self.elasticity is not None and self.elasticity.is_number and self.formula_marginal != 0:
            sentences.append(f"One percent more {self.symbol} makes {float(self.elasticity):.3f} percent more {self.unit}.")
        if self.derivative is None:
            where = f"{self.symbol} is inside {listed(self.inside)}"
            sentences.append(f"{where}, which has no derivative; the step to the next whole number was taken.")
        if self.steps_of:
            sentences.append(f"{self.symbol} is a multiple of {', '.join(self.steps_of)}: the next size is that much larger.")
        return "\n".join(sentences)

    def table(self) -> Table:
        """Return the parts as a table: count, cost of one more, share."""
        rows: list[tuple[Cell, ...]] = []
        for one in self.parts:
            share = f"{100 * float(one.share):.1f} %" if one.share.is_number else one.share
            rows.append((one.part, one.amount, one.marginal, share))
        columns, footer = ("part", self.unit, "one more", "share"), ("total", self.params, self.marginal, None)
        return Table(columns, tuple(rows), footer, f"{self.subject}: one more of {self.symbol}", self.letters)


def sensitivity(subject: Subject, symbol: Symbol | str, *, at: Any = None, depth: int | None = None) -> Sensitivity:
    """Return how a count changes with a symbol: derivative, cost of one more, elasticity, and the share of each part.

    ``at`` puts sizes in, like ``Layer.at``; a sized layer has its own. ``depth`` is the depth of the parts. If a floor, an exponent or a
    similar function contains the symbol, there is no derivative, and the step to the next whole number counts.

    Raises:
        UnknownNameError: a symbol that the layer does not have.

    >>> from paramsym import H, L, Repeat, TransformerEncoderLayer
    >>> print(sensitivity(Repeat(TransformerEncoderLayer(H, 12, 4*H), L), L))
    one more layer costs 12*H**2 + 13*H.
    One percent more L makes 1.000 percent more parameters.
    >>> from paramsym.models import Bert
    >>> print(sensitivity(Bert(), "A"))
    one more head costs nothing: A cancels from the count of BertModel.
    >>> sensitivity(Bert(), "L", at="bert-base-uncased").marginal
    7087872
    """
    formula = formula_of(subject, at, depth)
    found = formula.symbol(symbol)
    step = one_more(formula.polynomial, found)
    derivative, elasticity = _derivative(formula, found)
    marginal = formula.value(step)
    steps = [(name, formula.value(polynomial), formula.value(one_more(polynomial, found))) for name, polynomial in formula.parts.items()]
    shares = (cancel(one / marginal) if marginal != 0 else Integer(0) for _, _, one in steps)
    parts = [PartSensitivity(*step, share) for step, share in zip(steps, shares, strict=True) if step[2] != 0]
    return Sensitivity(
        formula.name,
        found,
        formula.value(formula.polynomial),
        step.as_expr(),
        derivative,
        marginal,
        elasticity,
        tuple(parts),
        _multiples(subject, found),
        tuple(dict.fromkeys(_WORDS[atom.func] for atom in formula.polynomial.steps(found))),
        unit=formula.unit,
    )


def _derivative(formula: Formula, symbol: Symbol) -> tuple[Expr | None, Expr | None]:
    if formula.polynomial.steps(symbol):
        return None, None
    derivative = formula.polynomial.diff(symbol)
    if not formula.polynomial:
        return Integer(0), Integer(0)
    elasticity = cancel(symbol * derivative.as_expr() / formula.polynomial.as_expr())
    return formula.value(derivative), formula.value(elasticity)


def _multiples(subject: Subject, symbol: Symbol) -> tuple[str, ...]:
    if not isinstance(subject, Counted):
        return ()
    asked = (one for one in conditions_of(subject.origin[0]) if one.kind == "divides" and one.large == symbol)
    return tuple(dict.fromkeys(text(one.small) for one in asked if symbol not in symbols_in(one.small)))
