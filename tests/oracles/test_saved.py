"""What torch's autograd really keeps for the backward pass, against what the programs say: bytes of distinct storages in float32."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from amount import cases, sample
from oracles.test_flops_hf import CONFIGS
from recorded import rows, torch_layer

import paramsym as ps
from paramsym.core.layer import Layer


def convention_of(row: dict[str, Any]) -> str:
    """Return the convention of a row: the kernels of CPUs, with their own masks of dropout or with native ones."""
    device = "-native" if row["dropout"] and "native" in row["mask"] else "-cpu"
    return f"torch-{row['attn']}{device}"


SAVED = [row for row in rows("costs/hf_saved") if "bytes_by_role" in row]
FAMILIES = sorted({(CONFIGS[row["id"]]["family"], row["attn"]) for row in SAVED})


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


@cases(1000)
@pytest.mark.parametrize(("family", "attention"), FAMILIES)
def test_models(family: str, attention: str) -> None:
    """As many bytes as the hooks see, parameters, buffers and inputs left out; without dropout, and with both kinds of masks."""
    wrong = []
    for row in sample(2, (row for row in SAVED if (CONFIGS[row["id"]]["family"], row["attn"]) == (family, attention))):
        shapes = {name: tuple(shape) for name, (shape, _) in row["inputs"].items()}
        found = ps.activations(model_of(row), convention=convention_of(row), **shapes).total
        wanted = row["total_excl_param_input"] - row["bytes_by_role"].get("buffer", 0)
        if found != wanted:
            wrong.append((row["id"], row["attn"], row["dropout"], shapes, wanted, int(found) - wanted))
    assert not wrong, f"{len(wrong)} differ, such as {wrong[:3]}"


TORCH = rows("costs/flops_torch_nn")


def layer_of(row: dict[str, Any]) -> Layer:
    """Return the layer of a row; torch's attention returns its weights by default, and then no fused kernel runs."""
    layer = torch_layer(row)
    if isinstance(layer, ps.MultiHeadAttention):
        layer = replace(layer, need_weights=row["call"].get("need_weights", True))
    return cast("Layer", layer)


def saved(row: dict[str, Any], way: str) -> tuple[int, str] | None:
    """Return the bytes that the hooks saw, without parameters, buffers, inputs and states of generators, and the convention of the run.

    Take the run without oneDNN if there is one, otherwise the run with masks of one byte.
    """
    for run, convention in (("_nomkldnn", "torch-sdpa-cpu"), ("_native_dropout", "torch-sdpa-native"), ("", "torch-sdpa-cpu")):
        kept = row.get(f"saved_{way}{run}")
        if kept is not None and not any(dtype == "uint8" for _, dtype, _, _ in kept):
            scalars = row["layer"].endswith("Loss")  # sums of weights; elsewhere they are states of generators
            ours = [size for shape, _, size, role in kept if role in {"output", "intermediate"} and (shape != [] or scalars)]
            return sum(ours), convention
    return None


@cases(1000)
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
                    found = ps.activations(layer_of(row), *shapes, input_gradients=way == "in", convention=wanted[1]).total
                    if found != wanted[0]:
                        wrong.append((row["args"], row["kwargs"], shapes, row["call"], way, wanted, found))
    assert not wrong, f"{len(wrong)} differ, such as {wrong[:2]}"


def test_workspace_of_one_dnn() -> None:
    """The one difference: if oneDNN runs an LSTM, each direction of each layer keeps a workspace of a size that oneDNN chooses."""
    for row in TORCH:
        if row["layer"] == "LSTM" and not row["kwargs"].get("proj_size"):
            spaces = [kept for kept in row["saved_noin"] if kept[1] == "uint8"]
            assert len(spaces) == row["kwargs"]["num_layers"] * (1 + row["kwargs"]["bidirectional"])
