"""What torch's autograd really keeps for the backward pass, against what the programs say: bytes of distinct storages in float32."""

from __future__ import annotations

from typing import Any

import pytest
from oracles.test_flops_hf import CONFIGS
from recorded import rows, torch_layer

import paramsym as ps
from paramsym.core.layer import Layer

SAVED = [row for row in rows("costs/hf_saved") if "bytes_by_role" in row]
FAMILIES = sorted({(CONFIGS[row["id"]]["family"], row["attn"]) for row in SAVED})


def convention_of(row: dict[str, Any]) -> str:
    """Return the convention of a row: with dropout, what ran on a CPU with its own masks or with native ones."""
    device = "" if row["dropout"] == 0 else "-native" if "native" in row["mask"] else "-cpu"
    return f"torch-{row['attn']}{device}"


def model_of(row: dict[str, Any]) -> Layer:
    """Return the model of a row, whose configuration has one rate of dropout under all keys, or none."""
    config = CONFIGS[row["id"]]
    changed: dict[str, Any] = {**config["config"], "model_type": config["family"]}
    for path in row["dropout_keys"] if row["dropout"] else ():
        *holders, name = path.split(".")
        inside = changed
        for holder in holders:
            inside[holder] = inside = dict(inside[holder])
        inside[name] = row["dropout"]
    return ps.from_config(changed, row["cls"])


@pytest.mark.parametrize(("family", "attention"), FAMILIES)
def test_models(family: str, attention: str) -> None:
    """As many bytes as the hooks see, parameters, buffers and inputs left out; without dropout, and with both kinds of masks."""
    wrong = []
    for row in SAVED:
        if (CONFIGS[row["id"]]["family"], row["attn"]) == (family, attention):
            shapes = {name: tuple(shape) for name, (shape, _) in row["inputs"].items()}
            found = ps.activations(model_of(row), convention=convention_of(row), **shapes).total
            wanted = row["total_excl_param_input"] - row["bytes_by_role"].get("buffer", 0)
            if found != wanted:
                wrong.append((row["id"], row["attn"], row["dropout"], shapes, wanted, int(found) - wanted))
    assert not wrong, f"{len(wrong)} of {len(SAVED)} differ, such as {wrong[:3]}"


NO_LAYERS = {"CosineSimilarity", "PairwiseDistance"}  # distances of two inputs, which store nothing: not among the layers, as the losses
UNLIKE = {
    *("AlphaDropout", "Dropout1d", "Dropout2d"),  # masks of another shape, or of the input's type
    *("GLU", "Hardswish", "LogSigmoid", "PReLU", "ReLU", "ReLU6", "SiLU"),  # one kernel of torch, or in place
    *("GRU", "GRUCell", "LSTM", "RNN"),  # kernels that keep a workspace of all steps
    *("Bilinear", "Conv1d", "Embedding", "EmbeddingBag", "InstanceNorm1d", "InstanceNorm2d", "LPPool1d", "LPPool2d", "LocalResponseNorm"),
    *("MultiheadAttention", "Transformer", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"),  # scaled queries
}
"""Layers whose kernels in torch keep something else than the operations of their programs do in at least one recorded row."""
TORCH = [row for row in rows("costs/flops_torch_nn") if not row["layer"].endswith("Loss") and row["layer"] not in NO_LAYERS | UNLIKE]


def saved(row: dict[str, Any], way: str) -> int | None:
    """Return the bytes that the hooks saw, parameters, buffers and inputs left out; masks of one byte where dropout was recorded so."""
    kept = row.get(f"saved_{way}_native_dropout") or row.get(f"saved_{way}")
    return None if kept is None else sum(size for _, _, size, role in kept if role in {"output", "intermediate"})


@pytest.mark.parametrize("layer", sorted({row["layer"] for row in TORCH}))
def test_layers(layer: str) -> None:
    """As many bytes for every layer of torch.nn, with and without a gradient for its inputs."""
    wrong = []
    for row in TORCH:
        if row["layer"] == layer:
            shapes = [tuple(shape) for shape, _ in row["inputs"]]
            shapes = shapes if not row["call"].get("_self") else shapes[:1]
            for way in ("in", "noin"):
                wanted = saved(row, way)
                if wanted is not None:
                    found = ps.activations(torch_layer(row), *shapes, input_gradients=way == "in").total
                    if found != wanted:
                        wrong.append((row["args"], row["kwargs"], shapes, row["call"], way, wanted, found))
    assert not wrong, f"{len(wrong)} differ, such as {wrong[:2]}"
