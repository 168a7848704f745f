"""The inputs of diffusers' classes, by convention: each argument of a forward pass has axes, which are letters, keys or numbers.

B is the batch, S the positions of a picture that is a sequence, T those of a text, ``rows`` and ``columns`` the sides of a picture,
or the patches in them, and ``clip`` the pictures of a video. An axis of several
keys is the first of them that the class has. An argument with a dot is an entry of a dictionary.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from atlas_builder.inputs import Axes, Inputs

from paramsym.atlas.letters import name_of

_LETTERS = frozenset({"B", "S", "T", "rows", "columns", "clip", "samples"})
_CHANNELS = "in_channels input_channels audio_channels num_channels io_channels"
_TEXT = "joint_attention_dim caption_channels text_embed_dim cap_feat_dim text_dim text_states_dim context_in_dim encoder_hid_dim"
_WIDTHS = f"{_TEXT} cross_attention_input_dim cond_token_dim cross_attention_dim encoder_hidden_size condition_dim embedding_dim"
_PICTURE: Axes = ("B", _CHANNELS, "rows", "columns")
_VIDEO: Axes = ("B", _CHANNELS, "clip", "rows", "columns")
_CLIP: Axes = ("B", "clip", _CHANNELS, "rows", "columns")
_SEQUENCE: Axes = ("B", "S", _CHANNELS)
_SOUND: Axes = ("B", _CHANNELS, "samples")
_SQUARE: Axes = ("B", _CHANNELS, "rows", "rows")
_ANY = (_PICTURE, _SQUARE, _SEQUENCE, _VIDEO, _CLIP, _SOUND)

ARGUMENTS: Mapping[str, tuple[Axes, ...]] = {
    "sample": _ANY,
    "hidden_states": _ANY,
    "encoder_hidden_states": (("B", "T", _WIDTHS),),
    "encoder_attention_mask": (("B", "T"),),
    "encoder_hidden_states_mask": (("B", "T"),),
    "timestep": (("B",),),
    "r_timestep": (("B",),),
    "pooled_projections": (("B", "pooled_projection_dim"),),
    "img_ids": (("S", 3),),
    "txt_ids": (("T", 3),),
    "guidance": (("B",),),
    "original_size": (("B", 2),),
    "target_size": (("B", 2),),
    "crop_coords": (("B", 2),),
}
"""The arguments that all classes have alike; a pass without one of them fails, or is not what the class is for."""

Own = Mapping[str, tuple[Axes, ...] | None]
_IDS_OF_4: Own = {"img_ids": (("S", 4),), "txt_ids": (("T", 4),)}
_OWN_SIZE: Own = {"hidden_states": (("B", _CHANNELS, "sample_size", "sample_size"),)}
"""A picture of the size for which positions are stored: those of other sizes are computed by other operators."""
CLASSES: Mapping[str, Own] = {
    "AudioLDM2UNet2DConditionModel": {"encoder_hidden_states": (("B", "T", "cross_attention_dim"),)},
    "CLIPImageProjection": {"x": (("B", "hidden_size"),)},
    "ChromaTransformer2DModel": {"encoder_hidden_states": (("B", "T", "joint_attention_dim"),)},
    "CogVideoXTransformer3DModel": {
        "hidden_states": (("B", 13, "in_channels", "sample_height", "sample_width"),),
        "encoder_hidden_states": (("B", "max_text_seq_length", "text_embed_dim"),),
    },
    "DiTTransformer2DModel": {**_OWN_SIZE, "class_labels": (("B",),)},
    "Flux2Transformer2DModel": _IDS_OF_4,
    "MMAudioVocoder": {"mel": (("B", "num_mel_bins", "samples"),)},
    "PixArtTransformer2DModel": {
        **_OWN_SIZE,
        "added_cond_kwargs.resolution": (("B", 2),),
        "added_cond_kwargs.aspect_ratio": (("B", 1),),
    },
    "PriorTransformer": {
        "hidden_states": (("B", "embedding_dim"),),
        "proj_embedding": (("B", "embedding_dim"),),
        "encoder_hidden_states": (("B", "num_embeddings", "embedding_dim"),),
    },
    "ReduxImageEncoder": {"x": (("B", "S", "redux_dim"),)},
    "StableAudioDiTModel": {
        "hidden_states": (("B", "in_channels", "samples"),),
        "global_hidden_states": (("B", 1, "global_states_input_dim"),),
    },
    "T2IAdapter": {"x": (_PICTURE,)},
    "UNetSpatioTemporalConditionModel": {"added_time_ids": (("B", 3),)},
    "UVit2DModel": {
        "input_ids": (("B", "rows", "columns"),),
        "pooled_text_emb": (("B", "cond_embed_dim"),),
        "micro_conds": (("B", 5),),
    },
}
"""The arguments of single classes beside these, or in place of these; None leaves one out."""
_TEXT_TIME: Own = {"added_cond_kwargs.text_embeds": (("B", 1280),), "added_cond_kwargs.time_ids": (("B", 6),)}
"""Beside the text, as SDXL has it."""


def candidates(name: str, forward: Any, numbers: Mapping[str, int], resolved: Mapping[str, Any]) -> Iterator[Inputs]:
    """Yield inputs that a class may take; ``numbers`` are the letters of its record by name, ``resolved`` the values of its keys."""
    own = {**CLASSES.get(name, {}), **(_TEXT_TIME if resolved.get("addition_embed_type") == "text_time" else {})}
    known = {**ARGUMENTS, **own}
    if not resolved.get("guidance_embeds") and "guidance" not in own:
        known["guidance"] = None
    taken = inspect.signature(inspect.unwrap(forward)).parameters
    optional = {one for one, parameter in taken.items() if one.endswith("mask") and parameter.default is None}  # texts without padding
    parameters = [key for one in taken for key in known if key.partition(".")[0] == one and known[key] and key not in optional]
    unit = unit_of(resolved)
    for chosen in product(*(known[one] or () for one in parameters)):
        listed = zip(parameters, chosen, strict=True)
        yield {one: tuple(_axis(each, numbers, resolved, unit) for each in axes) for one, axes in listed}


def _axis(axis: str | int, numbers: Mapping[str, int], resolved: Mapping[str, Any], unit: int) -> str | int:
    if axis in {"rows", "columns"} and unit > 1:
        return f"{unit}*{axis}"
    if isinstance(axis, int) or axis in _LETTERS:
        return axis
    key = next((one for one in axis.split() if type(resolved.get(one)) is int), None)
    if key is None:
        return 3
    return key if name_of(key) in numbers else int(resolved[key])


def unit_of(resolved: Mapping[str, Any]) -> int:
    """Return of what the sides of a picture are multiples: a patch, or two for each block but the last."""
    patch = next((resolved[key] for key in ("patch_size", "patch_size_1") if type(resolved.get(key)) is int), 1)
    blocks = sum(key.startswith(("block_out_channels_", "down_block_out_channels_", "encoder_block_out_channels_")) for key in resolved)
    blocks = blocks or sum(key.startswith(("dim_mult_", "ch_mult_")) for key in resolved) or 1
    return int(max(1, patch) * 2 ** (blocks - 1))
