"""Several claims at once, such as the rows of a table, explained by one term."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym import A, B, D, F, H, L, S
from paramsym.errors import ArgumentError
from paramsym.models import Bert, Gpt2, Llama

BERT = {"bert-base-uncased": 109_482_240, "bert-large-uncased": 335_141_888}
RESNETS = [ps.flops(ps.models.ResNet(name), (1, 3, 224, 224)) for name in ("resnet18", "resnet50")]


def test_one_term_for_published_sizes() -> None:
    """The biases counted once per head explain both rows; each row alone has other readings, too."""
    more = {"bert-base-uncased": 3 * 12 * 768 * 11, "bert-large-uncased": 3 * 24 * 1024 * 15}
    found = ps.reconcile(Bert(), {name: count + more[name] for name, count in BERT.items()})
    assert found
    assert found[0].term == (3 * L * H * (A - 1)).expand()
    assert found[0].difference == found[0].term
    assert str(found).startswith("in both rows: 3*L*H*(A - 1): the biases of query, key and value counted once per head at full width H")
    assert [row.alone.counted for row in found.rows] == list(BERT.values())
    assert [row[3] for row in found.table().rows] == [count + more[name] for name, count in BERT.items()]
    assert found[:1] == found.answers[:1]


def test_rounded_rows() -> None:
    """A rounded row alone allows many terms; with an exact row, only one term fits both."""
    pooler = {"bert-base-uncased": "109M", "bert-large-uncased": BERT["bert-large-uncased"] - 1024 * 1025}
    (first, *_) = ps.reconcile(Bert(), pooler)
    assert first.term == -(H**2) - H
    found = ps.reconcile(Bert(), {"bert-base-uncased": "110M", "bert-large-uncased": "335M"})
    assert [answer.words for answer in found] == ["the count is right"]
    assert [len(row) for row in found.table().rows] == [3, 3]


@cases(0)
def test_sizes_and_layers_in_lists() -> None:
    """A list of sizes, a list of costs, and one size for all claims."""
    dense = ps.Dense(H, F)
    sizes = [{"H": 3, "F": 5}, {"H": 7, "F": 11}]
    (answer, *_) = ps.reconcile(dense, [15, 77], at=sizes)
    assert answer.term == -F
    assert ps.reconcile([dense.at(one) for one in sizes], [15, 77])[0].term == -F
    cache = ps.kv_cache(Llama(num_key_value_heads=None), dtype="float16")
    sized = [cache.at(B=2, S=length, H=128, A=8, L=3) for length in (50, 70)]
    (answer, *_) = ps.reconcile(sized, [int(one.total) // 2 for one in sized])
    assert answer.term == -2 * B * H * L * S
    assert ps.reconcile(ps.Dense(3, 5), [20, 20])


def test_no_term_for_all() -> None:
    """Each row may have its own term, and no term fits all rows."""
    found = ps.reconcile(ps.Dense(H, F), [15, 83], at=[{"H": 3, "F": 5}, {"H": 7, "F": 11}])
    assert not found
    assert str(found).splitlines()[0] == "no one term fits all 2 claims; each alone:"
    assert str(found).splitlines()[2] == "2: no short explanation found for 83 against 88 of Dense"
    assert [len(row) for row in found.table().rows] == [3, 3]


def test_models_that_differ_in_more_than_sizes() -> None:
    """The rows have different terms and share one reading: multiply-adds instead of FLOPs."""
    found = ps.reconcile(RESNETS, [1_814_073_344, 4_089_184_256])
    assert found.by_reading
    assert str(found).startswith("in both rows: counted as multiply-adds")
    assert [len(row) for row in found.table().rows] == [3, 3]
    assert str(ps.reconcile(RESNETS, ["1.81 GMACs", "4.09 GMACs"])) == "in both rows: the count is right"
    assert not ps.reconcile(RESNETS, [1_814_073_344, 12])


@cases(0)
def test_claims_in_letters() -> None:
    """Formulas in letters, of models with and without biases, share one reading: Kaplan counts half of the pairs."""
    models = [
        ps.flops(model, per="token") for model in (Gpt2(architecture="GPT2LMHeadModel"), Gpt2(architecture="GPT2LMHeadModel").at(L=12))
    ]
    found = ps.reconcile(models, ["24*L*H**2 + 2*L*S*H", "288*H**2 + 24*S*H"])
    assert "counted as kaplan" in found[0].words
    assert found.table().rows[0][2] == models[0].total
    assert ps.reconcile(ps.Dense(H, F), ["H*F + F", "F + F*H"])[0].term == 0


@pytest.mark.parametrize(
    ("counted", "claim", "at"),
    [
        (Bert(), dict(BERT), "bert-base-uncased"),
        (Bert(), [], None),
        (Bert(), [1, 2], [{"H": 1}]),
        ([Bert()], [1, 2], None),
        (Bert(), 5, ["bert-base-uncased"]),
    ],
)
def test_unlike_numbers_of_rows(counted: Any, claim: Any, at: Any) -> None:
    """Different numbers of claims, layers and sizes are refused, and so are sizes that are given twice."""
    with pytest.raises(ArgumentError, match=r"wanted equally many|give one of them|give a list with one claim"):
        ps.reconcile(counted, claim, at)


def test_a_letter_that_another_row_lacks() -> None:
    """If one row has no number for a letter of a term, the term is not an answer, and there is no error."""
    narrow, wide = ps.Sequential(ps.Dense(4, F), ps.Dense(F, D)), ps.Sequential(ps.Dense(4, F), ps.Dense(F, D))
    found = ps.reconcile([narrow.at(F=3, D=5), wide.at(F=7, D=2)], [narrow.at(F=3, D=5).count - 5, wide.at(F=7, D=2).count - 2])
    assert found[0].term == -D


def test_too_many_claims_are_refused() -> None:
    """A range is a list, and may have more numbers than memory."""
    with pytest.raises(ArgumentError, match=r"^there are more than 1,000 claims; give the rows of one table\.$"):
        ps.reconcile(Bert(), range(10**12))
