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
    first: str = ""  # the architecture to begin with; else the smallest
    told: Told = field(default_factory=Told)


def _at(key: str, count: int) -> tuple[str, ...]:
    """Return the keys of the entries of a list."""
    return tuple(f"{key}_{place}" for place in range(count))


_GRID = ["*", ["//", "img_size_0", "patch_size"], ["//", "img_size_1", "patch_size"]]
_WIDE = ["int*", "embed_dim", "mlp_ratio"]


def _positions(registers: str) -> Any:
    """Return the number of positions that have an embedding; ``registers`` is the key of the register tokens."""
    grid, more = [1, 1, [[_GRID, 1]]], [1, 1, [[registers, 1]]]
    cases = [[[True, token], ["+", [grid]]] for token in (False, True)]
    cases += [[[False, token], ["+", [grid, more, [int(token), 1, []]]]] for token in (False, True)]
    return ["?", [["is", "no_embed_class"], ["is", "class_token"]], cases]


_VIT = Told(sizes=(_GRID, ["//", "embed_dim", "num_heads"], _WIDE))
_VIT_START = {"global_pool": "avg", "depth": 4}
_RATIO = {"depth": 4, "mlp_ratio": 4}  # a whole ratio is never drawn as 0, for which the block takes its width


def _window(stage: int, side: int) -> Any:
    """Return one side of Swin's window: that of the grid if the grid is smaller."""
    return ["min", "window_size", ["^/", ["//", f"img_size_{side}", "patch_size"], 2**stage]]


def _distances(one: Any, other: Any) -> Any:
    """Return the number of relative positions in a window."""
    return ["+", [[4, 1, [[one, 1], [other, 1]]], [-2, 1, [[one, 1]]], [-2, 1, [[other, 1]]], [1, 1, []]]]


_STAGES = range(4)
_SWIN = Told(
    sizes=tuple(["int*", ["*", 2**stage, "embed_dim"], "mlp_ratio"] for stage in _STAGES),
    laws=tuple(_distances(_window(stage, 0), _window(stage, 1)) for stage in _STAGES),
)
_RESNET_GROUPS = tuple(["//", ["*", width, "base_width"], 64] for width in (64, 128, 256, 512))
_RESNET_WIDTHS = tuple(["*", "cardinality", width] for width in _RESNET_GROUPS)
_RESNET = Told(sizes=(*_RESNET_GROUPS, *_RESNET_WIDTHS, ["//", "stem_width", 4]))
_RESNET_HELD = ("channels", "output_stride", "block_reduce_first", "down_kernel_size", "replace_stem_pool")
_SWIN_HELD = ("always_partition", "head_dim", "strict_img_size", "dynamic_img_size")
_SWIN_START = {"depths": [2, 2, 2, 2]}
_EVA_HELD = ("num_kv_heads", "attn_only_layer_scale", "use_post_norm", "rope_mrope_section")
_ALIGNED = ["up", _WIDE, "swiglu_align_to"]
_POOLED = ["int*", "embed_dim", ["or", "attn_pool_mlp_ratio", "mlp_ratio"]]
_GATED = [
    "?",
    [["is", "swiglu_mlp"], ["positive", "swiglu_align_to"]],
    [
        [[gated, aligned], ["+", [[1, 1, [[_ALIGNED if gated and aligned else _WIDE, 1]]]]]]
        for gated in (False, True)
        for aligned in (False, True)
    ],
]

STARTS: Mapping[str, Start] = {
    "VisionTransformer": Start(_VIT_START, first="test_vit", told=_VIT.plus(Told(laws=(_positions("reg_tokens"),)))),
    "Eva": Start(_RATIO, _EVA_HELD, told=_VIT.plus(Told(sizes=(_ALIGNED, _POOLED), laws=(_positions("num_reg_tokens"), _GATED)))),
    "Beit": Start({"depth": 4}, told=_VIT),
    "Cait": Start(_RATIO, told=_VIT.plus(Told(sizes=(["int*", "embed_dim", "mlp_ratio_token_only"],)))),
    "VisionTransformerRelPos": Start(_RATIO, told=_VIT),
    "VisionTransformerDistilled": Start({"depth": 4}, told=_VIT),
    "Xcit": Start(_RATIO, told=_VIT),
    "MlpMixer": Start({"num_blocks": 4}, told=Told(sizes=(_GRID, _WIDE, *(["int*", "embed_dim", key] for key in _at("mlp_ratio", 2))))),
    "ConvNeXt": Start(
        {"depths": [2, 2, 2, 2], "dims": [40, 80, 160, 320]},
        held=("output_stride", "patch_size"),
        told=Told(sizes=(["near", ["//", "dims_0", 2], 8, 8],)),
    ),
    "ResNet": Start({"layers": [2, 2, 3, 2]}, _RESNET_HELD, told=_RESNET),
    "ResNetV2": Start({"layers": [2, 2, 3, 2]}, held=("output_stride",)),
    "SwinTransformer": Start(_SWIN_START, _SWIN_HELD, told=_SWIN),
    "SwinTransformerV2": Start(_SWIN_START, (*_SWIN_HELD, "pretrained_window_sizes"), told=Told(sizes=_SWIN.sizes)),
    "SwinTransformerV2Cr": Start(_SWIN_START, _SWIN_HELD, told=Told(sizes=_SWIN.sizes)),
    "PyramidVisionTransformerV2": Start(
        {"depths": [2, 2, 2, 2]},
        told=Told(sizes=tuple(["int*", f"embed_dims_{stage}", f"mlp_ratios_{stage}"] for stage in _STAGES)),
    ),
    "Twins": Start(
        {"depths": [2, 2, 2, 2]}, told=Told(sizes=tuple(["int*", f"embed_dims_{stage}", f"mlp_ratios_{stage}"] for stage in _STAGES))
    ),
}
