"""Forms of a closed form: each says the same, as another author would write it."""

from __future__ import annotations

import pytest
from sympy import Integer

import paramsym as ps
from paramsym import A, E, F, G, H, L, dims
from paramsym.errors import ArgumentError, SizeError, UnknownNameError
from paramsym.present.typeset import names, shares
from paramsym.render.widths import width as measured


def test_megatrons_form() -> None:
    """Narayanan et al. 2021, equation 2, where the final layer normalisation (2h) is left out."""
    written = ps.models.Gpt2().to_latex("factored", letters="megatron")
    assert written == r"12 l h^{2} \left(1 + \frac{13}{12 h} + \frac{V + s + 2}{12 l h}\right)"


def test_factored_by_another_term() -> None:
    """Any term can stand in front; signs and whole numbers stay right."""
    i, g, n = dims("i g n")
    growing = ps.Repeat(ps.Dense(H + i * g, g, bias=False), n, index=i)
    assert growing.to_latex("factored", by=g * n) == r"g n \left(\frac{g n + 2 H - g}{2}\right)"
    assert ps.Dense(H, 1, bias=False).to_latex("factored") == "H"
    assert ps.Dense(H, H).to_latex("factored", by="H") == r"H \left(H + 1\right)"
    for by in (H + 1, 0, 1.5):  # H + 1 (...) would be another sum
        with pytest.raises(ArgumentError, match=r"wanted one term to take out, such as H\*\*2\*L"):
            ps.Dense(H, H).to_latex("factored", by=by)


def test_collected() -> None:
    """By powers of one symbol, highest first."""
    bert = ps.models.Bert()
    expected = r"H^{2} \left(4 L + 1\right) + H \left(2 L F + 9 L + V + P + T + 3\right) + L F"
    assert bert.to_latex("collected", by=H) == bert.to_latex("collected", by="H") == expected
    assert ps.Dense(H, H).to_latex("collected") == "H^{2} + H"


def test_parts_are_annotated() -> None:
    """Each part under its own name, copies in front."""
    bert = ps.models.Bert()
    assert r"\underbrace{V H}_{\text{word embeddings}}" in bert.to_latex("annotated")
    shallow = bert.to_latex("annotated", depth=2)
    assert r"\underbrace{L \left(4 H^{2} + 2 F H + F + 9 H\right)}_{\text{encoder layer}}" in shallow
    assert bert.to_latex("parts", depth=1).startswith(r"\left(V H + P H + T H + 2 H\right) + \left(4 L H^{2}")
    assert ps.Dense(H, F).to_latex("annotated") == r"\underbrace{F H}_{\text{weight}} + \underbrace{F}_{\text{bias}}"


@pytest.mark.parametrize("depth", [None, 1, 2, 3])
@pytest.mark.parametrize(
    "layer",
    [
        ps.models.Bert(),
        ps.models.Gpt2(),
        ps.models.DenseNet(),
        ps.Repeat(ps.Repeat(ps.Dense(H, H), A), L),
        ps.Repeat(ps.Dense(H, H), L - 1),
        ps.MixtureOfExperts(H, F, E, 2),
        ps.MultiHeadAttention(H, A, kv_heads=G),
        ps.models.T5(),
        ps.models.Swin(),
        ps.models.Deepseek(),
        ps.models.Whisper(),
    ],
    ids=lambda value: repr(value)[:32],
)
def test_shares_add_up(layer: ps.Layer, depth: int | None) -> None:
    """Whatever the depth, the parts are the whole, and no two have one name."""
    found = shares(layer.lines, depth)
    assert (
        sum((share.total for share in found), Integer(0)) - layer.params == 0
        or (sum(share.total for share in found).expand() - layer.params).expand() == 0
    )
    assert len(set(names(found))) == len(found)


def test_align() -> None:
    """A line per part, then the sum."""
    written = ps.models.Bert().to_latex("align", depth=1)
    assert written.startswith("\\begin{align*}\n\\text{embeddings} &= V H + P H + T H + 2 H \\\\")
    assert r"\text{total} &= 4 L H^{2} + 2 L F H" in written
    assert r"\text{encoder layer} &= L \left(4 H^{2} + 6 H\right)" not in written


def test_steps() -> None:
    """Formula, numbers in place, terms, sum."""
    written = ps.MultiHeadAttention(H, A).at(H=768, A=12).to_latex("steps")
    assert written == (
        "\\begin{align*}\n\\text{parameters} &= 4 H^{2} + 4 H \\\\\n&= 4 \\cdot 768^{2} + 4 \\cdot 768 \\\\\n"
        "&= 2{,}359{,}296 + 3{,}072 \\\\\n&= 2{,}362{,}368\n\\end{align*}"
    )
    assert "109{,}482{,}240" in ps.models.Bert().at("bert-base-uncased").to_latex("steps")
    assert ps.Dense(2, 3).to_latex("steps") == "\\begin{align*}\n\\text{parameters} &= 9\n\\end{align*}"
    index = ps.index("i")
    widening = ps.Repeat(ps.Dense(H + index, 1, bias=False), L, index=index).at(H=1, L=3)  # 1 + 2 + 3
    assert r"&= \frac{9}{2} + 3 - \frac{3}{2} \\" in widening.to_latex("steps")
    assert ps.Repeat(ps.Dense(H, F), L).at(L=0).to_latex("steps").splitlines()[2] == "&= 0"  # H and F have no numbers, and need none
    assert "3 h" not in ps.Dense(H, 2).at(H=5).to_latex("steps", letters="megatron").replace("2 h", "")


def test_what_cannot_be_written() -> None:
    """Unknown forms and symbols, and steps without sizes, are errors."""
    with pytest.raises(ArgumentError, match=r"form is 'nice' .*; wanted one of expanded"):
        ps.Dense(H, F).to_latex("nice")
    with pytest.raises(UnknownNameError, match="no symbol 'A'; it has F, H"):
        ps.Dense(H, F).to_latex("collected", by=A)
    with pytest.raises(UnknownNameError, match="by= with one of F, H"):
        ps.Dense(H, F).to_latex("collected")
    with pytest.raises(ArgumentError, match="depth is 'all'; wanted a whole number"):
        ps.Dense(H, F).to_latex("parts", depth="all")
    for width in ("67", True, 0):
        with pytest.raises(ArgumentError, match=f"width is {width!r}; wanted a number of characters"):
            ps.Dense(H, F).to_latex(width=width)
        with pytest.raises(ArgumentError, match="wanted a number of characters"):
            ps.Dense(H, F).table().to_latex(width=width)  # type: ignore[arg-type]
    with pytest.raises(SizeError, match="symbols left"):
        ps.Dense(H, F).to_latex("steps")
    with pytest.raises(ArgumentError, match="cannot be written"):
        ps.latex_document(3)


def test_names_longer_than_a_line_keep_their_end() -> None:
    """The last words tell the parts apart."""
    long = "block_1_separable_conv_block_normal_left5_18_separable_conv_2_bn_normal_left5_18"
    block = ps.Block({f"{long}_a": ps.Dense(H, H, bias=False), f"{long}_b": ps.Dense(H, F, bias=False)})
    first, second = names(shares(block.lines, 1))
    assert first.startswith("... ")
    assert (first[-10:], second[-10:]) == ("left5 18 a", "left5 18 b")
    assert len(first) <= 67
    assert "\\text{... " in block.to_latex("annotated", width=67)
    assert long.replace("_", " ") not in block.to_latex("align", width=67)


def test_lines_are_no_wider_than_the_page() -> None:
    """A name stands above its formula if both together are too wide; then the formula has the whole line except its indent.

    The longest term has 50 characters with its indent and its sign.
    """
    a, b, c, d = dims("channels_before_the_block channels_behind_it c d")
    part = ps.Sequential(ps.Dense(a, b), ps.Dense(a * c, d), ps.Dense(b * d, c))
    for width in range(51, 100):
        written = ps.Block(a_part_with_a_long_name=part, other=ps.Dense(c, d)).to_latex("align", depth=1, width=width)
        below = [line.removesuffix(r" \\") for line in written.split("\n") if line.startswith(r"&\quad")]
        assert all(measured(line) <= width for line in below), written


def test_documents() -> None:
    """A preamble, the pieces, an end; strings stand as they are."""
    text = ps.latex_document("Words.", ps.Dense(H, F), ps.Dense(H, F).table(), ps.explain(ps.Dense(H, F), H), title="A & B")
    assert text.startswith("\\documentclass")
    assert "\\section*{A \\& B}\n\nWords.\n\n\\[\nF H + F\n\\]\n\n\\begin{longtable}" in text
    assert text.endswith("\\end{align*}\n\n\\end{document}\n")
    assert ps.Dense(H, F).to_latex(standalone=True).count("\\[") == 1
