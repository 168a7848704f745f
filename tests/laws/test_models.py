"""The laws again, for models that differ, or every model there is, with its default letters and its published sizes."""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Iterator

import pytest
from amount import cases
from strategies import DISTINCT, distinct_models, model_classes, names
from sympy import Integer, Symbol

import paramsym as ps
from paramsym.algebra.polynomial import Polynomial
from paramsym.errors import ParamsymError
from paramsym.models import family_of, model_types

every_model = pytest.mark.parametrize("cls", distinct_models(), ids=lambda cls: cls.__name__)


@every_model
def test_a_model_is_a_value(cls: type[ps.Layer]) -> None:
    """Without arguments it stands in the shared letters; it reads back from its repr and from a pickle."""
    model = cls()
    for twin in (eval(repr(model), names(model)), pickle.loads(pickle.dumps(model)), cls()):
        assert twin == model
        assert hash(twin) == hash(model)
        assert twin.params == model.params


@cases(6)
@every_model
def test_an_impossible_size_is_named(cls: type[ps.Layer]) -> None:
    """Whatever sizes contradict each other, the error names the arguments: those of the model, or of the part that it names."""
    model = cls()
    known = {field for layer in _inside(model) for field in type(layer).__dataclass_fields__}  # type: ignore[attr-defined]
    draw = random.Random(11)
    for _ in range(10):
        try:
            model.at({symbol: draw.choice((1, 2, 3, 4, 6, 8, 10, 12, 24, 32)) for symbol in sorted(model.symbols, key=str)})
        except ParamsymError as error:
            assert known & set(re.findall(r"\w+", str(error))), error  # noqa: PT017 - a refusal is no failure


def _inside(layer: ps.Layer) -> Iterator[ps.Layer]:
    yield layer
    for part in layer.own_parts:
        yield from _inside(part.layer)


@every_model
def test_views_agree(cls: type[ps.Layer]) -> None:
    """Ledger, table and count have one sum; the letters mean nothing."""
    model = cls()
    assert model.ledger().stored == model.params == model.table(1).footer[1]
    renaming = {symbol: Symbol(f"{symbol.name}_z", integer=True, positive=True) for symbol in model.symbols}
    assert Polynomial.of(model.params.xreplace(renaming)) == Polynomial.of(model.at(renaming).params)
    assert model.freeze().trainable == 0


@every_model
def test_repeating_multiplies_and_a_sequence_adds(cls: type[ps.Layer]) -> None:
    """So do whole models; ties inside are kept under the names that the composition gives."""
    model = cls()
    depth = Symbol("depth", integer=True, positive=True)
    assert ps.Repeat(model, 3).params == (3 * model.params).expand()
    assert ps.Repeat(model, depth).params == (depth * model.params).expand()
    both = ps.Sequential(model, ps.Dense(5, 7))
    assert both.params == (model.params + 42).expand()
    assert both.tied == {f"0.{alias}": f"0.{first}" for alias, first in model.tied.items()}


@every_model
def test_tying_subtracts(cls: type[ps.Layer]) -> None:
    """Of two equal models whose tensors are all tied, one counts."""
    model = cls()
    names = [line.name for line in model.lines if not line.buffer and not line.alias_of]
    tied = ps.Tied(ps.Block(a=model, b=model), {f"b.{name}": f"a.{name}" for name in dict.fromkeys(names)})
    assert tied.params == model.params


def test_every_family_is_here() -> None:
    """What a configuration can name is public, and so meets these laws."""
    assert {family_of(model_type).model for model_type in model_types()} <= set(model_classes())
    assert {cls.__name__ for cls in model_classes()} >= DISTINCT


PUBLISHED = [pytest.param(cls, size, id=f"{cls.__name__}-{size}") for cls in model_classes() for size in list(cls.published)[:2]]


@pytest.mark.parametrize(("cls", "size"), PUBLISHED)
def test_published_sizes_commute_with_counting(cls: type[ps.Layer], size: str) -> None:
    """Counting first or putting sizes in first gives one number, and the tensors written out add up to it."""
    try:
        model = cls().at(size)
    except ps.errors.StructureError:
        return  # it is built with arguments of its own, as the error says
    model = model.at(dict.fromkeys(model.symbols, 8))  # what the publication leaves open
    values = {symbol: Integer(value) for symbol, value in model.sizes.items()}
    assert model.formula.xreplace(values) == model.params
    total = 0
    for shape in model.shapes().values():
        entries = 1
        for extent in shape:
            entries *= extent
        total += entries
    assert total == model.count
