"""Batch and instance normalisation against live torch, Keras and Flax."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, entries, imported, keras_weights
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import C
from paramsym.errors import ArgumentError, ShapeError

BATCH = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]
INSTANCE = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]
OPTIONS: Any = st.fixed_dictionaries(
    {},
    optional={
        "eps": st.floats(1e-8, 1e-2),
        "momentum": st.none() | st.floats(0, 1),
        "affine": st.booleans(),
        "track_running_stats": st.booleans(),
        "bias": st.booleans(),
    },
)


@pytest.mark.parametrize("name", BATCH + INSTANCE)
def test_signature(name: str) -> None:
    """One dict of arguments builds torch's layer and ours."""
    assert_same_signature(getattr(ps, name), getattr(imported("torch").nn, name))


@pytest.mark.parametrize("name", BATCH + INSTANCE)
@settings(deadline=None, max_examples=20)
@given(st.integers(1, 40), OPTIONS)
def test_torch(name: str, features: int, options: dict[str, Any]) -> None:
    """Parameters and buffers are torch's for every combination of flags."""
    theirs = getattr(imported("torch").nn, name)
    assert_same_as_torch(getattr(ps, name)(features, **options), lambda: theirs(features, **options))


@pytest.mark.parametrize("name", BATCH[:3])
@settings(deadline=None, max_examples=10)
@given(st.integers(1, 40), st.booleans(), st.booleans(), st.booleans())
def test_keras(name: str, features: int, center: Any, scale: Any, renorm: Any) -> None:
    """Keras has gamma, beta and moving statistics; renormalisation adds three."""
    batch_normalization = imported("keras").layers.BatchNormalization
    theirs = keras_weights(batch_normalization(center=center, scale=scale, renorm=renorm), (None, 3, features))
    assert entries(getattr(ps, name)(features, bias=center, scale=scale, renorm=renorm, dialect="keras")) == theirs


@pytest.mark.parametrize("use_bias", [True, False])
@pytest.mark.parametrize("use_scale", [True, False])
def test_flax(*, use_bias: bool, use_scale: bool) -> None:
    """Flax keeps scale and bias with the parameters, mean and variance in a collection of their own."""
    linen, jax = imported("flax.linen"), imported("jax")
    module = linen.BatchNorm(use_running_average=False, use_bias=use_bias, use_scale=use_scale)
    theirs = module.init(jax.random.key(0), jax.numpy.zeros((2, 5)))
    ours = ps.BatchNorm1d(5, bias=use_bias, scale=use_scale, dialect="flax")
    parameters = [(name, tuple(value.shape)) for name, value in theirs.get("params", {}).items()]
    assert sorted(ours.shapes().items()) == sorted(parameters)
    statistics = {name: shape for name, shape in ours.shapes(buffers=True).items() if name not in ours.shapes()}
    assert list(statistics.items()) == [(name, tuple(value.shape)) for name, value in theirs["batch_stats"].items()]


def test_formulas() -> None:
    """Ioffe and Szegedy 2015, algorithm 1: a pair gamma, beta per activation; statistics are no parameters."""
    assert ps.BatchNorm2d(C).params == 2 * C
    assert ps.BatchNorm2d(C, affine=False).params == 0
    assert ps.InstanceNorm2d(C).params == 0
    assert ps.BatchNorm2d(C).params.diff(C) == 2
    buffers = ps.BatchNorm2d(C).ledger(buffers=True).where(lambda line: line.buffer)
    assert buffers.stored == 2 * C + 1


@pytest.mark.parametrize("name", BATCH + INSTANCE)
def test_values(name: str) -> None:
    """``at``, repr and pickle give equal layers."""
    layer = getattr(ps, name)(C, bias=False, momentum=None)
    assert layer.at(C=3) == getattr(ps, name)(3, bias=False, momentum=None)
    assert_value(layer)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": False}, "scale=False: torch"),
        ({"renorm": True}, "renorm=True needs dialect='keras'"),
        ({"renorm": True, "dialect": "flax"}, "renorm=True needs dialect='keras'"),
        ({"track_running_stats": False, "dialect": "keras"}, "track_running_stats=False needs dialect='torch'"),
        ({"track_running_stats": False, "dialect": "flax"}, "track_running_stats=False needs dialect='torch'"),
        ({"dialect": "jax"}, "dialect is 'jax'"),
        ({"affine": 1}, "affine is 1"),
    ],
)
def test_what_cannot_be(options: dict[str, Any], words: str) -> None:
    """A flag belongs to the framework of its dialect."""
    with pytest.raises(ArgumentError, match=words):
        ps.BatchNorm1d(4, **options)


def test_instance_norms_in_flax_keep_no_statistics() -> None:
    """Scale and shift stand alone there, and only there."""
    assert list(ps.InstanceNorm2d(4, affine=True, scale=False, dialect="flax").shapes()) == ["bias"]
    with pytest.raises(ArgumentError, match="keeps no statistics"):
        ps.InstanceNorm2d(4, track_running_stats=True, dialect="flax")
    with pytest.raises(ArgumentError, match="scale=False: torch"):
        ps.InstanceNorm2d(4, affine=True, scale=False)


def test_what_axes_there_are() -> None:
    """torch: (N, C) or (N, C, L), (N, C, H, W), (N, C, D, H, W), and nothing else ("expected 2D or 3D input")."""
    shape = (6, 3, 5, 4, 7, 2)
    for name, allowed in (("BatchNorm1d", {2, 3}), ("BatchNorm2d", {4}), ("BatchNorm3d", {5})):
        for axes in range(1, 7):
            if axes in allowed:
                assert getattr(ps, name)(3).output_shape(shape[:axes]) == shape[:axes]
            else:
                with pytest.raises(ShapeError, match=f"found {axes}"):
                    getattr(ps, name)(3).output_shape(shape[:axes])
