"""The inputs of the reference's classes, by convention: each with its axes, which are letters, keys or numbers.

Beside text there is one picture for each text, whose tokens are the first ones of the text.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from nesting import nested

from paramsym.atlas.letters import name_of, size_of
from paramsym.atlas.timm import SIDES

Axes = tuple[str | int, ...]
Inputs = dict[str, Axes]

STARTS: Mapping[str, tuple[int, ...]] = {
    "B": (3, 2),
    "S": (10, 32, 64),
    "T": (13, 35, 67),
    "height": (224, 96, 256, 512),
    "width": (160, 128, 192, 384),
    "samples": (16000, 24000),
    "frames": (100, 96, 128, 400),
    "rows": (12, 32, 64),
    "columns": (10, 24, 48),
    "clip": (9, 5, 16),
}
"""The first sizes of letters that are tried."""
STEPS: Mapping[str, tuple[int, ...]] = {
    "B": (1, 3, 7),
    "height": (32, 1, 5, 64, 128, 18),
    "width": (32, 3, 7, 64, 128, 22),
    "samples": (320, 1, 1283, 4800),
    "frames": (1, 4, 7, 32, 64),
    "rows": (4, 1, 5, 16),
    "columns": (4, 3, 7, 16),
    "clip": (8, 4, 16, 12),
}
"""What is added to the first sizes; to lengths in tokens less, and once much."""
FLOATS = (
    "query_embeds",
    "encoder_hidden_states",
    "pixel_values",
    "input_values",
    "input_features",
    "inputs_embeds",
    "pixel_values_videos",
    "x",
    "sample",
    "hidden_states",
    "timestep",
    "r_timestep",
    "pooled_projections",
    "img_ids",
    "txt_ids",
    "guidance",
    "original_size",
    "target_size",
    "crop_coords",
    "mel",
    "proj_embedding",
    "global_hidden_states",
    "added_time_ids",
    "pooled_text_emb",
    "micro_conds",
    "added_cond_kwargs.text_embeds",
    "added_cond_kwargs.resolution",
    "added_cond_kwargs.aspect_ratio",
    "added_cond_kwargs.time_ids",
)
_TEXTS: Inputs = {"input_ids": ("B", "S"), "qformer_input_ids": ("B", "T"), "decoder_input_ids": ("B", "T")}
_HALVED = 32
_QUERIES = 32
"""How many queries ask a picture beside a text, as published."""
_CHANNELS = (
    "num_channels",
    "in_channels",
    "in_chans",
    "vision_config.num_channels",
    "vision_config.in_channels",
    "backbone_config.num_channels",
)
_IMAGES = ("image_size", "vision_config.image_size", "img_size", "backbone_config.image_size", "vision_config.backbone_config.image_size")
_FRAMES = ("num_frames", "vision_config.num_frames")
_BINS = ("num_mel_bins", "feature_size", "input_feat_per_channel", "feature_dim", "num_mel_channels", "n_mels")


def arrays(model: Any, inputs: Inputs, numbers: Mapping[str, int], device: str = "meta") -> dict[str, Any]:
    """Return arrays of zeros for inputs, masks of ones, and no cache."""
    given: dict[str, Any] = {one: False for one in ("use_cache", "use_mems") if one in inspect.signature(model.forward).parameters}
    for name, axes in inputs.items():
        shape = [axis if isinstance(axis, int) else size_of(axis, numbers) for axis in axes]
        filled = torch.ones if name.endswith("mask") else torch.zeros
        given[name] = filled(shape, device=device) if name in FLOATS else filled(shape, dtype=torch.long)
    return nested(given)


def candidates(model: Any, numbers: Mapping[str, int], resolved: Mapping[str, Any]) -> Iterator[Inputs]:
    """Yield inputs that a class may take; ``numbers`` are the letters of its record by name, ``resolved`` the values of its keys."""
    parameters = inspect.signature(model.forward).parameters
    main = model.main_input_name
    text: Inputs = {name: axes for name, axes in _TEXTS.items() if name in parameters}
    if "query_embeds" in parameters and "hidden_size" in resolved:
        width = _named("hidden_size", numbers, resolved)
        yield {"query_embeds": ("B", "S", width)}
        if type(resolved.get("encoder_hidden_size")) is int:
            pictures: Inputs = {"encoder_hidden_states": ("B", "T", _named("encoder_hidden_size", numbers, resolved))}
            yield {"query_embeds": ("B", "S", width), **pictures}
            yield {**text, "query_embeds": ("B", _QUERIES, width), **pictures}
    if main == "x":  # of timm
        if SIDES[0] in resolved:
            yield {main: ("B", _named("in_chans", numbers, resolved), *(_named(side, numbers, resolved) for side in SIDES))}
        yield from ({main: axes} for axes in _images(numbers, resolved))
    elif main == "pixel_values" or (isinstance(main, str) and main.startswith("pixel_values")):
        yield from ({"pixel_values": axes} for axes in _images(numbers, resolved))
        texts = [{name: axes for name, axes in text.items() if name != "decoder_input_ids"}, text]  # a decoder alone needs one text
        yield from ({**one, "pixel_values": axes} for one in texts if one for axes in _images(numbers, resolved))
    elif main == "input_values":
        yield {main: ("B", "samples")}
        if "decoder_input_ids" in text:
            yield {main: ("B", "samples"), "decoder_input_ids": text["decoder_input_ids"]}
        yield {main: ("B", 1, "samples")}
        yield {main: ("B", _named("max_length", numbers, resolved), _named("num_mel_bins", numbers, resolved))}
    elif main == "input_features":
        bins = next((_named(key, numbers, resolved) for key in _BINS if type(resolved.get(key)) is int), 80)
        more: Inputs = {name: axes for name, axes in text.items() if name == "decoder_input_ids"}
        whole = resolved.get("max_source_positions")
        yield {main: ("B", "frames", bins), **more}
        yield {main: ("B", bins, "frames"), **more}
        yield {main: ("B", 1, "frames", bins)}
        if isinstance(whole, int):
            yield {main: ("B", bins, 2 * whole), **more}
    elif main == "input_ids":
        yield text
        if "bbox" in parameters:
            yield {**text, "bbox": ("B", "S", 4)}
        if "pixel_values" in parameters:
            yield from ({**text, "pixel_values": axes} for axes in _images(numbers, resolved))
        if "input_features" in parameters:
            bins = next((_named(key, numbers, resolved) for key in _BINS if type(resolved.get(key)) is int), 80)
            yield {**text, "input_features": ("B", bins, "frames")}


def _images(numbers: Mapping[str, int], resolved: Mapping[str, Any]) -> Iterator[Axes]:
    channels = next((_named(key, numbers, resolved) for key in _CHANNELS if type(resolved.get(key)) is int), 3)
    size = next((key for key in _IMAGES if type(resolved.get(key)) is int), None)
    frames = next((key for key in _FRAMES if type(resolved.get(key)) is int), None)
    if size is not None and frames is not None:  # a video
        yield ("B", _named(frames, numbers, resolved), channels, _named(size, numbers, resolved), _named(size, numbers, resolved))
    if size is not None and name_of(size) in numbers:
        yield ("B", channels, size, size)
    yield ("B", channels, "height", "width")
    if size is not None:
        side = int(resolved[size])
        yield ("B", channels, side, side)
    for sides in (resolved[key] for key in _IMAGES if isinstance(resolved.get(key), tuple)):
        yield ("B", channels, *map(int, sides))


def units(inputs: Inputs) -> Iterator[dict[str, int]]:
    """Yield by what the sizes of inputs are multiples: any sizes, and images whose sides a network halves five times."""
    yield {}
    sides = {axis: _HALVED for axes in inputs.values() for axis in axes if axis in {"height", "width"}}
    if sides:
        yield sides


def _named(key: str, numbers: Mapping[str, int], resolved: Mapping[str, Any]) -> str | int:
    """Return a key that is a letter, or its number."""
    return key if name_of(key) in numbers else int(resolved.get(key, 1))
