"""What the reference's source says of a type and the search does not find: sizes, sets of copies, keys that are held or move together.

All of it is only tried: a law that is told passes the same tests as a law that is found. Keys begin with a dot.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

from paramsym.atlas.files import record_of, recorded_types
from paramsym.atlas.values import Value


@dataclass(frozen=True)
class Told:
    """What is told of one type."""

    sizes: tuple[Any, ...] = ()  # atoms
    tests: tuple[Any, ...] = ()
    sets: tuple[Any, ...] = ()
    parts: tuple[Any, ...] = ()  # sets that divide copies together, each copy by the first that holds it
    fixed: tuple[str, ...] = ()  # keys with their default only
    base: tuple[tuple[str, Value], ...] = ()  # values to start from, for models that are smaller than the default
    inert: tuple[str, ...] = ()  # keys that no tensor depends on
    derived: tuple[str, ...] = ()  # keys that are only read if they are what the others give
    positive: tuple[str, ...] = ()  # keys whose 0 is left out, because other keys mean something else then
    zero: tuple[str, ...] = ()  # sizes that may be 0
    together: tuple[tuple[str, str], ...] = ()  # keys with equal values, the first of which is drawn
    laws: tuple[Any, ...] = ()  # expressions
    joint: tuple[tuple[str, str], ...] = ()  # keys with their defaults only, the first of which means another thing without the second
    below: tuple[tuple[str, str], ...] = ()  # keys the first of which must be less than the second
    read: tuple[str, ...] = ()  # keys that are copied under other names, so that no read of them is seen

    def plus(self, other: Told) -> Told:
        """Return both."""
        return Told(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


_BELOW_ONE = math.nextafter(1, 0)


def _nearest(channels: Any, rate: Any, divisor: Any = 8) -> Any:
    """Return the nearest multiple of a divisor to channels times a rate, which is not rounded before."""
    return ["near", ["times", channels, rate], divisor, divisor]


def _mobile(*channels: int) -> Iterator[Any]:
    """Yield the widths of MobileNetV2 with these channels, and those inside its blocks."""
    for one in channels:
        outside = ["near", ["round", ["times", one, ".depth_multiplier"]], ".depth_divisible_by", ".min_depth"]
        yield outside
        yield ["near", ["round", ["times", outside, ".expand_ratio"]], ".depth_divisible_by", ".min_depth"]


def _sum(*terms: Any) -> Any:
    return ["+", [[1, 1, [[one, 1]]] if not isinstance(one, int) else [one, 1, []] for one in terms]]


_BIT = tuple(_nearest(["at", ".hidden_sizes", stage], ".width_factor") for stage in range(4))
_CONVBERT_HEADS = ["max", 1, ["//", ".num_attention_heads", ".head_ratio"]]
_CONVBERT_WIDTH = ["*", _CONVBERT_HEADS, ["//", ["//", ".hidden_size", _CONVBERT_HEADS], 2]]
_XLSTM = [["up", ["int*", ".hidden_size", f".{which}_dim_factor"], 64] for which in ("qk", "v")]


def _widened(blocks: int, none: int) -> Any:
    """Return the multiple of the first channels with residual blocks, and without."""
    widths = [["+", [[times, 1, [[".base_channels", 1]]]]] for times in (blocks, none)]
    return ["?", [["positive", ".num_res_blocks"]], [[[True], widths[0]], [[False], widths[1]]]]


def _after(length: Any, kernel: Any, stride: Any, padding: int) -> Any:
    """Return the length after a convolution with padding on both sides together."""
    return ["//", ["-", length, ["-", ["-", kernel, padding], stride]], stride]


_PATCHES = ["//", ".image_size", ".patch_size"]
_VOCODER = Told(  # each stage halves the channels, so that the number of stages is an exponent
    fixed=(".resblock_dilation_sizes", ".resblock_kernel_sizes", ".upsample_rates", ".upsample_kernel_sizes"),
)
_SEANET = Told(
    sizes=tuple(["//", ["*", 2**stage, ".num_filters"], ".compress"] for stage in range(4)),
    fixed=(".num_residual_layers", ".upsampling_ratios"),
)
_SLIDING = ["where", ["entry", ".layer_types"], ["hybrid_sliding"]]  # any other word means full attention
_WINDOWS = (_SLIDING, ["not", _SLIDING])
_QK = [["or", ".qk_channels", other] for other in (".d_latents", ".d_model", 512)]


_STAGES = ("in_channels", "out_channels", "num_block_repeats", "expand_ratios", "kernel_sizes", "strides", "squeeze_expansion_ratio")


def _efficientnet() -> Told:
    """Return the rounded widths of EfficientNet's seven stages, and the blocks of each: its first one, and the others."""

    def rounded(channels: Any) -> Any:
        return ["near", ["times", channels, ".width_coefficient"], ".depth_divisor", ".depth_divisor"]

    stages = range(7)
    widths = [rounded(["at", f".{side}_channels", stage]) for stage in stages for side in ("in", "out")]
    wide = [["*", width, ["at", ".expand_ratios", stage // 2]] for stage, width in enumerate(widths)]
    squeezed = [["max", 1, ["int*", width, ".squeeze_expansion_ratio"]] for width in widths]
    repeats = [["round", ["^/", ["times", ["at", ".num_block_repeats", stage], ".depth_coefficient"], 1]] for stage in stages]
    starts = [_sum(*repeats[:stage]) for stage in range(8)]
    afters = [_sum(1, *repeats[:stage]) for stage in stages]
    firsts = [["range", starts[stage], afters[stage]] for stage in stages]
    others = [["range", afters[stage], starts[stage + 1]] for stage in stages]
    return Told(
        sizes=(rounded(32), rounded(1280), *widths, *wide, *squeezed),
        sets=(*firsts, *others, ["not", ["range", 0, starts[1]]]),
        parts=(*firsts, *others),
        fixed=tuple(f".{key}" for key in _STAGES),
        base=((".depth_coefficient", 1.0),),
        laws=(starts[7],),
    )


_HGNET = (
    *("depths", "embedding_size", "hidden_sizes", "stem_channels", "stem_strides", "use_learnable_affine_block"),
    *("stage_in_channels", "stage_mid_channels", "stage_out_channels", "stage_numb_of_layers", "stage_kernel_size"),
    *("stage_num_blocks", "stage_downsample", "stage_light_block", "stage_downsample_strides"),
)
_SWIN = ("depths", "num_heads", "window_size", "mlp_ratio", "use_absolute_embeddings")
_RT_DETR = Told(
    fixed=(
        *(".num_feature_levels", ".decoder_in_channels", ".encoder_in_channels", ".encode_proj_layers", ".feat_strides"),
        *(".hidden_expansion", ".anchor_image_size", ".eval_size", ".freeze_backbone_batch_norms"),
    ),
    inert=(".positional_encoding_temperature", ".disable_custom_kernels"),
)
_RESNET = Told(fixed=(".backbone_config.hidden_sizes", ".backbone_config.embedding_size", ".backbone_config.layer_type"))
_SAM_MEMORY = Told(
    fixed=(
        *(".mask_downsampler_kernel_size", ".mask_downsampler_stride", ".mask_downsampler_total_stride"),
        *(".rope_parameters", ".memory_attention_rope_feat_sizes"),
        ".mask_decoder_config.num_hidden_layers",  # also the layers inside each layer's feed-forward network
    ),
    inert=(".mask_downsampler_padding", ".memory_fuser_padding"),
)
_SAM2_NECK = (
    *("backbone_channel_list", "backbone_feature_sizes", "fpn_kernel_size", "fpn_stride", "fpn_padding"),
    *("fpn_top_down_levels", "num_feature_levels"),
)
_SAM2_HIERA = (
    *("blocks_per_stage", "embed_dim_per_stage", "num_attention_heads_per_stage", "window_size_per_stage"),
    *("global_attention_blocks", "mlp_ratio", "num_query_pool_stages", "query_stride"),
    *("patch_kernel_size", "patch_stride", "patch_padding", "window_positional_embedding_background_size"),
)
_SAM3_TRACKING = (
    *(".low_res_mask_size", ".recondition_on_trk_masks", ".hotstart_delay", ".hotstart_unmatch_thresh", ".hotstart_dup_thresh"),
    *(".suppress_unmatched_only_within_hotstart", ".init_trk_keep_alive", ".max_trk_keep_alive", ".min_trk_keep_alive"),
    *(".decrease_trk_keep_alive_for_empty_masklets", ".fill_hole_area", ".max_num_objects", ".recondition_every_nth_frame"),
)


def _every(which: str) -> Any:
    """Return the layers whose index is the offset after a multiple of the period."""
    return ["where", ["from", f".{which}_layer_period", f".{which}_layer_offset"], [0]]


def _flag(key: str, law: Any, otherwise: Any) -> Any:
    """Return a law by a flag, where null means false."""
    return ["?", [["is", key]], [[[True], law], [[False], otherwise], [[None], otherwise]]]


_SPARSE = ["?", [["beyond", ".num_experts", 1]], [[[True], _every("expert")], [[False], ["not", ["all"]]]]]  # one expert is a dense layer


def _union(one: Any, other: Any) -> Any:
    return ["not", ["both", ["not", one], ["not", other]]]


_TRANSCRIBING = ["-", ".num_hidden_layers", ".num_timestamp_prediction_layers"]
_LAST_TRANSCRIBING = ["range", _sum(["max", 0, ["-", _TRANSCRIBING, 1]]), _sum(["max", 0, _TRANSCRIBING])]


def _switch(sparse: str, layers: Any) -> Told:
    """Return the sparse layers of a stack of Switch Transformers: every ``step``-th after the first, all for a step of 1, none for 0."""
    step = ["//", layers, ["max", 1, sparse]]
    among = ["range", _sum(0), _sum(["*", layers, ["min", 1, step]])]
    return Told(sets=(["both", ["where", ["from", ["max", 1, step], 1], [0]], among],), laws=(_sum(step),))


_LAST_SEES_ALL = ["both", ["where", ["last"], [False]], ["not", ["where", ["mod", 6, 1], [0]]]]
_OWN_KEYS = ["range", _sum(0), _sum(["-", ".num_hidden_layers", ".num_kv_shared_layers"])]  # the others take those of an earlier layer
_OWN_KEYS_OF = [["both", ["where", ["entry", ".layer_types"], [f"{one}_attention"]], _OWN_KEYS] for one in ("full", "sliding")]
_GEMMA4 = Told(
    sets=(_LAST_SEES_ALL, _OWN_KEYS, *_OWN_KEYS_OF),
    parts=(_OWN_KEYS,),
    below=((".num_kv_shared_layers", ".num_hidden_layers"),),
    laws=(
        _flag(".use_double_wide_mlp", ["+", [[2, 1, [[".intermediate_size", 1]]]]], _sum(".intermediate_size")),
        _flag(
            ".attention_k_eq_v",
            _sum(["*", ["or", ".num_global_key_value_heads", ".num_key_value_heads"], ".global_head_dim"]),
            _sum(["*", ".num_key_value_heads", ".global_head_dim"]),
        ),
    ),
)

TOLD: Mapping[str, Told] = {
    **dict.fromkeys(("efficientnet", "align_vision_model"), _efficientnet()),
    "hgnet_v2": Told(fixed=(".stage_num_blocks", ".stage_downsample", ".stage_light_block")),  # blocks inside blocks
    "pp_lcnet_v3": Told(
        sizes=(_nearest(".stem_channels", ".scale", ".divisor"), *(["//", width, ".reduction"] for width in (192, 256, 384, 512))),
        fixed=(".block_configs", ".scale", ".divisor"),  # in a block, equal widths mean one tensor more
    ),
    "pp_lcnet_v4": Told(sizes=tuple(["//", width, ".reduction"] for width in (96, 192, 384)), fixed=(".block_configs",)),
    "emu3_vqgan": Told(
        fixed=(".attn_resolutions", ".channel_multiplier", ".temporal_downsample_factor"),
        positive=(".num_res_blocks",),  # the first block of a level changes the width
    ),
    "janus_vqgan": Told(fixed=(".channel_multiplier",), positive=(".num_res_blocks",)),
    **dict.fromkeys(("gemma4_unified_text", "diffusion_gemma_text"), _GEMMA4.plus(Told(base=((".num_hidden_layers", 12),)))),
    "gemma4_text": _GEMMA4.plus(
        Told(
            zero=(".hidden_size_per_layer_input",),
            base=(
                (".num_hidden_layers", 12),
                (".enable_moe_block", True),
                (".num_experts", 8),
                (".top_k_experts", 2),
                (".moe_intermediate_size", 64),
            ),
        )
    ),
    "embedding_gemma2_text": Told(sets=(_LAST_SEES_ALL,)),
    "flava_image_codebook": Told(fixed=(".num_blocks_per_group",)),  # numbers inside names
    "falcon_h1": Told(sizes=(["or", ".mamba_d_ssm", ["*", ".mamba_expand", ".hidden_size"]],), derived=(".mamba_d_head",)),
    "fun_asr_nano_encoder": Told(sets=(_union(["where", ["last"], [True]], _LAST_TRANSCRIBING),)),
    "fun_asr_nano": Told(together=((".text_config.hidden_size", ".adaptor_config.hidden_size"),)),
    "jamba": Told(sets=(_every("attn"), _SPARSE)),
    "blt_local_encoder": Told(
        sizes=(["//", ["*", 8, ".hidden_size"], 3],), laws=(_flag(".cross_attn_all_layers", _sum(".num_hidden_layers"), 1),)
    ),
    "bit": Told(sizes=(*_BIT, *(_nearest(one, 0.25) for one in _BIT))),
    "chameleon_vqgan": Told(laws=tuple(_widened(*widths) for widths in ((2, 1), (4, 2)))),
    "clap_audio_model": Told(fixed=(".depths", ".num_attention_heads", ".window_size", ".spec_size", ".patch_stride")),
    "clvp_encoder": Told(sizes=(["^/", ["max", ["//", ".projection_dim", ["*", ".num_attention_heads", 2]], 32], 2],)),
    **dict.fromkeys(("vipllava", "molmo2_adapter"), Told(sizes=(["len", ".vision_feature_layer"],))),
    "convbert": Told(sizes=(_CONVBERT_HEADS, _CONVBERT_WIDTH)),
    "groupvit_vision_model": Told(fixed=(".assign_mlp_ratio", ".num_group_tokens", ".num_output_groups")),
    "deberta": Told(
        tests=tuple(("holds", ".pos_att_type", (word,)) for word in ("c2p", "p2c")),
        base=((".relative_attention", True), (".pos_att_type", "c2p|p2c")),
    ),
    "dpt": Told(fixed=(".reassemble_factors",)),  # a factor that is no whole number, or 1, has another layer
    **dict.fromkeys(("kosmos-2", "paddleocr_vl"), Told(fixed=(".text_config.tie_word_embeddings",))),  # two flags untie the head
    **dict.fromkeys(("glpn", "pvt_v2"), Told(fixed=(".sr_ratios",))),  # a ratio of 1 has no layer
    "pvt": Told(fixed=(".sequence_reduction_ratios",)),  # likewise
    "doge": Told(sizes=(["root", ".num_experts"],)),
    "ernie4_5_moe": Told(
        sets=(
            [
                "both",
                ["range", _sum(".moe_layer_start_index"), _sum(["min", ["-", ".moe_layer_end_index", -1], ".num_hidden_layers"])],
                ["where", ["mod", ".moe_layer_interval", 1], [0]],
            ],
        )
    ),
    "ernie4_5_vl_moe_text": Told(
        sizes=tuple(["*", one, ["//", ".hidden_size", ".num_attention_heads"]] for one in (".num_attention_heads", ".num_key_value_heads"))
    ),
    **dict.fromkeys(("speecht5_hifigan", "fastspeech2_conformer_hifigan"), _VOCODER),
    "gemma3n_audio": Told(
        sizes=(
            [
                "*",
                ["at", ".sscp_conv_channel_size", 1],
                reduce(
                    lambda length, i: _after(length, ["at", ".sscp_conv_kernel_size", i, 1], ["at", ".sscp_conv_stride_size", i, 1], 2),
                    (0, 1),
                    ".input_feat_size",
                ),
            ],
        )
    ),
    "glm5_next_text": Told(together=((".num_attention_heads", ".num_key_value_heads"),)),
    "glm5_next_vision": Told(sizes=(["//", ".hidden_size", ".num_heads"],)),
    **dict.fromkeys(("got_ocr2_vision", "pp_chart2table_vision"), Told(sizes=(["//", ".hidden_size", ".num_attention_heads"], _PATCHES))),
    "mobilebert": Told(laws=(_flag(".use_bottleneck", _sum(".intra_bottleneck_size"), _sum(".hidden_size")),)),
    "mobilenet_v1": Told(sizes=tuple(["max", ["int*", 32 * 2**times, ".depth_multiplier"], ".min_depth"] for times in range(6))),
    "mobilenet_v2": Told(sizes=tuple(_mobile(16, 24, 32, 64, 96, 160, 320, 1280)), tests=(["beyond", ".depth_multiplier", _BELOW_ONE],)),
    **dict.fromkeys(("mimi_encoder", "pocket_tts_audio_tokenizer_encoder"), _SEANET),
    "dots3_note": Told(together=tuple((".text_config.hidden_size", f".{which}_config.adapter_out_dim") for which in ("vision", "audio"))),
    "dots3_note_vision_encoder": Told(  # each layer has a number of experts of its own
        sizes=(["//", ".hidden_size", ".num_attention_heads"],),
        fixed=(".num_hidden_layers", ".mlp_layer_types", ".num_local_experts"),
        together=((".hidden_size", ".adapter_in_dim"), (".spatial_merge_size", ".adapter_merge_size")),
        joint=((".mlp_layer_types", ".per_layer_config"),),
    ),
    "dots3_note_audio_encoder": Told(together=((".hidden_size", ".adapter_input_size"),)),
    "inkling_text": Told(sets=_WINDOWS),
    "inkling2_text": Told(sets=(*_WINDOWS, *(["both", one, ["not", ["range", 0, 1]]] for one in _WINDOWS))),
    "inkling2": Told(together=((".text_config.hidden_size", ".vision_config.text_hidden_size"),)),
    "inkling_vision": Told(  # its widths follow from prime factors
        fixed=(".patch_size", ".temporal_patch_size", ".num_channels", ".n_layers", ".num_hidden_layers")
    ),
    "mistral_large4_text": Told(derived=(".no_rope_layers", ".kv_source_layers"), fixed=(".rope_parameters",)),
    "encodec": _SEANET.plus(Told(fixed=(".target_bandwidths", ".sampling_rate", ".codebook_size", ".num_lstm_layers"))),
    "moonshine_streaming_encoder": Told(sizes=(["round", ["/", ["times", ".sample_rate", ".frame_ms"], 1000]],)),
    "nemotron3_diarization_audio": Told(sizes=(["//", ".hidden_size", ".num_attention_heads"],)),
    "nemotron_asr_streaming_encoder": Told(
        sizes=(
            [
                "*",
                ".subsampling_conv_channels",
                reduce(lambda length, _: _after(length, 1, ".subsampling_conv_stride", -1), range(3), ".num_mel_bins"),
            ],
        ),
        fixed=(".subsampling_factor",),
    ),
    **dict.fromkeys(("nemotron_asr_streaming", "parakeet_tdt"), Told(fixed=(".num_decoder_layers",))),  # numbers inside names
    "nemotron3_diarization": Told(together=((".audio_config.hidden_size", ".head_config.audio_hidden_size"),)),
    "nemotron3_5_transcribe_audio": Told(
        together=tuple(
            (".asr_config.subsampling_factor", f".diarization_config.{part}_config.subsampling_factor")
            for part in ("audio", "head", "streaming")
        )
    ),
    "nllb-moe": Told(
        sets=tuple(
            ["?", [["positive", step]], [[[True], ["where", ["mod", step, 1], [0]]], [[False], ["not", ["all"]]]]]
            for step in (".encoder_sparse_step", ".decoder_sparse_step")
        ),
        fixed=(".num_experts",),  # numbers inside names
    ),
    "olmo_hybrid": Told(
        sizes=(["int*", ["/", ["times", 0.75, ".hidden_size"], ".linear_num_key_heads"], 1],),
        sets=(
            [
                "?",
                [["beyond", ".num_hidden_layers", 3]],
                [[[True], ["where", ["mod", 4, 1], [0]]], [[False], ["where", ["last"], [True]]]],
            ],
        ),
    ),
    "phi4_multimodal_audio": Told(fixed=(".time_reduction",)),  # the number of convolutions is its logarithm
    "perceiver": Told(sizes=(*_QK, *(["or", ".v_channels", one] for one in _QK))),
    "qwen2_5_omni_bigvgan": _VOCODER,
    "qwen2_5_omni_dit": Told(fixed=(".enc_channels", ".enc_kernel_sizes", ".enc_dilations")),
    "radio": Told(sizes=(["*", ".num_channels", ["*", ".patch_size", ".patch_size"]],)),
    "regnet": Told(
        sizes=tuple(["round", ["/", one, 4]] for one in (".embedding_size", *(["at", ".hidden_sizes", stage] for stage in range(4)))),
        fixed=(".downsample_in_first_stage",),
    ),
    "maskformer": Told(
        tests=(["equal", ".backbone_config.hidden_size", ".decoder_config.d_model"],),
        fixed=tuple(f".backbone_config.{key}" for key in _SWIN),
    ),
    **dict.fromkeys(
        ("mask2former", "oneformer"),
        Told(
            tests=(["equal", ".feature_size", ".hidden_dim"], ["equal", ".conv_dim", ".hidden_dim"]),
            fixed=(*(f".backbone_config.{key}" for key in _SWIN), ".feature_strides", ".strides", ".common_stride"),
        ),
    ),
    "rt_detr": _RT_DETR.plus(_RESNET),
    "rt_detr_v2": _RT_DETR.plus(_RESNET).plus(Told(fixed=(".decoder_n_levels", ".decoder_method"))),
    **dict.fromkeys(("pp_doclayout_v2", "pp_doclayout_v3"), _RT_DETR.plus(Told(fixed=tuple(f".backbone_config.{key}" for key in _HGNET)))),
    "sam3_vision_model": Told(fixed=(".scale_factors", ".backbone_feature_sizes")),
    "sam3_vit_model": Told(fixed=(".global_attn_indexes", ".window_size", ".rope_parameters")),
    "sam3_tracker_video": _SAM_MEMORY,
    "sam3_video": Told(inert=_SAM3_TRACKING),
    "edgetam_video": _SAM_MEMORY.plus(
        Told(
            fixed=(
                ".memory_attention_rope_k_sizes",
                *(f".vision_config.{key}" for key in _SAM2_NECK),
                *(f".vision_config.backbone_config.{key}" for key in _SAM2_HIERA),
            )
        )
    ),
    **dict.fromkeys(
        ("grounding-dino", "mm-grounding-dino"),
        Told(
            fixed=(
                *(f".backbone_config.{key}" for key in _SWIN),
                ".two_stage",
                ".two_stage_bbox_embed_share",
                ".decoder_bbox_embed_share",
                ".embedding_init_target",
                ".num_feature_levels",
                ".position_embedding_type",
                ".decoder_layers",  # the heads of all layers are tied to that of the first
                ".query_dim",
            ),
            inert=(".positional_embedding_temperature", ".max_text_len"),
        ),
    ),
    "gemma3n_text": Told(
        derived=(".intermediate_size", ".layer_types"),
        inert=(".activation_sparsity_pattern",),
        fixed=(".rope_parameters",),
        sets=(_OWN_KEYS,),
        below=((".num_kv_shared_layers", ".num_hidden_layers"),),
        base=((".num_hidden_layers", 20),),
    ),
    "gemma3n_vision": Told(fixed=(".architecture", ".model_args")),
    "unlimited_ocr_text": Told(
        derived=(".mlp_layer_types",),
        fixed=(".rope_parameters", ".topk_method"),
        inert=(".n_group", ".topk_group", ".num_experts_per_tok", ".max_position_embeddings"),
    ),
    "unlimited_ocr_sam_vision_model": Told(
        sizes=(["//", ".hidden_size", ".num_attention_heads"], _PATCHES),
        sets=(["where", ["member", ".global_attn_indexes"], [True]],),
        fixed=(".downsample_channels", ".global_attn_indexes", ".use_abs_pos", ".use_rel_pos"),
    ),
    "seamless_m4t": _VOCODER.plus(
        Told(
            read=(
                *(f".t2u_{part}_{what}" for part in ("encoder", "decoder") for what in ("layers", "ffn_dim", "attention_heads")),
                ".t2u_max_position_embeddings",
            )
        )
    ),
    "patchtsmixer": Told(sizes=(["//", ["max", 0, ["-", ".context_length", ".patch_length"]], ".patch_stride"],)),
    "swiftformer": Told(fixed=(".downsamples",)),
    "switch_transformers": _switch(".num_sparse_encoder_layers", ".num_layers")
    .plus(_switch(".num_sparse_decoder_layers", ["or", ".num_decoder_layers", ".num_layers"]))
    .plus(Told(fixed=(".num_experts",))),  # numbers inside names
    "squeezebert": Told(together=((".hidden_size", ".embedding_size"),)),
    "vits": _VOCODER,
    **dict.fromkeys(("vibevoice_acoustic_tokenizer", "vibevoice_acoustic_tokenizer_decoder"), Told(fixed=(".downsampling_ratios",))),
    "xcodec": Told(
        fixed=(
            *(f".acoustic_model_config.{which}_ratios" for which in ("downsampling", "upsampling")),
            *(f".semantic_model_config.conv_{which}" for which in ("dim", "kernel", "stride")),
            *(".channel_ratios", ".strides", ".block_dilations", ".target_bandwidths", ".sample_rate", ".codebook_size"),
        )
    ),
    "xlstm": Told(
        sizes=(
            *_XLSTM,
            *(["*", ".num_heads", ["//", one, ".num_heads"]] for one in _XLSTM),
            ["up", ["int*", ".hidden_size", ".ffn_proj_factor"], ".ffn_round_up_to_multiple_of"],
        )
    ),
}


def _parts(model_type: Value) -> Told:
    """Return the laws of the recorded classes of the type of an inner configuration, with dots before its keys."""
    entries = record_of(str(model_type))["classes"].values() if model_type in recorded_types() else ()
    dotted = {key: f".{key}" for entry in entries for key in entry["keys"]}
    found = told_by(entries)
    return Told(laws=_renamed(found.laws, dotted), sets=_renamed(found.sets, dotted))


def _renamed(what: Any, names: Mapping[str, str]) -> Any:
    if isinstance(what, list | tuple):
        return type(what)(_renamed(one, names) for one in what)
    return names.get(what, what) if isinstance(what, str) else what


def told_by(entries: Iterable[Mapping[str, Any]]) -> Told:
    """Return the laws of the other classes of a type, which often have the same sizes and copies."""
    laws = {json.dumps(one): one for entry in entries for one in entry["expressions"] if isinstance(one, list)}
    sets = {json.dumps(one): one for entry in entries for _, _, more in entry["rows"] for one in more.get("sets", ()) if one != ["all"]}
    return Told(laws=tuple(laws.values()), sets=tuple(sets.values()))


def told_of(model_type: str, values: Mapping[str, Value]) -> Told:
    """Return what is told of a type, and of the configurations inside it with the keys of ``values``."""
    found = _inside(TOLD.get(model_type, Told()), "")
    for key, value in values.items():
        if key.endswith(".model_type"):
            found = found.plus(_inside(TOLD.get(value, Told()).plus(_parts(value)), key.removesuffix("model_type")))
    first = {second: first for first, second in found.together}  # of keys with equal values, laws have the one that is drawn
    fixed = {key: values[key] for key in found.fixed if key in values}
    laws = {name: _with(_renamed(getattr(found, name), first), fixed) for name in ("sizes", "sets", "parts", "laws")}
    return replace(found, **laws)


def _with(what: Any, fixed: Mapping[str, Any]) -> Any:
    """Put the numbers of fixed keys in the place of the keys."""
    if isinstance(what, list) and what[:1] == ["at"] and what[1] in fixed:
        return reduce(lambda value, place: value[place], what[2:], fixed[what[1]])
    if isinstance(what, list | tuple):
        return type(what)(_with(one, fixed) for one in what)
    return fixed[what] if isinstance(what, str) and type(fixed.get(what)) in {int, float} else what


def _inside(told: Told, prefix: str) -> Told:
    return Told(*(_keyed(getattr(told, one.name), prefix) for one in fields(told)))


def _keyed(what: Any, prefix: str) -> Any:
    """Put a prefix in the place of the dot of each key."""
    if isinstance(what, str):
        return prefix + what[1:] if what[:1] == "." else what
    if isinstance(what, list | tuple):
        return type(what)(_keyed(one, prefix) for one in what)
    return what
