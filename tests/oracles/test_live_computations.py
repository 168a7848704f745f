"""What records say of a computation beside the reference: torch's counter, and the cache that the model returns."""

from __future__ import annotations

import importlib
import random
import warnings
from typing import Any

import pytest
from amount import sample

import paramsym as ps
from paramsym.atlas import computing
from paramsym.atlas.computing import computed_types
from paramsym.errors import ConfigError, NotYetError, ShapeError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from read.comparing import counted_on  # noqa: E402 - it needs torch

CLASSES = [(model_type, name) for model_type in computed_types() for name in computing._classes_of(model_type)]
_DRAWS, _MOST = 4, 600_000_000
_LARGE = {"deepseek_v32", "hy_v3", "iquestcoder", "jais2", "mistral4", "mllama_text_model"}
"""Types of which no drawn configuration is both known and small; the builder counted two small ones of each class."""
GIVEN = {"dots1": {"n_routed_experts": 16, "n_shared_experts": 2, "num_experts_per_tok": 6}}
"""Keys without which the reference builds no model."""
_HEADS = ("num_attention_heads", "n_head", "num_heads")
_WIDTHS = ("hidden_size", "n_embd", "d_model")


def with_attention(config: Any) -> dict[str, Any]:
    """Return layers of both kinds if the default has none with attention, which the reference does not run."""
    if set(getattr(config, "layer_types", None) or ()) != {"linear_attention"}:
        return {}
    return {"num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]}


def small(config: Any, chance: random.Random) -> dict[str, Any]:
    """Return few and small experts, or inner configurations with few layers and a small language model, else as the default has them."""
    if not hasattr(config, "text_config"):  # a pass through experts needs entries, which a large model has none of
        sizes = {"intermediate_size": 256, "moe_intermediate_size": 64, "n_routed_experts": 16, "num_experts": 16, "num_local_experts": 16}
        return {key: number for key, number in sizes.items() if isinstance(getattr(config, key, None), int)}
    found: dict[str, Any] = {}
    for part in ("text_config", "vision_config"):
        inner = getattr(config, part)
        keys = inner.to_dict()
        depth = next(key for key in ("num_hidden_layers", "depth", "n_layer") if key in keys)
        keys = {key: value for key, value in keys.items() if not isinstance(value, list) or len(value) != keys[depth]}  # one for each layer
        changed = drawn(inner, chance, 0) if part == "text_config" else {}
        found[part] = keys | {key: value for key, value in changed.items() if not isinstance(value, bool)} | {depth: chance.randint(1, 3)}
    return found


def drawn(config: Any, chance: random.Random, turn: int) -> dict[str, Any]:
    """Return other values of some keys: depth, widths, heads, flags; at the last turns fewer of them, so that one is known."""
    found: dict[str, Any] = {}
    for key in ("num_hidden_layers", "n_layer"):
        if key in vars(config):
            found[key] = chance.randint(1, 8) if turn < _DRAWS else 4
    found |= with_attention(config)
    if turn == _DRAWS + 2:
        return found | small(config, chance)
    if turn > _DRAWS:
        return found
    heads = next((key for key in _HEADS if isinstance(getattr(config, key, None), int)), None)
    width = next((key for key in _WIDTHS if isinstance(getattr(config, key, None), int)), None)
    if heads and width:
        groups = chance.choice((2, 3))
        found[heads] = groups * chance.choice((1, 2, 4))
        found[width] = found[heads] * chance.choice((32, 48, 68))
        if "num_key_value_heads" in vars(config):
            found["num_key_value_heads"] = groups
    if "head_dim" in vars(config):
        found["head_dim"] = chance.choice((16, 64, 100, 128))
    if isinstance(getattr(config, "intermediate_size", None), int):
        found["intermediate_size"] = 4 * chance.randint(1, 75)
    flags = [key for key, value in vars(config).items() if isinstance(value, bool) and key.endswith(("bias", "embeddings"))]
    if isinstance(getattr(config, "vocab_size", None), int):
        found["vocab_size"] = config.vocab_size + chance.randint(0, 9)
    return found | {key: chance.random() < 0.5 for key in flags if chance.random() < 0.5 and turn < _DRAWS}


def inputs(layer: Any, chance: random.Random, *, usual: bool) -> tuple[list[tuple[int, ...]], dict[str, Any]]:
    """Return shapes for the inputs of a recorded model, and arrays of these shapes; usual ones are of a batch, and 32 divides sides."""
    sizes = {"B": chance.randint(1, 4), "S": chance.choice((2, 6, 13, 40)), "T": chance.choice((3, 7, 12))}
    sizes |= {"height": chance.choice((224, 256, 193)), "width": chance.choice((224, 160, 195)), "samples": 16_080, "frames": 104}
    sizes |= {"B": 3, "S": 13, "height": 256, "width": 160} if usual else {}
    shapes = {name: tuple(axis if isinstance(axis, int) else sizes[axis.name] for axis in shape) for name, shape in layer.inputs.items()}
    texts = {name for name in shapes if name.endswith("ids")}
    made = {name: torch.zeros(shape, dtype=torch.long if name in texts else torch.float32) for name, shape in shapes.items()}
    return list(shapes.values()), made


def class_of(config: Any, name: str) -> Any:
    """Return the reference's class, which some types take from another one's module."""
    if hasattr(transformers, name):
        return getattr(transformers, name)
    return getattr(importlib.import_module(type(config).__module__.replace("configuration_", "modeling_")), name)


@pytest.mark.parametrize(("model_type", "name"), sample(27, CLASSES))
def test_products_and_caches(model_type: str, name: str) -> None:
    """FLOPs forward and both ways, and the returned cache, at drawn configurations: each is the reference's, or refused by name."""
    chance = random.Random(f"{model_type} {name}")
    given_keys = GIVEN.get(model_type, {})
    default = transformers.AutoConfig.for_model(model_type, **given_keys)
    agreed = 0
    made = class_of(default, name)
    for turn in range(_DRAWS + 3):
        if turn >= _DRAWS and agreed:
            break
        keys = given_keys | drawn(default, chance, turn)
        try:
            config = transformers.AutoConfig.for_model(model_type, **keys)
            with torch.device("meta"):  # where large models stay: they have shapes without entries
                model = made(config).eval()
            if sum(one.numel() for one in model.parameters()) <= _MOST:
                model = made(config).eval()
        except Exception:  # noqa: BLE001, S112 - the reference does not take these
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a key that a type derives from others
                layer = ps.from_config({"model_type": model_type, **keys}, architecture=name)
            shapes, given = inputs(layer, chance, usual=turn >= _DRAWS)
            found = ps.flops(layer, *shapes).total, ps.flops(layer, *shapes, way="both").total
        except (NotYetError, ConfigError, ShapeError):  # such as a text longer than the positions
            continue
        try:
            given = {one: array.to(model.device) for one, array in given.items()}
            wanted = counted_on(model, {**({"use_cache": False} if "input_ids" in given else {}), **given})
        except (RuntimeError, TypeError, ValueError):
            continue
        assert found == wanted, (keys, shapes)
        agreed += 1
        if hasattr(layer, "returns_keys") and layer.returns_keys(shapes):
            with torch.no_grad():
                cache = model(**given, use_cache=True).past_key_values
            assert ps.kv_cache(layer, *shapes).total == sum(one.keys.numel() + one.values.numel() for one in cache.layers)
    if not agreed and model_type in _LARGE:
        pytest.skip("no drawn configuration is known and small")
    assert agreed >= 1
