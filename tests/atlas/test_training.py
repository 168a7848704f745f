"""What records say of a pass in training beside the one in evaluation that was read: masks counted by hand, and what is refused."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym.errors import NotYetError

B, S = 2, 5


def test_before_and_after() -> None:
    """FNet's head drops what the last layer passes on, of which the pooled state takes a position before: a mask each, and what it gives.

    The embeddings and the head drop once, each layer once; the head keeps what dropout gives, and no longer what the layers give.
    """
    layers, width = 12, 768
    usual, without = (
        ps.activations(ps.from_config({"model_type": "fnet", **keys}, architecture="FNetForTokenClassification"), (B, S)).total
        for keys in ({}, {"hidden_dropout_prob": 0})
    )
    assert usual - without == (1 + layers + 1) * B * S * width


def test_unknown_in_training() -> None:
    """Drop paths of which no layer has the usual rate: known without them, and refused by their key."""
    usual = ps.from_config({"model_type": "bit"}, architecture="BitModel")
    assert ps.activations(usual, (1, 3, 224, 224)).total > 0
    dropped = ps.from_config({"model_type": "bit", "drop_path_rate": 0.1}, architecture="BitModel")
    assert ps.flops(dropped, (1, 3, 224, 224)).total == ps.flops(usual, (1, 3, 224, 224)).total
    with pytest.raises(NotYetError, match=r"what BitModel keeps in training is not known: drop_path_rate is 0\.1 "):
        ps.activations(dropped, (1, 3, 224, 224))
