"""The steps of a derivation: products and sums that stay as written, so that a reader sees A * (H/A) before it is H.

SymPy would cancel the product while building it. Values still come from exact polynomials, and every step can be checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Add, Expr, Symbol

from paramsym.polynomial import Polynomial
from paramsym.render import latex
from paramsym.render.table import Letters
from paramsym.size import Count, substitute, text


@dataclass(frozen=True)
class Product:
    """Factors written side by side."""

    factors: tuple[Count, ...]

    @property
    def value(self) -> Polynomial:
        """What they multiply to."""
        return Polynomial.product(self.factors)

    def __str__(self) -> str:
        return "*".join(_bracketed(text(_plain(factor)), factor) for factor in self.factors) or "1"

    def to_latex(self, letters: Letters) -> str:
        r"""Write the factors with a thin dot between them: ``A \cdot \frac{H}{A} \cdot H``."""
        written = (_latex_factor(factor, letters) for factor in self.factors)
        return r" \cdot ".join(written) or "1"

    def at(self, sizes: Mapping[Symbol, Count]) -> Product:
        """Put sizes in, factor by factor."""
        return Product(tuple(substitute(factor, sizes) for factor in self.factors))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Sum:
    """Terms written one after another; each with how often it occurs."""

    terms: tuple[tuple[int, Product], ...]

    @property
    def value(self) -> Polynomial:
        """What they add up to."""
        return Polynomial.total(term.value * Polynomial.of(times) for times, term in self.terms)

    @property
    def signed(self) -> tuple[tuple[int, Product], ...]:
        """The terms with the sign of a lone negative number in front: 5 - 3, not 5 + -3."""
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
        written = ""
        for times, term in self.signed:
            sign = ("- " if times < 0 else "+ ") if written else ("-" if times < 0 else "")
            body = term.to_latex(letters) if abs(times) == 1 else rf"{latex.integer(abs(times))} \cdot {term.to_latex(letters)}"
            written += (" " if written else "") + sign + body
        return written or "0"


@dataclass(frozen=True)
class Step:
    """One equation with a sentence: ``left`` as written, ``right`` in closed form; ``numbers`` shows it with sizes put in."""

    words: str
    left: Sum
    right: Expr
    numbers: str = ""

    @property
    def holds(self) -> bool:
        """Whether both sides are equal as polynomials."""
        return self.left.value == Polynomial.of(self.right)

    def __str__(self) -> str:
        shown = f"{self.left} = {text(self.right)}"
        return f"{self.words}\n    {shown}" + (f"\n    {self.numbers}" if self.numbers else "")

    def to_latex(self, letters: Letters) -> str:
        """Write the equation as one line of an ``align``."""
        return rf"{self.left.to_latex(letters)} &= {latex.expression(self.right, letters)}"


def _plain(factor: Count) -> Count:
    """Write an exact quotient as H/A."""
    return factor if isinstance(factor, int) else factor.doit()


def _bracketed(written: str, factor: Count) -> str:
    simple = isinstance(factor, int | Symbol) or (written.replace("**", "").isalnum() and "*" not in written)
    return written if simple else f"({written})"


def _latex_factor(factor: Count, letters: Letters) -> str:
    if isinstance(factor, int):
        return latex.integer(factor) if factor >= 0 else f"({factor})"
    plain = factor.doit()
    written = latex.expression(plain, letters)
    return rf"\left({written}\right)" if isinstance(plain, Add) or written.startswith("-") else written
