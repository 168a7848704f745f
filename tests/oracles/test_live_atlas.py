"""transformers itself against the atlas: fresh random configurations of what was shipped, and one class derived again."""

from __future__ import annotations

import copy
import importlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym.atlas.predicting import predicted, rows_of
from paramsym.atlas.record import record_of, recorded_types
from paramsym.errors import ConfigError

torch = imported("torch")
transformers = imported("transformers")

CLASSES = [(model_type, name) for model_type in recorded_types() for name in record_of(model_type)["classes"]]
SAMPLE = random.Random(20261122).sample(CLASSES, min(8, len(CLASSES)))
_DBRX = {"attn_config": {"rope_theta": 10000.0}}
_NEMOTRON = {"head_dim": 128, "num_key_value_heads": 8}
NEEDED: dict[str, dict[str, Any]] = {
    "AutoformerModel": {"prediction_length": 24, "context_length": 24, "feature_size": 9},
    "DbrxModel": _DBRX,
    "DbrxForCausalLM": _DBRX,
    "NemotronModel": _NEMOTRON,
    "NemotronForCausalLM": _NEMOTRON,
    "ReformerModelWithLMHead": {"is_decoder": True},
}
"""The keys that a configuration must have, because the reference cannot build a model from the defaults alone."""


def reference(model_type: str, name: str, config: dict[str, Any]) -> Any:
    """Build the reference's class on the meta device."""
    auto = importlib.import_module("transformers.models.auto.configuration_auto")
    config_class = auto.CONFIG_MAPPING[model_type]
    model_class = getattr(transformers, name, None)
    if model_class is None:
        home = config_class.__module__.replace("configuration_", "modeling_")
        model_class = getattr(importlib.import_module(home), name)
    with torch.device("meta"):
        return model_class(config_class(**config))


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


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    """Put keys with dots into inner configurations."""
    made: dict[str, Any] = {}
    for key, value in flat.items():
        *above, last = key.split(".")
        inner = made
        for step in above:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return made


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
    rng = random.Random(f"{model_type} {name}")
    keys = record_of(model_type)["classes"][name]["keys"]
    configs = [nested(dict(drawn(keys, rng))) for _ in range(25)]
    found = [(outcome(model_type, name, config), config) for config in configs]
    assert [config for what, config in found if what == "wrong"] == []
    assert outcome(model_type, name, NEEDED.get(name, {})) == "exact"


DERIVED = """
import transformers
from atlas_builder import recording
from paramsym.atlas import predicting

entry, inside = recording.entry_of("openai-gpt", transformers.OpenAIGPTModel, 40)
assert inside == []
print(predicting.predicted(list(predicting.rows_of(entry["rows"], entry["expressions"])), {values}))
"""


def test_a_class_is_derived_again() -> None:
    """The documented command's search finds the closed form that the record has; it changes the framework, so that it has a process."""
    values = {"n_embd": 60, "n_layer": 3, "n_positions": 17, "vocab_size": 101, "n_head": 4, "afn": "gelu"}
    here = Path(__file__).parents[1]
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    code = DERIVED.replace("{values}", repr(values))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    assert run.returncode == 0, run.stderr[-2000:]
    shipped = record_of("openai-gpt")["classes"]["OpenAIGPTModel"]
    before = predicted(list(rows_of(shipped["rows"], shipped["expressions"])), values)
    assert run.stdout.strip() == repr(before)
    assert len(before) == 2 + 12 * 3
