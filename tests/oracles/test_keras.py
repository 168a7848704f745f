"""Every recorded Keras layer, built through the Keras door from the same arguments and input shape."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import pytest
from recorded import rows

import paramsym as ps


def numberless(path: str) -> str:
    """Drop the running numbers that Keras gives to layers: forward_lstm_40 is forward_lstm."""
    return re.sub(r"_\d+(?=/|$)", "", path).replace("/", ".")


ROWS = rows("keras")
IDS = [f"{number}-{row['layer']}-{row['kwargs']}"[:80] for number, row in enumerate(ROWS)]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_row(row: dict[str, Any]) -> None:
    """Names, shapes, order, trainable or not, and counts are those of Keras."""
    layer = getattr(ps.keras, row["layer"])(**row["kwargs"], input_shape=row["input_shape"])
    found = [(entry.name, list(entry.tensor.sizes), entry.tensor.trainable and not entry.tensor.buffer) for entry in layer.entries()]
    assert found == [(numberless(path), shape, trainable) for path, shape, trainable in row["weights"]]
    stored = sum(layer.ledger(buffers=True).polynomial().terms.values())
    assert stored == row["n_params"]
    # The rows of the two wrappers do not say how many parameters are trained; their weights do.
    trained = sum(prod(shape) for _, shape, trainable in row["weights"] if trainable)
    assert layer.trainable == row.get("n_trainable", trained)


SHAPED = [(row, name) for row, name in zip(ROWS, IDS, strict=True) if row.get("output_shape") is not None]


@pytest.mark.parametrize("row", [row for row, _ in SHAPED], ids=[name for _, name in SHAPED])
def test_output_shape(row: dict[str, Any]) -> None:
    """What comes out has Keras' shape; with states, each of them."""
    layer = getattr(ps.keras, row["layer"])(**row["kwargs"], input_shape=row["input_shape"])
    found, wanted = listed(ps.output_shape(layer, row["input_shape"])), row["output_shape"]
    if row["layer"] == "EinsumDense":  # Keras forgets an extent that is None in the argument output_shape, where the input has it
        found = [None if theirs is None else ours for ours, theirs in zip(found, wanted, strict=True)]
    assert found == wanted


def listed(shape: Any) -> Any:
    """Return a shape, or shapes, as JSON has them."""
    return [listed(entry) for entry in shape] if isinstance(shape, tuple) else shape
