"""``ps.run`` of a recorded class beside the reference, with the same random tensors, at drawn configurations."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import paramsym as ps
from paramsym.atlas.building import recorded
from paramsym.atlas.computation import Computation
from paramsym.atlas.domain import thawed
from paramsym.atlas.files import record_of
from paramsym.errors import ConfigError, NotYetError, ShapeError

np: Any = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from oracles.test_live_computations import GIVEN, class_of, drawn, small  # noqa: E402 - it needs torch

_NEAR, _DRAWS, _AGREED = 1e-4, 9, 2
_MOST = 350_000_000
"""The most parameters of a drawn configuration."""
_SIZES = {"B": 2, "S": 7, "T": 5, "height": 64, "width": 64, "samples": 16_080, "frames": 104}


_SMALL = {
    "vocab_size": 384,
    "intermediate_size": 192,
    "moe_intermediate_size": 64,
    "n_routed_experts": 16,
    "num_experts": 16,
    "num_local_experts": 16,
    "num_hidden_layers": 1,
    "max_position_embeddings": 64,
}
"""Sizes as small as the record takes them, beside a default's widths."""
_DEFAULT_WIDTH = (7, 8)
"""The last turns, for records that know few widths."""
_EPSILON = 0.05


def agrees(model_type: str, name: str, computation: Computation, seed: int = 0, **given_keys: Any) -> str:
    """Return how ``ps.run`` differs from the reference at drawn configurations with random tensors; nothing if it does not."""
    flags = dict(GIVEN.get(model_type, {}))
    flags |= {one.key: 4 * one.divisor for one in computation.windows if one.beyond and "." not in one.key}
    numbers = {one.key: one.default for one in computation.running.arguments if "." not in one.key and isinstance(one.default, float)}
    others = {key: _EPSILON if number < _EPSILON else number * 1.25 for key, number in numbers.items()}
    said, agreed = "no drawn configuration is known and small", 0
    for turn in range(_DRAWS):
        pair = _both(model_type, name, computation, f"{seed} {turn}", turn, flags | (others if turn % 2 else {}) | given_keys)
        if pair is None:
            continue
        try:
            wrong = _difference(*pair, turn)
        except (NotYetError, ShapeError) as error:  # no wrong entries
            said = f"{type(error).__name__}: {error}"
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
    default = transformers.AutoConfig.for_model(model_type, **GIVEN.get(model_type, {}))
    chance = random.Random(f"{model_type} {name} entries {seed}")
    domains = record_of(model_type)["classes"][name]["keys"]
    least = {key: domains.get(key, {}).get("whole", [0])[0] for key in _SMALL}
    few = {key: max(number, least[key]) for key, number in _SMALL.items() if isinstance(getattr(default, key, None), int)}
    keys = few if turn in _DEFAULT_WIDTH else drawn(default, chance, turn)
    if turn % 3 < 2 and "vocab_size" in keys:
        keys["vocab_size"] = few["vocab_size"] + chance.randint(0, 9)
    if "num_hidden_layers" in keys and "layer_types" not in keys:
        keys["num_hidden_layers"] = chance.choice((1, 1, 2) if turn in _DEFAULT_WIDTH else (1, 2, 5))
    keys |= small(default, chance) if turn % 2 else {}
    keys |= {**dict(_held(computation, default, keys.get("num_hidden_layers"))), **given_keys}
    try:
        config = type(default)(**{**keys, "use_cache": False})
        made = class_of(default, name)
        with torch.device("meta"):
            number = sum(one.numel() for one in made(config).parameters())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer: Any = _read(model_type, name, keys, getattr(config, "layer_types", None))
        layer.__dict__["_computations"] = (computation,)
        return (layer, made(config).eval()) if number <= _MOST and computation.fits(layer._settled) else None
    except Exception:  # noqa: BLE001 - somebody else's code may raise anything
        return None


def _read(model_type: str, name: str, keys: Mapping[str, Any], kinds: Any) -> Any:
    """Return the record's model; it may need the kinds of layers that the reference derives."""
    try:
        return recorded({"model_type": model_type, **keys}, name)[0]
    except ConfigError:
        return recorded({"model_type": model_type, **keys, "layer_types": list(kinds or ())}, name)[0]


def _held(computation: Computation, default: Any, depth: int | None) -> Iterator[tuple[str, Any]]:
    """Yield values that a record holds, of keys whose default is another one; a list of equal entries has one for each layer."""
    for key, values in computation.held.items():
        value = thawed(values[0])
        if "." not in key and hasattr(default, key) and value is not None:
            repeated = isinstance(value, list) and depth is not None and len({repr(one) for one in value}) == 1
            yield key, value[:1] * (depth or 0) if repeated else value


def _difference(layer: Any, module: Any, seed: int) -> str:
    """Return how the two outputs differ, with the same random tensors; arrays keep their size from layer to layer."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for tensor in module.parameters():
            inside = tensor[0].numel() if tensor.ndim > 3 else tensor.shape[-1] if tensor.ndim else 3
            bound = (3 / inside) ** 0.5
            tensor.uniform_(-bound, bound) if tensor.ndim > 1 else tensor.uniform_(0.5, 1.5)
    names = {entry.name for entry in layer.entries()} | {*layer.tied}
    tensors = {one: value.detach().numpy() for one, value in module.state_dict().items() if one in names}
    shapes = {one: tuple(axis if isinstance(axis, int) else _SIZES[axis.name] for axis in shape) for one, shape in layer.inputs.items()}
    given = {one: torch.randint(5, 60, shape) if one.endswith("ids") else torch.rand(shape) for one, shape in shapes.items()}
    try:
        with torch.no_grad():
            its: Any = module(**given)
    except (IndexError, RuntimeError, ValueError) as error:
        raise NotYetError(f"the reference does not run: {error}") from None
    mine = ps.run(layer, tensors, **{one: value.numpy() for one, value in given.items()})
    listed = its.to_tuple() if hasattr(its, "to_tuple") else its
    wanted = next(one for one in listed if torch.is_tensor(one)).numpy()
    found = mine[0] if isinstance(mine, tuple) else mine
    if found.shape != wanted.shape:
        return f"shapes {found.shape} and not {wanted.shape}"
    difference = float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))
    return "" if difference < _NEAR else f"differs by {difference:.2g} at {layer!r}"
