"""Tables in LaTeX: as wide as they need to be, and no wider than the page."""

from __future__ import annotations

import paramsym as ps
from paramsym import F, H
from paramsym.render.table import Table


def test_a_narrow_table_is_plain() -> None:
    """Columns are as wide as their cells."""
    assert ps.Dense(H, F).table().to_latex().startswith(r"\begin{tabular}{lll}")


def test_a_wide_table_gets_paragraphs() -> None:
    """Long names break at their dots instead of running into the margin."""
    written = ps.models.Bert().table().to_latex()
    assert r">{\raggedright\arraybackslash}p{0." in written
    assert r"attention.\allowbreak{}self.\allowbreak{}query.\allowbreak{}weight" in written
    assert r"p{" not in written.split("}{", 2)[0]


def test_a_long_table_repeats_its_head() -> None:
    """Caption and label once, the head on every page, the rule at the end only."""
    written = ps.models.Bert().table().to_latex(long=True, label="tab:bert")
    assert written.startswith(r"\begin{longtable}{")
    assert written.count("tensor & shape & copies & parameters") == 2
    assert r"\caption{BertModel: $4 L H^{2} + 2 L F H" in written
    assert r"\label{tab:bert}" in written
    assert written.count(r"\endhead") == written.count(r"\endlastfoot") == 1


def test_letters_are_the_tables_or_the_callers() -> None:
    """A table keeps the letters it was made with; others can be asked for."""
    assert "$4 h^{2}$" in ps.Dense(H, 4 * H).table(letters="megatron").to_latex()
    assert "$4 h^{2}$" in ps.Dense(H, 4 * H).table().to_latex(letters=ps.LETTER_SETS[3].letters)


def test_a_caption_without_a_formula() -> None:
    """Words are escaped; a formula too long for a caption is left to the table's last row."""
    assert r"\caption{100\% of a\_\allowbreak{}b}" in Table(("x",), ((1,),), caption="100% of a_b").to_latex(long=True)
    assert r"\caption{DenseNet: parameters}" in ps.models.DenseNet().table(depth=1).to_latex(long=True)
    assert r"\caption" not in Table(("x",), ((1,),)).to_latex(long=True)


def test_a_narrow_column_gets_smaller_type() -> None:
    """A table knows the width it has to fit: what a line of an article holds, a column of two breaks or sets smaller."""
    table = ps.models.T5().table(depth=1, letters="kaplan")
    assert table.to_latex(width=200).startswith(r"\begin{tabular}{ll}")
    assert "p{0." in table.to_latex()
    assert ps.models.T5().table(letters="kaplan").to_latex(width=45).startswith("{\\")
    assert ps.latex_document(ps.models.T5().table(letters="kaplan")).count(r"\begin{longtable}") == 1


def test_a_product_breaks_only_where_it_must() -> None:
    """Between factors there is a place to break in a cell whose terms are wider than the column, and nowhere else."""
    assert r"\penalty" not in ps.models.Bert().table().to_latex()
    assert r"\penalty9000 " in ps.models.T5().table(letters="kaplan").to_latex(width=40)
