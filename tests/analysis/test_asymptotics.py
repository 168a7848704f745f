"""What dominates, and how good the approximation of a paper is."""

from __future__ import annotations

import pytest
from recorded import document
from sympy import Rational, floor

import paramsym as ps
from paramsym import A, C, F, H, K, L, W, asymptotics
from paramsym.errors import ArgumentError, SizeError, UnknownNameError

BLOCKS = ps.Repeat(ps.TransformerEncoderLayer(H, A, 4 * H), L)


def test_kaplan() -> None:
    """Kaplan et al. 2020, equation 2.1: N ~ 12 L H^2; the exact factor is 1 + 13/(12 H)."""
    found = asymptotics(BLOCKS, H)
    assert found.leading == 12 * L * H**2
    assert found.correction == 1 + Rational(13, 12) / H
    assert (found.order, found.degree) == ("O(H)", 2)
    assert [one.start for one in found.within] == [108, 10]  # L cancels


def test_kaplans_figures() -> None:
    """The published values are those of the leading term, and the error is that of what it leaves out."""
    (fact,) = (row for row in document("formulas") if row["id"] == "kaplan2020-N")
    for row in fact["values"]:
        width, depth = row["config"]["d_model"], row["config"]["n_layer"]
        found = asymptotics(BLOCKS, H, at={H: width, L: depth})
        assert found.leading.subs({H: width, L: depth}) == row["computed"]
        exact = depth * (12 * width**2 + 13 * width)
        assert found.error == Rational(row["computed"] - exact, exact)
        assert found.rest == 13 * H * L


def test_megatrons_factor() -> None:
    """Narayanan et al. 2021, section 2: 12 L H^2 (1 + 13/(12 H) + (V + S)/(12 L H)), and what they leave out, 1/(6 L H)."""
    model = ps.models.Gpt2()
    found = asymptotics(model, H)
    factor = {str(term) for term in found.correction.as_ordered_terms()}
    assert found.leading == 12 * H**2 * L
    assert {"1", "13/(12*H)", "V/(12*H*L)", "P/(12*H*L)", "1/(6*H*L)"} == factor


def test_ranges_are_sharp() -> None:
    """One less is beyond the tolerance; from there on everything is within."""
    found = asymptotics(ps.models.Bert(), "H", at={"V": 30522, "P": 512, "T": 2, "L": 12, "F": 4 * H})
    for one in found.within:
        for width, inside in ((one.start, True), (one.start - 1, False), (one.start + 1000, True)):
            sizes = {"V": 30522, "P": 512, "T": 2, "L": 12, "H": width}
            near = found.leading.subs({H: width, L: 12})
            exact = found.params.subs({ps.dims(name): size for name, size in sizes.items()})
            assert bool(abs(near - exact) <= Rational(one.tolerance.numerator, one.tolerance.denominator) * exact) is inside


def test_several_symbols_grow_together() -> None:
    """The total degree counts."""
    found = asymptotics(ps.models.Bert(), "H", "L", "F")
    assert found.leading == 2 * F * H * L + 4 * H**2 * L
    assert found.order == "O(n**2)"
    assert str(found).startswith("4*L*H**2 + 2*L*F*H + O(n**2), where H, L, F grow together as n\n")  # in the order of papers
    assert found.within == ()
    assert asymptotics(H * L + H).leading == H * L


def test_the_factor_has_no_more_signs_than_it_needs() -> None:
    """All below the line is positive where all of it was negative."""
    found = asymptotics(ps.models.Deepseek(), "E")
    assert (found.leading * found.correction - found.params).simplify() == 0
    assert not found.correction.as_numer_denom()[1].could_extract_minus_sign()


def test_nothing_left_out() -> None:
    """A pure product is its own leading term."""
    found = asymptotics(ps.Dense(H, F, bias=False), H)
    assert (found.rest, found.order, found.correction) == (0, "", 1)
    assert [one.start for one in found.within] == [1, 1]
    assert "exactly" in str(found)


def test_negative_rests_and_quotients() -> None:
    """Signs and negative exponents are taken as they are."""
    found = asymptotics(C**2 - 50 * C, C)
    assert [one.start for one in found.within] == [5050, 550]
    found = asymptotics(ps.models.Llama(), A)
    assert found.degree == 0
    assert found.rest_degree == -1


def test_formats() -> None:
    """A notebook shows the formula."""
    found = asymptotics(BLOCKS, H, at={L: 12, H: 768})
    assert found.to_latex("megatron") == (
        "\\begin{align*}\nN &\\sim 12 l h^{2} \\\\\n&= 12 l h^{2} \\left(1 + \\frac{13}{12 h}\\right)\n\\end{align*}"
    )
    assert found._repr_latex_() == found.to_latex()
    assert "<sup>2</sup></strong> + <i>O</i>(<i>H</i>), of 12" in found._repr_html_()
    assert "<li>within 1 % from H = 108 on</li>" in found._repr_html_()
    several = asymptotics(ps.models.Bert(), H).to_latex()
    assert several.splitlines()[1] == r"N &\sim 4 L H^{2} + H^{2} \\"
    assert several.splitlines()[2] == r"&= 4 L H^{2} + H^{2} + 2 L F H + L F + 9 L H + V H + P H + T H + 3 H"
    assert "at these sizes -0.141 %" in str(found)


def test_wrong_questions() -> None:
    """Steps have no degree; numbers do not grow."""
    with pytest.raises(SizeError, match="has no degree"):
        asymptotics(C * floor(W / 2), W)
    with pytest.raises(ArgumentError, match="no symbol that could grow"):
        asymptotics(ps.Dense(3, 4))
    with pytest.raises(UnknownNameError):
        asymptotics(ps.Dense(H, F), K)
    with pytest.raises(SizeError, match="has the count 0"):
        asymptotics(ps.Repeat(ps.Dropout(), L), L)


def test_leading_terms_that_vanish_claim_no_range() -> None:
    """At A = 1, H*A - H + 8 is 8 for every H: the leading terms are 0, and no size makes them near."""
    found = asymptotics(H * A - H + 8, H, at={"A": 1})
    assert found.leading == A * H - H
    assert found.within == ()
    assert found.error == -1
    assert "the leading terms are 0 there" in str(found)
    assert asymptotics(H * A - H + 8, H, at={"A": 2}).within != ()
