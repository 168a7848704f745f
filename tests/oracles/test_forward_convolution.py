"""Convolutions compute what torch computes, on random settings."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frameworks import imported
from running import assert_runs_as_torch

import paramsym as ps


def settings(random: Random) -> dict[str, Any]:
    """Draw arguments that torch accepts."""
    groups, padding = random.choice([1, 1, 2, 3]), random.choice([0, 1, 2, "same", "valid"])
    return {
        "in_channels": groups * random.randint(1, 3),
        "out_channels": groups * random.randint(1, 3),
        "kernel_size": random.randint(1, 4),
        "stride": 1 if padding == "same" else random.randint(1, 3),
        "padding": padding,
        "dilation": random.randint(1, 2),
        "groups": groups,
        "bias": random.random() < 0.5,
        "padding_mode": random.choice(["zeros", "reflect", "replicate", "circular"]),
    }


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolutions(rank: int) -> None:
    """Thirty random settings each, with and without a batch."""
    torch, random = imported("torch"), Random(rank)  # noqa: S311 - test data
    for _ in range(30):
        drawn = settings(random)
        module = getattr(torch.nn, f"Conv{rank}d")(**drawn)
        batch = (2,) if random.random() < 0.7 else ()
        image = torch.randn(*batch, drawn["in_channels"], *(random.randint(7, 10) for _ in range(rank)), dtype=torch.float64)
        assert_runs_as_torch(getattr(ps, f"Conv{rank}d")(**drawn), module, image)
