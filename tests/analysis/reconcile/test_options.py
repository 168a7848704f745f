"""What another option adds, and how it is said, against sums by hand from the models' documented heads."""

from __future__ import annotations

import paramsym as ps
from paramsym import F, H
from paramsym.analysis.reconcile.options import optional
from paramsym.analysis.reconcile.subject import Subject


def options(layer: ps.Layer) -> dict[str, int]:
    """Return what every edit of an option adds, by its words."""
    return {edit.words: edit.value for edit in optional(Subject(layer))}


def test_a_flag_is_the_other_flag() -> None:
    """A dense layer has one option that changes its count, and nothing more is said of it."""
    assert options(ps.Dense(H, F).at(H=4, F=7)) == {"built with bias=False in place of True": -7}


def test_heads_of_bert() -> None:
    """A head for words has a dense layer, a norm and a bias of V in place of the pooler; one for labels has as many rows as labels."""
    found = options(ps.models.Bert().at("bert-base-uncased"))
    pooler = 768 * 768 + 768
    words = "built with architecture='BertForMaskedLM' (or 'BertLMHeadModel') in place of 'BertModel'"
    assert found[words] == (768 * 768 + 768) + 2 * 768 + 30522 - pooler
    assert found[f"{words}, what it ties counted under each name"] == found[words] + 30522 * 768 + 30522
    labels = "built with architecture='BertForSequenceClassification' in place of 'BertModel', N = "
    for written, number in (("2", 2), ("10", 10), ("100", 100), ("1,000", 1000), ("21,841", 21841)):
        assert found[labels + written] == number * (768 + 1)
    assert "built with architecture='BertForSequenceClassification' in place of 'BertModel'" not in found
