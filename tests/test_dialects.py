"""The page of the dialects: its examples run, and what it says of Flax' plain layers is what Flax does."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest
from frameworks import flax_parameters, imported

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "dialects.md"


def test_examples() -> None:
    """Every example on the page prints what it shows."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 20
    assert not failed


@pytest.mark.parametrize(
    ("make", "shape", "stored"),
    [
        (lambda nn: nn.Dense(4), (1, 3), {"kernel": (3, 4), "bias": (4,)}),
        (lambda nn: nn.Conv(4, (3, 2), feature_group_count=2), (1, 8, 8, 6), {"kernel": (3, 2, 3, 4), "bias": (4,)}),
        (lambda nn: nn.ConvTranspose(4, (3, 2)), (1, 8, 8, 6), {"kernel": (3, 2, 6, 4), "bias": (4,)}),
        (lambda nn: nn.ConvTranspose(4, (3, 2), transpose_kernel=True), (1, 8, 8, 6), {"kernel": (3, 2, 4, 6), "bias": (4,)}),
        (lambda nn: nn.LayerNorm(), (1, 5), {"scale": (5,), "bias": (5,)}),
        (lambda nn: nn.BatchNorm(use_running_average=True), (1, 5), {"scale": (5,), "bias": (5,)}),
    ],
    ids=["dense", "conv", "transposed", "transposed kernel", "layer norm", "batch norm"],
)
def test_flax(make: Any, shape: tuple[int, ...], stored: dict[str, tuple[int, ...]]) -> None:
    """Names, shapes and order of Flax' plain layers."""
    assert flax_parameters(make(imported("flax.linen")), shape) == list(stored.items())


def test_flax_embedding_and_statistics() -> None:
    """An embedding's table, and the statistics that stand beside the parameters."""
    linen, jax = imported("flax.linen"), imported("jax")
    table = linen.Embed(7, 3).init(jax.random.key(0), jax.numpy.zeros((1,), int))["params"]
    assert {name: value.shape for name, value in table.items()} == {"embedding": (7, 3)}
    made = linen.BatchNorm(use_running_average=True).init(jax.random.key(0), jax.numpy.zeros((1, 5)))
    assert {name: value.shape for name, value in made["batch_stats"].items()} == {"mean": (5,), "var": (5,)}
