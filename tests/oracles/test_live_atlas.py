"""transformers itself against the atlas: fresh random configurations of what was shipped, and a class derived again."""

from __future__ import annotations

import copy
import importlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from atlas_builder.rows import template_of
from frameworks import imported
from nesting import nested

import paramsym as ps
from paramsym.atlas.files import record_of, recorded_types
from paramsym.atlas.predicting import predicted, rows_of
from paramsym.atlas.reading import flattened, values_of
from paramsym.atlas.record import packed, parsed
from paramsym.atlas.timm import WRAPPERS
from paramsym.errors import ConfigError
from paramsym.models import family_of, model_types

torch = imported("torch")
transformers = imported("transformers")

CLASSES = [(model_type, name) for model_type in recorded_types() for name in record_of(model_type)["classes"]]
SAMPLE = random.Random(20261122).sample(CLASSES, min(8, len(CLASSES)))
_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
_TWO_ROPES = {"rope_parameters": {"full_attention": _ROPE, "sliding_attention": _ROPE}}
_SPARSE = {"num_hidden_layers": 4, "mlp_layer_types": ["dense", "sparse", "sparse", "sparse"]}
_EXPERTS = {"num_experts": 8, "moe_intermediate_size": 64, "top_k_experts": 2}
_INDEXER = {"indexer_n_heads": 16, "indexer_kv_heads": 1, "indexer_head_dim": 256, "indexer_budget": 2048, "indexer_compress_ratio": 4}
_LINES = {"long": 7, "mid": 5, "short": 3}
_INTRACLASS = {
    "reduce_channel": [1, 1, 0],
    "return_channel": [1, 1, 0],
    **{f"vertical_long_to_small_conv_{which}ratio": [[size, 1], [1, 1], [size // 2, 0]] for which, size in _LINES.items()},
    **{f"horizontal_small_to_long_conv_{which}ratio": [[1, size], [1, 1], [0, size // 2]] for which, size in _LINES.items()},
    **{f"symmetric_conv_long_{which}ratio": [[size, size], [1, 1], [size // 2, size // 2]] for which, size in _LINES.items()},
}
_DETECTION = {"intraclass_block_config": _INTRACLASS, "scale_factor_list": [1, 2, 4, 8], "kernel_list": [3, 2, 2]}
NEEDED: dict[str, dict[str, Any]] = {
    "autoformer": {"prediction_length": 24, "context_length": 24, "feature_size": 9},
    "aya_vision": {"vision_config": {"num_attention_heads": 16}},
    "chameleon": {"vocabulary_map": {"<image>": 8711}},
    "cohere_compass": {"text_config": _TWO_ROPES},
    "cohere_compass_text": _TWO_ROPES,
    "convnextv2": {"hidden_sizes": [96, 192, 384, 768]},
    "dbrx": {"attn_config": {"rope_theta": 10000.0}},
    "deepseek_ocr2": {"text_config": _SPARSE},
    "deepseek_ocr2_text": _SPARSE,
    "diffusion_gemma": {"text_config": _EXPERTS},
    "diffusion_gemma_text": _EXPERTS,
    "dots1": {"n_routed_experts": 128, "n_shared_experts": 2, "num_experts_per_tok": 6},
    "esm": {"vocab_size": 33},
    "focalnet": {"hidden_sizes": [192, 384, 768, 768]},
    "granite4_vision": {"deepstack_layer_map": [[0, 1]], "downsample_rate": "4/8"},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "hunyuan_vl": {"text_config": {"head_dim": 128}},
    "hunyuan_vl_text": {"head_dim": 128},
    "lfm2_moe": {"num_hidden_layers": 6, "layer_types": ["conv", "conv", "full_attention"] * 2},
    "ministral": {"head_dim": 128},
    "moonshine_streaming": {"num_key_value_heads": 8},
    "nemotron": {"head_dim": 128, "num_key_value_heads": 8},
    "perceiver": {"num_cross_attention_heads": 1},
    "pp_ocrv5_server_det": _DETECTION,
    "pp_ocrv6_medium_det": _DETECTION,
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 768},
    "qwen4_exp": {"text_config": _INDEXER},
    "qwen4_exp_text": _INDEXER,
    "reformer": {"is_decoder": True},
    "t5gemma": {"is_encoder_decoder": False},
    "t5gemma2_decoder": {"dropout_rate": 0.0},
    "t5gemma2_encoder": {"text_config": {"dropout_rate": 0.0}},
    "t5gemma2_text": {"dropout_rate": 0.0},
    "vitmatte": {"fusion_hidden_sizes": [256, 128, 64, 32]},
    "wav2vec2-bert": {"vocab_size": 32},
}
"""The keys that a configuration must have, because the reference cannot build a model from the defaults alone."""


def printed_by(code: str) -> str:
    """Return what code prints that uses the search; it changes the framework, so that it has a process."""
    here = Path(__file__).parents[1]
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.strip()


def config_class_of(model_type: str) -> Any:
    """Return the reference's class of configurations of a type."""
    return importlib.import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING[model_type]


def reference(model_type: str, name: str, config: dict[str, Any]) -> Any:
    """Build the reference's class on the meta device."""
    config_class = config_class_of(model_type)
    model_class = getattr(transformers, name, None)
    if model_class is None:
        home = config_class.__module__.replace("configuration_", "modeling_")
        model_class = getattr(importlib.import_module(home), name)
    with torch.device("meta"):
        return model_class(config_class(**config))


def smallest(model_type: str, name: str) -> dict[str, Any]:
    """Return the configuration with the fewest keys from which the reference builds a class; skip a class that needs another package."""
    try:
        reference(model_type, name, {})
    except ImportError as error:
        pytest.skip(str(error))
    except Exception:  # noqa: BLE001 - whatever the reference raises, the defaults alone do not suffice
        return NEEDED.get(model_type, {})
    return {}


def stored(model: Any) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of a live model, each tensor under its first name."""
    return {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}


def drawn(keys: dict[str, Any], rng: random.Random) -> Iterator[tuple[str, Any]]:
    """Yield other values for some keys: small and odd numbers, words and flags that were verified."""
    for key, domain in keys.items():
        if rng.random() > 0.3:
            continue
        words = [word for word in domain.get("words", ()) if not isinstance(word, tuple)]
        if words and rng.random() < 0.7:
            yield key, rng.choice(words)
        elif "whole" in domain:
            low, high = domain["whole"]
            yield (
                key,
                rng.choice([rng.randint(low, min(high, 9)) if low <= 9 else low, 4 * rng.randint(max(low // 4, 1), max(low // 4, 1) + 12)]),
            )


def outcome(model_type: str, name: str, config: dict[str, Any]) -> str:
    """Say how one configuration comes out."""
    try:
        theirs = reference(model_type, name, copy.deepcopy(config))  # some references change their arguments
    except Exception:  # noqa: BLE001 - whatever the reference raises, it does not build this
        return "not built"
    try:
        ours = ps.from_config({**config, "model_type": model_type}, architecture=name)
    except ConfigError:
        return "refused"
    return "exact" if ours.shapes() == stored(theirs) else "wrong"


@pytest.mark.parametrize(("model_type", "name"), SAMPLE)
def test_fresh_configurations_are_exact_or_refused(model_type: str, name: str) -> None:
    """Drawn by other rules than those of the search."""
    start = smallest(model_type, name)
    rng = random.Random(f"{model_type} {name}")
    keys = record_of(model_type)["classes"][name]["keys"]
    configs = [nested(dict(drawn(keys, rng)), start) for _ in range(25)]
    found = [(outcome(model_type, name, config), config) for config in configs]
    assert [config for what, config in found if what == "wrong"] == []
    what = outcome(model_type, name, start)
    if what == "refused":  # a key may have no known default, and is asked for; the saved configuration has it
        what = outcome(model_type, name, reference(model_type, name, copy.deepcopy(start)).config.to_dict())
    assert what == "exact"


def test_classes_are_derived_again(tmp_path: Path) -> None:
    """The documented command finds the closed form that the record has, for no other values than the base class of the type has."""
    name, values = "openai-gpt", {"n_embd": 60, "n_layer": 3, "n_positions": 512, "vocab_size": 101, "tie_word_embeddings": True}
    shipped = record_of(name)["classes"]
    record = {**record_of(name), "classes": {"OpenAIGPTModel": bounded(shipped["OpenAIGPTModel"], "n_positions", 512)}}
    file = tmp_path / f"{name}.json.gz"
    file.write_bytes(packed(record))
    command = ["openai-gpt:OpenAIGPTLMHeadModel", "--seconds", "30", "--into", str(tmp_path)]
    printed_by(f"from atlas_builder.__main__ import main; main({command!r})")
    derived = parsed(file.read_bytes())["classes"]["OpenAIGPTLMHeadModel"]
    before, after = (
        predicted(list(rows_of(one["rows"], one["expressions"])), values) for one in (shipped["OpenAIGPTLMHeadModel"], derived)
    )
    assert after == before
    assert len(before) == 3 + 12 * 3
    assert derived["certificate"]["within"] == "OpenAIGPTModel"
    assert derived["keys"]["n_positions"]["words"] == [512]
    assert derived["keys"]["vocab_size"]["whole"][1] > 1000


def test_depths_of_stages_are_derived(tmp_path: Path) -> None:
    """The last block of each stage of SwiftFormer is of another kind, so that the blocks of one kind are less than the depth."""
    command = ["swiftformer:SwiftFormerModel", "--seconds", "150", "--into", str(tmp_path)]
    printed_by(f"from atlas_builder.__main__ import main; main({command!r})")
    entry = parsed((tmp_path / "swiftformer.json.gz").read_bytes())["classes"]["SwiftFormerModel"]
    assert entry["certificate"]["fixed"] == ["downsamples"]
    sizes = {"depths": [4, 4, 12, 6], "embed_dims": [64, 128, 320, 512]}
    values = values_of({"model_type": "swiftformer", **sizes}, {"aliases": {}, "inside": (), "classes": {"": entry}}, entry)[0]
    found = predicted(list(rows_of(entry["rows"], entry["expressions"])), values)
    shapes = {name: shape for name, (kind, shape) in found.items() if kind == "parameter"}
    assert shapes == stored(reference("swiftformer", "SwiftFormerModel", sizes))


def bounded(entry: Any, key: str, value: int) -> dict[str, Any]:
    """Return an entry with one key fixed, as if no law had been right for other values."""
    keys = {**entry["keys"], key: {"words": [value], "missing": ["is", value], "unused": True}}
    return {**entry, "keys": keys, "certificate": {**entry["certificate"], "fixed": [key]}}


FREE = """
import contextlib

from atlas_builder.exploring import Explorer
from atlas_builder.reference import Reference, RefusedError, class_named, config_class_of
from paramsym.atlas.files import record_of

for model_type, name in {classes}:
    reference = Reference(config_class_of(model_type), class_named(name, model_type))
    with contextlib.suppress(RefusedError):  # a package is missing
        read = set(Explorer(reference, 9).relevant(reference.first()))
        print(name, *sorted(read.intersection(record_of(model_type)["classes"][name]["free"])))
"""


def test_no_key_that_is_read_may_have_any_value() -> None:
    """A class can store other tensors for a key that it reads, so that the record has the verified values of the key."""
    classes = [("axk1", "AXK1Model"), ("wavlm", "WavLMModel"), *SAMPLE]
    lines = printed_by(FREE.replace("{classes}", repr(classes))).splitlines()
    assert len(lines) > 2
    assert [line for line in lines if " " in line] == []


COINCIDENCES = {
    ("DPTModel", "fusion_hidden_size"),  # 256 channels of the first stage of BiT
    ("GradiumPhononTTSModel", "flow_head_config.condition_dim"),
    ("SEWModel", "classifier_proj_size"),  # 256 channels of a convolution
    ("SEWForCTC", "classifier_proj_size"),
    *((name, "max_position_embeddings") for name in ("SEWDModel", "SEWDForCTC", "SEWDForSequenceClassification")),  # 512 channels
    *((name, "classifier_proj_size") for name in ("SEWDModel", "SEWDForCTC")),
    ("VitPoseForPoseEstimation", "backbone_config.part_features"),  # 256 channels of the classic decoder
}
_SMALL = 16


@pytest.mark.filterwarnings("ignore::paramsym.errors.ParamsymWarning")
def test_no_key_without_effect_is_the_size_of_a_tensor_that_the_default_lacks() -> None:
    """Such a key was tried beside the default alone: dense layers of MiniMax M3 and Llama 4 had the default of their size."""
    found, tried = set(), 0
    for model_type, name in CLASSES:
        entry = record_of(model_type)["classes"][name]
        plain = {number: one for number, one in enumerate(entry["expressions"]) if isinstance(one, int) and one >= _SMALL}
        shapes = [(row, [axis[0] if isinstance(axis, list) else axis for axis in more.get("axes", ())]) for row, _, more in entry["rows"]]
        rows = [(template_of(row)[0], {plain[axis] for axis in axes if axis in plain}) for row, axes in shapes]
        if "+" in model_type or entry["certificate"].get("held") or not any(sizes for _, sizes in rows):
            continue
        config = json.loads(config_class_of(model_type)(**NEEDED.get(model_type, {})).to_json_string(use_diff=False))
        try:
            model: Any = ps.from_config({**config, "model_type": model_type}, name)
        except ConfigError:  # as another class of the type needs it
            continue
        tried += 1
        stored = {template_of(one)[0] for one in predicted(model._rows.rows, dict(model.values))}
        default = dict(flattened(config, frozenset(record_of(model_type)["inside"])))
        lacking = set().union(*(sizes for row, sizes in rows if row not in stored))
        ranges = {key: domain.get("whole", [0, 0]) for key, domain in entry["keys"].items() if domain.get("unused")}
        free = [key for key in default if key in entry["free"] or len(set(ranges.get(key, [0]))) > 1]
        found |= {(name, key) for key in free if type(default[key]) is int and default[key] in lacking and "token" not in key}
    assert tried > _SMALL
    assert found <= COINCIDENCES, found - COINCIDENCES


INNER = """
import transformers
from atlas_builder.reference import Reference, config_class_of

reference = Reference(config_class_of("lw_detr"), transformers.LwDetrModel)
given = reference.inner()
name = "backbone.backbone.embeddings.projection.weight"
for point in ({}, given, {"backbone_config.hidden_size": 384}, {**given, "backbone_config.hidden_size": 384}):
    print(len(reference.build(point).tensors), reference.build(point).tensors[name][1])
"""


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_a_backbone_is_given_its_type() -> None:
    """The default's backbone has ten layers of width 192, twelve in its own class; transformers takes no other width without its type."""
    sizes = {"hidden_size": 384}
    with pytest.raises(KeyError):
        transformers.LwDetrConfig(backbone_config=sizes)
    own, default = (transformers.LwDetrConfig(**one) for one in ({"backbone_config": {"model_type": "lw_detr_vit", **sizes}}, {}))
    with torch.device("meta"):
        counts = [len(transformers.LwDetrModel(config).state_dict()) for config in (own, default)]
    lines = [line.partition(" ") for line in printed_by(INNER).splitlines()]
    assert [int(count) for count, _, _ in lines] == [counts[1], counts[1], counts[0], counts[1]]
    assert [shape for _, _, shape in lines] == [f"({width}, 3, 16, 16)" for width in (192, 192, 384, 384)]


COPIED = """
import transformers
from atlas_builder.reference import Reference, config_class_of

read = Reference(config_class_of("maskformer"), transformers.MaskFormerModel).build({}).read
print(sorted(key for key in read if key.endswith("embed_dim")))
"""


def test_reads_of_a_copied_configuration_count() -> None:
    """MaskFormer copies the configuration of its backbone into another class, whose reads would otherwise be lost."""
    assert printed_by(COPIED) == "['backbone_config.embed_dim']"


PARTITION = """
from atlas_builder.fitting import Fitter
from atlas_builder.sets import partition
from atlas_builder.told import Told, told_of

told = Told(parts=(["range", 0, ["+", [[1, 1, [["n", 1]]]]]], ["range", 0, 3]))
kind = partition(Fitter([{"n": 1}, {"n": 2}], ["n"], [], told), {0: 4, 1: 4})
print([[kind(i, index) for index in range(4)] for i in range(2)])
told = told_of("maskformer", {"backbone_config.depths": (2, 2)})
print(told.fixed[0], told_of("pp_lcnet_v4", {"block_configs": ()}).sizes[0])
"""


def test_told_parts_divide_copies() -> None:
    """Each copy belongs to the first part that holds it; the keys that are told of a type are in its laws."""
    assert printed_by(PARTITION).splitlines() == [
        "[[0, 1, 1, -1], [0, 0, 1, -1]]",
        "backbone_config.depths ['//', 96, 'reduction']",
    ]


def mapped_classes() -> Iterator[tuple[str, str]]:
    """Yield the classes of transformers' automatic classes for models, with their type."""
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    for mapping, classes in vars(auto).items():
        if mapping.startswith("MODEL") and mapping.endswith("_MAPPING_NAMES"):
            for model_type, names in classes.items():
                yield from ((model_type, name) for name in ([names] if isinstance(names, str) else names))


def test_every_class_of_the_automatic_classes_is_read_or_refused_with_a_reason() -> None:
    """The families and the records have it, or the table of what the atlas does not contain says why not."""
    without = []
    for model_type, name in sorted(set(mapped_classes())):
        read = {*(family_of(model_type).architectures if model_type in model_types() else ()), *WRAPPERS.get(model_type, ())}
        record = record_of(model_type) if model_type in recorded_types() else {"classes": {}, "refused": {}}
        if name not in {*read, *record["classes"]} and not record["refused"].get(name):
            without.append((model_type, name))
    assert without == []
    assert len(set(mapped_classes())) > 1500


MENTIONS = """
import json
from atlas_builder.__main__ import DATA, record_in
from atlas_builder.mentions import add
record = record_in(DATA / "lfm2.json.gz")
found = {**record, "aliases": {}, "extra": {}, "mentioned": {}}
add(found)
print(json.dumps(found, sort_keys=True) == json.dumps(record, sort_keys=True), found["aliases"])
"""


def test_keys_of_older_releases_are_found_again() -> None:
    """The documented command gives what the record has."""
    same, _, aliases = printed_by(MENTIONS).partition(" ")
    assert same == "True"
    assert "'block_ff_dim': 'intermediate_size'" in aliases


OLDER = {
    name: config
    for file in ("older_configs.json", "published_configs.json")
    for name, config in json.loads((Path(__file__).parent / file).read_text(encoding="utf-8")).items()
}
NOT_READ = ("musicgensmall", "zamba2")
"""The files with a value for which no law was found."""


@pytest.mark.filterwarnings("ignore::paramsym.errors.ParamsymWarning")
@pytest.mark.parametrize("name", OLDER)
def test_files_of_older_releases(name: str) -> None:
    """Configurations with the keys that files published with transformers 4 have: exact, or refused by name."""
    config = OLDER[name]
    if name in NOT_READ:
        with pytest.raises(ConfigError, match="not verified"):
            ps.from_config(config)
        return
    given = copy.deepcopy({key: value for key, value in config.items() if key != "model_type"})
    try:
        model = reference(config["model_type"], config["architectures"][0], given)
    except ImportError as error:
        pytest.skip(str(error))
    ours: Any = ps.from_config(config)
    assert ours.shapes() == stored(model)
    assert list(ours.shapes()) == list(stored(model)) or not ours.certificate["ordered"]
