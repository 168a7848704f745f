"""LaTeX: expressions in the order a paper would use, and booktabs tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import sympy
from sympy import Add, Expr, Integer, Mul, Rational, Symbol

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Letters, Table

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def escape(words: str) -> str:
    """Return the words with everything LaTeX would read as a command escaped."""
    return "".join(_SPECIAL.get(character, character) for character in words)


def expression(value: Expr | int, letters: Letters) -> str:
    r"""Return an expanded expression as LaTeX: highest degree first, numbers before letters, ``12 L H^{2}``.

    Names such as ``d_model`` become ``d_{\text{model}}``.
    """
    value = Integer(value) if isinstance(value, int) else value
    order = {name: position for position, (name, _) in enumerate(letters.latex)}
    terms = sorted(Add.make_args(value), key=lambda term: _term_key(term, order))
    if terms and _sign(terms[0]) < 0:
        terms.sort(key=lambda term: _sign(term) < 0)
    written = ""
    for term in terms:
        body = _term(term if _sign(term) > 0 else -term, letters, order)
        joint = (" - " if written else "-") if _sign(term) < 0 else (" + " if written else "")
        written += joint + body
    return written


def symbol(name: str, letters: Letters) -> str:
    """Return how a symbol is written."""
    known = dict(letters.latex).get(name)
    if known is not None:
        return known
    stem, _, index = name.partition("_")
    if not index:
        return name if len(name) == 1 else rf"\mathit{{{escape(name)}}}"
    below = index if index.isdigit() or len(index) == 1 else rf"\text{{{escape(index)}}}"
    return rf"{stem if len(stem) == 1 else rf'{chr(92)}mathit{{{stem}}}'}_{{{below}}}"


def integer(value: int) -> str:
    """Return a whole number with thin groups of thousands."""
    return f"{value:,}".replace(",", "{,}")


def table(source: Table) -> str:
    r"""Return a ``tabular`` with booktabs rules; needs ``\usepackage{booktabs,amsmath}``."""
    numeric = [all(not isinstance(row[i], str) for row in source.rows) for i in range(len(source.columns))]
    lines = [
        rf"\begin{{tabular}}{{{''.join('r' if number else 'l' for number in numeric)}}}",
        r"\toprule",
        " & ".join(map(escape, source.columns)) + r" \\",
        r"\midrule",
        *(" & ".join(cell(value, source.letters) for value in row) + r" \\" for row in source.rows),
    ]
    if source.footer:
        lines += [r"\midrule", " & ".join(cell(value, source.letters) for value in source.footer) + r" \\"]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def cell(value: Cell, letters: Letters) -> str:
    """Return one cell."""
    if value is None:
        return ""
    if isinstance(value, str):
        return re.sub(r"(?<=[.\0])(?=\w)", r"\\allowbreak{}", escape(value).replace(r"\_", "\0")).replace("\0", r"\_")
    if isinstance(value, tuple):
        inside = ", ".join(expression(size, letters) for size in value)
        return rf"$({inside}{',' if len(value) == 1 else ''})$"
    if isinstance(value, int | Integer):
        return f"${integer(int(value))}$"
    return f"${expression(value, letters)}$"


def _sign(term: Expr) -> int:
    return -1 if term.as_coeff_Mul()[0].is_negative else 1


def _powers(term: Expr) -> list[tuple[Expr, Expr]]:
    return [factor.as_base_exp() for factor in Mul.make_args(term)]


def _degree(base: Expr, exponent: Expr) -> int:
    return int(exponent) if isinstance(exponent, Integer) and not base.is_Number else 0


def _term_key(term: Expr, order: dict[str, int]) -> tuple[object, ...]:
    powers = _powers(term.as_coeff_Mul()[1])
    degree = sum(_degree(base, exponent) for base, exponent in powers)
    highest = max((_degree(base, exponent) for base, exponent in powers), default=0)
    names = sorted((_place(base, order), -_degree(base, exponent)) for base, exponent in powers)
    return (-degree, -highest, names)


def _place(base: Expr, order: dict[str, int]) -> tuple[int, str]:
    name = base.name if isinstance(base, Symbol) else "~" + str(base)
    return (order.get(name, len(order)), name)


def _term(term: Expr, letters: Letters, order: dict[str, int]) -> str:
    coefficient, rest = term.as_coeff_Mul()
    above: list[str] = []
    below: list[str] = []
    numerator, denominator = coefficient.as_numer_denom() if isinstance(coefficient, Rational) else (coefficient, Integer(1))
    for base, exponent in sorted(_powers(rest), key=lambda power: _place(power[0], order)):
        if base == 1:
            continue
        flipped = exponent.could_extract_minus_sign()
        (below if flipped else above).append(_power(base, -exponent if flipped else exponent, letters))
    if numerator != 1 or not above:
        above.insert(0, integer(int(numerator)))
    if denominator != 1:
        below.insert(0, integer(int(denominator)))
    return rf"\frac{{{' '.join(above)}}}{{{' '.join(below)}}}" if below else " ".join(above)


def _power(base: Expr, exponent: Expr, letters: Letters) -> str:
    if isinstance(base, Symbol):
        body = symbol(base.name, letters)
    elif isinstance(base, Integer):
        body = str(base)
    elif isinstance(base, Add):
        body = rf"\left({expression(base, letters)}\right)"
    elif isinstance(base, sympy.floor | sympy.ceiling):
        name = "floor" if isinstance(base, sympy.floor) else "ceil"
        body = rf"\left\l{name} {expression(base.args[0], letters)} \right\r{name}"
    else:
        body = sympy.latex(base, symbol_names={s: symbol(s.name, letters) for s in cast("set[Symbol]", base.free_symbols)})
    if exponent == 1:
        return body
    power = expression(exponent, letters) if isinstance(exponent, Expr) else str(exponent)
    grouped = body if isinstance(base, Symbol | Integer | Add) and "^" not in body else f"{{{body}}}"
    return f"{grouped}^{{{power}}}"
