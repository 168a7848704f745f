"""The registry of families, and how configuration keys are read."""

from __future__ import annotations

import pytest
from oracles.families import NEEDED
from sympy import Symbol

import paramsym as ps
from paramsym import models
from paramsym.atlas.common_keys import COMMON, USUAL
from paramsym.atlas.values import LARGEST, shown, whole
from paramsym.core.layer import Layer
from paramsym.errors import ConfigError
from paramsym.models.key_kinds import Flag, Listed, Pair, Size, Sizes, Word

FIRST, SECOND, BOTH = Symbol("first"), Symbol("second"), Symbol("both")


def test_every_class_loads() -> None:
    """Each line of the table names a class of its file, and nothing else is there."""
    for home, (classes, _) in models.FAMILIES.items():
        for name in classes.split():
            found = getattr(models, name)
            assert issubclass(found, Layer)
            assert found.__module__ == f"paramsym.models.{home}"
            assert name in dir(models)
    with pytest.raises(AttributeError, match="no attribute 'Abacus'"):
        models.Abacus  # noqa: B018 - looking it up raises
    assert ps.models is models


@pytest.mark.parametrize("model_type", models.model_types())
def test_family(model_type: str) -> None:
    """A family's keys become arguments of its model, and no key is both handled and ignored."""
    family = models.family_of(model_type)
    assert family.model_type == model_type
    if family.arrange is None:
        assert set(family.keys) <= set(family.model.__dataclass_fields__)
    assert family.labelled <= set(family.architectures)
    assert not {name for names in family.ignored.values() for name in names.split()} & set(family.keys)
    common = {name for names in COMMON.values() for name in names.split()}
    # They count positions in RoBERTa, say where a text ends for CLIP, and begin a target made of the source; elsewhere they change nothing.
    assert common & set(family.keys) <= {"pad_token_id", "eos_token_id", "decoder_start_token_id"}
    assert not set(family.aliases) & set(family.keys)
    for architecture in family.architectures:
        assert family.model(architecture=architecture).params
        # What a family reads and rearranges ends in arguments of its model, or this would raise.
        assert isinstance(ps.from_config({"model_type": model_type, **NEEDED.get(architecture, {})}, architecture), family.model)


@pytest.mark.parametrize("model_type", models.model_types())
def test_defaults_are_the_references(model_type: str) -> None:
    """A missing key has the value that the reference's configuration class gives it, so that no keys and all of them mean one model."""
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(model_type).to_dict()
    family = models.family_of(model_type)
    assert list(family.unknown(config)) == []
    for architecture in family.architectures:
        needed = NEEDED.get(architecture, {})
        model = ps.from_config({"model_type": model_type, **needed}, architecture)
        if needed:
            config |= transformers.AutoConfig.for_model(model_type, **needed).to_dict()
        assert model.shapes() == ps.from_config(config, architecture, strict=True).shapes()


def test_usual_values() -> None:
    """A key that changes nothing at its usual value is known there only."""
    bert, vit = models.family_of("bert"), models.family_of("vit")
    assert bert.knows("position_embedding_type", "absolute")
    assert not bert.knows("position_embedding_type", "relative_key")
    assert vit.knows("is_decoder", value=False)
    assert not vit.knows("is_decoder", value=True)
    assert not vit.knows("is_decoder", 0)
    assert vit.knows("pruned_heads", {})
    assert not vit.knows("pruned_heads", {"1": [0]})
    assert set(USUAL).isdisjoint(name for names in COMMON.values() for name in names.split())


def test_size() -> None:
    """A size becomes its letter, and the number goes with the sizes."""
    sizes: Sizes = {}
    assert Size(FIRST, 3).read(5, "x", sizes) == FIRST
    assert sizes == {FIRST: 5}
    assert Size(SECOND, 3).missing(sizes) == SECOND
    assert sizes == {FIRST: 5, SECOND: 3}
    assert Size(BOTH, None).missing(sizes) is None
    assert Size(BOTH, None).read(None, "x", sizes) is None
    with pytest.raises(ConfigError, match=r"x is null; wanted a positive whole number\."):
        Size(FIRST, 3).read(None, "x", sizes)


def test_pair() -> None:
    """One size for both directions, or one for each."""
    pair, sizes = Pair(BOTH, (FIRST, SECOND), 7), {}
    assert pair.missing(sizes) == BOTH
    assert pair.read([1, 2], "x", sizes) == (FIRST, SECOND)
    assert sizes == {BOTH: 7, FIRST: 1, SECOND: 2}
    for wrong, words in (
        ([1], "1 entries"),
        ([1, 2, 3], "3 entries"),
        ([1, 0], r"x\[1\] is 0"),
        ("12", "x is '12'"),
        ([1.0, 2], r"x\[0\] is 1\.0"),
    ):
        with pytest.raises(ConfigError, match=words):
            pair.read(wrong, "x", sizes)


def test_listed() -> None:
    """Numbers or words that are no sizes; a list of moderate length."""
    assert Listed(int, (1, 2)).missing({}) == Listed(int, (1, 2)).read(None, "x", {}) == (1, 2)
    assert Listed(str).missing({}) is None
    assert Listed(int).read([3, -1], "x", {}) == (3, -1)
    for wrong in ("stem", ["stem", 1], [1], {}, ["stem"] * 1001):
        with pytest.raises(ConfigError, match="wanted a list of words"):
            Listed(str).read(wrong, "x", {})
    for wrong in (1, [1.0], [True], ["1"]):
        with pytest.raises(ConfigError, match="wanted a list of whole numbers"):
            Listed(int).read(wrong, "x", {})


def test_flag_and_word() -> None:
    """A flag is true or false, a word a string; nothing is guessed."""
    assert Flag(default=True).missing({}) is True
    assert Flag(default=True).read(False, "x", {}) is False
    assert Word("a").missing({}) == "a"
    assert Word(None).read(None, "x", {}) is None
    for wrong in (0, 1, "true", None, [True]):
        with pytest.raises(ConfigError, match="wanted true or false"):
            Flag(default=True).read(wrong, "x", {})
    for wrong in (1, None, ["gelu"]):
        with pytest.raises(ConfigError, match="wanted a string"):
            Word("a").read(wrong, "x", {})


def test_whole() -> None:
    """Whole numbers within what any framework can hold."""
    assert whole(0, "x", 0) == 0
    assert whole(LARGEST, "x", 1) == LARGEST
    with pytest.raises(ConfigError, match=r"below 2\*\*63"):
        whole(LARGEST + 1, "x", 1)
    with pytest.raises(ConfigError, match="zero or more"):
        whole(-1, "x", 0)
    for wrong in (0, -5, 1.0, float("nan"), float("inf"), True, "1", None, [1], {}):
        with pytest.raises(ConfigError, match="wanted a positive whole number"):
            whole(wrong, "x", 1)


def test_shown() -> None:
    """A stranger's value is short in a message, whatever it holds."""
    assert shown(None) == "null"
    assert shown(value=True) == "true"
    assert shown("x" * 500).endswith("... (str)")
    assert shown(10**5000).startswith("an int of about")
    assert shown(list(range(100))) == "a list of 100 entries"
    assert shown([10**5000]) == "a list"
