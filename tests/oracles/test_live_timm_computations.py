"""What timm's architectures compute, beside the live networks: torch's counter at fresh sizes, kept bytes, and the result of a run."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
from amount import sample
from oracles.test_timm import timm

import paramsym as ps
from paramsym.atlas.computing import computed_networks
from paramsym.errors import NotYetError

torch = pytest.importorskip("torch")

from oracles.live_timm import difference, filled, network, sides, too_large  # noqa: E402 - it needs torch
from read.comparing import counted_on, kept  # noqa: E402 - it needs torch

NAMES = sample(12, computed_networks())


def built(name: str) -> Any:
    """Return a function that builds timm's network."""
    return partial(timm().create_model, name)


@pytest.mark.parametrize("name", NAMES)
def test_the_counter(name: str) -> None:
    """FLOPs forward and both ways are those of torch's counter, for other images than the record was read with."""
    chance = random.Random(name)
    model, live = ps.load(f"timm/{name}"), network(built(name), "meta")
    for batch in (1, 4):
        shape = (batch, 3, *sides(model, chance))
        found = tuple(ps.flops(model, shape, way=way).total for way in ("forward", "both"))
        assert found == counted_on(live, {}, torch.empty(shape, device="meta")), shape


@pytest.mark.parametrize("name", NAMES)
def test_a_run(name: str) -> None:
    """A run with the network's tensors gives its scores, or is refused."""
    said = difference(built(name), ps.load(f"timm/{name}"), name)
    if "take long" in said or "not known" in said:  # arrays that are made from sizes have no rules
        pytest.skip(said)
    assert not said


@pytest.mark.parametrize("name", NAMES)
def test_kept_bytes(name: str) -> None:
    """A pass in training keeps the bytes that autograd holds, or it is said that training is not known."""
    model = ps.load(f"timm/{name}")
    shape = (2, 3, *sides(model, random.Random(name)))
    if said := too_large(model, shape):
        pytest.skip(said)
    try:
        found = ps.activations(model, shape, convention="torch-sdpa-cpu", dtype="float32").total
    except NotYetError as error:
        pytest.skip(str(error))
    live, image = filled(built(name), shape)
    assert found == kept(live.train(), [image])
