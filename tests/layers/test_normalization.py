"""Normalisation layers against live torch and Keras."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, entries, imported, keras_weights
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import C, H, S
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError, SizeError
from paramsym.measure.derived import uses

g = ps.dims("g")
SHAPES = st.integers(1, 30) | st.lists(st.integers(1, 9), max_size=4)


@pytest.mark.parametrize("name", ["LayerNorm", "RMSNorm", "GroupNorm", "LocalResponseNorm"])
def test_signature(name: str) -> None:
    """One dict of arguments builds torch's layer and ours."""
    assert_same_signature(getattr(ps, name), getattr(imported("torch").nn, name))


@settings(deadline=None, max_examples=30)
@given(SHAPES, st.booleans(), st.booleans())
def test_torch(shape: Any, affine: Any, bias: Any) -> None:
    """Shapes of any rank, without scale or shift, are torch's."""
    nn = imported("torch").nn
    ours = ps.LayerNorm(shape, elementwise_affine=affine, bias=bias)
    assert_same_as_torch(ours, lambda: nn.LayerNorm(shape, elementwise_affine=affine, bias=bias))
    assert_same_as_torch(ps.RMSNorm(shape, elementwise_affine=affine), lambda: nn.RMSNorm(shape, elementwise_affine=affine))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(1, 24), st.booleans(), st.booleans())
def test_torch_groups(groups: int, channels: int, affine: Any, bias: Any) -> None:
    """Groups divide the channels or both refuse, also where nothing is stored."""
    nn = imported("torch").nn
    if channels % groups:
        with pytest.raises(ValueError, match=r"num_channels \(\d+\) must be divisible by num_groups"):
            nn.GroupNorm(groups, channels, affine=affine)
        with pytest.raises(DivisibilityError, match=f"num_channels {channels} is not divisible by num_groups {groups}"):
            ps.GroupNorm(groups, channels, affine=affine)
        return
    ours = ps.GroupNorm(groups, channels, affine=affine, bias=bias)
    assert_same_as_torch(ours, lambda: nn.GroupNorm(groups, channels, affine=affine, bias=bias))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 9), st.integers(1, 9), st.booleans(), st.booleans())
def test_keras(height: int, channels: int, center: Any, scale: Any) -> None:
    """In Keras scale and shift are left out one by one."""
    layers = imported("keras").layers
    options = {"center": center, "scale": scale}
    theirs = keras_weights(layers.LayerNormalization(axis=[1, 2], **options), (None, height, channels))
    assert entries(ps.LayerNorm((height, channels), bias=center, scale=scale, dialect="keras")) == theirs
    theirs = keras_weights(layers.GroupNormalization(1, **options), (None, height, channels))
    assert entries(ps.GroupNorm(1, channels, bias=center, scale=scale, dialect="keras")) == theirs
    theirs = keras_weights(layers.RMSNormalization(), (None, height, channels))
    assert entries(ps.RMSNorm(channels, dialect="keras")) == theirs
    theirs = keras_weights(layers.Normalization(axis=(1, 2)), (None, height, channels))
    assert entries(ps.Normalization((height, channels))) == theirs
    assert entries(ps.Normalization((), given=True)) == entries(ps.UnitNormalization()) == []


def test_formulas() -> None:
    """Ba et al. 2016, equation 4: a gain and a bias per unit; Zhang and Sennrich 2019: a gain; Wu and He 2018: both per channel."""
    assert ps.LayerNorm(H).params == 2 * H
    assert ps.LayerNorm((S, H)).params == 2 * S * H
    assert ps.RMSNorm(H).params == H
    assert ps.GroupNorm(g, C).params == 2 * C
    assert ps.GroupNorm(g, C).params.diff(g) == 0
    assert ps.LocalResponseNorm(5).params == ps.UnitNormalization().params == ps.Normalization((C,)).params == 0


def test_groups_are_checked_once_numbers_arrive() -> None:
    """The number of groups cancels from the count, and is checked all the same."""
    norm = ps.GroupNorm(g, C, affine=False)
    assert norm.at(g=4, C=8).count == 0
    with pytest.raises(DivisibilityError, match="num_channels 9"):
        norm.at(g=4, C=9)


@pytest.mark.parametrize(
    "layer",
    [
        ps.LayerNorm((S, H), bias=False),
        ps.RMSNorm(H, eps=1e-6, dialect="keras"),
        ps.GroupNorm(S, H, scale=False, dialect="keras"),
        ps.LocalResponseNorm(S),
        ps.Normalization((S, H), given=True),
        ps.UnitNormalization((1, 2)),
    ],
)
def test_values(layer: Any) -> None:
    """``at``, repr and pickle give equal layers."""
    assert_value(layer)
    sizes = dict.fromkeys(layer.symbols, 6)
    assert layer.at(sizes).count == layer.params.subs(sizes)


def test_what_cannot_be() -> None:
    """Only Keras shifts without scaling; shapes hold sizes."""
    with pytest.raises(ArgumentError, match="dialect='keras'"):
        ps.LayerNorm(H, scale=False)
    with pytest.raises(ArgumentError, match="dialect='keras'"):
        ps.GroupNorm(2, 4, scale=False)
    with pytest.raises(SizeError, match=r"normalized_shape\[1\] is 0"):
        ps.LayerNorm((3, 0))
    with pytest.raises(ArgumentError, match="axis"):
        ps.UnitNormalization("last")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="axis has 2 entries and shape 1"):
        ps.Normalization((3,), axis=(1, 2))
    with pytest.raises(ShapeError, match=r"axis is 3; \(1, 3\) has axes -2 to 1"):
        ps.output_shape(ps.Normalization((3,), axis=(3,)), (1, 3))


def test_channels_are_checked_where_torch_checks_them() -> None:
    """The channels stand behind the batch; another number is refused, also by norms that one framework alone has."""
    for layer, shape in ((ps.GroupNorm(2, 4), (7, 4, 5)), (ps.InstanceNorm1d(4, affine=True), (7, 4, 5)), (ps.BatchNorm1d(4), (7, 4))):
        assert layer.output_shape(shape) == shape
        with pytest.raises(ShapeError):
            layer.output_shape((7, 3, *shape[2:]))
    with pytest.raises(ShapeError, match="wanted at least 2 axes, the channels before the spatial ones; found 1"):
        ps.GroupNorm(2, 4).output_shape((4,))
    with pytest.raises(ShapeError):
        ps.SyncBatchNorm(4).output_shape((7, 3, 5))
    assert uses(ps.SyncBatchNorm(4), (7, 4, 5)) == {"weight": 5, "bias": 5}
    for layer, places in ((ps.GroupNorm(2, 4), 5), (ps.InstanceNorm1d(4, affine=True), 5), (ps.BatchNorm1d(4), 5)):
        assert set(uses(layer, (7, 4, 5)).values()) == {places}


def test_a_feature_without_variance() -> None:
    """Keras divides by at least 1e-7 (``backend.epsilon()``), so that an entry equal to the mean gives 0."""
    xp = imported("numpy")
    statistics = {"mean": xp.array([3.0]), "variance": xp.array([0.0]), "count": xp.array(0)}
    assert ps.run(ps.Normalization((1,)), statistics, xp.array([[3.0], [4.0]])).tolist() == [[0], [1e7]]
