"""Where the search begins in each class of diffusers: other values than the defaults, for each number of blocks.

Small sizes are quicker to build than the defaults, and different ones tell apart what depends on them. Lists of one entry for a block
have a record for each number of blocks, and its label is this number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Start = Mapping[str, Any]
_WIDTHS = (32, 48, 64, 80, 112, 96)


def _alike(count: int, **values: Any) -> dict[str, list[Any]]:
    """Return lists of equal entries."""
    return {key: [value] * count for key, value in values.items()}


def _convolutions(count: int, **more: Any) -> Start:
    """Return the start of an autoencoder of images."""
    blocks = _alike(count, down_block_types="DownEncoderBlock2D", up_block_types="UpDecoderBlock2D")
    return {"block_out_channels": list(_WIDTHS[:count]), "norm_num_groups": 4, **blocks, **more}


def _attention(count: int, up: str = "CrossAttnUpBlock2D", **more: Any) -> Start:
    """Return the start of a U-Net with cross-attention, or of the half of one if ``up`` is empty."""
    return {
        "block_out_channels": list(_WIDTHS[:count]),
        "norm_num_groups": 4,
        **_alike(count, down_block_types="CrossAttnDownBlock2D", **({"up_block_types": up} if up else {})),
        **_alike(count, attention_head_dim=4, transformer_layers_per_block=1),
        "cross_attention_dim": 24,
        "addition_time_embed_dim": 16,
        "projection_class_embeddings_input_dim": 40,
        **more,
    }


_AT_THE_DEFAULTS = """
AllegroTransformer3DModel AuraFlowTransformer2DModel AutoencoderKLWan AutoencoderTiny BriaTransformer2DModel ChromaTransformer2DModel
CogVideoXTransformer3DModel CogView3PlusTransformer2DModel CogView4Transformer2DModel DiTTransformer2DModel Flux2Transformer2DModel
FluxControlNetModel FluxTransformer2DModel HunyuanVideoFramepackTransformer3DModel HunyuanVideoTransformer3DModel
LTXVideoTransformer3DModel LongCatImageTransformer2DModel Lumina2Transformer2DModel MochiTransformer3DModel OvisImageTransformer2DModel
PixArtTransformer2DModel PriorTransformer QwenImageTransformer2DModel SD3ControlNetModel SD3Transformer2DModel SanaTransformer2DModel
SkyReelsV2Transformer3DModel StableAudioDiTModel WanTransformer3DModel ZImageTransformer2DModel
"""

STARTS: Mapping[str, Mapping[str, Start]] = {
    **{name: {"": {}} for name in _AT_THE_DEFAULTS.split()},
    "AutoencoderKL": {str(count): _convolutions(count) for count in range(1, 5)},
    "UNet2DConditionModel": {str(count): _attention(count, layers_per_block=2) for count in (3, 4)},
    "ControlNetModel": {str(count): _attention(count, "") for count in (3, 4)},
}
"""By class and label; the label is empty if only one length of each list was tried."""

WORDS: Mapping[str, tuple[str, ...]] = {"qk_norm": ("rms_norm", "layer_norm", "rms_norm_across_heads", "layer_norm_across_heads")}
"""Words of a key that the source of a class does not name."""

_RARE = """
addition_embed_type_num_heads attention_type class_embed_type class_embeddings_concat conv_in_kernel conv_out_kernel cross_attention_norm
dual_cross_attention encoder_hid_dim encoder_hid_dim_type mid_block_only_cross_attention mid_block_type num_attention_heads
only_cross_attention resnet_out_scale_factor resnet_skip_time_act resnet_time_scale_shift reverse_transformer_layers_per_block
time_embedding_act_fn time_embedding_dim time_embedding_type timestep_post_act
"""
HELD: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("UNet2DConditionModel", "ControlNetModel"), tuple(_RARE.split())),
    "PixArtTransformer2DModel": ("sample_size",),  # 128 alone has other embeddings
}
"""The keys that keep their defaults: together they have too many cases, and hardly any published network has another value."""
