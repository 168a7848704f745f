"""Where the search begins in each class of timm: an architecture, other arguments, and what timm's source says of its sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from atlas_builder.told import Told


@dataclass(frozen=True)
class Start:
    """What the search is told of a class."""

    values: Mapping[str, Any] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    told: Told = Told()


def _at(key: str, count: int) -> tuple[str, ...]:
    """Return the keys of the entries of a list."""
    return tuple(f"{key}_{place}" for place in range(count))


_GRID = ["*", ["//", "img_size_0", "patch_size"], ["//", "img_size_1", "patch_size"]]
_WIDE = ["int*", "embed_dim", "mlp_ratio"]
_NO_POSITION, _CLASS = ["is", "no_embed_class"], ["is", "class_token"]
_POSITIONS = [
    "?",
    [_NO_POSITION, _CLASS],
    [
        *([[True, token], ["+", [[1, 1, [[_GRID, 1]]]]]] for token in (False, True)),
        *([[False, token], ["+", [[1, 1, [[_GRID, 1]]], [1, 1, [["reg_tokens", 1]]], [int(token), 1, []]]]] for token in (False, True)),
    ],
]
_VIT = Told(sizes=(_GRID, ["//", "embed_dim", "num_heads"], _WIDE))
_VIT_START = {"global_pool": "avg", "depth": 4}

STARTS: Mapping[str, Start] = {
    "VisionTransformer": Start(_VIT_START, told=_VIT.plus(Told(laws=(_POSITIONS,)))),
    "Eva": Start({"depth": 4}, told=_VIT),
    "Beit": Start({"depth": 4}, told=_VIT),
    "Cait": Start({"depth": 4}, told=_VIT.plus(Told(sizes=(["int*", "embed_dim", "mlp_ratio_token_only"],)))),
    "VisionTransformerRelPos": Start({"depth": 4}, told=_VIT),
    "VisionTransformerDistilled": Start({"depth": 4}, told=_VIT),
    "Xcit": Start({"depth": 4}, told=_VIT),
    "MlpMixer": Start(
        {"num_blocks": 4}, told=Told(sizes=(_GRID, _WIDE, *(["int*", "embed_dim", key] for key in _at("mlp_ratio", 2))))
    ),
}
