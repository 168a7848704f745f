"""The single edits of small layers: which there are, what they touch, and that each adds what its words say."""

from __future__ import annotations

import re

import pytest

import paramsym as ps
from paramsym import A, E, H, L, V, per
from paramsym.algebra.polynomial import Polynomial
from paramsym.analysis.reconcile.edits import Edit, Structure, counted_as
from paramsym.analysis.reconcile.ranking import Hit
from paramsym.analysis.reconcile.subject import Subject

SMALL = ps.Block(embed=ps.Embedding(V, H), norm=ps.LayerNorm(H), head=ps.Dense(H, V)).at(V=7, H=4)
HEADS = ps.Block(q=ps.Dense(H, (A, per(H, A))), k=ps.Dense(H, (A, per(H, A)))).at(A=2, H=4)
COPIES = ps.Repeat(ps.Conv2d(3, 4, 2, bias=False), L).at(L=3)
LAYERS = {"small": SMALL, "heads": HEADS, "copies": COPIES, "norm": ps.BatchNorm2d(5)}


def edits(layer: ps.Layer) -> list[Edit]:
    """Return the edits of the structure."""
    return list(Structure(Subject(layer)).edits())


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_an_edit_adds_what_it_says(layer: ps.Layer) -> None:
    """The number follows from the sizes of the tensors that are named, and the term in letters from the number."""
    stored = {line.name: int(line.polynomial().as_expr().subs(layer.origin[1])) for line in layer.origin[0].lines}
    for edit in edits(layer):
        total = sum(stored[name] for name in edit.tensors)
        said = [
            (r" left out$| counted$", -total),
            (r" counted twice$", total),
            (r" counted once per head", total),
            (r" for one head only$", total // 2 - total),
            (r" for one layer only$", total // 3 - total),
            (r" once for each of H$| without the factor [HVL34]$|without the factor 2$", None),
        ]
        (expected,) = (value for words, value in said if re.search(words, edit.words))
        if expected is None:
            of = edit.words.rsplit(" ", 1)[1]
            size = int(of) if of.isdigit() else {symbol.name: int(number) for symbol, number in layer.origin[1].items()}[of]
            expected = total * (size - 1) if "each of" in edit.words else total // size - total
        assert edit.value == expected, edit
        assert int(edit.term(Subject(layer)).as_expr().subs(layer.origin[1])) == edit.value


def test_the_groups_that_one_speaks_of() -> None:
    """Every kind, every part, every tensor and every pair of one name can be left out; each set of tensors has one name."""
    left_out = {edit.words.removesuffix(" left out"): set(edit.tensors) for edit in edits(SMALL) if edit.words.endswith("left out")}
    assert left_out == {
        "the norms": {"norm.weight", "norm.bias"},
        "the biases and norms": {"norm.weight", "norm.bias", "head.bias"},
        "the biases, those of norms too": {"norm.bias", "head.bias"},
        "the table embed": {"embed.weight"},
        "the weight of norm": {"norm.weight"},
        "the bias of norm": {"norm.bias"},
        "the weight of head": {"head.weight"},
        "the bias of head": {"head.bias"},
        "the table embed and the weight of head": {"embed.weight", "head.weight"},
        "head": {"head.weight", "head.bias"},
    }
    assert len({frozenset(tensors) for tensors in left_out.values()}) == len(left_out)


def test_a_table_counted_twice_is_the_output_matrix() -> None:
    """Which is often tied to it: that is likelier than a matrix left out, and a matrix counted twice less likely."""
    cost = {edit.words: edit.cost for edit in edits(SMALL)}
    assert cost["the table embed counted twice"] < cost["the weight of head left out"] < cost["the weight of head counted twice"]


MIXTURE = ps.Block(
    embed=ps.Embedding(V, H), layers=ps.Repeat(ps.Block(bias=ps.Dense(H, H), experts=ps.Repeat(ps.Dense(H, H, bias=False), E)), L)
).at(V=50, H=8, E=4, L=3)


@pytest.mark.parametrize("layer", [*LAYERS.values(), MIXTURE], ids=[*LAYERS, "mixture"])
def test_one_idea_is_simpler_than_two(layer: ps.Layer) -> None:
    """Even the most far-fetched one is believed before any two together."""
    found = edits(layer)
    simplest = sorted(found, key=lambda edit: edit.cost)[:2]
    assert max(edit.cost for edit in found) < Hit(tuple(simplest), 0.0).cost


def test_what_is_counted_once_per_layer() -> None:
    """What is beside the layers may be taken for a part of them; what is in them is there already."""
    words = {edit.words for edit in edits(MIXTURE)}
    assert "the table embed counted once per layer" in words
    assert "the table embed counted once per expert" in words
    assert "the biases counted once per layer" not in words
    assert "the bias of layers.{0..2}.bias counted once per expert" not in words


def test_the_usual_mistake_costs_least() -> None:
    """Biases at full width for every head are likelier than anything else; what is rarer costs more."""
    cost = {edit.words: edit.cost for edit in edits(HEADS)}
    assert min(cost, key=lambda words: cost[words]) == "the biases counted once per head at full width H"
    for group in ("the biases", "the matrices", "the weight of q"):
        assert cost[f"{group} left out"] < cost[f"{group} counted twice"] < cost[f"{group} counted for one head only"] < 1.5
    assert cost["the matrices counted for one head only"] < cost["the matrices counted without the factor H"] < 1.5
    assert cost["the biases left out"] < cost["q left out"] < cost["only q counted"] < cost["the bias of q left out"]


def test_tables_are_called_by_their_names() -> None:
    """Two of three equal tables are neither matrices nor biases nor norms."""
    layer = ps.Block(a=ps.Embedding(V, H), b=ps.Embedding(V, H), c=ps.Embedding(V, H)).at(V=7, H=4)
    assert "a and b left out" in {edit.words for edit in edits(layer)}


def test_names_of_several_layers_have_at_most_three_steps() -> None:
    """Only four steps would tell the matrices of two blocks from that of the third one."""
    third = ps.Block(b=ps.Block(c=ps.Dense(2, 2)))
    names = {edit.words.split()[1] for edit in edits(ps.Block(x=ps.Block(a=third), y=ps.Block(a=third), z=third)) if "every" in edit.words}
    assert "a" in names
    assert max(name.count(".") for name in names) < 3


def test_another_formula_combines_with_no_edit() -> None:
    """It replaces the whole count, so that an edit of a part of the count would be counted in a formula without this part."""
    subject = Subject(ps.load("bert-base-uncased"))
    other = Polynomial.of(12 * L * H**2)
    edit = counted_as(subject, other, "twelve matrices of every layer", 1.0)
    assert edit.alone
    assert subject.count + edit.value == 12 * 12 * 768**2
