"""Activations against live torch and Keras."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, entries, imported, keras_weights
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import C, H
from paramsym.errors import ArgumentError, SizeError

WITH_OPTIONS: dict[str, dict[str, Any]] = {
    "CELU": {"alpha": 0.5, "inplace": True},
    "ELU": {"alpha": 0.5, "inplace": True},
    "GELU": {"approximate": "tanh"},
    "GLU": {"dim": 1},
    "Hardshrink": {"lambd": 0.1},
    "Hardsigmoid": {"inplace": True},
    "Hardswish": {"inplace": True},
    "Hardtanh": {"min_val": 0, "max_val": 6, "inplace": True},
    "LeakyReLU": {"negative_slope": 0.2, "inplace": True},
    "LogSigmoid": {},
    "LogSoftmax": {"dim": -1},
    "Mish": {"inplace": True},
    "PReLU": {"num_parameters": 5, "init": 0.1},
    "RReLU": {"lower": 0.1, "upper": 0.2, "inplace": True},
    "ReLU": {"inplace": True},
    "ReLU6": {"inplace": True},
    "SELU": {"inplace": True},
    "SiLU": {"inplace": True},
    "Sigmoid": {},
    "Softmax": {"dim": 1},
    "Softmax2d": {},
    "Softmin": {"dim": 1},
    "Softplus": {"beta": 2, "threshold": 10},
    "Softshrink": {"lambd": 0.1},
    "Softsign": {},
    "Tanh": {},
    "Tanhshrink": {},
    "Threshold": {"threshold": 0.1, "value": 20},
}


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_torch(name: str) -> None:
    """One dict of arguments builds torch's layer and ours, and they store the same: nothing, but for PReLU."""
    theirs = getattr(imported("torch").nn, name)
    ours = getattr(ps, name)
    options = WITH_OPTIONS[name]
    if name not in {"LogSigmoid", "Sigmoid", "Softmax2d", "Softsign", "Tanh", "Tanhshrink"}:  # torch leaves *args, **kwargs there
        assert_same_signature(ours, theirs)
    assert_same_as_torch(ours(**options), lambda: theirs(**options))
    layer = ours(**options)
    assert_value(layer)


def test_every_activation_of_torch_is_here() -> None:
    """No module of torch's file of activations is missing; attention has a file of its own."""
    nn = imported("torch").nn
    assert set(nn.modules.activation.__all__) - {"MultiheadAttention"} == set(WITH_OPTIONS)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.data())
def test_prelu_in_keras(shape: list[int], data: st.DataObject) -> None:
    """Keras has a slope per entry, and one where axes are shared."""
    shared = data.draw(st.lists(st.integers(1, len(shape)), unique=True))
    theirs = keras_weights(imported("keras").layers.PReLU(shared_axes=shared or None), (None, *shape))
    slopes = tuple(1 if axis in shared else size for axis, size in enumerate(shape, start=1))
    assert entries(ps.PReLU(slopes, dialect="keras")) == theirs


def test_formulas() -> None:
    """He et al. 2015, section 2.1: one slope per channel, or one shared by all."""
    assert ps.PReLU(C).params == C
    assert ps.PReLU().params == 1
    assert ps.PReLU((1, 1, C), dialect="keras").params == C
    assert ps.PReLU(C).at(C=3) == ps.PReLU(3)
    assert ps.Dense(H, H) + ps.GELU() == ps.Sequential(ps.Dense(H, H), ps.GELU())


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("PReLU", {"num_parameters": (2, 3)}, ArgumentError, "dialect='keras' has slopes per axis"),
        ("PReLU", {"num_parameters": 2, "dialect": "flax"}, ArgumentError, "Flax has one slope for all"),
        ("PReLU", {"num_parameters": 0}, SizeError, "num_parameters is 0"),
        ("GELU", {"approximate": "erf"}, ArgumentError, "approximate is 'erf'"),
        ("Hardtanh", {"min_val": 1, "max_val": 1}, ArgumentError, "not below"),
        ("ReLU", {"inplace": "yes"}, ArgumentError, "inplace is 'yes'"),
        ("Softmax", {"dim": 0.5}, ArgumentError, "dim is 0.5"),
    ],
)
def test_what_cannot_be(name: str, options: dict[str, Any], error: type[Exception], words: str) -> None:
    """Options are checked by type and value."""
    with pytest.raises(error, match=words):
        getattr(ps, name)(**options)


def test_the_sparse_sigmoid() -> None:
    """Keras: 0 up to -1, (x + 1)/2 between, 1 from 1 on."""
    xp = imported("numpy")
    x = xp.array([-2.0, -1.0, 0.0, 0.5, 3.0])
    assert ps.run(ps.Activation("sparse_sigmoid"), {}, x).tolist() == [0, 0, 0.5, 0.75, 1]


def test_relu_with_keras_arguments() -> None:
    """Keras 3, ``relu``: x from the threshold to the largest value, and negative_slope*(x - threshold) below."""
    x = imported("numpy").array([[-1.0, 1.0, 3.0, 9.0]])
    assert ps.run(ps.ReLU(threshold=2.0), {}, x).tolist() == [[0.0, 0.0, 3.0, 9.0]]
    assert ps.run(ps.ReLU(threshold=2.0, negative_slope=0.5, max_value=6.0), {}, x).tolist() == [[-1.5, -0.5, 3.0, 6.0]]
