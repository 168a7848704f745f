"""What one more costs."""

from __future__ import annotations

import pytest
from sympy import Expr, Integer, Max, Mod, Rational, ceiling, floor

import paramsym as ps
from paramsym import A, C, F, H, K, L, V, W, per, sensitivity
from paramsym.errors import ArgumentError, SizeError, UnknownNameError


def test_one_more_layer() -> None:
    """Kaplan's block: 12 H^2 and the vectors; the count is linear in the depth."""
    found = sensitivity(ps.Repeat(ps.TransformerEncoderLayer(H, A, 4 * H), L), L)
    assert found.marginal == found.derivative == 12 * H**2 + 13 * H
    assert found.elasticity == 1
    assert str(found).startswith("one more layer costs 12*H**2 + 13*H.")


def test_numbers_beside_the_formula() -> None:
    """A published size: one more layer of GPT-2 costs 7,087,872 (12*768^2 + 13*768)."""
    for found in (sensitivity(ps.models.Gpt2(), "L", at="gpt2"), sensitivity(ps.models.Gpt2().at("gpt2"), L)):
        assert found.marginal == 12 * 768**2 + 13 * 768
        assert "= 7,087,872." in found.words
        assert found.params == 124_439_808
        assert sum(part.share for part in found.parts) == 1


def test_the_derivative_is_that_of_sympy() -> None:
    """And the step is the difference of neighbours."""
    model = ps.models.Bert()
    for symbol in model.params.free_symbols:
        found = sensitivity(model, symbol)
        assert found.derivative == model.params.diff(symbol).expand()
        assert found.marginal == (model.params.subs(symbol, symbol + 1) - model.params).expand()
        assert (sum(part.marginal for part in found.parts) - found.marginal).expand() == 0


def test_a_symbol_that_cancels_costs_nothing() -> None:
    """It is in the layer, and not in the count."""
    found = sensitivity(ps.MultiHeadAttention(H, A), A)
    assert (found.derivative, found.marginal, found.elasticity, found.parts) == (0, 0, 0, ())
    assert "costs nothing" in str(found)


def test_steps_have_no_derivative() -> None:
    """Under a floor the next whole number is taken."""
    found = sensitivity(C * floor(W / 2), W, at={W: 5, C: 3})
    assert found.derivative is None
    assert found.elasticity is None
    assert found.marginal == 3
    assert "no derivative" in str(found)
    assert sensitivity(C * floor(W / 2), W, at={W: 4, C: 3}).marginal == 0


def test_elasticity_is_the_exponent() -> None:
    """A power law has its exponent; a sum the mean of its exponents, weighted by its terms."""
    assert sensitivity(5 * H**3, H).elasticity == 3
    assert sensitivity(H**2 + H, H, at={H: 3}).elasticity == Rational(7, 4)


def test_what_must_divide_it_is_said() -> None:
    """The width of attention moves in steps of its heads."""
    found = sensitivity(ps.MultiHeadAttention(H, A), H)
    assert found.steps_of == ("A",)
    assert "multiple of A" in str(found)


def test_parts_by_depth_and_formats() -> None:
    """Attention and feed-forward of a block, in any format."""
    found = sensitivity(ps.Repeat(ps.TransformerEncoderLayer(H, A, F), L), H, depth=2)
    assert any("self_attn" in part.part for part in found.parts)
    assert "one more" in found.to_latex()
    assert "<table" in found._repr_html_()
    assert "total" in str(found.table())


def test_wrong_questions() -> None:
    """A symbol that is nowhere; something that is not a formula."""
    with pytest.raises(UnknownNameError, match="no symbol 'K'; it has F, H"):
        sensitivity(ps.Dense(H, F), K)
    with pytest.raises(ArgumentError, match="a layer, a cost or an expression"):
        sensitivity("H", "H")  # type: ignore[arg-type]
    assert sensitivity(H * V, V).marginal == H


def test_one_more_of_everything_has_a_name() -> None:
    """One more layer, position, word and token type of BERT: the nouns of the letters, the amounts of the tables."""
    layer = ps.models.Bert()
    for letter, noun, cost in (("P", "position", "H"), ("V", "word", "H"), ("T", "token type", "H")):
        assert str(ps.sensitivity(layer, letter)).startswith(f"one more {noun} costs {cost}")
    assert str(ps.sensitivity(layer, "L")).startswith("one more layer costs ")
    assert str(ps.sensitivity(layer, "F")).startswith("one more of F costs ")


def test_parts_as_deep_as_is_asked() -> None:
    """One more position costs in one table; asked for one level, its part is named by that level."""
    shallow, deep = (ps.sensitivity(ps.models.Bert(), "P", depth=depth).parts for depth in (1, 3))
    assert [part.part for part in shallow] == ["embeddings"]
    assert [part.part for part in deep] == ["embeddings.position_embeddings.weight"]


def test_an_expert_is_called_one() -> None:
    """Mixtral: three matrices per expert and layer, and a row of the gate."""
    assert str(sensitivity(ps.models.Mixtral(), "E")).startswith("one more expert costs 3*L*F*H + L*H")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (2**L, "L is inside an exponent"),
        (floor(L / 2), "L is inside a floor"),
        (Max(L, H), "L is inside a Max"),
        (2**L * Mod(L, 3), "L is inside an exponent and a Mod"),
        (per(H, ceiling(L / 2) + 1), "L is inside a ceiling"),
    ],
)
def test_what_has_no_derivative_is_named(size: Expr, words: str) -> None:
    """The words name what is there, and the step is that from 5 to 6."""
    found = sensitivity(ps.Dense(size, 1, bias=False), L)
    assert found.derivative is None
    assert words in str(found)
    at = {H: Integer(60)}
    step = [Rational(size.doit().xreplace({**at, L: Integer(value)})) for value in (5, 6)]
    assert found.marginal.xreplace({**at, L: Integer(5)}) == step[1] - step[0]


def test_a_notebook_shows_the_formula() -> None:
    """Below the table of parts, typeset, with its number if there is one."""
    stack = ps.Repeat(ps.Dense(H, H), L)
    formula = "<i>H</i><sup>2</sup> +\N{NO-BREAK SPACE}<i>H</i>"
    assert sensitivity(stack, "L")._repr_html_().endswith(f"</table><p>one more layer costs {formula}.</p>")
    assert sensitivity(stack.at(H=3, L=2), "L")._repr_html_().endswith(f"</table><p>one more layer costs {formula} = 12.</p>")


def test_a_part_is_a_sentence() -> None:
    """What a plain prompt shows of one part."""
    assert repr(sensitivity(ps.Dense(H, F), "H").parts[0]) == "weight: F*H, one more costs F"


def test_a_size_that_is_no_whole_number() -> None:
    """The value is named, with its type."""
    with pytest.raises(SizeError, match=r"^1\.5 \(float\) is not a size; wanted a whole number\.$"):
        sensitivity(H * L, "H", at={"H": 1.5})
