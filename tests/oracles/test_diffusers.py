"""The atlas of diffusers against diffusers itself: random configurations give its state dict, entry by entry, or are refused."""

from __future__ import annotations

import inspect
import os
import random
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from amount import sample
from frameworks import imported, on_meta
from oracles.diffusers_configs import drawn

import paramsym as ps
from paramsym.atlas.files import diffusers_index, record_of
from paramsym.atlas.predicting import predicted, rows_of
from paramsym.atlas.record import parsed
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
    """Say how one configuration comes out: names, shapes, order, ties and buffers; what is refused is not built."""
    try:
        model = ps.from_config(config)
        ours, tied = model.shapes(buffers=True), model.tied
    except ConfigError:
        return "refused"
    try:
        module = on_meta(lambda: getattr(framework, config["_class_name"]).from_config(dict(config)))
    except Exception:  # noqa: BLE001 - whatever the reference raises, it does not build this
        return "not built"
    theirs = {name: tuple(one.shape) for name, one in module.state_dict().items()}
    counted = {name: tuple(one.shape) for name, one in module.named_parameters()}
    same = model.shapes() == counted and {name: theirs[name] for name in theirs if name not in tied} == ours
    ordered = list(counted) == list(model.shapes()) or not model.certificate["ordered"]
    return "exact" if same and ordered and theirs.keys() == ours.keys() | tied.keys() else "wrong"


def is_network(framework: Any, name: str) -> bool:
    """Whether diffusers exports a class of networks by this name; of some names, a package that is not installed is imported."""
    try:
        found = getattr(framework, name)
    except Exception:  # noqa: BLE001 - whatever is missing
        return False
    return isinstance(found, type) and issubclass(found, framework.ModelMixin) and found is not framework.ModelMixin


@pytest.mark.parametrize(("name", "label"), sample(8, RECORDS))
def test_random_configurations_are_exact_or_refused(name: str, label: str) -> None:
    """Small and large, equal and odd values; none is wrong, and one that is refused comes out exactly with enough of its defaults."""
    framework, rng = diffusers(), random.Random(f"{name} {label} {os.environ.get('ATLAS_SEED', '')}")
    index = diffusers_index()["classes"][name]
    kept = {*index["lengths"][label], *index.get("words", {}).get(label, {})}
    found: list[tuple[str, dict[str, Any]]] = []
    for _ in range(RUNS):
        config = drawn(getattr(framework, name), label, rng)
        found.append((outcome(framework, config), config))
        while found[-1][0] not in {"exact", "wrong"} and len(config) > 1 + len(kept):
            config = {key: value for key, value in config.items() if key[0] == "_" or key in kept or rng.random() < 0.6}
            found.append((outcome(framework, config), config))
    assert [config for what, config in found if what == "wrong"] == []
    assert any(what == "exact" for what, _ in found), Counter(what for what, _ in found)


def test_every_network_of_diffusers_is_read_or_refused_with_a_reason() -> None:
    """The index names every class of networks that diffusers exports, and no other."""
    framework = diffusers()
    names = sorted(name for name in dir(framework) if is_network(framework, name))
    index = diffusers_index()
    assert len(names) > 150
    assert sorted(index["classes"].keys() | index["refused"].keys()) == names
    assert all(reason for reason in index["refused"].values())


def test_a_network_is_derived_again(tmp_path: Path) -> None:
    """The documented command finds the tensors that the record has."""
    diffusers()
    imported("transformers")  # the search is the one for its classes
    from oracles.test_live_atlas import printed_by

    name = "PriorTransformer"
    arguments = ["--seconds", "40", "--into", str(tmp_path), name]
    prepared = "from oracles.test_diffusers import diffusers; diffusers(); from atlas_builder.diffusers_records import main"
    printed_by(f"{prepared}; main({arguments!r})")
    derived = parsed((tmp_path / f"{name}.json.gz").read_bytes())["classes"][name]
    shipped = ps.from_config({"_class_name": name, "num_attention_heads": 3, "attention_head_dim": 8, "num_layers": 2, "embedding_dim": 20})
    values = dict(shipped.values)
    found = predicted(list(rows_of(derived["rows"], derived["expressions"])), values)
    assert found == predicted(shipped._rows.rows, values)
    assert len(found) > 40


@pytest.mark.parametrize(("name", "label"), sample(20, RECORDS))
def test_every_argument_is_known(name: str, label: str) -> None:
    """A key that is left out is no argument of the constructor."""
    arguments = inspect.signature(getattr(diffusers(), name).__init__).parameters
    of_class, entry = diffusers_index()["classes"][name], record_of(f"diffusers/{name}{f'/{label}' if label else ''}")["classes"][name]
    assert arguments.keys() - {"self"} <= {*of_class["defaults"], *of_class["lengths"][label], *entry["keys"], *entry["free"]}
