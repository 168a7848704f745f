"""Recurrent cells against live torch, Keras and Flax."""

from __future__ import annotations

import math
from itertools import count
from typing import Any

import pytest
from amount import cases
from frameworks import assert_same_as_torch, entries, imported, keras_weights
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import H
from paramsym.errors import ArgumentError, SizeError

i = ps.dims("i")
CELLS = {"RNNCell": "SimpleRNNCell", "LSTMCell": "LSTMCell", "GRUCell": "GRUCell"}


@pytest.mark.parametrize("name", CELLS)
@settings(max_examples=8, deadline=None)
@given(inputs=st.integers(1, 9), hidden=st.integers(1, 9), bias=st.booleans())
def test_torch(name: str, inputs: int, hidden: int, *, bias: bool) -> None:
    """The same tensors in the same order."""
    nn = imported("torch").nn
    assert_same_as_torch(getattr(ps, name)(inputs, hidden, bias), lambda: getattr(nn, name)(inputs, hidden, bias))


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("bias", [True, False])
def test_keras(name: str, *, bias: bool) -> None:
    """One bias instead of two; the axes turned."""
    layers = imported("keras").layers
    for more in ({"reset_after": False}, {"reset_after": True}) if name == "GRUCell" else ({},):
        theirs = getattr(layers, CELLS[name])(4, use_bias=bias, **more)
        assert entries(getattr(ps, name)(7, 4, bias, dialect="keras", **more)) == keras_weights(theirs, (None, 7))


@pytest.mark.parametrize(
    ("name", "linen_name"),
    [("RNNCell", "SimpleCell"), ("LSTMCell", "LSTMCell"), ("LSTMCell", "OptimizedLSTMCell"), ("GRUCell", "GRUCell")],
)
def test_flax(name: str, linen_name: str) -> None:
    """Dense layers per gate, in the order in which Flax makes them."""
    linen, jax = imported("flax.linen"), imported("jax")
    cell = getattr(linen, linen_name)(features=4)
    inputs = jax.numpy.zeros((1, 7))
    made = cell.init(jax.random.key(0), cell.initialize_carry(jax.random.key(0), inputs.shape), inputs)["params"]
    theirs = [(f"{gate}.{tensor}", tuple(value.shape)) for gate, tensors in made.items() for tensor, value in tensors.items()]
    ours = getattr(ps, name)(7, 4, dialect="flax")
    assert [(entry.name, entry.tensor.sizes) for entry in ours.entries()] == theirs


def test_minimal_gated_unit() -> None:
    """Zhou et al. 2016: two thirds of a GRU without biases; with them, what Flax keeps."""
    assert ps.MGUCell(i, H).params == 2 * H * i + 2 * H**2 + 3 * H
    assert ps.MGUCell(i, H).params - ps.MGUCell(i, H, reset_gate=False).params == H
    assert list(ps.MGUCell(3, 4).shapes()) == ["if.kernel", "if.bias", "hf.kernel", "in.kernel", "in.bias", "hn.kernel", "hn.bias"]
    assert ps.output_shape(ps.MGUCell(3, 4), (2, 3)) == (2, 4)


@pytest.mark.parametrize("name", CELLS)
def test_nnx(name: str) -> None:
    """One dense layer for the input and one for the state; the bias of a GRU is linen's without the state's own."""
    nnx, jax = imported("flax.nnx"), imported("jax")
    theirs = {"RNNCell": "SimpleCell", "LSTMCell": "OptimizedLSTMCell", "GRUCell": "GRUCell"}[name]
    cell = nnx.eval_shape(lambda: getattr(nnx, theirs)(7, 4, rngs=nnx.Rngs(0)))
    layer = getattr(ps, name)(7, 4, dialect="nnx")
    assert ps.match(layer, cell).ok
    assert layer.count == sum(leaf.size for leaf in jax.tree.leaves(nnx.state(cell, nnx.Param)))
    assert ps.GRUCell(i, H, dialect="flax").params - ps.GRUCell(i, H, dialect="nnx").params == H


def test_gates_stand_in_the_ledger() -> None:
    """Every gate is a line of its own, in the framework's order."""
    assert [line.label for line in ps.LSTMCell(i, H, bias=False).ledger()][:4] == ["input", "forget", "cell", "output"]
    assert [line.label for line in ps.GRUCell(i, H, bias=False).ledger()][:3] == ["reset", "update", "new"]
    assert [line.label for line in ps.GRUCell(i, H, bias=False, dialect="keras").ledger()][:3] == ["update", "reset", "new"]


def test_peepholes() -> None:
    """Gers and Schmidhuber 2000: three diagonal matrices, whatever the storage."""
    for bias in (True, False):
        for dialect in ("torch", "keras"):
            with_, without = (cell(i, H, bias, dialect=dialect) for cell in (ps.PeepholeLSTMCell, ps.LSTMCell))
            assert with_.params - without.params == 3 * H
    assert list(ps.PeepholeLSTMCell(3, 4, dialect="keras").shapes())[3:] == [
        "input_gate_peephole_weights",
        "forget_gate_peephole_weights",
        "output_gate_peephole_weights",
    ]


@cases(2)
@pytest.mark.parametrize("name", [*CELLS, "PeepholeLSTMCell"])
def test_values(name: str) -> None:
    """``at`` and repr give equal layers; the count is linear in the input."""
    for dialect in ("torch", "keras"):
        layer = getattr(ps, name)(i, H, dialect=dialect)
        assert layer.at(i=3, H=5) == getattr(ps, name)(3, 5, dialect=dialect)
        assert eval(repr(layer), {name: getattr(ps, name), "i": i, "H": H}) == layer
        assert layer.params.diff(i, 2) == 0


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: ps.LSTMCell(3, 4, bias=False, dialect="flax"), ArgumentError),
        (lambda: ps.GRUCell(3, 4, reset_after=False), ArgumentError),
        (lambda: ps.GRUCell(3, 4, reset_after=False, dialect="flax"), ArgumentError),
        (lambda: ps.RNNCell(3, 4, nonlinearity="sigmoid"), ArgumentError),
        (lambda: ps.RNNCell(0, 4), SizeError),
        (lambda: ps.PeepholeLSTMCell(3, 4, dialect="flax"), ArgumentError),
        (lambda: ps.PeepholeLSTMCell(3, 4, dialect="nnx"), ArgumentError),
        (lambda: ps.RNNCell(3, 4, bias=False, dialect="nnx"), ArgumentError),
        (lambda: ps.MGUCell(3, 4, bias=False), ArgumentError),
        (lambda: ps.MGUCell(3, 4, dialect="torch"), ArgumentError),
    ],
    ids=count(),
)
def test_errors(build: Any, error: type[Exception]) -> None:
    """What a framework does not have is refused."""
    with pytest.raises(error):
        build()


def test_cells_of_flax_nnx() -> None:
    """Names, order and shapes as ``flax.nnx`` 0.12 made them: the bias stands with what is read, in the LSTM with the state."""
    assert list(ps.RNNCell(3, 4, dialect="nnx").shapes().items()) == [
        ("dense_i.kernel", (3, 4)),
        ("dense_i.bias", (4,)),
        ("dense_h.kernel", (4, 4)),
    ]
    assert ps.LSTMCell(3, 4, dialect="nnx").shapes() == {"dense_i.kernel": (3, 16), "dense_h.kernel": (4, 16), "dense_h.bias": (16,)}
    assert ps.GRUCell(3, 4, dialect="nnx").shapes() == {"dense_i.kernel": (3, 12), "dense_i.bias": (12,), "dense_h.kernel": (4, 12)}


@pytest.mark.parametrize(
    "build",
    [
        lambda: ps.LSTMCell(2, 3, activation=ps.ReLU()),
        lambda: ps.GRU(2, 3, dialect="flax", recurrent_activation=ps.ReLU()),
        lambda: ps.RNN(2, 3, go_backwards=True),
        lambda: ps.ConvLSTM1d(2, 3, 2, padding="same", dialect="flax", go_backwards=True),
        lambda: ps.LSTMCell(2, 3, dialect="keras", activation=ps.PReLU()),
    ],
    ids=count(),
)
def test_functions_are_keras_and_store_nothing(build: Any) -> None:
    """Other activations and the way back are refused outside of Keras, and so is an activation with weights."""
    with pytest.raises(ArgumentError, match=r"activation|go_backwards"):
        build()


def test_the_state_of_an_lstm() -> None:
    """Without weights all gates are 1/2: of the state 2, 1 is kept, and half of its tanh is put out."""
    xp = imported("numpy")
    cell = ps.LSTMCell(1, 1)
    tensors = {name: xp.zeros(shape) for name, shape in cell.shapes().items()}
    hidden, state = ps.run(cell, tensors, xp.array([[3.0]]), xp.array([[5.0]]), xp.array([[2.0]]))
    assert state.tolist() == [[1]]
    assert hidden.tolist() == [[pytest.approx(math.tanh(1) / 2)]]
