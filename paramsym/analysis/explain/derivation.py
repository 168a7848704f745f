"""The steps of a derivation: products and sums that are not simplified, so that a reader sees A * (H/A) before it is H.

SymPy would cancel the product while building it. Values still come from exact polynomials, and every step can be checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from sympy import Add, Expr, Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, canonical, expressions, shown as written, substitute, with_quotients
from paramsym.render import latex
from paramsym.render.printed import Printed
from paramsym.render.table import Letters
from paramsym.render.widths import width

Said: TypeAlias = "str | Expr | int"
"""A piece of a sentence: words, or a formula."""


def plain(said: Iterable[Said]) -> str:
    """Write a sentence as text."""
    return "".join(piece if isinstance(piece, str) else shown(piece) for piece in said)


def written_in(said: Iterable[Said], words: Callable[[str], str], formula: Callable[[str], str], letters: Letters) -> str:
    """Write a sentence in a format, given functions that write words and LaTeX formulas."""
    return "".join(words(piece) if isinstance(piece, str) else formula(latex.expression(piece, letters)) for piece in said)


@dataclass(frozen=True)
class Product(Printed):
    """Factors written side by side; with ``spans``, summed over the numbers of copies that they depend on, innermost first."""

    factors: tuple[Count, ...]
    spans: tuple[Numbers, ...] = ()

    @property
    def value(self) -> Polynomial:
        """The value of the product."""
        total = Polynomial.product(self.factors)
        for span in self.spans:
            if span.index is not None:
                total = total.sum_over(span.index, Polynomial.of(span.start), Polynomial.of(span.count), span.step)
        return total

    def __str__(self) -> str:
        body = "*".join(_bracketed(shown(factor), factor) for factor in self.factors) or "1"
        for span in self.spans:
            body = f"sum of {body} over {_range(span)}"
        return body

    def to_latex(self, letters: Letters) -> str:
        r"""Write the factors with a thin dot between them: ``A \cdot \frac{H}{A} \cdot H``, sums in front."""
        body = r" \cdot ".join(_latex_factor(factor, letters) for factor in self.factors) or "1"
        for span in self.spans:
            body = _latex_sum(span, letters) + " " + body
        return body

    def at(self, sizes: Mapping[Symbol, Count]) -> Product:
        """Put sizes in, factor by factor; the index of a sum stays."""
        bound = {span.index for span in self.spans}
        free = expressions({symbol: size for symbol, size in sizes.items() if symbol not in bound})
        spans = tuple(replace(span, count=substitute(span.count, free), start=substitute(span.start, free)) for span in self.spans)
        return Product(tuple(substitute(factor, free) for factor in self.factors), spans)


@dataclass(frozen=True)
class Sum(Printed):
    """Terms written one after another; each with its number of occurrences."""

    terms: tuple[tuple[int, Product], ...]

    @property
    def value(self) -> Polynomial:
        """The value of the sum."""
        return Polynomial.total(term.value * Polynomial.of(times) for times, term in self.terms)

    @property
    def signed(self) -> tuple[tuple[int, Product], ...]:
        """The terms with the sign of a single negative number in front: 5 - 3, not 5 + -3."""
        return tuple(
            (-times, Product((-term.factors[0],)))
            if len(term.factors) == 1 and isinstance(term.factors[0], int) and term.factors[0] < 0
            else (times, term)
            for times, term in self.terms
        )

    def __str__(self) -> str:
        written = ""
        for times, term in self.signed:
            sign = ("- " if times < 0 else "+ ") if written else ("-" if times < 0 else "")
            body = str(term) if abs(times) == 1 else f"{abs(times)} * {term}"
            written += (" " if written else "") + sign + body
        return written or "0"

    def to_latex(self, letters: Letters) -> str:
        """Write the terms with their signs."""
        return latex.joined(self.latex_terms(letters))

    def latex_terms(self, letters: Letters, limit: float | None = None) -> list[tuple[int, str]]:
        """Return the terms with separate signs; a bracketed sum wider than ``limit`` is opened, so that it can be broken."""
        found: list[tuple[int, str]] = []
        for times, term in self.signed:
            body = term.to_latex(letters) if abs(times) == 1 else rf"{latex.integer(abs(times))} \cdot {term.to_latex(letters)}"
            lone = term.factors[0] if len(term.factors) == 1 and not term.spans and times == 1 else None
            if limit is not None and isinstance(lone, Expr) and width(body) > limit:
                found += latex.terms(with_quotients(lone), letters)
            else:
                found.append((-1 if times < 0 else 1, body))
        return found


@dataclass(frozen=True)
class Step(Printed):
    """One equation with a sentence: ``left`` as written, ``right`` in closed form; ``numbers`` shows it with sizes put in."""

    said: tuple[Said, ...]
    left: Sum
    right: Expr
    numbers: str = ""

    @property
    def words(self) -> str:
        """The sentence, its formulas as text."""
        return plain(self.said)

    @property
    def holds(self) -> bool:
        """Whether both sides are equal as polynomials."""
        return self.left.value == Polynomial.of(self.right)

    def __str__(self) -> str:
        equation = f"{self.left} = {shown(self.right)}"
        return f"{self.words}\n    {equation}" + (f"\n    {self.numbers}" if self.numbers else "")

    def to_latex(self, letters: Letters) -> str:
        """Write the equation as one line of an ``align``."""
        return rf"{self.left.to_latex(letters)} &= {latex.expression(self.right, letters)}"

    def latex_lines(self, letters: Letters, limit: float) -> list[str]:
        """Write the equation on the lines that its width needs, flush left."""
        line = self.to_latex(letters).replace("&=", "=")
        if width(line) <= limit:
            return [f"&{line}"]
        left = latex.rows(self.left.latex_terms(letters, limit / 2), limit)
        right = latex.rows(latex.terms(self.right, letters), limit - width(r"\qquad ="))
        opened = [piece for row in left for piece in _product_lines(row, limit)]
        return [*(rf"&{row}" for row in opened), rf"&\quad = {right[0]}", *(rf"&\qquad {row}" for row in right[1:])]


def _product_lines(row: str, limit: float) -> list[str]:
    """Break a product that is wider than a line before a dot, outside of brackets."""
    lines = [""]
    for factor in row.split(r" \cdot "):
        longer = rf"{lines[-1]} \cdot {factor}" if lines[-1] else factor
        inside = lines[-1].count(r"\left") != lines[-1].count(r"\right")
        if inside or not lines[-1] or width(longer) <= limit:
            lines[-1] = longer
        else:
            lines.append(rf"\quad \cdot {factor}")
    return lines


def _range(span: Numbers) -> str:
    by = f", every {span.step}" if span.step != 1 else ""
    return f"{span.index} = {shown(_nth(span, 0))}..{shown(_nth(span, span.count - 1)).replace(' ', '')}{by}"


def _latex_sum(span: Numbers, letters: Letters) -> str:
    r"""Write ``\sum_{i=0}^{L-1}``, or, in steps, ``\sum_{i=0,2,\ldots,L-1}``."""
    index = latex.symbol(str(span.index), letters)
    first, second, last = (latex.expression(_nth(span, number), letters) for number in (0, 1, span.count - 1))
    if span.step == 1:
        return rf"\sum_{{{index}={first}}}^{{{last}}}"
    return rf"\sum_{{{index}={first},{second},\ldots,{last}}}"


def _nth(span: Numbers, position: Count) -> Count:
    return canonical(span.start + span.step * position)


def shown(value: Count) -> str:
    """Write a size for a reader, an exact quotient as H/A."""
    return written(value if isinstance(value, int) else with_quotients(value))


def _bracketed(written: str, factor: Count) -> str:
    simple = isinstance(factor, int | Symbol) or (written.replace("**", "").isalnum() and "*" not in written)
    return written if simple else f"({written})"


def _latex_factor(factor: Count, letters: Letters) -> str:
    if isinstance(factor, int):
        return latex.integer(factor) if factor >= 0 else f"({factor})"
    plain = with_quotients(factor)
    written = latex.expression(plain, letters)
    return rf"\left({written}\right)" if isinstance(plain, Add) or written.startswith("-") else written
