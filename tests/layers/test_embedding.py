"""Embeddings against live torch and Keras."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, entries, imported, keras_weights
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import H, V
from paramsym.errors import ArgumentError, SizeError

SMALL = st.integers(1, 40)
OPTIONS: Any = {
    "padding_idx": st.integers(-50, 50),
    "max_norm": st.none() | st.floats(0.5, 3),
    "norm_type": st.sampled_from([1.0, 2.0]),
    "scale_grad_by_freq": st.booleans(),
    "sparse": st.booleans(),
}
BAG: Any = OPTIONS | {"mode": st.sampled_from(["mean", "sum", "max"]), "include_last_offset": st.booleans()}


@pytest.mark.parametrize("name", ["Embedding", "EmbeddingBag"])
def test_signature(name: str) -> None:
    """One dict of arguments builds torch's layer and ours."""
    assert_same_signature(getattr(ps, name), getattr(imported("torch").nn, name))


@pytest.mark.parametrize(("name", "options"), [("Embedding", OPTIONS), ("EmbeddingBag", BAG)])
@settings(deadline=None, max_examples=30)
@given(SMALL, SMALL, st.data())
def test_torch(name: str, options: Any, rows: int, width: int, data: st.DataObject) -> None:
    """The table is torch's, and a padding index outside it is refused by both."""
    nn = imported("torch").nn
    given_options = data.draw(st.fixed_dictionaries({}, optional=options))
    try:
        getattr(nn, name)(rows, width, **given_options)
    except AssertionError:
        with pytest.raises(SizeError, match=f"padding_idx .* outside the table of num_embeddings {rows}"):
            getattr(ps, name)(rows, width, **given_options)
        return
    assert_same_as_torch(getattr(ps, name)(rows, width, **given_options), lambda: getattr(nn, name)(rows, width, **given_options))


@settings(deadline=None, max_examples=10)
@given(SMALL, SMALL, st.booleans(), st.booleans())
def test_keras(rows: int, width: int, tied: Any, masked: Any) -> None:
    """Keras calls the table embeddings; an untied reversible one has a second."""
    layers = imported("keras").layers
    assert entries(ps.Embedding(rows, width, dialect="keras")) == keras_weights(layers.Embedding(rows, width), (None, 3))
    theirs = keras_weights(layers.ReversibleEmbedding(rows, width, tie_weights=tied, mask_zero=masked), (None, 3))
    assert entries(ps.ReversibleEmbedding(rows, width, tied, masked)) == theirs


def test_formulas() -> None:
    """A table is rows times width; the padding row is one of them."""
    assert ps.Embedding(V, H).params == ps.Embedding(V, H, padding_idx=0).params == ps.EmbeddingBag(V, H).params == H * V
    assert ps.ReversibleEmbedding(V, H, tie_weights=False).params == 2 * H * V
    assert ps.Embedding(V, H).params.diff(V) == H
    assert ps.Embedding(30_522, 768).count == 23_440_896  # the table of bert-base-uncased


def test_frozen_table() -> None:
    """A frozen table is counted, but not trained, as torch's own flag says."""
    torch = imported("torch")
    theirs = torch.nn.Embedding(3, 4, _freeze=True)
    ours = ps.Embedding(3, 4, _freeze=True)
    assert ours.trainable == sum(tensor.numel() for tensor in theirs.parameters() if tensor.requires_grad) == 0
    assert ours.count == 12


def test_values() -> None:
    """``at``, repr and pickle give equal layers; the padding index is checked once the rows are known."""
    layer = ps.Embedding(V, H, padding_idx=100, sparse=True)
    assert layer.at(V=200, H=3) == ps.Embedding(200, 3, padding_idx=100, sparse=True)
    assert_value(layer)
    with pytest.raises(SizeError, match="padding_idx 100"):
        layer.at(V=100)


def test_what_cannot_be() -> None:
    """Options are checked by type and value."""
    with pytest.raises(ArgumentError, match="mode is 'median'"):
        ps.EmbeddingBag(3, 4, mode="median")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="padding_idx"):
        ps.Embedding(3, 4, padding_idx=0.5)  # type: ignore[arg-type]
    with pytest.raises(SizeError, match="num_embeddings is 0"):
        ps.Embedding(0, 4)


def test_a_bag_is_one_row() -> None:
    """2 bags of 4 indices each become 2 rows of the table's width."""
    for mode in ("sum", "mean", "max"):
        assert ps.output_shape(ps.EmbeddingBag(7, 3, mode=mode), (2, 4)) == (2, 3)


def test_rows_that_are_shortened_are_a_region() -> None:
    """The listing of the program names the layer that computes a row's length."""
    assert "region embedding(" in str(ps.trace(ps.Embedding(5, 3, max_norm=1.0), (2,)))
