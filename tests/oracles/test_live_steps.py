"""A decoding step of records beside the reference: torch's counter with the reference's own cache, and the cache after the step."""

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
from read.comparing import counted_on  # noqa: E402 - it needs torch

CLASSES = [
    (model_type, name)
    for model_type in computed_types()
    for name, entry in computing._classes_of(model_type).items()
    if entry["forms"][0].get("step")
]
_DRAWS, _MOST = 8, 300_000_000


@pytest.mark.parametrize(("model_type", "name"), sample(2, CLASSES))
def test_steps(model_type: str, name: str) -> None:
    """FLOPs of one more token after some, and the numbers that the cache then has; keys with other values are refused by name."""
    chance = random.Random(f"{model_type} {name} step")
    default = transformers.AutoConfig.for_model(model_type)
    made = class_of(default, name)
    agreed = 0
    for turn in range(_DRAWS):
        keys = drawn(default, chance, turn)
        batch, before = chance.randint(1, 3), chance.choice((2, 9, 30))
        windows = [key for key in ("sliding_window", "local_attention") if isinstance(getattr(default, key, None), int)]
        keys |= {key: chance.choice((8, 4096)) for key in windows}
        try:
            config = transformers.AutoConfig.for_model(model_type, **keys)
            with torch.device("meta"):
                model = made(config).eval()
            if sum(one.numel() for one in model.parameters()) <= _MOST:
                model = made(config).eval()  # on meta nothing is routed
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a key that a type derives from others
                layer = ps.from_config({"model_type": model_type, **keys}, architecture=name)
            found = ps.flops(layer, (batch, 1), past=before).total
        except (NotYetError, ConfigError):
            continue
        except Exception:  # noqa: BLE001, S112 - the reference does not take these
            continue
        texts = torch.zeros((batch, before + 1), dtype=torch.long, device=model.device)
        try:
            with torch.no_grad():
                cache = model(texts[:, :before], use_cache=True).past_key_values
            wanted, _ = counted_on(model, {"past_key_values": cache, "use_cache": True}, texts[:, before:])
        except (RuntimeError, TypeError, ValueError):
            continue
        assert found == wanted, (keys, batch, before)
        cache = getattr(cache, "self_attention_cache", cache)  # of a decoder that may have an encoder
        kept = sum(one.keys.numel() + one.values.numel() for one in cache.layers)
        assert ps.kv_cache(layer, (batch, 1), past=before).total == kept, (keys, batch, before)
        agreed += 1
        if agreed == 2:
            break
    assert agreed
