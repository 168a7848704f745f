"""Expressions as text, in the order of papers and with an unchanged value."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given, strategies as st
from sympy import Add, Expr, Integer, Max, Mod, Mul, Rational, ceiling, floor, sqrt

import paramsym as ps
from paramsym import A, B, F, G, H, L, V
from paramsym.algebra.letters import USUAL, lettering
from paramsym.render import latex, plain

NAMES = {symbol.name: symbol for symbol in (A, B, F, G, H, L, V)}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (12 * L * H**2 + 13 * L * H + V * H, "12*L*H**2 + 13*L*H + V*H"),
        (G * H**2 / A - H**2, "G*H**2/A - H**2"),
        (H / (2 * A), "H/(2*A)"),
        (-Rational(3, 2), "-3/2"),
        (3 * L * H * (A - 1), "3*L*H*(A - 1)"),
        (H / (A**2 * (L + 1)), "H/(A**2*(L + 1))"),
        (2**L * H, "H*2**L"),
        (B * floor(3 * H / 4 + L / 2), "B*floor(L/2 + 3*H/4)"),
        (2 * Max(3 * B, L * H, evaluate=False), "2*Max(3*B, L*H)"),
        (ceiling(H / 3) ** 2 * Mod(H, 3), "(Mod(H, 3))*ceiling(H/3)**2"),
        (sqrt(H) / 3, "sqrt(H)/3"),
        (1 / H, "1/H"),
        (1 / H**2 + 1 / F, "1/F + 1/H**2"),
        (Mul(-1, A + B, evaluate=False), "-(A + B)"),
        (Add(A, Mul(-1, B + 1, evaluate=False), evaluate=False), "A - (B + 1)"),
        (Integer(7), "7"),
    ],
)
def test_the_order_of_papers(value: Expr, written: str) -> None:
    """As a paper would write it on one line."""
    assert plain.expression(value, USUAL) == written


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.lists(st.tuples(st.sampled_from(sorted(NAMES)), st.integers(-2, 3)), max_size=4)), max_size=6)
)
def test_reading_it_back_gives_the_same(terms: list[tuple[int, list[tuple[str, int]]]]) -> None:
    """Python reads the text, with the letters in scope, and SymPy's arithmetic gives the same value."""
    value = Add(*(Mul(Rational(times, 2), *(NAMES[name] ** power for name, power in factors)) for times, factors in terms))
    assert eval(sympy.sstr(value), {}, NAMES) == eval(plain.expression(value, USUAL), {}, NAMES)


def test_text_and_latex_have_one_order() -> None:
    """Text and LaTeX have all terms of a model in the same order, also in the letters of a paper."""
    bert = ps.models.Bert()
    for letters in (USUAL, lettering("megatron")):
        text = plain.expression(bert.params, letters).replace("**", "^").replace("*", " ").split(" + ")
        forms = dict(letters.latex)
        spoken = ["".join(forms.get(one, one) for one in term) for term in text]
        assert spoken == [term.replace("{", "").replace("}", "") for term in latex.expression(bert.params, letters).split(" + ")]
