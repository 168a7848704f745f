"""What comes out of every model of transformers, run on the CPU at small random sizes, against what the formulas say; and in letters."""

from __future__ import annotations

import random
import re
import warnings
from collections import Counter
from typing import Any

import pytest
from frameworks import imported, only_with
from oracles.runnable import TOKENS, config_of
from sympy import Expr, Integer

import paramsym as ps
from paramsym.models import family_of, model_types
from paramsym.program.inputs import each_input

only_with("torch", "transformers")

CLASSES = [(model_type, architecture) for model_type in model_types() for architecture in family_of(model_type).architectures]
B, S, T = ps.dims("B S T")
OUTPUTS = (
    *("logits_per_image", "text_embeds", "image_embeds"),
    *("prediction_logits", "logits", "projected_states", "reconstruction", "last_hidden_state"),
)
"""What the reference calls its main output."""
Shapes = tuple[tuple[int | Expr, ...], ...]


def inputs_of(model: Any, config: Any, draw: random.Random) -> tuple[dict[str, tuple[int, ...]], bool]:
    """Return the shapes of the inputs by the reference's names, and whether the first are the numbers of tokens."""
    batch, length, target = draw.randint(1, 3), draw.randint(2, 9), draw.randint(2, 9)
    kind, architecture = type(model).__name__, model.architecture
    if kind in {"Clip", "Siglip"} and architecture.endswith("Model"):
        seen = model.vision_config
        return {"input_ids": (batch, length), "pixel_values": (target, seen.num_channels, seen.image_size, seen.image_size)}, True
    if kind in {"Clip", "Siglip"}:
        model = model.vision_config
    if kind == "Wav2Vec2":
        return {"input_values": (batch, draw.randint(400, 900))}, False
    if kind == "Whisper" and architecture != "WhisperForCausalLM":
        heard = {"input_features": (batch, model.num_mel_bins, 2 * model.max_source_positions)}
        return heard if "Audio" in architecture else {**heard, "decoder_input_ids": (batch, target)}, False
    if hasattr(model, "num_channels"):
        size = getattr(model, "image_size", None) or config.get("image_size", 37)
        if kind in {"Swin", "ConvNext", "ResNetV15", "Dinov2"} and "Masked" not in architecture:
            size = draw.randint(24, 45)
        return {"pixel_values": (batch, model.num_channels, *_pair(size))}, False
    if architecture.endswith("MultipleChoice"):
        return {"input_ids": (batch, draw.randint(1, 3), length)}, True
    if "decoder_input_ids" in model.inputs:
        return {"input_ids": (batch, length), "decoder_input_ids": (batch, target)}, True
    return {"input_ids": (batch, length)}, True


def _pair(size: Any) -> tuple[Any, Any]:
    return size if isinstance(size, tuple) else (size, size)


def built(transformers: Any, model_type: str, architecture: str, config: dict[str, Any]) -> Any:
    """Return the reference's model of a configuration."""
    transformers.logging.set_verbosity_error()
    given = {**TOKENS, **config}
    if "text_config" in given:
        given["text_config"] = {**TOKENS, **given["text_config"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(transformers, architecture)(transformers.AutoConfig.for_model(model_type, **given)).eval()


def inputs(torch: Any, config: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Return random inputs of these shapes, always the same ones."""
    torch.manual_seed(0)
    words = config.get("vocab_size", config.get("text_config", {}).get("vocab_size", 3))
    given = {name: torch.randint(3, words, shape) if name.endswith("ids") else torch.randn(shape) for name, shape in shapes.items()}
    for name, ids in given.items():
        if name.endswith("ids"):
            ids[..., -1] = TOKENS["eos_token_id"]  # classifiers of some families read the last token of a text, which ends it
    return given


def called(model_type: str, architecture: str, config: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape of the main output of the reference, called with random inputs."""
    torch, transformers = imported("torch"), imported("transformers")
    module = built(transformers, model_type, architecture, config)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        output = module(**inputs(torch, config, shapes))
    if "feature_maps" in output:
        return tuple(output.feature_maps[0].shape)
    if "start_logits" in output:
        return (*output.start_logits.shape, 2)
    return tuple(next(output[name] for name in OUTPUTS if name in output and output[name] is not None).shape)


@pytest.mark.parametrize(("model_type", "architecture"), CLASSES, ids=[architecture for _, architecture in CLASSES])
def test_shape_of_the_output(model_type: str, architecture: str) -> None:
    """The same shape as the reference returns; with letters for batch and positions it gives the same once they are numbers."""
    for attempt in range(3):
        draw = random.Random(f"{model_type} {architecture} {attempt}")
        config = config_of(family_of(model_type), draw)
        model: Any = ps.from_config({"model_type": model_type, **config, **TOKENS}, architecture)
        shapes, _ = inputs_of(model, config, draw)
        given = tuple(shapes.values())
        asked = given if len(given) > 1 else given[0]
        expected = called(model_type, architecture, config, shapes)
        assert each_input(ps.output_shape(model, asked))[0] == expected, (config, given)
        letters, numbers = lettered(model, given)
        symbolic = each_input(ps.output_shape(model, letters if len(letters) > 1 else letters[0]))[0]
        assert tuple(extent.xreplace(numbers).doit() if isinstance(extent, Expr) else extent for extent in symbolic) == expected
        assert isinstance(ps.connections(model, asked), int)
        table = ps.summary(model, asked)
        assert table.footer[4] == model.params


def lettered(model: Any, given: tuple[tuple[int, ...], ...]) -> tuple[Shapes, dict[Any, Integer]]:
    """Return the shapes with letters for the batches and for the positions of sequences, and what the letters mean."""
    found: list[tuple[int | Expr, ...]] = []
    numbers: dict[Any, Integer] = {}
    for position, shape in enumerate(given):
        batch = ps.dims("B" if not (position and len(shape) == 4) else "M")
        numbers[batch] = Integer(shape[0])
        long: dict[int, Expr] = {}
        if len(shape) == 2 or (len(shape) == 3 and type(model).__name__ != "Whisper"):
            long[len(shape) - 1] = ps.dims(f"S_{position}")
            numbers[long[len(shape) - 1]] = Integer(shape[-1])
        found.append(tuple(batch if axis == 0 else long.get(axis, extent) for axis, extent in enumerate(shape)))
    return tuple(found), numbers


def counted(module: Any, given: dict[str, Any]) -> Counter[str]:
    """Return the connections of every plain module of the reference by its path: its weights, as often as they meet an entry."""
    torch = imported("torch")
    found: Counter[str] = Counter()

    def hook(path: str) -> Any:
        def count(one: Any, arguments: Any, output: Any) -> None:
            weights = sum(parameter.numel() for parameter in one.parameters(recurse=False))
            if isinstance(one, torch.nn.Embedding):
                found[path] += output.numel()
            elif isinstance(one, torch.nn.Conv1d | torch.nn.Conv2d | torch.nn.BatchNorm2d | torch.nn.GroupNorm):
                found[path] += weights * output[0, 0].numel()
            else:
                found[path] += weights * (arguments[0].numel() // arguments[0].shape[-1])

        return count

    for path, one in module.named_modules():
        plain = (torch.nn.Linear, torch.nn.LayerNorm, torch.nn.Embedding, torch.nn.Conv1d, torch.nn.Conv2d)
        more = (torch.nn.BatchNorm2d, torch.nn.GroupNorm)
        named = type(one).__name__
        known = type(one) in {*plain, *more} or named == "Conv1D" or named.endswith("RMSNorm") or named in {"MPTLayerNorm", "FalconLinear"}
        if known and not path.endswith("attention.out_proj"):  # torch's attention applies that one itself
            one.register_forward_hook(hook(path))
    with torch.no_grad():
        module(**given)
    return found


@pytest.mark.parametrize(("model_type", "architecture"), CLASSES, ids=[architecture for _, architecture in CLASSES])
def test_connections(model_type: str, architecture: str) -> None:
    """Every plain module of the reference meets as many entries, for one example, as our table says of the part of its name."""
    if architecture.endswith("MultipleChoice"):
        return  # the reference looks up positions once for all choices
    torch, transformers = imported("torch"), imported("transformers")
    draw = random.Random(f"{model_type} {architecture}")
    config = config_of(family_of(model_type), draw)
    model: Any = ps.from_config({"model_type": model_type, **config, **TOKENS}, architecture)
    shapes = {name: (1, *shape[1:]) for name, shape in inputs_of(model, config, draw)[0].items()}
    given = tuple(shapes.values())
    live = counted(built(transformers, model_type, architecture, config), inputs(torch, config, shapes))
    table = ps.summary(model, given if len(given) > 1 else given[0])
    ours: Counter[str] = Counter()
    for row in table.rows:
        ours[str(row[0])] += int(row[-1] or 0)
    patterns = {path: re.compile(r"\d+".join(map(re.escape, re.split(r"\{[^}]*\}", path)))) for path in ours}
    summed: Counter[str] = Counter()
    for path, connections in live.items():
        place = next((name for name, pattern in patterns.items() if pattern.fullmatch(path)), None)
        assert place is not None, path
        summed[place] += connections
    assert live
    assert dict(summed) == {path: ours[path] for path in summed}
