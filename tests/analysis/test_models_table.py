"""Several models and several questions in one table."""

from __future__ import annotations

import re

import pytest
from sympy import expand

import paramsym as ps
from paramsym import F, H, L, S, V
from paramsym.errors import ArgumentError, UnknownNameError
from paramsym.render.widths import width_of_words

MODELS = {"BERT base": ps.load("bert-base-uncased"), "GPT-2": ps.load("gpt2"), "T5 small": ps.load("t5-small")}
QUESTIONS = ["parameters", "FLOPs per token", "cache per token"]


def test_several_models_in_one_table() -> None:
    """The commonest table of papers: Devlin et al. 2019, section 3, gives L, H, A and the count of both BERTs."""
    bert = ps.models.Bert()
    sizes = {"BERT base": bert.at("bert-base-uncased"), "BERT large": bert.at("bert-large-uncased")}
    found = ps.table(sizes, ["L", "H", "A"])
    assert found.columns == ("model", "L", "H", "A", "parameters")
    assert found.rows == (("BERT base", 12, 768, 12, 109_482_240), ("BERT large", 24, 1024, 16, 335_141_888))
    assert r"model & $l$ & $h$ & $a$ & parameters" in ps.table(sizes, [ps.L, H, ps.A], letters="megatron").to_latex()
    mixed = ps.table({**sizes, "in letters": ps.Dense(H, F).at(H=3)})
    assert mixed.columns[-1] == "parameters"
    assert mixed.rows[-1][-1] == 4 * F
    assert mixed.rows[0][mixed.columns.index("V")] == 30_522
    with pytest.raises(UnknownNameError, match="none of the models has a size for 'Q'; they have sizes for "):
        ps.table(sizes, ["Q"])
    for wrong in ({}, [ps.Dense(H, F)], {"a": 3}, None):
        with pytest.raises(ArgumentError, match="wanted names with layers"):
            ps.table(wrong)  # type: ignore[arg-type]


def test_several_questions_in_numbers() -> None:
    """A token of GPT-2 has 24LH^2 + 2VH + 4LHS FLOPs (Kaplan et al. 2020, table 1, with the head), and a key and a value in each layer."""
    found = ps.table(MODELS, [], QUESTIONS, at={S: 512, "S_d": 512})
    assert found.columns == ("model", *QUESTIONS)
    twelve = 24 * 12 * 768**2 + 2 * 50_257 * 768 + 4 * 12 * 768 * 512
    assert found.rows[1] == ("GPT-2", 124_439_808, twelve, 2 * 12 * 768)
    assert found.rows[0][-1] == 0  # an encoder keeps nothing
    assert found.rows[2][-1] == 2 * 2 * 6 * 512  # keys and values of the decoder, and of its attention to the encoder
    notes = {str(letter): words for letter, words in found.notes}
    assert notes["S"] == "sequence length (512)"
    assert notes["S_d"] == "sequence length of the decoder (512)"


def test_several_questions_in_formulas_or_both() -> None:
    """One row for each question and model; a size that is a letter is put into the formula, a number is not."""
    formulas = ps.table(MODELS, questions=QUESTIONS, at={"S_d": S}, answers="formulas")
    assert formulas.columns == ("question", "model", "formula")
    assert [row[:2] for row in formulas.rows] == [(question, name) for question in QUESTIONS for name in MODELS]
    assert expand(formulas.rows[4][2] - (24 * L * H**2 + 4 * L * H * S + 2 * V * H)) == 0
    assert "S_d" not in str(formulas.rows)
    both = ps.table(MODELS, [L], QUESTIONS, at={"S_d": 512, "S": 512}, answers="both")
    assert both.columns == ("question", "model", "L", "formula", "number")
    numbers = ps.table(MODELS, [], QUESTIONS, at={"S_d": 512, "S": 512})
    assert [row[-1] for row in both.rows] == [row[place] for place in (1, 2, 3) for row in numbers.rows]
    assert both.rows[4][3] == formulas.rows[4][2]
    written = both.to_latex(caption="Three models.")
    assert [written.count(rf"{{l}}{{{question}}}") for question in QUESTIONS] == [1, 1, 1]
    assert written.count(r"\quad GPT-2") == 3


def test_every_named_question_has_an_answer() -> None:
    """And a question of one's own is a function of a layer."""
    names = (
        "parameters, FLOPs, MACs per token, training FLOPs per token, active parameters, trainable parameters, training memory, activations"
    )
    found = ps.table({"GPT-2": MODELS["GPT-2"]}, [], names.split(", "), at={S: 64, "B": 1})
    assert all(isinstance(cell, int) and cell > 0 for cell in found.rows[0][1:])
    net = ps.load("resnet50")
    own = ps.table({"ResNet-50": net}, [], {"MACs of an image": lambda one: ps.macs(one, (1, 3, 224, 224))}, answers="both")
    assert own.rows[0][-1] == 4_089_184_256
    assert "N" in str(own.rows[0][-2])


def test_every_letter_is_defined_below_the_table() -> None:
    """Those in the head and those in the formulas; T5's own letters by the argument that holds them."""
    found = ps.table(MODELS)
    notes = {str(letter): words for letter, words in found.notes}
    assert notes.keys() == set(found.columns[1:-1])
    assert (notes["D"], notes["n_b"], notes["F"]) == (
        "width of one attention head",
        "relative_attention_num_buckets",
        "feed-forward width",
    )
    formulas = ps.table(MODELS, questions=QUESTIONS, answers="formulas")
    assert {letter for row in formulas.rows for letter in getattr(row[-1], "free_symbols", ())} <= {letter for letter, _ in formulas.notes}
    written = found.to_latex()
    assert r"$n_{b}$ & parameters" in written
    assert r"$D$: width of one attention head; " in written
    for text in (str(found), found.to_markdown(), found.to_html(), found.to_json()):
        assert "width of one attention head" in text


def test_a_wide_table_of_models_is_turned_in_a_narrow_column() -> None:
    """Where it was one and a half columns wide; a turned table has the same cells."""
    table = ps.table(MODELS)
    assert r"\begin{tabular}{lrrrrrrrrrr}" in table.to_latex()
    narrow = table.to_latex(width=45)
    assert r" & BERT base & GPT-2 & T5 small \\" in narrow
    assert r"$n_{b}$ &  &  & $32$ \\" in narrow
    assert "table*" not in table.to_latex(width=45, caption="Three models.")
    turned = table.turned()
    assert turned.columns == ("", *MODELS)
    assert [row[2] for row in turned.rows] == [*table.rows[1][1:]]
    assert ps.Dense(H, F).table().turned().columns[-1] == "total"


def test_a_narrow_column_keeps_labels_and_formulas_whole() -> None:
    """A label is set in smaller type before it is broken; formulas of many short lines need both columns."""
    numbers = ps.table(MODELS, ["L", "H"], QUESTIONS, at={S: 512, "S_d": 512}).to_latex(width=45, caption="Numbers.")
    assert r"\begin{table}" in numbers
    label = re.search(r"p\{(0\.\d+)\\linewidth\}", numbers)
    assert label is not None
    assert round(float(label[1]) * 45 / 0.8, 1) == round(width_of_words("FLOPs per token"), 1)  # in script size
    beside = ps.table(MODELS, ["L", "H"], QUESTIONS, at={"S_d": S}, answers="both")
    assert r"\begin{table*}" in beside.to_latex(width=45, caption="Both.")
    assert r"\begin{table}" in beside.to_latex(caption="Both.")
    alone = ps.table(MODELS, [], QUESTIONS, at={"S_d": S}, answers="formulas")
    assert r"\begin{table}" in alone.to_latex(width=45, caption="Formulas.")


def test_what_a_table_cannot_ask() -> None:
    """Each is said in one sentence with what there is."""
    with pytest.raises(ArgumentError, match=r"a question is 'speed' .*; wanted one of parameters, "):
        ps.table(MODELS, questions=["speed"])
    with pytest.raises(ArgumentError, match=r"questions is 'FLOPs' \(str\); wanted a list"):
        ps.table(MODELS, questions="FLOPs")
    with pytest.raises(ArgumentError, match="answers is 'letters'"):
        ps.table(MODELS, answers="letters")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="at has Q, but no answer in this table depends on it"):
        ps.table(MODELS, questions=["FLOPs"], at={"Q": 3})
