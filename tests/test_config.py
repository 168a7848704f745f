"""From config.json to a model: what is read, what is refused, and in which words."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest
from amount import tries
from hypothesis import HealthCheck, given, settings, strategies as st
from recorded import rows
from sympy import Integer, floor

import paramsym as ps
from paramsym import A, F, H, L, N, P, T, V
from paramsym.atlas.reading import _difference
from paramsym.core.layer import Layer
from paramsym.errors import ConfigError, ParamsymWarning
from paramsym.models import family_of, model_types

EXAMPLE = Path(__file__).parent.parent / "examples" / "bert-base-uncased"
SMALL = {"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 5}


def refused(source: Any, words: str, **named: Any) -> None:
    """Check that a source gives one ConfigError with these words."""
    with pytest.raises(ConfigError) as caught:
        ps.from_config(source, **named)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 1500


# What is read -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [EXAMPLE, EXAMPLE / "config.json", str(EXAMPLE), json.loads((EXAMPLE / "config.json").read_text("utf-8"))],
    ids=["directory", "file", "string", "dictionary"],
)
def test_sources(source: Any) -> None:
    """A directory, a file, a string or a dictionary: the real bert-base-uncased, as the class it names and as the base model."""
    model = ps.from_config(source, strict=True)
    assert model.count == 109_514_298
    base = ps.from_config(source, architecture="BertModel", strict=True)
    assert base.count == base.params == 109_482_240
    assert base.formula == 2 * F * H * L + F * L + 4 * H**2 * L + H**2 + 9 * H * L + H * P + H * T + H * V + 3 * H
    assert base.sizes == {V: 30522, H: 768, L: 12, A: 12, F: 3072, P: 512, T: 2}
    assert base == ps.models.Bert().at("bert-base-uncased")


def test_missing_keys_have_the_references_defaults() -> None:
    """The least configuration is the reference's default model."""
    assert ps.from_config({"model_type": "bert"}).count == 109_482_240
    assert ps.from_config({"model_type": "gpt2"}).count == 124_439_808
    assert ps.from_config({"model_type": "vit"}).count == 86_389_248


def test_architecture() -> None:
    """The argument goes before the configuration's first, which goes before the family's base class."""
    assert ps.from_config({**SMALL, "architectures": ["BertForMaskedLM", "BertModel"]}).architecture == "BertForMaskedLM"
    assert ps.from_config({**SMALL, "architectures": ["BertForMaskedLM"]}, "BertModel").architecture == "BertModel"
    assert ps.from_config({**SMALL, "architectures": []}).architecture == "BertModel"
    assert ps.from_config({**SMALL, "architectures": None}).architecture == "BertModel"


def test_model_type_from_the_class() -> None:
    """A configuration from before model_type is known by its class."""
    assert ps.from_config({"architectures": ["GPT2LMHeadModel"]}).count == 124_439_808
    assert ps.from_config({}, "ViTModel").count == 86_389_248
    refused({}, "the configuration has no model_type; `paramsym families` lists what is known; ")
    refused({"architectures": ["AbacusModel"]}, "the configuration has no model_type")


@pytest.mark.parametrize(
    ("labels", "count"),
    [
        ({}, 2),
        ({"id2label": None}, 2),
        ({"num_labels": 5}, 5),
        ({"num_labels": None, "id2label": {"0": "a", "1": "b", "2": "c"}}, 3),
        ({"id2label": {0: "a"}}, 1),
        ({"num_labels": 4, "id2label": {"0": "a"}}, 4),
        ({"id2label": {"1": "a", "01": "b"}}, 1),
        ({"_num_labels": 7}, 2),
    ],
)
def test_labels(labels: dict[str, Any], count: int) -> None:
    """Labels are read in one place, with the reference's precedence."""
    model = ps.from_config({**SMALL, **labels}, "BertForSequenceClassification", strict=True)
    assert model.sizes[N] == count
    assert model.shapes()["classifier.weight"] == (count, 8)
    assert N not in ps.from_config({**SMALL, **labels}, "BertForMaskedLM").sizes


def test_letters_with_one_value() -> None:
    """Sizes that coincide stay apart in the formula."""
    config = {**SMALL, "hidden_size": 2, "num_hidden_layers": 2, "vocab_size": 2, "max_position_embeddings": 2, "intermediate_size": 2}
    model = ps.from_config(config)
    assert model.formula == ps.models.Bert().params
    assert model.count == int(model.formula.xreplace(dict.fromkeys((V, H, L, A, F, P, T), 2)))


def test_structure_from_sizes() -> None:
    """Where a size decides about structure, the formula is the one for these sizes."""
    assert ps.from_config({"model_type": "gpt2"}).formula == ps.models.Gpt2().params
    assert F in ps.from_config({"model_type": "gpt2", "n_inner": 4 * 768}).sizes
    assert ps.from_config({"model_type": "gpt2", "n_inner": 4 * 768}).count == 124_439_808
    plain = ps.from_config({"model_type": "vit"})
    assert plain.formula == ps.models.Vit().params
    assert ps.from_config({"model_type": "vit", "pooler_output_size": 768}).formula == plain.formula
    assert ps.from_config({"model_type": "vit", "pooler_output_size": 9}).formula != plain.formula
    rounded = ps.from_config({"model_type": "vit", "image_size": 225, "hidden_size": 770, "intermediate_size": 9})
    assert rounded.formula.has(floor)
    assert rounded.shapes()["layers.0.attention.q_proj.weight"] == (768, 770)
    assert rounded.shapes()["embeddings.position_embeddings"] == (1, 197, 770)
    none = ps.from_config({"model_type": "vit", "num_labels": 0}, "ViTForImageClassification")
    assert "classifier.weight" not in none.shapes()


def test_other_spelling() -> None:
    """GPT-2's keys have a common spelling, which the reference lets win."""
    assert ps.from_config({"model_type": "gpt2", "hidden_size": 12, "n_embd": 24}).sizes[H] == 12


def test_a_default_is_taken_before_other_spellings() -> None:
    """T5's decoder is as deep as num_layers, and in the reference that is read before the common spelling overrules it."""
    names = ps.from_config({"model_type": "t5", "num_hidden_layers": 2}).shapes()
    deep = {stack: len({name.split(".")[2] for name in names if name.startswith(f"{stack}.block.")}) for stack in ("encoder", "decoder")}
    assert deep == {"encoder": 2, "decoder": 6}


@pytest.mark.parametrize(
    ("keys", "names"),  # as transformers 5.23 builds T5Model of these keys
    [
        ({"feed_forward_proj": "relu", "is_gated_act": True}, {"wi_0", "wi_1", "wo"}),
        ({"feed_forward_proj": "gated-gelu", "is_gated_act": False}, {"wi", "wo"}),
        ({"feed_forward_proj": "gated-gelu", "is_gated_act": True, "dense_act_fn": "gelu_new"}, {"wi_0", "wi_1", "wo"}),
        ({"feed_forward_proj": "relu", "dense_act_fn": "prelu"}, {"wi", "wo", "act"}),
        ({"is_gated_act": False}, {"wi", "wo"}),
    ],
)
def test_what_is_worked_out_may_be_given(keys: dict[str, Any], names: set[str]) -> None:
    """T5 works the gate out of feed_forward_proj, and the reference then sets it as the file has it."""
    found = ps.from_config({"model_type": "t5", **keys}).shapes()
    assert {name.split(".")[6] for name in found if name.startswith("encoder.block.0.layer.1.Dense")} == names


def test_stages_are_counted_once() -> None:
    """Swin's number of stages is that of its depths; a decoder made for another could not be applied."""
    config = {"model_type": "swin", "architectures": ["SwinForMaskedImageModeling"]}
    assert ps.from_config({**config, "num_layers": 4}).count == ps.from_config(config).count == 29_881_818
    for key in ("num_layers", "num_hidden_layers"):
        refused({**config, key: 3}, "num_layers is 3, and depths has 4 entries; the decoder would not fit the last stage.")
    assert ps.from_config({**config, "num_layers": 3, "architectures": ["SwinModel"]}).count > 0


def test_depth_costs_nothing() -> None:
    """A configuration with very many layers is counted at once."""
    model = ps.from_config({**SMALL, "num_hidden_layers": 10**9})
    assert model.count == int(model.formula.xreplace(model.sizes))
    assert ps.from_config({**SMALL, "num_hidden_layers": 0}).count > 0


# What is not known ------------------------------------------------------------------------------------------------------------


def test_unknown_keys() -> None:
    """A key nobody here knows is warned about where the user stands, and refused when asked to be strict."""
    with pytest.warns(ParamsymWarning, match=r"keys that bert does not know were not taken into account: abacus, 'a\\xe9 b'\.$") as caught:
        ps.from_config({**SMALL, "abacus": 1, "aé b": 2})
    assert caught[0].filename == __file__
    refused({**SMALL, "abacus": 1}, "bert does not know these config keys: abacus.", strict=True)
    refused({**SMALL, **{f"k{i}": i for i in range(99)}}, "k11, ... (99 in all).", strict=True)


@pytest.mark.parametrize(
    "odd", [{"position_embedding_type": "relative_key"}, {"is_encoder_decoder": True}, {"pruned_heads": {"0": [1]}}, {"embedding_size": 3}]
)
def test_keys_that_could_matter(odd: dict[str, Any]) -> None:
    """A key that changes nothing at its usual value is not passed over at another."""
    refused({**SMALL, **odd}, f"does not know these config keys: {next(iter(odd))}", strict=True)
    with pytest.warns(ParamsymWarning):
        ps.from_config({**SMALL, **odd})


def test_layers_of_their_own() -> None:
    """Sizes layer by layer would change the count, so they are refused, strict or not."""
    refused({**SMALL, "per_layer_config": {"0": {"intermediate_size": 7}}}, "per_layer_config")


def test_a_slip_in_a_key() -> None:
    """A key that nobody knows is named together with the one it may be a slip for."""
    refused({**SMALL, "hiden_size": 3}, "does not know these config keys: hiden_size (did you mean hidden_size?).", strict=True)
    refused({**SMALL, "abacus": 3}, "does not know these config keys: abacus.", strict=True)
    with pytest.warns(ParamsymWarning, match=r"num_hidden_layer \(did you mean num_hidden_layers\?\)"):
        ps.from_config({**SMALL, "num_hidden_layer": 3})


@pytest.mark.parametrize(
    ("config", "now"),
    [
        ({"model_type": "t5", "architectures": ["T5WithLMHeadModel"]}, "T5ForConditionalGeneration"),
        ({"architectures": ["MPTForCausalLM"]}, "MptForCausalLM"),
        ({"model_type": "llama", "architectures": ["LLaMAForCausalLM"]}, "LlamaForCausalLM"),
        ({"model_type": "falcon", "architectures": ["RWForCausalLM"]}, "FalconForCausalLM"),
        ({"model_type": "gpt_bigcode", "architectures": ["GPTBigCodeLMHeadModel"]}, "GPTBigCodeForCausalLM"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_former_names(config: dict[str, Any], now: str) -> None:
    """Files of earlier releases and of the authors' own code name classes that are called otherwise today."""
    model = ps.from_config(config, strict=True)
    assert model == ps.from_config({key: value for key, value in config.items() if key == "model_type"} or {"architectures": [now]}, now)
    assert now in repr(model)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_type": "brt"}, "did you mean bert or bart or mbart?"),
        (
            {"model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"]},
            "to read the configuration so, set model_type to 'deepseek_v3'.",
        ),
        ({"model_type": "RefinedWebModel", "architectures": ["RWForCausalLM"]}, "'RWForCausalLM' is a class of falcon;"),
        (
            {"model_type": "mylava", "text_config": {"model_type": "llama"}, "vision_config": {"model_type": "clip_vision_model"}},
            "model_type 'mylava' is not known; its text_config has the known model_type llama: pass the value of text_config.",
        ),
        ({"text_config": {"model_type": "gemma3_text"}}, "no model_type; its text_config has the known model_type gemma3_text"),
        (
            {"model_type": "bert", "architectures": ["TFBertModel"]},
            "is BertModel of another framework; the library reads its PyTorch names: pass",
        ),
        ({"model_type": "bert", "architectures": ["FlaxBertForMaskedLM"]}, "pass architecture='BertForMaskedLM'."),
    ],
    ids=str,
)
def test_what_to_pass_instead(config: dict[str, Any], words: str) -> None:
    """Where what was meant can be told, the message says what to pass."""
    refused(config, words)


def test_one_tower() -> None:
    """The class of one tower reads the tower's own configuration out of that of both."""
    tower = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    whole = {"model_type": "clip", "architectures": ["CLIPModel"], "text_config": tower, "projection_dim": 8}
    alone = ps.from_config({"model_type": "clip_text_model", **tower}, "CLIPTextModelWithProjection")
    assert ps.from_config(whole, "CLIPTextModelWithProjection", strict=True) == alone
    assert ps.from_config(whole, "CLIPVisionModel", strict=True) == ps.from_config({"model_type": "clip_vision_model"})
    refused({**whole, "text_config": 3}, "text_config is 3 (int); wanted an object of keys.", architecture="CLIPTextModel")


def test_a_tower_under_two_keys() -> None:
    """As in the reference, what early files call text_config_dict goes before text_config, its defaults included; null does not."""
    one, other = {"hidden_size": 64}, {"hidden_size": 128, "num_hidden_layers": 1}
    read = ps.from_config({"model_type": "clip", "text_config": other, "text_config_dict": one, "vision_config_dict": None}, strict=True)
    assert read == ps.from_config({"model_type": "clip", "text_config": one})
    refused({"model_type": "clip", "text_config_dict": {"abacus": 1}}, "config keys: text_config_dict.abacus", strict=True)


def test_unknown_family_and_class() -> None:
    """The message has the nearest names or three ways on, and no list of everything."""
    refused({"model_type": "abacus"}, "model_type 'abacus' is not known; `paramsym families` lists what is known; the config.json")
    refused({"model_type": "berd"}, "model_type 'berd' is not known; did you mean bert")
    refused({"model_type": 3}, "model_type is 3 (int); wanted a string such as 'bert'.")
    refused({"model_type": "é" * 500}, "is not known; `paramsym families` lists")
    refused(SMALL, "architecture 'GPT2Model' is not one of bert's, which are BertModel,", architecture="GPT2Model")
    refused({**SMALL, "architectures": ["MyBert"]}, "architecture 'MyBert' is not one of bert's")
    refused({**SMALL, "architectures": [7]}, "architecture 7 (int) is not one of bert's")
    refused({**SMALL, "architectures": "BertModel"}, "architectures is 'BertModel' (str); wanted a list of class names.")


# What is wrong ----------------------------------------------------------------------------------------------------------------


WRONG = (0, -1, 1.5, 768.0, float("nan"), float("inf"), True, "768", None, [768], {}, 2**63, 10**5000)


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_wrong_sizes(wrong: Any) -> None:
    """Nothing but a whole number in range is a size; nothing is rounded or read."""
    refused({**SMALL, "hidden_size": wrong}, "hidden_size is ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hidden_size": 786, "num_attention_heads": 12}, "hidden_size 786 is not divisible by num_attention_heads 12 (786 = 65*12 + 6)."),
        ({"is_decoder": 1}, "is_decoder is 1 (int); wanted true or false."),
        ({"tie_word_embeddings": None}, "tie_word_embeddings is null; wanted true or false."),
        ({"hidden_act": "gulu"}, "hidden_act is 'gulu', which is not an activation"),
        ({"hidden_act": 3}, "hidden_act is 3 (int); wanted a string."),
        ({"add_cross_attention": True}, "needs is_decoder=True"),
        ({"num_labels": -1}, "num_labels is -1"),
        ({"id2label": ["a"]}, "id2label is ['a'] (list); wanted an object from numbers to labels."),
        ({"id2label": {"a": 1}}, "id2label has the key 'a' (str); wanted whole numbers."),
        ({"id2label": {None: 1}}, "id2label has the key null"),
        ({"id2label": {"9" * 5000: 1}}, "id2label has the key"),
        ({"num_labels": 0, "architectures": ["BertForTokenClassification"]}, "num_labels"),
        ({3: 4}, "the configuration has the key 3 (int); keys are strings."),
    ],
)
def test_wrong_values(change: dict[Any, Any], words: str) -> None:
    """Each wrong value is one error that names the key."""
    refused({**SMALL, "architectures": ["BertForSequenceClassification"], **change}, words)


def test_wrong_vit() -> None:
    """Pairs and patches are checked, too."""
    refused({"model_type": "vit", "image_size": [1, 2, 3]}, "image_size has 3 entries; wanted a whole number or two of them")
    refused({"model_type": "vit", "image_size": 8}, "image_size 8 is less than patch_size 16.")
    refused({"model_type": "vit", "num_attention_heads": 1000}, "hidden_size 768 is not divisible by num_attention_heads 1000")


# Files from strangers ---------------------------------------------------------------------------------------------------------


def written(directory: Path, content: bytes) -> Path:
    """Write a config.json."""
    (directory / "config.json").write_bytes(content)
    return directory / "config.json"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not JSON: line 1, column 1"),
        (b"{", "is not JSON"),
        (b"[1]", "[1] (list); wanted one JSON object."),
        (b"null", "null; wanted one JSON object."),
        (b'{"model_type": "bert", "model_type": "vit"}', "the key 'model_type' occurs twice."),
        (b'{"model_type": "bert", "id2label": {"0": 1, "0": 2}}', "the key '0' occurs twice."),
        (b'{"model_type": "b\xff"}', "is not UTF-8: byte 17"),
        (b'{"model_type": "bert", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"model_type": "bert", "vocab_size": 1' + b"0" * 5000 + b"}", "a number with too many digits"),
        (b'{"model_type": "bert", "vocab_size": NaN}', "vocab_size is nan (float)"),
        (b'{"model_type": "bert", "vocab_size": 1e999}', "vocab_size is inf (float)"),
        (b'{"a": "' + b"x" * (16 * 2**20) + b'"}', "has more than 16 MiB"),
    ],
    ids=["empty", "open", "list", "null", "twice", "twice-inside", "bytes", "deep", "digits", "nan", "inf", "long"],
)
def test_bad_files(tmp_path: Path, content: bytes, words: str) -> None:
    """Whatever a file holds, what is wrong with it is one clear error."""
    refused(written(tmp_path, content), words)


def test_good_files(tmp_path: Path) -> None:
    """A byte order mark, and numbers that are no JSON in keys that do not matter, are read as the reference reads them."""
    assert ps.from_config(written(tmp_path, b'\xef\xbb\xbf{"model_type": "bert", "initializer_range": Infinity}')).count == 109_482_240


class Printed:
    """A configuration object, as transformers has them: it prints on many lines, and knows its dictionary."""

    def __repr__(self) -> str:
        return "Printed(\n  with lines\n)"

    def to_dict(self) -> dict[str, Any]:
        """Return what is in it."""
        return {"model_type": "bert"}


def test_no_file(tmp_path: Path) -> None:
    """A path to nothing, a directory without a configuration, a path that no system takes."""
    refused(tmp_path / "none", "there is no file or directory ")
    refused(tmp_path, "no config.json")
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_text("{}")
    refused(tmp_path / "adapter", "ps.match(layer, path, rename='auto')")
    refused("bert-base-uncased", "'bert-base-uncased'. Nothing is downloaded; ps.load('bert-base-uncased')")
    refused("a\0b", "'a\\x00b'")
    refused("x" * 10_000, "")
    refused(b"config.json", "a configuration is a dictionary or a path, not b'config.json' (bytes).")
    refused(None, "a configuration is a dictionary or a path, not None (NoneType).")
    refused(Printed(), "not Printed( with lines ) (Printed). Write what its to_dict() returns.")
    refused(7, "not 7 (int).")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with named pipes")
def test_pipe(tmp_path: Path) -> None:
    """A pipe, which might never end, is not a file."""
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "there is no file or directory")


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that vanishes or fails while it is read says so."""
    path = written(tmp_path, b"{}")

    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "open", fail)
    refused(path, "cannot be read: OSError.")


# Ten thousand ways to be wrong ------------------------------------------------------------------------------------------------

KEYS = sorted(
    {
        "model_type",
        "architectures",
        "num_labels",
        "id2label",
        "per_layer_config",
        "abacus",
        *(key for model_type in model_types() for key in (*family_of(model_type).keys, *family_of(model_type).aliases)),
    }
)
NUMBERS = st.integers(-5, 70) | st.integers(-(2**70), 2**70) | st.just(10**1000) | st.floats() | st.booleans()
JUNK = st.recursive(
    st.none() | NUMBERS | st.text(max_size=9) | st.sampled_from(["gelu", "prelu", "BertModel", "GPT2DoubleHeadsModel", "attn"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
BASES = [
    {**row["config"], "architectures": [row["model_class"]]} for row in rows("hf_random") if row["config"]["model_type"] in model_types()
]


def outcome(source: Any) -> Layer | str:
    """Return the model, or the one error's words; any other error is the test's failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ParamsymWarning)
        try:
            return ps.from_config(source)
        except ConfigError as error:
            words = str(error)
    assert 0 < len(words) < 1500
    return words


@settings(max_examples=tries(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    base=st.sampled_from(BASES),
    changes=st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=6), JUNK, max_size=4),
    removed=st.sets(st.sampled_from(KEYS), max_size=3),
)
def test_mutated(base: dict[str, Any], changes: dict[str, Any], removed: set[str]) -> None:
    """A mutated configuration gives a model with a whole count, or one error of this library."""
    config = {key: value for key, value in {**base, **changes}.items() if key not in removed}
    model = outcome(config)
    if isinstance(model, Layer):
        assert model.count > 0
        assert not model.params.free_symbols


@settings(max_examples=tries(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=st.sampled_from(BASES), cut=st.integers(0, 400), junk=st.binary(max_size=6))
def test_mutated_bytes(tmp_path: Path, base: dict[str, Any], cut: int, junk: bytes) -> None:
    """A file with foreign bytes in it gives a model or one error."""
    content = json.dumps(base).encode()
    path = written(tmp_path, content[:cut] + junk + content[cut + len(junk) :])
    model = outcome(path)
    assert not isinstance(model, Layer) or model.count > 0


@pytest.mark.parametrize(
    ("model_type", "encoder", "deeper"),
    [("t5", 41_625_344, 29_037_824), ("mt5", 153_236_160, 137_499_840), ("umt5", 153_237_504, 137_500_224)],
)
def test_an_encoder_of_t5_that_is_a_decoder(model_type: str, encoder: int, deeper: int) -> None:
    """With is_decoder the reference stores cross attentions in the encoder (counts of transformers 5.23); T5 itself sets the key."""
    named, said = model_type.upper(), {"model_type": model_type, "is_decoder": True}
    assert ps.from_config(said, f"{named}EncoderModel").count == encoder
    assert ps.from_config(said, f"{named}ForTokenClassification").count == encoder + 2 * 512 + 2
    assert ps.from_config(said | {"num_layers": 3, "num_decoder_layers": 5}, f"{named}EncoderModel").count == deeper
    plain = {"model_type": model_type}
    assert ps.from_config(said, f"{named}Model").count == ps.from_config(plain, f"{named}Model").count
    assert ps.from_config(plain | {"is_decoder": False}, f"{named}EncoderModel").count < encoder


def test_whole_numbers_of_other_kinds() -> None:
    """NumPy's and SymPy's whole numbers are taken as ints, in lists and inner objects, too; truth values and fractions are not."""
    numpy = pytest.importorskip("numpy")
    for kind in (numpy.int8, numpy.int64, numpy.uint16, numpy.asarray, Integer):
        assert ps.from_config({"model_type": "bert", "num_hidden_layers": kind(2)}) == ps.from_config(
            {"model_type": "bert", "num_hidden_layers": 2}
        )
        depths = [kind(2), kind(2), kind(6), kind(2)]
        assert ps.from_config({"model_type": "swin", "depths": depths}).count == ps.from_config({"model_type": "swin"}).count
        inner = {"model_type": "clip", "text_config": {"num_hidden_layers": kind(3)}}
        assert ps.from_config(inner).count == ps.from_config({"model_type": "clip", "text_config": {"num_hidden_layers": 3}}).count
        assert ps.from_config({"model_type": "led", "encoder_layers": kind(12)}).count == ps.from_config({"model_type": "led"}).count
    for wrong in (numpy.float32(2.0), numpy.asarray([2]), numpy.bool_(True)):
        with pytest.raises(ConfigError, match="num_hidden_layers"):
            ps.from_config({"model_type": "bert", "num_hidden_layers": wrong})


def test_values_are_told_as_they_are() -> None:
    """Not a number is no word, and of two lists of one length the first different entry is told."""
    with pytest.raises(ConfigError, match=r"d_model is nan \(float\)"):
        ps.from_config({"model_type": "led", "d_model": float("nan")})
    assert _difference([1, [2, 3]], [1, [2, 4]]) == ("[1][1]", 3, 4)
    assert _difference([1], [1, 2]) == ("", [1], [1, 2])
