"""``ps.run`` of a recorded class beside the reference, with the same random tensors, at drawn configurations."""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping
from typing import Any

import pytest

import paramsym as ps
from paramsym.atlas.building import recorded
from paramsym.atlas.computing import Computation
from paramsym.errors import NotYetError

np: Any = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from oracles.test_live_computations import class_of, drawn, small  # noqa: E402 - it needs torch

_NEAR, _DRAWS, _AGREED = 1e-4, 7, 2
_MOST = 60_000_000
"""The most parameters of a drawn configuration."""
_SIZES = {"B": 2, "S": 7, "T": 5, "height": 64, "width": 64, "samples": 16_080, "frames": 104}


def agrees(model_type: str, name: str, computation: Computation, seed: int = 0, **given_keys: Any) -> str:
    """Return how ``ps.run`` differs from the reference at drawn configurations with random tensors; nothing if it does not."""
    flags = {key: values[0] for key, values in computation.held.items() if isinstance(values[0], bool) and "." not in key}
    said, agreed = "no drawn configuration is known and small", 0
    for turn in range(_DRAWS):
        pair = _both(model_type, name, computation, f"{seed} {turn}", turn, flags | given_keys)
        if pair is None:
            continue
        try:
            wrong = _difference(*pair, turn)
        except NotYetError as error:
            said = f"NotYetError: {error}"
            continue
        except Exception as error:  # noqa: BLE001 - an operator that NumPy refuses
            return f"{type(error).__name__}: {str(error)[:200]}"
        if wrong:
            return wrong
        agreed += 1
        if agreed == _AGREED:
            return ""
    return "" if agreed else said


def _both(
    model_type: str, name: str, computation: Computation, seed: str, turn: int, given_keys: Mapping[str, Any]
) -> tuple[Any, Any] | None:
    """Return the record's model and the reference's at a drawn configuration; None if one of the two does not take it."""
    default = transformers.AutoConfig.for_model(model_type)
    chance = random.Random(f"{model_type} {name} entries {seed}")
    keys = drawn(default, chance, turn) | (small(default, chance) if turn % 2 else {}) | given_keys
    try:
        config = type(default)(**{**keys, "use_cache": False})
        made = class_of(default, name)
        with torch.device("meta"):
            number = sum(one.numel() for one in made(config).parameters())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer: Any = recorded({"model_type": model_type, **keys}, name)[0]
        layer.__dict__["_computations"] = (computation,)
        return (layer, made(config).eval()) if number <= _MOST and computation.fits(layer._settled) else None
    except Exception:  # noqa: BLE001 - somebody else's code may raise anything
        return None


def _difference(layer: Any, module: Any, seed: int) -> str:
    """Return how the two outputs differ, with the same random tensors; arrays keep their size from layer to layer."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for tensor in module.parameters():
            bound = (3 / tensor.shape[-1]) ** 0.5 if tensor.ndim else 1.0
            tensor.uniform_(-bound, bound) if tensor.ndim > 1 else tensor.uniform_(0.5, 1.5)
    names = {entry.name for entry in layer.entries()} | {*layer.tied}
    tensors = {one: value.detach().numpy() for one, value in module.state_dict().items() if one in names}
    shapes = {one: tuple(axis if isinstance(axis, int) else _SIZES[axis.name] for axis in shape) for one, shape in layer.inputs.items()}
    given = {one: torch.randint(5, 60, shape) if one.endswith("ids") else torch.rand(shape) for one, shape in shapes.items()}
    mine = ps.run(layer, tensors, **{one: value.numpy() for one, value in given.items()})
    with torch.no_grad():
        its: Any = module(**given)
    listed = its.to_tuple() if hasattr(its, "to_tuple") else its
    wanted = next(one for one in listed if torch.is_tensor(one)).numpy()
    found = mine[0] if isinstance(mine, tuple) else mine
    if found.shape != wanted.shape:
        return f"shapes {found.shape} and not {wanted.shape}"
    difference = float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))
    return "" if difference < _NEAR else f"differs by {difference:.2g} at {layer!r}"
