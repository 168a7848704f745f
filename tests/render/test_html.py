"""HTML: formulas without scripts, tables that fold, nothing that fights a dark page."""

from __future__ import annotations

import re

import pytest
from amount import cases

import paramsym as ps
from paramsym import A, H
from paramsym.render.html import folded, formula, table
from paramsym.render.table import Table


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("12 L H^{2}", "12\u202f<i>L</i>\u202f<i>H</i><sup>2</sup>"),
        (r"\frac{H}{A}", "<i>H</i>/<i>A</i>"),
        (r"\frac{V + s}{12 l}", "(<i>V</i> +\xa0<i>s</i>)/(12\u202f<i>l</i>)"),
        (r"d_{\text{model}}^{2}", "<i>d</i><sub>model</sub><sup>2</sup>"),
        (r"\left(H - 1\right)", "(<i>H</i> &minus;\xa01)"),
        (r"\left\lfloor \frac{H}{2} \right\rfloor", "⌊<i>H</i>/2⌋"),
        (r"A \cdot \alpha", "<i>A</i> ·\xa0<i>&alpha;</i>"),
        (r"-\frac{\text{a b} H}{2}", "&minus;a b\u202f<i>H</i>/2"),
        (r"\mathit{width}", "<i>width</i>"),
        ("109{,}482{,}240", "109,482,240"),
        (r"H < 3", "<i>H</i> &lt;\xa03"),
        ("d_k", "<i>d</i><sub><i>k</i></sub>"),
        ("}", "}"),
        ("H^", "<i>H</i><sup></sup>"),
    ],
)
def test_formulas(latex: str, expected: str) -> None:
    """What the library writes as LaTeX stands in plain HTML."""
    assert formula(latex) == expected


def test_every_layer_has_a_card() -> None:
    """A formula, a number where sizes are in, parts and tensors to unfold."""
    symbolic = ps.models.Bert()._repr_html_()
    assert symbolic.count("<details>") == 2
    assert "<strong>BertModel</strong>: 4\u202f<i>L</i>\u202f<i>H</i><sup>2</sup>" in symbolic
    sized = ps.models.Bert().at("bert-base-uncased")._repr_html_()
    assert "= <strong>109,482,240</strong> parameters" in sized
    assert "(30522, 768)" in sized
    assert "77.7 %" in sized
    assert ps.Dense(2, 3)._repr_html_().count("<details>") == 1
    assert "<details>" not in ps.ReLU()._repr_html_()
    tied = ps.models.EncoderDecoder()._repr_html_()
    assert "= encoder" in tied or "=" in tied


def test_cards_use_the_pages_colours() -> None:
    """No colour is named, so that light and dark pages both read."""
    html = ps.models.Bert().at("bert-base-uncased")._repr_html_()
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb\(|(?<!-)color:\s*(?!-mix)", html.replace("color-mix(in srgb, currentColor", ""))
    assert "<script" not in html


def test_long_tables_are_cut() -> None:
    """The first rows, then all of them on request; or all at once."""
    long = Table(("name", "n"), tuple((f"row {n}", n) for n in range(150)), caption="numbers")
    assert table(long).count("<tr>") == 1 + 20 + 1 + 150
    assert "<summary>All 150 rows</summary>" in table(long)
    assert "the first 20 of 150 rows" in table(long)
    assert "<details>" not in long.to_html(limit=None)
    assert folded(long, "x < y").startswith("<details><summary>x < y</summary>")


def test_explanations_read_without_a_script() -> None:
    """Words and equations in a list; and as Markdown with dollars."""
    why = ps.explain(ps.MultiHeadAttention(H, A), A)
    assert "<i>A</i> ·\xa0<i>H</i>/<i>A</i> ·\xa0<i>H</i> =\xa03\u202f<i>H</i><sup>2</sup>" in why._repr_html_()
    assert "$" not in why._repr_html_()
    assert "$$\n   3 \\cdot A \\cdot \\frac{H}{A} \\cdot H = 3 H^{2}\n   $$" in why.to_markdown()


def test_data_frames() -> None:
    """Whole numbers are numbers, formulas stay expressions."""
    pandas = pytest.importorskip("pandas")
    frame = ps.models.Bert().at("bert-base-uncased").table(depth=1).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["parameters"].sum() == 109_482_240
    assert list(frame.columns) == ["part", "parameters", "share"]
    assert ps.Dense(H, H).table().to_pandas()["parameters"][0] == H**2


def test_numbers_and_shares_stand_to_the_right() -> None:
    """A share is read beneath another share; formulas and words begin where their column begins."""
    shares = ps.models.Bert().at("bert-base-uncased").table(depth=1)
    assert shares.numeric == (False, True, True)
    assert shares.to_html().count("text-align:right") == 2 * (1 + len(shares.rows) + 1)
    assert shares.to_latex().startswith(r"\begin{tabular}{lrr}")
    assert ps.Dense(H, H).table().numeric == (False, False, False)


@cases(0)
def test_names_break_after_their_dots_only() -> None:
    """A template name is long: the range of its copies stays in one piece, and only names of the code look like code."""
    html = ps.models.Bert().table().to_html()
    assert '<code>encoder.<wbr>layer.<wbr><span style="white-space:nowrap">{0..L-1}</span>.<wbr>attention' in html
    assert "<code>" not in ps.conventions(ps.Dense(H, H)).table().to_html()


@pytest.mark.parametrize("limit", ["3", True, -1, 1.5])
def test_what_is_no_number_of_rows(limit: object) -> None:
    """A limit is a whole number, or None."""
    with pytest.raises(ps.errors.ArgumentError, match="wanted a number of rows, or None"):
        ps.Dense(2, 3).table().to_html(limit=limit)  # type: ignore[arg-type]
