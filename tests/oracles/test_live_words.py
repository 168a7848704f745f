"""Another activation of a recorded class beside the reference: the bytes that autograd then keeps more, and torch's counter."""

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
    (model_type, name, key)
    for model_type in computed_types()
    for name, entry in computing._classes_of(model_type).items()
    for key in entry["forms"][0].get("activations", {})
    if [*entry["inputs"]] == ["input_ids"] and "." not in key
]
_DRAWS, _MOST = 6, 200_000_000
_WORDS = ("gelu_new", "relu2")
"""The first one keeps x/2, the tangent, and 1 more than it; the second one the root of its result."""


@pytest.mark.parametrize(("model_type", "name", "key"), sample(6, CLASSES))
def test_words(model_type: str, name: str, key: str) -> None:
    """The difference of two activations, at a drawn configuration with small tables."""
    chance = random.Random(f"{model_type} {name} word")
    default = transformers.AutoConfig.for_model(model_type)
    made = class_of(default, name)
    for turn in range(_DRAWS):
        keys = drawn(default, chance, turn)
        shape = (chance.randint(1, 3), chance.choice((2, 6, 13)))
        found, wanted = [], []
        try:
            for word in _WORDS:
                config = transformers.AutoConfig.for_model(model_type, **{**keys, key: word})
                with torch.device("meta"):
                    small = sum(one.numel() for one in made(config).parameters()) <= _MOST
                if not small:
                    break
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a key that a type derives from others
                    layer = ps.from_config({"model_type": model_type, **keys, key: word}, architecture=name)
                found.append(ps.activations(layer, shape, convention="torch-sdpa-cpu").total)
                config.use_cache = False
                wanted.append(kept(made(config).eval(), [torch.zeros(shape, dtype=torch.long)]))
        except (ConfigError, NotYetError):
            continue
        except Exception:  # noqa: BLE001, S112 - the reference does not take these
            continue
        if len(found) == len(_WORDS):
            assert found[0] - found[1] == wanted[0] - wanted[1] != 0, (keys, shape)
            return
    pytest.skip("no drawn configuration is known and small")
