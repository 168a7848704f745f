"""Dense layers against live torch, transformers and Keras."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import A, F, H, S
from paramsym.errors import SizeError

widths = st.integers(1, 40)
d, e = ps.dims("d e")


@pytest.mark.parametrize(("ours", "theirs"), [("Dense", "Linear"), ("Bilinear", "Bilinear")])
def test_signature(ours: str, theirs: str) -> None:
    """One dict of arguments builds torch's layer and ours."""
    assert_same_signature(getattr(ps, ours), getattr(imported("torch").nn, theirs))


@settings(deadline=None, max_examples=20)
@given(widths, widths, widths, st.booleans())
def test_torch(first: int, second: int, third: int, bias: Any) -> None:
    """Names, shapes and order are torch's."""
    nn = imported("torch").nn
    assert_same_as_torch(ps.Linear(first, second, bias=bias), lambda: nn.Linear(first, second, bias=bias))
    assert_same_as_torch(ps.Bilinear(first, second, third, bias=bias), lambda: nn.Bilinear(first, second, third, bias=bias))


@settings(deadline=None, max_examples=10)
@given(widths, widths)
def test_gpt2(inputs: int, outputs: int) -> None:
    """GPT-2's Conv1D takes its widths the other way round, and stores its matrix so."""
    conv1d = imported("transformers.pytorch_utils").Conv1D
    assert_same_as_torch(ps.TransposedDense(inputs, outputs), lambda: conv1d(outputs, inputs))


def test_formulas() -> None:
    """A matrix and a bias; Bilinear has a matrix per output."""
    assert ps.Dense(H, F).params == F * H + F
    assert ps.TransposedDense(H, F).params == ps.Dense(H, F).params
    assert ps.Bilinear(d, e, F).params == d * e * F + F
    assert ps.Bilinear(d, d, F, bias=False).params.diff(d) == 2 * d * F


def test_factors_of_a_width_survive() -> None:
    """A width may be written as heads times head width: the count is the product, the derivative still zero."""
    layer = ps.Dense(H, (A, ps.per(H, A)))
    assert layer.params == H**2 + H
    assert layer.params.diff(A) == 0
    with pytest.raises(SizeError, match="786 is not divisible by 12"):
        layer.at(H=786, A=12)


def test_keras_dialect() -> None:
    """Keras stores the transposed matrix as kernel."""
    assert ps.Dense(3, 4, dialect="keras").shapes() == {"kernel": (3, 4), "bias": (4,)}


@pytest.mark.parametrize(
    "layer",
    [
        ps.Dense(H, F, bias=False, dialect="keras"),
        ps.TransposedDense(H, F),
        ps.Bilinear(H, H, F),
        ps.EinsumDense("...x,xy->...y", F, (None, S, H), bias_axes="y"),
    ],
)
def test_values(layer: Any) -> None:
    """``at``, repr and pickle give equal layers."""
    assert_value(layer)
    assert layer.at(H=6, F=4).count == layer.params.subs({H: 6, F: 4})


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "3", None])
def test_sizes_that_cannot_be(size: Any) -> None:
    """A width is a positive whole number."""
    with pytest.raises(SizeError, match="Dense: in_features"):
        ps.Dense(size, 3)
