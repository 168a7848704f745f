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


def _divisible(width: Any) -> Any:
    """Return the nearest multiple of 8, as timm rounds widths."""
    return ["near", width, 8, 8]


def _times(key: str, ratio: str, count: int = 4) -> tuple[Any, ...]:
    """Return the entries of a list times a ratio, rounded down."""
    return tuple(["int*", width, ratio] for width in _at(key, count))


def _squeezed(width: Any, part: int = 4) -> Any:
    """Return the channels inside a squeeze-and-excitation of timm: a part of the width, to the nearest multiple of 8."""
    return ["max", 8, ["*", 8, ["//", ["-", width, -4 * part], 8 * part]]]


_GRID = ["*", ["//", "img_size_0", "patch_size"], ["//", "img_size_1", "patch_size"]]
_WIDE = ["int*", "embed_dim", "mlp_ratio"]


def _positions(registers: str) -> Any:
    """Return the number of positions that have an embedding; ``registers`` is the key of the register tokens."""
    grid, more = [1, 1, [[_GRID, 1]]], [1, 1, [[registers, 1]]]
    cases = [[[True, token], ["+", [grid]]] for token in (False, True)]
    cases += [[[False, token], ["+", [grid, more, [int(token), 1, []]]]] for token in (False, True)]
    return ["?", [["is", "no_embed_class"], ["is", "class_token"]], cases]


_VIT = Told(sizes=(_GRID, ["//", "embed_dim", "num_heads"], _WIDE))
_RATIO = {"depth": 4, "mlp_ratio": 4}  # a whole ratio is never drawn as 0, for which the block takes its width
_VIT_START = {"global_pool": "avg", **_RATIO}


def _window(stage: int, side: int) -> Any:
    """Return one side of Swin's window: that of the grid if the grid is smaller."""
    return ["min", "window_size", ["^/", ["//", f"img_size_{side}", "patch_size"], 2**stage]]


def _distances(one: Any, other: Any) -> Any:
    """Return the number of relative positions in a window."""
    return ["+", [[4, 1, [[one, 1], [other, 1]]], [-2, 1, [[one, 1]]], [-2, 1, [[other, 1]]], [1, 1, []]]]


_STAGES = range(4)
_DOUBLED = tuple(["*", 2**stage, "embed_dim"] for stage in _STAGES)
_SWIN_HEADS = tuple(["*", f"num_heads_{stage}", ["//", width, f"num_heads_{stage}"]] for stage, width in enumerate(_DOUBLED))
_SWIN = Told(
    sizes=tuple(["int*", width, "mlp_ratio"] for width in _DOUBLED),
    laws=tuple(_distances(_window(stage, 0), _window(stage, 1)) for stage in _STAGES),
)
_RESNET_GROUPS = tuple(["//", ["*", width, "base_width"], 64] for width in (64, 128, 256, 512))
_RESNET_WIDTHS = tuple(["*", "cardinality", width] for width in _RESNET_GROUPS)
_RESNET = Told(sizes=(*_RESNET_GROUPS, *_RESNET_WIDTHS, ["//", "stem_width", 4]))
_FOUR = {"depths": [2, 2, 2, 2]}
_FOUR_RATIO = {**_FOUR, "mlp_ratio": 4}
_STAGE_MLPS = Told(sizes=tuple(["int*", f"embed_dims_{stage}", f"mlp_ratios_{stage}"] for stage in _STAGES))
_STEM = tuple(["//", "embed_dim_0", part] for part in (2, 4, 8))
_LEVIT_START = {"depth": [2, 2, 2], "attn_ratio": 2, "mlp_ratio": 2}
_VALUES = ["int*", "key_dim", "attn_ratio"]
_LEVIT = Told(
    sizes=(
        *(["*", _VALUES, heads] for heads in _at("num_heads", 3)),
        *(["//", width, "key_dim"] for width in _at("embed_dim", 2)),
        *(["*", "key_dim", ["//", width, "key_dim"]] for width in _at("embed_dim", 2)),
        *_times("embed_dim", "mlp_ratio", 3),
        *(["*", *(["^/", ["//", side, 16], 2**stage] for side in _at("img_size", 2))] for stage in range(3)),
        *_STEM,
    )
)
_PIT_WIDTHS = tuple(["*", f"base_dims_{stage}", f"heads_{stage}"] for stage in range(3))
_PIT = Told(
    sizes=(
        *_PIT_WIDTHS,
        *(["int*", width, "mlp_ratio"] for width in _PIT_WIDTHS),
        *(["//", ["-", side, ["-", "patch_size", "stride"]], "stride"] for side in _at("img_size", 2)),
    )
)
_VIM = Told(
    sizes=(
        *_STEM,
        *_times("embed_dim", "mlp_ratio", 3),
        *_times("embed_dim", "ssd_expand", 3),
        *(_squeezed(["*", 4, width]) for width in _at("embed_dim", 3)),
    )
)
_VIM_START = {"depths": [2, 2, 2], "mlp_ratio": 4, "ssd_expand": 1}
_FASTER = Told(sizes=(*(["//", width, "n_div"] for width in _DOUBLED), *(["int*", width, "mlp_ratio"] for width in _DOUBLED)))
_DLA = tuple(["//", ["*", "cardinality", ["//", ["*", width, "base_width"], 64]], 2] for width in _at("channels", 6)[2:])
_DLA_TESTS = tuple(["equal", f"channels_{level - 1}", f"channels_{level}"] for level in range(2, 6))
_TINY = Told(
    sizes=(
        *_times("embed_dims", "mlp_ratio"),
        *_times("embed_dims", "mbconv_expand_ratio"),
        ["//", "embed_dims_0", 2],
        *(["//", f"embed_dims_{stage}", f"num_heads_{stage}"] for stage in _STAGES),
    )
)
_RESNETV2_WIDTHS = tuple(_divisible(["times", width, "width_factor"]) for width in ("stem_chs", *_at("channels", 4)))
_RESNETV2 = Told(sizes=(*_RESNETV2_WIDTHS, *(_divisible(["times", width, "bottle_ratio"]) for width in _RESNETV2_WIDTHS[1:])))
_RESNET_HELD = ("channels", "output_stride", "block_reduce_first", "down_kernel_size", "replace_stem_pool")
_SWIN_HELD = ("always_partition", "head_dim", "strict_img_size", "dynamic_img_size")
_SWIN_START = {"depths": [2, 2, 2, 2]}
_CR_START = {**_SWIN_START, "mlp_ratio": 4}
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

_COAT = tuple(["//", width, "num_heads"] for width in _at("embed_dims", 4))
_PIXELS = ["*", *(2 * [["^/", "patch_size", "first_stride"]])]

STARTS: Mapping[str, Start] = {
    "VisionTransformer": Start(
        _VIT_START, first="test_vit", told=_VIT.plus(Told(sizes=(["//", _WIDE, 2],), laws=(_positions("reg_tokens"),)))
    ),
    "Eva": Start(_RATIO, _EVA_HELD, told=_VIT.plus(Told(sizes=(_ALIGNED, _POOLED), laws=(_positions("num_reg_tokens"), _GATED)))),
    "Beit": Start({"depth": 4}, told=_VIT),
    "Cait": Start({**_RATIO, "mlp_ratio_token_only": 4}, told=_VIT.plus(Told(sizes=(["int*", "embed_dim", "mlp_ratio_token_only"],)))),
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
    "ResNetV2": Start({"layers": [2, 2, 3, 2], "width_factor": 1}, held=("output_stride",), told=_RESNETV2),
    "SwinTransformer": Start(_CR_START, _SWIN_HELD, told=_SWIN.plus(Told(sizes=_SWIN_HEADS))),
    "SwinTransformerV2": Start(_CR_START, _SWIN_HELD, told=Told(sizes=_SWIN.sizes)),
    "SwinTransformerV2Cr": Start(_CR_START, _SWIN_HELD, told=Told(sizes=_SWIN.sizes)),
    "PyramidVisionTransformerV2": Start({"depths": [2, 2, 2, 2], "mlp_ratios": [8, 8, 4, 4]}, told=_STAGE_MLPS),
    "Twins": Start({"depths": [2, 2, 2, 2], "mlp_ratios": [4, 4, 4, 4]}, told=_STAGE_MLPS),
    "MambaOut": Start(
        _FOUR,
        held=("downsample",),
        told=Told(sizes=(["//", "dims_0", 2], *_times("dims", "expansion_ratio"), *_times("dims", "conv_ratio"))),
    ),
    "Levit": Start(_LEVIT_START, told=_LEVIT),
    "LevitDistilled": Start(_LEVIT_START, told=_LEVIT),
    "PoolingVisionTransformer": Start({"depth": [2, 2, 2]}, first="pit_ti_distilled_224", told=_PIT),
    "StarNet": Start(_FOUR),
    "RepVit": Start(
        {"depth": [2, 3, 4, 2], "mlp_ratio": 2}, told=Told(sizes=(*map(_squeezed, _at("embed_dim", 4)), *_times("embed_dim", "mlp_ratio")))
    ),
    "SENet": Start({"layers": [2, 2, 3, 2]}, told=Told(sizes=tuple(["//", 64 * 2**stage, "reduction"] for stage in range(6)))),
    "FasterNet": Start(_FOUR_RATIO, told=_FASTER),
    "DaVit": Start(_FOUR_RATIO, held=("attn_types",), told=Told(sizes=_times("embed_dims", "mlp_ratio"))),
    "DLA": Start(held=("levels",), told=Told(sizes=_DLA, tests=_DLA_TESTS)),
    "TinyVit": Start({**_FOUR_RATIO, "mbconv_expand_ratio": 4}, told=_TINY),
    "EfficientViM": Start(_VIM_START, told=_VIM),
    "EfficientViMDistilled": Start(_VIM_START, told=_VIM),
    "SHViT": Start({"depth": [2, 2, 2]}, told=Told(sizes=(*_STEM, *(_squeezed(["*", 4, width]) for width in _at("embed_dim", 3))))),
    "SwiftFormer": Start(
        {"layers": [3, 3, 3, 3], "mlp_ratios": 4}, told=Told(sizes=(["//", "embed_dims_0", 2], *_times("embed_dims", "mlp_ratios")))
    ),
    "TNT": Start(_RATIO, told=_VIT.plus(Told(sizes=(_PIXELS, ["*", "inner_dim", _PIXELS])))),
    "MetaNeXt": Start(
        {"depths": [2, 2, 2, 2], "mlp_ratios": [4, 4, 4, 3]},
        held=("output_stride",),
        told=Told(
            sizes=(
                *(["int*", f"dims_{stage}", f"mlp_ratios_{stage}"] for stage in _STAGES),
                *(["//", width, 8] for width in _at("dims", 4)),
                ["int*", "dims_3", 3],
            )
        ),
    ),
    "EdgeNeXt": Start(
        {"depths": [2, 2, 2, 2], "expand_ratio": 4},
        held=("global_block_counts", "d2_scales", "use_pos_emb"),
        told=Told(sizes=(*_times("dims", "expand_ratio"), *(["^/", f"dims_{stage}", scale] for stage, scale in enumerate((2, 2, 3, 4))))),
    ),
    "CoaT": Start({"serial_depths": [2, 2, 2, 2]}, held=("crpe_window", "return_interm_layers"), told=_STAGE_MLPS.plus(Told(sizes=_COAT))),
    "IFormer": Start(
        held=("attn_groups",), told=Told(sizes=tuple(["//", f"dims_{stage}", f"attn_head_dim_reduction_{stage}"] for stage in _STAGES))
    ),
}
