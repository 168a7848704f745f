"""Every recorded model of a known family through ``from_config``."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases
from oracles.encoder_configs import as_checkpoints_load
from recorded import assert_reproduces, rows

import paramsym as ps
from paramsym.atlas.published import RECORDED_TYPES
from paramsym.models import model_types

FILES = ("hf_checkpoints", "hf_defaults", "hf_random")
FAMILIES = [*model_types(), *RECORDED_TYPES]
ROWS = [(file, row) for file in FILES for row in rows(file) if row["config"]["model_type"] in FAMILIES]


@cases(1000)
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{file}-{number}-{row['model_class']}") for number, (file, row) in enumerate(ROWS)])
def test_row(row: dict[str, Any]) -> None:
    """Names, shapes, order, buffers, ties and counts are the reference's own."""
    model = ps.from_config(row["config"], architecture=row["model_class"], strict=True)
    unsaved = row["config"]["model_type"] in model_types()  # a record has no buffers that are in no file
    assert_reproduces(as_checkpoints_load(model) if "untied" in row.get("variant", "") else model, row, unsaved=unsaved)


def test_rows_are_there() -> None:
    """The recorded files hold the rows that this test is about."""
    assert len(ROWS) >= 58
    assert {"bert", "gpt2", "vit"} <= {row["config"]["model_type"] for _, row in ROWS}
