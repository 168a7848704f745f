"""Every recorded row of caches of transformers: after a prefill, and after one decoding step, with the work of the step."""

from __future__ import annotations

from math import prod

import pytest
from amount import sample
from oracles.test_flops_hf import CONFIGS, model_of
from recorded import rows

import paramsym as ps
from paramsym.errors import NotYetError

ROWS = [row for row in rows("costs/hf_cache") if "cache" in row]
FAMILIES = sorted({CONFIGS[row["id"]]["family"] for row in ROWS})


@pytest.mark.parametrize("family", FAMILIES)
def test_rows(family: str) -> None:
    """As many elements as the reference keeps, and as many operations for one more token."""
    wrong = []
    for row in sample(3, (row for row in ROWS if CONFIGS[row["id"]]["family"] == family)):
        model = model_of(row)
        shapes = {name: tuple(shape) for name, (shape, _) in row["inputs"].items()}
        kept = ps.kv_cache(model, **shapes)
        if kept.total != sum(prod(shape) for _, shape, *_ in row["cache"]):
            wrong.append((row["id"], shapes, "prefill", kept.total))
        if family in {"bart", "marian", "mbart", "pegasus", "t5", "mt5", "umt5", "whisper"}:
            continue  # a step of these is one of the decoder alone
        step = {name: tuple(shape) for name, shape in row["step_inputs"].items()}
        after = ps.kv_cache(model, **step, past=row["n_cached"])
        if after.total != sum(map(prod, row["cache_after_step"])):
            wrong.append((row["id"], shapes, "after the step", after.total))
        work = ps.flops(model, **step, past=row["n_cached"])
        if work.total != row["step"]["total"]:
            wrong.append((row["id"], shapes, "step", work.total, row["step"]["total"]))
    assert not wrong, f"{len(wrong)} differ, such as {wrong[:3]}"


def test_several_positions_after_others() -> None:
    """Mamba-2 computes one position as a step; several after others are refused."""
    row = next(row for row in ROWS if CONFIGS[row["id"]]["family"] == "mamba2")
    with pytest.raises(NotYetError, match="give one position"):
        ps.flops(model_of(row), (1, 2), past=row["n_cached"])
