"""Every recorded row of torch's own counter for models of transformers: forward, and forward with backward; and published checkpoints."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
from amount import cases, sample
from recorded import rows

import paramsym as ps
from paramsym.atlas.published import RECORDED_TYPES
from paramsym.core.layer import Layer
from paramsym.models import model_types

CONFIGS = {row["id"]: row for row in rows("costs/hf_models")}
ROWS = [row for row in rows("costs/flops_hf") if "fwd" in row]
FAMILIES = sorted({CONFIGS[row["id"]]["family"] for row in ROWS})
FLASH = "_scaled_dot_product_flash_attention_for_cpu_backward"


def model_of(row: dict[str, Any]) -> Layer:
    """Return the model of a row; rows with other inputs, or with another function for attention, share it and what it caches."""
    return _model(row["id"], row["cls"])


@lru_cache(maxsize=16)
def _model(name: str, cls: str) -> Layer:
    config = CONFIGS[name]
    return ps.from_config({**config["config"], "model_type": config["family"]}, cls)


def both(row: dict[str, Any]) -> int:
    """Return the counter's total of forward and backward without its faults.

    The weight gradient of a grouped convolution is counted ``groups`` times over. The fused attention computes the scores again on the way
    back: its backward pass counts 5 products for the 2 of the forward pass.
    """
    counted = row["fwdbwd"]
    return int(counted["total"] - counted.get("grouped_wgrad_excess", 0) - counted["by_op"].get(FLASH, 0) // 5)


@cases(1000)
@pytest.mark.parametrize("family", FAMILIES)
def test_rows(family: str) -> None:
    """The totals are equal."""
    wrong = []
    for row in sample(3, (row for row in ROWS if CONFIGS[row["id"]]["family"] == family)):
        model = model_of(row)
        shapes = {name: tuple(shape) for name, (shape, _) in row["inputs"].items()}
        for way, wanted in (("forward", row["fwd"]["total"]), ("both", both(row) if row.get("fwdbwd") else None)):
            found = None if wanted is None else ps.flops(model, **shapes, way=way).total  # type: ignore[arg-type]
            if found != wanted:
                wrong.append((row["id"], row["cls"], row["attn"], way, shapes, wanted, found))
    assert not wrong, f"{len(wrong)} totals, such as {wrong[:2]}"


CHECKPOINTS = [row for row in rows("costs/flops_hf_checkpoints") if "fwd" in row and row["family"] in {*model_types(), *RECORDED_TYPES}]


@pytest.mark.parametrize("family", sorted({row["family"] for row in CHECKPOINTS}))
def test_checkpoints(family: str) -> None:
    """Published models at full size: numbers put into the formula in letters."""
    wrong = []
    for row in sample(1, (row for row in CHECKPOINTS if row["family"] == family)):
        model = ps.from_config({**row["config_kwargs"], "model_type": family}, row["cls"])
        found = ps.flops(model, **{name: tuple(shape) for name, shape in row["inputs"].items()}).total
        if found != row["fwd"]["total"]:
            wrong.append((row["checkpoint"], row["cls"], row["inputs"], row["fwd"]["total"], found))
    assert not wrong, f"{len(wrong)} totals, such as {wrong[:2]}"
