"""timm's networks with random numbers in their tensors, and ``ps.run`` beside them."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import paramsym as ps
from paramsym.errors import ParamsymError

np: Any = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

NEAR = 1e-4
_MOST, _NUMBERS = 4e9, 60_000_000
"""The most multiply-adds of a pass that is compared, and the most parameters."""


def network(build: Callable[[], Any], device: str) -> Any:
    """Return timm's network on a device."""
    with warnings.catch_warnings(), torch.device(device):
        warnings.simplefilter("ignore")
        return build().eval()


def sides(model: Any, chance: random.Random) -> tuple[int, int]:
    """Return sides of an image that the network takes: its own if they are fixed."""
    rows, columns = model.inputs["x"][2:]
    if isinstance(rows, int) and isinstance(columns, int):
        return rows, columns
    return 32 * chance.randint(2, 4), 32 * chance.randint(2, 4)


def too_large(model: Any, shape: tuple[int, ...]) -> str:
    """Return why a network is not run; nothing if a pass takes few seconds."""
    work = ps.macs(model, shape).count
    return f"{model.count:,} parameters and {work:,} multiply-adds take long" if model.count > _NUMBERS or work > _MOST else ""


def filled(build: Callable[[], Any], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the network with random numbers in its tensors, and an image."""
    live, generator = network(build, "cpu"), torch.Generator().manual_seed(17)
    for one in (*live.parameters(), *live.buffers()):
        if one.is_floating_point():
            size = one[0].numel() if one.dim() > 1 else 1  # sums keep the size of entries
            drawn = torch.randn if size > 1 else torch.rand
            one.data.copy_(drawn(one.shape, generator=generator) * size**-0.5 + (size == 1) / 2)
    return live, torch.randn(shape, generator=generator)


def difference(build: Callable[[], Any], model: Any, seed: str) -> str:
    """Return how a run of a record's model differs from the network's pass, or why there is none; nothing if it does not differ."""
    shape = (2, 3, *sides(model, random.Random(seed)))
    if said := too_large(model, shape):
        return said
    live, image = filled(build, shape)
    try:
        found = ps.run(model, {key: one.numpy() for key, one in live.state_dict().items()}, image.numpy())
    except ParamsymError as error:
        return str(error)[:160]
    with torch.no_grad():
        wanted = live(image).numpy()
    apart = float(abs(found - wanted).max() / abs(wanted).max())
    return "" if apart <= NEAR else f"the outputs are {apart:.1e} apart"
