"""The explanation of a symbol: what it says, and that each of its steps is a true equation."""

from __future__ import annotations

import pytest
import sympy
from amount import cases
from sympy import Max, Symbol, floor

import paramsym as ps
from paramsym import A, Block, C, D, Dense, Embedding, F, G, H, L, LayerNorm, Repeat, S, V, cat, dims, explain, per
from paramsym.analysis.explain.derivation import Product, _product_lines
from paramsym.errors import ArgumentError, UnknownNameError
from paramsym.models import family_of, model_types
from paramsym.render.widths import width as measured

HEADS = (A, per(H, A))


def attention(key_heads: object = A) -> ps.Layer:
    """Four projections whose head structure is written out."""
    return Block(
        query=Dense(H, HEADS), key=Dense(H, (key_heads, per(H, A))), value=Dense(H, (key_heads, per(H, A))), output=Dense(HEADS, H)
    )


CASES = [
    (attention(), A),
    (attention(G), A),
    (attention(G), G),
    (attention(), H),
    (attention(), S),
    (Block(embed=Embedding(V, H), layers=Repeat(attention(), L), norm=LayerNorm(H)), L),
    (Block(embed=Embedding(V, H), layers=Repeat(attention(), L), norm=LayerNorm(H)), V),
    (Dense(H, (cat(query=A, key=G, value=G), per(H, A))), A),
    (Dense(H, (A, D)), A),
    (Dense(H, sympy.ceiling(H / 16)), H),
    (Repeat(Dense(H + dims("i") * G, G), L, index=dims("i")), L),
    (Repeat((Dense(H, F), LayerNorm(H)), L), L),
]


def by_sympy(term: Product) -> sympy.Expr:
    """Multiply a term out, and sum it, by SymPy's own means."""
    product = sympy.Mul(*(sympy.sympify(factor).doit() for factor in term.factors))
    for span in term.spans:
        product = sympy.summation(product, (span.index, span.start, span.start + span.count - 1))
    return product


@pytest.mark.parametrize(("layer", "symbol"), CASES)
def test_every_step_is_true(layer: ps.Layer, symbol: Symbol) -> None:
    """Both sides of every step are equal by SymPy's own expansion, and the last one ends at the closed form."""
    explanation = explain(layer, symbol)
    lecture = explain(layer, symbol, style="lecture")
    assert [(step.left, step.right) for step in lecture.steps] == [(step.left, step.right) for step in explanation.steps]
    assert all(step.words for step in lecture.steps)
    for step in explanation.steps:
        left = sympy.Add(*(times * by_sympy(term) for times, term in step.left.terms))
        assert sympy.expand(left - step.right) == 0
        assert step.holds
    assert explanation.steps[-1].right == layer.params


def test_heads_cancel() -> None:
    """A enters every projection as A slices of width H/A and is gone from the sum."""
    explanation = explain(attention(), "A")
    assert explanation.cancels
    assert explanation.enters
    assert explanation.derivative == 0
    assert "A slices of width H/A" in explanation.verdict
    assert any("A*(H/A)*H" in str(step) for step in explanation.steps)


def test_grouped_heads_stay() -> None:
    """With G key/value heads the derivative is what the algebra says: -2*G*(H**2 + H)/A**2."""
    explanation = explain(attention(G), A)
    assert not explanation.cancels
    assert sympy.expand(explanation.derivative + 2 * G * (H**2 + H) / A**2) == 0
    assert "It stays in {key,value}.weight (2*G*H**2/A)" in explanation.verdict


def test_free_head_width_stays() -> None:
    """With a head width of its own, A multiplies the projection."""
    assert explain(Dense(H, (A, D)), A).derivative == D * H + D


def test_absent_symbol() -> None:
    """S is in no shape, and that is what the answer says."""
    explanation = explain(attention(), "S")
    assert explanation.cancels
    assert not explanation.enters
    assert "no stored tensor has it in its shape" in explanation.verdict


def test_steps_in_a_floor_are_differences() -> None:
    """Where the symbol moves in steps, the derivative is the difference of one unit."""
    layer = Dense(H, sympy.ceiling(H / 16), bias=False)
    difference = explain(layer, H).derivative
    for width in (15, 16, 17):
        assert difference.subs(H, width) == layer.at(H=width + 1).count - layer.at(H=width).count


def test_sizes_show_numbers() -> None:
    """On a sized layer the formula is explained and the numbers stand beside it."""
    explanation = explain(attention().at(H=768, A=12), A)
    assert explanation.params == 4 * H**2 + 4 * H
    assert "12*64*768" in str(explanation)
    assert "= 2,362,368" in str(explanation)


def test_names_are_checked() -> None:
    """A name nobody knows, and another symbol of a known name, are errors: neither is silently absent."""
    with pytest.raises(UnknownNameError, match="no symbol 'heads'"):
        explain(attention(), "heads")
    with pytest.raises(UnknownNameError, match="other assumptions"):
        explain(attention(), Symbol("A"))


def test_latex_aligns() -> None:
    """The derivation is one align* with a line of words before each equation."""
    written = explain(attention(), A).to_latex()
    assert written.startswith("\\begin{align*}\n\\intertext{")
    assert r"3 \cdot A \cdot \frac{H}{A} \cdot H &= 3 H^{2}" in written
    assert written.count("&=") == len(explain(attention(), A).steps)


def test_latex_fits_a_column() -> None:
    """Of two columns each has 45 characters to a line; the default is a line of an article."""
    explained = explain(ps.models.Bert(), A)
    for words in ("none", "text"):
        rows = [row.replace("&", "") for row in explained.to_latex(words=words, width=45).split("\n")[1:-1]]
        assert max(measured(row.removesuffix(r" \\")) for row in rows) <= 45
    assert explained.to_latex(width=67) == explained.to_latex() != explained.to_latex(width=45)
    with pytest.raises(ArgumentError, match="width is 'narrow'"):
        explained.to_latex(width="narrow")  # type: ignore[arg-type]


def test_copies_that_differ_are_summed() -> None:
    """Where copies differ, the step shows the sum, in text and in LaTeX."""
    i, g = dims("i g")
    explanation = explain(Repeat(Dense(H + i * g, g), L, index=i), L)
    assert "sum of g*(g*i + H) over i = 0..L-1" in str(explanation)
    assert r"\sum_{i=0}^{L - 1}" in explanation.to_latex()
    assert explanation.steps[0].holds


def test_a_copy_that_does_not_differ_is_stored_again_and_again() -> None:
    """Beside a matrix that grows from copy to copy stands one that does not: it is multiplied, not summed."""
    i = dims("i")
    explanation = explain(Repeat(Block(wider=Dense(H + i, F, bias=False), same=Dense(H, F, bias=False)), L, index=i), L)
    assert [step.words.partition(": ")[2] for step in explanation.steps[:2]] == [
        "one for every copy, and the copies differ: their sizes are summed.",
        "stored L times, once per layer.",
    ]


def test_sums_in_steps_are_written_in_the_letters_asked_for() -> None:
    """Of blocks that take turns, every second copy is summed; a paper that calls the number of layers N reads N."""
    i = dims("i")
    turns = Repeat((Dense(H + i, F, bias=False), Dense(H, F, bias=False)), 2 * L, index=i)
    assert r"\sum_{i=0,2,\ldots,2 L - 2}" in explain(turns, L).to_latex()
    assert r"\sum_{i=0,2,\ldots,2 N - 2}" in explain(turns, L).to_latex("vaswani")


def test_words_for_each_way_to_stay() -> None:
    """Per-head norms, free widths, relative tables and grouped heads each say why the heads stay."""
    assert "shared by all" in str(explain(ps.MultiHeadAttention(H, A, qk_norm="rms"), A))
    assert explain(ps.MultiHeadAttention(H, A, qk_norm="rms"), A).derivative == -2 * H / A**2
    assert "A slices of width D, a separate size" in str(explain(ps.MultiHeadAttention(H, A, head_dim=D, dialect="keras"), A))
    assert "is a factor of the table" in str(explain(Embedding(32, A), A))
    assert ": G slices of width H/A each, and G is not A: A stays." in str(explain(ps.MultiHeadAttention(H, A, kv_heads=G), A))
    assert "stored L times, once per layer" in str(explain(ps.models.Bert(), L))


def test_latex_holds_no_source_form() -> None:
    """Formulas inside sentences are set as math: no ** reaches LaTeX or HTML."""
    for layer, symbol in CASES:
        explanation = explain(layer, symbol)
        assert "**" not in explanation.to_latex()
        assert "<li>" in explanation._repr_html_()
        assert explanation._repr_html_().rstrip().endswith("</ol>")
        assert explanation.to_latex().count("{") == explanation.to_latex().count("}")


def test_names_that_differ_in_one_step_are_one() -> None:
    """Query, key and value are named in one breath, and the labels of one tensor stand behind its name."""
    words = str(explain(ps.models.Bert(), A))
    assert "3 tensors (encoder.layer.{0..L-1}.attention.self.{query,key,value}.weight): A slices" in words
    assert "1 tensor (in_proj_weight [query, key, value]): A slices" in str(explain(ps.MultiHeadAttention(H, A), A))
    one = Dense(H, F, bias=False)
    apart = Block(a=Block(x=one), b=Block(y=one), c=Block(x=one), deeper=Block(a=Block(x=one)))
    assert "4 tensors ({a,c}.x.weight, b.y.weight, deeper.a.x.weight): " in str(explain(apart, F))


@pytest.mark.parametrize("layer", [ps.MultiHeadAttention(H, A), ps.LSTM(H, F), ps.models.Gpt2(), ps.models.Deepseek(), ps.models.Phi3()])
def test_tensors_are_counted_as_they_are_stored(layer: ps.Layer) -> None:
    """The segments of a fused tensor are one tensor: what a state dict lists, each block once."""
    stored = {line.name for line in layer.ledger()}
    assert explain(layer, S).tensors == len(stored) == len(layer.shapes())
    assert f"of {len(stored)} tensors" in explain(layer, H).verdict


def test_arguments_by_name() -> None:
    """The name of an argument means the symbol given for it; of a layer built with numbers, the number."""
    assert explain(ps.MultiHeadAttention(H, A), "num_heads").symbol == A
    assert explain(ps.models.Bert().at("bert-base-uncased"), "num_attention_heads").symbol == A
    mixed = explain(ps.MultiHeadAttention(H, 12), "num_heads")  # one number beside a letter
    assert (mixed.verdict.partition(" of ")[0], mixed.params) == ("num_heads cancels from the count", 4 * H**2 + 4 * H)
    assert explain(ps.Conv2d(C, 64, 3), "kernel_size").derivative == 128 * C * dims("kernel_size")
    heads = explain(ps.MultiheadAttention(448, 8), "num_heads")
    assert heads.cancels
    assert heads.enters
    assert "602,112" in str(heads)  # 3 * 448**2
    width = explain(ps.MultiheadAttention(448, 8), "embed_dim")
    assert width.derivative == 8 * dims("embed_dim") + 4
    assert explain(ps.models.Bert(30522, 768, 12, 12, 3072, 512, 2), A).cancels
    assert explain(ps.Conv2d(64, 64, 3), "groups").derivative.subs({"in_channels": 64}) != 0
    assert not explain(ps.Conv2d(64, 64, 3), "stride").enters
    windows = explain(ps.LocallyConnected1d(3, 4, 2, 10, 3), "out_channels")  # its 3 windows are rounded down, and stay numbers
    assert windows.derivative == 3 * (2 * 3 + 1)
    assert "ask for one by its name, embed_dim and num_heads" in explain(ps.MultiheadAttention(448, 8), A).verdict
    with pytest.raises(UnknownNameError, match="has no symbol 'nheads'"):
        explain(ps.MultiheadAttention(448, 8), "nheads")


def test_what_a_letter_means_here() -> None:
    """A letter that this model uses for another thing is called by its argument, and one that counts uses says so."""
    assert "V (vocabulary size)" in explain(ps.models.Bert(), V).verdict  # its argument vocab_size says no more
    assert "E (embedding_size)" in explain(ps.models.Albert(), "E").verdict
    assert "K (num_experts_per_tok)" in explain(ps.models.Mixtral(), "K").verdict
    assert "It says how often what is stored is used." in explain(ps.models.Mixtral(), "K").verdict
    assert "It says how often what is stored is used." in explain(ps.models.Albert(), L).verdict
    assert "A (number of attention heads)" in explain(ps.TransformerEncoderLayer(H, A, F), A).verdict
    assert "SwinModel has A_1, A_2, A_3 and A_4." in explain(ps.models.Swin(), A).verdict


def test_absent_symbols_show_the_parts() -> None:
    """What does not enter leaves a sum of the parts: embeddings, encoder, pooler."""
    (step,) = explain(ps.models.Bert(), S).steps
    assert [term.value for _, term in step.left.terms] == [ps.models.Bert().part(n).polynomial for n in ("embeddings", "encoder", "pooler")]


def test_slices_are_not_any_quotient() -> None:
    """Patches divide an image inside a size, and groups divide two axes of a convolution: neither is a matter of slices."""
    patches = str(explain(ps.models.Vit(), "K"))
    assert "K divides inside a size, W**2/K**2 + 1, and stays" in patches
    assert "first the terms that K multiplies, then the terms that it divides" in patches
    groups = dims("g")
    assert "g stays" in str(explain(ps.Conv2d(F, H, 3, groups=groups), groups))


def test_a_difference_is_not_called_a_derivative() -> None:
    """Inside a floor one more unit is what there is; where it takes a page, the verdict leaves it to the reader."""
    assert "one more of H adds" in explain(Dense(H, sympy.ceiling(H / 16), bias=False), H).verdict
    assert len(explain(ps.models.DenseNet(), "g").verdict) < 200


MODELS = sorted({family_of(name).model for name in model_types()} | {ps.models.LeNet5, ps.models.ResNet, ps.models.DenseNet}, key=repr)


@cases(5)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_symbol_of_every_model(model: type[ps.Layer]) -> None:
    """Every derivation of every model is true in every step, ends at the closed form, and is written without source forms."""
    layer = model()
    stored = list(layer.ledger())
    for symbol in sorted(layer.symbols, key=str):
        explanation = explain(layer, symbol)
        assert all(step.holds for step in explanation.steps), symbol
        assert explanation.steps[-1].right == layer.params
        assert sum(len(group.lines) for group in explanation.groups) <= len(stored)
        assert explanation.cancels == (not layer.params.has(symbol))
        assert str(symbol) in explanation.verdict
        assert "Rational(" not in str(explanation)
        assert "**" not in explanation.to_latex()


def test_the_whole_derivation_of_attention() -> None:
    """Every word of the derivation that the README begins with; its sums are checked step by step above."""
    words = str(explain(ps.MultiHeadAttention(H, A), A)).splitlines()
    assert words[0].startswith(
        "A (number of attention heads) cancels from the count of MultiHeadAttention. It enters 3 of 4 tensors, always as"
    )
    assert words[0].endswith(" A slices of width H/A, and cancels in every sum.")
    assert words[1::2] == [
        "1. 1 tensor (in_proj_weight [query, key, value]): A slices of width H/A each, because the width is divided exactly.",
        "2. 1 tensor (in_proj_bias [query, key, value]): A slices of width H/A each, because the width is divided exactly.",
        "3. 1 tensor (out_proj.weight): A slices of width H/A, because the width is divided exactly.",
        "4. The derivative in A has two parts: one more slice of the same width, and the smaller width of every slice.",
        "5. Everything together, the last term without A:",
    ]
    assert [line.strip() for line in words[2::2]] == [
        "3 * A*(H/A)*H = 3*H**2",
        "3 * A*(H/A) = 3*H",
        "H*A*(H/A) = H**2",
        "(4*H**2/A + 3*H/A) + (-4*H**2/A - 3*H/A) = 0",
        "(3*H**2) + (3*H) + (H**2) + H = 4*H**2 + 4*H",
    ]


def test_sums_show_numbers() -> None:
    """DenseNet-121: the norms of the first block see 64, 96, ..., 224 channels, 864 together, each with a weight and a bias."""
    text = str(explain(ps.models.DenseNet().at("densenet121"), "growth_rate"))
    assert "2 * sum of (32*i + 32) over i = 1..6 = 1,728" in text


def test_a_quotient_by_a_floor_is_explained_without_sympys_inside() -> None:
    """Where a symbol stands in a floor or an exponent beside quotients, the difference of one unit is told, and no derivative."""
    for size in (sympy.floor(A / 2) + 1, 2**A):
        layer = Block(one=Dense(per(H, size), 2, bias=False), two=Dense(per(H, A), 3, bias=False))
        said = str(explain(layer, A))
        assert "one more of A adds" in said
        assert not any(word in said for word in ("Derivative", "Subs", "log", "xi"))


def test_a_derivation_keeps_what_a_number_of_copies_may_make_zero() -> None:
    """Max(1, n) is 1 at n = 0, without copies; a sentence with n in its place is wrong there."""
    n = ps.dims("n")
    wide = Dense(Max(1, n, evaluate=False), per(H, A), bias=False)
    layer = ps.Block(wide=wide, deep=ps.Repeat(Dense(H, 2, bias=False), n))
    assert "n*2*H = 2*H*n" in str(ps.explain(layer, n))
    for said in (str(ps.explain(layer, n)), str(ps.explain(layer, A))):
        assert "(H*Max(1, n)/A) + (2*H*n) = 2*H*n + H*Max(1, n)/A" in said
    assert layer.at(n=0, H=6, A=2).count == 3
    many = ps.Repeat(Dense(floor(H / (ps.index("i") + 1)) + 1, 1, bias=False), 40, index=ps.index("i"))
    assert "floor(H/40)" in str(ps.explain(many, H))


def test_markdown_says_why_before_each_formula() -> None:
    """Numbered sentences, each with a formula below it."""
    first, formula = explain(ps.MultiHeadAttention(H, A), A).to_markdown().split("\n\n")[1:3]
    assert first.startswith("1. 1 tensor (in\\_proj\\_weight")
    assert formula.startswith("   $$")


def test_a_long_product_is_broken_before_a_dot() -> None:
    """Each factor that no longer fits begins a line."""
    assert _product_lines(r"a \cdot b", 0) == ["a", r"\quad \cdot b"]
    assert _product_lines(r"a \cdot b", 100) == [r"a \cdot b"]


def test_a_derivation_in_the_sentences_of_a_lecture() -> None:
    """What one head has, what all heads give, and why A stays if there are G of them (Ainslie et al. 2023)."""
    said = [step.words for step in explain(attention(G), A, style="lecture").steps]
    assert said == [
        "Each head has width H/A; A of them give H. So A cancels from query.weight.",
        "A cancels from query.bias in the same way.",
        "Each key/value head has width H/A; G of them give G*H/A. There are G, not A, so A stays in {key,value}.weight.",
        "Each key/value head has width H/A; G of them give G*H/A. There are G, not A, so A stays in {key,value}.bias.",
        "A cancels from output.weight in the same way.",
        "One more head adds the first part. Each head becomes narrower, which takes the second part away:",
        "The rest does not contain A. The sum:",
    ]
    work = explain(ps.flops(ps.models.Gpt2()), "L", style="lecture")
    assert work.steps[0].words.endswith("; L layers have L times as many.")
    assert r"Each head has width $\frac{H}{A}$; $A$ of them give $H$." in explain(attention(), A, style="lecture").to_latex()
    with pytest.raises(ArgumentError, match=r"style is .talk. .*wanted one of terms, lecture"):
        explain(attention(), A, style="talk")


def test_sizes_that_were_put_in() -> None:
    """A layer that was built with numbers is explained in the names of its arguments, whose numbers are known."""
    why = ps.explain(ps.MultiHeadAttention(768, 12), "num_heads")
    assert {symbol.name: size for symbol, size in why.sizes} == {"embed_dim": 768, "num_heads": 12}
