"""What a family declares in its fields: keys, the classes that have them, conditions between sizes, the reference's defaults."""

from __future__ import annotations

from dataclasses import fields

import pytest
from sympy import Rational, symbols

import paramsym as ps
from paramsym.atlas.published import published_in
from paramsym.errors import ArgumentError, DivisibilityError, SizeError
from paramsym.models import family_of, model_types
from paramsym.models.key_kinds import Fixed, Flag, Function, Key, Limit, Names, Real, Several, Size, Whole, Words
from paramsym.models.model import Model, classes, family, key

DECLARED = sorted({reader.model for reader in map(family_of, model_types())}, key=lambda model: model.__name__)


@pytest.mark.parametrize("model", DECLARED, ids=lambda model: model.__name__)
def test_every_family_declares_its_classes_and_keys(model: type[Model]) -> None:
    """The first class is the default, and every key is a field or one that is said to become arguments."""
    assert issubclass(model, Model)
    names = [name for group in model.prefixes().values() for name in group]
    assert model().architecture == names[0]
    assert len(names) == len(set(names))
    declared = {one.name for one in fields(model) if "key" in one.metadata}  # type: ignore[arg-type]
    for reader in map(family_of, model_types()):
        if reader.model is model:
            assert set(reader.architectures) <= set(names)
            assert declared.intersection(reader.keys), "a type reads keys that fields declare"


def test_a_key_of_other_classes_is_refused() -> None:
    """At its default it is no argument; at another value the class has no such key."""
    assert ps.models.Llama(architecture="MistralModel", mlp_bias=False).kind == "Mistral"
    with pytest.raises(ArgumentError, match="MistralModel has no mlp_bias"):
        ps.models.Llama(architecture="MistralModel", mlp_bias=True)
    with pytest.raises(ArgumentError, match="LlamaModel has no sliding_window"):
        ps.models.Llama(sliding_window=8)
    with pytest.raises(ArgumentError, match="StableLmModel has no head_dim"):
        ps.models.StableLm(head_dim=4)


def test_an_unknown_class_is_named_with_the_known_ones() -> None:
    """A class of a relative is unknown, too."""
    with pytest.raises(ArgumentError, match="'Qwen9Model'; wanted one of 'LlamaModel', 'LlamaForCausalLM'"):
        ps.models.Llama(architecture="Qwen9Model")


def test_conditions_between_sizes_are_declared() -> None:
    """Heads divide the hidden size; a token uses no more experts than there are."""
    with pytest.raises(DivisibilityError, match="num_attention_heads"):
        ps.models.Bert(hidden_size=10, num_attention_heads=4)
    with pytest.raises(SizeError, match="num_experts_per_tok"):
        ps.models.Mixtral(num_local_experts=2, num_experts_per_tok=3)


def test_a_key_makes_a_field() -> None:
    """The constructor's default is the letter, what the key holds by default, or what is given."""
    letter = symbols("q", integer=True, positive=True)
    size = key(letter, 7, least=2)
    assert (size.default, size.metadata["key"]) == (letter, Size(letter, 7, 2))
    assert key(Flag(default=True)).default is True
    assert key(letter, None, argument=None).default is None
    assert classes({"A B": "Model ForX"}).metadata["classes"] == {"A": ("AModel", "AForX"), "B": ("BModel", "BForX")}


def test_a_default_by_its_letter() -> None:
    """A family may give the default of a size by the letter, and the common names of its sizes follow from its fields."""
    by_letter, by_name = (
        family("x", ps.models.Llama, "Llama", given) for given in ({"H": 64, "G": 2}, {"hidden_size": 64, "num_key_value_heads": 2})
    )
    assert by_letter.keys == by_name.keys
    assert family_of("mpt").aliases == {"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"}
    assert family_of("llama").aliases == {}


@pytest.mark.parametrize(
    ("how", "value", "wanted"),
    [
        (Size(symbols("q"), 3, null=True), None, None),
        (Whole(3), None, None),
        (Flag(default=True, null=True), None, False),
        (Real(0.5, null=True), None, None),
        (Words(), None, ()),
        (Words(), "A|b ", ("a", "b")),
        (Limit(symbols("q")), -1, None),
        (Names(frozenset({"x"})), ["x"], ("x",)),
        (Function("relu"), "gelu", "gelu"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Key) else repr(one),
)
def test_null_and_words(how: Key, value: object, wanted: object) -> None:
    """What a key makes of null, and of the words it knows."""
    assert how.read(value, "x", {}) == wanted


@pytest.mark.parametrize(
    ("how", "value", "words"),
    [
        (Fixed(1, most=4), 5, "at most 4"),
        (Several("C", (1, 2)), [], "wanted a list of 1 to 64"),
        (Names(frozenset({"x"})), ["y"], "wanted"),
        (Names(frozenset({"x"})), "x", "wanted a list of words"),
        (Words(), [1], "wanted a list of strings"),
        (Real(0.5), None, "wanted a number"),
        (Flag(null=True), 1, "wanted true, false or null"),
    ],
)
def test_wrong_values(how: Key, value: object, words: str) -> None:
    """One error, with what was found and what was wanted."""
    with pytest.raises(ps.errors.ConfigError, match=words):
        how.read(value, "x", {})


def test_published_rows() -> None:
    """Whole numbers, tuples, flags, models inside, and several counts of one name."""
    sizes, claims = published_in("clip", text_config=ps.models.ClipText, vision_config=ps.models.ClipVision)
    tower = sizes["openai/clip-vit-base-patch32"]["vision_config"]
    assert (tower.patch_size, tower.hidden_size) == (32, 768)
    assert published_in("deberta_v2")[0]["microsoft/deberta-v3-base"]["pos_att_type"] == ("p2c", "c2p")
    assert published_in("deepseek")[0]["deepseek-ai/DeepSeek-V2-Lite"]["q_lora_rank"] is None
    assert len(sizes) == len(claims) == 5
    assert [claim.count for claim in published_in("gpt2")[1] if claim.name == "gpt2"][:2] == [124_439_808, 137_022_720]


def test_published_rows_of_networks() -> None:
    """Exact fractions, floats, tuples of tuples, words that begin with a digit, and the rows of one class."""
    sizes = published_in("vision.efficientnet")[0]
    assert sizes["efficientnet_b4"]["depth_mult"] == Rational(9, 5)
    assert sizes["efficientnet_b4"]["norm_eps"] == 1e-5
    assert sizes["efficientnet_v2_s"]["inverted_residual_setting"][3] == ("MBConv", 4, 3, 2, 64, 128, 6)
    assert published_in("vision.squeezenet")[0]["squeezenet1_0"]["version"] == "1_0"
    assert published_in("vision.vgg")[0]["vgg11"]["cfg"][2:] == ((256, 256), (512, 512), (512, 512))
    masks, claims = published_in("vision.rcnn", "MaskRCNN")
    assert [*masks] == [claim.name for claim in claims] == ["maskrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn_v2"]


def test_where_a_text_is_classified() -> None:
    """A text is classified at its last ``eos_token_id``; with several such tokens, or none, at its last position."""
    config = {"model_type": "bart", "vocab_size": 20}
    model = ps.from_config({**config, "eos_token_id": 7}, "BartForSequenceClassification")
    assert "equal 7" in str(ps.trace(model))
    for ends in ([7, 8], None):
        model = ps.from_config({**config, "eos_token_id": ends}, "BartForSequenceClassification")
        assert "equal" not in str(ps.trace(model))
    with pytest.raises(ps.errors.ConfigError, match="eos_token_id is 'x'"):
        ps.from_config({**config, "eos_token_id": "x"}, "BartForSequenceClassification")
