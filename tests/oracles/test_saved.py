"""What torch's autograd really keeps for the backward pass, against what the programs say: bytes of distinct storages in float32."""

from __future__ import annotations

import pytest
from oracles.test_flops_hf import CONFIGS, model_of
from recorded import rows

import paramsym as ps

SAVED = [row for row in rows("costs/hf_saved") if row["dropout"] == 0 and "bytes_by_role" in row]
FAMILIES = sorted({CONFIGS[row["id"]]["family"] for row in SAVED})
CONVENTIONS = {"eager": "torch-eager", "sdpa": "torch-sdpa"}


@pytest.mark.parametrize("family", FAMILIES)
def test_models(family: str) -> None:
    """As many bytes as the hooks see, parameters, buffers and the model's inputs left out."""
    wrong = []
    for row in SAVED:
        if CONFIGS[row["id"]]["family"] == family:
            shapes = {name: tuple(shape) for name, (shape, _) in row["inputs"].items()}
            found = ps.activations(model_of(row), convention=CONVENTIONS[row["attn"]], **shapes).total
            wanted = row["total_excl_param_input"] - row["bytes_by_role"].get("buffer", 0)
            if found != wanted:
                wrong.append((row["id"], row["attn"], shapes, wanted, int(found) - wanted))
    assert not wrong, f"{len(wrong)} of {len(SAVED)} differ, such as {wrong[:3]}"
