"""Additive attention against the paper's formula and live Keras."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import entries, imported, keras_weights
from strategies import assert_value

import paramsym as ps
from paramsym import H, K
from paramsym.errors import ArgumentError, SizeError

u = ps.dims("u")


def test_the_papers_three_matrices() -> None:
    """Bahdanau et al. 2015, appendix A.1.2: W_a is n x n, U_a n x 2n, v_a n, where the keys are 2n wide; n is 1000 there (section 4.2)."""
    layer = ps.AdditiveAttention(H, 2 * H, H)
    assert layer.params == 3 * H**2 + H
    assert layer.at(H=1000).count == 1000 * 1000 + 1000 * 2000 + 1000
    assert ps.AdditiveAttention(H, K, u).shapes() == {"W_q.weight": (u, H), "W_k.weight": (u, K), "v.weight": (1, u)}


def test_widths_default_to_the_querys() -> None:
    """One width is enough where all are equal; biases are three."""
    assert ps.AdditiveAttention(H) != ps.AdditiveAttention(H, H, H)
    assert ps.AdditiveAttention(H).shapes() == ps.AdditiveAttention(H, H, H).shapes()
    assert ps.AdditiveAttention(H, K, u, bias=True).params == ps.AdditiveAttention(H, K, u).params + 2 * u + 1


@pytest.mark.parametrize("use_scale", [True, False])
def test_keras(*, use_scale: bool) -> None:
    """Keras stores the scale and nothing else."""
    keras = imported("keras")
    theirs = keras_weights(keras.layers.AdditiveAttention(use_scale=use_scale), [(2, 3, 7), (2, 4, 7)])
    assert entries(ps.AdditiveAttention(7, use_scale=use_scale, dialect="keras")) == theirs


@pytest.mark.parametrize("score_mode", ["dot", "concat"])
@pytest.mark.parametrize("use_scale", [True, False])
def test_keras_dot_product(*, use_scale: bool, score_mode: Any) -> None:
    """Keras' ``Attention`` has up to two scalars."""
    keras = imported("keras")
    theirs = keras_weights(keras.layers.Attention(use_scale=use_scale, score_mode=score_mode), [(2, 3, 7), (2, 4, 7)])
    assert entries(ps.DotProductAttention(use_scale, score_mode)) == theirs


def test_values() -> None:
    """``at``, repr and pickle give equal layers."""
    layer = ps.AdditiveAttention(H, K, u, bias=True)
    assert layer.at(H=3, K=4, u=5) == ps.AdditiveAttention(3, 4, 5, bias=True)
    assert layer.params.diff(u) == H + K + 3
    assert_value(layer)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"query_dim": 0}, SizeError, "query_dim is 0"),
        ({"query_dim": 8, "use_scale": False}, ArgumentError, "leaves out v"),
        ({"query_dim": 8, "key_dim": 9, "dialect": "keras"}, ArgumentError, "key_dim must be query_dim, not 9"),
        ({"query_dim": 8, "hidden_dim": 9, "dialect": "keras"}, ArgumentError, "hidden_dim must be query_dim, not 9"),
        ({"query_dim": 8, "bias": True, "dialect": "keras"}, ArgumentError, "no bias"),
    ],
)
def test_wrong_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    """One clear error when the layer is built."""
    with pytest.raises(error, match=words):
        ps.AdditiveAttention(**arguments)


def test_values_have_a_width_of_their_own() -> None:
    """In Keras a mean of values comes out, also where nobody says how many there are."""
    layer = ps.AdditiveAttention(8, dialect="keras")
    for places in (5, None):
        assert layer.output_shape(((2, 3, 8), (2, places, 6), (2, places, 8))) == (2, 3, 6)  # type: ignore[arg-type]
