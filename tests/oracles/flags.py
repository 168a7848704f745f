"""Values for every key of a transformers configuration class, drawn by the type that the class declares for it."""

from __future__ import annotations

import dataclasses
import json
import random
import types
import typing
from typing import Any

ACTIVATIONS = ("gelu", "relu", "prelu", "xielu", "silu", "gelu_new", "tanh", "quick_gelu", "relu2", "leaky_relu", "linear")
SIZES = (0, 1, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 24, 32)
WORDS: dict[str, tuple[Any, ...]] = {
    "summary_type": ("last", "first", "mean", "cls_index"),
    "feat_extract_norm": ("group", "layer"),
    "layer_type": ("basic", "bottleneck"),
    "position_embedding_type": ("absolute", "relative_key", "relative_key_query"),
    "time_step_rank": ("auto",),
    "norm_rel_ebd": ("none", "layer_norm"),
    "feed_forward_proj": ("relu", "prelu", "gated-gelu", "gated-silu", "gated-prelu"),
    "layer_types": ("full_attention", "sliding_attention"),
}
"""Words that a key takes, where its type says no more than that it is one."""
ROPES: tuple[dict[str, Any], ...] = (
    {"rope_type": "default"},
    {"rope_type": "linear", "factor": 2.0},
    {"rope_type": "dynamic", "factor": 2.0},
    {"rope_type": "yarn", "factor": 2.0},
    {"rope_type": "linear", "factor": 2.0, "partial_rotary_factor": 0.5},
    {"rope_type": "proportional", "partial_rotary_factor": 0.25},
)
ELSEWHERE = {"model_type", "transformers_version", "architectures", "dtype", "id2label", "label2id", "_attn_implementation"}
"""What a draw leaves alone: who wrote the file, and what other tests are about."""
NOTHING = object()


def declared(config_class: Any) -> dict[str, tuple[Any, Any]]:
    """Return type and default of every key that a configuration class declares, other spellings included."""
    found = {}
    for field in dataclasses.fields(config_class):
        made = field.default_factory
        found[field.name] = (field.type, field.default if made is dataclasses.MISSING else made())
    found |= {alias: found[name] for alias, name in config_class.attribute_map.items() if name in found}
    # A type that is a string names what only a type checker imports: torch's, which no flag has.
    return {name: kind for name, kind in found.items() if name not in ELSEWHERE and not isinstance(kind[0], str)}


def redrawn(draw: random.Random, config: dict[str, Any], config_class: Any) -> dict[str, Any]:
    """Return a configuration with one to five of the declared keys redrawn, removed or added, those of configurations inside included."""
    config, keys = dict(config), declared(config_class)
    inside = {name: one for name, one in (getattr(config_class, "sub_configs", None) or {}).items() if dataclasses.is_dataclass(one)}
    for _ in range(draw.choice((1, 1, 2, 2, 3, 5))):
        name = draw.choice(sorted({*keys, *inside}))
        if name in inside:
            config[name] = redrawn(draw, config.get(name) or {}, inside[name])
        elif draw.random() < 0.1:
            config.pop(name, None)
        elif (value := drawn(draw, name, *keys[name])) is not NOTHING:
            config[name] = value
    return json.loads(json.dumps(config))


def drawn(draw: random.Random, name: str, kind: Any, default: Any) -> Any:
    """Return a value of a key's type; ``NOTHING`` where the type says too little to draw one."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in {typing.Union, types.UnionType}:
        return drawn(draw, name, draw.choice(parts), default)
    if origin is typing.Literal:
        return draw.choice(parts)
    if origin in {list, tuple}:
        many = len(default) if isinstance(default, list | tuple) and draw.random() < 0.6 else draw.randint(1, 4)
        kinds = parts if origin is tuple and parts and parts[-1] is not ... else (parts[0] if parts else int,) * many
        values = [drawn(draw, name, one, None) for one in kinds]
        return NOTHING if NOTHING in values else values
    if kind is type(None):
        return None
    if kind is bool:
        return draw.random() < 0.5
    if kind is int:
        return draw.randint(0, 4) if any(word in name for word in ("layers", "depth", "token")) else draw.choice(SIZES)
    if kind is float:
        return draw.choice((0.0, 0.1, 0.5, 1.0, 1e-6))
    if kind is str:
        return draw.choice(ACTIVATIONS if "act" in name else WORDS.get(name, (default if isinstance(default, str) else NOTHING,)))
    return draw.choice(ROPES) | {"rope_theta": 1e4} if "rope" in name else NOTHING
