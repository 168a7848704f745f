"""Two designs side by side: identities of papers as calls."""

from __future__ import annotations

import pytest
from amount import cases
from recorded import document
from sympy import Integer, Rational, sqrt, symbols

import paramsym as ps
from paramsym import A, C, F, G, H, K, L, N, V, compare
from paramsym.analysis.roles import by_role
from paramsym.errors import ArgumentError, StructureError, UnknownNameError


def test_separable_against_full() -> None:
    """Howard et al. 2017, section 3.1: a separable convolution costs 1/N + 1/K^2 of a full one."""
    found = compare(ps.SeparableConv2d(C, N, K, bias=False), ps.Conv2d(C, N, K, bias=False))
    assert found.ratio == 1 / N + 1 / K**2
    assert compare(ps.SeparableConv2d(C, N, K, bias=False), ps.Conv2d(C, N, K, bias=False), at={K: 3, N: 512}).ratio == Rational(521, 4608)


def test_three_small_kernels_against_a_large_one() -> None:
    """Simonyan and Zisserman 2014, section 2.3: 27 C^2 against 49 C^2."""
    (fact,) = (row for row in document("formulas") if row["id"] == "vgg-stack-vs-7x7")
    small = ps.Repeat(ps.Conv2d(C, C, 3, bias=False), 3)
    found = compare(small, ps.Conv2d(C, C, 7, bias=False))
    assert found.ratio == Rational(27, 49)
    assert found.difference == 22 * C**2
    assert found.crossovers == ()
    at = compare(small, ps.Conv2d(C, C, 7, bias=False), at={C: 64})
    assert [at.one, at.other] == [row["published"] for row in fact["values"]]


def test_attention_against_feed_forward() -> None:
    """Four square projections against two of width F: equal at F = 2 H."""
    found = compare(ps.MultiHeadAttention(H, A, bias=False), ps.FeedForward(H, F, bias=False))
    crossing = {str(one.symbol): one for one in found.crossovers}
    assert crossing["F"].at == 2 * H
    assert crossing["F"].larger == "FeedForward"
    assert crossing["H"].at == F / 2
    assert crossing["H"].larger == "MultiHeadAttention"


def test_embedding_against_blocks() -> None:
    """The vocabulary weighs as much as the blocks at V = L (12 H + 13)."""
    found = compare(ps.Embedding(V, H), ps.Repeat(ps.TransformerEncoderLayer(H, A, 4 * H), L))
    crossing = {str(one.symbol): one.at for one in found.crossovers}
    assert (crossing["V"] - L * (12 * H + 13)).expand() == 0
    (number,) = compare(ps.Embedding(V, H), ps.Repeat(ps.TransformerEncoderLayer(H, A, 4 * H), 12), at={"V": 30522}).crossovers
    assert number.at == Rational(30522 - 12 * 13, 144)
    assert str(number).startswith("equal at H = 210.875")


def test_roots_of_one_letter_are_exact() -> None:
    """Irrational ones stay what they are; negative ones are left out."""
    found = compare(H**2, H + H * 0 + 2 * L, at={L: 5})
    assert [one.at for one in found.crossovers] == [Rational(1, 2) + sqrt(41) / 2]
    assert compare(H**2, H**2 + 1).crossovers == ()
    assert compare(H, H).crossovers == ()


def test_parts_line_up_by_name() -> None:
    """A part that one design lacks holds nothing there; the sums are the totals."""
    found = compare(ps.Dense(H, F), ps.Dense(H, F, bias=False))
    assert [(part.part, part.difference) for part in found.parts] == [("weight", 0), ("bias", -F)]
    assert found.difference == -F
    assert "Dense (1)" in str(found)
    for shown in (str(found.table()), found.to_latex(), found._repr_html_()):
        assert "bias" in shown
    assert repr(found) == str(found)
    assert "<p>ratio: " in found._repr_html_()


@pytest.mark.parametrize(
    ("one", "other", "parts"),
    [
        (  # BERT base and GPT-2 small have the same blocks: 12 of 12*768**2 + 13*768
            "bert-base-uncased",
            "gpt2",
            {"embeddings": 15_548_160, "norms": 0, "attention": 0, "feed-forward": 0, "head": -(768 * 768 + 768)},
        ),
        (  # every expert beside a feed-forward network, and both attentions of T5 beside one
            "t5-small",
            "meta-llama/Llama-2-7b-hf",
            {
                "embeddings": (32_000 * 4096) - (32_128 * 512),
                "attention": 32 * 4 * 4096**2 - (6 * 3 * 4 * 512**2 + 2 * 32 * 8),
                "norms": 65 * 4096 - (6 * 5 + 2) * 512,
                "feed-forward": 32 * 3 * 4096 * 11_008 - 12 * 2 * 512 * 2048,
                "head": 32_000 * 4096,
            },
        ),
    ],
)
def test_parts_of_other_names_are_paired_by_role(one: str, other: str, parts: dict[str, int]) -> None:
    """Where no name is in both, by what the parts are for; the sums are by hand."""
    found = compare(ps.load(one), ps.load(other))
    assert {part.part: part.difference for part in found.parts} == parts
    assert sum(part.difference for part in found.parts) == found.difference


def test_projections_are_paired_by_role() -> None:
    """One matrix for query, key and value beside three of their own."""
    found = compare(ps.MultiHeadAttention(H, A), ps.MultiHeadAttention(H, A, kv_heads=G))
    assert [part.part for part in found.parts] == ["query", "key", "value", "output"]
    assert [part.difference for part in found.parts[::3]] == [0, 0]
    mixed = compare(ps.MultiHeadAttention(H, A), ps.FeedForward(H, F))
    assert [part.part for part in mixed.parts] == ["query", "key", "value", "output", "linear1", "linear2"]


def test_how_a_comparison_is_shown() -> None:
    """Roles are words and no names in the code; caption and label float the table; a root is a root."""
    found = compare(ps.models.Bert(), ps.models.Gpt2(), labels=("BERT", "GPT-2"))
    written = found.to_latex(caption="Two designs", label="tab:two")
    assert r"\caption{Two designs}\label{tab:two}" in written
    assert "role & BERT & GPT-2 & difference" in written
    assert r"\texttt" not in written
    assert r"\sqrt{" in written
    assert "&radic;(" in found._repr_html_()
    assert str(found.parts[0]) == repr(found.parts[0]) == "embeddings: V*H + P*H + T*H against V*H + P*H, difference -T*H"


def test_depth_and_networks_without_attention_keep_names() -> None:
    """A depth asks for the names as they are; where nothing attends there are no roles."""
    deep = compare(ps.models.Bert(), ps.models.Gpt2(), depth=1)
    assert [part.part for part in deep.parts] == ["embeddings", "encoder", "pooler", "wte", "wpe", "h", "ln_f"]
    nets = compare(ps.models.LeNet5(), ps.load("vgg11"))
    assert [part.part for part in nets.parts] == ["C1", "S2", "C3", "S4", "C5", "F6", "output", "features", "classifier"]


def test_which_of_two_roots_a_size_can_be() -> None:
    """The product of the roots is negative, whatever the letters: one root is positive, and above it the leading term decides."""
    (found,) = (one for one in compare(ps.models.Bert(), ps.models.Gpt2()).crossovers if one.symbol == H)
    assert found.larger == "GPT2Model"
    sizes = {"F": 3072, "L": 12, "T": 2, "A": 1, "V": 30_522, "P": 512}
    root = found.at.xreplace({symbol: Integer(sizes[symbol.name]) for symbol in found.at.free_symbols})
    bert, gpt2 = (
        {width: model.at({**some, "H": width}).count for width in (776, 777)}
        for model, some in ((ps.models.Bert(), sizes), (ps.models.Gpt2(), {name: sizes[name] for name in "LAVP"}))
    )
    assert 776 < root < 777
    assert bert[776] > gpt2[776]
    assert bert[777] < gpt2[777]
    (falling,) = (one for one in compare(8 * L * H**2 - H - L, Integer(0)).crossovers if one.symbol == H)
    assert falling.larger == "the expression (1)"


def test_models_at_published_sizes() -> None:
    """Sized models are compared by their numbers, each at its own sizes."""
    found = compare(ps.models.Bert().at("bert-base-uncased"), ps.models.Gpt2().at("gpt2"))
    assert found.difference == 124_439_808 - 109_482_240
    assert "BertModel: 109,482,240" in str(found)
    assert sum(part.difference for part in found.parts) == found.difference
    assert found.crossovers == ()


def test_nothing_to_divide_by() -> None:
    """Against a layer without parameters there is no ratio."""
    assert compare(ps.Dense(H, H), ps.Dropout()).ratio is None


def test_roots_that_no_size_can_be() -> None:
    """Below zero, also where that only shows in the sign before a square root of letters."""
    found = compare(ps.SeparableConv2d(C, N, K, bias=False), ps.Conv2d(C, N, K, bias=False))
    assert [(str(one.symbol), one.at) for one in found.crossovers if one.symbol == K] == [("K", sqrt(N) / sqrt(N - 1))]
    assert [one.at for one in compare(H**2, L).crossovers if one.symbol == H] == [sqrt(L)]


@cases(0)
def test_long_crossovers_are_roots() -> None:
    """Of a long difference they are not simplified, and are where the two formulas agree; zero is none, and twice zero neither."""
    ones = dict.fromkeys((A, F, L, N, V), 1)
    long = V + V * sum(A**power for power in range(2, 8))
    for gap, found in (
        ((H - 12) * (long + F + L + N), 1),
        (H * (H - 5) * (long + F + L), 1),
        ((H - 2) * (H - 3) * long, 2),
        (H**2 * long, 0),
    ):
        crossovers = compare(100 * H**3, 100 * H**3 + gap.expand()).crossovers
        sizes = [crossover.at.subs(ones) for crossover in crossovers if crossover.symbol == H]
        assert len(sizes) == found
        assert all(gap.subs({**ones, H: size}) == 0 for size in sizes)


@cases(0)
def test_long_crossovers_of_two_roots() -> None:
    """Where every letter but H is one, the first is 3*H**2 - 15*H + 18, and nothing can be taken out of it before."""
    ones = dict.fromkeys((A, F, L, N, V), 1)
    gap = (A + F + L**2) * H**2 - sum(A**power * V for power in range(1, 16)) * H + 18 * V**3 * N
    (first, second) = (one.at.subs(ones) for one in compare(gap, Integer(0)).crossovers if one.symbol == H)
    assert {first, second} == {2, 3}
    straight = gap - (A + F + L**2) * H**2
    assert [one.at.subs(ones) for one in compare(straight, Integer(0)).crossovers if one.symbol == H] == [Rational(18, 15)]


def test_a_coefficient_with_a_ceiling_has_no_sign() -> None:
    """Of two alternating blocks there are ceil(L/2) of the first: H**2*ceil(L/2) is no polynomial in L."""
    found = compare(ps.Repeat((ps.Dense(H, H, bias=False), ps.LayerNorm(H, bias=False)), L), F)
    sizes = {H: Integer(4), L: Integer(3), F: Integer(7)}
    assert found.difference.xreplace(sizes) == 7 - (2 * 16 + 4)
    assert next(one.at for one in found.crossovers if one.symbol == F).xreplace(sizes) == 2 * 16 + 4


def test_wrong_subjects() -> None:
    """No strings, no two symbols of one name, and no size for a letter that neither has."""
    with pytest.raises(UnknownNameError, match="neither of the two has a symbol 'Q'; they have F, H"):
        compare(ps.Dense(H, F), ps.Dense(H, H), at={"Q": 3})
    with pytest.raises(ArgumentError, match="a layer, a cost or an expression"):
        compare("H", H)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"at is 'H=3' \(str\); an expression takes its sizes as a mapping"):
        compare(H, F, at="H=3")
    with pytest.raises(ArgumentError, match="depth is 'all'; wanted a whole number"):
        compare(ps.Dense(H, F), H, depth="all")  # type: ignore[arg-type]
    with pytest.raises(StructureError, match="two different symbols"):
        compare(ps.Dense(H, H), ps.Dense(*symbols("H H")))


def test_labels_of_the_users_own() -> None:
    """Two sizes of one model by name; ratio and crossovers are typeset with the table."""
    found = compare(ps.Dense(H, F), ps.Dense(F, H), labels=("up", "down"))
    assert str(found).startswith("up: F*H + F\ndown: F*H + H\n")
    assert "equal at F = H; up holds more above it" in str(found)
    written = found.to_latex()
    assert "part & up & down & difference" in written
    assert r"\noindent Ratio: $\frac{F H + F}{F H + H}$." in written
    assert r"\noindent Equal at $F = H$; up holds more above it." in written
    assert "<p>equal at <i>F</i> =\N{NO-BREAK SPACE}<i>H</i>; up holds more above it</p>" in found._repr_html_()
    growing = compare(ps.models.Bert().at(F=4 * H, L=12, V=30522, P=512, T=2), ps.Dense(H, 200 * H))
    assert r"Equal at $H \approx 563.545$" in growing.to_latex()  # 145 H^2 + 31195 H = 200 H^2 + 200 H
    for wrong in ("ab", ("a",), ("a", "a"), ("a", ""), (1, 2)):
        with pytest.raises(ArgumentError, match="wanted two different names"):
            compare(ps.Dense(H, F), ps.Dense(F, H), labels=wrong)  # type: ignore[arg-type]


def test_an_attention_deep_inside_does_not_divide_a_model() -> None:
    """A model is compared by its parts; only an attention itself, or what holds it directly, by projections."""
    attention = ps.Block(query=ps.Dense(4, 4, bias=False), key=ps.Dense(4, 4, bias=False))
    model = ps.Block(body=ps.Block(attention=attention), head=ps.Dense(4, 3, bias=False))
    assert {role: amount.constant for role, amount in by_role(model.lines).items()} == {"attention": 32, "head": 12}
    assert set(by_role(attention.lines)) == {"query", "key"}


def test_several_models_are_shown_by_a_table() -> None:
    """Two are compared part by part; for three the error names the function that shows them."""
    with pytest.raises(ArgumentError, match=r"takes two, not 3; ps.table"):
        compare(ps.Dense(H, F), ps.Dense(F, H), ps.Dense(H, H))
