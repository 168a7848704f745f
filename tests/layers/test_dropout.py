"""Dropout against live torch."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported

import paramsym as ps
from paramsym.errors import ArgumentError

TORCH = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


@pytest.mark.parametrize("name", TORCH)
def test_torch(name: str) -> None:
    """One dict of arguments builds torch's layer and ours; nothing is stored, and a probability is one."""
    theirs, ours = getattr(imported("torch").nn, name), getattr(ps, name)
    assert_same_signature(ours, theirs)
    assert_same_as_torch(ours(0.1, inplace=True), lambda: theirs(0.1, inplace=True))
    for wrong in (-0.1, 1.5):
        with pytest.raises(ValueError, match="between 0 and 1"):
            theirs(wrong)
        with pytest.raises(ArgumentError, match="between 0 and 1"):
            ours(wrong)
    assert eval(repr(ours(0.1)), {name: ours}) == ours(0.1)


def test_every_dropout_of_torch_is_here() -> None:
    """No module of torch's file is missing."""
    assert sorted(imported("torch").nn.modules.dropout.__all__) == TORCH


@pytest.mark.parametrize(
    ("layer", "wrong"),
    [(ps.GaussianDropout, 1.5), (ps.GaussianNoise, -1), (ps.GaussianNoise, 1.5), (ps.Dropout, "0.1"), (ps.Dropout, True)],
)
def test_what_cannot_be(layer: Any, wrong: Any) -> None:
    """Keras' two are checked likewise; a probability is a number."""
    with pytest.raises(ArgumentError):
        layer(wrong)
