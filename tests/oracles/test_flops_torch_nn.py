"""Every recorded row of torch's own counter for torch.nn layers: forward, and forward with backward, with and without input gradients."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from amount import cases
from frameworks import imported
from recorded import rows, torch_layer

import paramsym as ps
from paramsym.core.layer import Layer

ROWS = rows("costs/flops_torch_nn")
UNSEEN = {"Bilinear"}  # torch's counter has no formula for the operation and says 0
LAYERS = sorted({row["layer"] for row in ROWS} - UNSEEN)


def counts(row: dict[str, Any]) -> list[tuple[str, int | None]]:
    """Return what the counter says: forward; both, without and with gradients of the inputs. Faults of the counter are taken out."""
    kind = "_nomkldnn" if "fwd_nomkldnn" in row else ""  # the counter does not see oneDNN's recurrent kernels
    found = [(way, row.get(f"{way}{kind}")) for way in ("fwd", "fwdbwd_noin", "fwdbwd_in")]
    return [(way, None if total is None else corrected(row, way, total)) for way, total in found]


def corrected(row: dict[str, Any], way: str, counted: dict[str, Any]) -> int:
    """Return the counter's total without its faults."""
    total: int = counted["total"]
    groups = row["kwargs"].get("groups", 1)
    if "Conv" in row["layer"] and way != "fwd":
        # The weight gradient of a grouped convolution is counted ``groups`` times over.
        total -= (groups - 1) * row["fwd"]["total"]
    # The fused kernel computes the scores again on the way back, so that its backward pass counts 5 products for the 2 of the forward pass.
    total -= counted["by_op"].get("_scaled_dot_product_flash_attention_for_cpu_backward", 0) // 5
    return total


def flops(layer: Layer, row: dict[str, Any], way: str) -> Any:
    """Return our count."""
    shapes = [tuple(shape) for shape, _ in row["inputs"]]
    shapes = shapes if not row["call"].get("_self") else shapes[:1]
    ways: dict[str, Any] = {"fwd": {}, "fwdbwd_noin": {"way": "both"}, "fwdbwd_in": {"way": "both", "input_gradients": True}}
    return ps.flops(layer, *shapes, **ways[way]).total


def test_every_recorded_layer_is_one_of_ours() -> None:
    """Nothing that torch was asked about lacks a layer."""
    assert {row["layer"] for row in ROWS} <= {*dir(ps)}


def test_fused_attention_counts_five_products() -> None:
    """The convention "torch-fused" is what the counter says where a fused kernel ran, with the scores that it computes again."""
    seen = 0
    for row in ROWS:
        for way in ("fwdbwd_noin", "fwdbwd_in"):
            counted = row.get(way)
            again = counted and counted["by_op"].get("_scaled_dot_product_flash_attention_for_cpu_backward", 0)
            if again:
                shapes = [tuple(shape) for shape, _ in row["inputs"]]
                found = ps.flops(torch_layer(row), *shapes, way="both", convention="torch-fused", input_gradients=way == "fwdbwd_in")
                assert found.total == counted["total"]
                seen += 1
    assert seen


@cases(1000)
@pytest.mark.parametrize("layer", LAYERS)
def test_rows(layer: str) -> None:
    """The totals are equal."""
    wrong = []
    for row in ROWS:
        if row["layer"] == layer:
            ours = torch_layer(row)
            for way, wanted in counts(row):
                found = None if wanted is None else flops(ours, row, way)
                if found != wanted:
                    wrong.append((row["args"], row["kwargs"], row["inputs"], row["call"], way, wanted, found))
    assert not wrong, f"{len(wrong)} totals, such as {wrong[:2]}"


def test_bilinear_maps_are_not_seen() -> None:
    """The counter says 0 for x W y; the sum over both inputs multiplies i*j entries for each of k outputs."""
    found = [row for row in ROWS if row["layer"] == "Bilinear"]
    assert {row["fwd"]["total"] for row in found} == {0}
    for row in found:
        first, second, outputs = row["args"]
        (shape, _), _ = row["inputs"]
        assert flops(torch_layer(row), row, "fwd") >= 2 * prod(shape[:-1]) * first * second * outputs


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_grouped_weight_gradients_are_counted_too_often(groups: int) -> None:
    """The live counter says that a weight gradient costs ``groups`` forward passes; it multiplies as many pairs as one."""
    torch, counter = imported("torch"), imported("torch.utils.flop_counter").FlopCounterMode(display=False)
    module = torch.nn.Conv1d(4, 8, 3, groups=groups, bias=False)
    with counter:
        module(torch.ones(2, 4, 7)).sum().backward()
    forward = 2 * (2 * 8 * 5) * (3 * 4 // groups)
    assert counter.get_total_flops() == forward + groups * forward
    ours = ps.Conv1d(4, 8, 3, groups=groups, bias=False)
    assert ps.flops(ours, (2, 4, 7), way="both").total == 2 * forward


def test_the_counter_counts_the_scores_of_the_fused_kernel_again() -> None:
    """By the counter's own formulas backward is 2.5 times forward where the kernel is fused, for the scores that it computes anew."""
    counter = imported("torch.utils.flop_counter")
    shape = (2, 3, 5, 4)
    forward = counter.sdpa_flop_count(shape, shape, shape)
    assert forward == 4 * 2 * 3 * 5 * 5 * 4
    assert counter.sdpa_backward_flop_count(shape, shape, shape, shape) * 2 == 5 * forward
