"""BERT as algebra: the closed form, why A cancels, published sizes and claims, and what the reference's classes add."""

from __future__ import annotations

import pickle

import pytest
from strategies import assert_value
from sympy import Symbol

from paramsym import A, Dense, F, H, L, LayerNorm, N, P, T, V, cat, per  # noqa: F401 - repr is evaluated with them in scope
from paramsym.atlas.published import Claim
from paramsym.errors import ArgumentError, DivisibilityError, SizeError, StructureError, UnknownNameError
from paramsym.models import Bert, family_of
from paramsym.models.bert_blocks import Activated, BertEmbeddings, Predictions  # noqa: F401 - as above

BASE = 2 * F * H * L + F * L + 4 * H**2 * L + H**2 + 9 * H * L + H * P + H * T + H * V + 3 * H
ARCHITECTURES = family_of("bert").architectures


def test_closed_form() -> None:
    """The base model is the textbook's sum, expanded."""
    assert Bert().params == BASE
    assert Bert().symbols == {V, H, L, A, F, P, T}


def test_heads_cancel_and_remain() -> None:
    """A is in no count, and in the axes of query, key, value and the output's input."""
    bert = Bert()
    assert bert.params.diff(A) == 0
    lines = {line.name.rpartition("attention.")[2]: line for line in bert.ledger() if "attention" in line.name}
    for name in ("query", "key", "value"):
        assert lines[f"self.{name}.weight"].factors == (A, per(H, A), H)
        assert lines[f"self.{name}.bias"].factors == (A, per(H, A))
    assert lines["output.dense.weight"].factors == (H, A, per(H, A))


@pytest.mark.parametrize(
    ("architecture", "head"),
    [
        ("BertModel", 0),
        ("BertForPreTraining", H**2 + 5 * H + V + 2),
        ("BertForMaskedLM", 2 * H + V),
        ("BertLMHeadModel", 2 * H + V),
        ("BertForNextSentencePrediction", 2 * H + 2),
        ("BertForSequenceClassification", H * N + N),
        ("BertForMultipleChoice", H + 1),
        ("BertForTokenClassification", H * N + N - H**2 - H),
        ("BertForQuestionAnswering", H * N + N - H**2 - H),
    ],
)
def test_heads(architecture: str, head: Symbol) -> None:
    """Each class adds its head to the base model, and takes the pooler away where the reference has none."""
    assert (Bert(architecture=architecture).params - BASE - head).expand() == 0


def test_all_architectures_are_tested() -> None:
    """The list above is the list of classes."""
    assert len(ARCHITECTURES) == 9


def test_pooler() -> None:
    """Without its pooler the model has H**2 + H fewer."""
    assert (BASE - Bert(add_pooling_layer=False).params - H**2 - H).expand() == 0


def test_untied() -> None:
    """Untied, the output matrix and the second bias count again."""
    tied = Bert(architecture="BertForMaskedLM")
    untied = Bert(architecture="BertForMaskedLM", tie_word_embeddings=False)
    assert (untied.params - tied.params - H * V - V).expand() == 0
    assert untied.tied == {}
    assert tied.tied == {
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }


def test_cross_attention() -> None:
    """A decoder's cross attention is a second attention block with its normalisation in every layer."""
    decoder = Bert(is_decoder=True, add_cross_attention=True)
    assert (decoder.params - BASE - L * (4 * H**2 + 6 * H)).expand() == 0


def test_labels() -> None:
    """Labels are N until they are a number; a class without labels has no N."""
    assert N in Bert(architecture="BertForSequenceClassification").symbols
    assert N not in Bert(architecture="BertForMaskedLM").symbols
    built = Bert(architecture="BertForSequenceClassification", num_labels=3)
    assert built.params == Bert(architecture="BertForSequenceClassification").at(N=3).params


@pytest.mark.parametrize("claim", [claim for claim in Bert.claims if claim.counts in ARCHITECTURES], ids=lambda c: f"{c.name} {c.counts}")
def test_claim(claim: Claim) -> None:
    """Every published count that names a class is that class's count."""
    assert Bert(architecture=claim.counts).at(claim.name).count == claim.count


def test_rounded_claims() -> None:
    """The paper's 110M is the pretraining model to the million; its 340M is more than any of them has."""
    pretraining = Bert(architecture="BertForPreTraining")
    assert round(pretraining.at("bert-base-uncased").count, -6) == 110_000_000
    assert pretraining.at("bert-large-uncased").count == 336_226_108


def test_published_sizes_have_no_others() -> None:
    """Every published size fills every letter."""
    for name in Bert.published:
        assert Bert().at(name).count > 0


def test_sizes_put_in() -> None:
    """A sized model knows the formula and the sizes it came from, and equals the model built with numbers."""
    sizes = {"vocab_size": 20, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 12}
    built = Bert(**sizes, max_position_embeddings=12, type_vocab_size=3)
    sized = Bert().at(V=20, H=12, L=3, A=4, F=12, P=12, T=3)
    assert sized == built
    assert sized.count == built.count == int(BASE.xreplace({V: 20, H: 12, L: 3, A: 4, F: 12, P: 12, T: 3}))
    assert sized.formula == BASE
    assert sized.sizes == {V: 20, H: 12, L: 3, A: 4, F: 12, P: 12, T: 3}
    assert built.formula == built.params


def test_depth() -> None:
    """No layer at all is a model; a million layers cost what two do, until names are written out."""
    flat = Bert().at(L=0)
    assert flat.params == BASE.xreplace({L: 0})
    assert list(flat.shapes())[-2:] == ["pooler.dense.weight", "pooler.dense.bias"]
    assert len(flat.shapes()) == 7
    assert Bert(num_hidden_layers=10**6).params == BASE.xreplace({L: 10**6}).expand()


def test_own_letters() -> None:
    """Symbols without assumptions work everywhere."""
    d, a = Symbol("d"), Symbol("a")
    bert = Bert(hidden_size=d, num_attention_heads=a)
    assert bert.params == BASE.xreplace({H: d}).expand()
    assert bert.at("bert-base-uncased").count == 109_482_240


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_being_a_value(architecture: str) -> None:
    """It is equal to its copy, hashes, pickles, and is written as it is built."""
    bert = Bert(architecture=architecture)
    assert_value(bert)
    sized = bert.at("bert-base-uncased")
    assert pickle.loads(pickle.dumps(sized)).formula == bert.params


@pytest.mark.parametrize("path", ["bert.embeddings", "cls.predictions"])
def test_parts_are_values(path: str) -> None:
    """The model's own parts are values, too."""
    part = Bert(architecture="BertForMaskedLM", tie_word_embeddings=False).part(path)
    assert eval(repr(part)) == part


def test_buffers() -> None:
    """The index buffers are in no state dict, so no row but a buffer's shows them."""
    bert = Bert().at("bert-base-uncased")
    assert bert.shapes(buffers=True) == bert.shapes()
    assert [line.name for line in bert.ledger(buffers=True) if line.buffer] == ["embeddings.position_ids", "embeddings.token_type_ids"]


def test_parts_by_path() -> None:
    """A path names a part, in every layer or in one."""
    bert = Bert()
    assert bert.part("embeddings").params == H * P + H * T + H * V + 2 * H
    assert bert.part("encoder.layer.{}").params == bert.part("encoder.layer.3").params == 2 * F * H + F + 4 * H**2 + 9 * H


def test_wrong_heads() -> None:
    """786 with 12 heads is an error that says so, in the configuration's words."""
    with pytest.raises(DivisibilityError, match=r"Bert: hidden_size 786 is not divisible by num_attention_heads 12 \(786 = 65\*12 \+ 6\)"):
        Bert(hidden_size=786, num_attention_heads=12)
    with pytest.raises(DivisibilityError, match="786"):
        Bert().at(H=786, A=12)


def test_wrong_flags() -> None:
    """Flags that contradict each other, or that a class does not take, are refused when the model is built."""
    with pytest.raises(ArgumentError, match="needs is_decoder=True"):
        Bert(add_cross_attention=True)
    with pytest.raises(ArgumentError, match="is for the base classes; BertForMaskedLM"):
        Bert(add_pooling_layer=False, architecture="BertForMaskedLM")
    with pytest.raises(ArgumentError, match="wanted one of"):
        Bert(architecture="RobertaModel")
    with pytest.raises(ArgumentError, match="is not an activation"):
        Bert(hidden_act="gulu")
    with pytest.raises(ArgumentError, match="wanted True or False"):
        Bert(tie_word_embeddings=1)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "768", True, None])
def test_wrong_sizes(wrong: object) -> None:
    """No float, bool, string, zero or negative number is a width."""
    with pytest.raises(SizeError, match="hidden_size"):
        Bert(hidden_size=wrong)


def test_wrong_names() -> None:
    """An unknown size is answered with the nearest, an unknown letter with what there is."""
    with pytest.raises(UnknownNameError, match="did you mean bert-large-cased or bert-large-uncased"):
        Bert().at("bert-huge")
    with pytest.raises(UnknownNameError, match="N"):
        Bert().at(N=2)
    with pytest.raises(StructureError, match="hidden_size"):
        Bert(hidden_size=12).at("bert-base-uncased")
