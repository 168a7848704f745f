"""The atlas of timm against timm itself: random arguments of architectures give timm's state dict, entry by entry."""

from __future__ import annotations

import json
import os
import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from amount import sample
from asked import answered
from frameworks import imported, on_meta
from oracles.timm_arguments import architectures, drawn, labels
from oracles.torchvision_live import torchvision

import paramsym as ps
from paramsym.atlas.files import record_of, timm_index
from paramsym.atlas.predicting import predicted, rows_of
from paramsym.atlas.record import parsed
from paramsym.errors import ConfigError

RUNS = int(os.environ.get("ATLAS_RUNS", "5"))
NAMES = sample(23, timm_index()["modules"])


def timm() -> Any:
    """Import timm, or skip the test that needs it; it imports torchvision."""
    torchvision()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = imported("timm")
    if found.__version__ != timm_index()["reference"].removeprefix("timm "):
        pytest.skip(f"timm {found.__version__} is installed; the records are of {timm_index()['reference']}")
    return found


def assert_stores(model: Any, module: Any) -> None:
    """Check names, shapes and order of parameters and of the state dict, and ties."""
    assert list(model.shapes().items()) == [(name, tuple(one.shape)) for name, one in module.named_parameters()]
    everything = {name: tuple(one.shape) for name, one in module.state_dict().items()}
    stored, tied = model.shapes(buffers=True), model.tied
    assert [(name, everything[name]) for name in everything if name not in tied] == list(stored.items())
    assert everything.keys() == stored.keys() | tied.keys()


@pytest.mark.parametrize("name", NAMES)
def test_random_arguments(name: str) -> None:
    """The name alone, its module, then two draws of all arguments, those that change no tensor included; only sides are refused."""
    framework, draw = timm(), random.Random(name)
    module = on_meta(lambda: framework.create_model(name))
    assert_stores(ps.load(f"timm/{name}"), module)
    assert_stores(ps.from_module(module), module)
    (entry,) = record_of(f"timm/{name}")["classes"].values()
    for _ in range(2):
        arguments: dict[str, Any] = {"num_classes": draw.choice((0, 1, 37, 4321)), "in_chans": draw.choice((1, 2, 9))}
        step = draw.choice((1, 16, 32))
        if "img_height" in entry["keys"] and "null" in entry["keys"]["img_height"]:
            arguments["img_size"] = [step * draw.randrange(1, 500 // step), step * draw.randrange(1, 500 // step)]
        if "img_size" in entry["keys"]:
            arguments["img_size"] = step * draw.randrange(1, 500 // step)
        pooling = draw.choice(entry["keys"]["global_pool"]["words"])
        arguments |= {} if pooling is None else {"global_pool": pooling}
        for key, domain in entry["keys"].items():
            if domain.get("unused") and draw.random() < 0.4:
                arguments[key] = draw.choice(domain["words"]) if "words" in domain else draw.uniform(*domain["number"])
        model = answered(lambda arguments=arguments: ps.from_config({"architecture": name, "model_args": arguments}))
        if isinstance(model, ConfigError):
            assert "img_" in str(model), arguments
            continue
        assert_stores(model, on_meta(lambda arguments=arguments: framework.create_model(name, **arguments)))


def test_tags_and_former_names() -> None:
    """A name with a tag builds what timm builds under it, and so does a former name."""
    framework = timm()
    for name in sample(20, [*framework.list_pretrained(), *timm_index()["aliases"]]):
        assert_stores(ps.load(f"timm/{name}"), on_meta(lambda name=name: framework.create_model(name)))


def published(framework: Any, name: str, draw: random.Random) -> dict[str, Any]:
    """Return a configuration as timm writes it beside weights, with changed arguments; some change what the file's other fields mean."""
    stated = framework.get_pretrained_cfg(draw.choice(framework.list_pretrained(f"{name}.*") or [name]))
    fields = {} if stated is None else stated.to_dict(remove_source=True)
    cfg = {key: value for key, value in json.loads(json.dumps(fields)).items() if key != "architecture"}
    given = {
        "num_classes": draw.choice((0, 7, 1000)),
        "in_chans": draw.choice((1, 4)),
        "global_pool": draw.choice(("", "avg", "max")),
        "img_size": draw.choice((128, 224, [192, 256])),
        "drop_rate": draw.choice((0.0, 0.3)),
        "drop_path_rate": 0.1,
        "dynamic_img_size": draw.random() < 0.7,
        "strict_img_size": draw.random() < 0.3,
    }
    arguments = {key: value for key, value in given.items() if draw.random() < 0.2}
    top = {"num_classes": draw.choice((0, 10, 1000)), "num_features": 768, "global_pool": "avg"}
    return {"architecture": name, **top, "pretrained_cfg": cfg, "model_args": arguments}


@pytest.mark.parametrize("name", NAMES)
def test_published_configurations(name: str, tmp_path: Path) -> None:
    """What timm builds from the file itself, or a refusal."""
    framework, draw = timm(), random.Random(f"file {name} {os.environ.get('ATLAS_SEED', '')}")
    for _ in range(3):
        config = published(framework, name, draw)
        model = answered(lambda config=config: ps.from_config(config))
        if isinstance(model, ConfigError):
            continue
        (tmp_path / "config.json").write_text(json.dumps(config))
        assert_stores(model, on_meta(lambda: framework.create_model(f"local-dir:{tmp_path}")))


def class_of(framework: Any, name: str) -> type:
    """Return a class of timm by its name."""
    modules = [one for path, one in sys.modules.items() if path.startswith(f"{framework.__name__}.models.")]
    found: type = next(vars(one)[name] for one in modules if name in vars(one))
    return found


def outcome(framework: Any, name: str, arguments: dict[str, Any]) -> str:
    """Say how arguments of an architecture come out: names, shapes, order, ties and buffers."""
    model = answered(lambda: ps.from_config({"architecture": name, "model_args": arguments}))
    if isinstance(model, ConfigError):
        return "refused"
    try:
        module = on_meta(lambda: framework.create_model(name, **arguments))
    except Exception:  # noqa: BLE001 - whatever timm raises, it does not build this
        return "not built"
    try:
        assert_stores(model, module)
    except AssertionError:
        return "wrong"
    return "exact"


@pytest.mark.parametrize(("name", "style", "label"), sample(12, labels()))
def test_random_arguments_of_classes(name: str, style: str, label: str) -> None:
    """Widths, depths and flags, small and large, equal and odd: timm's state dict, or a refusal; none is wrong."""
    framework, rng = timm(), random.Random(f"{name} {label} {os.environ.get('ATLAS_SEED', '')}")
    found: list[tuple[str, str, dict[str, Any]]] = []
    for _ in range(RUNS):
        one = rng.choice(architectures(name, style))
        arguments = drawn(class_of(framework, name), style, label, one, rng)
        what = outcome(framework, one, arguments)
        while what in {"not built", "refused"} and arguments:
            arguments = {key: value for key, value in arguments.items() if rng.random() < 0.7}
            what = outcome(framework, one, arguments)
        found.append((what, one, arguments))
    assert [(one, arguments) for what, one, arguments in found if what == "wrong"] == []
    assert any(what == "exact" for what, _, _ in found), Counter(what for what, _, _ in found)


def test_a_class_is_derived_again(tmp_path: Path) -> None:
    """The documented command finds the tensors that the record has, and timm."""
    framework = timm()
    imported("transformers")  # the search is the one for its classes
    from oracles.test_live_atlas import printed_by

    name, kind = "deit_tiny_distilled_patch16_224", "VisionTransformerDistilled"
    arguments = {"embed_dim": 48, "depth": 3, "num_heads": 4, "patch_size": 8, "img_size": [64, 96], "num_classes": 7}
    printed_by(f"from atlas_builder.timm_class_records import main; main({['--seconds', '40', '--into', str(tmp_path), kind]!r})")
    derived = parsed((tmp_path / "classes" / f"{kind}.json.gz").read_bytes())["classes"][kind]
    shipped = ps.from_config({"architecture": name, "num_classes": 7, "model_args": arguments})
    assert_stores(shipped, on_meta(lambda: framework.create_model(name, **arguments)))
    values = dict(shipped.values)
    assert predicted(list(rows_of(derived["rows"], derived["expressions"])), values) == predicted(shipped._rows.rows, values)
