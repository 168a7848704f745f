"""Every recorded torch.nn layer, built from the same constructor arguments."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import assert_reproduces, rows

import paramsym as ps


def build(row: dict[str, Any]) -> Any:
    """Build a row's layer; the encoder and decoder stacks describe their inner layer."""
    kwargs = dict(row["kwargs"])
    if row["layer"] in {"TransformerEncoder", "TransformerDecoder"}:
        inner = getattr(ps, row["layer"] + "Layer")(*kwargs.pop("layer_args"), **kwargs.pop("layer_kwargs"))
        norm = ps.LayerNorm(inner.d_model) if kwargs.pop("norm") else None
        return getattr(ps, row["layer"])(inner, kwargs.pop("num_layers"), norm=norm, **kwargs)
    return getattr(ps, row["layer"])(*row["args"], **kwargs)


@pytest.mark.parametrize("row", rows("torch_nn"), ids=lambda row: f"{row['layer']}-{row['args']}-{row['kwargs']}"[:80])
def test_row(row: dict[str, Any]) -> None:
    """Names, shapes, order, buffers and counts are torch's own."""
    assert_reproduces(build(row), row)
