"""Passes of the reference's models, to see what they do with their tensors: the whole model, the models inside it, and its attention alone.

A pass that fails shows what ran before. So what it did not reach is run by itself: a tower for images that the inputs leave out, or an
attention behind an operator that depends on values.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from atlas_builder.slices import Factors, factors_of
from transformers import PreTrainedModel

from paramsym.errors import ParamsymError
from paramsym.read.torch_recorder import recorded, until

_COPIES, _LENGTH = 2, 11
_MEL, _FRAMES, _SAMPLES = 80, 200, 16_000
_HIDDEN = ("hidden_states", "x", "query", "hidden", "inputs", "input", "states", "query_states", "hidden_state", "embeddings")
_Given = Mapping[str, Any]


def factors_in(model: Any) -> dict[str, tuple[Factors, ...]]:
    """Return the factors of the axes of each tensor that some pass of a model reads, by the tensor's first name."""
    found: dict[str, tuple[Factors, ...]] = {}
    with torch.no_grad():
        _run(model, "", [*_inputs(model, model.config)], found)
        for path, inner in model.named_modules():
            if path and isinstance(inner, PreTrainedModel) and not _read(path, found):
                _run(inner, path, [*_inputs(inner, inner.config)], found)
        for path, inner in model.named_modules():
            if path and "Attention" in type(inner).__name__ and not _read(path, found):
                _run(inner, path, [*_states(inner, model.config)], found)
    return found


def _read(path: str, found: Mapping[str, Any]) -> bool:
    return any(name.startswith(f"{path}.") for name in found)


def _run(module: Any, path: str, inputs: list[_Given], found: dict[str, tuple[Factors, ...]]) -> None:
    """Add what passes with these inputs show, until one of them runs to its end."""
    tensors = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    shapes = {name: tuple(one.shape) for name, one in tensors}
    for given in inputs:
        recording, whole = None, False
        try:
            recording, whole = recorded(module, (), given), True
        except ParamsymError as error:
            recording = until(error)
        except Exception:  # noqa: BLE001, S110 - a hook of the reference may fail outside of the pass
            pass
        for name, factors in {} if recording is None else factors_of(recording, shapes).items():
            known = found.setdefault(f"{path}.{name}" if path else name, factors)
            if sum(map(len, factors)) > sum(map(len, known)):
                found[f"{path}.{name}" if path else name] = factors
        if whole:
            return


def _inputs(model: Any, config: Any) -> Iterator[dict[str, Any]]:
    """Yield inputs that a model may take, by the name of its main input."""
    parameters = inspect.signature(model.forward).parameters
    common: dict[str, Any] = {"use_cache": False} if "use_cache" in parameters else {}
    if "decoder_input_ids" in parameters:
        common["decoder_input_ids"] = torch.zeros(_COPIES, _LENGTH, dtype=torch.long)
    if "bbox" in parameters:
        common["bbox"] = torch.zeros(_COPIES, _LENGTH, 4, dtype=torch.long)
    main = model.main_input_name
    main = main if main in parameters else next(iter(parameters), main)
    images = [_real(_COPIES, _channels(config), *_height_and_width(config))]
    images.append(_real(_COPIES, getattr(config, "num_frames", None) or 4, *images[0].shape[1:]))
    indices = [torch.zeros(_COPIES, _LENGTH, dtype=torch.long)]
    bins = getattr(config, "num_mel_bins", None) or getattr(config, "input_feat_per_channel", None) or _MEL
    frames = 2 * (getattr(config, "max_source_positions", None) or _FRAMES // 2)
    features = [_real(_COPIES, bins, frames), _real(_COPIES, frames, bins)]
    waves = [_real(_COPIES, _SAMPLES), _real(_COPIES, 1, _SAMPLES), _real(_COPIES, getattr(config, "max_length", None) or _FRAMES, bins)]
    known = {"pixel_values": images, "pixel_values_videos": images[::-1], "input_features": features, "input_values": waves}
    if "input_ids" in parameters and "pixel_values" in parameters:  # two towers
        yield {**common, "input_ids": indices[0], "pixel_values": images[0]}
    for one in known.get(main, indices):
        yield {**common, main: one}
    if main not in known and "inputs_embeds" in parameters and hasattr(config, "hidden_size"):
        yield {**common, "inputs_embeds": _real(_COPIES, _LENGTH, config.hidden_size)}


def _states(module: Any, config: Any) -> Iterator[dict[str, Any]]:
    """Yield inputs that a module of attention may take: states of the width of its first product."""
    parameters = inspect.signature(module.forward).parameters
    widths = [inner.in_features for inner in module.modules() if isinstance(inner, torch.nn.Linear)]
    if not widths:
        return
    widths_of_heads = (getattr(where, key, None) for where in (module, config) for key in ("head_dim", "attention_head_size"))
    rotated = next((one for one in widths_of_heads if isinstance(one, int)), 0)
    for shape in ((_COPIES, _LENGTH), (_LENGTH,), (_COPIES, 4, 4)):
        given: dict[str, Any] = {}
        for name, one in parameters.items():
            if name in _HIDDEN or (one.default is inspect.Parameter.empty and not given and one.kind.name[:3] == "POS"):
                given[name] = _real(*shape, widths[0])
            elif name in {"position_embeddings", "rotary_pos_emb"} and rotated:
                given[name] = (_real(*shape, rotated),) * 2
            elif name == "cu_seqlens":
                given[name] = torch.tensor([0, _LENGTH], dtype=torch.int32)
            elif name == "position_ids":
                given[name] = torch.arange(_LENGTH)[None].expand(_COPIES, _LENGTH)
            elif one.default is inspect.Parameter.empty and one.kind.name[:3] != "VAR":
                given[name] = _real(*shape, widths[0]) if name in {"key", "value", "key_value_states", "encoder_hidden_states"} else None
        yield given


def _real(*shape: int) -> Any:
    return torch.empty(shape, device="meta")


def _channels(config: Any) -> int:
    found = getattr(config, "num_channels", None) or getattr(config, "in_channels", None) or getattr(config, "in_chans", None)
    return found if isinstance(found, int) else 3


def _height_and_width(config: Any) -> tuple[int, int]:
    found = getattr(config, "image_size", None) or getattr(config, "img_size", None) or 224
    with contextlib.suppress(TypeError, ValueError):
        height, width = found
        return int(height), int(width)
    return (found, found) if isinstance(found, int) else (224, 224)
