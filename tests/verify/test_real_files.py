"""Files that transformers itself wrote, single and in shards, are checked in a process that cannot import a framework."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from frameworks import imported
from oracles.families import FILE_NAMES, TINY

import paramsym as ps

CHECK = """
import json, sys

FRAMEWORKS = {"torch", "transformers", "tensorflow", "jax", "keras", "flax"}
tried = []

class Watching:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in FRAMEWORKS:
            tried.append(name)
            raise ImportError(name)

sys.meta_path.insert(0, Watching())
import paramsym as ps
rename = json.loads(sys.argv[1])
for folder in sys.argv[2:]:
    model = ps.from_config(folder)
    found = ps.match(model, folder, rename=rename)
    print(found)
    assert found.ok
    # The architecture alone, sizes solved for: the file determines them.
    again = ps.match(model.origin[0], folder, rename=rename)
    assert again.ok, str(again)
    assert all(model.sizes[symbol] == size for symbol, size in again.sizes.items())
    assert ps.check(folder), str(ps.check(folder))
assert not tried, tried
assert not FRAMEWORKS & {name.partition(".")[0] for name in sys.modules}
"""


def test_enough_families() -> None:
    """Ten at least."""
    assert len(TINY) >= 10


@pytest.mark.parametrize("model_type", TINY)
def test_family(model_type: str, tmp_path: Path) -> None:
    """Every tensor of the files is the layer's, and the sizes can be read off."""
    pytest.importorskip("safetensors")
    transformers = imported("transformers")
    imported("torch")
    config, cls, sizes = TINY[model_type]
    single, sharded = tmp_path / "single", tmp_path / "sharded"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(transformers, cls)(getattr(transformers, config)(**sizes))
        model.save_pretrained(single)
        model.save_pretrained(sharded, max_shard_size="20KB")
    assert (sharded / "model.safetensors.index.json").is_file()
    rename = json.dumps(FILE_NAMES.get(model_type, "auto"))
    command = [sys.executable, "-c", CHECK, rename, single, sharded]
    environment = {**os.environ, "PYTHONPATH": str(Path(ps.__file__).parents[1])}
    checked = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("tensors match") == 2
