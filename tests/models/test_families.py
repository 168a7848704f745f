"""What holds for every family of models that a configuration may name: claims, published sizes, being a value, keys and their owners."""

from __future__ import annotations

import sys

import pytest
import sympy
from amount import cases
from oracles.families import NEEDED
from strategies import assert_value

import paramsym as ps
from paramsym.atlas.common_keys import CENTRAL, COMMON
from paramsym.atlas.published import Claim
from paramsym.models import FAMILIES, family_of, model_types
from paramsym.models.family import Family

READERS = [family_of(model_type) for model_type in model_types()]
MODELS = list(dict.fromkeys(reader.model for reader in READERS))
CLASSES = [(reader, architecture) for reader in READERS for architecture in reader.architectures]
CLAIMS = [(model, claim) for model in MODELS for claim in model.claims if claim.counts.isidentifier()]


def scope(model: type[ps.Layer]) -> dict[str, object]:
    """Return what stands in a repr: SymPy's functions, layers and letters, what the model's file defines, and the model's own letters."""
    names = {**vars(sympy), **{name: getattr(ps, name) for name in ps.__all__}, **vars(sys.modules[model.__module__])}
    return {**names, **{symbol.name: symbol for symbol in model().symbols}}


@cases(1000)
@pytest.mark.parametrize(("model", "claim"), CLAIMS, ids=[f"{claim.name}-{claim.counts}-{claim.count}" for _, claim in CLAIMS])
def test_claim(model: type[ps.Layer], claim: Claim) -> None:
    """Every published count that names a class is that class's count, up to what it says it adds; classifiers are ImageNet's."""
    built = model(**model.published[claim.name], architecture=claim.counts)
    assert (built.at(N=1000) if ps.N in built.symbols else built).count + claim.besides == claim.count


@cases(1000)
@pytest.mark.parametrize(("reader", "architecture"), CLASSES, ids=[architecture for _, architecture in CLASSES])
def test_class(reader: Family, architecture: str) -> None:
    """Each class has a closed form whose depth is a symbol, is written as it is built, and pickles."""
    model = reader.model(architecture=architecture)
    assert model.params.free_symbols
    assert_value(model)


@cases(1000)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.model_type)
def test_every_class_of_the_least_configuration(reader: Family) -> None:
    """The reference's defaults build every class, and the closed form gives the count."""
    for architecture in reader.architectures:
        model = ps.from_config({"model_type": reader.model_type, **NEEDED.get(architecture, {})}, architecture, strict=True)
        assert model.count > 0
        assert model.formula.xreplace(model.sizes).doit() == model.count


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.model_type)
def test_keys_have_one_owner(reader: Family) -> None:
    """No key is handled and ignored, or ignored twice: one of the two would be a slip."""
    ignored = [key for names in reader.ignored.values() for key in names.split()]
    assert len(set(ignored)) == len(ignored)
    common = {key for names in COMMON.values() for key in names.split()}
    handled = {*reader.keys, *reader.aliases}
    assert not handled & {*ignored, *reader.usual, *CENTRAL}
    assert not set(ignored) & {*reader.usual, *CENTRAL, *common}


def test_homes() -> None:
    """Every family's file is named by one row, and holds the model types it says."""
    for home, (_, types) in FAMILIES.items():
        for model_type in types.split():
            assert family_of(model_type).model.__module__ == f"paramsym.models.{home}"


@pytest.mark.parametrize(
    "model", [model for model in MODELS if "expert_storage" in model.__dataclass_fields__], ids=lambda one: one.__name__
)
def test_storage_of_experts_changes_no_count(model: type[ps.Layer]) -> None:
    """Stacked or separate: the same numbers are stored and used, and an expert has a bias in both or in neither."""
    stacked, separate = (model(expert_storage=storage) for storage in ("stacked", "separate"))
    assert stacked.params == separate.params
    assert stacked.active == separate.active
    assert {name.rpartition(".")[2] for name in separate.shapes(buffers=True)} >= {"weight"}
    assert not any(".experts." in line.name and line.name.endswith("bias") for line in separate.lines)
