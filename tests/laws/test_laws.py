"""Laws that every layer there is obeys, built itself or behind a Keras door; a new one meets them by existing."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import FrozenInstanceError, fields

import pytest
from amount import cases, few
from hypothesis import given, strategies as st
from strategies import Subject, layers, names, product, sized, storing_subjects, subjects
from sympy import Integer, Symbol, expand

import paramsym as ps
from paramsym.algebra.polynomial import Polynomial


def subject_id(subject: Subject) -> str:
    """Name a class as it is, and a door behind its room."""
    return subject.__name__ if isinstance(subject, type) else f"keras.{subject.__name__}"


every_layer = pytest.mark.parametrize("cls", subjects(), ids=subject_id)
every_storing_layer = pytest.mark.parametrize("cls", storing_subjects(), ids=subject_id)
ROLES = {
    "bias": r"(?<!correction_)bias(?!_table)|^beta$|^b[12]s$",
    "scale": r"^(gamma|alpha|scale|negative_slope|\S+original0)$",
    "statistic": r"mean$|variance$|_?var$|^num_batches_tracked$|^count$|_usage$|_correction_bias$",
    "table": r"^embeddings?$|_table$",
    "weight": r"kernel|_proj$|^weight_[ihc]|^A_log$|^D$",
}
"""The roles of tensors, and the names that have no other."""
some = few(5)


@every_storing_layer
@some
@given(data=st.data())
def test_repeating_multiplies(cls: Subject, data: st.DataObject) -> None:
    """Twelve blocks hold twelve times what one holds; so do a million, and so does a symbolic number."""
    layer = data.draw(layers(cls))
    depth = Symbol("depth", integer=True, positive=True)
    for number in (1, 12, 10**6, depth):
        assert ps.Repeat(layer, number).params == expand(number * layer.params)
        assert ps.Repeat(layer, number).active == expand(number * layer.active)
    assert ps.Repeat(layer, 0).params == 0


@every_layer
@some
@given(data=st.data())
def test_a_sequence_adds(cls: Subject, data: st.DataObject) -> None:
    """A sequence holds what its layers hold, in either order, under names of their own."""
    layer, other = data.draw(layers(cls)), ps.Dense(5, 7)
    both = ps.Sequential(layer, other)
    assert both.params == expand(layer.params + 42) == ps.Sequential(other, layer).params
    assert list(both.shapes(buffers=True)) == [f"0.{name}" for name in layer.shapes(buffers=True)] + ["1.weight", "1.bias"]
    assert both.tied == {f"0.{alias}": f"0.{first}" for alias, first in layer.tied.items()}


@every_storing_layer
@some
@given(data=st.data())
def test_tying_subtracts(cls: Subject, data: st.DataObject) -> None:
    """Of two equal layers whose tensors are all tied, one counts."""
    layer = data.draw(layers(cls))
    if type(layer).__name__ == "Tied":  # its own alias cannot be tied twice
        return
    layer = layer.at(dict.fromkeys(layer.open_letters, ps.dims("n")))  # two lazy layers have two widths, unless they are given one
    twice = ps.Block(a=layer, b=layer)
    tied = ps.Tied(twice, {f"b.{line.name}": f"a.{line.name}" for line in layer.lines if not line.buffer})
    assert tied.params == layer.params
    assert list(tied.shapes()) == [f"a.{name}" for name in layer.shapes()]
    assert set(tied.tied.values()) <= set(tied.shapes())


@every_storing_layer
@some
@given(data=st.data())
def test_counting_and_putting_sizes_in_commute(cls: Subject, data: st.DataObject) -> None:
    """Count, then put sizes in; or put sizes in, then count: the same number, an int."""
    layer = data.draw(layers(cls))
    sizes, numeric = data.draw(sized(layer))
    expected = layer.params.xreplace({symbol: Integer(value) for symbol, value in sizes.items()})
    assert numeric.params == expected
    assert isinstance(numeric.params, Integer)
    assert numeric.count == int(expected)
    assert numeric.formula == layer.params
    assert numeric.sizes == sizes
    assert not numeric.symbols


@every_storing_layer
@some
@given(data=st.data())
def test_a_role_is_what_the_name_says(cls: type[ps.Layer], data: st.DataObject) -> None:
    """Readers and answers go by the role of a tensor: there are five, and where the framework's name says one, it is that."""
    for line in data.draw(layers(cls)).lines:
        said = {role for role, name in ROLES.items() if re.search(name, getattr(line.path[-1], "pattern", line.path[-1]))}
        assert line.role in said if said else line.role in ROLES, line.name


@every_layer
@some
@given(data=st.data())
def test_a_layer_cannot_be_changed(cls: type[ps.Layer], data: st.DataObject) -> None:
    """A layer is a value: what hashes it and caches its count may rely on it."""
    layer = data.draw(layers(cls))
    for name in [field.name for field in fields(layer)] or ["anything"]:
        with pytest.raises(FrozenInstanceError):
            setattr(layer, name, 1)


@every_storing_layer
@some
@given(data=st.data())
def test_one_size_after_another_is_all_at_once(cls: Subject, data: st.DataObject) -> None:
    """``at`` in steps ends where ``at`` in one step ends, by name as by symbol."""
    layer = data.draw(layers(cls))
    sizes, numeric = data.draw(sized(layer))
    assert layer.at({symbol.name: value for symbol, value in sizes.items()}) == numeric
    stepwise = layer
    try:
        for symbol, value in sizes.items():
            stepwise = stepwise.at({symbol: value})
    except ps.errors.StructureError:
        return  # a size known early may decide the structure
    assert stepwise == numeric
    assert stepwise.formula == layer.params
    assert stepwise.sizes == sizes


@every_storing_layer
@some
@given(data=st.data())
def test_renaming_symbols_renames_results(cls: Subject, data: st.DataObject) -> None:
    """The letters mean nothing to a layer."""
    layer = data.draw(layers(cls))
    renaming = {symbol: Symbol(f"{symbol.name}_z", integer=True, positive=True) for symbol in layer.symbols}
    renamed = layer.at(renaming)
    assert Polynomial.of(layer.params.xreplace(renaming)) == Polynomial.of(renamed.params)
    assert renamed.symbols == set(renaming.values())
    assert renamed.at({new: old for old, new in renaming.items()}) == layer


@every_storing_layer
@some
@given(data=st.data())
def test_symbols_without_assumptions_work(cls: Subject, data: st.DataObject) -> None:
    """A user's ``sympy.symbols("d n")`` counts as well as ``dims("d n")``."""
    layer = data.draw(layers(cls))
    plain = {symbol: Symbol(symbol.name) for symbol in layer.symbols}
    bare = layer.at(plain)
    assert bare.params == Polynomial.of(layer.params.xreplace(plain)).as_expr()
    assert list(bare.shapes()) == list(layer.shapes())
    sizes, numeric = data.draw(sized(layer))
    assert bare.at({symbol.name: value for symbol, value in sizes.items()}) == numeric


@every_layer
@some
@given(data=st.data())
def test_shapes_ledger_and_table_agree(cls: Subject, data: st.DataObject) -> None:
    """Three views of one statement have one sum."""
    layer = data.draw(layers(cls))
    _, numeric = data.draw(sized(layer))
    assert sum(product(shape) for shape in numeric.shapes().values()) == numeric.params
    for one in (layer, numeric):
        assert one.ledger().stored == one.params
        assert one.ledger().polynomial() == one.polynomial
        table = one.table()
        amounts = table.columns.index("parameters")
        assert expand(sum(row[amounts] or 0 for row in table.rows)) == one.params == table.footer[amounts]
        short = one.table(depth=1)
        amounts = short.columns.index("parameters")  # after the kinds of numbered parts, if there are any
        assert expand(sum(row[amounts] for row in short.rows)) == one.params == short.footer[amounts]
        assert all(isinstance(text, str) for text in (str(table), table.to_markdown(), table.to_latex(), table.to_html(), table.to_csv()))
        assert one.to_latex()


@cases(1000)
@every_storing_layer
@some
@given(data=st.data())
def test_lines_and_written_out_tensors_agree(cls: Subject, data: st.DataObject) -> None:
    """A layer with numbers has as many tensors as its ledger's lines say, and buffers only where it says so."""
    layer = data.draw(layers(cls))
    _, numeric = data.draw(sized(layer))
    named = [entry.name for entry in numeric.entries()]
    assert len(named) == len(set(named))
    assert set(numeric.shapes()) <= set(numeric.shapes(buffers=True)) <= set(named)
    assert all(isinstance(size, int) and size > 0 for shape in numeric.shapes(buffers=True).values() for size in shape)
    assert set(numeric.tied) | {entry.name for entry in numeric.entries() if not entry.alias_of} == set(named)


@every_layer
@some
@given(data=st.data())
def test_a_layer_is_a_value(cls: Subject, data: st.DataObject) -> None:
    """It can be compared, hashed, copied, pickled, and read back from its repr."""
    layer = data.draw(layers(cls))
    sizes, numeric = data.draw(sized(layer))
    for one in (layer, numeric):
        for twin in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one)), eval(repr(one), names(one))):
            assert twin == one
            assert hash(twin) == hash(one)
            assert repr(twin) == repr(one)
            assert twin.params == one.params
    assert pickle.loads(pickle.dumps(numeric)).sizes == sizes
    assert copy.deepcopy(numeric).formula == layer.params
    if sizes:
        assert numeric != layer


@every_storing_layer
@some
@given(data=st.data())
def test_freezing_keeps_what_is_stored(cls: Subject, data: st.DataObject) -> None:
    """A frozen layer stores the same tensors and trains none."""
    layer = data.draw(layers(cls))
    frozen = layer.freeze()
    assert frozen.params == layer.params
    assert frozen.trainable == 0
    assert frozen.shapes(buffers=True) == layer.shapes(buffers=True)
    assert frozen.active == layer.active
    twice = ps.Sequential(layer, layer)  # a second lazy layer has a separate letter
    assert twice.freeze("0").trainable == twice.part("1").trainable
