"""What timm's architectures compute, beside the live networks: torch's counter at fresh sizes, kept bytes, and the result of a run."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
from amount import sample
from oracles.test_timm import timm

import paramsym as ps
from paramsym.atlas import computing
from paramsym.atlas.files import timm_index
from paramsym.errors import ArgumentError, NotYetError

torch = pytest.importorskip("torch")

from read.comparing import counted_on, kept  # noqa: E402 - it needs torch

NAMES = [name for name in timm_index()["modules"] if computing.path_of(f"timm/{name}").is_file()]


def network(name: str, device: str) -> Any:
    """Return timm's network."""
    with warnings.catch_warnings(), torch.device(device):
        warnings.simplefilter("ignore")
        return timm().create_model(name).eval()


def sides(model: Any, chance: random.Random) -> tuple[int, int]:
    """Return sides of an image that the network takes: its own if they are fixed."""
    axes = model.inputs["x"]
    if all(isinstance(one, int) for one in axes[2:]):
        return int(axes[2]), int(axes[3])
    return 32 * chance.randint(3, 6), 32 * chance.randint(3, 6)


@pytest.mark.parametrize("name", sample(12, NAMES))
def test_the_counter(name: str) -> None:
    """FLOPs forward and both ways are those of torch's counter, for other images than the record was read with."""
    chance = random.Random(name)
    model, live = ps.load(f"timm/{name}"), network(name, "meta")
    for batch in (1, 4):
        shape = (batch, 3, *sides(model, chance))
        found = tuple(ps.flops(model, shape, way=way).total for way in ("forward", "both"))
        assert found == counted_on(live, {}, torch.empty(shape, device="meta")), shape


def filled(name: str, chance: random.Random) -> tuple[Any, Any]:
    """Return the network with random numbers in its tensors, and an image."""
    live = network(name, "cpu")
    generator = torch.Generator().manual_seed(17)
    for one in (*live.parameters(), *live.buffers()):
        if one.is_floating_point():
            size = one[0].numel() if one.dim() > 1 else 1  # sums keep the size of entries
            one.data.copy_(torch.randn(one.shape, generator=generator).mul(size**-0.5) if size > 1 else 0.5 + torch.rand(one.shape))
    height, width = sides(ps.load(f"timm/{name}"), chance)
    return live, torch.randn(2, 3, height, width, generator=generator)


def is_small(name: str) -> bool:
    """Whether a network is run here: a pass takes few seconds."""
    model = ps.load(f"timm/{name}")
    return model.count < 60_000_000 and ps.macs(model, (1, 3, *sides(model, random.Random(0)))).total < 6e9


SMALL = [name for name in sample(12, NAMES) if is_small(name)]


@pytest.mark.parametrize("name", SMALL)
def test_a_run(name: str) -> None:
    """A run with the network's tensors gives its scores, or says what it has no entries of."""
    live, image = filled(name, random.Random(name))
    tensors = {key: one.numpy() for key, one in live.state_dict().items()}
    try:
        found = ps.run(ps.load(f"timm/{name}"), tensors, image.numpy())
    except ArgumentError as error:
        pytest.skip(str(error))
    with torch.no_grad():
        wanted = live(image).numpy()
    assert abs(found - wanted).max() <= 1e-4 * abs(wanted).max()


@pytest.mark.parametrize("name", SMALL)
def test_kept_bytes(name: str) -> None:
    """A pass in training keeps the bytes that autograd holds, or it is said that training is not known."""
    live, image = filled(name, random.Random(name))
    try:
        found = ps.activations(ps.load(f"timm/{name}"), tuple(image.shape), convention="torch-sdpa-cpu", dtype="float32").total
    except NotYetError as error:
        pytest.skip(str(error))
    assert found == kept(live.train(), [image])
