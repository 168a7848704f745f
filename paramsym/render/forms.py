"""Forms of a formula in LaTeX: factored, collected, annotated with braces, substituted, and broken into lines."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, cast

from sympy import Add, Expr, Integer, Mul, Rational, Symbol

from paramsym.render import latex
from paramsym.render.order import ordered
from paramsym.render.widths import LINE, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paramsym.render.table import Letters

BRACKETS = 11
"""The width of a sign and brackets around several lines, in characters."""


def factored(value: Expr, letters: Letters, by: Expr | None = None, limit: float = LINE) -> str:
    r"""Write a sum as its leading term times the rest: ``12 l h^{2} \left(1 + \frac{13}{12 h} + \frac{V + s}{12 l h}\right)``.

    Fractions with one denominator are joined. ``by`` replaces the leading term.
    """
    terms = ordered(value, letters)
    lead = terms[0] if by is None else by
    if len(terms) == 1 and by is None:
        return latex.expression(value, letters)
    groups: dict[Expr, list[Expr]] = {}
    for term in terms:
        ratio = term / lead
        groups.setdefault(_below(ratio), []).append(ratio)
    fractions: list[tuple[int, str]] = []
    for below, ratios in groups.items():
        together = _fraction(ratios, below, letters)
        fits = width(together[1]) <= limit / 2
        fractions += [together] if fits else [_fraction([ratio], below, letters) for ratio in ratios]
    return in_front(latex.expression(lead, letters), fractions, limit)


def _below(ratio: Expr) -> Expr:
    """Return the letters that a monomial divides by."""
    powers = [factor.as_base_exp() for factor in Mul.make_args(ratio)]
    return Mul(*(base**-exponent for base, exponent in powers if not base.is_Number and exponent.could_extract_minus_sign()))


def _fraction(ratios: list[Expr], below: Expr, letters: Letters) -> tuple[int, str]:
    """Write ratios with the same letters in the denominator over one denominator."""
    coefficients = [cast("Rational", ratio.as_coeff_Mul()[0]) for ratio in ratios]
    sign = -1 if all(coefficient.is_negative for coefficient in coefficients) else 1
    divisor = Integer(lcm(*(int(coefficient.q) for coefficient in coefficients)))
    above = Add(*(sign * ratio * divisor * below for ratio in ratios))
    under = divisor * below
    if under == 1:
        body = latex.expression(above, letters)
        return sign, rf"\left({body}\right)" if sign < 0 and isinstance(above, Add) else body
    return sign, rf"\frac{{{latex.expression(above, letters)}}}{{{latex.expression(under, letters)}}}"


def collected(value: Expr, letters: Letters, by: Symbol, limit: float = LINE) -> list[tuple[int, str]]:
    r"""Write a sum by powers of one symbol, highest first: ``H^{2} \left(4 L + 1\right) + H (...) + ...``, as signed terms."""
    groups: dict[int, list[Expr]] = {}
    for term in ordered(value, letters):
        exponent = sum(int(e) for base, e in (factor.as_base_exp() for factor in Mul.make_args(term)) if base == by)
        groups.setdefault(exponent, []).append(term / by**exponent)
    written: list[tuple[int, str]] = []
    for exponent in sorted(groups, reverse=True):
        rest = Add(*groups[exponent])
        if exponent == 0 or not isinstance(rest, Add):
            written += latex.terms(rest * by**exponent, letters)
        else:
            written.append((1, in_front(latex.expression(by**exponent, letters), latex.terms(rest, letters), limit)))
    return written


def product(factors: Iterable[Expr | int], value: Expr, letters: Letters, limit: float = LINE) -> str:
    r"""Write ``L \left(12 H^{2} + 13 H\right)``: factors in front of a sum."""
    front = Mul(*factors)
    if front == 1:
        return broken(latex.terms(value, letters), limit)
    if not isinstance(front, Add) and not isinstance(value, Add):
        return latex.expression(front * value, letters)
    before = latex.expression(front, letters)
    before = rf"\left({before}\right)" if isinstance(front, Add) else before
    if not isinstance(value, Add):
        return f"{before} {latex.expression(value, letters)}"
    return in_front(before, latex.terms(value, letters), limit)


def in_front(before: str, signed: list[tuple[int, str]], limit: float = LINE) -> str:
    r"""Write a factor before a sum in brackets; a wide sum is on several lines inside them, below the factor if that is wide, too."""
    whole = rf"{before} \left({latex.joined(signed)}\right)"
    if width(whole) <= limit:
        return whole
    if width(before) > limit / 3:
        return f"\\begin{{aligned}}\n&{before} \\\\\n&\\quad \\cdot \\left({broken(signed, limit - 2 * BRACKETS)}\\right)\n\\end{{aligned}}"
    return rf"{before} \left({broken(signed, limit - width(before) - BRACKETS)}\right)"


def braced(body: str, words: str) -> str:
    r"""Write ``\underbrace{V H}_{\text{token embedding}}``."""
    return rf"\underbrace{{{body}}}_{{\text{{{latex.escape(words)}}}}}"


def substituted(value: Expr, sizes: Mapping[str, int], letters: Letters) -> list[tuple[int, str]]:
    r"""Write numbers in place of the symbols, without multiplying: ``12 \cdot 12 \cdot 768^{2}``, as signed terms."""
    numbers = tuple((name, latex.integer(sizes[name]) if name in sizes else form) for name, form in letters.latex)
    more = tuple((name, latex.integer(size)) for name, size in sizes.items() if name not in dict(letters.latex))
    return latex.terms(value, type(letters)((*numbers, *more)), r" \cdot ")


def lines(left: str, sides: Iterable[list[str]]) -> str:
    r"""Write an ``align*`` of one left side and several right ones, each on one or more lines."""
    rows: list[str] = []
    for position, side in enumerate(sides):
        first, *others = side
        rows.append(rf"{left if position == 0 else ''} &= {first}".strip())
        rows += [rf"&\quad {other}" for other in others]
    return align(rows)


def align(rows: Iterable[str]) -> str:
    r"""Write an ``align*``."""
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def broken(signed: list[tuple[int, str]], limit: float = LINE) -> str:
    r"""Write a sum on one line, or as an ``aligned`` of several lines if it is too wide."""
    found = latex.rows(signed, limit)
    if len(found) == 1:
        return found[0]
    return "\\begin{aligned}\n" + " \\\\\n".join(f"&{row}" for row in found) + "\n\\end{aligned}"
