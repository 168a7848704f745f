"""Every recorded Keras layer, built through the Keras door from the same arguments and input shape."""

from __future__ import annotations

import re
from typing import Any

import pytest
from recorded import rows

import paramsym as ps


def numberless(path: str) -> str:
    """Drop the running numbers that Keras gives to layers: forward_lstm_40 is forward_lstm."""
    return re.sub(r"_\d+(?=/|$)", "", path).replace("/", ".")


@pytest.mark.parametrize("row", rows("keras"), ids=lambda row: f"{row['layer']}-{row['kwargs']}"[:80])
def test_row(row: dict[str, Any]) -> None:
    """Names, shapes, order, trainable or not, and counts are those of Keras."""
    layer = getattr(ps.keras, row["layer"])(**row["kwargs"], input_shape=row["input_shape"])
    found = [
        (entry.name, list(entry.tensor.sizes), entry.tensor.trainable and not entry.tensor.buffer) for entry in layer.entries()
    ]
    assert found == [(numberless(path), shape, trainable) for path, shape, trainable in row["weights"]]
    stored = sum(layer.ledger(buffers=True).polynomial().terms.values())
    assert stored == row["n_params"]
    assert layer.trainable == row["n_trainable"]
