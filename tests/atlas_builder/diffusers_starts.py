"""Where the search begins in each class of diffusers: other values than the defaults, for each number of blocks.

Small sizes are quicker to build than the defaults, and different ones tell apart what depends on them. Lists of one entry for a block
have a record for each number of blocks, and its label is this number. A class that is in no table begins at its defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Start = Mapping[str, Any]
_WIDTHS = (32, 48, 64, 80, 112, 96)
_BY_32 = (32, 64, 96, 160, 128, 192)


def _alike(count: int, **values: Any) -> dict[str, list[Any]]:
    """Return lists of equal entries."""
    return {key: [value] * count for key, value in values.items()}


def _convolutions(count: int, **more: Any) -> Start:
    """Return the start of an autoencoder of images."""
    blocks = _alike(count, down_block_types="DownEncoderBlock2D", up_block_types="UpDecoderBlock2D")
    return {"block_out_channels": list(_WIDTHS[:count]), "norm_num_groups": 4, **blocks, **more}


def _attention(count: int, **more: Any) -> Start:
    """Return the start of a U-Net with cross-attention."""
    return {
        "block_out_channels": list(_WIDTHS[:count]),
        "norm_num_groups": 4,
        **_alike(count, down_block_types="CrossAttnDownBlock2D", up_block_types="CrossAttnUpBlock2D"),
        **_alike(count, attention_head_dim=4, transformer_layers_per_block=1),
        "cross_attention_dim": 24,
        "addition_time_embed_dim": 16,
        "projection_class_embeddings_input_dim": 40,
        **more,
    }


def _denoising(count: int, attention: tuple[int, ...], heads: int | None) -> Start:
    """Return the start of a U-Net of images without a text, with attention in some of its blocks."""
    downs = ["AttnDownBlock2D" if place in attention else "DownBlock2D" for place in range(count)]
    ups = ["AttnUpBlock2D" if count - 1 - place in attention else "UpBlock2D" for place in range(count)]
    widths = {"block_out_channels": list(_WIDTHS[:count]), "norm_num_groups": 4, "attention_head_dim": heads}
    return {**widths, "down_block_types": downs, "up_block_types": ups}


def _asymmetric(count: int) -> Start:
    """Return the start of an autoencoder with another decoder than encoder."""
    return {
        "down_block_out_channels": list(_WIDTHS[:count]),
        "up_block_out_channels": list(_WIDTHS[-count:]),
        "norm_num_groups": 4,
        **_alike(count, down_block_types="DownEncoderBlock2D", up_block_types="UpDecoderBlock2D"),
    }


_EFFICIENT = {f"{side}_block_types": ["ResBlock"] * 3 + ["EfficientViTBlock"] * 3 for side in ("encoder", "decoder")}
_LTX_091: Start = {
    "decoder_block_out_channels": [256, 512, 1024],
    "decoder_layers_per_block": [5, 6, 7, 8],
    "decoder_spatio_temporal_scaling": [True, True, True],
    "decoder_inject_noise": [True, True, True, False],
    "upsample_residual": [True, True, True],
    "upsample_factor": [2, 2, 2],
    "timestep_conditioning": True,
}
_LTX_095: Start = {
    "block_out_channels": [128, 256, 512, 1024, 2048],
    "down_block_types": ["LTXVideo095DownBlock3D"] * 4,
    "layers_per_block": [4, 6, 6, 2, 2],
    "decoder_block_out_channels": [256, 512, 1024],
    "decoder_layers_per_block": [5, 5, 5, 5],
    "spatio_temporal_scaling": [True, True, True, True],
    "decoder_spatio_temporal_scaling": [True, True, True],
    "decoder_inject_noise": [False, False, False, False],
    "downsample_type": ["spatial", "temporal", "spatiotemporal", "spatiotemporal"],
    "upsample_residual": [True, True, True],
    "upsample_factor": [2, 2, 2],
    "timestep_conditioning": True,
}
_CONTROL_XL: Start = {
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "attention_head_dim": [5, 10, 20],
    "block_out_channels": [320, 640, 1280],
    "cross_attention_dim": 2048,
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "projection_class_embeddings_input_dim": 2816,
    "transformer_layers_per_block": [1, 2, 10],
    "use_linear_projection": True,
}
_HUNYUAN_DIT: Start = {"in_channels": 4, "patch_size": 2, "hidden_size": 64, "num_attention_heads": 4, "attention_head_dim": 16}

STARTS: Mapping[str, Mapping[str, Start]] = {
    "AsymmetricAutoencoderKL": {str(count): _asymmetric(count) for count in (1, 4)},
    "AutoencoderDC": {"": {}, "efficient": _EFFICIENT},
    "AutoencoderKL": {str(count): _convolutions(count) for count in range(1, 5)},
    "AutoencoderKLHunyuanImage": {
        "": {
            "in_channels": 3,
            "out_channels": 3,
            "latent_channels": 64,
            "block_out_channels": [128, 256, 512, 512, 1024, 1024],
            "layers_per_block": 2,
            "spatial_compression_ratio": 32,
            "sample_size": 384,
        }
    },
    "AutoencoderKLLTXVideo": {"": {}, "0.9.1": _LTX_091, "0.9.5": _LTX_095},
    "AutoencoderKLTemporalDecoder": {
        str(count): {"block_out_channels": list(_BY_32[:count]), **_alike(count, down_block_types="DownEncoderBlock2D")} for count in (1, 4)
    },
    "AutoencoderKLWan": {"": {}, "residual": {"is_residual": True}},
    "ControlNetModel": {"3": _CONTROL_XL, "4": {"cross_attention_dim": 768}},
    "EasyAnimateTransformer3DModel": {"": {"in_channels": 16, "out_channels": 16, "patch_size": 2}},
    "HiDreamImageTransformer2DModel": {"": {"patch_size": 2, "in_channels": 16, "caption_channels": [4096, 4096]}},
    "HunyuanDiT2DModel": {"": _HUNYUAN_DIT},
    "LatteTransformer3DModel": {
        "": {"in_channels": 4, "patch_size": 2, "caption_channels": 48, "norm_type": "ada_norm_single", "sample_size": 32}
    },
    "LuminaNextDiT2DModel": {"": {"num_kv_heads": 8}},
    "T2IAdapter": {kind: {"adapter_type": kind} for kind in ("full_adapter", "full_adapter_xl", "light_adapter")},
    "UNet2DConditionModel": {str(count): _attention(count, layers_per_block=2) for count in (3, 4)},
    "UNet2DModel": {
        "4": _denoising(4, (1,), None),
        "4-heads": _denoising(4, (1, 2, 3), 8),
        "6": _denoising(6, (4,), None),
        "6-heads": _denoising(6, (4,), 8),
    },
    "VQModel": {str(count): _convolutions(count) for count in (3, 4)},
}
"""By class and label; the label is empty if only one length of each list was tried."""

CHOOSING: Mapping[str, tuple[str, ...]] = {
    "AutoencoderKLWan": ("is_residual",),
    "T2IAdapter": ("adapter_type",),
    "UNet2DModel": ("attention_head_dim",),
}
"""The keys without lists of which each value has a record of its own."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "downsample_block_type": ("pixel_unshuffle", "conv"),
    "qk_norm": ("rms_norm", "layer_norm", "rms_norm_across_heads", "layer_norm_across_heads"),
    "upsample_block_type": ("pixel_shuffle", "interpolate"),
}
"""Words of a key that the source of a class does not name."""

INERT = ("downsample_padding", "sample_size")
"""Keys that change no tensor of most classes, where the search then also accepts values that it did not draw."""

SIZES: Mapping[str, tuple[Any, ...]] = {
    "Lumina2Transformer2DModel": (
        ["min", "hidden_size", 1024],
        ["up", ["*", 4, "hidden_size"], "multiple_of"],
        ["//", "hidden_size", "num_attention_heads"],
    ),
    "LuminaNextDiT2DModel": (["min", "hidden_size", 1024], ["//", "hidden_size", "num_attention_heads"]),
}
"""Sizes that the source of a class has and the search does not find."""

_RARE = """
addition_embed_type_num_heads attention_type class_embed_type class_embeddings_concat conv_in_kernel conv_out_kernel cross_attention_norm
dual_cross_attention encoder_hid_dim encoder_hid_dim_type mid_block_only_cross_attention mid_block_type num_attention_heads
only_cross_attention resnet_out_scale_factor resnet_skip_time_act resnet_time_scale_shift reverse_transformer_layers_per_block
time_embedding_act_fn time_embedding_dim time_embedding_type timestep_post_act
"""
_BLOCKS = "down_block_types up_block_types"
_VIDEO = "layers_per_block spatial_compression_ratio temporal_compression_ratio"
_RATIOS = "block_out_channels downsample_match_channel upsample_match_channel " + _VIDEO
_WAN = "attn_scales dim_mult num_res_blocks temperal_downsample"
_LTX = """
block_out_channels decoder_block_out_channels decoder_inject_noise decoder_layers_per_block decoder_spatio_temporal_scaling down_block_types
downsample_type layers_per_block spatio_temporal_scaling timestep_conditioning upsample_factor upsample_residual upsample_type
"""
_HELD = {
    "UNet2DConditionModel": _RARE,
    "AutoencoderDC": """
        decoder_act_fns decoder_block_out_channels decoder_block_types decoder_conv_act_fn decoder_layers_per_block decoder_norm_types
        decoder_qkv_multiscales encoder_block_out_channels encoder_block_types encoder_layers_per_block encoder_qkv_multiscales
    """,
    "AutoencoderKLAllegro": f"{_BLOCKS} layers_per_block temporal_downsample_blocks temporal_upsample_blocks",
    "AutoencoderKLCogVideoX": f"{_BLOCKS} temporal_compression_ratio",
    "AutoencoderKLCosmos": "attention_resolutions num_layers patch_size patch_type resolution " + _VIDEO,
    "AutoencoderKLHunyuanImage": _RATIOS,
    "AutoencoderKLHunyuanImageRefiner": _RATIOS,
    "AutoencoderKLHunyuanVideo": f"{_BLOCKS} {_VIDEO}",
    "AutoencoderKLHunyuanVideo15": _RATIOS,
    "AutoencoderKLKVAE": "ch_mult num_dec_blocks num_enc_blocks",
    "AutoencoderKLKVAEAudio": "decoder_rates encoder_rates",
    "AutoencoderKLKVAEVideo": "ch_mult num_res_blocks temporal_compress_times",
    "AutoencoderKLLTX2Audio": "attn_resolutions causality_axis ch_mult mid_block_add_attention norm_type num_res_blocks resolution",
    "AutoencoderKLLTX2Video": _LTX,
    "AutoencoderKLLTXVideo": _LTX,
    "AutoencoderKLMagvit": _BLOCKS,
    "AutoencoderKLMiniMaxH3": "block_out_channels layers_per_block spatial_downsample_factors temporal_downsample_factors",
    "AutoencoderKLMiniMaxH3Audio": """
        decoder_kernel_sizes decoder_rates encoder_rates resblock_dilation_sizes resblock_kernel_sizes
    """,
    "AutoencoderKLMochi": "add_attention_block layers_per_block spatial_expansions temporal_expansions",
    "AutoencoderKLQwenImage": _WAN,
    "AutoencoderKLQwenImage21": f"{_WAN} is_residual",
    "AutoencoderKLWan": _WAN,
    "AutoencoderOobleck": "channel_multiples downsampling_ratios",
    "AutoencoderSAME": "encoder_c_mults encoder_sinusoidal_blocks decoder_sinusoidal_blocks encoder_strides encoder_transformer_depths",
    "AutoencoderTiny": "num_decoder_blocks num_encoder_blocks",
    "AutoencoderVidTok": "ch_mult num_res_blocks regularizer spatial_ds spatial_us tempo_ds tempo_us",
    "ConsistencyDecoderVAE": """
        decoder_add_attention decoder_down_block_types decoder_resnet_time_scale_shift decoder_time_embedding_type decoder_up_block_types
        encoder_down_block_types
    """,
    "Cosmos3AVAEAudioTokenizer": "dec_c_mults dec_strides enc_c_mults enc_strides",
    "Kandinsky6SRLatentUpscalerBank": "scales stage_channels",
    "Kandinsky6SRVAE": "layers_per_block temporal_compression_ratio temporal_compression_start_level",
    "LTX2VideoDiffusionDecoderModel": """
        decoder_stage5_kernel decoder_stage_depths decoder_stage_kernels decoder_upsample_channel_reductions decoder_upsample_strides
    """,
    "LatteTransformer3DModel": "norm_type num_embeds_ada_norm",
    "Lumina2Transformer2DModel": "ffn_dim_multiplier",
    "LuminaNextDiT2DModel": "ffn_dim_multiplier",
    "MMAudioVAE": "channel_multipliers layers_per_block",
    "MMAudioVocoder": "resblock_dilation_sizes resblock_kernel_sizes upsample_kernel_sizes upsample_rates",
    "MiniMaxMusic3Vocoder": "upsampling_ratios",
    "PixArtTransformer2DModel": "sample_size",  # 128 alone has other embeddings
    "UNet1DModel": f"{_BLOCKS} act_fn mid_block_type out_block_type time_embedding_type",
    "UNet2DModel": f"""
        {_BLOCKS} add_attention attn_norm_num_groups class_embed_type downsample_type mid_block_type num_train_timesteps
        resnet_time_scale_shift time_embedding_dim time_embedding_type upsample_type
    """,
    "VQModel": "norm_type",
}
HELD: Mapping[str, tuple[str, ...]] = {name: tuple(keys.split()) for name, keys in _HELD.items()}
"""The keys that keep their defaults: together they have too many cases, and hardly any published network has another value."""

_ALONE = """
AceStepAudioTokenDetokenizer AceStepAudioTokenizer AceStepConditionEncoder AceStepTransformer1DModel AnimaTextConditioner
AnyFlowFARTransformer3DModel AudioLDM2UNet2DConditionModel AutoencoderKLCosmos AutoencoderKLHunyuanImage AutoencoderKLKVAE
AutoencoderKLKVAEAudio AutoencoderKLKVAEVideo AutoencoderKLLTX2Audio AutoencoderKLLTX2Video AutoencoderKLMiniMaxH3
AutoencoderKLMiniMaxH3Audio AutoencoderKLQwenImage21 AutoencoderOobleck AutoencoderRAE AutoencoderSAME AutoencoderVidTok
BriaFibo2Transformer2DModel ConsisIDTransformer3DModel ConsistencyDecoderVAE ControlNetModel ControlNetXSAdapter Cosmos3AVAEAudioTokenizer
Cosmos3OmniTransformer CosmosControlNetModel DreamLiteUNetModel HeliosTransformer3DModel I2VGenXLUNet Ideogram4PromptEnhancerHead
Ideogram4Transformer2DModel Kandinsky3UNet Kandinsky6SRLatentUpscalerBank Kandinsky6SRTransformer3DModel Kandinsky6SRVAE
LTX2VideoDiffusionDecoderModel LongCatAudioDiTTransformer LongCatAudioDiTVae MMAudioVAE MMAudioVocoder MiniMaxH3Transformer3DModel
MiniMaxMusic3ConditionEncoder MiniMaxMusic3RVQDepthDecoder MiniMaxMusic3Transformer1DModel MiniMaxMusic3Vocoder
MotifVideoTransformer3DModel NucleusMoEImageTransformer2DModel RFD4ProteinaTransformer SanaWMTransformer3DModel SparseControlNetModel
StableCascadeUNet UNet1DModel UNet3DConditionModel UNetControlNetXSModel UNetMotionModel UNetSpatioTemporalConditionModel
WanAnimate2Transformer3DModel WanAnimateTransformer3DModel
"""
ALONE = frozenset(_ALONE.split())
"""The classes of which only the start is recorded."""

_OF_NETWORKS = """
FluxMultiControlNetModel HunyuanDiT2DMultiControlNetModel MultiAdapter MultiControlNetModel QwenImageMultiControlNetModel
SD3MultiControlNetModel
"""
NO_CONFIGURATION: Mapping[str, str] = {
    **dict.fromkeys(_OF_NETWORKS.split(), "it is made from a list of networks, which no configuration states"),
    "RFD4ProteinaAutoencoder": "it is made from tensors, which no configuration states",
}
"""The classes that cannot be made from a configuration, and why."""
