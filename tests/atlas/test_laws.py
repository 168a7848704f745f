"""The laws of all records: the cases of a size follow flags, words and small numbers, not two sizes that agree by chance."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
from amount import cases, sample

import paramsym as ps
from paramsym.atlas import expression
from paramsym.atlas.files import DIFFUSERS, diffusers_index, record_of, recorded_types
from paramsym.atlas.needed import NEEDED, check_needed

SMALL = 8
COMPARED = (
    {"embedding_size", "hidden_size"},  # a projection of the embeddings
    {"entity_emb_size", "hidden_size"},
    {"hidden_size", "word_embed_proj_dim"},
    {"hidden_size", "output_hidden_size"},  # a projection in the adapter
    {"text_in_dim", "hidden_size"},  # a projection of the text
    {"block_out_channels", "hidden_size"},  # a projection of what SkipFFTransformerBlock attends to
    {"hidden_size", "d_model"},  # a projection of MusicGen's text
    {"feature_size", "hidden_dim"},  # a projection of Mask2Former's maps
    {"hidden_size"},  # a projection between an encoder and a decoder
    {"hidden_size", 512},  # a projection of SEW's last convolution, whose list of widths is fixed
)
"""The sizes that the reference compares to store a tensor or not."""


@cache
def classes() -> list[tuple[str, Any]]:
    """Return the entry of each class of transformers and diffusers, of a sample of the types in the ordinary run."""
    networks = [f"{DIFFUSERS}{name}/{label}".rstrip("/") for name, one in diffusers_index()["classes"].items() for label in one["lengths"]]
    types = (*recorded_types(), *networks)
    return [(f"{one} {name}", entry) for one in sample(60, types) for name, entry in record_of(one)["classes"].items()]


def of_one_list(test: Any) -> bool:
    """Whether a test compares two entries of one list, whose keys differ in the number at their end."""
    return test[0] == "equal" and len({str(key).rstrip("0123456789") for key in test[1:]}) == 1


def plain(test: Any) -> bool:
    """Whether a test is about a flag, a word, null, zero or a small number."""
    return test[0] in {"is", "none", "positive", "entry", "holds"} or (test[0] == "beyond" and test[2] <= SMALL)


def compared(test: Any) -> bool:
    """Whether the reference compares these sizes, or the depth of a stage with 1."""
    if test[0] == "over":
        return bool(test[3] <= 1)
    return test[0] == "equal" and {key.rpartition(".")[2] if isinstance(key, str) else key for key in test[1:]} in COMPARED


@cases(0)
def test_no_size_depends_on_a_comparison_of_unrelated_sizes() -> None:
    """A polynomial for each answer of such a comparison fits many samples, and is wrong elsewhere."""
    odd = {
        (name, *test)
        for name, entry in classes()
        for law in entry["expressions"]
        for test in expression.tests_of(law)
        if not plain(test) and not of_one_list(test)
    }
    assert not odd


def test_the_cases_of_a_size_differ() -> None:
    """One law in all cases would be no law by cases; it would only refuse more."""
    same = [
        name
        for name, entry in classes()
        for law in entry["expressions"]
        if isinstance(law, list) and law[0] == "?" and len({str(ordered(inner)) for _, inner in law[2]}) == 1
    ]
    assert not same


def ordered(law: Any) -> Any:
    """Return a polynomial with its terms and their factors in one order."""
    if isinstance(law, list) and law[0] == "+":
        return sorted([a, b, sorted(factors, key=str)] for a, b, factors in law[1])
    return law


def test_no_tensor_is_stored_by_a_chance_comparison() -> None:
    """The sizes that decide what is stored are those that the reference compares itself."""
    odd = {
        (name, row[0], *test)
        for name, entry in classes()
        for row in entry["rows"]
        for test in row[2].get("if", [()])[0]
        if not plain(test) and not of_one_list(test) and not compared(test)
    }
    assert not odd


CLASSES = [(one, name) for one in sample(12, recorded_types()) for name in record_of(one)["classes"]]


@pytest.mark.parametrize(("model_type", "name"), CLASSES)
def test_the_default_of_a_class_is_read_or_asks_for_a_key(model_type: str, name: str) -> None:
    """Every record makes a layer; some references have no default that can be built, and then a key is missing."""
    model: Any = None
    why = ""
    try:
        model = ps.from_config({"model_type": model_type}, architecture=name)
    except ps.ParamsymError as error:
        why = str(error)
    if model is None:
        assert any(word in why for word in ("not verified", "give it", "must divide", "divisible"))
    else:
        assert model.count == sum(math.prod(shape) for shape in model.shapes().values()) > 0


def test_an_inner_configuration_is_whole_where_the_default_alone_is_recorded() -> None:
    """The reference completes a part of it with other values than its default has."""
    with pytest.raises(ps.ParamsymError, match="give all keys of vlm_config, or omit it"):
        ps.from_config({"model_type": "pi0", "vlm_config": {"tie_word_embeddings": True}}, architecture="PI0Model")


def test_no_inner_configuration_may_have_any_value() -> None:
    """An inner configuration adds a whole model, even where its default is null."""
    names = ("_config", ".encoder", ".decoder")
    odd = [(name, key) for name, entry in classes() for key in entry["free"] if f".{key}".endswith(names)]
    assert not odd


def test_numbers_of_layers_are_no_sizes() -> None:
    """A list of layers, such as ``vision_feature_layer``, changes a size by its length only; its entries fit by chance."""

    def held(what: Any) -> bool:
        if not isinstance(what, list):
            return False
        return (what[:1] == ["at"] and str(what[1]).endswith("feature_layer")) or any(map(held, what))

    assert not [name for name, entry in classes() if held(entry["expressions"])]


def test_biases_are_where_their_weights_are() -> None:
    """A bias of one layer beside weights of all layers is a law that held for the tested lists of kinds only."""
    odd = []
    for name, entry in classes():
        templates = {row[0] for row in entry["rows"]}
        for one in templates:
            stem, _, last = one.rpartition(".")
            of_all = ".".join("#" if step.isdigit() else step for step in stem.split(".")) + ".weight"
            if last == "bias" and f"{stem}.weight" not in templates and of_all in templates:
                odd.append((name, one))
    assert not odd


def test_no_list_of_tried_numbers_decides_which_layers_there_are() -> None:
    """``["where", ["entry", key], answers]`` is for kinds and flags; many numbers as answers are the sizes that were tried."""

    def tried(what: Any) -> bool:
        if not isinstance(what, list):
            return False
        if what[:1] == ["where"] and what[1][:1] == ["entry"]:
            return sum(isinstance(one, int) and not isinstance(one, bool) for one in what[2]) > 2
        return any(map(tried, what))

    assert not sorted({(name, row[0]) for name, entry in classes() for row in entry["rows"] if tried(row[2].get("sets", []))})


def test_what_the_reference_does_not_build_is_refused() -> None:
    """A class with its type alone: the table has its names, and a configuration with the key is taken."""
    for name, (keys, _) in NEEDED.items():
        with pytest.raises(ps.ParamsymError, match=f"{name}: {keys[0]} is not given; .* the reference builds no model; give it"):
            check_needed({}, name)
        check_needed({keys[-1]: 1}, name)


@pytest.mark.parametrize(("model_type", "name"), [("hiera", "HieraForPreTraining"), ("reformer", "ReformerModelWithLMHead")])
def test_such_a_model_has_its_letters(model_type: str, name: str) -> None:
    """Its numbers are refused, and its formula is there."""
    with pytest.raises(ps.ParamsymError, match=f"{name}: {NEEDED[name][0][0]} is not given"):
        ps.from_config({"model_type": model_type}, architecture=name)
    assert ps.load(model_type, architecture=name).params != 0
