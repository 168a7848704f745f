"""Locally connected layers against live Flax and published counts."""

from __future__ import annotations

from itertools import count
from math import prod
from typing import Any

import pytest
from frameworks import flax_parameters, imported
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import C, F, K, W
from paramsym.errors import ArgumentError, ShapeError, SizeError


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_flax(data: st.DataObject) -> None:
    """Flax' ``ConvLocal`` keeps the axes of the places apart, where Keras has one for them all."""
    linen = imported("flax.linen")
    rank = data.draw(st.sampled_from([1, 2]))
    kernel = data.draw(st.tuples(*[st.integers(1, 3)] * rank))
    length = data.draw(st.tuples(*[st.integers(3, 7)] * rank))
    stride = data.draw(st.tuples(*[st.integers(1, 3)] * rank))
    padding, bias = data.draw(st.integers(0, 2)), data.draw(st.booleans())
    module = linen.ConvLocal(4, kernel, strides=stride, padding=[(padding, padding)] * rank, use_bias=bias)
    theirs = dict(flax_parameters(module, (1, *length, 3)))
    make = getattr(ps, f"LocallyConnected{rank}d")
    assert list(make(3, 4, kernel, length, stride, padding, bias, dialect="flax").shapes().items()) == list(theirs.items())
    found = make(3, 4, kernel, length, stride, padding, bias).shapes()
    assert found["kernel"] == (prod(theirs["kernel"][:rank]), *theirs["kernel"][rank:])
    assert found.get("bias") == theirs.get("bias")


def test_published_counts() -> None:
    """LeCun 1989, net-3: 16x16 pixels, 8x8 units that see 3x3, 4x4 units that see 5x5, ten outputs: 1226 weights."""
    first = ps.LocallyConnected2d(1, 1, 3, input_size=16, stride=2, padding=1)
    second = ps.LocallyConnected2d(1, 1, 5, input_size=8)
    assert (first.places, second.places) == ((8, 8), (4, 4))
    assert (first + second + ps.Dense(4 * 4, 10)).count == 1226


def test_keras_two_storage() -> None:
    """Keras 2 with ``implementation=1``: kernel (output length, kernel*channels, filters), bias (output length, filters)."""
    assert ps.LocallyConnected1d(5, 64, 3, input_size=10).shapes() == {"kernel": (8, 15, 64), "bias": (8, 64)}
    assert ps.LocallyConnected2d(3, 64, 3, input_size=32).shapes() == {"kernel": (900, 27, 64), "bias": (30, 30, 64)}


def test_symbols() -> None:
    """The number of places is exact algebra; a kernel as wide as the input is a dense layer."""
    layer = ps.LocallyConnected1d(C, F, K, input_size=W)
    assert layer.params == ((W - K + 1) * (C * F * K + F)).expand()
    assert layer.at(K=W).params == ps.Dense(C * W, F).params
    assert layer.at(C=3, F=4, K=5, W=9) == ps.LocallyConnected1d(3, 4, 5, input_size=9)
    strided = ps.LocallyConnected3d(C, F, 2, input_size=2 * W, stride=2, bias=False)
    assert strided.params == 8 * C * F * W**3
    assert eval(repr(layer), {"LocallyConnected1d": ps.LocallyConnected1d, "C": C, "F": F, "K": K, "W": W}) == layer


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: ps.LocallyConnected1d(3, 4, 5, input_size=4), ShapeError),
        (lambda: ps.LocallyConnected2d(3, 4, 5, input_size=(4, 4, 4)), ArgumentError),
        (lambda: ps.LocallyConnected2d(3, 4, 5, input_size=0), SizeError),
        (lambda: ps.LocallyConnected1d(C, F, K, input_size=W).at(K=5, W=4), ShapeError),
    ],
    ids=count(),
)
def test_errors(build: Any, error: type[Exception]) -> None:
    """A window must fit."""
    with pytest.raises(error):
        build()


def test_another_input_is_refused() -> None:
    """Weights that are not shared belong to one size of input; both sizes are said."""
    with pytest.raises(ShapeError, match=r"the input is \(6, 5\); wanted \(5, 5\)"):
        ps.LocallyConnected2d(3, 4, 2, (5, 5)).output_shape((1, 6, 5, 3))


def test_a_window_sees_what_a_convolution_sees() -> None:
    """Its kernel; of two, three apart, it takes 2 + 3."""
    assert ps.receptive_field(ps.LocallyConnected2d(3, 4, (2, 3), (9, 9))) == (2, 3)
    assert ps.receptive_field(ps.Sequential(ps.LocallyConnected1d(3, 4, 2, 11, 3), ps.LocallyConnected1d(4, 4, 2, 4))) == (5,)
