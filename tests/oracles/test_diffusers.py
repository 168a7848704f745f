"""The atlas of diffusers against diffusers itself: random configurations give its state dict, entry by entry, or are refused."""

from __future__ import annotations

import os
import random
import warnings
from collections import Counter
from typing import Any

import pytest
from amount import each
from frameworks import imported, on_meta
from oracles.diffusers_configs import drawn

import paramsym as ps
from paramsym.atlas.record import diffusers_index
from paramsym.errors import ConfigError

RUNS = int(os.environ.get("ATLAS_RUNS", "6"))
RECORDS = [(name, label) for name, one in diffusers_index()["classes"].items() for label in one["lengths"]]


def diffusers() -> Any:
    """Import diffusers, or skip the test that needs it."""
    imported("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = imported("diffusers")
    if found.__version__ != diffusers_index()["reference"].removeprefix("diffusers "):
        pytest.skip(f"diffusers {found.__version__} is installed; the records are of {diffusers_index()['reference']}")
    found.logging.set_verbosity(60)
    return found


def outcome(framework: Any, config: dict[str, Any]) -> str:
    """Say how one configuration comes out: names, shapes, ties and buffers."""
    try:
        module = on_meta(lambda: getattr(framework, config["_class_name"]).from_config(dict(config)))
    except Exception:  # noqa: BLE001 - whatever the reference raises, it does not build this
        return "not built"
    try:
        model = ps.from_config(config)
        ours, tied = model.shapes(buffers=True), model.tied
    except ConfigError:
        return "refused"
    theirs = {name: tuple(one.shape) for name, one in module.state_dict().items()}
    counted = {name: tuple(one.shape) for name, one in module.named_parameters()}
    same = model.shapes() == counted and {name: theirs[name] for name in theirs if name not in tied} == ours
    return "exact" if same and theirs.keys() == ours.keys() | tied.keys() else "wrong"


@pytest.mark.parametrize(("name", "label"), each(20, RECORDS))
def test_random_configurations_are_exact_or_refused(name: str, label: str) -> None:
    """Small and large, equal and odd values; none is wrong."""
    framework, rng = diffusers(), random.Random(f"{name} {label} {os.environ.get('ATLAS_SEED', '')}")
    lengths = diffusers_index()["classes"][name]["lengths"][label]
    found: list[tuple[str, dict[str, Any]]] = []
    for _ in range(RUNS):
        config = drawn(getattr(framework, name), label, rng)
        what = outcome(framework, config)
        while what == "not built" and len(config) > 1 + len(lengths):
            config = {key: value for key, value in config.items() if key[0] == "_" or key in lengths or rng.random() < 0.6}
            what = outcome(framework, config)
        found.append((what, config))
    assert [config for what, config in found if what == "wrong"] == []
    assert any(what == "exact" for what, _ in found), Counter(what for what, _ in found)
