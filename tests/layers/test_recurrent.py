"""Recurrent layers against live torch, Keras and Flax, with depths that are numbers or symbols."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from frameworks import assert_same_as_torch, entries, flax_parameters, imported, keras_weights
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import H, L, R
from paramsym.errors import ArgumentError, ShapeError, SizeError, StructureError

i = ps.dims("i")
KERAS = {"RNN": "SimpleRNN", "LSTM": "LSTM", "GRU": "GRU"}
CELLS = {"RNN": "SimpleCell", "LSTM": "LSTMCell", "GRU": "GRUCell"}


@st.composite
def torch_arguments(draw: st.DrawFn, name: str) -> tuple[tuple[int, int], dict[str, Any]]:
    """Draw arguments that torch takes."""
    hidden = draw(st.integers(2, 9))
    named: dict[str, Any] = {
        "num_layers": draw(st.integers(1, 4)),
        "bias": draw(st.booleans()),
        "batch_first": draw(st.booleans()),
        "bidirectional": draw(st.booleans()),
        "dropout": draw(st.sampled_from([0.0, 0, 1, 0.3])),
    }
    if name == "RNN":
        named["nonlinearity"] = draw(st.sampled_from(["tanh", "relu"]))
    if name == "LSTM":
        named["proj_size"] = draw(st.integers(0, hidden - 1))
    return (draw(st.integers(1, 9)), hidden), {key: value for key, value in named.items() if draw(st.booleans())}


@pytest.mark.parametrize("name", KERAS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_torch(name: str, data: st.DataObject) -> None:
    """One dictionary builds torch's layer and ours, with the same tensors in the same order."""
    nn = imported("torch").nn
    positional, named = data.draw(torch_arguments(name))
    assert_same_as_torch(getattr(ps, name)(*positional, **named), lambda: getattr(nn, name)(*positional, **named))


@pytest.mark.parametrize("name", KERAS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_symbolic_depth_is_every_depth(name: str, data: st.DataObject) -> None:
    """The closed form in L gives the counts, and the template the names, of every number of layers."""
    nn = imported("torch").nn
    positional, named = data.draw(torch_arguments(name))
    depth = named.pop("num_layers", 1)
    deep = getattr(ps, name)(*positional, num_layers=L, **named)
    assert_same_as_torch(deep.at(L=depth), lambda: getattr(nn, name)(*positional, num_layers=depth, **named))
    assert deep.params.subs(L, depth) == deep.at(L=depth).count


def test_templates() -> None:
    """While the depth is a symbol, the first layer has its names and a template stands for the others."""
    layer = ps.RNN(i, H, L, bias=False, bidirectional=True)
    assert layer.shapes() == {
        "weight_ih_l0": (H, i),
        "weight_hh_l0": (H, H),
        "weight_ih_l0_reverse": (H, i),
        "weight_hh_l0_reverse": (H, H),
        "weight_ih_l{1..L-1}": (H, 2 * H),
        "weight_hh_l{1..L-1}": (H, H),
        "weight_ih_l{1..L-1}_reverse": (H, 2 * H),
        "weight_hh_l{1..L-1}_reverse": (H, H),
    }
    assert ps.LSTM(i, H, L).params.diff(L) == 8 * H**2 + 8 * H


def test_levels_are_called_as_their_tensors_end() -> None:
    """``weight_ih_l0`` belongs to l0; the levels above it, which are alike, stand under one template."""
    rows = ps.summary(ps.LSTM(3, 4, 4, bidirectional=True), (5, 2, 3)).rows
    assert [row[0] for row in rows] == ["l0", "l{1..3}"]


def test_a_million_layers() -> None:
    """The closed form does not write the layers out."""
    assert ps.LSTM(8, 8, 10**6).count == 10**6 * 4 * 8 * (8 + 8 + 2)


def test_freezing_one_tensor() -> None:
    """A tensor of one layer is named as in torch, also while the depth is a symbol; the template means all."""
    layer = ps.GRU(i, H, L)
    assert layer.params - layer.freeze("weight_hh_l2").trainable == 3 * H**2
    assert layer.params - layer.freeze("weight_ih_l0").trainable == 3 * H * i
    assert layer.params - layer.freeze("bias_hh_l{}").trainable == 3 * H * L
    nested = ps.Block(encoder=layer)
    assert nested.params - nested.freeze("encoder.weight_hh_l1").trainable == 3 * H**2
    assert [entry.name for entry in layer.at(L=2).freeze("bias_ih_l1").entries() if not entry.tensor.trainable] == ["bias_ih_l1"]


def test_projection() -> None:
    """Sak et al. 2014, section 3: the state is as narrow as the projection, which has a matrix of its own."""
    layer = ps.LSTM(i, H, proj_size=R)
    assert layer.shapes() == {
        "weight_ih_l0": (4 * H, i),
        "weight_hh_l0": (4 * H, R),
        "bias_ih_l0": (4 * H,),
        "bias_hh_l0": (4 * H,),
        "weight_hr_l0": (R, H),
    }
    with pytest.raises(SizeError, match="proj_size 8 is not smaller than hidden_size 8"):
        layer.at(H=8, R=8)
    with pytest.raises(StructureError):
        layer.at(R=0)


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("bias", [True, False])
def test_keras(name: str, *, bias: bool) -> None:
    """The cell's tensors under the cell's name."""
    layers = imported("keras").layers
    for more in ({"reset_after": False}, {"reset_after": True}) if name == "GRU" else ({},):
        theirs = getattr(layers, KERAS[name])(4, use_bias=bias, **more)
        assert entries(getattr(ps, name)(7, 4, bias=bias, dialect="keras", **more)) == keras_weights(theirs, (None, 5, 7))


@pytest.mark.parametrize("name", KERAS)
def test_flax(name: str) -> None:
    """``linen.RNN`` keeps its cell under ``cell``; it sorts the names."""
    linen = imported("flax.linen")
    theirs = flax_parameters(linen.RNN(getattr(linen, CELLS[name])(features=4)), (1, 5, 7))
    assert sorted(getattr(ps, name)(7, 4, dialect="flax").shapes().items()) == sorted(theirs)


def test_peepholes() -> None:
    """Three diagonal matrices per layer and direction; the other tensors are an LSTM's."""
    for named in ({}, {"bidirectional": True}, {"proj_size": 3}, {"bias": False}):
        with_, without = (kind(i, H, L, **named) for kind in (ps.PeepholeLSTM, ps.LSTM))
        assert (with_.params - without.params).expand() == 3 * H * L * (2 if "bidirectional" in named else 1)
        assert [name for name in with_.shapes() if "_ch_" not in name] == list(without.shapes())
    assert ps.PeepholeLSTM(i, H, dialect="keras").params == ps.PeepholeLSTMCell(i, H, dialect="keras").params


@pytest.mark.parametrize("name", [*KERAS, "PeepholeLSTM"])
def test_values(name: str) -> None:
    """``at``, repr and pickle give equal layers; every layer above the first adds the same."""
    layer = getattr(ps, name)(i, H, L, bidirectional=True)
    assert layer.at(i=3, H=5, L=2) == getattr(ps, name)(3, 5, 2, bidirectional=True)
    assert_value(layer)
    assert layer.params.diff(L, 2) == 0


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(
    "named",
    [
        {"num_layers": 0},
        {"num_layers": -1},
        {"dropout": 1.5},
        {"dropout": -0.1},
        {"dropout": float("nan")},
        {"dropout": True},
        {"bias": 1},
        {"batch_first": 0},
    ],
    ids=str,
)
def test_what_torch_refuses(name: str, named: dict[str, Any]) -> None:
    """Where torch raises, we raise."""
    nn = imported("torch").nn
    with pytest.raises((ValueError, TypeError)):
        getattr(nn, name)(3, 4, **named)
    with pytest.raises((SizeError, ArgumentError)):
        getattr(ps, name)(3, 4, **named)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: ps.LSTM(3, 4, proj_size=4), SizeError, "proj_size 4 is not smaller than hidden_size 4"),
        (lambda: ps.LSTM(3, 4, proj_size=-1), SizeError, "proj_size is -1"),
        (lambda: ps.RNN(3, 4, nonlinearity="gelu"), ArgumentError, "nonlinearity is 'gelu'"),
        (lambda: ps.LSTM(3.5, 4), SizeError, "input_size is 3.5"),
        (lambda: ps.LSTM(3, 4, 2, dialect="keras"), ArgumentError, "write Sequential of several LSTM"),
        (lambda: ps.LSTM(3, 4, L, dialect="keras"), ArgumentError, "num_layers is L"),
        (lambda: ps.GRU(3, 4, bidirectional=True, dialect="keras"), ArgumentError, r"write Bidirectional\(GRU"),
        (lambda: ps.LSTM(3, 4, proj_size=2, dialect="flax"), ArgumentError, "no projected LSTM"),
        (lambda: ps.LSTM(3, 4, bias=False, dialect="flax"), ArgumentError, "always have one"),
        (lambda: ps.GRU(3, 4, reset_after=False), ArgumentError, "reset_after"),
    ],
    ids=count(),
)
def test_errors(build: Any, error: type[Exception], words: str) -> None:
    """What was found, and what to write instead."""
    with pytest.raises(error, match=words):
        build()


@pytest.mark.parametrize("dropout", [-0.1, 1.5])
@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_dropout_is_a_probability(name: str, dropout: float) -> None:
    """torch: dropout should be a number in range [0, 1]."""
    with pytest.raises(ArgumentError, match="a probability, from 0 to 1"):
        getattr(ps, name)(3, 4, 2, dropout=dropout)
    for allowed in (0.0, 1.0):
        getattr(ps, name)(3, 4, 2, dropout=allowed)


@pytest.mark.parametrize(("options", "order"), [({}, "steps, batch"), ({"batch_first": True}, "batch, steps")])
def test_axes_are_named_in_the_order_asked_for(options: dict[str, Any], order: str) -> None:
    """torch: "expected input to be 2D or 3D, got 4D", and "Expected sequence length to be larger than 0 in RNN"."""
    layer = ps.LSTM(3, 4, **options)
    with pytest.raises(
        ShapeError, match=rf"wanted \({order}, features\), or \(steps, features\) without a batch, with 3 features; found 4 axes"
    ):
        layer.output_shape((1, 2, 3, 3))
    none = tuple({"steps": 0, "batch": 2}[name] for name in order.split(", "))
    with pytest.raises(ShapeError, match=rf"there are no steps in .*, read as \({order}, features\)"):
        layer.output_shape((*none, 3))
