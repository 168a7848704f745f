"""The bytes that a recorded class keeps in variants of a configuration, as the library counts them and as autograd holds them."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

import paramsym as ps
from paramsym.atlas import computing
from paramsym.errors import ConfigError, NotYetError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from oracles.test_live_computations import class_of, drawn, small  # noqa: E402 - it needs torch
from read.comparing import kept  # noqa: E402 - it needs torch

_DRAWS, _SMALL = 6, 6
"""How often a configuration is drawn, and one with few and small experts."""


def classes_of_texts() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the recorded classes that take the indices of tokens only: the type, the class and its computation."""
    for model_type in computing.computed_types():
        for name, entry in computing._classes_of(model_type).items():
            if [*entry["inputs"]] == ["input_ids"]:
                yield model_type, name, entry


def kept_by(
    model_type: str, name: str, seed: str, variants: Sequence[Mapping[str, Any]], *, most: int = 40_000_000, training: bool = False
) -> tuple[list[int], list[int], Any]:
    """Return the bytes counted and those held for each variant of a drawn configuration, and what was drawn; skip if none is known.

    A configuration has at most ``most`` parameters.
    """
    chance = random.Random(f"{model_type} {name} {seed}")
    default = transformers.AutoConfig.for_model(model_type)
    made = class_of(default, name)
    for turn in range(_DRAWS + _SMALL):
        keys = drawn(default, chance, turn) if turn < _DRAWS else drawn(default, chance, turn % 4) | small(default, chance)
        shape = (chance.randint(1, 3), chance.choice((2, 6, 13)))
        found, wanted = [], []
        try:
            for variant in variants:
                config = transformers.AutoConfig.for_model(model_type, **{**keys, **variant})
                with torch.device("meta"):
                    number = sum(one.numel() for one in made(config).parameters())
                if number > most:
                    break
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a key that a type derives from others
                    layer = ps.from_config({"model_type": model_type, **keys, **variant}, architecture=name)
                found.append(ps.activations(layer, shape, convention="torch-sdpa-cpu").total)
                config.use_cache = False
                wanted.append(kept(made(config).train(training), [torch.zeros(shape, dtype=torch.long)]))
        except (ConfigError, NotYetError):
            continue
        except Exception:  # noqa: BLE001, S112 - the reference does not take these
            continue
        if len(found) == len(variants):
            return found, wanted, (keys, shape)
    pytest.skip("no drawn configuration is known and small")
