"""Dropout of a recorded class in training beside the reference: the bytes that autograd then keeps more."""

from __future__ import annotations

import random
import warnings

import pytest
from amount import sample

import paramsym as ps
from paramsym.atlas import computing
from paramsym.atlas.computing import computed_types
from paramsym.errors import ConfigError, NotYetError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from oracles.test_live_computations import class_of, drawn  # noqa: E402 - it needs torch
from read.comparing import kept  # noqa: E402 - it needs torch

CLASSES = [
    (model_type, name, tuple(sorted(keys)))
    for model_type in computed_types()
    for name, entry in computing._classes_of(model_type).items()
    if (keys := {key for place in entry["forms"][0].get("dropout", ()) for key in place[3] if "." not in key})
    if [*entry["inputs"]] == ["input_ids"]
]
_DRAWS, _MOST = 6, 40_000_000
_RATES = (0.0, 0.25)


@pytest.mark.parametrize(("model_type", "name", "keys"), sample(6, CLASSES))
def test_masks(model_type: str, name: str, keys: tuple[str, ...]) -> None:
    """The difference between no dropout and dropout everywhere, at a drawn configuration with small tables."""
    chance = random.Random(f"{model_type} {name} dropout")
    default = transformers.AutoConfig.for_model(model_type)
    made = class_of(default, name)
    for turn in range(_DRAWS):
        drawn_keys = drawn(default, chance, turn)
        shape = (chance.randint(1, 3), chance.choice((2, 6, 13)))
        found, wanted = [], []
        try:
            for rate in _RATES:
                given = {**drawn_keys, **dict.fromkeys(keys, rate)}
                config = transformers.AutoConfig.for_model(model_type, **given)
                with torch.device("meta"):
                    small = sum(one.numel() for one in made(config).parameters()) <= _MOST
                if not small:
                    break
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a key that a type derives from others
                    layer = ps.from_config({"model_type": model_type, **given}, architecture=name)
                found.append(ps.activations(layer, shape, convention="torch-sdpa-cpu").total)
                config.use_cache = False
                wanted.append(kept(made(config).train(), [torch.zeros(shape, dtype=torch.long)]))
        except (ConfigError, NotYetError):
            continue
        except Exception:  # noqa: BLE001, S112 - the reference does not take these
            continue
        if len(found) == len(_RATES):
            assert found[1] - found[0] == wanted[1] - wanted[0], (drawn_keys, shape)
            return
    pytest.skip("no drawn configuration is known and small")
