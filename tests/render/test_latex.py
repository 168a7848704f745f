"""Expressions as a paper would write them."""

from __future__ import annotations

import pytest
import sympy
from sympy import Expr, Max, Mod, Rational, Symbol, ceiling, floor

from paramsym import A, F, G, H, L, V, dims, per
from paramsym.present.tabulate import PAPER
from paramsym.render.forms import factored
from paramsym.render.latex import escape, expression, integer, rows, symbol, terms
from paramsym.render.table import Letters
from paramsym.render.widths import width as wide

d_model, d_ff, x_1, width, x_y_z = dims("d_model d_ff x_1 width x_y_z")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (4 * H**2 + 4 * H, "4 H^{2} + 4 H"),
        (12 * L * H**2 + 13 * L * H + V * H, "12 L H^{2} + 13 L H + V H"),
        (H / A, r"\frac{H}{A}"),
        ((H + 1) / (H + A), r"\frac{H + 1}{A + H}"),
        (L * (H + 1) / (H + A) ** 2, r"\frac{L \left(H + 1\right)}{\left(A + H\right)^{2}}"),
        (H**2 / A**2, r"\frac{H^{2}}{A^{2}}"),
        (1 / A, r"\frac{1}{A}"),
        (Rational(3, 2) * H, r"\frac{3 H}{2}"),
        (H / 2 - A / 2, r"\frac{H}{2} - \frac{A}{2}"),
        (sympy.sqrt(H + 1) / 2, r"\frac{\sqrt{H + 1}}{2}"),
        (A * sympy.sqrt(H), r"A \sqrt{H}"),
        (H - 1, "H - 1"),
        (1 - H, "1 - H"),
        (-H, "-H"),
        (-3, "-3"),
        (109482240, "109{,}482{,}240"),
        (d_model**2, r"d_{\text{model}}^{2}"),
        (d_ff, r"d_{\text{ff}}"),
        (x_1, "x_{1}"),
        (width, r"\mathit{width}"),
        (floor(H / 2), r"\left\lfloor \frac{H}{2} \right\rfloor"),
        (A * Mod(H, 3), r"A \left(H \bmod 3\right)"),  # A H mod 3 is another number
        (ceiling(L / 2) ** 2, r"{\left\lceil \frac{L}{2} \right\rceil}^{2}"),
        (2**L, "2^{L}"),
        (2 ** (L - 1), "2^{L - 1}"),
        (per(H, A), r"\frac{H}{A}"),
        (sympy.Integer(0), "0"),
        (2 * 2**L * H, r"2 H \cdot 2^{L}"),
        (2 * 3**L, r"2 \cdot 3^{L}"),
        (width * H, r"H \, \mathit{width}"),
    ],
)
def test_expressions(value: Expr | int, expected: str) -> None:
    """Highest degree first, counts before widths, no raw underscores."""
    assert expression(value, PAPER) == expected


@pytest.mark.parametrize("value", [H / (A + G), (A + G) ** 2 / H, Max(H, d_model), 2**L * H / 3 - floor(F / (H + 1)), x_y_z**3])
def test_braces_are_balanced(value: Expr) -> None:
    """Whatever the expression, its groups close."""
    written = expression(value, PAPER)
    assert written.count("{") == written.count("}")
    assert written.count(r"\left") == written.count(r"\right")
    assert "_model}" in written or "d_model" not in written


def test_order_of_letters_is_the_tables() -> None:
    """A table may bring its own letters, forms and order."""
    letters = Letters((("H", "h"), ("L", "\\ell")))
    assert expression(L * H, letters) == r"h \ell"
    assert expression(L * H, PAPER) == "L H"
    assert symbol("H", letters) == "h"
    assert symbol("beta_x", Letters()) == r"\beta_{x}"


def test_words_and_numbers() -> None:
    """Everything LaTeX would read as a command is escaped; thousands are grouped."""
    assert escape(r"a_b{c}$%#&~^\ ") == r"a\_b\{c\}\$\%\#\&\textasciitilde{}\textasciicircum{}\textbackslash{} "
    assert integer(1234567) == "1{,}234{,}567"
    assert expression(Symbol("x"), Letters()) == "x"


def test_names_of_all_kinds() -> None:
    """Numbered letters, Greek ones and words."""
    assert symbol("n2", Letters()) == "n_{2}"
    assert symbol("\N{GREEK SMALL LETTER ALPHA}", Letters()) == r"\alpha"
    assert symbol("\N{GREEK CAPITAL LETTER OMEGA}", Letters()) == r"\Omega"
    assert symbol("\N{GREEK SMALL LETTER LAMDA}", Letters()) == symbol("lambda", Letters()) == r"\lambda"
    assert symbol("\N{GREEK CAPITAL LETTER ALPHA}", Letters()) == r"\mathit{Alpha}"  # LaTeX has no \Alpha
    assert symbol("\N{GREEK SMALL LETTER BETA}_1", Letters()) == symbol("\N{GREEK SMALL LETTER BETA}1", Letters()) == r"\beta_{1}"
    assert symbol("width2x", Letters()) == r"\mathit{width2x}"
    assert symbol("num_heads", Letters()) == r"\mathit{num\_heads}"  # one name, where the layer of n_layer says which n
    assert symbol("kernel_size_0", Letters()) == r"\mathit{kernel\_size\_0}"
    assert symbol("size_0", Letters()) == r"\mathit{size}_{0}"


def test_long_sums_are_broken() -> None:
    """No line is wider than asked for, no term is lost, every line but the first begins with its sign."""
    value = sum((H**k * L for k in range(1, 12)), -A)
    found = rows(terms(value, PAPER), 30)
    assert len(found) >= 3
    assert all(wide(row) <= 34 for row in found)
    assert all(row.startswith(("+", "-")) for row in found[1:])
    assert " ".join(found).replace("-A", "- A") == expression(value, PAPER)


def test_a_long_function_stands_behind_a_fraction() -> None:
    """A line cannot be broken inside a fraction, but after the commas of a function in a table."""
    arrays = Max(*(number * A * H * L + F**number for number in range(2, 6)))
    written = expression(arrays / A, PAPER)
    assert written.startswith(r"\frac{1}{A} \max\left(")
    assert expression(Max(F, L) / A, PAPER).startswith(r"\frac{\max")


def test_a_fraction_below_zero() -> None:
    """A sum of which all terms are negative has its sign before the fraction; otherwise the terms have theirs."""
    letters = Letters()
    assert factored(4 * H**2 - 2 * F - 3, letters, H**2) == r"H^{2} \left(4 - \frac{2 F + 3}{H^{2}}\right)"
    assert factored(4 * H**2 + 2 * F - 3, letters, H**2) == r"H^{2} \left(4 + \frac{2 F - 3}{H^{2}}\right)"
