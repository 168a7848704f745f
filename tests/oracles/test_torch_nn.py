"""Every recorded torch.nn layer, built from the same constructor arguments."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases
from recorded import assert_reproduces, rows, torch_layer


@cases(1000)
@pytest.mark.parametrize("row", rows("torch_nn"), ids=lambda row: f"{row['layer']}-{row['args']}-{row['kwargs']}"[:80])
def test_row(row: dict[str, Any]) -> None:
    """Names, shapes, order, buffers and counts are torch's own."""
    assert_reproduces(torch_layer(row), row)
