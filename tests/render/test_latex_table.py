"""Tables in LaTeX: as wide as they need to be, and no wider than the page."""

from __future__ import annotations

import re

import pytest
from sympy import ceiling, floor

import paramsym as ps
from paramsym import A, F, H
from paramsym.errors import ArgumentError
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
    with pytest.raises(ArgumentError, match="letters is dict; wanted those of one of"):
        ps.Dense(H, 4 * H).table().to_latex(letters={"H": "h"})  # type: ignore[arg-type]


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


def test_a_table_that_floats_has_its_caption_and_label() -> None:
    """A caption is LaTeX of the user's own; a label alone takes the table's; the number of a caption is not left out."""
    table = ps.load("meta-llama/Meta-Llama-3-8B").table()
    own = table.to_latex(caption="Llama, $H = 4096$.", label="tab:llama")
    assert own.startswith("\\begin{table}\n\\centering\n\\caption{Llama, $H = 4096$.}\\label{tab:llama}\n")
    assert own.endswith("\\end{table}")
    assert r"\caption{LlamaForCausalLM: $8{,}030{,}261{,}248$ parameters}\label{tab:llama}" in table.to_latex(label="tab:llama")
    assert r"\caption{Mine}\label{tab:x}\\" in table.to_latex(long=True, caption="Mine", label="tab:x")
    assert "caption" not in table.to_latex()


def test_mathematics_and_names_are_set_as_such() -> None:
    """Shapes without Python's comma, letters in a head, names in typewriter type, and no break within a number."""
    written = ps.Dense(H, F).table().to_latex()
    assert r"\texttt{bias} & $(F)$ & $F$" in written
    assert "(<i>F</i>)</td>" in ps.Dense(H, F).table().to_html()
    swept = ps.table({"small": ps.Dense(H, F).at(H=2, F=3)})
    assert swept.to_latex().splitlines()[2] == r"model & $F$ & $H$ & parameters \\"
    shares = ps.models.Bert().at("bert-base-uncased").table(1).to_latex()
    assert r"21.8 \%" in shares
    assert r"\{0..11\}" in ps.load("bert-base-uncased").table().to_latex()


def test_a_table_that_does_not_fit_a_column_spans_both() -> None:
    """Seven columns of LeNet-5: only a floating table can span both columns, and a table that fits one column does not."""
    summary = ps.summary(ps.models.LeNet5(), (1, 1, 32, 32))
    spanning = summary.to_latex(caption="LeNet-5", label="tab:lenet", width=45)
    assert spanning.startswith("\\begin{table*}\n\\centering\n\\caption{LeNet-5}\\label{tab:lenet}")
    assert spanning.endswith(r"\end{table*}")
    assert "table*" not in summary.to_latex(caption="LeNet-5")
    assert "table*" not in summary.to_latex(width=45)
    assert "table*" not in ps.models.LeNet5().table().to_latex(caption="LeNet-5", width=45)


def test_common_prefixes_are_rows_of_a_narrow_table() -> None:
    """So that one column of two holds the tensors of a model; every tensor is there, under its own last steps."""
    table = ps.load("bert-base-uncased").table()
    for written in (table.to_latex(width=45), table.to_latex(grouped=True)):
        plain = written.replace(r"\allowbreak{}", "")
        assert plain.count(r"\multicolumn{4}{l}{\texttt{encoder.layer.\{0..11\}.attention.self}} \\") == 1
        assert sum(line.startswith((r"\quad", r"\hangindent")) for line in written.splitlines()) == len(table.rows)
        assert r"\quad \texttt{query.weight} & $(768, 768)$ & $12$ & $7{,}077{,}888$" in plain
    assert "multicolumn" not in table.to_latex()
    assert "multicolumn" not in table.to_latex(width=45, grouped=False)
    assert "multicolumn" not in ps.Dense(H, F).table().to_latex(width=45)


def test_a_product_breaks_only_where_it_must() -> None:
    """Between factors there is a place to break in a cell whose terms are wider than the column, and nowhere else."""
    assert r"\penalty" not in ps.models.Bert().table().to_latex()
    assert r"\penalty9000 " in ps.models.T5().table(letters="kaplan").to_latex(width=40)


def test_rows_of_quotients_do_not_touch() -> None:
    """A rounded quotient is as high as a line, and a row with another fraction has space below it."""
    rows = (("one", ceiling(H / 32) * A), ("two", H / A), ("three", floor((H + 1) / 2)))
    written = [line for line in Table(("part", "amount"), rows).to_latex().splitlines() if "&" in line][1:]
    assert written[0] == r"\texttt{one} & $A \lceil H/32 \rceil$ \\"
    assert written[1] == r"\texttt{two} & $\frac{H}{A}$ \\[3pt]"
    assert written[2].endswith(r"\right\rfloor$ \\[3pt]")


def test_only_long_texts_are_broken() -> None:
    """Numbers keep one line each, and so do short texts, in a table that is too wide for the page."""
    rows = [("word", 10**30 + row, "many words " * 20, "a formula that is long enough to be broken") for row in range(3)]
    written = Table(("kind", "amount", "reason", "text"), tuple(rows)).to_latex()
    (columns,) = re.findall(r"begin\{tabular\}\{(.*)\}\n", written)
    assert re.sub(r">\{[^}]*\}p\{[^}]*\}", "p", columns) == "lrpp"


def test_questions_have_space_before_them() -> None:
    """Between the answers of two questions, but not above the first; groups of names have none."""
    rows = (("flops", "a", 1), ("flops", "b", 2), ("macs", "a", 3), ("macs", "b", 4))
    written = Table(("question", "model", "count"), rows).to_latex()
    assert written.count(r"\multicolumn") == 2
    assert written.count(r"\addlinespace \multicolumn") == written.count(r"\addlinespace") == 1
    assert written.index("flops") < written.index(r"\addlinespace") < written.index("macs")
    grouped = ps.models.Bert().table().to_latex(grouped=True)
    assert r"\multicolumn" in grouped
    assert r"\addlinespace" not in grouped
